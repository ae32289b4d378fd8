"""How near this chapter's numbers come on another machine."""

import pandas as pd

from companion.judging.tolerances import Declared, Rounding

EPS = 2.0**-52


def _nu(table: pd.DataFrame) -> pd.Series:
    """As printed, ν is a difference of numbers of the order of c', and is itself of the order of c'²."""
    return (EPS / table["ratio"]).clip(lower=EPS)


def _F(table: pd.DataFrame) -> pd.Series:
    """As printed, F is a difference of numbers of the order of c', and is itself of the order of c'³."""
    return (EPS / table["ratio"] ** 2).clip(lower=EPS)


TOLERANCES: Declared = {
    "precision": {  # all four columns are rounding errors, the printed forms' much enlarged at small c'
        "mu_error": Rounding(),
        "nu_error": Rounding(),
        "printed_nu_error": Rounding(floor=_nu),
        "printed_F_error": Rounding(floor=_F),
    },
}
