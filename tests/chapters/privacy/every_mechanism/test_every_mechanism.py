"""The page on every mechanism: its audits see what is wrong, and other people's software."""

import math
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from chapters.privacy.every_mechanism import measure, mechanisms, show, software
from chapters.privacy.every_mechanism.mechanisms import SOUND, Data, data, hostile, pair
from companion.build import notebooks
from companion.running.extras import Extra
from companion.streams import generator
from costofprivacy.dpgd import descent
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.noisyhead import head, pretraining
from costofprivacy.privacy import ApproximateDP, GaussianDP, GaussianMechanism, sums
from costofprivacy.rivals import (
    batch_descent,
    boosting,
    correlated_noise,
    gaussian_mixing,
    guarded_descent,
    hessian_mixing,
    objective_perturbation,
    piloted_perturbation,
    private_quantile,
    shrinking_clip,
    sufficient_statistics,
)
from costofprivacy.rivals import tukey as deep
from costofprivacy.rivals.bounds import Prepared, within_reach
from costofprivacy.rivals.guarded_descent import Shape
from tests.chapters.machinery import committed
from tests.each import each

ROOT = Path(__file__).parents[4]
TABLES = committed("privacy/every-mechanism")
MU, DELTA = 1.0, 1e-5
ROWS = {row.name: row for row in measure.ours(MU, DELTA)}
BUDGET = ApproximateDP(1.0, 1e-5)


def cell(name: str, tried: str, releases: int = 4000, **other: Any) -> measure.Cell:
    known = measure.Cell(name, tried, MU, DELTA, releases, 1 - 1e-4, (0.3, 0.9), 0)
    return replace(known, **other)


def tried(asked: measure.Cell) -> np.ndarray:
    return measure.trial(asked, rng=generator(1, asked.key, 0))


# audits


def test_a_sound_release_is_acquitted_and_gross_faults_are_detected() -> None:
    assert not tried(cell("Gaussian mechanism", measure.AS_IT_IS))[2]
    assert tried(cell("Gaussian mechanism", measure.FORGOTTEN))[2]
    assert tried(cell("output perturbation", measure.SCALED))[2]


def test_of_hostile_pairs_the_largest_bounds_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS["Gaussian mechanism"]
    alone = replace(row, hostile=row.hostile[1:2])
    monkeypatch.setattr(measure, "_ours", lambda mu, delta: {row.name: alone})
    one = tried(cell(row.name, measure.HOSTILE))
    again = replace(row, hostile=(row.hostile[1], pair(measure.OTHER, mechanisms.PLAIN, mechanisms.PLAIN)))
    monkeypatch.setattr(measure, "_ours", lambda mu, delta: {row.name: again})
    both = tried(cell(row.name, measure.HOSTILE))
    assert both[1] == one[1] > 0.3


def test_a_claim_is_refuted_by_the_bound_that_belongs_to_it() -> None:
    gaussian, other = ROWS["AdaSSP"], ROWS["TukeyEM"]
    standard = measure.standard(MU, DELTA)
    assert gaussian.exceeded(0.0, 1.01, standard)
    assert gaussian.exceeded(5.0, 0.0, standard)
    assert not gaussian.exceeded(4.0, 0.99, standard)
    assert other.exceeded(5.0, 0.0, standard)
    assert not other.exceeded(4.0, 9.0, standard)
    assert replace(other, at=ApproximateDP(1.0, 0.05)).exceeded(2.0, 0.0, standard)


def test_every_row_has_its_own_stream_and_all_audits_share_the_confidence() -> None:
    asked = measure.cells(MU, DELTA, 100, 100, (0.1,))
    assert len({one.key for one in asked}) == len(asked)
    sound = sum(1 + len(row.hostile) for row in ROWS.values())
    assert {round((1 - one.confidence) * sound, 12) for one in asked} == {0.001}


# what is told


def test_every_release_has_its_sensitivity_and_a_proof_that_exists() -> None:
    assert set(show.SENSITIVITY) == set(ROWS)
    for row in ROWS.values():
        assert (ROOT / "lib/costofprivacy" / f"{row.module.replace('.', '/')}.py").is_file()
    assert show.proof("rivals.tukey") == "../reference/rivals.html#module-costofprivacy.rivals.tukey"


def test_the_committed_table_has_every_release() -> None:
    assert TABLES["releases"]["release"].tolist() == list(ROWS)
    assert not TABLES["releases"]["refuted"].any()
    assert show.statements(TABLES).sentences[0] == "No audit refutes a guarantee of this book."


