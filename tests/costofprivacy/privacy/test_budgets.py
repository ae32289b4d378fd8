"""Budgets and their conversions, groups, profiles, and the public numbers that state them."""

import math
from fractions import Fraction

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from costofprivacy.dpgd.update import noiseless_step
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    PrivacyProfile,
    PrivacyWarning,
    ZeroConcentratedDP,
    every_iterate,
    last_iterate,
    warn_if_delta_is_large,
)
from costofprivacy.privacy.budgets import _spent
from costofprivacy.privacy.groups import group, group_approximate, replaced
from costofprivacy.rivals import correlated_noise, huber
from tests.costofprivacy.privacy import numerics
from tests.each import each, refused

law = settings(derandomize=True, deadline=None, max_examples=20)

EPSILONS = (0.0, 0.3, 4.0, 20.0)
MUS = (0.01, 0.5, 3.0, 10.0)
DELTAS = (1e-12, 1e-5, 0.02, 0.6)
BAD_POSITIVE = (0.0, -1.0, -math.inf, math.nan, "1", None, True)
BAD_PROBABILITY = (0.0, 1.0, -0.1, 1.5, math.inf, math.nan, "0.5", None)

epsilons = st.floats(-2, 3).map(lambda power: 10.0**power)
deltas = st.floats(-14, -0.3).map(lambda power: 10.0**power)
mus = st.floats(-2, 2).map(lambda power: 10.0**power)
rhos = st.floats(-4, 2).map(lambda power: 10.0**power)


# δ(ε) of Gaussian differential privacy: quadrature, the closed form in Φ, dp-accounting


@each("mu", MUS)
@each("epsilon", EPSILONS)
def test_delta_is_the_hockey_stick_divergence(mu: float, epsilon: float) -> None:
    expected = numerics.hockey_stick(mean=mu, std=1.0, epsilon=epsilon)
    np.testing.assert_allclose(GaussianDP(mu).delta(epsilon), expected, rtol=1e-9, atol=1e-307)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.2, 1.0), (1.0, 4.0)])
def test_delta_lies_between_the_two_estimates_of_a_privacy_loss_distribution(mu: float, epsilon: float) -> None:
    def estimate(pessimistic: bool) -> float:
        pld = dp_accounting.pld.privacy_loss_distribution
        options = {"value_discretization_interval": 1e-3, "use_connect_dots": pessimistic}
        one = pld.from_gaussian_mechanism(1 / mu, pessimistic_estimate=pessimistic, **options)
        return one.get_delta_for_epsilon(epsilon)

    delta = float(GaussianDP(mu).delta(epsilon))
    assert estimate(False) * (1 - 1e-9) <= delta + 1e-20
    assert delta <= estimate(True) * (1 + 1e-9) + 1e-20
    assert estimate(True) <= 1.02 * estimate(False)


def test_delta_keeps_the_shape_of_epsilon() -> None:
    grid = np.linspace(0, 4, 6).reshape(2, 3)
    expected = [[float(GaussianDP(1.3).delta(e)) for e in row] for row in grid]
    np.testing.assert_array_equal(GaussianDP(1.3).delta(grid), expected)
    assert np.shape(GaussianDP(1.3).delta(1.0)) == ()
    np.testing.assert_array_equal(GaussianDP(math.inf).delta(grid), np.ones((2, 3)))


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 30.0])
def test_limits_of_delta(epsilon: float) -> None:
    assert GaussianDP(1e6).delta(epsilon) == 1
    assert GaussianDP(1e-100).delta(epsilon) == pytest.approx(0, abs=1e-99)
    for mu in (1e-300, 1e-17, 1e-6, 1e-4):
        assert GaussianDP(mu).delta(0.0) == pytest.approx(mu / math.sqrt(2 * math.pi), rel=1e-9)


# ε(δ) and μ(ε, δ)


@given(epsilons, deltas)
@example(1e5, 1e-5)
@example(1e-4, 1e-6)
@law
def test_a_budget_survives_the_way_to_mu_and_back(epsilon: float, delta: float) -> None:
    gaussian = ApproximateDP(epsilon, delta).to_gaussian()
    assert gaussian.epsilon(delta) == pytest.approx(epsilon, rel=1e-6, abs=1e-9)
    assert float(gaussian.delta(epsilon)) == pytest.approx(delta, rel=1e-6)


