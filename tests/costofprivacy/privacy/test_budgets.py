import math

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    PrivacyProfile,
    PrivacyWarning,
    RenyiDP,
    ZeroConcentratedDP,
    every_iterate,
    last_iterate,
    warn_if_delta_is_large,
)
from tests.costofprivacy.privacy import numerics
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=40)

EPSILONS = (0.0, 0.01, 0.3, 1.0, 4.0, 20.0)
MUS = (0.01, 0.1, 0.5, 1.0, 3.0, 10.0)
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


@given(st.floats(0.1, 10.0), st.floats(0, 3))
@law
def test_delta_is_the_closed_form(mu: float, epsilon: float) -> None:
    expected = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    np.testing.assert_allclose(GaussianDP(mu).delta(epsilon), expected, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.2, 0.1), (0.2, 1.0), (1.0, 1.0), (1.0, 4.0)])
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
    assert GaussianDP(1e-4).delta(0.0) == pytest.approx(1e-4 / math.sqrt(2 * math.pi), rel=1e-6)


# ε(δ) and μ(ε, δ)


@given(epsilons, deltas)
@example(1e5, 1e-5)
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


@each("mu", [0.1, 1.0, 3.0])
@each("delta", [1e-10, 1e-5, 1e-2])
def test_epsilon_spends_exactly_delta_by_quadrature(mu: float, delta: float) -> None:
    assert numerics.hockey_stick(mu, 1.0, GaussianDP(mu).epsilon(delta)) == pytest.approx(delta, rel=1e-7)


# zero-concentrated differential privacy


@each("mu", [0.1, 1.0, 2.5])
@each("alpha", [1.1, 2.0, 7.0])
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
@law
def test_both_epsilons_of_rho_cover_the_gaussian_and_one_is_better(rho: float, delta: float) -> None:
    budget, exact = ZeroConcentratedDP(rho), GaussianDP(math.sqrt(2 * rho)).epsilon(delta)
    assert exact <= budget.epsilon_best(delta) <= budget.epsilon(delta)


@each("rho", [0.01, 0.5, 5.0])
@each("delta", [1e-10, 1e-5, 1e-2])
def test_the_better_epsilon_is_close_to_the_best_renyi_order(rho: float, delta: float) -> None:
    def conversion(log_order: float) -> float:  # Proposition 12 of arXiv:2004.00010
        order = 1 + math.exp(log_order)
        return rho * order + math.log1p(-1 / order) - math.log(delta * order) / (order - 1)

    best = minimize_scalar(conversion, bounds=(-5, 8), method="bounded").fun
    assert ZeroConcentratedDP(rho).epsilon_best(delta) == pytest.approx(best, rel=5e-3, abs=1e-3)


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


@pytest.mark.parametrize("mu", [1e-3, 1e-5])
def test_a_tiny_mu_costs_delta_alone(mu: float) -> None:
    assert GaussianDP(mu).epsilon(1e-3) == 0.0


