"""The plan of clipped descent on all records, by the formulas of `estimators.expected` and from public numbers alone.

A plan has one or two stages (`rivals.guarded_descent`). The first comes near, with gradients as long as responses are;
the second clips at what is left of a residual by then, and the answer is the mean of its iterates, or the last of them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from costofprivacy.estimators import expected
from costofprivacy.estimators.expected import Expected, Records, Relation
from costofprivacy.estimators.planned_steps import Course, walk
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import batch_descent, guarded_descent

SHARES = (0.1, 0.25, 0.5)  # the first stage's share of μ²
NEARING = (0.03, 0.1, 0.3, 1.0)  # c of the first stage, in standard deviations of the response
NEARING_RATES = (0.15, 0.3, 0.6)  # ημ there, at the risk that is expected by then
NEARING_STEPS = (5, 10)
CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0)  # c of the last stage, in standard deviations of the residual before it
RATES = (0.05, 0.15, 0.3, 0.6)
STEPS = (10, 30)
MANY, MANY_RATES = 100, (0.15, 0.3, 0.6)  # steps of the last stage, where they are quick
QUICK = 10**6  # n times the number of coefficients up to which they are
ALONE = (0.005, 0.015, *RATES)  # ημ where there is one stage
ALONE_STEPS = (10, 20, 30)


@dataclass(frozen=True)
class Chosen:
    """A plan of clipped descent, and what it promises.

    Args:
        plan: of `guarded_descent`. gaussian: the Gaussian DP of all iterates. expected: the promise.
    """

    plan: guarded_descent.Stages
    gaussian: GaussianDP
    expected: Expected


@dataclass(frozen=True, eq=False)
class Candidates:
    """Settings side by side, each an array of shape (K,).

    Args:
        share: of μ² for the first stage, 0 where there is none. clip, rate, steps: of the first stage. second,
            second_rate, second_steps: of the last one.
    """

    share: np.ndarray
    clip: np.ndarray
    rate: np.ndarray
    steps: np.ndarray
    second: np.ndarray
    second_rate: np.ndarray
    second_steps: np.ndarray


@functools.lru_cache(maxsize=2)
def candidates(quick: bool) -> Candidates:
    """All settings that are tried.

    Args:
        quick: whether many steps are.
    """
    none = (0.0, 1.0, 1.0, 0)
    alone = [(*none, *rest) for rest in product(CLIPS, ALONE, ALONE_STEPS)]
    ends = [*product(CLIPS, RATES, STEPS), *(product(CLIPS, MANY_RATES, (MANY,)) if quick else ())]
    first = [none, *product(SHARES, NEARING, NEARING_RATES, NEARING_STEPS)]
    both = [(*one, *two) for one, two in product(first, ends)]
    return Candidates(*(np.array(column) for column in zip(*alone, *both, strict=True)))


@functools.lru_cache(maxsize=256)
def choose(known: Relation, n: int, budget: ApproximateDP, stated: bool) -> Chosen:
    """The descent with the least expected excess over least squares on the same records (`expected.best`).

    Args:
        known: what is public. n: number of records. budget: ε in (0, ∞) and δ. stated: whether eigenvalues are known.
    """
    tried, models, gaussian = candidates(n * known.d <= QUICK), expected.models(known, n, stated), budget.to_gaussian()
    courses = [Course.started(model, len(tried.share)) for model in models]
    whole = Records.whole(len(tried.share))

    def noise(clip: np.ndarray, steps: np.ndarray, share: np.ndarray) -> np.ndarray:
        """s of a coordinate of the mean gradient."""
        multiplier = np.sqrt(steps / np.where(steps > 0, share, 1.0)) / gaussian.mu
        return np.asarray(2 * clip * math.sqrt(known.d) * multiplier / n)

    clip = tried.clip * known.response_deviation
    lengths = walk(courses, clip, tried.rate, tried.steps, noise(clip, tried.steps, tried.share), whole)
    middle = courses[len(courses) // 2]
    second = tried.second * np.sqrt(2 * middle.model.risk(middle.errors) + known.label_noise**2)
    for course in courses:
        course.begin()
    second_noise = noise(second, tried.second_steps, 1 - tried.share)
    second_lengths = walk(courses, second, tried.second_rate, tried.second_steps, second_noise, whole)
    found = []
    for course in courses:
        ends = (course.errors, course.still, course.sizes), course.mean()
        told = [
            course.model.outcome(course.model.risk(errors), still, sizes, second, whole)
            for errors, still, sizes in ends
        ]
        found.append(np.concatenate(told, axis=1))
    outcomes = np.array(found)
    averaged, best = divmod(expected.best(outcomes), len(second))
    stages = [(clip, lengths, tried.steps, tried.share), (second, second_lengths, tried.second_steps, 1 - tried.share)]
    plans = [
        batch_descent.Plan(
            float(clip[best]) * math.sqrt(known.d),
            tuple(length[best, : steps[best]].tolist()),
            math.sqrt(steps[best] / share[best]) / gaussian.mu,
        )
        for clip, length, steps, share in stages
        if steps[best]
    ]
    plan = guarded_descent.Stages(tuple(plans), int(tried.second_steps[best]) if averaged else 1)
    return Chosen(plan, gaussian, expected.summary(outcomes[..., averaged * len(second) + best]))
