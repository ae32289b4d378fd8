"""The Gaussian mechanism, its composition, its iteration, and what its last bits tell."""

import math
from fractions import Fraction

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    amplification_by_iteration,
    basic_noise_multiplier,
    classical_noise_multiplier,
    every_iterate,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate,
    last_iterate_noise_multiplier,
    spent_by_record,
)
from costofprivacy.privacy.low_bits import MOST_VARIANCE, could_have_come_from, discrete_gaussian
from costofprivacy.privacy.mechanisms import gaussian_std
from tests.costofprivacy.privacy import numerics
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=20)


# calibration


@pytest.mark.parametrize(
    ("epsilon", "delta", "expected"),
    [
        (1.0, 1.25 * math.exp(-2), 2.0),
        (0.5, 1.25 * math.exp(-2), 4.0),
        (1.0, 1.25 * math.exp(-8), 4.0),
        (0.2, 1.25 * math.exp(-18), 30.0),
    ],
)
def test_the_classical_multiplier_by_hand(epsilon: float, delta: float, expected: float) -> None:
    assert classical_noise_multiplier(ApproximateDP(epsilon, delta)) == pytest.approx(expected, rel=1e-14)


@each("epsilon", [1e-3, 0.3, 1.0])
@each("delta", [1e-15, 1e-5, 0.3, 0.99])
def test_the_classical_multiplier_is_private_up_to_epsilon_one_and_not_at_ten(epsilon: float, delta: float) -> None:
    multiplier = classical_noise_multiplier(ApproximateDP(epsilon, delta))
    assert GaussianMechanism(1.0, multiplier).guarantee.delta(epsilon) <= delta
    large = ApproximateDP(10.0, 1e-5)
    assert numerics.hockey_stick(1.0, classical_noise_multiplier(large), 10.0) > 1.5e-5


@each(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-5), (10.0, 0.1)])
def test_the_exact_multiplier_is_the_smallest_private_one(epsilon: float, delta: float) -> None:
    multiplier = exact_noise_multiplier(ApproximateDP(epsilon, delta))
    assert multiplier == pytest.approx(numerics.balle_wang_std(epsilon, delta), rel=1e-6)
    assert numerics.hockey_stick(1.0, 1.001 * multiplier, epsilon) < delta
    assert numerics.hockey_stick(1.0, 0.999 * multiplier, epsilon) > delta


@pytest.mark.parametrize("multiplier", [classical_noise_multiplier, exact_noise_multiplier])
def test_no_privacy_needs_no_noise(multiplier: type) -> None:
    assert multiplier(ApproximateDP(math.inf, 1e-5)) == 0


# the mechanism


@pytest.mark.parametrize(("sensitivity", "multiplier"), [(1.0, 2.0), (0.25, 3.0), (40.0, 0.1)])
def test_what_a_release_spends(sensitivity: float, multiplier: float) -> None:
    mechanism = GaussianMechanism(sensitivity, multiplier)
    assert mechanism.noise_std == sensitivity * multiplier
    assert mechanism.guarantee.mu == pytest.approx(sensitivity / mechanism.noise_std, rel=1e-15)
    spent = numerics.hockey_stick(mean=sensitivity, std=mechanism.noise_std, epsilon=0.7)
    assert mechanism.guarantee.delta(0.7) == pytest.approx(spent, rel=1e-10)


@pytest.mark.parametrize(("sensitivity", "multiplier"), [(1e200, 1e200), (1e-200, 1e-200), (1.0, 1e-301)])
def test_a_noise_that_doubles_do_not_hold_is_refused(sensitivity: float, multiplier: float) -> None:
    with pytest.raises(ValueError, match="sensitivity · noise_multiplier must be between 1e-300 and 1e"):
        GaussianMechanism(sensitivity, multiplier)


