import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from costofprivacy.noisyhead import pretraining

sizes = st.floats(-3, 3).map(lambda power: 10.0**power)


@given(sizes, sizes)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_no_angle_pushes_further_apart(A: float, B: float) -> None:
    def apart(angle: float) -> float:
        return 2 * (A * math.cos(angle) + B) * math.sin(angle)

    best = minimize_scalar(lambda s: -apart(s), bounds=(0, math.pi / 2), method="bounded", options={"xatol": 1e-12})
    found = pretraining.widest_angle(A, B)
    assert 0 <= found <= math.pi / 2
    assert apart(found) >= -best.fun * (1 - 1e-12)
    assert found == pytest.approx(best.x, abs=1e-5)


def test_the_push_is_that_of_two_prompts() -> None:
    """Γ along the first axis of weights, Z at ±s to it, y = −C: ⟨Γ, Z⟩Z − yZ at each, and how far they lie apart."""
    norm, C, G = 1.7, 1.2, 0.8
    A, B = pretraining.reach(norm, C, G)
    for angle in (0.2, 0.9, 1.5):
        Z = G * np.array([[math.cos(angle), sign * math.sin(angle)] for sign in (1, -1)])
        push = [(norm * z[0] + C) * z for z in Z]
        expected = 2 * (A * math.cos(angle) + B) * math.sin(angle)
        assert np.linalg.norm(push[0] - push[1]) == pytest.approx(expected, rel=1e-12)


def test_a_feature_bound_reaches_as_far_above_the_clipping_norm_as_below() -> None:
    assert pretraining.reach(1.5, 2.0, 9.0) == (1.5 * 81, 18.0)
    assert pretraining.reach(1.5, 2.0, 1.0) == (1.5, 2.0)
    assert pretraining.reach(1.5, 2.0, 0.5) == (0.375, 1.0)


def test_limits() -> None:
    assert pretraining.widest_angle(0.0, 3.0) == math.pi / 2
    assert pretraining.widest_angle(1e-12, 3.0) == pytest.approx(math.pi / 2)
    assert pretraining.widest_angle(3.0, 0.0) == pytest.approx(math.pi / 4)
