import math

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    classical_noise_multiplier,
    every_iterate,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate,
    last_iterate_noise_multiplier,
)
from tests.costofprivacy.privacy import numerics
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=40)
BUDGET = ApproximateDP(1.0, 1e-5)
CONTRACTIONS = (0.0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-5, 1 - 1e-7, 1.0)
STEPS = (1, 2, 3, 10, 1000)
BAD_STEPS = (0, -1, 2.5, math.nan, "3", None)


# exact composition


@pytest.mark.parametrize(("multiplier", "steps"), [(2.0, 2), (10.0, 44), (20.0, 300)])
def test_all_iterates_lie_between_the_two_estimates_of_numerical_composition(multiplier: float, steps: int) -> None:
    def epsilon(pessimistic: bool) -> float:
        pld = dp_accounting.pld.privacy_loss_distribution
        one = pld.from_gaussian_mechanism(multiplier, pessimistic_estimate=pessimistic, use_connect_dots=pessimistic)
        return one.self_compose(steps).get_epsilon_for_delta(1e-5)

    exact = every_iterate(GaussianDP(1 / multiplier), steps).epsilon(1e-5)
    assert epsilon(False) - 1e-6 <= exact <= epsilon(True) + 1e-6
    assert epsilon(True) - epsilon(False) < 0.02 * exact


@pytest.mark.parametrize(("multiplier", "steps"), [(1.0, 3), (5.0, 44), (30.0, 1000)])
def test_all_iterates_have_the_renyi_divergence_of_the_sum(multiplier: float, steps: int) -> None:
    spent = every_iterate(GaussianDP(1 / multiplier), steps)
    assert numerics.renyi(spent.mu, 1.0, 3.0) == pytest.approx(steps * numerics.renyi(1.0, multiplier, 3.0), rel=1e-12)
    accountant = dp_accounting.rdp.RdpAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(multiplier), steps)
    assert spent.epsilon(1e-5) <= accountant.get_epsilon(1e-5)
    assert spent.to_zero_concentrated().epsilon_best(1e-5) == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-9)


@each("steps", [1, 7, 44, 500])
@each("epsilon", [0.2, 1.0, 6.0])
def test_the_exact_composed_multiplier_spends_the_budget(epsilon: float, steps: int) -> None:
    multiplier = exact_composed_noise_multiplier(ApproximateDP(epsilon, 1e-5), steps)
    assert every_iterate(GaussianDP(1 / multiplier), steps).epsilon(1e-5) == pytest.approx(epsilon, rel=1e-9)
    assert numerics.hockey_stick(math.sqrt(steps), multiplier, epsilon) == pytest.approx(1e-5, rel=1e-6)


def test_the_exact_composed_multiplier_is_that_of_dp_accountings_search() -> None:
    steps = 4
    found = dp_accounting.calibrate_dp_mechanism(
        dp_accounting.pld.PLDAccountant,
        lambda s: dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(s), steps),
        target_epsilon=1.0,
        target_delta=1e-5,
        bracket_interval=dp_accounting.LowerEndpointAndGuess(1.0, 4.0 * math.sqrt(steps)),
        tol=1e-3,
    )
    assert exact_composed_noise_multiplier(BUDGET, steps) == pytest.approx(found, rel=1e-2)


def test_one_step_is_the_mechanism_itself() -> None:
    assert exact_composed_noise_multiplier(BUDGET, 1) == exact_noise_multiplier(BUDGET)
    assert basic_noise_multiplier(BUDGET, 1) == classical_noise_multiplier(BUDGET)
    assert every_iterate(GaussianDP(0.3), 1) == GaussianDP(0.3)


# basic composition


@given(st.floats(0.01, 20), st.floats(1e-12, 0.5), st.integers(1, 10_000))
@law
def test_the_basic_multiplier_is_the_paper_s(epsilon: float, delta: float, steps: int) -> None:
    expected = math.sqrt(2 * (math.log(1.25) + math.log(steps) - math.log(delta))) * steps / epsilon
    assert basic_noise_multiplier(ApproximateDP(epsilon, delta), steps) == pytest.approx(expected, rel=1e-12)


@given(st.floats(0, 1), st.floats(1e-10, 0.5), st.integers(1, 1000))
@law
def test_the_basic_multiplier_is_private_up_to_epsilon_t(share: float, delta: float, steps: int) -> None:
    budget = ApproximateDP(max(share * steps, 1e-3), delta)
    spent = every_iterate(GaussianDP(1 / basic_noise_multiplier(budget, steps)), steps)
    assert float(spent.delta(budget.epsilon)) <= delta
    assert basic_noise_multiplier(budget, steps) >= exact_composed_noise_multiplier(budget, steps)