# other people's software


def test_dppack_minimises_its_objective() -> None:
    given, normals = data((0.5, 0.4), (1.0, -0.2), (-0.3, 0.1)), np.array([-1.0, 0.0, 0.02, 3.0])
    found = software.dppack(given, BUDGET, normals)
    scale = 2.0 * math.sqrt(8 * math.log(2 / BUDGET.delta) + 4 * BUDGET.epsilon) / BUDGET.epsilon
    for theta, z in zip(found, normals, strict=True):

        def objective(t: float, z: float = z) -> float:
            losses = 0.5 * ((given[0][:, 0] * t - given[1]) ** 2).sum()
            return losses + 0.5 * (software.PENALTY + 2 / BUDGET.epsilon) * t**2 + scale * z * t

        assert theta == pytest.approx(minimize_scalar(objective, bounds=(-1, 1), method="bounded").x, abs=1e-4)


def test_transcribed_packages_are_audited() -> None:
    found = software.transcribed(20_000, 1).set_index(["software", "case"])["epsilon_found"]
    assert found["DPpack", "objective perturbation"] < 1
    assert found["DPrivStats", "a response is replaced"] < 1
    assert found["DPrivStats", "a record is replaced"] > 1


@pytest.mark.parametrize("name", software.CASES)
def test_the_committed_runs_are_those_of_this_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extra, "present", False)
    found = software.table(name)
    assert found["case"].tolist() == [one.case for one in software.CASES[name]]
    pd.testing.assert_frame_equal(found, TABLES[f"{name}-runs"], check_dtype=False)


def test_false_guarantees_are_refuted_and_no_other() -> None:
    found = show.software_audits(TABLES)
    broken = set(found.loc[show.refuted(found), ["software", "case"]].itertuples(index=False, name=None))
    assert broken == {("diffprivlib", "bounds (0, 100)"), ("DPrivStats", "a record is replaced")}