@given(st.floats(min_value=5e-324), st.floats(min_value=5e-324))
@example(1e-200, 1e150)
@example(1e170, 1e-170)
@example(2.0, math.inf)
@law
def test_an_accepted_noise_is_positive_finite_and_as_wide_as_it_must_be(sensitivity: float, mu: float) -> None:
    """Against rational numbers."""
    try:
        std = gaussian_std(sensitivity, GaussianDP(mu))
    except ValueError as refusal:
        assert "must be" in str(refusal)  # noqa: PT017
        assert math.isinf(sensitivity) or math.isinf(mu) or not 1e-299 < Fraction(sensitivity) / Fraction(mu) < 1e299
    else:
        assert 0 < std < math.inf
        assert Fraction(std) * Fraction(mu) >= Fraction(sensitivity) * (1 - Fraction(1, 10**15))


@pytest.mark.parametrize("dtype", ["int8", "float16", "bool", "object"])
def test_a_value_of_any_type_is_released_as_doubles(dtype: str) -> None:
    value = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
    released, expected = (
        GaussianMechanism(0.5, 3.0).release(v, rng=np.random.default_rng(3)) for v in (value, value.astype(float))
    )
    assert released.dtype == np.float64
    np.testing.assert_array_equal(released, expected)


def test_a_value_of_text_is_refused_without_being_quoted() -> None:
    with pytest.raises(ValueError, match=r"^value must be an array of real numbers, got one of type") as refusal:
        GaussianMechanism(1.0, 1.0).release(np.array(["SSN 1"]), rng=np.random.default_rng(0))
    assert "SSN" not in str(refusal.value)


def test_a_release_adds_the_generator_s_normals() -> None:
    """Not the law alone, the bits: a table is computed anew from its seed."""
    value, normals = np.array([[1.0, -2.0], [0.0, 9.0]]), np.random.default_rng(3).standard_normal((2, 2))
    released = GaussianMechanism(0.5, 3.0).release(value, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(released, value + 1.5 * normals)


# refusals


@pytest.mark.parametrize("value", [0.0, math.nan, "1", None])
def test_an_inadmissible_sensitivity_or_multiplier_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=f"^sensitivity must be positive and finite, got {value!r}$"):
        GaussianMechanism(value, 1.0)
    with pytest.raises(ValueError, match=f"^noise_multiplier must be positive and finite, got {value!r}$"):
        GaussianMechanism(1.0, value)


# ---- Composition ----

BUDGET = ApproximateDP(1.0, 1e-5)
CONTRACTIONS = (0.0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-5, 1 - 1e-7, 1.0)
STEPS = (1, 3, 1000)
BAD_STEPS = (0, 2.5, math.nan, "3")


# exact composition


@pytest.mark.parametrize(("multiplier", "steps"), [(5.0, 44), (30.0, 1000)])
def test_all_iterates_have_the_renyi_divergence_of_the_sum(multiplier: float, steps: int) -> None:
    spent = every_iterate(GaussianDP(1 / multiplier), steps)
    assert numerics.renyi(spent.mu, 1.0, 3.0) == pytest.approx(steps * numerics.renyi(1.0, multiplier, 3.0), rel=1e-12)
    accountant = dp_accounting.rdp.RdpAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(multiplier), steps)
    assert spent.epsilon(1e-5) <= accountant.get_epsilon(1e-5)
    assert spent.to_zero_concentrated().epsilon_best(1e-5) == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-9)


@each(("epsilon", "steps"), [(1.0, 1), (0.2, 44), (6.0, 500)])
def test_the_exact_composed_multiplier_spends_the_budget(epsilon: float, steps: int) -> None:
    multiplier = exact_composed_noise_multiplier(ApproximateDP(epsilon, 1e-5), steps)
    assert every_iterate(GaussianDP(1 / multiplier), steps).epsilon(1e-5) == pytest.approx(epsilon, rel=1e-9)
    assert numerics.hockey_stick(math.sqrt(steps), multiplier, epsilon) == pytest.approx(1e-5, rel=1e-6)


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


@each(("c", "steps", "epsilon"), [(0.1, 2, 6.0), (0.9, 44, 0.2), (1 - 1e-5, 1000, 6.0), (1.0, 1000, 0.2)])
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


