r"""Algorithm 1 (NoisyHead) of arXiv:2504.16000v2 and its noiseless twin.

One update, with H and b the moments of the clipped and projected statistics:

.. math:: \Gamma^{t+1} = \Pi_R\big((1 - 2\lambda\eta_0)\Gamma^t - \eta_0 (H\Gamma^t - b) + z_t\big).

It sees the prompts only through (H, b), in whichever form `curvature` holds them, and rests where
(H + 2λI)Γ = b: at the ridge solution for penalty 2λ, not λ.

*Guarantee.* A step moves by at most `update_sensitivity` when one prompt is replaced by any other, because
`head.statistics` keeps |y| ≤ C, `head.project` keeps ‖Z‖_F ≤ G, whatever the prompt holds, and Π_R keeps ‖Γ‖_F ≤ R.
`pretrain` keeps the last itself and refuses moments that the first two cannot have made. `release` is the mechanism;
`pretrain` runs it for many configurations at once, also without noise, for comparisons.

**Two prompts that push apart most: what one update of NoisyHead and the ridge solution have in common.**

Weights of norm ρ and a prompt with ‖Z‖ = G, |y| = C, at angle s to them, give a push of length A cos s + B along Z,
A = ρG², B = CG. Two of them at ±s are 2(A cos s + B) sin s apart.

**DP-SGD on the ridge objective (2.6) of arXiv:2504.16000v2, as section 6.4 has it.**

A step draws each prompt with probability q, clips each drawn prompt's gradient :math:`f(\langle\Gamma, Z\rangle - y)Z`
at norm c, and takes the penalty by weight decay, which needs no data:

.. math:: \Gamma^{t+1} = (1 - 2\lambda\eta_0)\Gamma^t - \eta_0\Big(\frac{1}{qN}\sum_{k\in B_t}
          \mathrm{clip}_c\big(f(\langle\Gamma^t, Z_k\rangle - y_k)Z_k\big) + s\,\xi_t\Big).

f = 2 is the gradient of (2.6) itself, whose resting point is Γ* of (2.7); f = 1 is the step of Algorithm 1, which rests
at Γ_{2λ}. A *prompt* is the record: one gradient each, whatever its length.

*Guarantee.* Replacing one prompt by any other moves the mean gradient of a step by at most 2c/(qN) if it is drawn, and
not at all if not; adding or removing one by at most half of that. `costofprivacy.privacy.subsampled` accounts for it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.curvature import EigenMoments, QuadraticLoss, in_eigenbasis
from costofprivacy.noisyhead.head import Moments, Statistics, project
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    PrivacyProfile,
    basic_noise_multiplier,
    every_iterate,
    last_iterate,
    records,
    sums,
)
from costofprivacy.privacy.records import numbers

# ---- Opposed ----


def reach(norm: float, clip_norm: float, feature_bound: float) -> tuple[float, float]:
    """A = ρG² and B = CG: how far a prompt with ‖Z‖ ≤ G and |y| ≤ C can push, whatever its tokens are.

    (Tokens of norm at most one, as in section 2 of arXiv:2504.16000v2, also have ‖Z‖ ≤ C. Nothing enforces their norm,
    so a sensitivity cannot rest on it.)
    """
    return norm * feature_bound**2, clip_norm * feature_bound


def widest_angle(A: float, B: float) -> float:
    """The s at which 2(A cos s + B) sin s is largest: cos s = (√(B² + 8A²) − B)/(4A), s = π/2 for A = 0 (radians).

    >>> round(math.degrees(widest_angle(1.0, 1.0)), 6)
    60.0
    """
    if A == 0:
        return math.pi / 2
    return math.acos((math.sqrt(B**2 + 8 * A**2) - B) / (4 * A))


_ROUNDING = 1 + 1e-9  # of sums over all prompts


def update_sensitivity(hyper: Hyperparameters, N: int) -> float:
    """η₀σ/N = 2η₀G(C + RG)/N: bound (A.1) on the ℓ₂-sensitivity of one update; replace one prompt.

    It is the paper's, of exact arithmetic. Noise that is larger by the factor 1 + `costofprivacy.privacy.sums.slack`
    (N, D²) pays for the rounding of the sums over prompts.

    Assumes: |y| ≤ C, ‖Z‖_F ≤ G and ‖Γ‖_F ≤ R, which `head.statistics`, `head.project` and `pretrain` guarantee.
    """
    return hyper.learning_rate * hyper.sigma / _validate.whole("N", N)


def worst_angle(hyper: Hyperparameters) -> float:
    """The angle to Γ, on either side of it, of the pair of neighbours that moves one update most (radians)."""
    return widest_angle(*_reach(hyper))


def update_sensitivity_exact(hyper: Hyperparameters, N: int) -> float:
    r"""The ℓ₂-sensitivity of one update itself, at the worst Γ, for D ≥ 2; replace one prompt.

    A prompt moves the gradient by (⟨Γ, Z⟩ − y)Z = αe, e a unit vector at angle θ to Γ. With A = RG² and B = CG the
    reach in direction e is α ≤ A cos θ + B for θ ≤ π/2. Two such vectors on opposite sides of Γ at s ± d are at squared
    distance 4 sin²s (A² cos²s + 2AB cos s cos d + B²) ≤ (2(A cos s + B) sin s)², with equality at d = 0; the maximum
    over s is at cos s = (√(B² + 8A²) − B)/(4A). (Pairs with one θ > π/2 reach less: a test searches over them.) It lies
    between a half (A ≫ B) and the whole (B ≫ A) of `update_sensitivity`.
    """
    A, B = _reach(hyper)
    s = worst_angle(hyper)
    return hyper.learning_rate / _validate.whole("N", N) * 2 * (A * math.cos(s) + B) * math.sin(s)


def _reach(hyper: Hyperparameters) -> tuple[float, float]:
    return reach(hyper.weight_bound, hyper.clip_norm, hyper.feature_bound)


def noise_std_printed(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """Standard deviation of an entry of z_t in Algorithm 1: √2 η₀ (Tσ/(εN)) √log(1.25T/δ)."""
    return update_sensitivity(hyper, N) * basic_noise_multiplier(budget, hyper.steps)


def profile(hyper: Hyperparameters, budget: ApproximateDP, N: int, noise_std: float) -> PrivacyProfile:
    """What Algorithm 1 claims with ``budget`` and what it spends with ``noise_std``, by the bound (A.1)."""
    step = GaussianDP(update_sensitivity(hyper, N) / noise_std if noise_std else math.inf)
    last = last_iterate(step, min(1.0, hyper.contraction), hyper.steps)
    return PrivacyProfile(budget, every_iterate(step, hyper.steps), last)


def project_ball(vectors: np.ndarray, radius: float) -> np.ndarray:
    """Π_R: the nearest points in the ball of ``radius``, for rows of shape (..., p).

    Guarantee: no row is longer than ``radius``, to rounding; a row that is not finite, or so long that its square
    overflows, becomes 0.

    Raises:
        ValueError: if ``radius`` is not in [10⁻¹⁵⁰, ∞]: the square of a smaller one vanishes.
    """
    vectors = records.numbers("vectors", vectors, (None,) * np.ndim(vectors))
    if not radius >= records.NEAR:
        radius = _validate.between("radius", radius, records.NEAR, math.inf)
    with np.errstate(over="ignore"):
        square = np.einsum("...p,...p->...", vectors, vectors)
    if square.max(initial=0.0) <= radius**2:
        return vectors
    if not np.isfinite(square).all():
        lost = ~np.isfinite(square)
        vectors, square = np.where(lost[..., None], 0.0, vectors), np.where(lost, 0.0, square)
    return vectors * (radius / np.sqrt(np.maximum(square, radius**2)))[..., None]


@np.errstate(all="ignore")
def gradient_descent(data: Moments, hyper: Hyperparameters, initial: np.ndarray | None = None) -> np.ndarray:
    """Algorithm 1 without noise and without Π_R after ``hyper.steps`` steps, shape (D, D), in closed form."""
    return descent_path(in_eigenbasis(data), hyper, [hyper.steps], initial)[0]


@np.errstate(all="ignore")
def descent_path(
    data: EigenMoments, hyper: Hyperparameters, steps: Sequence[int], initial: np.ndarray | None = None
) -> np.ndarray:
    """Algorithm 1 without noise and without Π_R after each T of ``steps``, shape (len(steps), D, D).

    In the eigenbasis of H, with b the cross moment, each coordinate is r + (1 − η₀(2λ + h))^T (Γ⁰ − r), r = b/(2λ + h).
    """
    curvature = 2 * hyper.penalty + data.eigenvalues
    rest = data.cross / curvature
    start = 0 if initial is None else data.coordinates(initial)
    decay = (1 - hyper.learning_rate * curvature) ** np.asarray(steps)[:, None]
    return data.matrices(rest + decay * (start - rest))


@np.errstate(all="ignore")
def release(
    data: QuadraticLoss,
    hyper: Hyperparameters,
    noise_std: float,
    *,
    rng: np.random.Generator,
    initial: np.ndarray | None = None,
) -> np.ndarray:
    """Γ^T of Algorithm 1, shape (D, D): one run of it with noise.

    Guarantee: a step is μ-Gaussian DP with μ = `update_sensitivity`/s for replacing one prompt by any other, all T
    together √T·μ-Gaussian DP, and what the last iterate alone spends is in `profile`; if ``data`` are moments of what
    `head.statistics` clipped at C and `head.project` projected at G. Moments that cannot be such are refused. In exact
    arithmetic; s that is larger by the factor 1 + `costofprivacy.privacy.sums.slack` (N, D²) pays for the rounding of
    the sums over prompts.

    Args:
        data: moments of the clipped and projected statistics, in any form; the noise is drawn in its coordinates.
        hyper: C, G, R, λ, η₀ and T.
        noise_std: s, standard deviation of an entry of z_t, positive and finite.
        rng: source of the noise; advanced by T·D² normals.
        initial: Γ⁰, shape (D, D), chosen without the prompts; 0 if left out.

    Raises:
        ValueError: if the standard deviation is not positive and finite, ``initial`` is not finite, or the moments
            cannot be those of prompts within C and G.
    """
    std = _validate.finite_positive("noise_std", noise_std)
    found: np.ndarray = pretrain(data, hyper, [std], rng=rng, initial=initial)[0]
    return found


@np.errstate(all="ignore")
def pretrain(
    data: QuadraticLoss,
    hyper: Hyperparameters,
    noise_std: Sequence[float] | np.ndarray,
    *,
    rng: np.random.Generator,
    steps: Sequence[int] | np.ndarray | None = None,
    initial: np.ndarray | None = None,
) -> np.ndarray:
    """Run Algorithm 1 for a batch of B configurations on one data set.

    All configurations share their noise directions (common random numbers): each alone has the law of Algorithm 1, and
    differences between them are sharp; `_along_lines` says what that saves. A standard deviation of 0 gives plain
    gradient descent, for comparison: such a configuration is no release. Of several private ones, one may be released;
    `release` is the function for it.

    Guarantee: ‖Γ^t‖_F ≤ R in every step, so that a step of a private configuration (std > 0) moves by at most
    `update_sensitivity` when a prompt is replaced, if ``data`` are moments of what `head.statistics` clipped at C and
    `head.project` projected at G. Moments that cannot be such, tr H > G² or ‖b‖ > CG, are refused; ``initial`` must
    have been chosen without the prompts.

    Args:
        data: moments of the clipped and projected statistics, in any form; the noise is drawn in its coordinates.
        hyper: C, G, R, λ, η₀; T for configurations without their own.
        noise_std: standard deviation of an entry of z_t for each configuration, shape (B,).
        rng: source of the noise; advanced by max(steps)·D² normals, or not at all where every deviation is 0.
        steps: T of each configuration, shape (B,); ``hyper.steps`` if left out.
        initial: Γ⁰, shape (D, D); projected on the ball of radius R; 0 if left out.

    Returns:
        Γ^T of each configuration, shape (B, D, D).

    Raises:
        ValueError: if a standard deviation is negative, a T not at least 1, shapes disagree, ``initial`` is not finite,
            or moments that noise should protect cannot be those of prompts within C and G.
    """
    std = np.array([_validate.nonnegative("noise_std", s) for s in noise_std])
    T = np.full(len(std), hyper.steps) if steps is None else np.asarray(steps)
    _validate.shape("steps", T, std.shape)
    for t in T:
        _validate.whole("steps", t)
    if std.any():
        refuse_unbounded(data, hyper.clip_norm, hyper.feature_bound)
    shrink, rate = 1 - 2 * hyper.penalty * hyper.learning_rate, hyper.learning_rate
    start, drift, radius = _start(data, initial, hyper.weight_bound), rate * data.cross, float(hyper.weight_bound)
    if isinstance(data, EigenMoments):
        found = _by_coordinates(rng, data.factor(shrink, rate), drift, start, std, T, radius)
    else:
        found = _along_lines(rng, data.step(shrink, rate), drift, start, std, T, radius)
    return data.matrices(found)


@compiled
def _by_coordinates(
    rng: np.random.Generator,
    factor: np.ndarray,
    drift: np.ndarray,
    start: np.ndarray,
    std: np.ndarray,
    steps: np.ndarray,
    radius: float,
) -> np.ndarray:
    """Γ^T of each configuration in the eigenbasis of H, where a step is Γ ↦ factor·Γ + std·z + drift, then Π_R."""
    p, noisy = len(start), np.any(std > 0)
    Gamma, z = np.empty((len(std), p)), np.zeros(p)
    for k in range(len(std)):
        for j in range(p):
            Gamma[k, j] = start[j]
    for t in range(1, steps.max() + 1):
        if noisy:
            for j in range(p):
                z[j] = rng.standard_normal()
        for k in range(len(std)):
            if t > steps[k]:
                continue
            square = 0.0
            for j in range(p):
                Gamma[k, j] = factor[j] * Gamma[k, j] + (std[k] * z[j] + drift[j])
                square += Gamma[k, j] ** 2
            if not square <= radius**2:
                scale = radius / math.sqrt(square) if square < math.inf else 0.0
                for j in range(p):
                    Gamma[k, j] = Gamma[k, j] * scale if scale > 0 else 0.0
    return Gamma


def _along_lines(
    rng: np.random.Generator,
    step: Callable[[np.ndarray], np.ndarray],
    drift: np.ndarray,
    start: np.ndarray,
    std: np.ndarray,
    steps: np.ndarray,
    radius: float,
) -> np.ndarray:
    """Γ^T of each configuration, shape (B, p), at the cost of two instead of B products with H in a step.

    All configurations have the same start and the same directions z of the noise. While Π_R is idle, a step is affine,
    so that the iterates of all of them lie on one line: Γ = A + sB with s the configuration's deviation,
    A ← step(A) + drift and B ← step(B) + z. A configuration leaves the line when ‖A + sB‖² = ‖A‖² + 2s⟨A, B⟩ + s²‖B‖²
    exceeds R²; from then on it is stepped by itself.
    """
    p, noisy = len(start), bool(std.any())
    line = np.stack([start, np.zeros(p)] if noisy else [start])
    own, on, off = np.empty((0, p)), np.arange(len(std)), np.arange(0)
    final = np.empty((len(std), p))
    for t in range(1, steps.max() + 1):
        rows = np.concatenate([line, own]) if len(own) else line
        rows = step(rows) if rows.any() else rows.copy()
        line, own = rows[: len(line)], rows[len(line) :] + drift
        line[0] += drift
        if noisy:
            z = rng.standard_normal(p)
            line[1] += z
            own += np.outer(std[off], z)
        products, s = line @ line.T, std[on]
        left = ~(products[0, 0] + s * (2 * products[0, -1] + s * products[-1, -1]) <= radius**2)  # ‖A + sB‖²
        if len(own) or left.any():
            own = project_ball(np.concatenate([own, _on(line, std[on[left]])]), radius)
            off, on = np.concatenate([off, on[left]]), on[~left]
        if (steps == t).any():  # those that go on are overwritten later
            final[on], final[off] = _on(line, std[on]), own
            on, own, off = on[steps[on] > t], own[steps[off] > t], off[steps[off] > t]
    return final


def _on(line: np.ndarray, std: np.ndarray) -> np.ndarray:
    """A + sB for each s; line is A and, if there is noise, B."""
    return line[0] + np.outer(std, line[-1]) if len(line) > 1 else np.tile(line[0], (len(std), 1))


@np.errstate(all="ignore")
def refuse_unbounded(data: QuadraticLoss, clip_norm: float, feature_bound: float) -> None:
    """Refuse moments that prompts with ‖Z‖_F ≤ G and |y| ≤ C cannot have: nothing bounds what one prompt does there.

    Args:
        data: moments in any form. clip_norm: C. feature_bound: G.

    Raises:
        ValueError: if tr H > G² or ‖b‖ > CG, to rounding, or one is not a number.
    """
    for name, value, most in (
        ("trace of the Gram matrix", data.trace, feature_bound**2),
        ("norm of the cross moment", float(np.linalg.norm(data.cross)), clip_norm * feature_bound),
    ):
        if not value <= most * _ROUNDING:
            raise ValueError(
                f"data must be moments of projected statistics, with a {name} of at most {most:.6g}, got {value:.6g}"
            )


def _start(data: QuadraticLoss, initial: np.ndarray | None, radius: float) -> np.ndarray:
    p = len(data.cross)
    if initial is None:
        return np.zeros(p)
    initial = numbers("initial", initial, (math.isqrt(p),) * 2)
    if not np.isfinite(initial).all():
        raise ValueError("initial must be finite, got NaN or infinities")
    return project_ball(data.coordinates(initial), radius)


# ---- Minibatch ----

LARGEST = 1e30  # of f, s, λ, η₀ and qN
SMALLEST = 1e-100  # of c
LONGEST = 1e75  # contexts beyond are shortened: products of two, and of one with a response, stay within doubles
OF_THE_LOSS, OF_ALGORITHM_1 = 2.0, 1.0  # f
_ROWS, _TINY = sums.ROWS, float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Descent:
    """What a run of DP-SGD is told, besides the noise and the clip norm of its configurations.

    Args:
        penalty: λ of (2.6), in [0, `LARGEST`]. learning_rate: η₀ in (0, `LARGEST`]. steps: T ≥ 1.
        batch: qN in [1/`LARGEST`, N], prompts in a step on average.
    """

    penalty: float
    learning_rate: float
    steps: int
    batch: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.within(0, LARGEST, _validate.NONNEGATIVE), "penalty")
        _validate.keep(self, _validate.within(0, LARGEST, _validate.FINITE_POSITIVE), "learning_rate")
        _validate.keep(self, _validate.at_least(1), "steps")
        _validate.keep(self, _validate.within(1 / LARGEST, LARGEST, _validate.FINITE_POSITIVE), "batch")


@np.errstate(all="ignore")
def dp_sgd(
    data: Statistics,
    descent: Descent,
    factor: np.ndarray,
    clip_norm: np.ndarray,
    noise_std: np.ndarray,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """Run DP-SGD from Γ⁰ = 0 for B configurations on one data set, with the same samples and noise directions.

    Guarantee: no prompt adds more than c to the sum of a step's gradients, to rounding, whatever it holds. The noise is
    made larger by the factor 1 + `costofprivacy.privacy.sums.slack` (N, D²), which pays for the sum's rounding. A
    configuration with s = 0, or with c = ∞, is for comparison: it is no release.
    `head.project` brings queries to norm one and voids what is not finite; contexts beyond `LONGEST`, and responses
    beyond 10¹⁵⁰, are shortened to that. Each prompt by itself, and none that is within.

    Args:
        data: N prompts' statistics. descent: λ, η₀, T and qN.
        factor: f of each configuration, in (0, `LARGEST`], shape (B,). clip_norm: c in [`SMALLEST`, ∞], shape (B,).
        noise_std: s in [0, `LARGEST`], standard deviation of the noise in an entry of the mean gradient, shape (B,):
            zc/(qN).
        rng: source of samples and noise; advanced by T(N + D²) numbers.

    Returns:
        Γ^T of each, shape (B, D, D).

    Raises:
        ValueError: if the batch exceeds N, the three arrays disagree in shape, or a number is outside its range.
    """
    N, D = data.query.shape
    if descent.batch > N:
        raise ValueError(f"batch must be at most N = {N}, got {descent.batch!r}")
    factor = numbers("factor", factor, (None,))
    clip_norm, noise_std = (
        numbers(name, given, factor.shape) for name, given in (("clip_norm", clip_norm), ("noise_std", noise_std))
    )
    for f, c, s in zip(factor.tolist(), clip_norm.tolist(), noise_std.tolist(), strict=True):
        _validate.between("factor", _validate.finite_positive("factor", f), 0, LARGEST)
        _validate.between("clip_norm", _validate.positive("clip_norm", c), SMALLEST, np.inf)
        _validate.between("noise_std", _validate.nonnegative("noise_std", s), 0, LARGEST)
    noise_std = noise_std * (1 + sums.slack(N, D * D))
    data = project(data, LONGEST)  # whose gradients doubles can bound
    norm = data.norm
    small = norm < records.NEAR
    norm[small] = records.lengths(data.context[small])  # no less than ‖Z‖ of each
    data = Statistics(data.query, data.context, np.clip(data.response, *records.REACH))
    shrink, eta = 1 - 2 * descent.penalty * descent.learning_rate, descent.learning_rate
    prompts, told = (data.Z.reshape(N, -1), norm, data.response), (factor, clip_norm, noise_std)
    return _run(rng, *prompts, float(descent.batch), shrink, eta, descent.steps, *told).reshape(-1, D, D)


@compiled
def _run(
    rng: np.random.Generator,
    features: np.ndarray,
    norm: np.ndarray,
    response: np.ndarray,
    batch: float,
    shrink: float,
    rate: float,
    steps: int,
    factor: np.ndarray,
    clip_norm: np.ndarray,
    noise_std: np.ndarray,
) -> np.ndarray:
    """Γ^T of each configuration, vectorised row by row; norm holds no less than the length of each row of features."""
    N, p = features.shape
    Gamma, Z, drawn, z = np.zeros((len(factor), p)), np.empty((N, p)), np.empty(N, np.int64), np.empty(p)
    for _ in range(steps):
        n = 0
        for k in range(N):
            if rng.random() < batch / N:
                drawn[n] = k
                for j in range(p):
                    Z[n, j] = features[k, j]
                n += 1
        weights = np.dot(Z[:n], Gamma.T)
        for i in range(n):
            length, y = norm[drawn[i]], response[drawn[i]]
            for b in range(len(factor)):
                residual = factor[b] * (weights[i, b] - y)
                weights[i, b] = residual * min(1.0, clip_norm[b] / max(abs(residual) * length, _TINY))
        gradient = _summed(weights, Z[:n])
        for j in range(p):
            z[j] = rng.standard_normal()
        for b in range(len(factor)):
            for j in range(p):
                Gamma[b, j] = shrink * Gamma[b, j] - rate * (gradient[b, j] / batch + noise_std[b] * z[j])
    return Gamma


@compiled
def _summed(weights: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Σ w_k Z_k for weights of shape (n, B), added in pairs: blocks and their order are those of `sums.product`."""
    n = len(Z)
    if n == 0:
        return np.zeros((weights.shape[1], Z.shape[1]))
    blocks = (n - 1) // _ROWS
    sums_of, size = np.empty((blocks + 1, weights.shape[1], Z.shape[1])), blocks + 1
    for k in range(size):
        np.dot(weights[k * _ROWS : (k + 1) * _ROWS].T, Z[k * _ROWS : (k + 1) * _ROWS], sums_of[k])
    while size > 1:
        for k in range((size + 1) // 2):
            for b in range(weights.shape[1]):
                for j in range(Z.shape[1]):
                    first = sums_of[2 * k, b, j]
                    sums_of[k, b, j] = first + sums_of[2 * k + 1, b, j] if 2 * k + 1 < size else first
        size = (size + 1) // 2
    return sums_of[0]


def noise_risk(descent: Descent, model: PromptModel, factor: float, noise_std: float) -> float:
    r"""E⟨Γ^T − Γ^T_noiseless, Z⟩² where no gradient is clipped: (η₀s)² E‖m‖² Σ_{t<T} (1 − η₀(2λ + fh))^{2t}.

    Assumes: the Gram matrix of the population, hI with h = E‖m‖²/D²; the samples of a step move it by a relative
    O(h/λ). It is the form of NoisyHead's (`dynamics.noise_risk`): nothing in it needs all prompts in each step.
    """
    h = context_energy(model) / model.D**2
    square = (1 - descent.learning_rate * (2 * descent.penalty + factor * h)) ** 2
    grown = (1 - square**descent.steps) / (1 - square)
    return (descent.learning_rate * noise_std) ** 2 * context_energy(model) * grown