# the last iterate


def affine_worst_case(mu: float, c: float, steps: int) -> float:
    """Distance over deviation after ``steps`` of x ↦ cx and x ↦ cx + Δ from one start, s = Δ/μ, term by term."""
    with mpmath.workdps(40):
        distance = mpmath.fsum(mpmath.mpf(c) ** t for t in range(steps))
        variance = mpmath.fsum(mpmath.mpf(c) ** (2 * t) for t in range(steps))
        return float(mu * distance / mpmath.sqrt(variance))


@each("c", CONTRACTIONS)
@each("steps", STEPS)
def test_the_last_iterate_is_the_affine_worst_case(c: float, steps: int) -> None:
    assert last_iterate(GaussianDP(0.7), c, steps).mu == pytest.approx(affine_worst_case(0.7, c, steps), rel=1e-8)


@pytest.mark.parametrize("c", [0.0, 0.5, 1.0])
def test_iterates_without_noise_hide_nothing(c: float) -> None:
    assert every_iterate(GaussianDP(math.inf), 3) == GaussianDP(math.inf)
    assert last_iterate(GaussianDP(math.inf), c, 3) == GaussianDP(math.inf)


@each("c", CONTRACTIONS)
@each("steps", [1, 2, 44, 1000])
@each("epsilon", [0.2, 6.0])
def test_the_last_iterate_s_multiplier_spends_the_budget(c: float, steps: int, epsilon: float) -> None:
    multiplier = last_iterate_noise_multiplier(ApproximateDP(epsilon, 1e-5), c, steps)
    assert last_iterate(GaussianDP(1 / multiplier), c, steps).epsilon(1e-5) == pytest.approx(epsilon, rel=1e-9)
    distance = affine_worst_case(1.0, c, steps)
    assert numerics.hockey_stick(distance, multiplier, epsilon) == pytest.approx(1e-5, rel=1e-6)


def test_limits_of_the_last_iterate_s_multiplier() -> None:
    assert last_iterate_noise_multiplier(BUDGET, 0.0, 44) == exact_noise_multiplier(BUDGET)
    assert last_iterate_noise_multiplier(BUDGET, 1.0, 44) == exact_composed_noise_multiplier(BUDGET, 44)
    for c in CONTRACTIONS:
        assert last_iterate_noise_multiplier(BUDGET, c, 1) == pytest.approx(exact_noise_multiplier(BUDGET), rel=1e-9)
        assert last_iterate_noise_multiplier(ApproximateDP(math.inf, 1e-5), c, 44) == 0
    near = last_iterate_noise_multiplier(BUDGET, 1e-9, 44)
    assert near == pytest.approx(exact_noise_multiplier(BUDGET), rel=1e-8)


# refusals


@each("steps", BAD_STEPS)
@each(
    "use",
    [
        lambda steps: basic_noise_multiplier(BUDGET, steps),
        lambda steps: exact_composed_noise_multiplier(BUDGET, steps),
        lambda steps: every_iterate(GaussianDP(1.0), steps),
        lambda steps: last_iterate(GaussianDP(1.0), 0.5, steps),
        lambda steps: last_iterate_noise_multiplier(BUDGET, 0.5, steps),
    ],
)
def test_an_inadmissible_number_of_steps_is_refused(use: type, steps: object) -> None:
    with pytest.raises(ValueError, match=f"^steps must be a whole number of at least 1, got {steps!r}$"):
        use(steps)


@pytest.mark.parametrize("c", [-1e-9, 1.001, math.inf, math.nan, "0.5", None])
def test_an_inadmissible_contraction_is_refused(c: object) -> None:
    with pytest.raises(ValueError, match=rf"^contraction must be between 0 and 1, got {c!r}$"):
        last_iterate(GaussianDP(1.0), c, 3)
    with pytest.raises(ValueError, match=rf"^contraction must be between 0 and 1, got {c!r}$"):
        last_iterate_noise_multiplier(BUDGET, c, 3)


def test_whole_numbers_come_in_any_type() -> None:
    assert every_iterate(GaussianDP(1.0), np.int64(4)) == every_iterate(GaussianDP(1.0), 4.0) == GaussianDP(2.0)
