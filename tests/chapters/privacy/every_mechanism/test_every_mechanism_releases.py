"""The releases that the page on every mechanism audits: transcriptions against the library, on the same noise."""

import math
from typing import Any

import numpy as np
import pytest

from chapters.privacy.every_mechanism import measure, mechanisms
from chapters.privacy.every_mechanism.mechanisms import SOUND, Data, data, hostile
from costofprivacy.dpgd import descent
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.noisyhead import head, pretraining
from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
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
from tests.each import each

MU, DELTA, COUNT = 1.0, 1e-5, 5
BUDGET = measure.standard(MU, DELTA)
OURS = measure.ours(MU, DELTA)
NAMES = [row.name for row in OURS]
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
    noise, plan = normals(len(given[0]), COUNT), [Configuration(mechanisms.CLIP, mechanisms.SCHEDULE, MU)]
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
    added, noise = mechanisms.objective_plan(BUDGET), normals(2, COUNT)
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
    plan, noise = mechanisms.mixing_plan(BUDGET), normals(COUNT)
    squares, zero = np.random.default_rng(4).chisquare(mechanisms.ROWS, COUNT), np.zeros(COUNT)
    numbers = {"normals": np.stack([zero, noise, zero, zero]), "squares": np.stack([squares, zero + 30.0])}
    found = mechanisms.mixing(given, plan, noise, squares)
    agree(found, lambda told: gaussian_mixing.release(*given, plan, rng=told), 1e-10, 1e-12, **numbers)


def test_iterative_hessian_mixing(given: Data) -> None:
    plan = mechanisms.iterated_plan(BUDGET)
    noise = normals(plan.rounds, COUNT)
    squares = np.random.default_rng(5).chisquare(mechanisms.ROWS, (plan.rounds, COUNT))
    found = mechanisms.iterated_mixing(given, plan, noise, squares)
    drawn = np.stack([noise, np.zeros_like(noise)], axis=1)  # a normal of each sketch is not used
    numbers = {"normals": drawn, "squares": squares}
    agree(found, lambda told: hessian_mixing.release(*given, plan, rng=told), 1e-10, 1e-12, **numbers)


def test_piloted_perturbation(given: Data) -> None:
    plan, noise = mechanisms.piloted_plan(BUDGET), normals(3, COUNT)
    found = mechanisms.piloted(given, plan, noise)
    agree(found, lambda told: piloted_perturbation.release(*given, plan, rng=told).theta, 1e-9, 1e-9, normals=noise)


# the rows


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_a_row_draws_finite_scores_whatever_the_records(name: str) -> None:
    row = OURS[NAMES.index(name)]
    for two in (row.worst, *row.hostile):
        for one in two:
            found = row.draw(one, 7, np.random.default_rng(0), SOUND)
            assert found.shape == (7,)
            assert np.isfinite(found).all()


@each("name", [row.name for row in OURS if row.attained])
def test_where_the_sensitivity_is_attained_the_means_are_mu_deviations_apart(name: str) -> None:
    row = OURS[NAMES.index(name)]
    first, second = (row.draw(one, 20_000, np.random.default_rng(k), SOUND) for k, one in enumerate(row.worst))
    apart = abs(first.mean() - second.mean()) / first.std()
    assert MU * 0.95 < apart < MU * 1.03
