"""Audits by exact laws: they convict mechanisms that are broken on purpose, and acquit the right ones."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from chapters.privacy.every_mechanism import measure, mechanisms
from chapters.privacy.every_mechanism.mechanisms import Pair, pair
from costofprivacy.privacy import ApproximateDP, GaussianMechanism
from costofprivacy.rivals import guarded_descent, piloted_perturbation
from costofprivacy.rivals.bounds import Prepared, within_reach
from costofprivacy.rivals.guarded_descent import Shape
from tests.each import each

MU, DELTA = 1.0, 1e-5
TOLD = measure.standard(MU, DELTA)
AUDITS = {f"{name}, {seen}": spent for name, seen, _, spent in measure.audits(MU, DELTA)}
PLAN = mechanisms.piloted_plan(TOLD)
RELEASES = 200


@each("name", AUDITS)
def test_the_right_mechanism_is_acquitted_and_half_its_noise_convicted(name: str) -> None:
    assert 0 <= AUDITS[name](1.0) <= 1 + measure.FOUND
    if name.startswith("TukeyEM"):  # its worst pair depends on the noise
        assert AUDITS[name](0.95) > 10
    else:
        assert AUDITS[name](0.5) > 1.8


@each(
    ("name", "deficit"),
    [("NoisyHead, every step", 0.02), ("whitened head, every step", 0.1), ("private quantile, the release", 0.02)]
    + [("AdaSSP, its three parts", 0.1), ("Gaussian mixing, the whole sketches", 0.01)]
    + [("objective perturbation, the release", 0.2), ("piloted objective perturbation, both stages", 0.25)]
    + [(f"{name}, the release", 1e-3) for name in ("robust clipping", "DP-AMBSSGD, adaptive clip")],
)
def test_so_little_noise_too_few_is_found(name: str, deficit: float) -> None:
    assert AUDITS[name](1 - deficit) > 1 + measure.FOUND


# a pilot and its perturbed minimum, by the library's own code


def released(two: Pair, side: int, plan: piloted_perturbation.Plan = PLAN) -> np.ndarray:
    """The normals that some releases of the library show."""
    found = [
        measure.recovered(two[side], PLAN, piloted_perturbation.release(*two[side], plan, rng=np.random.default_rng(k)))
        for k in range(RELEASES)
    ]
    return np.array(found)


def audited(normals: np.ndarray) -> float:
    """δ over its claim with the most noise that either stage can have had."""
    first, second = (min(1.0, measure.most_noise(part, 0.9995)) for part in np.split(normals, 2, axis=1))
    return measure.both_stages(TOLD, first, second)


class Half(GaussianMechanism):
    """Half of the noise."""

    @property
    def noise_std(self) -> float:
        return super().noise_std / 2


def test_both_stages_are_acquitted_by_the_normals_that_they_show() -> None:
    x, y = np.random.default_rng(1).standard_normal((40, 3)), np.random.default_rng(2).standard_normal(40)
    normals = np.concatenate([released(((x, y), (x, -y)), side) for side in (0, 1)])
    assert normals.mean(axis=0) == pytest.approx(0.0, abs=4 / math.sqrt(2 * RELEASES))
    assert normals.std(axis=0) == pytest.approx(1.0, abs=4 / math.sqrt(4 * RELEASES))
    assert audited(normals) < 0.1


def test_half_the_noise_of_the_pilot_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    two = pair((), *measure.OPPOSITE)
    assert measure.pilot(TOLD, 1.0) == pytest.approx(1.0)
    monkeypatch.setattr(guarded_descent, "GaussianMechanism", Half)
    assert measure.pilot(TOLD, 1.0) == pytest.approx(2.0)
    first, second = (measure.most_noise(part, 0.9995) for part in np.split(released(two, 0), 2, axis=1))
    assert first < 0.6
    assert second > 0.95


def test_half_the_noise_of_the_perturbation_is_convicted_by_few_releases() -> None:
    added = replace(PLAN.added, noise_std=PLAN.added.noise_std / 2)
    normals = released(pair((), (1.0, 0.5), measure.OPPOSITE[0]), 0, replace(PLAN, added=added))
    assert audited(normals) > 10


def test_a_pilot_that_is_not_clipped_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    clipped = Prepared.pulls
    monkeypatch.setattr(
        Prepared, "pulls", lambda told, theta, clips, rows=None: clipped(told, theta, 1e9 * clips, rows)
    )
    assert measure.pilot(TOLD, 1.0) > 1e5


def test_the_laws_are_those_of_the_releases_that_are_drawn() -> None:
    """Shares of draws below some points, on either data set."""
    rng, two = np.random.default_rng(3), pair((), (1.0, 60.0), (1.0, -1e6))
    for side, one in enumerate(two):
        law = measure.piloted(two, PLAN, (1.0, 1.0))[side]
        assert law.sum() == pytest.approx(1.0)
        drawn = mechanisms.piloted(one, PLAN, rng.standard_normal((3, 20_000)))
        share = float((drawn <= 0).mean())
        assert abs(_below(one, 0.0) - share) < 0.02
    points = np.array([0.0] * 9 + [1.0] * 4 + [17.0] * 10)
    law = measure._deep(np.sort(points), ApproximateDP(40.0, 0.1), np.unique(points))
    uniforms, gumbel = rng.random(20_000), rng.gumbel(size=(11 - 5 + 1, 20_000))
    seen = mechanisms.deep_points(points, ApproximateDP(40.0, 0.1), rng.laplace(size=20_000), gumbel, uniforms)
    assert law.sum() == pytest.approx(1.0)
    assert law[2] == pytest.approx(float(((seen > 1) & (seen < 17)).mean()), abs=0.02)


def _below(one: Any, point: float) -> float:
    """P(θ̂ ≤ point) by quadrature over the pilot's end."""
    z, weights = np.polynomial.hermite_e.hermegauss(60)
    assert PLAN.pilot is not None
    pull = mechanisms.gradients(one[0][:, 0], one[1], np.zeros(1), PLAN.pilot.clip_norm)[0]
    starts = -mechanisms.NEWER_RATE * (pull + 2 * PLAN.pilot.clip_norm * PLAN.pilot.noise_multiplier * z)
    slope = mechanisms.gradients(one[0][:, 0], one[1], np.array([point]), PLAN.added.clip_norm)[0]
    inside = ndtr((slope + PLAN.added.penalty * (point - starts)) / PLAN.added.noise_std)
    return float(weights @ inside / weights.sum())


