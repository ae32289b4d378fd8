r"""Descents with noise in one dimension, transcribed so that many independent releases run side by side.

The library's functions make one release in a call, or several that share their noise. Each function here has the steps
of one of them, on arrays of noise whose last axis is the release. What bounds a record is not transcribed: it is the
library's. `tests/chapters/privacy/every_mechanism/test_every_mechanism_releases.py` holds each to the library's
function, on the same noise.
"""

from __future__ import annotations

import math

import numpy as np

from chapters.privacy.every_mechanism.records import Data, Knobs
from costofprivacy.dpgd.descent import Configuration, step_table
from costofprivacy.dpgd.schedule import Polynomial
from costofprivacy.privacy import ApproximateDP, GaussianDP, records, sums
from costofprivacy.rivals import batch_descent, guarded_descent
from costofprivacy.rivals.bounds import given, within_reach
from costofprivacy.rivals.shrinking_clip import Plan

CLIP = 1.0  # C
SCHEDULE = Polynomial(1.0, 1.0)  # of DP-GD: noise in every step
RATES = (0.5, 0.5)  # η_t of the descents on all records
GUARDED = ((CLIP, (0.5, 0.5), 0.3), (CLIP / 2, (0.5, 0.5), 0.7))  # C, η_t and the share of μ² of each stage
AVERAGED = 2  # of their iterates
SHRINKING, SHRINKING_RATES = (1.0, 0.5), (0.5, 1.0)  # C_t, and η_t with which all rounds show a record equally
SAMPLING, SAMPLED_RATES = 0.5, (0.5, 0.5, 0.5)


def dp_gd(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_n of `dpgd.descent.descend_records`, shape (count,).

    Args:
        data: n records. mu: ρ. normals: b of each step, shape (n, count). knobs: what is wrong.
    """
    x, y = records.regression(*data) if knobs.clip else data
    steps = step_table([Configuration(CLIP, SCHEDULE, mu)], len(x), 1, 0, len(x))
    theta = np.zeros(normals.shape[1])
    for k, (feature, response) in enumerate(zip(x[:, 0], y, strict=True)):
        if feature:
            bound = CLIP / abs(feature) if knobs.clip else math.inf
            rate = min(steps.learning_rates[k, 0], 2 / feature**2)
            theta = theta - rate * feature * np.clip(feature * theta - response, -bound, bound)
        theta = theta + knobs.noise * steps.noise_std[k, 0] * normals[k]
    return theta


def full_batch(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_T of `rivals.batch_descent.release` on all records, shape (count,).

    Args:
        data: n records. mu: of all steps together. normals: b_t, shape (T, count). knobs: what is wrong.
    """
    std = 2 * CLIP * (1 + sums.slack(len(data[0]), 1)) * math.sqrt(len(RATES)) / mu
    return _descend(data, (CLIP,) * len(RATES), RATES, (std,) * len(RATES), normals, knobs)


def guarded_plan(mu: float) -> guarded_descent.Stages:
    """The two stages that are audited, whose last iterates are averaged."""
    plans = (batch_descent.Plan(clip, rates, math.sqrt(len(rates) / share) / mu) for clip, rates, share in GUARDED)
    return guarded_descent.Stages(tuple(plans), AVERAGED)


def guarded(data: Data, told: guarded_descent.Stages, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """The mean that `rivals.guarded_descent.release` returns, shape (count,).

    Args:
        data: n records. told: the plan. normals: b_t, shape (T, count). knobs: what is wrong.
    """
    x, y = given(*data) if knobs.clip else data
    n, count = len(x), normals.shape[1]
    theta, shape, last, draws = np.zeros(count), np.ones(count), [], iter(normals)
    for plan in told.plans:
        std = 2 * plan.clip_norm * (1 + sums.slack(n, 1)) * plan.noise_multiplier
        variance, before, move, past = (std / n) ** 2, None, np.zeros(1), 0.0
        for rate in plan.learning_rates:
            pull = _pull((x, y), theta, plan.clip_norm, knobs)
            gradient = within_reach((pull + knobs.noise * std * next(draws)) / n)
            if before is not None:
                turn = gradient - before
                image, inner = turn**2 - 4 * variance, turn * move - past * variance * shape
                with np.errstate(divide="ignore", invalid="ignore"):
                    root = np.sqrt(np.maximum(image, 0.0)) / np.abs(move)
                    curvature = np.maximum(root, np.where(inner > 0, image / inner, 0.0))
                    factor = past * curvature * shape
                clear = (turn**2 > guarded_descent.visible(1) * variance) & (move != 0) & (factor > 1)
                shape = np.where(clear, shape / np.maximum(factor, 1.0), shape)
            before, move, past = gradient, -rate * shape * gradient, rate
            theta = within_reach(theta + move)
            last.append(theta)
    return np.asarray(np.mean(last[-told.averaged :], axis=0))


def shrinking(data: Data, told: Plan, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_K of `rivals.shrinking_clip.release`, shape (count,).

    Args:
        data: n records. told: the plan. normals: shape (K, count). knobs: what is wrong.
    """
    excess = 1 + sums.slack(len(data[0]), 1)
    stds = tuple(2 * clip * excess * told.noise_multiplier for clip in told.clip_norms)
    return _descend(data, told.clip_norms, told.learning_rates, stds, normals, knobs)


def shrinking_plan(mu: float) -> Plan:
    """The plan that is audited."""
    return Plan(SHRINKING, SHRINKING_RATES, GaussianDP(mu))


def sampled(data: Data, noise_multiplier: float, uniforms: np.ndarray, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_T of `rivals.batch_descent.release` on Poisson samples, shape (count,).

    Args:
        data: n records. noise_multiplier: σ. uniforms: of each step and record, shape (T, n, count).
        normals: shape (T, count). knobs: what is wrong.
    """
    std = 2 * CLIP * (1 + sums.slack(len(data[0]), 1)) * noise_multiplier
    T = len(SAMPLED_RATES)
    return _descend(data, (CLIP,) * T, SAMPLED_RATES, (std,) * T, normals, knobs, uniforms)


def sampled_multiplier(budget: ApproximateDP) -> float:
    """σ of the sampled descent for a budget."""
    return batch_descent.noise_multiplier(budget, SAMPLING, len(SAMPLED_RATES))


def _descend(
    data: Data,
    clips: tuple[float, ...],
    rates: tuple[float, ...],
    stds: tuple[float, ...],
    normals: np.ndarray,
    knobs: Knobs,
    uniforms: np.ndarray | None = None,
) -> np.ndarray:
    x, y = given(*data) if knobs.clip else data
    share = SAMPLING if uniforms is not None else 1.0
    theta = np.zeros(normals.shape[1])
    for t, (clip, rate, std) in enumerate(zip(clips, rates, stds, strict=True)):
        drawn = None if uniforms is None else uniforms[t] < share
        pull = _pull((x, y), theta, clip, knobs, drawn) + knobs.noise * std * normals[t]
        theta = within_reach(theta - rate / (share * len(x)) * pull)
    return theta


def _pull(data: Data, theta: np.ndarray, clip: float, knobs: Knobs, drawn: np.ndarray | None = None) -> np.ndarray:
    """The sum of clipped gradients, shape (count,); ``drawn`` says which records count, shape (n, count)."""
    pull = np.zeros_like(theta)
    for i, (feature, response) in enumerate(zip(data[0][:, 0], data[1], strict=True)):
        bound = clip / abs(feature) if feature and knobs.clip else math.inf
        term = feature * np.clip(feature * theta - response, -bound, bound)
        pull += term if drawn is None else np.where(drawn[i], term, 0.0)
    return pull