@given(mus, deltas)
@law
def test_mu_survives_the_way_to_a_budget_and_back(mu: float, delta: float) -> None:
    epsilon = GaussianDP(mu).epsilon(delta)
    if epsilon == 0:  # δ alone pays for everything
        assert float(GaussianDP(mu).delta(0.0)) <= delta * (1 + 1e-9)
    elif epsilon > 1e-6:
        assert ApproximateDP(epsilon, delta).to_gaussian().mu == pytest.approx(mu, rel=1e-6)


@each("epsilon", [0.05, 0.5, 2.0, 8.0])
@each("delta", DELTAS)
def test_mu_is_that_of_the_analytic_gaussian_mechanism(epsilon: float, delta: float) -> None:
    expected = 1 / numerics.balle_wang_std(epsilon, delta)
    assert ApproximateDP(epsilon, delta).to_gaussian().mu == pytest.approx(expected, rel=1e-6)


# zero-concentrated differential privacy


@each(("mu", "alpha"), [(0.1, 7.0), (1.0, 1.1), (2.5, 2.0)])
def test_a_gaussian_is_concentrated_as_its_renyi_divergence_says(mu: float, alpha: float) -> None:
    rho = GaussianDP(mu).to_zero_concentrated().rho
    assert numerics.renyi(mean=3 * mu, std=3.0, alpha=alpha) == pytest.approx(alpha * rho, rel=1e-12)


@each("rho", [1e-4, 0.1, 1.0, 50.0])
@each("delta", DELTAS)
def test_epsilon_of_rho_is_the_best_order_of_the_simple_conversion(rho: float, delta: float) -> None:
    def simple(log_order: float) -> float:  # ρα + ln(1/δ)/(α − 1)
        return rho * (1 + math.exp(log_order)) - math.log(delta) / math.exp(log_order)

    best = minimize_scalar(simple, bounds=(-12, 12), method="bounded", options={"xatol": 1e-9}).fun
    assert ZeroConcentratedDP(rho).epsilon(delta) == pytest.approx(best, rel=1e-9)


@given(rhos, st.floats(-10, -2).map(lambda power: 10.0**power))
@example(1e-9, 1e-5)
@example(1e4, 1e-5)
@law
def test_both_epsilons_of_rho_cover_the_gaussian_and_one_is_better(rho: float, delta: float) -> None:
    budget, exact = ZeroConcentratedDP(rho), GaussianDP(math.sqrt(2 * rho)).epsilon(delta)
    assert exact <= budget.epsilon_best(delta) <= budget.epsilon(delta)


@given(st.floats(-2, 3).map(lambda power: 10.0**power), deltas)
@law
def test_rho_of_a_budget_is_converted_back_to_it(epsilon: float, delta: float) -> None:
    rho = ApproximateDP(epsilon, delta).to_zero_concentrated()
    assert rho.epsilon(delta) == pytest.approx(epsilon, rel=1e-10)


# limits and refusals


def test_no_privacy_stays_no_privacy() -> None:
    assert ApproximateDP(math.inf, 1e-5).to_gaussian() == GaussianDP(math.inf)
    assert ApproximateDP(math.inf, 1e-5).to_zero_concentrated() == ZeroConcentratedDP(math.inf)
    assert GaussianDP(math.inf).epsilon(1e-5) == math.inf
    assert GaussianDP(math.inf).to_zero_concentrated() == ZeroConcentratedDP(math.inf)
    assert ZeroConcentratedDP(math.inf).epsilon(1e-5) == math.inf
    assert ZeroConcentratedDP(math.inf).epsilon_best(1e-5) == math.inf
    assert GaussianDP(1e-5).epsilon(1e-3) == 0.0  # δ alone pays for a tiny μ