@pytest.mark.skipif(not Extra("diffprivlib").present, reason="the extra environment diffprivlib is not installed")
def test_the_reproduction_on_the_page_runs() -> None:
    cells = notebooks.read(ROOT / "book/privacy/every-mechanism.ipynb").cells
    (code,) = [found for one in cells for found in re.findall(r"~~~python\n(.*?diffprivlib.*?)~~~", one.source, re.S)]
    assert len(code.splitlines()) <= 10
    ended = subprocess.run(
        [str(Extra("diffprivlib").python), "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    shares = [float(line.split()[1]) for line in ended.stdout.splitlines()]
    assert shares[0] < 0.1 < 0.9 < shares[1]


# audits by exact laws

TOLD = measure.standard(MU, DELTA)
AUDITS = {f"{name}, {seen}": spent for name, seen, _, spent in measure.audits(MU, DELTA)}
PLAN = mechanisms.piloted_plan(TOLD)


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


# a pilot and its perturbed minimum


class Half(GaussianMechanism):
    @property
    def noise_std(self) -> float:
        return super().noise_std / 2


def test_half_the_noise_of_the_pilot_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measure.pilot(TOLD, 1.0) == pytest.approx(1.0)
    monkeypatch.setattr(guarded_descent, "GaussianMechanism", Half)
    assert measure.pilot(TOLD, 1.0) == pytest.approx(2.0)


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


COUNT = 5
ORDINARY = data((1.0, 0.5), (-0.5, 0.2), (2.0, -3.0))
DATA = [ORDINARY, data((1.0, mechanisms.FAR), (0.0, 0.0), (0.3, 0.1)), *(two[0] for two in hostile(measure.OTHER))]


@pytest.fixture(params=DATA)
def given(request: pytest.FixtureRequest) -> Data:
    return request.param


class Told:
    """A generator that draws what it was told, number after number."""

    def __init__(self, **numbers: np.ndarray) -> None:
        self.left = {name: list(np.ravel(values)) for name, values in numbers.items()}

    def _next(self, name: str, size: Any) -> Any:
        many = np.array([self.left[name].pop(0) for _ in range(int(np.prod(size or ())))])
        return many.reshape(size) if size is not None and size != () else many[0]

    def standard_normal(self, size: Any = None) -> Any:
        return self._next("normals", size)

    def random(self, size: Any = None) -> Any:
        return self._next("uniforms", size)

    def laplace(self, scale: float) -> Any:
        return scale * self._next("laplace", None)

    def gumbel(self, size: Any) -> Any:
        return self._next("gumbel", (size,) if isinstance(size, int) else size)

    def chisquare(self, freedom: Any) -> Any:
        return np.array([self.left["squares"].pop(0) for _ in range(len(freedom))])

    def uniform(self, low: Any, high: Any) -> Any:
        return low + (high - low) * self.left["uniforms"][0]


def normals(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def agree(found: np.ndarray, release: Any, rel: float = 1e-12, zero: float = 1e-14, **numbers: np.ndarray) -> None:
    """Whether each of the releases side by side is the library's on the same numbers."""
    for k in range(COUNT):
        own = release(Told(**{name: values[..., k] for name, values in numbers.items()}))
        np.testing.assert_allclose(found[..., k], np.squeeze(own), rtol=rel, atol=zero)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_dp_gd(given: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent.draws, "normals", lambda shape, told: told.standard_normal(shape))
    noise, plan = (normals(len(given[0]), COUNT), [Configuration(mechanisms.CLIP, mechanisms.SCHEDULE, MU)])
    found = mechanisms.dp_gd(given, MU, noise, SOUND)
    agree(found, lambda told: descent.descend_records(*given, plan, rng=told), normals=noise)


def test_full_batch(given: Data) -> None:
    noise = normals(len(mechanisms.RATES), COUNT)
    asked = mechanisms.CLIP, mechanisms.RATES, math.sqrt(len(mechanisms.RATES)) / MU
    found = mechanisms.full_batch(given, MU, noise, SOUND)
    agree(found, lambda told: batch_descent.release(*given, *asked, rng=told), normals=noise)


def test_guarded(given: Data) -> None:
    """Some of the releases shorten a step."""
    stages, noise = mechanisms.guarded_plan(MU), normals(4, COUNT)
    assert stages.guarantee.mu == pytest.approx(MU, rel=1e-12)
    found = mechanisms.guarded(given, stages, noise, SOUND)
    asked = {"averaged": stages.averaged}
    agree(found, lambda told: guarded_descent.release(*given, *stages.plans, rng=told, **asked), 1e-9, normals=noise)


def test_samples(given: Data) -> None:
    T, n = len(mechanisms.SAMPLED_RATES), len(given[0])
    noise, uniforms = normals(T, COUNT), np.random.default_rng(1).random((T, n, COUNT))
    asked = mechanisms.CLIP, mechanisms.SAMPLED_RATES, 0.9, mechanisms.SAMPLING
    found = mechanisms.sampled(given, 0.9, uniforms, noise, SOUND)
    agree(found, lambda told: batch_descent.release(*given, *asked, rng=told), normals=noise, uniforms=uniforms)


def test_shrinking(given: Data) -> None:
    plan = mechanisms.shrinking_plan(MU)
    noise = normals(plan.rounds, COUNT)
    found = mechanisms.shrinking(given, plan, noise, SOUND)
    agree(found, lambda told: shrinking_clip.release(*given, plan, rng=told), normals=noise)


def test_objective(given: Data) -> None:
    added, noise = mechanisms.objective_plan(TOLD), normals(2, COUNT)
    found = mechanisms.objective(given, added, noise, SOUND)
    asked = mechanisms.CLIP, added
    agree(found, lambda told: objective_perturbation.release(*given, *asked, rng=told), 1e-10, 1e-9, normals=noise)


def test_adassp(given: Data) -> None:
    noise, asked = normals(3, COUNT), (mechanisms.BOUNDS, GaussianDP(MU))
    moments = sufficient_statistics.moments(*given, mechanisms.BOUNDS)
    found = mechanisms.adassp(given, MU, noise, SOUND)
    agree(found, lambda told: sufficient_statistics.release(moments, *asked, rng=told), 1e-12, 0.0, normals=noise)


def test_boosted(given: Data) -> None:
    noise = normals(2 + mechanisms.ROUNDS, COUNT)
    found = mechanisms.boosted(given, MU, noise, SOUND)
    asked = mechanisms.BOUNDS, mechanisms.CLIP, mechanisms.ROUNDS, GaussianDP(MU)
    agree(found, lambda told: boosting.release(*given, *asked, rng=told), normals=noise)


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 30.0])
def test_a_deep_point(epsilon: float) -> None:
    budget, source = ApproximateDP(epsilon, 1e-5), np.random.default_rng(2)
    for points in (np.repeat([0.0, 1.0, 17.0], [49, 4, 47]), source.standard_normal(100), source.standard_normal(41)):
        m = len(points)
        laplace, uniforms = source.laplace(size=40), source.random(40)
        gumbel = source.gumbel(size=(m // 2 - m // 4 + 1, 40))
        found = mechanisms.deep_points(points, budget, laplace, gumbel, uniforms)
        for k in range(40):
            told = Told(laplace=laplace[k], gumbel=np.append(gumbel[:, k], 0.0), uniforms=uniforms[k])
            assert found[k] == pytest.approx(deep.release(points[:, None], budget, rng=told)[0], rel=1e-12)  # type: ignore[arg-type]


def test_noisy_head(given: Data) -> None:
    noise, N = normals(mechanisms.HYPER.steps, COUNT), len(given[0])
    moments = head.moments(mechanisms.bounded(given, SOUND))
    allowed = pretraining.update_sensitivity(mechanisms.HYPER, N) * (1 + sums.slack(N, 1))
    asked = mechanisms.HYPER, allowed * math.sqrt(mechanisms.HYPER.steps) / MU
    found = mechanisms.noisy_head(given, MU, noise, SOUND)
    agree(found, lambda told: pretraining.release(moments, *asked, rng=told), zero=1e-15, normals=noise)


def test_a_private_quantile(given: Data) -> None:
    gumbel = np.random.default_rng(3).gumbel(size=(len(mechanisms.GRID), COUNT))
    found = mechanisms.quantiles(given, MU, gumbel, SOUND)
    asked = np.abs(given[1]), mechanisms.LEVEL, mechanisms.GRID, GaussianDP(MU)
    agree(found, lambda told: private_quantile.quantile(*asked, rng=told), 0.0, 0.0, gumbel=gumbel)


def test_correlated_noise(given: Data) -> None:
    if len(given[0]) != mechanisms.NEWER_STEPS:
        given = mechanisms.data((1.0, mechanisms.FAR), (0.4, 0.2), (0.0, 0.0))
    noise, plan = normals(mechanisms.NEWER_STEPS, COUNT), mechanisms.correlated_plan(MU)
    found = mechanisms.correlated_iterates(given, MU, noise, SOUND)
    agree(found, lambda told: correlated_noise.iterates(*given, plan, rng=told), normals=noise)


def test_gaussian_mixing(given: Data) -> None:
    plan, noise = mechanisms.mixing_plan(TOLD), normals(COUNT)
    squares, zero = np.random.default_rng(4).chisquare(mechanisms.ROWS, COUNT), np.zeros(COUNT)
    numbers = {"normals": np.stack([zero, noise, zero, zero]), "squares": np.stack([squares, zero + 30.0])}
    found = mechanisms.mixing(given, plan, noise, squares)
    agree(found, lambda told: gaussian_mixing.release(*given, plan, rng=told), 1e-10, 1e-12, **numbers)


def test_iterative_hessian_mixing(given: Data) -> None:
    plan = mechanisms.iterated_plan(TOLD)
    noise = normals(plan.rounds, COUNT)
    squares = np.random.default_rng(5).chisquare(mechanisms.ROWS, (plan.rounds, COUNT))
    found = mechanisms.iterated_mixing(given, plan, noise, squares)
    drawn = np.stack([noise, np.zeros_like(noise)], axis=1)  # a normal of each sketch is not used
    numbers = {"normals": drawn, "squares": squares}
    agree(found, lambda told: hessian_mixing.release(*given, plan, rng=told), 1e-10, 1e-12, **numbers)


def test_piloted_perturbation(given: Data) -> None:
    plan, noise = mechanisms.piloted_plan(TOLD), normals(3, COUNT)
    found = mechanisms.piloted(given, plan, noise)
    agree(found, lambda told: piloted_perturbation.release(*given, plan, rng=told).theta, 1e-9, 1e-9, normals=noise)


# the rows


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("error")
def test_a_row_draws_finite_scores_whatever_the_records(name: str) -> None:
    row = ROWS[name]
    for two in (row.worst, *row.hostile):
        for one in two:
            found = row.draw(one, 7, np.random.default_rng(0), SOUND)
            assert found.shape == (7,)
            assert np.isfinite(found).all()


@each("name", [name for name, row in ROWS.items() if row.attained])
def test_where_the_sensitivity_is_attained_the_means_are_mu_deviations_apart(name: str) -> None:
    row = ROWS[name]
    first, second = (row.draw(one, 20_000, np.random.default_rng(k), SOUND) for k, one in enumerate(row.worst))
    apart = abs(first.mean() - second.mean()) / first.std()
    assert MU * 0.95 < apart < MU * 1.03
