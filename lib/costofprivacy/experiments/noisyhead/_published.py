"""The authors' numbers, and ours beside them. From the authors' public results; MIT licence, 2025 chebyshevtech."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd

TRIALS = 500  # of each published mean


def read(name: str) -> pd.DataFrame:
    """A table of ``reference/``, as published."""
    with (files("costofprivacy") / "reference" / f"{name}.csv").open() as stream:
        return pd.read_csv(stream)


def excess_risks(name: str, keys: list[str]) -> pd.DataFrame:
    """The published excess risks of NoisyHead and of gradient descent: keys, method, excess_risk."""
    names = {"excess_risk_noisyhead": "noisyhead", "excess_risk_gd": "gradient-descent"}
    return read(name).rename(columns=names).melt(keys, list(names.values()), "method", "excess_risk")


def beside(ours: pd.DataFrame, theirs: pd.DataFrame, keys: list[str], value: str) -> pd.DataFrame:
    """Ours joined with theirs: ``<value>_theirs`` and ``deviation``, the difference in combined standard errors.

    Our spread of a single trial is taken for theirs.
    """
    both = ours.merge(theirs, on=keys, suffixes=("", "_theirs"))
    combined = both["standard_error"] * np.sqrt(1 + both["trials"] / TRIALS)
    return both.assign(deviation=(both[value] - both[f"{value}_theirs"]) / combined)
