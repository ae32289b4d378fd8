"""The mixing mechanism's loss: quadrature, random neighbours, simulated losses, a wrong ratio."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaincc, ndtr

from costofprivacy.privacy import ApproximateDP, GaussianDP, mixing
from tests.each import each

CASES = [(0.01, 500, 1.0), (0.002, 10_000, 0.5), (3.0, 4, 10.0), (1e-3, 40, 0.05)]


def exact(s: float, rows: int, epsilon: float) -> float:
    """E[(1 − e^{ε − L})₊], the inner integral in closed form."""
    h, t = rows / 2, s / (1 + s)

    def inner(b: float) -> float:
        start = (epsilon + t * b) / s
        return float(
            gammaincc(h, start) - math.exp(epsilon + t * b - h * math.log1p(s)) * gammaincc(h, (1 + s) * start)
        )

    low, high = stats.gamma.ppf(1e-18, h), stats.gamma.isf(1e-18, h)
    found = integrate.quad(
        lambda b: stats.gamma.pdf(b, h) * inner(b), low, high, limit=400, epsabs=0, epsrel=1e-9, points=[h]
    )
    return float(found[0])


@pytest.mark.parametrize(("s", "rows", "epsilon"), CASES)
def test_delta_is_barely_above_the_integral(s: float, rows: int, epsilon: float) -> None:
    found = mixing.delta(s, rows, epsilon)
    assert exact(s, rows, epsilon) <= found <= 1.001 * exact(s, rows, epsilon * (1 - 4e-4)) + 1.1e-14


def random_pair(s: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """u and v of squared norms at most s, in three dimensions."""
    pair = rng.standard_normal((2, 3))
    pair *= math.sqrt(s) / np.linalg.norm(pair, axis=1, keepdims=True) * rng.uniform(0, 1, (2, 1)) ** 0.1
    return pair[0], pair[1]


def noise_of_the_proof(u: np.ndarray, v: np.ndarray, s: float) -> np.ndarray:
    """N of the module's proof."""
    v = v if u @ v >= 0 else -v
    rho = u @ v / s
    tau = math.log(1 - 2 * rho / ((1 + rho) * (s + 2))) / 2
    l1 = (math.cosh(tau) * u + math.sinh(tau) * v) / math.sqrt(s)
    l2 = (math.sinh(tau) * u + math.cosh(tau) * v) / math.sqrt(s)
    first = np.eye(3) + np.outer(u, u) - (1 + s) * np.outer(l1, l1) - np.outer(l2, l2)
    second = np.eye(3) + np.outer(v, v) - np.outer(l1, l1) - (1 + s) * np.outer(l2, l2)
    np.testing.assert_allclose(first, second, atol=1e-12 * (1 + s))
    return first


@each("s", [1e-3, 1.0, 30.0])
def test_the_map_of_the_proof_exists(s: float) -> None:
    rng = np.random.default_rng(0)
    least = [np.linalg.eigvalsh(noise_of_the_proof(*random_pair(s, rng), s))[0] for _ in range(100)]
    assert min(least) >= -1e-12 * (1 + s)


def simulated(u: np.ndarray, v: np.ndarray, rows: int, epsilon: float, rng: np.random.Generator) -> tuple[float, float]:
    """δ at ε between k rows of N(0, I + uuᵀ) and of N(0, I + vvᵀ), from 20,000 losses, and its standard error."""
    first, second = (np.eye(len(w)) + np.outer(w, w) for w in (u, v))
    scatter = stats.wishart(rows, first).rvs(20_000, random_state=rng)
    apart = np.linalg.inv(second) - np.linalg.inv(first)
    loss = np.einsum("nij,ij->n", scatter, apart) / 2
    loss += rows / 2 * (np.linalg.slogdet(second)[1] - np.linalg.slogdet(first)[1])
    excess = np.maximum(0.0, -np.expm1(epsilon - loss))
    return float(excess.mean()), float(excess.std() / math.sqrt(len(excess)))


