"""The releases that the page on every mechanism audits: transcriptions against the library, on the same noise."""

import math
from typing import Any

import numpy as np
import pytest

from chapters.privacy.every_mechanism import measure, mechanisms
from chapters.privacy.every_mechanism.mechanisms import SOUND, Data, data, hostile
from companion.streams import generator
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
OURS = measure.ours(MU, DELTA)
NAMES = [row.name for row in OURS]
ORDINARY = data((1.0, 0.5), (-0.5, 0.2), (2.0, -3.0))
DATA = [ORDINARY, data((1.0, mechanisms.FAR), (0.0, 0.0), (0.3, 0.1)), *(two[0] for two in hostile(measure.OTHER))]
each_data = pytest.mark.parametrize("given", DATA)


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


@each_data
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_dp_gd(given: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = normals(len(given[0]), COUNT)
    found = mechanisms.dp_gd(given, MU, noise, SOUND)
    plan = [Configuration(mechanisms.CLIP, mechanisms.SCHEDULE, MU)]
    for k in range(COUNT):
        monkeypatch.setattr(descent.draws, "normals", lambda shape, rng, k=k: noise[:, k].reshape(shape))
        own = descent.descend_records(*given, plan, rng=generator(0, 0, 0))[0, 0]
        assert found[k] == pytest.approx(own, rel=1e-12, abs=1e-14)


@each_data
def test_full_batch(given: Data) -> None:
    noise = normals(len(mechanisms.RATES), COUNT)
    found = mechanisms.full_batch(given, MU, noise, SOUND)
    multiplier = math.sqrt(len(mechanisms.RATES)) / MU
    for k in range(COUNT):
        told = Told(normals=noise[:, k])
        own = batch_descent.release(*given, mechanisms.CLIP, mechanisms.RATES, multiplier, rng=told)  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-12, abs=1e-14)


@each_data
def test_guarded(given: Data) -> None:
    """Some of the releases shorten a step."""
    stages = mechanisms.guarded_plan(MU)
    assert stages.guarantee.mu == pytest.approx(MU, rel=1e-12)
    noise = normals(4, COUNT)
    found = mechanisms.guarded(given, stages, noise, SOUND)
    for k in range(COUNT):
        told = Told(normals=noise[:, k])
        own = guarded_descent.release(*given, *stages.plans, averaged=stages.averaged, rng=told)  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-9, abs=1e-14)


@each_data
def test_samples(given: Data) -> None:
    T, n = len(mechanisms.SAMPLED_RATES), len(given[0])
    noise, uniforms = normals(T, COUNT), np.random.default_rng(1).random((T, n, COUNT))
    found = mechanisms.sampled(given, 0.9, uniforms, noise, SOUND)
    for k in range(COUNT):
        told = Told(normals=noise[:, k], uniforms=uniforms[..., k])
        arguments = (mechanisms.CLIP, mechanisms.SAMPLED_RATES, 0.9, mechanisms.SAMPLING)
        own = batch_descent.release(*given, *arguments, rng=told)  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-12, abs=1e-14)


@each_data
def test_shrinking(given: Data) -> None:
    plan = mechanisms.shrinking_plan(MU)
    noise = normals(plan.rounds, COUNT)
    found = mechanisms.shrinking(given, plan, noise, SOUND)
    for k in range(COUNT):
        own = shrinking_clip.release(*given, plan, rng=Told(normals=noise[:, k]))  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-12, abs=1e-14)


@each_data
def test_objective(given: Data) -> None:
    added = mechanisms.objective_plan(measure.standard(MU, DELTA))
    noise = normals(2, COUNT)
    found = mechanisms.objective(given, added, noise, SOUND)
    for k in range(COUNT):
        own = objective_perturbation.release(*given, mechanisms.CLIP, added, rng=Told(normals=noise[:, k]))  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-10, abs=1e-9)


@each_data
def test_adassp(given: Data) -> None:
    noise = normals(3, COUNT)
    found = mechanisms.adassp(given, MU, noise, SOUND)
    moments = sufficient_statistics.moments(*given, mechanisms.BOUNDS)
    for k in range(COUNT):
        told = Told(normals=noise[:, k])
        own = sufficient_statistics.release(moments, mechanisms.BOUNDS, GaussianDP(MU), rng=told)  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-12)


