"""The plan of boosted AdaSSP, by the formulas of `estimators.expected` and from public numbers alone."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from costofprivacy.estimators import expected
from costofprivacy.estimators.expected import Expected, Model, Records, Relation
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import boosting
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.sufficient_statistics import FAILURE, PARTS, share

CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0)  # c in standard deviations of the response
ROUNDS = (1, 3, 10, 30)
WIDTH = 0.95  # m, which says what B of boosted AdaSSP is


@dataclass(frozen=True)
class ChosenBoosting:
    """A plan of boosted AdaSSP with the bounds of its records, and what it promises."""

    plan: boosting.Plan
    bounds: Bounds
    expected: Expected


@functools.lru_cache(maxsize=256)
def choose_boosting(known: Relation, n: int, budget: ApproximateDP, stated: bool) -> ChosenBoosting:
    """Boosted AdaSSP that is expected to be nearest to least squares; its penalty is what the noise of XᵀX will need.

    Args:
        known: what is public. n: number of records. budget: ε in (0, ∞) and δ. stated: whether eigenvalues are known.
    """
    models, mu = expected.models(known, n, stated), budget.to_gaussian()
    bound = expected.feature_bound(known.d, WIDTH)
    clip, rounds = (np.array(column) for column in zip(*product(CLIPS, ROUNDS)))
    clip = clip * known.response_deviation
    noise = 2 * clip * math.sqrt(known.d) / np.array([share(mu, PARTS * int(T)).mu for T in rounds])
    records = Records.within(known.d, np.full(len(clip), bound))
    found = []
    for model in models:
        penalty = matrix_penalty(model, bound, share(mu).mu)
        errors = np.tile(model.start, (len(clip), 1))
        left = np.ones_like(errors)
        for step in range(max(ROUNDS)):
            on = rounds > step
            reduction = model.reduction(clip[on], model.risk(errors[on]))
            solved = n * model.eigenvalues / (n * model.eigenvalues + penalty)
            factor = 1 - reduction[:, None] * solved
            errors[on] = factor**2 * errors[on] + (noise[on, None] / (n * model.eigenvalues + penalty)) ** 2
            left[on] *= factor
        risk = model.risk(errors)
        found.append(model.outcome(risk, left, (1 - left) * model.targets(clip, records, risk), clip, records))
    outcomes = np.array(found)
    best = expected.best(outcomes)
    plan = boosting.Plan(float(clip[best]) * math.sqrt(known.d), int(rounds[best]), mu)
    far = Bounds(bound, bound)  # boosting does not use the bound of the response
    return ChosenBoosting(plan, far, expected.summary(outcomes[..., best]))


def matrix_penalty(model: Model, bound: float, mu: float) -> float:
    """λ that `sufficient_statistics.noisy_matrix` is expected to add for records of norm B.

    Args:
        model: the spectrum and n. bound: B. mu: of each of the two releases of the matrix.
    """
    d, z = model.known.d, math.sqrt(2 * math.log(1 / FAILURE))
    lowest = model.n * float(model.eigenvalues.min()) * max(0.0, 1 - math.sqrt(d / model.n)) ** 2
    return max(0.0, math.sqrt(2) * bound**2 / mu * (math.sqrt(2 * d) + z) - max(0.0, lowest - z * bound**2 / mu))
