import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    classical_noise_multiplier,
    exact_noise_multiplier,
)
from costofprivacy.privacy.mechanisms import gaussian_std
from tests.costofprivacy.privacy import numerics
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=40)
LEVEL = 1e-6  # of the two-sided tests below


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


@each("epsilon", [1e-3, 0.05, 0.3, 0.7, 1.0])
@each("delta", [1e-15, 1e-9, 1e-5, 1e-2, 0.3, 0.99])
def test_the_classical_multiplier_is_private_up_to_epsilon_one(epsilon: float, delta: float) -> None:
    multiplier = classical_noise_multiplier(ApproximateDP(epsilon, delta))
    assert GaussianMechanism(1.0, multiplier).guarantee.delta(epsilon) <= delta
    if delta > 1e-10:
        assert numerics.hockey_stick(1.0, multiplier, epsilon) <= delta


@pytest.mark.parametrize("delta", [1e-5, 1e-3, 1e-2])
def test_the_classical_multiplier_breaks_at_epsilon_ten(delta: float) -> None:
    multiplier = classical_noise_multiplier(ApproximateDP(10.0, delta))
    assert numerics.hockey_stick(1.0, multiplier, 10.0) > 1.5 * delta
    assert multiplier < exact_noise_multiplier(ApproximateDP(10.0, delta))


@each("epsilon", [0.1, 1.0, 10.0])
@each("delta", [1e-9, 1e-5, 0.1])
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


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32", "bool", "object"])
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


def test_a_generator_fixes_the_release() -> None:
    one, two = (GaussianMechanism(1.0, 2.0).release(np.zeros(4), rng=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_a_release_adds_the_generator_s_normals() -> None:
    """Not the law alone, the bits: a table is computed anew from its seed."""
    value, normals = np.array([[1.0, -2.0], [0.0, 9.0]]), np.random.default_rng(3).standard_normal((2, 2))
    released = GaussianMechanism(0.5, 3.0).release(value, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(released, value + 1.5 * normals)


def noise(mechanism: GaussianMechanism) -> np.ndarray:
    value = np.linspace(-50, 50, 20_000).reshape(100, 200)
    return (mechanism.release(value, rng=np.random.default_rng(2024)) - value).ravel()


def has_scale(sample: np.ndarray, std: float) -> bool:
    """Chi-square test of Σ (z/std)², two-sided."""
    low, high = chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], len(sample))
    return bool(low < ((sample / std) ** 2).sum() < high)


@pytest.mark.parametrize(("sensitivity", "multiplier"), [(1.0, 1.0), (0.2, 30.0), (7.0, 0.4)])
def test_the_noise_has_its_scale_and_no_other(sensitivity: float, multiplier: float) -> None:
    sample = noise(GaussianMechanism(sensitivity, multiplier))
    std = sensitivity * multiplier
    assert has_scale(sample, std)
    assert not has_scale(sample, 1.1 * std)
    assert not has_scale(sample, 0.9 * std)


def test_the_noise_is_normal_centred_and_independent() -> None:
    sample = noise(GaussianMechanism(3.0, 0.5)) / 1.5
    assert kstest(sample, "norm").pvalue > LEVEL
    assert kstest(1.1 * sample, "norm").pvalue < LEVEL
    assert abs(sample.mean()) * math.sqrt(len(sample)) < 5
    assert abs((sample[1:] * sample[:-1]).mean()) * math.sqrt(len(sample)) < 5


# refusals


@pytest.mark.parametrize("value", [0.0, -2.0, math.inf, math.nan, "1", None])
def test_an_inadmissible_sensitivity_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=f"^sensitivity must be positive and finite, got {value!r}$"):
        GaussianMechanism(value, 1.0)


@pytest.mark.parametrize("value", [0.0, -1e-9, -2.0, math.inf, math.nan, "1", None])
def test_an_inadmissible_multiplier_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=f"^noise_multiplier must be positive and finite, got {value!r}$"):
        GaussianMechanism(1.0, value)
