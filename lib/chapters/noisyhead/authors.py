"""The authors' numbers, and ours beside them. From the authors' public results; MIT licence, 2025 chebyshevtech.

The settings behind them (`costofprivacy.noisyhead.recipes`) were read off the authors' public code, not fitted to the
numbers.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd

from companion.declaration import Parameters

TRIALS = 500  # of each published mean
INITIAL_STD = 0.1  # of an entry of the Γ⁰ behind the published numbers


def read(name: str) -> pd.DataFrame:
    """A table of ``reference/``, as published."""
    with (files("chapters") / "reference" / f"{name}.csv").open() as stream:
        return pd.read_csv(stream)


def if_published(experiment: Parameters, theirs: pd.DataFrame) -> pd.DataFrame:
    """The authors' numbers where they belong to the experiment's parameters; none of them otherwise."""
    return theirs if experiment.is_published else theirs.head(0)


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


def by_budget(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Excess risks by N, ε and method beside the published ones.

    Gradient descent has no ε here; its published values, one for each ε, are each compared.
    """
    private = ours[ours["method"] == "noisyhead"]
    plain = ours[ours["method"] == "gradient-descent"].drop(columns="epsilon")
    both = [
        beside(private, theirs, ["N", "epsilon", "method"], "excess_risk"),
        beside(plain, theirs, ["N", "method"], "excess_risk"),
    ]
    columns = ["setting", "N", "epsilon", "method", "excess_risk", "standard_error", "excess_risk_theirs", "deviation"]
    return pd.concat(both, ignore_index=True)[columns]
