import math

import numpy as np
import pytest
from scipy.stats import norm

from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.privacy.subsampled import Neighbours, poisson_epsilon, poisson_noise_multiplier

ADD, REPLACE = Neighbours.ADD_OR_REMOVE, Neighbours.REPLACE


def one_step_delta(epsilon: float, z: float, q: float, neighbours: Neighbours) -> float:
    """δ(ε) of one step by quadrature, the worse of the two orders."""
    x = np.linspace(-10 * z, 10 * z, 20001)

    def mixture(at: float) -> np.ndarray:
        return (1 - q) * norm.pdf(x, 0, z) + q * norm.pdf(x, at, z)

    other = 0.0 if neighbours is ADD else -1.0
    gaps = (mixture(a) - math.exp(epsilon) * mixture(b) for a, b in [(1.0, other), (other, 1.0)])
    return max(float(np.trapezoid(np.maximum(gap, 0.0), x)) for gap in gaps)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(("z", "q"), [(1.0, 0.3)])
def test_one_step_is_the_quadrature_of_its_mixtures(z: float, q: float, neighbours: Neighbours) -> None:
    delta = 1e-3
    epsilon = poisson_epsilon(z, q, 1, delta, neighbours)
    assert one_step_delta(epsilon, z, q, neighbours) <= delta * (1 + 1e-6)
    assert one_step_delta(epsilon - 3e-3, z, q, neighbours) > delta


@pytest.mark.parametrize("neighbours", Neighbours)
def test_all_records_in_each_step_are_composed_gaussians(neighbours: Neighbours) -> None:
    budget = ApproximateDP(0.7, 1e-5)
    z = poisson_noise_multiplier(budget, 1.0, 44, neighbours)
    assert GaussianDP(neighbours.reach * math.sqrt(44) / z).epsilon(1e-5) == pytest.approx(0.7)
    nearly = poisson_epsilon(z, 1 - 1e-9, 44, 1e-5, neighbours)  # by the convolution instead of the closed form
    assert nearly == pytest.approx(poisson_epsilon(z, 1.0, 44, 1e-5, neighbours), rel=2e-3)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize(("epsilon", "q", "steps"), [(0.2, 0.256, 44), (1.0, 0.064, 39), (4.0, 0.5, 10)])
def test_calibration_is_the_inverse(epsilon: float, q: float, steps: int, neighbours: Neighbours) -> None:
    z = poisson_noise_multiplier(ApproximateDP(epsilon, 1e-5), q, steps, neighbours)
    assert poisson_epsilon(z, q, steps, 1e-5, neighbours) == pytest.approx(epsilon, rel=1e-3)


def test_many_small_steps_are_nearly_gaussian() -> None:
    """The central limit of subsampled Gaussians: μ = q √(T (e^{1/z²} − 1)), arXiv:1911.11607."""
    z, q, steps = 4.0, 0.05, 4000
    mu = q * math.sqrt(steps * math.expm1(1 / z**2))
    assert poisson_epsilon(z, q, steps, 1e-5, ADD) == pytest.approx(GaussianDP(mu).epsilon(1e-5), rel=0.03)


def test_a_replaced_record_spends_more_and_at_most_what_the_group_of_two_does() -> None:
    z, q, steps, delta = 6.5, 0.256, 44, 1e-5
    replaced = poisson_epsilon(z, q, steps, delta, REPLACE)
    assert replaced > poisson_epsilon(z, q, steps, delta, ADD)
    half = replaced / 2
    assert 2 * poisson_epsilon(z, q, steps, delta / (1 + math.exp(half)), ADD) >= replaced


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise_multiplier": 0.0}, "noise_multiplier must be"),
        ({"sampling_probability": 0.0}, r"sampling_probability must be in \(0, 1\], got 0.0"),
        ({"sampling_probability": 1.5}, r"sampling_probability must be in \(0, 1\], got 1.5"),
        ({"steps": 0}, "steps must be"),
        ({"delta": 0.0}, "delta must be"),
        ({"neighbours": "near"}, "near"),
    ],
)
def test_arguments_outside_their_ranges_are_refused(change: dict, words: str) -> None:
    given = {"noise_multiplier": 1.0, "sampling_probability": 0.5, "steps": 2, "delta": 1e-5, "neighbours": ADD}
    with pytest.raises(ValueError, match=words):
        poisson_epsilon(**given | change)


def test_budgets_that_no_multiplier_meets_are_refused() -> None:
    with pytest.raises(ValueError, match="epsilon must be finite, got inf"):
        poisson_noise_multiplier(ApproximateDP(np.inf, 1e-5), 0.5, 2, ADD)
    with pytest.raises(ValueError, match=r"epsilon must be at most what z = 0.2 spends, got 1000.0"):
        poisson_noise_multiplier(ApproximateDP(1e3, 1e-5), 0.5, 1, ADD)