def test_no_pair_of_neighbours_is_easier_to_tell_apart() -> None:
    rng, s = np.random.default_rng(1), 0.5
    claimed = mixing.delta(s, 20, 0.7)
    for _ in range(5):
        found, error = simulated(*random_pair(s, rng), 20, 0.7, rng)
        assert found <= claimed + 4 * error


@pytest.mark.parametrize(("s", "epsilon"), [(0.05, 0.2), (0.5, 0.7)])
def test_orthogonal_records_attain_it_and_a_smaller_ratio_is_found_out(s: float, epsilon: float) -> None:
    u, v = math.sqrt(s) * np.eye(2)
    found, error = simulated(u, v, 20, epsilon, np.random.default_rng(2))
    assert found == pytest.approx(mixing.delta(s, 20, epsilon), abs=4 * error)
    assert found > mixing.delta(0.9 * s, 20, epsilon) + 4 * error


def beside_gaussian(s: float, rows: int, mu: float, epsilon: float) -> float:
    """E[δ_μ(ε − L)] by Gauss-Legendre quadrature over the two Gamma variables."""
    h, t = rows / 2, s / (1 + s)
    nodes, weights = np.polynomial.legendre.leggauss(300)
    low, high = stats.gamma.ppf(1e-15, h), stats.gamma.isf(1e-15, h)
    x, w = low + (high - low) * (nodes + 1) / 2, weights * (high - low) / 2
    w = w * stats.gamma.pdf(x, h)
    left = epsilon - s * x[:, None] + t * x[None, :]
    delta = ndtr(mu / 2 - left / mu) - np.exp(left) * ndtr(-mu / 2 - left / mu)
    return float(w @ delta @ w)


@pytest.mark.parametrize(("s", "rows", "mu", "epsilon"), [(0.01, 500, 0.2, 1.0), (0.1, 20, 1.0, 3.0)])
def test_gaussian_mechanisms_add_their_loss(s: float, rows: int, mu: float, epsilon: float) -> None:
    found = mixing.delta(s, rows, epsilon, GaussianDP(mu))
    assert found == pytest.approx(beside_gaussian(s, rows, mu, epsilon), rel=5e-3)
    assert found >= beside_gaussian(s, rows, mu, epsilon) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("budget", "rows", "share"),
    [
        (ApproximateDP(4.0, 1e-9), 5000, 0.0),
        (ApproximateDP(0.1, 1e-5), 2, 0.0),
        (ApproximateDP(0.5, 1e-4), 300, 0.95),
    ],
)
def test_the_largest_ratio_spends_the_budget(budget: ApproximateDP, rows: int, share: float) -> None:
    other = GaussianDP(share * budget.to_gaussian().mu) if share else None
    ratio = mixing.largest_ratio(budget, rows, other)
    assert 0.98 * budget.delta <= mixing.delta(ratio, rows, budget.epsilon, other) <= budget.delta * (1 + 1e-9)
    assert mixing.delta(1.001 * ratio, rows, budget.epsilon, other) > budget.delta


@each(
    ("call", "words"),
    [
        (lambda: mixing.delta(0.0, 5, 1.0), "ratio must be between"),
        (lambda: mixing.delta(0.1, 0, 1.0), "rows must be a whole number"),
        (lambda: mixing.delta(0.1, 5, -1.0), "epsilon must be positive"),
        (lambda: mixing.largest_ratio(ApproximateDP(math.inf, 0.1), 5), "epsilon must be positive and finite"),
        (lambda: mixing.largest_ratio(ApproximateDP(1.0, 1e-13), 5), "delta must be between"),
        (lambda: mixing.largest_ratio(ApproximateDP(1.0, 1e-5), 5, GaussianDP(9.0)), "other must spend less"),
    ],
)
def test_what_is_out_of_range_is_refused(call: Callable[[], float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
