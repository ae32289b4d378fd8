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
from tests.privacy import numerics

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


@pytest.mark.parametrize("steps", [1, 7, 44, 500])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
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


@pytest.mark.parametrize(
    ("epsilon", "delta", "steps", "expected"),
    [(1.0, 4 * 1.25 * math.exp(-2), 4, 8.0), (0.5, 10 * 1.25 * math.exp(-8), 10, 80.0)],
)
def test_the_basic_multiplier_by_hand(epsilon: float, delta: float, steps: int, expected: float) -> None:
    assert basic_noise_multiplier(ApproximateDP(epsilon, delta), steps) == pytest.approx(expected, rel=1e-13)


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


@pytest.mark.parametrize("multiplier", [basic_noise_multiplier, exact_composed_noise_multiplier])
def test_more_steps_need_more_noise_and_no_privacy_none(multiplier: type) -> None:
    noise = [multiplier(BUDGET, steps) for steps in (1, 2, 10, 100)]
    assert noise == sorted(set(noise))
    assert multiplier(ApproximateDP(math.inf, 1e-5), 10) == 0


# the last iterate


def affine_worst_case(mu: float, c: float, steps: int) -> float:
    """Distance over deviation after ``steps`` of x ↦ cx and x ↦ cx + Δ from one start, s = Δ/μ, term by term."""
    with mpmath.workdps(40):
        distance = mpmath.fsum(mpmath.mpf(c) ** t for t in range(steps))
        variance = mpmath.fsum(mpmath.mpf(c) ** (2 * t) for t in range(steps))
        return float(mu * distance / mpmath.sqrt(variance))


@pytest.mark.parametrize("c", CONTRACTIONS)
@pytest.mark.parametrize("steps", STEPS)
def test_the_last_iterate_is_the_affine_worst_case(c: float, steps: int) -> None:
    assert last_iterate(GaussianDP(0.7), c, steps).mu == pytest.approx(affine_worst_case(0.7, c, steps), rel=1e-8)


@pytest.mark.parametrize(("c", "steps"), [(0.3, 2), (0.8, 5), (0.95, 40), (1.0, 6)])
def test_the_last_iterate_spends_what_two_runs_of_the_descent_differ_by(c: float, steps: int) -> None:
    shift, s = 0.5, 2.0
    here, there, variance = 0.0, 0.0, 0.0
    for _ in range(steps):
        here, there, variance = c * here, c * there + shift, c**2 * variance + s**2
    spent = numerics.hockey_stick(there - here, math.sqrt(variance), 0.1)
    assert last_iterate(GaussianDP(shift / s), c, steps).delta(0.1) == pytest.approx(spent, rel=1e-9)


@given(st.floats(0.01, 10), st.floats(0, 1), st.integers(1, 500))
@law
def test_the_last_iterate_is_between_one_step_and_all(mu: float, c: float, steps: int) -> None:
    spent = last_iterate(GaussianDP(mu), c, steps).mu
    assert mu * (1 - 1e-9) <= spent <= every_iterate(GaussianDP(mu), steps).mu * (1 + 1e-9)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 200), st.integers(1, 200))
@law
def test_the_last_iterate_grows_with_steps_and_contraction(c: float, d: float, steps: int, more: int) -> None:
    step = GaussianDP(1.0)
    low, high = sorted((c, d))
    assert last_iterate(step, low, steps).mu <= last_iterate(step, high, steps).mu * (1 + 1e-9)
    assert last_iterate(step, c, steps).mu <= last_iterate(step, c, steps + more).mu * (1 + 1e-9)


@pytest.mark.parametrize("steps", STEPS)
def test_limits_of_the_contraction(steps: int) -> None:
    step = GaussianDP(0.4)
    assert last_iterate(step, 0.0, steps).mu == pytest.approx(0.4)
    assert last_iterate(step, 1e-9, steps).mu == pytest.approx(0.4, rel=1e-8)
    assert last_iterate(step, 1.0, steps) == every_iterate(step, steps)
    assert last_iterate(step, 1 - 1e-9, steps).mu == pytest.approx(0.4 * math.sqrt(steps), rel=1e-5)


@pytest.mark.parametrize("c", [0.0, 0.2, 0.9, 0.99])
def test_limits_of_the_steps(c: float) -> None:
    step = GaussianDP(0.4)
    assert last_iterate(step, c, 1).mu == pytest.approx(0.4, rel=1e-12)
    assert last_iterate(step, c, 10**7).mu == pytest.approx(0.4 * math.sqrt((1 + c) / (1 - c)), rel=1e-12)


@pytest.mark.parametrize("c", [0.0, 0.5, 1.0])
def test_iterates_without_noise_hide_nothing(c: float) -> None:
    assert every_iterate(GaussianDP(math.inf), 3) == GaussianDP(math.inf)
    assert last_iterate(GaussianDP(math.inf), c, 3) == GaussianDP(math.inf)


def schedule(c: float, steps: int, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """The a_1, …, a_T of the proof of `last_iterate` and its z_0, …, z_T, term by term."""
    powers = c ** np.arange(steps, dtype=float)
    a = shift * powers[::-1] * powers.sum() / (powers**2).sum()
    z = [0.0]
    for a_t in a:
        z.append(c * z[-1] + shift - a_t)
    return a, np.array(z)


@pytest.mark.parametrize("c", [0.0, 0.1, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 3, 10, 200])
def test_the_schedule_of_the_proof_is_admissible_and_gives_the_formula(c: float, steps: int) -> None:
    """z_t ≥ 0 throughout and 0 at the end, a_t within what l_t ≤ 1 allows, Σ c^{T−t}a_t = Σ c^{T−t}Δ, μ = √Σ a_t²/s."""
    a, z = schedule(c, steps)
    weight = c ** np.arange(steps, dtype=float)[::-1]
    assert z.min() >= -1e-12 * steps
    assert abs(z[-1]) < 1e-12 * steps
    assert (a <= c * z[:-1] + 1 + 1e-12 * steps).all()
    assert (weight * a).sum() == pytest.approx(weight.sum())
    assert last_iterate(GaussianDP(0.7), c, steps).mu == pytest.approx(0.7 * np.sqrt((a**2).sum()), rel=1e-9)


@given(st.floats(0, 1), st.integers(2, 12), st.integers(0, 2**32 - 1))
@law
def test_no_other_schedule_is_better(c: float, steps: int, seed: int) -> None:
    """Random l_t in [0, 1] with l_T = 1, as in the proof."""
    rng, z, total = np.random.default_rng(seed), 0.0, 0.0
    for share in (*rng.random(steps - 1), 1.0):
        a = share * (c * z + 1)
        z, total = c * z + 1 - a, total + a**2
    assert math.sqrt(total) >= last_iterate(GaussianDP(1.0), c, steps).mu * (1 - 1e-9)


@pytest.mark.parametrize("c", CONTRACTIONS)
@pytest.mark.parametrize("steps", [1, 2, 44, 1000])
@pytest.mark.parametrize("epsilon", [0.2, 6.0])
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


@pytest.mark.parametrize("steps", BAD_STEPS)
@pytest.mark.parametrize(
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