@each("value", BAD_POSITIVE)
@each(
    ("name", "make"),
    [("epsilon", lambda value: ApproximateDP(value, 1e-5)), ("rho", ZeroConcentratedDP), ("mu", GaussianDP)],
)
def test_an_inadmissible_budget_is_refused(name: str, make: type, value: object) -> None:
    refused(f"^{name} must be positive, got {value!r}$", make, value)


@each("value", BAD_PROBABILITY)
@each(
    "use",
    [
        lambda delta: ApproximateDP(1.0, delta),
        lambda delta: ZeroConcentratedDP(1.0).epsilon(delta),
        lambda delta: ZeroConcentratedDP(1.0).epsilon_best(delta),
        lambda delta: ZeroConcentratedDP(math.inf).epsilon_best(delta),
        lambda delta: GaussianDP(1.0).epsilon(delta),
        lambda delta: GaussianDP(math.inf).epsilon(delta),
    ],
)
def test_an_inadmissible_delta_is_refused(use: type, value: object) -> None:
    refused(f"^delta must be between 0 and 1, both excluded, got {value!r}$", use, value)


@pytest.mark.parametrize(("delta", "n"), [(0.5, 500), (1 / 49, 49), (0.25, 4), (0.999, 2), (1e-3, 100)])
def test_a_delta_of_a_tenth_of_one_over_n_or_more_is_warned_of(delta: float, n: int) -> None:
    with pytest.warns(PrivacyWarning, match=rf"delta should be far below 1/n = .*, got {delta:g}"):
        warn_if_delta_is_large(delta, n)
    warn_if_delta_is_large(0.099 / n, n)


# roots on the safe side


def precisely_spent(mu: float, epsilon: float) -> mpmath.mpf:
    """δ(ε) with forty digits."""
    with mpmath.workdps(40):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def test_no_root_spends_more_than_delta() -> None:
    """The searches of dp-accounting end up to 6e-9 of δ on the wrong side, in a fifth of the settings."""
    rng, wasted = np.random.default_rng(0), []
    for _ in range(60):
        epsilon, delta, mu = 10 ** rng.uniform(-4, 2.3), 10 ** rng.uniform(-14, -0.1), 10 ** rng.uniform(-4, 1.5)
        spent = [precisely_spent(ApproximateDP(epsilon, delta).to_gaussian().mu, epsilon)]
        found = GaussianDP(mu).epsilon(delta)
        spent += [precisely_spent(mu, found)] if found > 0 else []
        assert max(spent) <= delta * (1 + 2e-12)
        wasted += [float(1 - part / delta) for part in spent]
    assert max(wasted) < 1e-7


# ---- Profiles ----


def test_the_three_epsilons_stand_at_the_claimed_delta() -> None:
    step = GaussianDP(0.1)
    told = PrivacyProfile(ApproximateDP(1.0, 1e-5), every_iterate(step, 44), last_iterate(step, 0.5, 44))
    table = told.epsilons()
    assert table.name == "epsilon"
    assert list(table.index) == ["claimed", "every iterate", "last iterate"]
    assert table["claimed"] == 1.0
    assert table["every iterate"] == every_iterate(step, 44).epsilon(1e-5)
    assert table["last iterate"] == last_iterate(step, 0.5, 44).epsilon(1e-5)
    assert table["last iterate"] < table["every iterate"]


# ---- Groups ----


@each(("mu", "size"), [(0.8, 1), (0.8, 2), (0.1, 7)])
def test_a_group_is_as_easy_to_see_as_gaussians_so_many_shifts_apart(mu: float, size: int) -> None:
    told = group(GaussianDP(mu), size)
    for epsilon in (0.3, 1.5):
        assert float(told.delta(epsilon)) == pytest.approx(numerics.hockey_stick(size * mu, 1.0, epsilon), rel=1e-9)
    assert float(told.delta(1.0)) > float(GaussianDP(math.sqrt(size) * mu).delta(1.0)) or size == 1


def test_the_general_formula_covers_the_gaussian_group_at_its_own_epsilon() -> None:
    for size in (1, 2, 3, 5):
        for delta in (1e-3, 1e-6):
            one = ApproximateDP(0.5, delta)
            exact = float(group(one.to_gaussian(), size).delta(size * one.epsilon))
            assert exact <= group_approximate(one, size) * (1 + 1e-6)


