"""The Gaussian mechanism, composition and iteration, mixing, selection; and what the last bits tell."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import dp_accounting
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import gammaincc, ndtr
from scipy.stats import chisquare, norm

from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    amplification_by_iteration,
    audit_mechanism,
    basic_noise_multiplier,
    classical_noise_multiplier,
    every_iterate,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate,
    last_iterate_noise_multiplier,
    mixing,
    spent_by_record,
)
from costofprivacy.privacy.low_bits import MOST_VARIANCE, could_have_come_from, discrete_gaussian
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.privacy.selection import (
    best_of_advantage,
    best_of_epsilon,
    composed_epsilon,
    random_stopping_attack,
    random_stopping_epsilon,
)
from tests.costofprivacy.privacy import numerics
from tests.each import each, refused

law = settings(derandomize=True, deadline=None, max_examples=20)


# calibration


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


# the mechanism


@pytest.mark.parametrize(("sensitivity", "multiplier"), [(1e200, 1e200), (1e-200, 1e-200), (1.0, 1e-301)])
def test_a_noise_that_doubles_do_not_hold_is_refused(sensitivity: float, multiplier: float) -> None:
    refused("sensitivity · noise_multiplier must be between 1e-300 and 1e", GaussianMechanism, sensitivity, multiplier)


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
    refused(f"^sensitivity must be positive and finite, got {value!r}$", GaussianMechanism, value, 1.0)
    refused(f"^noise_multiplier must be positive and finite, got {value!r}$", GaussianMechanism, 1.0, value)


# ---- Composition ----

BUDGET = ApproximateDP(1.0, 1e-5)
CONTRACTIONS = (0.0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-5, 1 - 1e-7, 1 - 1e-14, 1.0)
STEPS = (1, 3, 1000)
BAD_STEPS = (0, 2.5, math.nan, "3")


# exact composition


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
    refused(f"^steps must be a whole number of at least 1, got {steps!r}$", use, steps)


@pytest.mark.parametrize("c", [-1e-9, 1.001, math.nan])
def test_an_inadmissible_contraction_is_refused(c: object) -> None:
    refused(rf"^contraction must be between 0 and 1, got {c!r}$", last_iterate, GaussianDP(1.0), c, 3)
    refused(rf"^contraction must be between 0 and 1, got {c!r}$", last_iterate_noise_multiplier, BUDGET, c, 3)


# ---- Amplification ----

SENSITIVITIES = np.array([1.0, 0.8, 0.5, 0.4])
NOISES = np.array([0.3, 0.0, 0.7, 1.1])


def test_each_record_is_hidden_by_the_noise_from_its_step_on() -> None:
    expected = [s / math.sqrt(sum(v**2 for v in NOISES[k:])) for k, s in enumerate(SENSITIVITIES)]
    np.testing.assert_allclose(spent_by_record(SENSITIVITIES, NOISES), expected, rtol=1e-14)
    assert amplification_by_iteration(SENSITIVITIES, NOISES).mu == pytest.approx(max(expected))
    for size in (1e-300, 1.0, 1e300):  # as it was found: 0 for the last, whose square is infinite
        spent = spent_by_record(size * np.array([2.0, 0.0]), size * np.array([3.0, 4.0]))
        np.testing.assert_allclose(spent, [0.4, 0.0], rtol=1e-14)


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
    refused(r"^sensitivities must be finite and non-negative, at least one, got", spent_by_record, bad, np.ones(1))
    refused(r"^noise_stds must be finite and non-negative, at least one, got", spent_by_record, np.ones(1), bad)
    first = bad[0] if bad.size else "none"
    with pytest.raises(ValueError, match=rf"at least one, got {first}$"):
        spent_by_record(np.append(np.ones(1200), bad) if bad.size else bad, np.ones(1201))
    refused(r"^noise_stds must have 2 steps like sensitivities, got 3", spent_by_record, np.ones(2), np.ones(3))
    refused(r"^mu must be positive", amplification_by_iteration, np.zeros(2), np.ones(2))


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


@pytest.mark.parametrize("variance", [1, 9])
def test_the_sampler_has_its_law_and_no_other(variance: int) -> None:
    reach = 3 * math.isqrt(variance)
    drawn = np.clip(discrete_gaussian(variance, 8000, rng=np.random.default_rng(variance)), -reach, reach)
    counts = np.bincount(drawn + reach, minlength=2 * reach + 1)

    def fits(supposed: float) -> float:
        wide = np.exp(-(np.arange(-4 * reach, 4 * reach + 1) ** 2) / (2 * supposed))
        wide /= wide.sum()
        cut = wide[3 * reach : -3 * reach].copy()
        cut[[0, -1]] += [wide[: 3 * reach].sum(), wide[-3 * reach :].sum()]
        return float(chisquare(counts, 8000 * cut / cut.sum()).pvalue)

    assert fits(variance) > 1e-3
    assert fits(1.2 * variance) < 1e-6
    assert fits(variance / 1.2) < 1e-6


@pytest.mark.parametrize("variance", [0, 1.5, MOST_VARIANCE + 1])
def test_bad_variances_are_named(variance: float) -> None:
    refused("sigma_squared must be", discrete_gaussian, variance, 1, rng=np.random.default_rng(0))


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
    [(ApproximateDP(4.0, 1e-9), 5000, 0.0), (ApproximateDP(0.1, 1e-5), 2, 0.0), (ApproximateDP(0.5, 1e-4), 300, 0.95)],
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
    refused(words, call)


RUN = ApproximateDP(1.0, 1e-5).to_gaussian()


def density(x: np.ndarray, runs: int, shift: float) -> np.ndarray:
    """Of the largest of k scores."""
    return runs * norm.pdf(x - shift) * norm.cdf(x - shift) ** (runs - 1)


@each(("runs", "mu"), [(1, 0.3), (3, 1.0), (10, 0.3)])
def test_the_least_epsilon_makes_the_hockey_stick_delta(runs: int, mu: float) -> None:
    """The integral of (p − e^ε q)₊ over the densities themselves, in both orders."""
    delta, x = 1e-3, np.linspace(-9, 10, 100_001)
    epsilon = best_of_epsilon(GaussianDP(mu), runs, delta)
    p, q = density(x, runs, 0.0), density(x, runs, mu)
    sticks = [np.maximum(one - math.exp(epsilon) * two, 0).sum() * (x[1] - x[0]) for one, two in ((p, q), (q, p))]
    assert max(sticks) == pytest.approx(delta, rel=1e-3)


@each("runs", [1, 10, 100])
def test_it_lies_between_one_run_and_all(runs: int) -> None:
    least, most = best_of_epsilon(RUN, runs, 1e-5), composed_epsilon(RUN, runs, 1e-5)
    assert RUN.epsilon(1e-5) <= least + 1e-4
    assert best_of_epsilon(GaussianDP(math.inf), runs, 1e-5) == math.inf
    assert least <= most + 1e-4
    assert most == pytest.approx(dp_accounting.get_epsilon_gaussian(1 / (math.sqrt(runs) * RUN.mu), 1e-5), rel=1e-6)


def test_the_advantage_is_half_the_integral_of_the_difference() -> None:
    x = np.linspace(-8, 9, 200_001)
    apart = np.abs(density(x, 10, 0.0) - density(x, 10, 1.0)).sum() * (x[1] - x[0]) / 2
    assert best_of_advantage(GaussianDP(1.0), 10) == pytest.approx(apart, rel=1e-5)


def test_an_audit_of_the_best_of_ten_finds_more_than_one_run_spends() -> None:
    def scores(shift: float, count: int, rng: np.random.Generator) -> np.ndarray:
        return -(rng.standard_normal((count, 10)).max(axis=1) + shift)

    rng = np.random.default_rng(0)
    told = audit_mechanism(scores, 0.0, RUN.mu, delta=1e-3, releases=40_000, confidence=0.99, rng=rng)
    assert RUN.epsilon(1e-3) < told.epsilon < best_of_epsilon(RUN, 10, 1e-3)


@each("mean", [1.0, 30.0, 1000.0])
@each("mu", [0.1, 1.0])
def test_no_attack_beats_the_bound_on_random_stopping(mean: float, mu: float) -> None:
    run = GaussianDP(mu)
    assert random_stopping_attack(run, mean, 1e-5) <= random_stopping_epsilon(run, mean, 1e-5) + 1e-9


@each("mean", [2.0, 20.0])
def test_the_release_s_renyi_divergence_obeys_the_theorem(mean: float) -> None:
    """Densities of the best of a geometric number, integrated; λ̂ over a grid, which no formula chose."""
    mu, stop, x = 0.5, 1 / mean, np.linspace(-12, 16, 50_001)

    def log_density(shift: float) -> np.ndarray:
        return math.log(stop) + norm.logpdf(x - shift) - 2 * np.log1p(-(1 - stop) * norm.cdf(x - shift))

    for order in (1.5, 4.0, 10.0):
        value = np.exp(order * log_density(mu) + (1 - order) * log_density(0.0)).sum() * (x[1] - x[0])
        measured = math.log(value) / (order - 1)
        bounds = [
            order * mu**2 / 2 + 2 * (1 - 1 / h) * h * mu**2 / 2 + 2 * math.log(mean) / h + math.log(mean) / (order - 1)
            for h in np.linspace(1, 30, 300)
        ]
        assert order * mu**2 / 2 * 0.2 < measured <= min(bounds)


def test_bad_arguments_are_named() -> None:
    refused("runs must be", best_of_epsilon, RUN, 0, 1e-5)
    refused("delta must be", best_of_epsilon, RUN, 2, 0.0)
    refused(r"mean_runs must be at least 1, got 0\.5", random_stopping_epsilon, RUN, 0.5, 1e-5)
    refused("mean_runs must be", random_stopping_attack, RUN, math.nan, 1e-5)


@each("mean", [3.0, 200.0])
def test_the_bound_is_the_theorem_s_least_over_both_orders(mean: float) -> None:
    """Both orders over grids, and the conversion to ε of Canonne, Kamath and Steinke written out."""
    mu, delta = 0.4, 1e-6
    hats = np.linspace(1, 60, 6000)
    extra = (2 * (1 - 1 / hats) * hats * mu**2 / 2 + 2 * math.log(mean) / hats).min()
    orders = np.linspace(1.05, 200, 20_000)
    divergence = orders * mu**2 / 2 + extra + math.log(mean) / (orders - 1)
    epsilons = divergence + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
    assert random_stopping_epsilon(GaussianDP(mu), mean, delta) == pytest.approx(epsilons.min(), rel=1e-3)
