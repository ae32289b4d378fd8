"""One draw of prompts with everything that is run on it: Figure 6 in one reading of section 7 of arXiv:2504.16000v2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.linalg import lstsq

from costofprivacy.experiments.noisyhead import authors
from costofprivacy.experiments.noisyhead.newsgroups.readings import OVER, RANDOM, RECIPES, ZERO, Reading
from costofprivacy.noisyhead import head, pretraining
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST, noise_std
from costofprivacy.noisyhead.curvature import EigenMoments, in_eigenbasis
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.population import ridge_scale
from costofprivacy.noisyhead.ridge import ridge
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
        delta: δ. noises: draws of the noise on each draw of prompts.
    """

    reading: Reading
    T: tuple[int, ...]
    epsilons: tuple[float, ...]
    delta: float
    noises: int

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
        return pd.DataFrame([*rows, *(none | {"method": UNIT_NOISE, "T": T} for T in self.T)])

    def of(self, recipe: str, start: str) -> list[tuple[str, float]]:
        """Accounts and budgets that are run with a recipe from a start."""
        return self.accounts if (recipe, start) == (OVER, ZERO) else self.accounts[:1]

    def noise(self, recipe: str, account: str, epsilon: float) -> list[float]:
        """Standard deviation of an entry of z_t for each T."""
        N, budget = self.reading.sizes[0], self.budget(epsilon)
        longest = max(self.T)
        how, steps = (EVERY, [longest] * len(self.T)) if account == ALONG else (account, list(self.T))
        return [noise_std(how, self.reading.told(recipe, T), budget, N, T) for T in steps]


@dataclass(frozen=True)
class Draw:
    """Training prompts as ridge sees them and as NoisyHead does, each in its eigenbasis, and test prompts."""

    train_rows: np.ndarray
    test_rows: np.ndarray
    raw: Statistics
    seen: EigenMoments
    told: EigenMoments
    test: Statistics

    def errors(self, predicted: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Mean square distances of predictions of shape (B, n) from Γ*'s and from the lengths, shape (2, B)."""
        return np.stack([((predicted - against) ** 2).mean(axis=1) for against in (reference, self.test.response)])

    def predict(self, Gamma: np.ndarray) -> np.ndarray:
        """⟨Γ, Z⟩ on the test prompts for matrices of shape (B, D, D), shape (B, n)."""
        Z = self.test.Z.reshape(len(self.test.response), -1)
        return np.asarray(Gamma.reshape(len(Gamma), -1) @ Z.T)


def drawn(reading: Reading, rng: np.random.Generator) -> Draw:
    """One draw of a reading's prompts; clipped and projected for NoisyHead, as they are for ridge and descent."""
    rows = reading.draw(rng)
    train, test = rows[: reading.sizes[0]], rows[reading.sizes[0] :]
    hyper = reading.told(OVER, 1)
    raw = reading.statistics(train)
    told = head.project(reading.statistics(train, hyper.clip_norm), hyper.feature_bound)
    seen, clipped = in_eigenbasis(head.moments(raw)), in_eigenbasis(head.moments(told))
    return Draw(train, test, raw, seen, clipped, reading.statistics(test))


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of prompts and all runs on it: shape (2, columns), excess risk over Γ* and test error.

    All runs share Γ⁰ and the directions of the noise. Descent beyond its largest learning rate overflows to infinity.
    """
    reading = cell.reading
    draw = drawn(reading, rng)
    D = reading.model.D
    start = authors.INITIAL_STD * rng.standard_normal((D, D))
    stream = int(rng.integers(2**63))
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [part for recipe in RECIPES for part in _of_recipe(cell, draw, recipe, start, stream)]
        parts += [_ends(draw, reading), np.tile(unit_noise(cell, draw), (2, 1))]
    found = np.concatenate(parts, axis=1)
    return np.where(np.isnan(found), np.inf, found)


def _of_recipe(cell: Cell, draw: Draw, recipe: str, start: np.ndarray, stream: int) -> Iterator[np.ndarray]:
    """For each start NoisyHead by account and T and descent by T; then answering 0 and Γ*."""
    hyper = cell.reading.told(recipe, max(cell.T))
    reference = draw.predict(ridge(draw.seen, hyper.penalty)[None])
    for begins in (ZERO, RANDOM):
        initial = start if begins == RANDOM else None
        of = cell.of(recipe, begins)
        std = [s for account, epsilon in of for s in cell.noise(recipe, account, epsilon)]
        steps, noise = np.tile(cell.T, len(of)), np.random.default_rng(stream)
        runs = [
            pretraining.pretrain(draw.told, hyper, std, rng=noise, steps=steps, initial=initial)
            for _ in range(cell.noises)
        ]
        yield np.mean([draw.errors(draw.predict(run), reference) for run in runs], axis=0)
        plain = pretraining.descent_path(draw.seen, hyper, cell.T, initial)
        yield draw.errors(draw.predict(plain), reference)
    yield draw.errors(np.concatenate([0 * reference, reference]), reference)


def _ends(draw: Draw, reading: Reading) -> np.ndarray:
    """What needs no privacy, or no head: `ENDS` in order, shape (2, 5); excess risk over the Γ* of section 6.2's λ.

    The best ridge head has the penalty that does best on the test prompts themselves. The linear model has every
    labelled article of the training prompts.
    """
    response, train, test = draw.test.response, draw.train_rows, draw.test_rows
    x, y = reading.tokens
    rests = draw.predict(np.array([ridge(draw.seen, penalty) for penalty in PENALTIES]))
    best = rests[((rests - response) ** 2).mean(axis=1).argmin()]
    nothing = draw.predict(ridge_scale(reading.model, 0.0) * np.eye(reading.model.D)[None])[0]
    middle = np.full_like(response, draw.raw.response.mean())
    seen = np.unique(train)
    fit = lstsq(np.column_stack([np.ones(len(seen)), x[seen]]), y[seen])[0]
    linear = fit[0] + x[test[:, -1]] @ fit[1:]
    reference = draw.predict(ridge(draw.seen, reading.told(OVER, 1).penalty)[None])
    return draw.errors(np.stack([middle, y[test[:, :-1]].mean(axis=1), nothing, best, linear]), reference)


def unit_noise(cell: Cell, draw: Draw) -> np.ndarray:
    """E⟨Σ_t A^t z_t, Z⟩² over the test prompts for z_t of unit variance, T terms, A the update of section 6.2's recipe.

    In the eigenbasis it is Σ_i q_i (1 − a_i^{2T})/(1 − a_i²), q_i the mean square of the test Z in direction i.
    """
    hyper = cell.reading.told(OVER, 1)
    a = (1 - hyper.learning_rate * (2 * hyper.penalty + draw.told.eigenvalues)) ** 2
    Z = draw.test.Z.reshape(len(draw.test.response), -1) @ draw.told.basis
    T = np.array(cell.T)[:, None]
    return np.asarray(((1 - a**T) / (1 - a)) @ (Z**2).mean(axis=0))