@pytest.mark.parametrize("c", [-1e-9, 1.001, math.nan])
def test_an_inadmissible_contraction_is_refused(c: object) -> None:
    with pytest.raises(ValueError, match=rf"^contraction must be between 0 and 1, got {c!r}$"):
        last_iterate(GaussianDP(1.0), c, 3)
    with pytest.raises(ValueError, match=rf"^contraction must be between 0 and 1, got {c!r}$"):
        last_iterate_noise_multiplier(BUDGET, c, 3)


# ---- Amplification ----

SENSITIVITIES = np.array([1.0, 0.8, 0.5, 0.4])
NOISES = np.array([0.3, 0.0, 0.7, 1.1])


def test_each_record_is_hidden_by_the_noise_from_its_step_on() -> None:
    expected = [s / math.sqrt(sum(v**2 for v in NOISES[k:])) for k, s in enumerate(SENSITIVITIES)]
    np.testing.assert_allclose(spent_by_record(SENSITIVITIES, NOISES), expected, rtol=1e-14)
    assert amplification_by_iteration(SENSITIVITIES, NOISES).mu == pytest.approx(max(expected))
    assert amplification_by_iteration(np.array([2.0]), np.array([5.0])) == GaussianDP(0.4)


def test_the_bound_is_attained_when_later_steps_stand_still() -> None:
    """Record 1 moves by Δ, nothing else does: the outputs are N(Δ, S) and N(0, S), with S all the noise."""
    spent = amplification_by_iteration(np.array([0.9, 0.0, 0.0]), np.array([0.5, 0.4, 0.3]))
    total = math.sqrt(0.5**2 + 0.4**2 + 0.3**2)
    for epsilon in (0.1, 1.0, 3.0):
        exact = numerics.hockey_stick(0.9, total, epsilon)
        assert float(spent.delta(epsilon)) == pytest.approx(exact, rel=1e-9)
    for alpha in (1.5, 2.0, 8.0):
        assert numerics.renyi(0.9, total, alpha) == pytest.approx(alpha * spent.mu**2 / 2, rel=1e-9)


def divergence(before: np.ndarray, after: np.ndarray, epsilon: float, cell: float) -> float:
    return float(np.maximum(before - math.exp(epsilon) * after, 0).sum() * cell)


@each(("clip", "y"), [(0.2, -3.0), (0.5, 0.0), (1.0, 0.4)])
def test_no_pair_of_clipped_chains_exceeds_the_gaussian_profile(clip: float, y: float) -> None:
    """d = 1, densities propagated on a grid through clipped steps (nonexpansive, not affine), record 2 replaced."""
    grid = np.linspace(-5, 5, 801)
    cell = grid[1] - grid[0]
    stds, rate = np.array([0.03, 0.25, 0.15, 0.3]), 1.5

    def kernel(target: float, std: float) -> np.ndarray:
        mean = grid - rate * np.clip(grid - target, -clip, clip)
        return np.exp(-((grid[:, None] - mean[None, :]) ** 2) / (2 * std**2)) / (math.sqrt(2 * math.pi) * std)

    def output(targets: list[float]) -> np.ndarray:
        density = np.exp(-(grid**2) / (2 * stds[0] ** 2)) / (math.sqrt(2 * math.pi) * stds[0])
        for target, std in zip(targets, stds[1:]):
            density = kernel(target, std) @ density * cell
        return density

    one, two = output([50.0, y, y]), output([-50.0, y, y])
    moved = np.array([0.0, 2 * rate * clip, 0.0, 0.0])
    spent = amplification_by_iteration(moved, stds)
    assert one.sum() * cell == pytest.approx(1, abs=1e-6)  # no mass leaves the grid
    for epsilon in (0.0, 0.5, 2.0, 6.0):
        assert divergence(one, two, epsilon, cell) <= float(spent.delta(epsilon)) * (1 + 1e-4) + 1e-9
    if y == -3.0 and clip == 0.2:  # all steps clipped: translations, and the bound is attained
        assert divergence(one, two, 0.5, cell) >= 0.95 * float(spent.delta(0.5))


