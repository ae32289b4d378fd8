"""One draw of prompts with everything that is run on it: Figure 6 in one reading of section 7 of arXiv:2504.16000v2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.linalg import lstsq

from chapters.noisyhead import authors
from chapters.noisyhead.newsgroups.readings import OVER, RANDOM, RECIPES, ZERO, Reading
from costofprivacy.noisyhead import head, pretraining, tridiagonal
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST, noise_std
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.population import ridge_scale
from costofprivacy.noisyhead.tridiagonal import Configurations, TridiagonalMoments, in_tridiagonal_basis
from costofprivacy.privacy import ApproximateDP

ALONG = "one run, read on its way"
PRIVATE, DESCENT, RIDGE, NOUGHT = "noisyhead", "gradient-descent", "ridge", "zero"
MEAN, CONTEXT_MEAN, NO_DATA, BEST_HEAD, LINEAR = (
    "mean of the training lengths",
    "mean of the prompt's own lengths",
    "head without data",
    "best ridge head",
    "linear in the query",
)
ENDS = (MEAN, CONTEXT_MEAN, NO_DATA, BEST_HEAD, LINEAR)
UNIT_NOISE = "unit noise"  # the noise part of the risk for noise of variance one in every step
PENALTIES = tuple(10.0**k for k in range(-9, 3))  # of the best ridge head


@dataclass(frozen=True)
class Cell:
    """A reading with the runs on it.

    Args:
        reading: how articles become prompts. T: numbers of steps, ascending. epsilons: the first one is the figure's.
        delta: δ. noises: draws of the noise on each draw of prompts. parts: whether the noise's parts are measured.
    """

    reading: Reading
    T: tuple[int, ...]
    epsilons: tuple[float, ...]
    delta: float
    noises: int
    parts: bool = False

    @property
    def key(self) -> int:
        """All readings share their random numbers."""
        return 0

    def budget(self, epsilon: float) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(epsilon, self.delta)

    @property
    def accounts(self) -> list[tuple[str, float]]:
        """Accounts and budgets of section 6.2's recipe from 0; the figure's first."""
        others = [(account, self.epsilons[0]) for account in (EVERY, LAST, ALONG)]
        return [*((ALGORITHM, epsilon) for epsilon in self.epsilons), *others]

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(recipe, start, account, epsilon, method, T) of each number that a trial returns."""
        rows: list[dict[str, object]] = []
        for recipe in RECIPES:
            none = {"recipe": recipe, "start": "", "account": "", "epsilon": np.nan}
            for start in (ZERO, RANDOM):
                run = {"recipe": recipe, "start": start}
                for account, epsilon in self.of(recipe, start):
                    own = run | {"account": account, "epsilon": epsilon}
                    rows += [own | {"method": PRIVATE, "T": T} for T in self.T]
                rows += [none | run | {"method": DESCENT, "T": T} for T in self.T]
            rows += [none | {"method": method, "T": 0} for method in (NOUGHT, RIDGE)]
        none = {"recipe": OVER, "start": "", "account": "", "epsilon": np.nan}
        rows += [none | {"method": method, "T": 0} for method in ENDS]
        return pd.DataFrame([*rows, *(none | {"method": UNIT_NOISE, "T": T} for T in self.T if self.parts)])

    def of(self, recipe: str, start: str) -> list[tuple[str, float]]:
        """Accounts and budgets that are run with a recipe from a start."""
        return self.accounts if (recipe, start) == (OVER, ZERO) else self.accounts[:1]

    def noise(self, recipe: str, account: str, epsilon: float) -> list[float]:
        """Standard deviation of an entry of z_t for each T."""
        N, budget = self.reading.sizes[0], self.budget(epsilon)
        longest = max(self.T)
        how, steps = (EVERY, [longest] * len(self.T)) if account == ALONG else (account, list(self.T))
        return [noise_std(how, self.reading.told(recipe, T), budget, N, T) for T in steps]

    def at(self, method: str) -> np.ndarray:
        """The columns of a method."""
        return np.flatnonzero(self.columns["method"] == method)

    @cached_property
    def private(self) -> Configurations:
        """NoisyHead's runs, in the order of the columns."""
        runs = [(recipe, start) for recipe in RECIPES for start in (ZERO, RANDOM)]
        std = [s for recipe, start in runs for way in self.of(recipe, start) for s in self.noise(recipe, *way)]
        return self._configurations(PRIVATE, np.array(std))

    @cached_property
    def descent(self) -> Configurations:
        """The same without noise and without Π_R."""
        return self._configurations(DESCENT, np.zeros(len(self.at(DESCENT))))

    def _configurations(self, method: str, std: np.ndarray) -> Configurations:
        rows = self.columns.iloc[self.at(method)]
        told = [self.reading.told(recipe, T) for recipe, T in zip(rows["recipe"], rows["T"], strict=True)]
        penalty, rate = (np.array([getattr(hyper, name) for hyper in told]) for name in ("penalty", "learning_rate"))
        radius = np.array([hyper.weight_bound if method == PRIVATE else np.inf for hyper in told])
        begun = (rows["start"] == RANDOM).to_numpy(float)
        return Configurations(penalty, rate, radius, std, rows["T"].to_numpy(int), begun)


@dataclass(frozen=True)
class Seen:
    """Training prompts as a learner sees them, in a basis in which H is tridiagonal; what else is needed, in it.

    Args:
        moments: of the training prompts. start: Γ⁰, shape (D²,). Z: of the test prompts, shape (n, D²).
    """

    moments: TridiagonalMoments
    start: np.ndarray
    Z: np.ndarray

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        """⟨Γ, Z⟩ on the test prompts for coordinates of shape (B, D²), shape (B, n)."""
        return np.asarray(coordinates @ self.Z.T)

    def run(self, told: Configurations, noise: np.ndarray) -> np.ndarray:
        """Γ^T's predictions, with the noise in coordinates."""
        return self.predict(tridiagonal.run(self.moments, told, self.start, noise))

    def ridge(self, penalty: float) -> np.ndarray:
        """The ridge solution's predictions, shape (n,)."""
        return self.predict(self.moments.solve(penalty)[None])[0]


