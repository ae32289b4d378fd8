"""The plans of clipped descent on all records, and of boosted AdaSSP, by the formulas of `estimators.expected`."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from costofprivacy.estimators import expected
from costofprivacy.estimators.expected import Expected, Model, Relation
from costofprivacy.privacy import ApproximateDP, GaussianDP, exact_composed_noise_multiplier
from costofprivacy.rivals import batch_descent, boosting
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.sufficient_statistics import FAILURE, PARTS, share

CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0)  # c in standard deviations of the response
STEPS = (10, 20, 30)
RATES = (0.005, 0.015, 0.05, 0.15, 0.3, 0.6)  # ημ at the risk that is expected by then
ROUNDS = (1, 3, 10, 30)
WIDTH = 0.95  # m, which says what B of boosted AdaSSP is


@dataclass(frozen=True)
class DescentChosen:
    """A plan of clipped descent, the Gaussian DP of all its iterates, and what it promises."""

    plan: batch_descent.Plan
    gaussian: GaussianDP
    expected: Expected


@dataclass(frozen=True)
class BoostingChosen:
    """A plan of boosted AdaSSP with the bounds of its records, and what it promises."""

    plan: boosting.Plan
    bounds: Bounds
    expected: Expected


@functools.lru_cache(maxsize=256)
def descent(known: Relation, n: int, budget: ApproximateDP, stated: bool) -> DescentChosen:
    """The descent with the least expected risk.

    Args:
        known: what is public. n: number of records. budget: ε in (0, ∞) and δ. stated: whether eigenvalues are known.
    """
    models = expected.models(known, n, stated)
    middle = models[len(models) // 2]
    clip, rate, steps = (np.array(column) for column in zip(*product(CLIPS, RATES, STEPS)))
    clip = clip * known.response_deviation
    multiplier = np.array([exact_composed_noise_multiplier(budget, int(T)) for T in STEPS])
    noise = 2 * clip * math.sqrt(known.d) * multiplier[np.searchsorted(STEPS, steps)] / n
    lengths, ends = np.zeros((len(clip), max(STEPS))), [np.tile(model.start, (len(clip), 1)) for model in models]
    still = [np.ones_like(errors) for errors in ends]  # what is left of the way from 0
    for step in range(max(STEPS)):
        on = steps > step
        planned = ends[models.index(middle)][on]
        lengths[on, step] = rate[on] / middle.factors(clip[on], middle.risk(planned))[1]
        for model, errors, left in zip(models, ends, still, strict=True):
            factor = model.factor(errors[on], clip[on], lengths[on, step], np.ones(1))
            errors[on], left[on] = model.stepped(errors[on], factor, lengths[on, step], noise[on]), factor * left[on]
    found = np.array(
        [
            model.outcome(model.risk(errors), left, clip, math.inf)
            for model, errors, left in zip(models, ends, still, strict=True)
        ]
    )
    best = expected.best(found)
    rates = tuple(lengths[best, : steps[best]].tolist())
    plan = batch_descent.Plan(
        float(clip[best]) * math.sqrt(known.d), rates, float(multiplier[STEPS.index(steps[best])])
    )
    return DescentChosen(plan, budget.to_gaussian(), expected.summary(found[..., best]))


@functools.lru_cache(maxsize=256)
def boosted(known: Relation, n: int, budget: ApproximateDP, stated: bool) -> BoostingChosen:
    """Boosted AdaSSP with the least expected risk; its penalty is the one that the noise of XᵀX will need.

    Args:
        known: what is public. n: number of records. budget: ε in (0, ∞) and δ. stated: whether eigenvalues are known.
    """
    models, mu = expected.models(known, n, stated), budget.to_gaussian()
    bound = expected.feature_bound(known.d, WIDTH)
    clip, rounds = (np.array(column) for column in zip(*product(CLIPS, ROUNDS)))
    clip = clip * known.response_deviation
    noise = 2 * clip * math.sqrt(known.d) / np.array([share(mu, PARTS * int(T)).mu for T in rounds])
    found = []
    for model in models:
        penalty = matrix_penalty(model, bound, share(mu).mu)
        errors = np.tile(model.start, (len(clip), 1))
        left = np.ones_like(errors)
        for step in range(max(ROUNDS)):
            on = rounds > step
            reduction = model.factors(clip[on], model.risk(errors[on]))[1]
            solved = n * model.eigenvalues / (n * model.eigenvalues + penalty)
            factor = 1 - reduction[:, None] * solved
            errors[on] = factor**2 * errors[on] + (noise[on, None] / (n * model.eigenvalues + penalty)) ** 2
            left[on] *= factor
        found.append(model.outcome(model.risk(errors), left, clip, bound))
    outcomes = np.array(found)
    best = expected.best(outcomes)
    plan = boosting.Plan(float(clip[best]) * math.sqrt(known.d), int(rounds[best]), mu)
    far = Bounds(bound, bound)  # boosting does not use the bound of the response
    return BoostingChosen(plan, far, expected.summary(outcomes[..., best]))


def matrix_penalty(model: Model, bound: float, mu: float) -> float:
    """λ that `sufficient_statistics.noisy_matrix` is expected to add for records of norm B.

    Args:
        model: the spectrum and n. bound: B. mu: of each of the two releases of the matrix.
    """
    d, z = model.known.d, math.sqrt(2 * math.log(1 / FAILURE))
    lowest = model.n * float(model.eigenvalues.min()) * max(0.0, 1 - math.sqrt(d / model.n)) ** 2
    return max(0.0, math.sqrt(2) * bound**2 / mu * (math.sqrt(2 * d) + z) - max(0.0, lowest - z * bound**2 / mu))