@pytest.mark.parametrize("bad", [np.array([-1.0]), np.array([math.nan]), np.array([math.inf]), np.zeros(0)])
def test_bad_arguments(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"^sensitivities must be finite and non-negative, at least one, got"):
        spent_by_record(bad, np.ones(1))
    with pytest.raises(ValueError, match=r"^noise_stds must be finite and non-negative, at least one, got"):
        spent_by_record(np.ones(1), bad)
    first = bad[0] if bad.size else "none"
    with pytest.raises(ValueError, match=rf"at least one, got {first}$"):
        spent_by_record(np.append(np.ones(1200), bad) if bad.size else bad, np.ones(1201))
    with pytest.raises(ValueError, match=r"^noise_stds must have 2 steps like sensitivities, got 3"):
        spent_by_record(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match=r"^mu must be positive"):
        amplification_by_iteration(np.zeros(2), np.ones(2))


# ---- Low bits ----


@each("ratio", [1e-6, 0.3, 7.0, 1e9])
@each("std", [1.0, 0.731, 1.999999, 1e-7])
def test_the_true_value_is_never_ruled_out(ratio: float, std: float) -> None:
    rng = np.random.default_rng(0)
    value = ratio * std * rng.standard_normal(5000)
    released = value + std * rng.standard_normal(5000)
    assert could_have_come_from(released, value, std).all()


def test_whatever_double_was_drawn_the_true_value_passes() -> None:
    """Not normals only: any z, with mantissas at both ends of a binade, and sums that cancel."""
    rng = np.random.default_rng(1)
    z = np.ldexp(1 + rng.choice([0.0, 2.0**-52, 0.5, 1 - 2.0**-52], 4000), rng.integers(-8, 8, 4000))
    for std in (1.0000000001, 1.5, 1.9999999999):
        value = -std * z * (1 + rng.choice([0.0, 1e-16, 1e-9, 0.3], 4000))
        assert could_have_come_from(value + std * z, value, std).all()


def test_a_wrong_value_is_ruled_out_about_as_often_as_doubles_are_missed() -> None:
    """In [1.5, 2), s = 1.5 reaches two of three doubles; the first ones in exact numbers."""
    std, rng = 1.5, np.random.default_rng(2)
    released = 1.5 + np.ldexp(rng.integers(0, 2**51, 3000).astype(float), -52)
    possible = could_have_come_from(released, 0.0, std)
    assert possible.mean() == pytest.approx(2 / 3, abs=0.05)
    for y, said in zip(released[:300].tolist(), possible[:300], strict=True):
        near = [math.nextafter(y / std, math.copysign(math.inf, k)) for k in (-1, 1)] + [y / std]
        assert said == any(float(Fraction(std) * Fraction(z)) == y for z in near)
    assert could_have_come_from(rng.standard_normal(3000), 0.0, 0.5).all()  # a power of two reaches every double


def shares(variance: float, reach: int) -> np.ndarray:
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return weights / weights.sum()


@pytest.mark.parametrize("variance", [1, 9])
def test_the_sampler_has_its_law_and_no_other(variance: int) -> None:
    reach = 3 * math.isqrt(variance)
    drawn = np.clip(discrete_gaussian(variance, 8000, rng=np.random.default_rng(variance)), -reach, reach)
    counts = np.bincount(drawn + reach, minlength=2 * reach + 1)

    def fits(supposed: float) -> float:
        wide = shares(supposed, 4 * reach)
        cut = wide[3 * reach : -3 * reach].copy()
        cut[[0, -1]] += [wide[: 3 * reach].sum(), wide[-3 * reach :].sum()]
        return float(chisquare(counts, 8000 * cut / cut.sum()).pvalue)

    assert fits(variance) > 1e-3
    assert fits(1.2 * variance) < 1e-6
    assert fits(variance / 1.2) < 1e-6


@pytest.mark.parametrize("variance", [0, 1.5, MOST_VARIANCE + 1])
def test_bad_variances_are_named(variance: float) -> None:
    with pytest.raises(ValueError, match="sigma_squared must be"):
        discrete_gaussian(variance, 1, rng=np.random.default_rng(0))  # type: ignore[arg-type]
