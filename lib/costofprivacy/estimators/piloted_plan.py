"""The plan of objective perturbation with a pilot: shares, clips, penalty and steps, from public numbers alone."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from costofprivacy.estimators import expected
from costofprivacy.estimators.expected import Expected, Model, Relation
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import piloted_perturbation
from costofprivacy.rivals.piloted_perturbation import Plan, Shares

CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0)  # for c, in standard deviations of the residual before the stage
LONG = (6.0, 12.0)  # further ones of the second stage, for intervals
SPOILS = 10.0  # how much more a bias matters to intervals than to the error: it is not seen in their width
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
        bound, kept: B and m. curvature, share: κ/ε and the pilot's part of v. strength: v, without what comes after.
        clip: c of the pilot. rate: ημ. steps: T. second: c of the second stage. Both c are in standard deviations of
            the residual before the stage.
    """

    bound: np.ndarray
    kept: np.ndarray
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
    bounds = [(bound, expected.kept(d, bound)) for bound in widths]
    main = piloted_perturbation.main_part(budget)
    v = {
        (k, f): (1 - after) * piloted_perturbation.strength(main, shares(k, f, after))
        for k, f in product(CURVATURES, (0.0, *PILOTS))
    }
    alone = [(*b, k, 0.0, v[k, 0.0], 1.0, RATES[0], 0, c) for b, k, c in product(bounds, CURVATURES, ends)]
    both = [
        (*b, k, f, v[k, f], c, rate, steps, second)
        for b, k, f, c, rate, steps, second in product(bounds, CURVATURES, PILOTS, CLIPS, RATES, STEPS, ends)
    ]
    return Candidates(*(np.array(column) for column in zip(*alone, *both, strict=True)))


@functools.lru_cache(maxsize=256)
def choose(known: Relation, n: int, budget: ApproximateDP, stated: bool, after: float = 0.0) -> Chosen:
    """The plan with the least expected risk (`expected.summary`).

    Args:
        known: what is public. n: number of records, at least 1. budget: ε in (0, ∞) and δ.
        stated: whether the eigenvalues are known. after: the share of v that something after the fit has, in [0, 1).
    """
    tried, models = candidates(known.d, budget, after), expected.models(known, n, stated)
    middle = len(models) // 2
    lengths, clips, ends = _pilots(models, middle, tried)
    second = tried.second * np.sqrt(2 * models[middle].risk(ends[middle]) + known.label_noise**2)
    penalty = tried.bound**2 / np.expm1(np.minimum(tried.curvature * budget.epsilon, 700.0))
    noise = 2 * second * math.sqrt(known.d) / np.sqrt((1 - tried.share) * tried.strength)
    ended = np.array([_ended(model, at, tried, second, penalty, noise) for model, at in zip(models, ends)])
    best = expected.best(ended, SPOILS if after else 1.0)
    plan = piloted_perturbation.calibrate(
        budget,
        shares(float(tried.curvature[best]), float(tried.share[best]), after),
        float(tried.bound[best]),
        float(second[best]) * math.sqrt(known.d),
        float(clips[best]) * math.sqrt(known.d),
        tuple(lengths[best, : tried.steps[best]].tolist()),
    )
    return Chosen(plan, expected.summary(ended[..., best]))


def _pilots(models: list[Model], middle: int, tried: Candidates) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Lengths of the steps, shape (K, most steps), c of the pilots, shape (K,), and e after them in each model.

    A step's length is planned for the risk that the middle model expects by then.
    """
    known, n = models[middle].known, models[middle].n
    clips, most = tried.clip * known.response_deviation, int(tried.steps.max())
    spent = np.where(tried.steps > 0, tried.share * tried.strength, 1.0)
    noise = 2 * clips * math.sqrt(known.d) * np.sqrt(tried.steps / spent) / n
    lengths = np.zeros((len(clips), most))
    ends = [np.tile(model.start, (len(clips), 1)) for model in models]
    for step in range(most):
        on = tried.steps > step
        reduction = models[middle].factors(clips[on], models[middle].risk(ends[middle][on]))[1]
        lengths[on, step] = tried.rate[on] / reduction
        for model, errors in zip(models, ends):
            factor = model.factor(errors[on], clips[on], lengths[on, step], tried.kept[on])
            errors[on] = model.stepped(errors[on], factor, lengths[on, step], noise[on])
    return lengths, clips, ends


def _ended(
    model: Model, errors: np.ndarray, tried: Candidates, clip: np.ndarray, penalty: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """`Model.minimum` for candidates with a pilot and without, shape (3, K)."""
    found = np.empty((3, len(clip)))
    for piloted in (False, True):
        on = (tried.steps > 0) == piloted
        own = (clip[on], penalty[on], noise[on], tried.kept[on], tried.bound[on])
        found[:, on] = model.minimum(errors[on], *own, piloted)
    return found