@dataclass(frozen=True)
class Draw:
    """Training prompts as ridge and descent see them and as NoisyHead does, and test prompts."""

    train_rows: np.ndarray
    test_rows: np.ndarray
    mean_response: float
    seen: Seen
    told: Seen
    test: Statistics

    def errors(self, predicted: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Mean square distances of predictions of shape (B, n) from Γ*'s and from the lengths, shape (2, B)."""
        return np.stack([((predicted - against) ** 2).mean(axis=1) for against in (reference, self.test.response)])


def drawn(reading: Reading, rng: np.random.Generator) -> Draw:
    """Prompts and Γ⁰ of a trial; clipped and projected for NoisyHead, as they are for ridge and descent."""
    rows, D = reading.draw(rng), reading.model.D
    start = authors.INITIAL_STD * rng.standard_normal(D * D)
    train, test = rows[: reading.sizes[0]], rows[reading.sizes[0] :]
    hyper, asked = reading.told(OVER, 1), reading.statistics(test)
    raw = reading.statistics(train)
    told = head.project(reading.statistics(train, hyper.clip_norm), hyper.feature_bound)
    carried = np.vstack([start, asked.Z.reshape(len(asked.response), -1)])
    basis = in_tridiagonal_basis(raw)
    same = np.array_equal(raw.context, told.context) and np.array_equal(raw.response, told.response)
    other = basis if same else in_tridiagonal_basis(told)
    pretraining.refuse_unbounded(other, hyper.clip_norm, hyper.feature_bound)
    return Draw(train, test, raw.response.mean(), _seen(basis, carried), _seen(other, carried), asked)


def _seen(basis: TridiagonalMoments, carried: np.ndarray) -> Seen:
    """Γ⁰, the first row, and the test prompts' Z, the others, in a basis."""
    moved = basis.along(carried)
    return Seen(basis, moved[0], moved[1:])


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of prompts and all runs on it: shape (2, columns), excess risk over Γ* and test error.

    All runs share Γ⁰ and the directions of the noise. Descent beyond its largest learning rate overflows to infinity.
    """
    reading = cell.reading
    draw = drawn(reading, rng)
    stream = np.random.default_rng(int(rng.integers(2**63)))
    found = np.empty((2, len(cell.columns)))
    with np.errstate(over="ignore", invalid="ignore"):
        references = {recipe: draw.seen.ridge(reading.told(recipe, 1).penalty) for recipe in RECIPES}
        beside = np.array([references[recipe] for recipe in cell.columns["recipe"]])
        for method, predicted in _predictions(cell, draw, stream):
            at = cell.at(method)
            found[:, at] = np.mean([draw.errors(one, beside[at]) for one in predicted], axis=0)
        ridges = np.array(list(references.values()))
        for method, answers in ((NOUGHT, 0 * ridges), (RIDGE, ridges)):
            found[:, cell.at(method)] = draw.errors(answers, ridges)
        ends = np.flatnonzero(cell.columns["method"].isin(ENDS))
        found[:, ends] = draw.errors(_ends(draw, reading), references[OVER])
    if cell.parts:
        found[:, cell.at(UNIT_NOISE)] = unit_noise(cell, draw)
    return np.where(np.isnan(found), np.inf, found)


def _predictions(cell: Cell, draw: Draw, stream: np.random.Generator) -> Iterator[tuple[str, list[np.ndarray]]]:
    """NoisyHead's predictions for each draw of the noise, and descent's, in the order of their columns."""
    shape = (max(cell.T), len(draw.told.start))
    yield PRIVATE, [draw.told.run(cell.private, stream.standard_normal(shape)) for _ in range(cell.noises)]
    yield DESCENT, [draw.seen.run(cell.descent, np.zeros(shape))]


def _ends(draw: Draw, reading: Reading) -> np.ndarray:
    """Predictions that need no privacy, or no head: `ENDS` in order, shape (5, n).

    The best ridge head has the penalty that does best on the test prompts themselves. The linear model has every
    labelled article of the training prompts.
    """
    response, train, test = draw.test.response, draw.train_rows, draw.test_rows
    x, y = reading.tokens
    rests = np.array([draw.seen.ridge(penalty) for penalty in PENALTIES])
    best = rests[((rests - response) ** 2).mean(axis=1).argmin()]
    nothing = ridge_scale(reading.model, 0.0) * np.einsum("nd,nd->n", draw.test.query, draw.test.context)
    middle = np.full_like(response, draw.mean_response)
    seen = np.unique(train)
    fit = lstsq(np.column_stack([np.ones(len(seen)), x[seen]]), y[seen], lapack_driver="gelsy")[0]
    linear = fit[0] + x[test[:, -1]] @ fit[1:]
    return np.stack([middle, y[test[:, :-1]].mean(axis=1), nothing, best, linear])


def unit_noise(cell: Cell, draw: Draw) -> np.ndarray:
    """E⟨Σ_t A^t z_t, Z⟩² over the test prompts for z_t of variance one, T terms, A section 6.2's update."""
    hyper = cell.reading.told(OVER, 1)
    each = tridiagonal.grown(draw.told.moments, hyper.penalty, hyper.learning_rate, draw.told.Z, max(cell.T))
    return np.asarray(each.mean(axis=0)[np.array(cell.T) - 1])
