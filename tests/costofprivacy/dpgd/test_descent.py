import math

import numpy as np
import pytest

from costofprivacy._compiled import compiled
from costofprivacy.dpgd import descent, draws, families, spectrum
from costofprivacy.dpgd.descent import Configuration, descend_records
from costofprivacy.dpgd.families import descend_grid
from costofprivacy.dpgd.schedule import (
    Constant,
    Flat,
    Harmonic,
    Polynomial,
    Schedule,
    learning_rates,
    noise_multipliers,
)
from tests import oracles
from tests.costofprivacy.dpgd.problems import Rising
from tests.each import each

CONFIGURATIONS = [
    Configuration(1.0, Constant(3.0), 1.0),
    Configuration(0.2, Polynomial(3.0, 0.5), 0.5),
    Configuration(1e-6, Polynomial(40.0, 2.0), 1.0),
    Configuration(2.0, Harmonic(0.5, 0.01), np.inf),
    Configuration(np.inf, Constant(3.0), np.inf),
    Configuration(1.0, Constant(500.0), 1.0),  # beyond 2/γ
]


def model_of(d, law=None):
    values = spectrum.uniform(d)
    return spectrum.RegressionModel(
        values, spectrum.projections(values, -0.5, initial_risk=0.8), 0.3, law or spectrum.Gaussian()
    )


def literal_path(model, configuration, n, rng):
    """Algorithm 1 of tests.oracles on the very draws that `descend` makes."""
    data, noise = rng.spawn(2)
    lengths = [last - first for first, last in descent._chunks(n, model.d)]
    samples = []
    for m in lengths:
        samples.append((*spectrum.sample(model, m, rng=data), noise.standard_normal((m, model.d))))
    x, y, b = (np.concatenate(part) for part in zip(*samples))
    eta = learning_rates(configuration.schedule, n)
    clip_norm = min(configuration.clip_norm(model.d), 1e300)  # no more than a number, and no bound either
    return oracles.dpgd(x, y, eta, clip_norm, noise_multipliers(eta, configuration.rho), b)


@pytest.mark.parametrize("law", [spectrum.Gaussian(), spectrum.Rademacher(), spectrum.EllipticalT(3.0)])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (90, 7), (40, 60)])
def test_every_configuration_is_algorithm_1_step_for_step(n, d, law, monkeypatch):
    monkeypatch.setattr(descent, "CHUNK_STEPS", 33)
    monkeypatch.setattr(descent, "BLOCK", 8)
    model = model_of(d, law)
    got = descent.descend(model, CONFIGURATIONS, n, np.arange(n + 1) / n, rng=np.random.default_rng(1))
    for i, configuration in enumerate(CONFIGURATIONS):
        path = np.array(literal_path(model, configuration, n, np.random.default_rng(1)))
        np.testing.assert_allclose(got.theta[i], path[-1], rtol=1e-8, atol=1e-11)
        np.testing.assert_allclose(got.risk[i], model.risk(path), rtol=1e-9)
        assert got.released_risk[i] == pytest.approx(model.risk(path[-1]), rel=1e-9)


