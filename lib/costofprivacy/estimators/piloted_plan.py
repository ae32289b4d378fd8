"""The plan of objective perturbation with a pilot: shares, clips, penalty and steps, from public numbers alone."""

import functools
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from costofprivacy.estimators import expected
from costofprivacy.estimators.descent import Course, walk
from costofprivacy.estimators.expected import Expected, Model, Records, Relation
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import piloted_perturbation
from costofprivacy.rivals.piloted_perturbation import Plan, Shares

CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0)  # for c, in standard deviations of the residual before the stage
LONG = (6.0, 12.0)  # further ones of the second stage, for intervals
CURVATURES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)  # κ/ε
PILOTS = (0.1, 0.25, 0.5)  # the pilot's share of v
STEPS = (5, 10)
RATES = (0.05, 0.15, 0.3, 0.6)  # ημ at the risk that is expected by then
KEPT = (0.8, 0.95)  # m, which says what the shorter B are
WIDE = (2.0, 3.5)  # B/√d of the longer ones


@dataclass(frozen=True)
class Chosen:
    """A plan on the scale of the `Relation`, and what it promises."""

    plan: Plan
    expected: Expected


@dataclass(frozen=True, eq=False)
class Candidates:
    """Settings side by side, each an array of shape (K,); no steps and no share where there is no pilot.

    Args:
        bound: B. curvature, share: κ/ε and the pilot's part of v. strength: v, without what comes after.
        clip: c of the pilot. rate: ημ. steps: T. second: c of the second stage. Both c are in standard deviations of
            the residual before the stage.
    """

    bound: np.ndarray
    curvature: np.ndarray
    share: np.ndarray
    strength: np.ndarray
    clip: np.ndarray
    rate: np.ndarray
    steps: np.ndarray
    second: np.ndarray


def shares(curvature: float, pilot: float, after: float) -> Shares:
    """The shares of the three stages, where the pilot has its part of what the last one leaves.

    Args:
        curvature: κ/ε. pilot: the pilot's part of the first two stages. after: the last one's of all.
    """
    return Shares(curvature, pilot * (1 - after), after)


@functools.lru_cache(maxsize=64)
def candidates(d: int, budget: ApproximateDP, after: float = 0.0) -> Candidates:
    """All settings that are tried at a budget.

    Args:
        d: dimension. budget: ε in (0, ∞) and δ. after: the share of v that something after the fit has, in [0, 1).
    """
    widths = [*(expected.feature_bound(d, share) for share in KEPT), *(wide * math.sqrt(d) for wide in WIDE)]
    ends = (*CLIPS, *LONG) if after else CLIPS
    main = piloted_perturbation.main_part(budget)
    v = {
        (k, f): (1 - after) * piloted_perturbation.strength(main, shares(k, f, after))
        for k, f in product(CURVATURES, (0.0, *PILOTS))
    }
    alone = [(b, k, 0.0, v[k, 0.0], 1.0, RATES[0], 0, c) for b, k, c in product(widths, CURVATURES, ends)]
    both = [
        (b, k, f, v[k, f], c, rate, steps, second)
        for b, k, f, c, rate, steps, second in product(widths, CURVATURES, PILOTS, CLIPS, RATES, STEPS, ends)
    ]
    return Candidates(*(np.array(column) for column in zip(*alone, *both, strict=True)))


@functools.lru_cache(maxsize=256)
def choose(known: Relation, n: int, budget: ApproximateDP, stated: bool, after: float = 0.0) -> Chosen:
    """The plan with the least expected excess (`expected.best`), or the best one for intervals.

    Args:
        known: what is public. n: number of records, at least 1. budget: ε in (0, ∞) and δ.
        stated: whether the eigenvalues are known. after: the share of v that something after the fit has, in [0, 1).
    """
    tried, models = candidates(known.d, budget, after), expected.models(known, n, stated)
    lengths, clips, courses = _pilots(models, tried)
    middle = courses[len(courses) // 2]
    second = tried.second * np.sqrt(2 * middle.model.risk(middle.errors) + known.label_noise**2)
    penalty = tried.bound**2 / np.expm1(np.minimum(tried.curvature * budget.epsilon, 700.0))
    noise = 2 * second * math.sqrt(known.d) / np.sqrt((1 - tried.share) * tried.strength)
    ended = np.array([_ended(course, tried, second, penalty, noise, after > 0) for course in courses])
    width = np.log(ended[:, 0] + expected.SPOILS * ended[:, 2])  # of intervals: the whole error, and the bias again
    best = int(width.mean(axis=0).argmin()) if after else expected.best(ended, known.aim)
    plan = piloted_perturbation.calibrate(
        budget,
        shares(float(tried.curvature[best]), float(tried.share[best]), after),
        float(tried.bound[best]),
        float(second[best]) * math.sqrt(known.d),
        float(clips[best]) * math.sqrt(known.d),
        tuple(lengths[best, : tried.steps[best]].tolist()),
    )
    return Chosen(plan, expected.summary(known, ended[..., best]))


def _pilots(models: list[Model], tried: Candidates) -> tuple[np.ndarray, np.ndarray, list[Course]]:
    """Lengths of the steps, shape (K, most steps), c of the pilots, shape (K,), and their courses in each model."""
    known, n = models[0].known, models[0].n
    group = len(np.unique(tried.second))  # so many settings in a row differ in the second stage alone
    one = Candidates(*(column[::group] for column in vars(tried).values()))
    clips = one.clip * known.response_deviation
    spent = np.where(one.steps > 0, one.share * one.strength, 1.0)
    noise = 2 * clips * math.sqrt(known.d) * np.sqrt(one.steps / spent) / n
    courses = [Course.started(model, len(clips)) for model in models]
    lengths = walk(courses, clips, one.rate, one.steps, noise, Records.within(known.d, one.bound))
    return np.repeat(lengths, group, axis=0), np.repeat(clips, group), [course.repeated(group) for course in courses]


def _ended(
    course: Course, tried: Candidates, clip: np.ndarray, penalty: np.ndarray, noise: np.ndarray, unpulled: bool
) -> np.ndarray:
    """`Model.minimum` for candidates with a pilot and without, shape (3, K).

    Args:
        course: of the pilots. tried: all settings. clip, penalty, noise: c, Λ and σ of the second stage. unpulled:
            whether what the penalty pulls is undone afterwards, as in the centre of intervals, and what the
            pilot's clip did with it.
    """
    found, model = np.empty((3, len(clip))), course.model
    records = Records.within(model.known.d, tried.bound)
    own = model.targets(clip, records, model.risk(course.errors))
    sizes = np.broadcast_to(own, course.sizes.shape) if unpulled else course.sizes
    for piloted in (False, True):
        on = (tried.steps > 0) == piloted
        stage = (clip[on], penalty[on], noise[on], records.at(on))
        found[:, on] = model.minimum(course.errors[on], sizes[:, on], *stage, piloted)
    return found
