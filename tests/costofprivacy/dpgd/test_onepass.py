import math

import numpy as np
import pytest

from costofprivacy.dpgd import accounting, onepass, schedule, spectrum
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, learning_rates, noise_multipliers
from costofprivacy.privacy import GaussianDP, spent_by_record
from tests import oracles
from tests.costofprivacy.privacy import numerics
from tests.each import each

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


def test_without_privacy_there_is_no_noise():
    x, y = records(30, 3)
    configuration = Configuration(math.inf, Polynomial(3.0, 0.5), math.inf)
    released = [onepass.release([(x, y)], configuration, 40, 3, rng=np.random.default_rng(s)) for s in (0, 1)]
    np.testing.assert_array_equal(released[0].theta, released[1].theta)
    assert released[0].last_iterate == released[0].every_iterate == GaussianDP(math.inf)


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


def test_shapes_must_agree():
    x, y = records(6, 2)
    for bad in [(x, y[:-1]), (x[:, :1], y), (x, y[:, None])]:
        with pytest.raises(ValueError, match="must have shape"):
            onepass.release([bad], Configuration(0.5, Constant(1.0), 1.0), 9, 2, rng=np.random.default_rng(0))


# ---- Accounting ----


def test_a_profile_says_what_is_claimed_and_what_is_spent() -> None:
    rates = learning_rates(Polynomial(3.0, 0.5), 400)
    sigma = noise_multipliers(rates, 0.8)
    told = accounting.profile(rates, sigma, 1e-5)
    assert told.neighbours == "replace one record"
    assert told.claimed.epsilon == pytest.approx(0.8**2 / 2 + 0.8 * math.sqrt(2 * math.log(1e5)))
    assert told.last_iterate.mu == pytest.approx(0.8)
    assert told.every_iterate.mu == pytest.approx(0.8 * math.sqrt(399), rel=1e-6)
    assert not told.honours_claim()
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
    with pytest.raises(ValueError, match=r"^learning_rates must have a positive entry"):
        accounting.every_iterate(np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match=r"^mu must be positive"):
        accounting.last_iterate(np.zeros(2), np.ones(2))
    for bad in (-1.0, math.nan, math.inf):
        values = np.append(np.ones(200), bad)
        for name, arguments in (
            ("learning_rates", (values, np.ones(201))),
            ("noise_multipliers", (np.ones(201), values)),
        ):
            with pytest.raises(ValueError, match=rf"^{name} must be finite and non-negative, at least one, got {bad}$"):
                accounting.every_iterate(*arguments)
    with pytest.raises(ValueError, match=r"^delta must be between"):
        accounting.profile(np.ones(2), np.ones(2), 0.0)
