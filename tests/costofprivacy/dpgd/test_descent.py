"""The descent, in one pass and as a chain of its law: against loops over records."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from costofprivacy._compiled import compiled
from costofprivacy.dpgd import accounting, chain, descent, draws, onepass, schedule, spectrum
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
from costofprivacy.privacy import spent_by_record
from tests import oracles
from tests.costofprivacy.dpgd.problems import Rising
from tests.costofprivacy.privacy import numerics
from tests.each import each, refused

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


def test_overflow_is_reported_and_does_not_spread():
    model = model_of(5)
    configurations = [Configuration(1.0, Constant(3.0), 1.0), Configuration(1e100, Polynomial(1e100, 0.5), 1.0)]
    run = descent.descend(model, configurations, 50, [0.0, 0.5, 1.0], rng=np.random.default_rng(5))
    assert run.diverged.tolist() == [False, True]
    assert run.risk[1].tolist() == [model.initial_risk, np.inf, np.inf]
    assert np.isfinite(run.risk[0]).all()


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
    refused(message, descent.descend, model_of(3), rng=np.random.default_rng(0), **arguments)


@each(
    ("clip", "rho", "message"),
    [
        (0.0, 1.0, "clip must be positive, got 0.0"),
        (1.0, 0.0, "rho must be positive, got 0.0"),
        (np.inf, 1.0, "clip must be finite for a finite rho"),
    ],
)
def test_a_bad_configuration_is_refused(clip, rho, message):
    refused(message, Configuration, clip, Constant(1.0), rho)


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
    refused(r"^start must have shape", descent.descend, centred, *told, start[:, 1:], rng=np.random.default_rng(3))


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


def test_records_and_rates_are_checked() -> None:
    x, y = rows(20, 3)
    with pytest.raises(ValueError, match="learning_rates"):
        descend_grid(x, y, [Configuration(1.0, Constant(1.0), 1.0), Configuration(1.0, Constant(1e200), 1.0)], rng=None)  # type: ignore[arg-type]
    refused("configurations", descend_grid, x, y, [], rng=np.random.default_rng(0))
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


SCHEDULES = [Constant(3.0), Polynomial(3.0, 0.5), Polynomial(4.0, 2.0), Harmonic(0.5, 0.02)]


def records(n, d, seed=0):
    values = spectrum.uniform(d)
    model = spectrum.RegressionModel(values, spectrum.projections(values), 0.3)
    return spectrum.sample(model, n, rng=np.random.default_rng(seed))


def literal(x, y, configuration, n, rng):
    """Algorithm 1 of tests.oracles on the records that came, with noise drawn as `release` draws it."""
    eta = schedule.learning_rates(configuration.schedule, n)
    sigma = schedule.noise_multipliers(eta, configuration.rho)
    b = np.zeros(x.shape)
    for k in range(len(x)):
        if sigma[k] > 0:
            b[k] = rng.standard_normal(x.shape[1])
    clip_norm = configuration.clip_norm(x.shape[1])
    theta = oracles.dpgd(x, y, eta[: len(x)], clip_norm, sigma[: len(x)], b)[-1]
    owed = 2 * clip_norm * math.sqrt((sigma[len(x) :] ** 2).sum())
    return theta + owed * rng.standard_normal(x.shape[1]) if owed else theta


@pytest.mark.parametrize("plan", SCHEDULES[1:])
@pytest.mark.parametrize(("n", "seen"), [(1, 1), (90, 90), (90, 41), (1500, 750)])
def test_a_pass_is_algorithm_1_on_the_records_given(plan, n, seen, monkeypatch):
    monkeypatch.setattr(onepass, "CHUNK_STEPS", 700)
    x, y = records(seen, 6)
    configuration = Configuration(0.5, plan, 1.3)
    released = onepass.release([(x, y)], configuration, n, 6, rng=np.random.default_rng(1))
    expected = literal(x, y, configuration, n, np.random.default_rng(1))
    np.testing.assert_allclose(released.theta, expected, rtol=1e-8, atol=1e-11)
    assert released.records == seen


def test_how_records_are_split_into_batches_does_not_matter():
    x, y = records(500, 4)
    configuration = Configuration(0.5, Harmonic(0.5, 0.02), 1.0)
    whole = onepass.release([(x, y)], configuration, 600, 4, rng=np.random.default_rng(2)).theta
    for size in (1, 7, 64):
        parts = ((x[k : k + size], y[k : k + size]) for k in range(0, 500, size))
        split = onepass.release(parts, configuration, 600, 4, rng=np.random.default_rng(2)).theta
        np.testing.assert_allclose(split, whole, rtol=1e-8, atol=1e-12)


@each("plan", SCHEDULES)
def test_the_profile_of_a_full_pass_is_that_of_its_steps(plan):
    n, rho = 200, 0.7
    eta = schedule.learning_rates(plan, n)
    sigma = schedule.noise_multipliers(eta, rho)
    x, y = records(n, 3)
    released = onepass.release([(x, y)], Configuration(0.5, plan, rho), n, 3, rng=np.random.default_rng(0))
    assert released.last_iterate.mu == pytest.approx(accounting.last_iterate(eta, sigma).mu)
    assert released.every_iterate.mu == pytest.approx(accounting.every_iterate(eta, sigma).mu)


@each("plan", SCHEDULES)
@each("seen", [1, 50, 99, 100])
def test_the_owed_noise_completes_the_tail_sums_of_4_1(plan, seen):
    n, d, configuration = 100, 5, Configuration(0.5, plan, 0.7)
    eta = schedule.learning_rates(plan, n)
    std = 2 * configuration.clip_norm(d) * schedule.noise_multipliers(eta, configuration.rho)
    owed = onepass.owed_noise_std(configuration, n, d, seen)
    assert owed == pytest.approx(math.sqrt((std[seen:] ** 2).sum()), abs=1e-15)
    # (4.1) with the steps made and one more that uses no record: what each record spends is ρ, as announced
    moved = np.append(2 * configuration.clip_norm(d) * eta[:seen], 0.0)
    spent = spent_by_record(moved, np.append(std[:seen], owed))
    np.testing.assert_allclose(spent[:seen][eta[:seen] > 0], 0.7)


@each(
    ("rows", "n", "message"),
    [([3, 3], 5, "announced as 5; there are more"), ([], 5, "at least 1 record"), ([0, 0], 5, "at least 1 record")],
)
def test_too_many_records_or_none_are_refused(rows, n, message):
    batches = [records(m, 2) if m else (np.empty((0, 2)), np.empty(0)) for m in rows]
    with pytest.raises(ValueError, match=message):
        onepass.release(batches, Configuration(0.5, Constant(1.0), 1.0), n, 2, rng=np.random.default_rng(0))


def test_the_surplus_is_noticed_before_it_is_used():
    x, y = records(6, 2)
    seen = []

    def stream():
        for k in range(6):
            seen.append(k)
            yield x[k : k + 1], y[k : k + 1]

    with pytest.raises(ValueError, match="there are more"):
        onepass.release(stream(), Configuration(0.5, Constant(1.0), 1.0), 4, 2, rng=np.random.default_rng(0))
    assert seen == [0, 1, 2, 3, 4]


# ---- Accounting ----


def test_a_profile_says_what_is_claimed_and_what_is_spent() -> None:
    rates = learning_rates(Polynomial(3.0, 0.5), 400)
    sigma = noise_multipliers(rates, 0.8)
    told = accounting.profile(rates, sigma, 1e-5)
    assert told.neighbours == "replace one record"
    assert told.claimed.epsilon == pytest.approx(0.8**2 / 2 + 0.8 * math.sqrt(2 * math.log(1e5)))
    assert told.last_iterate.mu == pytest.approx(0.8)
    assert told.every_iterate.mu == pytest.approx(0.8 * math.sqrt(399), rel=1e-6)
    assert told.every_iterate.epsilon(1e-5) > told.claimed.epsilon
    exact = told.last_iterate.epsilon(1e-5)
    assert numerics.hockey_stick(0.8, 1.0, exact) == pytest.approx(1e-5, rel=1e-6)
    assert exact < told.claimed.epsilon


def test_output_perturbation_may_release_nothing_but_the_last_iterate() -> None:
    rates = learning_rates(Constant(3.0), 50)
    sigma = noise_multipliers(rates, 1.0)
    assert accounting.last_iterate(rates, sigma).mu == pytest.approx(1.0)
    assert accounting.every_iterate(rates, sigma).mu == math.inf


def test_a_step_of_length_0_does_not_count() -> None:
    assert accounting.every_iterate(np.array([2.0, 0.0]), np.array([1.0, 0.0])).mu == 2.0


def test_bad_schedules() -> None:
    with pytest.raises(ValueError, match=r"^noise_multipliers must have shape \(3,\) like learning_rates, got \(2,\)$"):
        accounting.every_iterate(np.ones(3), np.ones(2))
    refused(r"^learning_rates must have a positive entry", accounting.every_iterate, np.zeros(2), np.ones(2))
    refused(r"^mu must be positive", accounting.last_iterate, np.zeros(2), np.ones(2))
    for bad in (-1.0, math.nan, math.inf):
        values = np.append(np.ones(200), bad)
        for name, arguments in (
            ("learning_rates", (values, np.ones(201))),
            ("noise_multipliers", (np.ones(201), values)),
        ):
            with pytest.raises(ValueError, match=rf"^{name} must be finite and non-negative, at least one, got {bad}$"):
                accounting.every_iterate(*arguments)
    refused(r"^delta must be between", accounting.profile, np.ones(2), np.ones(2), 0.0)


N, REPEATS = 25, 400
NOISY = Configuration(0.7, Polynomial(8.0, 0.5), 2.0)
MODELS = {
    "isotropic": spectrum.RegressionModel(spectrum.isotropic(4), np.full(4, 0.5), 0.8),
    "three eigenvalues": spectrum.RegressionModel(
        spectrum.Spectrum([0.2, 1.5, 1.5, 0.2, 0.0, 1.0]), np.array([1.0, 0.2, 0.5, -1.0, 1.0, 0.1]), 0.8
    ),
}


def literal_risks(model, configuration):
    """R(θ_⌊n/2⌋) and R(θ_n) of the literal algorithm, shape (2, repeats)."""
    rng = np.random.default_rng(11)
    eta = learning_rates(configuration.schedule, N)
    sigma = noise_multipliers(eta, configuration.rho)
    out = []
    for _ in range(REPEATS):
        x, y = spectrum.sample(model, N, rng=rng)
        b = rng.standard_normal(x.shape)
        path = oracles.dpgd(x, y, eta, configuration.clip_norm(model.d), sigma, b)
        out.append([model.risk(path[N // 2]), model.risk(path[N])])
    return np.array(out).T


@pytest.fixture(scope="module")
def literal_chain():
    return {name: literal_risks(model, NOISY) for name, model in MODELS.items()}


def chain_risks(model, rng):
    return chain.risk_at(chain.eigenspaces(model), [NOISY], N, [0.5, 1.0], 4000, rng=rng)[0].T


def smallest_p_value(ours, theirs):
    return min(stats.ks_2samp(a, b).pvalue for a, b in zip(ours, theirs))


@pytest.mark.parametrize("name", MODELS)
def test_the_chain_has_the_law_of_algorithm_1(name, literal_chain):
    assert smallest_p_value(chain_risks(MODELS[name], np.random.default_rng(5)), literal_chain[name]) > 0.01


TERMS = ["along", "square_rest", "label", "noise_along", "noise_rest"]


@pytest.mark.parametrize("term", TERMS)
def test_a_chain_with_a_term_left_out_is_told_apart(term, literal_chain, monkeypatch):
    def mutilated(*args, whole=chain.draw, **named):
        fresh = whole(*args, **named)
        return dataclasses.replace(fresh, **{term: np.zeros_like(getattr(fresh, term))})

    monkeypatch.setattr(chain, "draw", mutilated)
    ours = chain_risks(MODELS["isotropic"], np.random.default_rng(5))
    assert smallest_p_value(ours, literal_chain["isotropic"]) < 1e-4


@each("name", MODELS)
def test_the_draws_are_those_of_the_features(name):
    """‖x‖² from its parts, each with its mean; an eigenspace of one dimension has no rest."""
    spaces = chain.eigenspaces(MODELS[name])
    fresh = chain.draw(spaces, 400, 50, rng=np.random.default_rng(3))
    np.testing.assert_allclose(fresh.square_norm, (fresh.along**2 + fresh.square_rest).sum(axis=1), rtol=1e-13)
    values, counts = spaces.eigenvalues, spaces.multiplicities
    np.testing.assert_allclose((fresh.along**2).mean(axis=(0, 2)), values, rtol=0.05)
    np.testing.assert_allclose(fresh.square_rest.mean(axis=(0, 2)), values * (counts - 1), rtol=0.05)
    np.testing.assert_allclose(fresh.noise_rest.mean(axis=(0, 2)), counts - 1, rtol=0.05)
    assert fresh.label.std() == pytest.approx(0.8, rel=0.03)


def test_moments_agree_with_descents_in_high_dimension():
    model = spectrum.RegressionModel(spectrum.isotropic(50), spectrum.projections(spectrum.isotropic(50)), 0.3)
    configurations = [Configuration(1.0, Constant(3.0), 1.0), Configuration(0.3, Polynomial(5.0, 0.5), 0.5)]
    times = [0.0, 0.3, 0.7, 1.0]
    ours = chain.risk_at(chain.eigenspaces(model), configurations, 500, times, 2000, rng=np.random.default_rng(7))
    runs = [descent.descend(model, configurations, 500, times, rng=np.random.default_rng(s)).risk for s in range(100)]
    theirs = np.stack(runs, axis=1)
    spread = theirs.std(axis=1, ddof=1)
    error = spread / np.sqrt(100) * np.sqrt(1 + 100 / 2000)
    assert (abs(ours.mean(axis=1) - theirs.mean(axis=1)) <= 4 * error + 1e-12).all()
    np.testing.assert_allclose(ours.std(axis=1)[:, 1:], spread[:, 1:], rtol=0.3)


def test_eigenspaces_gather_equal_eigenvalues():
    spaces = chain.eigenspaces(MODELS["three eigenvalues"])
    assert spaces.eigenvalues.tolist() == [0.0, 0.2, 1.0, 1.5]
    assert spaces.multiplicities.tolist() == [1, 2, 1, 2]
    np.testing.assert_allclose(spaces.target_norms**2, [1.0, 2.0, 0.01, 0.29])
    assert spaces.d == 6


def test_bad_input_is_refused():
    model = MODELS["isotropic"]
    spaces = chain.eigenspaces(model)
    with pytest.raises(ValueError, match="chains must be a whole number of at least 1"):
        chain.risks(spaces, [NOISY], N, 0, rng=np.random.default_rng(0))
    refused("n must be a whole number of at least 1", chain.risks, spaces, [NOISY], 0, 1, rng=np.random.default_rng(0))
    other = spectrum.RegressionModel(spectrum.isotropic(2), np.ones(2), 0.1, spectrum.Rademacher())
    refused("law must be Gaussian for the risk chain", chain.eigenspaces, other)


# ---- Chain grid ----

CLIPS, RATES = np.array([1e-3, 0.1, 10.0, 0.1]), np.array([300.0, 5.0, 0.3, 60.0])
SHAPES = {"constant": Constant, "half": lambda r: Polynomial(r, 0.5), "harmonic": lambda r: Harmonic(0.3 * r, 0.3)}


def spaces(d: int, value: float = 1.0) -> chain.Eigenspaces:
    model = spectrum.RegressionModel(spectrum.Spectrum([value] * d), np.full(d, 0.3), 0.3)
    return chain.eigenspaces(model)


def literal_grid(family, rho: float, n: int, d: int) -> np.ndarray:
    runs = [Configuration(float(c), family(float(rate)), rho) for c, rate in zip(CLIPS, RATES)]
    return chain.risk_at(spaces(d), runs, n, [1.0], 1, rng=np.random.default_rng(4))[:, 0, 0]


@each("rho", [0.1, np.inf])
@each("name", SHAPES)
@each(("n", "d"), [(1, 3), (300, 20), (50, 1)])
def test_a_place_of_the_grid_is_the_chain(name, rho, n, d):
    found = chain.released_risks(spaces(d), SHAPES[name](1.0), CLIPS, RATES, rho, n, rng=np.random.default_rng(4))
    np.testing.assert_allclose(found, literal_grid(SHAPES[name], rho, n, d), rtol=1e-10)


def test_several_eigenspaces_are_refused():
    two = chain.eigenspaces(spectrum.RegressionModel(spectrum.Spectrum([0.5, 1.5]), np.ones(2), 0.3))
    with pytest.raises(ValueError, match="spaces must be a single eigenspace, got 2"):
        chain.released_risks(two, Constant(1.0), CLIPS, RATES, 1.0, 10, rng=np.random.default_rng(4))
