import math

import dp_accounting
import pytest

from costofprivacy.privacy import GaussianDP, RenyiDP, ZeroConcentratedDP
from tests.privacy import numerics


@pytest.mark.parametrize("order", [1.1, 2.0, 7.5])
@pytest.mark.parametrize("mu", [0.2, 1.0, 4.0])
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


def test_limits() -> None:
    assert RenyiDP(2.0, 0.0).epsilon(0.1) == 0.0
    assert RenyiDP(2.0, math.inf).epsilon(0.1) == math.inf
    assert ZeroConcentratedDP(math.inf).to_renyi(3.0).renyi_epsilon == math.inf


@pytest.mark.parametrize("order", [1.0, 0.5, -2.0, math.inf, math.nan])
def test_order_must_exceed_one(order: float) -> None:
    with pytest.raises(ValueError, match=r"^order must be"):
        RenyiDP(order, 1.0)


def test_bad_budgets() -> None:
    with pytest.raises(ValueError, match=r"^renyi_epsilon must be positive"):
        RenyiDP(2.0, -1.0)
    with pytest.raises(ValueError, match=r"^delta must be between"):
        RenyiDP(2.0, 1.0).epsilon(1.0)