def test_the_general_formula_is_the_recursion_it_is_proven_by() -> None:
    epsilon, delta, spent = 0.7, 1e-4, 0.0
    for size in range(1, 6):
        spent = math.exp(epsilon) * spent + delta
        assert group_approximate(ApproximateDP(epsilon, delta), size) == pytest.approx(spent, rel=1e-12)


def test_replacing_costs_twice_blanking_where_contributions_fill_a_ball() -> None:
    """The longest move of a step of DP-GD: to a blank record, and to another record, by search."""
    rng, clip, rate = np.random.default_rng(0), 0.5, 0.01
    x, y = 3 * rng.standard_normal((4000, 2)), 100 * rng.standard_normal(4000)
    moves = noiseless_step(np.zeros(2), x, y, rate, clip)
    blanked = np.linalg.norm(moves, axis=1).max()
    apart = np.linalg.norm(moves[:, None][:300] - moves[None], axis=2).max()
    assert apart == pytest.approx(replaced(GaussianDP(float(blanked))).mu, rel=1e-3)


@each("size", [0, 1.5, math.nan])
def test_bad_sizes_are_named(size: float) -> None:
    refused("size must be", group, GaussianDP(1.0), size)
    refused("size must be", group_approximate, ApproximateDP(1.0, 1e-5), size)
    refused("epsilon must be", group_approximate, ApproximateDP(math.inf, 1e-5), 2)


@each("epsilon", [1e-8, 1e-12, 1e-20])
@each("delta", [1e-300, 1e-15, 1e-6])
def test_a_tiny_budget_is_not_overspent(epsilon: float, delta: float) -> None:
    """As it was found: where the search ended far off, the last value was not looked at."""
    assert _spent(ApproximateDP(epsilon, delta).to_gaussian().mu, epsilon) <= delta * (1 + 2e-12)
    assert _spent(1e-12, GaussianDP(1e-12).epsilon(delta)) <= delta * (1 + 2e-12)


def test_the_columns_of_buffered_noise_have_their_length() -> None:
    """As it was found: 1 − λ² lost its digits where λ is near 1."""
    for steps in (1, 2, 10_000_000):
        strategy, wanted = correlated_noise.Buffered((0.5, 0.25), (1 - 1e-8, 0.0)), Fraction(1)
        square = Fraction(strategy.decays[0]) ** 2
        gap = 1 - square
        share = -math.expm1((steps - 1) * math.log1p(-float(gap)))
        wanted += Fraction(1, 4) * square * Fraction(share) / gap
        assert strategy.square(steps) == pytest.approx(float(wanted), rel=1e-13)


def test_which_features_are_live_is_not_read_off_the_records() -> None:
    """As it was found: a record in a dead feature moved the limits of all others by a rounding."""
    dead, n = 1, 3000
    row = np.zeros(40)
    row[::3] = np.random.default_rng(3).standard_normal(14)
    x, y = np.tile(row, (n, 1)), np.full(n, 1e9)
    x[0], y[0] = 0.0, 0.0
    other = x.copy()
    other[0, dead] = 1e-130
    one, two = (huber.minimum(rows, y, 1.0, 1e3) for rows in (x, other))
    assert np.linalg.norm((one.high - two.high) + (one.low - two.low)) * 1e3 < 1e-20


# ---- Arguments at the edge of what is admissible, each once answered wrongly ----


@pytest.mark.parametrize("epsilon", [-1.0, math.nan])
def test_no_delta_belongs_to_what_is_no_epsilon(epsilon: float) -> None:
    refused("must", GaussianDP(1.0).delta, epsilon)


def test_delta_ends_at_0() -> None:
    assert GaussianDP(1.0).delta(math.inf) == 0
    assert GaussianDP(1e-160).delta(1.0) == 0


def test_rho_of_a_tiny_budget() -> None:
    log_term = -math.log(1e-5)
    for epsilon in (1e-12, 1e-20):
        rho = ApproximateDP(epsilon, 1e-5).to_zero_concentrated().rho
        assert rho == pytest.approx(epsilon**2 / (4 * log_term), rel=1e-9, abs=0)
