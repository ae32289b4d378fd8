"""Arguments at the edge of what is admissible, each once answered wrongly."""

import math

import pytest

from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    PrivacyProfile,
    ZeroConcentratedDP,
    every_iterate,
    exact_composed_noise_multiplier,
    last_iterate,
)
from tests.each import each


@pytest.mark.parametrize("epsilon", [-1.0, math.nan])
def test_no_delta_belongs_to_what_is_no_epsilon(epsilon: float) -> None:
    with pytest.raises(ValueError, match="must"):
        GaussianDP(1.0).delta(epsilon)


def test_limits_of_delta() -> None:
    assert GaussianDP(1.0).delta(math.inf) == 0
    assert GaussianDP(1e-160).delta(1.0) == 0


@each(("epsilon", "T"), [(0.1, 1000), (3.0, 1)])
def test_noise_calibrated_to_a_claim_honours_it(epsilon: float, T: int) -> None:
    budget = ApproximateDP(epsilon, 1e-5)
    step = GaussianDP(1 / exact_composed_noise_multiplier(budget, T))
    assert PrivacyProfile(budget, every_iterate(step, T), step).honours_claim()


def test_a_claim_of_no_privacy_is_honoured() -> None:
    assert PrivacyProfile(ApproximateDP(math.inf, 1e-5), GaussianDP(1.0), GaussianDP(1.0)).honours_claim()


def test_rho_of_a_tiny_budget() -> None:
    log_term = -math.log(1e-5)
    for epsilon in (1e-12, 1e-20):
        rho = ApproximateDP(epsilon, 1e-5).to_zero_concentrated().rho
        assert rho == pytest.approx(epsilon**2 / (4 * log_term), rel=1e-9, abs=0)


@pytest.mark.parametrize("rho", [1e-9, 1e4])
def test_the_best_epsilon_is_never_the_worse_one(rho: float) -> None:
    assert ZeroConcentratedDP(rho).epsilon_best(1e-5) <= ZeroConcentratedDP(rho).epsilon(1e-5)


def test_a_tiny_budget_survives_the_way_to_mu_and_back_in_silence() -> None:
    assert ApproximateDP(1e-4, 1e-6).to_gaussian().epsilon(1e-6) == pytest.approx(1e-4, rel=1e-3)


def test_the_last_iterate_just_below_no_contraction() -> None:
    assert last_iterate(GaussianDP(1.0), 1 - 1e-14, 1000).mu == pytest.approx(math.sqrt(1000), rel=1e-10)