@each("value", BAD_POSITIVE)
@each(
    ("name", "make"),
    [
        ("epsilon", lambda value: ApproximateDP(value, 1e-5)),
        ("rho", ZeroConcentratedDP),
        ("mu", GaussianDP),
    ],
)
def test_an_inadmissible_budget_is_refused(name: str, make: type, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be positive, got {value!r}$"):
        make(value)


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
    with pytest.raises(ValueError, match=f"^delta must be between 0 and 1, both excluded, got {value!r}$"):
        use(value)


@each("order", [1.1, 2.0, 7.5])
@each("mu", [0.2, 1.0, 4.0])
def test_a_gaussian_has_exactly_the_renyi_budget_of_its_concentration(order: float, mu: float) -> None:
    budget = GaussianDP(mu).to_zero_concentrated().to_renyi(order)
    assert budget.order == order
    assert budget.renyi_epsilon == pytest.approx(numerics.renyi(mu, 1.0, order), rel=1e-10)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_its_epsilon_is_safe_and_better_than_mironovs(delta: float) -> None:
    """At every order: above the exact ε of the Gaussian, below ε + ln(1/δ)/(α − 1) of Mironov (2017)."""
    spent = GaussianDP(0.8)
    for order in (1.5, 3.0, 10.0, 40.0):
        budget = spent.to_zero_concentrated().to_renyi(order)
        mironov = budget.renyi_epsilon + math.log(1 / delta) / (order - 1)
        assert spent.epsilon(delta) <= budget.epsilon(delta) <= mironov


def test_the_best_order_is_the_concentrated_budget() -> None:
    spent, delta = ZeroConcentratedDP(0.5), 1e-5
    orders = dp_accounting.rdp.RdpAccountant()._orders
    best = min(spent.to_renyi(float(order)).epsilon(delta) for order in orders)
    assert best == pytest.approx(spent.epsilon_best(delta), rel=1e-9)


def test_limits_of_renyi() -> None:
    assert RenyiDP(2.0, 0.0).epsilon(0.1) == 0.0
    assert RenyiDP(2.0, math.inf).epsilon(0.1) == math.inf
    assert ZeroConcentratedDP(math.inf).to_renyi(3.0).renyi_epsilon == math.inf


@pytest.mark.parametrize("order", [1.0, 0.5, -2.0, math.inf, math.nan])
def test_order_must_exceed_one(order: float) -> None:
    with pytest.raises(ValueError, match=r"^order must be"):
        RenyiDP(order, 1.0)


def test_bad_renyi_budgets() -> None:
    with pytest.raises(ValueError, match=r"^renyi_epsilon must be non-negative"):
        RenyiDP(2.0, -1.0)
    with pytest.raises(ValueError, match=r"^delta must be between"):
        RenyiDP(2.0, 1.0).epsilon(1.0)


@pytest.mark.parametrize(("delta", "n"), [(0.5, 500), (1 / 49, 49), (0.25, 4), (0.999, 2)])
def test_a_delta_of_one_over_n_or_more_is_warned_of(delta: float, n: int) -> None:
    with pytest.warns(PrivacyWarning, match=rf"delta should be far below 1/n = .*, got {delta:g}"):
        warn_if_delta_is_large(delta, n)


def test_the_warning_is_checked_like_every_budget() -> None:
    with pytest.raises(ValueError, match="delta must be"):
        warn_if_delta_is_large(1.0, 5)
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        warn_if_delta_is_large(1e-5, 0)


# roots on the safe side


def precisely_spent(mu: float, epsilon: float) -> mpmath.mpf:
    """δ(ε) with forty digits."""
    with mpmath.workdps(40):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def test_no_root_spends_more_than_delta() -> None:
    """The searches of dp-accounting end up to 6e-9 of δ on the wrong side, in a fifth of the settings."""
    rng, wasted = np.random.default_rng(0), []
    for _ in range(150):
        epsilon, delta, mu = 10 ** rng.uniform(-4, 2.3), 10 ** rng.uniform(-14, -0.1), 10 ** rng.uniform(-4, 1.5)
        spent = [precisely_spent(ApproximateDP(epsilon, delta).to_gaussian().mu, epsilon)]
        found = GaussianDP(mu).epsilon(delta)
        spent += [precisely_spent(mu, found)] if found > 0 else []
        assert max(spent) <= delta * (1 + 2e-12)
        wasted += [float(1 - part / delta) for part in spent]
    assert max(wasted) < 1e-7


# ---- Profiles ----

CLAIMED = ApproximateDP(1.0, 1e-5)
SPENDS_ALL = CLAIMED.to_gaussian()


def profile(every: GaussianDP, last: GaussianDP = GaussianDP(0.01)) -> PrivacyProfile:  # noqa: B008
    return PrivacyProfile(claimed=CLAIMED, every_iterate=every, last_iterate=last)


def test_the_three_epsilons_stand_at_the_claimed_delta() -> None:
    step = GaussianDP(0.1)
    table = profile(every_iterate(step, 44), last_iterate(step, 0.5, 44)).epsilons()
    assert table.name == "epsilon"
    assert list(table.index) == ["claimed", "every iterate", "last iterate"]
    assert table["claimed"] == 1.0
    assert table["every iterate"] == every_iterate(step, 44).epsilon(1e-5)
    assert table["last iterate"] == last_iterate(step, 0.5, 44).epsilon(1e-5)
    assert table["last iterate"] < table["every iterate"]


@pytest.mark.parametrize(("factor", "honoured"), [(0.01, True), (0.999, True), (1.001, False), (10.0, False)])
def test_a_claim_is_honoured_up_to_what_it_allows(factor: float, honoured: bool) -> None:
    assert profile(GaussianDP(factor * SPENDS_ALL.mu)).honours_claim() is honoured


def test_the_last_iterate_honours_no_claim_about_all() -> None:
    assert not profile(GaussianDP(10.0), GaussianDP(1e-3)).honours_claim()
    assert profile(GaussianDP(1e-3), GaussianDP(10.0)).honours_claim()
