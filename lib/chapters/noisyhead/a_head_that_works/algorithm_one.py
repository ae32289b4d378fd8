"""The ladder's first rungs: Algorithm 1 as printed, then with one thing mended after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chapters.noisyhead.a_head_that_works.seen import Seen
from costofprivacy.estimators import prompts
from costofprivacy.estimators.prompts import Given
from costofprivacy.noisyhead import accounts, hyperparameters, pretraining, recipes
from costofprivacy.noisyhead.best_head import scale_without_data
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.settings import Setting

FAILURE, PENALTY = 1.0, 5.0  # κ and λ of section 6.1


def as_printed(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """Section 6.1, low dimension, every number as in the text."""
    return _run(seen, _printed(seen), accounts.ALGORITHM, rng=rng)


def smallest_radius(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """R = C/(2√(2λ)), the longest that the solution to which the update tends can be."""
    return _run(seen, _radius(seen), accounts.ALGORITHM, rng=rng)


def exact(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """Exact composition, as if every iterate were released."""
    return _run(seen, _radius(seen), accounts.EVERY, rng=rng)


def last_iterate(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """The last iterate alone is paid for."""
    return _run(seen, _radius(seen), accounts.LAST, rng=rng)


def penalty(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """λ by the closed forms for the paper's law, and the R that goes with it."""
    return _run(seen, _penalty(seen), accounts.LAST, rng=rng)


def steps(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """T too."""
    return _run(seen, _steps(seen), accounts.LAST, rng=rng)


def tuned(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """η₀, C and G too, all of them together."""
    return _run(seen, _tuned(seen), accounts.LAST, rng=rng)


def started(seen: Seen, *, rng: np.random.Generator) -> np.ndarray:
    """The same from the best head that uses no data, shortened to R."""
    start = scale_without_data(seen.law, seen.model.L) * np.eye(seen.law.D)
    return _run(seen, _tuned(seen), accounts.LAST, start, rng=rng)


def _printed(seen: Seen) -> Hyperparameters:
    return recipes.low_dimension(seen.model, seen.N, FAILURE, PENALTY)[Setting.PRINTED]


def _radius(seen: Seen) -> Hyperparameters:
    told = _printed(seen)
    return replace(told, weight_bound=hyperparameters.weight_bound_singular(told.clip_norm, 2 * told.penalty))


def _penalty(seen: Seen) -> Hyperparameters:
    told = _printed(seen)
    return _closed(
        seen,
        Given(told.clip_norm, told.feature_bound, learning_rate=told.learning_rate, steps=told.steps),
    )


def _steps(seen: Seen) -> Hyperparameters:
    told = _penalty(seen)
    kept = Given(told.clip_norm, told.feature_bound, penalty=2 * told.penalty, learning_rate=told.learning_rate)
    return _closed(seen, kept)


def _tuned(seen: Seen) -> Hyperparameters:
    return _closed(seen, Given())


def _closed(seen: Seen, given: Given) -> Hyperparameters:
    return prompts.tuned(seen.model, seen.N, seen.budget, accounts.LAST, given)


def _run(
    seen: Seen, told: Hyperparameters, account: str, start: np.ndarray | None = None, *, rng: np.random.Generator
) -> np.ndarray:
    """One release."""
    std = accounts.noise_std(account, told, seen.budget, seen.N, told.steps)
    if start is not None:
        start = start * min(1.0, told.weight_bound / float(np.linalg.norm(start)))
    data = in_eigenbasis(seen.bounded(told.clip_norm, told.feature_bound))
    return pretraining.pretrain(data, told, [std], rng=rng, initial=start)[0]
