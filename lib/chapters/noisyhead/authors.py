"""The authors' experiments: sizes with what a trial needs, their numbers, and ours beside them.

The numbers are from the authors' public results; MIT licence, 2025 chebyshevtech. The settings behind them
(`costofprivacy.noisyhead.recipes`) were read off the authors' public code, not fitted to the numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from companion import _fits
from companion.declaration import Parameters
from costofprivacy.noisyhead import recipes
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

TRIALS = 500  # of each published mean
INITIAL_STD = 0.1  # of an entry of the Γ⁰ behind the published numbers


class BySize:
    """What is measured at N training prompts. N names the random stream: its numbers are the same in every list."""

    N: int

    @property
    def key(self) -> int:
        """N."""
        return self.N


class OfPrompts:
    """What is measured on prompts of L pairs in D dimensions."""

    D: int
    L: int
    label_noise: float

    @cached_property
    def model(self) -> PromptModel:
        """Their law."""
        return PromptModel(self.D, self.L, self.label_noise)


class WithBudget:
    """What spends a budget of approximate differential privacy."""

    epsilon: float
    delta: float

    @property
    def budget(self) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)


class OfLowDimension(BySize):
    """Algorithm 1 as in section 6.1."""

    D: int
    failure: float
    penalty: float
    label_noise: float

    @cached_property
    def model(self) -> PromptModel:
        """L = ⌊√N⌋."""
        return recipes.square_model(self.D, self.N, self.label_noise)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.low_dimension(self.model, self.N, self.failure, self.penalty)


@dataclass(frozen=True)
class LowDimension(OfLowDimension):
    """One training-set size of section 6.1 with its budgets."""

    N: int
    D: int
    epsilon: tuple[float, ...]
    delta: float
    failure: float
    penalty: float
    label_noise: float

    @cached_property
    def budgets(self) -> list[ApproximateDP]:
        """One for each ε."""
        return [ApproximateDP(e, self.delta) for e in self.epsilon]


class OfHighDimension(BySize):
    """Prompts as in section 6.2."""

    label_noise: float

    @cached_property
    def model(self) -> PromptModel:
        """D = L = ⌊√N⌋."""
        return recipes.overparametrised_model(self.N, self.label_noise)

    @cached_property
    def penalty(self) -> float:
        """λ = N/D."""
        return recipes.high_dimension_penalty(self.N)


def means(samples: Mapping[Any, np.ndarray], index: int, quantity: str, place: int = 1) -> pd.DataFrame:
    """The mean of each number of a trial, by size: what it is, N, the mean, standard_error, trials.

    Args:
        samples: by cell, shape (trials, quantities, numbers); its ``columns`` say what each number is.
        index, quantity: which of the quantities, and its name. place: of the column N.
    """
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values[:, index])
        labels = pd.DataFrame(cell.columns).copy()
        labels.insert(place, "N", cell.N)
        tables.append(labels.assign(**{quantity: mean, "standard_error": error, "trials": len(values)}))
    return pd.concat(tables, ignore_index=True)


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
