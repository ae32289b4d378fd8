"""The page on noise and cost: its tables against other ways to them."""

import math
from collections.abc import Callable
from typing import Any

import dp_accounting
import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.rivals.measure import penalties
from chapters.privacy.how_much_noise import measure
from chapters.privacy.how_much_noise.measure import BOUND, EXACT, LAST, PROPOSITION, RENYI, RULE, Experiment
from companion.judging.findings import Verdict
from companion.judging.tables import pick, select
from companion.running.montecarlo import Runner
from costofprivacy.dpgd import equivalent, system
from costofprivacy.dpgd.schedule import Harmonic
from costofprivacy.noisyhead.recipes import square_model
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.groups import BLANK, REPLACE
from tests.chapters.machinery import Case, Tables, filled, put, trials


@pytest.fixture(scope="module")
def small() -> dict[str, pd.DataFrame]:
    told = {"epsilon": (2.0,), "delta": (1e-4,), "records": (30,), "N": (900,), "n": (50,)}
    return Experiment(regression_noise=0.5, **told).run(Runner(1))


# from a budget to the noise


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_every_route_keeps_the_budget_and_the_exact_one_spends_it(epsilon: float, delta: float) -> None:
    budget = ApproximateDP(epsilon, delta)
    for route, rho_of in measure.ROUTES.items():
        spent = dp_accounting.get_epsilon_gaussian(1 / rho_of(budget), delta)
        assert spent <= epsilon * (1 + 1e-6), route
        assert (spent > epsilon * (1 - 1e-6)) == (route == EXACT), route


def test_each_route_solves_the_equation_that_it_is_named_after() -> None:
    budget, log = ApproximateDP(0.7, 1e-5), math.log(1e5)
    rho = {route: rho_of(budget) for route, rho_of in measure.ROUTES.items()}
    printed = rho[PROPOSITION]
    assert printed**2 / 2 + printed * math.sqrt(2 * log) == pytest.approx(0.7, rel=1e-9)
    assert 2 * rho[RULE] * math.sqrt(log) == pytest.approx(0.7, rel=1e-12)
    accountant = dp_accounting.rdp.RdpAccountant()
    accountant.compose(dp_accounting.ZCDpEvent(rho[RENYI] ** 2 / 2))
    assert accountant.get_epsilon(1e-5) == pytest.approx(0.7, rel=1e-6)


# what it costs


def test_a_cost_is_the_equations_risk_and_no_schedule_of_a_grid_has_less(small: dict[str, pd.DataFrame]) -> None:
    equations = system.isotropic(0.5, 1 / 30, 0.5)
    for relation, factor in ((REPLACE, 1), (BLANK, 2)):
        row = pick(small["regression"], route=EXACT, relation=relation)
        rho = factor / dp_accounting.get_sigma_gaussian(2.0, 1e-4)
        assert row["noise_rho"] == pytest.approx(rho, rel=1e-6)
        assert row["noise_over_step"] == pytest.approx(2 / rho, rel=1e-6)
        tried = [
            equivalent.final_risk(equations, Harmonic(rate * offset, offset), measure.CLIP, rho)
            for rate in np.geomspace(1, 50, 12)
            for offset in (0.01, 0.1, 1.0, 10.0)
        ]
        assert row["excess_risk"] <= min(tried) * 1.001
        assert row["excess_risk"] > min(tried) * 0.7
        assert row["half_test_error"] == pytest.approx(row["excess_risk"] + 0.125)
    assert small["regression"]["private_risk"].min() > 0


def test_noisyhead_s_tightest_row_is_what_the_rivals_page_has() -> None:
    """The last iterate by the bound (A.1) at its best penalty of a grid: the same closed form by another function."""
    model, budget = square_model(5, 4000, 0.0), ApproximateDP(1.0, 1e-5)
    told = penalties(model, 1.0, 4000, budget, measure.PENALTIES)
    least = select(told, method="NoisyHead, last iterate")["test_error"].min()
    own = measure.table((4000,), (1.0,), (1e-5,), (5, 1.0, 5.0, 0.0))
    best = select(own, choice=measure.BEST)
    assert pick(best, account=LAST, sensitivity=BOUND)["test_error"] == pytest.approx(least, rel=1e-6)
    assert best["test_error"].is_monotonic_decreasing


# what the claims rest on


def test_a_classical_step_ends_where_its_delta_is_spent() -> None:
    for row in measure.limits().itertuples():
        sigma = math.sqrt(2 * math.log(1.25 / row.delta)) / row.epsilon_limit
        assert dp_accounting.get_epsilon_gaussian(sigma, row.delta) == pytest.approx(row.epsilon_limit, rel=1e-5)


def test_shares_are_composed_as_dp_accounting_composes_them() -> None:
    row = pick(measure.composition((2.0,), 1e-3), T=2)
    sigma = dp_accounting.get_sigma_gaussian(1.0, 5e-4)
    together = dp_accounting.pld.privacy_loss_distribution.from_gaussian_mechanism(sigma).self_compose(2)
    assert row["delta_together"] == pytest.approx(together.get_delta_for_epsilon(2.0), rel=1e-2)


def test_dp_gd_s_iterates_spend_what_their_own_noise_hides(small: dict[str, pd.DataFrame]) -> None:
    row = pick(small["outputs"], schedule="square of 1 − t")
    rates = 3.0 * (1 - np.arange(1, 51) / 50) ** 2 / 50
    noise = np.sqrt(rates**2 - np.append(rates[1:], 0.0) ** 2)
    used = noise > 0
    assert row["every_mu"] == pytest.approx((rates[used] / noise[used]).max(), rel=1e-6)
    assert row["last_mu"] == pytest.approx(1.0, rel=1e-9)


# the judges

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "privacy/how-much-noise"
STEPS, TOGETHER = "noisyhead/appendix-a.2-steps", "noisyhead/appendix-a.2-composition"
INCLUDED = "noisyhead/section-3-inclusion"
OUTPUT, ORDER = "dpgd/section-4-last-iterate", "dpgd/section-2-constant-order"
ROUNDED = 1 + 5e-10  # 1 to rounding


def spent(to: Callable[[pd.DataFrame], Any], query: str = "") -> Callable[[Tables], Any]:
    return put("single-steps", "spent_over_asked", to, query)


CASES = [
    Case(STEPS, "spent to the last, to rounding", spent(lambda r: ROUNDED), HOLDS),
    Case(STEPS, "shares of two and more overspend", spent(lambda r: 1.1, "epsilon >= 2"), NARROWER),
    Case(TOGETHER, "one number of steps overspends", put("composition", "delta_together", lambda r: 2 * r["delta"],
         "T == 50"), FAILS),
    Case(INCLUDED, "by the formula too", put("inclusion", "left_out", lambda r: 1.5 * r["bound"]), FAILS),
    Case(INCLUDED, "as far as the bound, to rounding", put("inclusion", "left_out", lambda r: ROUNDED * r["bound"]),
         HOLDS),
    Case(OUTPUT, "every iterate is as private", put("outputs", "every_mu", lambda r: r["last_mu"]), FAILS),
    Case(OUTPUT, "the last spends more", put("outputs", "last_mu", lambda r: 2 * r["rho"]), FAILS),
    Case(OUTPUT, "half as much again, at another budget", filled("outputs", every_mu=3.0, last_mu=2.0, rho=2.0), HOLDS,
         says="1.5 times"),
    Case(ORDER, "one probability", lambda t: {"orders": t["orders"].head(2)}, UNTESTABLE),
]  # fmt: skip


test_found, test_cases, test_complete = trials(CHAPTER, CASES)