def test_other_configurations_blocks_and_recording_times_matter_by_rounding_only(monkeypatch):
    model, n = model_of(12), 300
    together = descent.descend(model, CONFIGURATIONS, n, [0.5, 1.0], rng=np.random.default_rng(2))
    monkeypatch.setattr(descent, "BLOCK", 5)
    for i, configuration in enumerate(CONFIGURATIONS):
        alone = descent.descend(model, [configuration], n, np.arange(n + 1) / n, rng=np.random.default_rng(2))
        np.testing.assert_allclose(alone.theta[0], together.theta[i], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(alone.risk[0, [n // 2, n]], together.risk[i], rtol=1e-8)


def test_overflow_is_reported_and_does_not_spread():
    model = model_of(5)
    configurations = [Configuration(1.0, Constant(3.0), 1.0), Configuration(1e100, Polynomial(1e100, 0.5), 1.0)]
    run = descent.descend(model, configurations, 50, [0.0, 0.5, 1.0], rng=np.random.default_rng(5))
    assert run.diverged.tolist() == [False, True]
    assert run.risk[1].tolist() == [model.initial_risk, np.inf, np.inf]
    assert np.isfinite(run.risk[0]).all()


def test_time_k_of_n_is_step_k():
    for n in (1, 3, 7, 49, 100, 1000, 12345):
        assert (descent.steps_at(np.arange(n + 1) / n, n) == np.arange(n + 1)).all()
    assert descent.steps_at([0.0, 0.099, 0.1, 0.999], 10).tolist() == [0, 0, 1, 9]


RUN = {"n": 10, "times": [0.0, 1.0]}


@each(
    ("change", "message"),
    [
        ({"n": 0}, "n must be a whole number of at least 1, got 0"),
        ({"configurations": []}, "configurations must be a non-empty list"),
        ({"times": [0.5, 0.2]}, "times must be a list of numbers in"),
        ({"times": [np.nan]}, "times must be a list of numbers in"),
        ({"configurations": [Configuration(1.0, Rising(), 1.0)]}, "learning_rates must not increase"),
    ],
)
def test_a_bad_run_is_refused(change, message):
    arguments = {"configurations": CONFIGURATIONS, **RUN, **change}
    with pytest.raises(ValueError, match=message):
        descent.descend(model_of(3), rng=np.random.default_rng(0), **arguments)


@each(
    ("clip", "rho", "message"),
    [
        (0.0, 1.0, "clip must be positive, got 0.0"),
        (1.0, 0.0, "rho must be positive, got 0.0"),
        (np.inf, 1.0, "clip must be finite for a finite rho"),
    ],
)
def test_a_bad_configuration_is_refused(clip, rho, message):
    with pytest.raises(ValueError, match=message):
        Configuration(clip, Constant(1.0), rho)


def test_samples_are_descended_as_records_are():
    model, rng = model_of(9), np.random.default_rng(8)
    x, y = spectrum.sample(model, 70, rng=rng)
    ours, theirs = (
        descend(x, y, CONFIGURATIONS[:2], rng=np.random.default_rng(9))
        for descend in (descent.descend_samples, descent.descend_records)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_start_is_a_target_moved_to_the_origin():
    model, n = model_of(6), 50
    centred = spectrum.RegressionModel(model.spectrum, 0 * model.target, model.label_noise)
    start = np.tile(-model.target, (len(CONFIGURATIONS), 1))
    told = (CONFIGURATIONS, n, [0.0, 0.5, 1.0])
    moved = descent.descend(centred, *told, start, rng=np.random.default_rng(3)).risk
    np.testing.assert_allclose(moved, descent.descend(model, *told, rng=np.random.default_rng(3)).risk, rtol=1e-8)
    with pytest.raises(ValueError, match=r"^start must have shape"):
        descent.descend(centred, *told, start[:, 1:], rng=np.random.default_rng(3))


# ---- Grids of configurations ----


GRID_SCHEDULES: list[Schedule] = [
    Constant(3.0),
    Polynomial(3.0, 0.5),
    Polynomial(40.0, 0.5),
    Harmonic(3.0, 0.1),
    Constant(500.0),  # beyond 2/γ
    Polynomial(5.0, 2.0),
    Flat(2.0, 0.3, 1.5),
]
GRID = [
    *(Configuration(clip, each, 0.5) for clip in (1e-3, 0.3, 5.0) for each in GRID_SCHEDULES),
    Configuration(2.0, Harmonic(0.5, 0.01), math.inf),
    Configuration(math.inf, Constant(3.0), math.inf),
]


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + d)
    x = rng.standard_normal((n, d)) * np.geomspace(0.1, 3, d)
    x[:, d // 2] = 0.0  # a feature that nobody has
    x[n // 2] = 0.0  # and a record that has none
    return x, x.sum(axis=1) + rng.standard_normal(n)


@each(("n", "d"), [(1, 2), (90, 7), (75, 40)])
def test_a_grid_is_algorithm_1_on_the_same_noise(n: int, d: int) -> None:
    x, y = rows(n, d)
    known = descend_records(x, y, GRID, rng=np.random.default_rng(1))
    found = descend_grid(x, y, GRID, rng=np.random.default_rng(1))
    np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-11)


def test_each_configuration_and_its_order_matter_by_rounding_only(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(130, 40)
    together = descend_grid(x, y, GRID, rng=np.random.default_rng(2))
    monkeypatch.setattr(families, "BLOCK", 7)
    for k in (0, 4, 17, len(GRID) - 1):
        alone = descend_grid(x, y, [GRID[k]], rng=np.random.default_rng(2))[0]
        np.testing.assert_allclose(alone, together[k], rtol=1e-9, atol=1e-11)
    monkeypatch.setattr(families, "ONE_BY_ONE", 64)
    one_by_one = descend_grid(x, y, GRID[::-1], rng=np.random.default_rng(2))[::-1]
    np.testing.assert_allclose(one_by_one, together, rtol=1e-9, atol=1e-11)


def test_records_and_rates_are_checked() -> None:
    x, y = rows(20, 3)
    with pytest.raises(ValueError, match="learning_rates"):
        descend_grid(x, y, [Configuration(1.0, Constant(1.0), 1.0), Configuration(1.0, Constant(1e200), 1.0)], rng=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="configurations"):
        descend_grid(x, y, [], rng=np.random.default_rng(0))
    x[3, 1] = math.nan
    void = x.copy()
    void[3] = 0.0
    found = [descend_grid(data, y, GRID, rng=np.random.default_rng(0)) for data in (x, void)]
    np.testing.assert_allclose(*found, rtol=1e-12)


# ---- Numbers drawn in machine code ----


def pair(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    return np.random.default_rng(seed), np.random.default_rng(seed)


@each("shape", [0, 3, (2, 5), (100_000,)])
def test_normals_are_numpys(shape) -> None:
    ours, theirs = pair(1)
    np.testing.assert_array_equal(draws.normals(shape, ours), theirs.standard_normal(shape))
    assert ours.random() == theirs.random()


@each("degrees", [2.5, 30.0])
def test_student_t_numbers_are_numpys(degrees: float) -> None:
    ours, theirs = pair(2)
    np.testing.assert_allclose(draws.student_t(degrees, (100, 90), ours), theirs.standard_t(degrees, (100, 90)), 1e-14)
    assert ours.random() == theirs.random()


@compiled
def gammas(shape: float, size: int, rng: np.random.Generator) -> np.ndarray:
    out, slope = np.empty(size), draws.gamma_slope(shape)
    for i in range(size):
        out[i] = draws.standard_gamma(shape, slope, rng)
    return out


@each("shape", [0.0, 0.5, 1.0, 1.5, 23.5, 5e5])
def test_gamma_numbers_are_numpys(shape: float) -> None:
    ours, theirs = pair(3)
    np.testing.assert_allclose(gammas(shape, 10_000, ours), theirs.standard_gamma(shape, 10_000), 1e-14)
    assert ours.random() == theirs.random()