# a guard


def descend_with_a_noiseless_guard(
    pulls: Any, n: int, d: int, *stages: Any, averaged: int = 1, rng: Any, share: float = 1.0
) -> np.ndarray:
    """`guarded_descent.descend`, whose guard looks at the gradients themselves."""
    theta, shape = np.zeros(d), Shape.whole(d)
    for plan in stages:
        clips, before, move, past = np.array([plan.clip_norm]), None, np.zeros(d), 0.0
        std = GaussianMechanism(2 * plan.clip_norm, plan.noise_multiplier).noise_std
        for rate in plan.learning_rates:
            clean = pulls(theta[:, None], clips)
            gradient = (clean + std * rng.standard_normal((d, 1)))[:, 0] / n
            if before is not None:
                shape = guarded_descent.guarded(clean[:, 0] / n - before, move, past, (std / n) ** 2, shape)
            before, move, past = clean[:, 0] / n, -rate * shape.apply(gradient), rate
            theta = within_reach(theta + move)
    return theta


def test_a_guard_that_looks_at_gradients_without_noise_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measure.guarded(MU, 1.0) == pytest.approx(1.0)
    monkeypatch.setattr(guarded_descent, "descend", descend_with_a_noiseless_guard)
    assert measure.guarded(MU, 1.0) == math.inf


def test_half_the_noise_of_a_guarded_descent_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise that is claimed does not carry one data set's noisy gradients over to the other."""
    monkeypatch.setattr(guarded_descent, "GaussianMechanism", Half)
    assert measure.guarded(MU, 1.0) == math.inf