@each_data
def test_boosted(given: Data) -> None:
    noise = normals(2 + mechanisms.ROUNDS, COUNT)
    found = mechanisms.boosted(given, MU, noise, SOUND)
    arguments = mechanisms.BOUNDS, mechanisms.CLIP, mechanisms.ROUNDS, GaussianDP(MU)
    for k in range(COUNT):
        own = boosting.release(*given, *arguments, rng=Told(normals=noise[:, k]))  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-12, abs=1e-14)


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


@each_data
def test_noisy_head(given: Data) -> None:
    noise = normals(mechanisms.HYPER.steps, COUNT)
    found = mechanisms.noisy_head(given, MU, noise, SOUND)
    moments = head.moments(mechanisms.bounded(given, SOUND))
    N = len(given[0])
    std = (
        pretraining.update_sensitivity(mechanisms.HYPER, N) * math.sqrt(mechanisms.HYPER.steps) * (1 + sums.slack(N, 1))
    )
    for k in range(COUNT):
        own = pretraining.release(moments, mechanisms.HYPER, std / MU, rng=Told(normals=noise[:, k]))  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0, 0], rel=1e-12, abs=1e-15)


@each_data
def test_a_private_quantile(given: Data) -> None:
    gumbel = np.random.default_rng(3).gumbel(size=(len(mechanisms.GRID), COUNT))
    found = mechanisms.quantiles(given, MU, gumbel, SOUND)
    for k in range(COUNT):
        told = Told(gumbel=gumbel[:, k])
        arguments = np.abs(given[1]), mechanisms.LEVEL, mechanisms.GRID, GaussianDP(MU)
        assert found[k] == private_quantile.quantile(*arguments, rng=told)  # type: ignore[arg-type]


@each_data
def test_correlated_noise(given: Data) -> None:
    if len(given[0]) != mechanisms.NEWER_STEPS:
        given = mechanisms.data((1.0, mechanisms.FAR), (0.4, 0.2), (0.0, 0.0))
    noise = normals(mechanisms.NEWER_STEPS, COUNT)
    found = mechanisms.correlated_iterates(given, MU, noise, SOUND)
    for k in range(COUNT):
        told = Told(normals=noise[:, k])
        own = correlated_noise.iterates(*given, mechanisms.correlated_plan(MU), rng=told)  # type: ignore[arg-type]
        assert found[:, k] == pytest.approx(own[:, 0], rel=1e-12, abs=1e-14)


@each_data
def test_gaussian_mixing(given: Data) -> None:
    plan, noise = mechanisms.mixing_plan(measure.standard(MU, DELTA)), normals(COUNT)
    squares = np.random.default_rng(4).chisquare(mechanisms.ROWS, COUNT)
    found = mechanisms.mixing(given, plan, noise, squares)
    for k in range(COUNT):
        told = Told(normals=np.array([0.0, noise[k], 0.0, 0.0]), squares=np.array([squares[k], 30.0]))
        own = gaussian_mixing.release(*given, plan, rng=told)  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-10, abs=1e-12)


@each_data
def test_iterative_hessian_mixing(given: Data) -> None:
    plan = mechanisms.iterated_plan(measure.standard(MU, DELTA))
    noise, squares = (
        normals(plan.rounds, COUNT),
        np.random.default_rng(5).chisquare(mechanisms.ROWS, (plan.rounds, COUNT)),
    )
    found = mechanisms.iterated_mixing(given, plan, noise, squares)
    for k in range(COUNT):
        drawn = np.column_stack([noise[:, k], np.zeros(plan.rounds)])  # a normal of each sketch is not used
        told = Told(normals=drawn, squares=squares[:, k])
        own = hessian_mixing.release(*given, plan, rng=told)  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-10, abs=1e-12)


@each_data
def test_piloted_perturbation(given: Data) -> None:
    plan, noise = mechanisms.piloted_plan(measure.standard(MU, DELTA)), normals(3, COUNT)
    found = mechanisms.piloted(given, plan, noise)
    for k in range(COUNT):
        told = Told(normals=noise[:, k])
        own = piloted_perturbation.release(*given, plan, rng=told).theta  # type: ignore[arg-type]
        assert found[k] == pytest.approx(own[0], rel=1e-9, abs=1e-9)


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
