"""Chapters to play with: tables behind sliders and pickers."""

import pandas as pd


def rounded(table: pd.DataFrame, digits: int) -> pd.DataFrame:
    """A table's numbers to so many significant digits."""
    numbers = table.select_dtypes("float").columns
    return table.assign(**{name: [float(f"{v:.{digits - 1}e}") for v in table[name]] for name in numbers})
