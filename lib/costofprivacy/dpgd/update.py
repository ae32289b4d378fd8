r"""The step of Algorithm 1 of arXiv:2505.16329v2: without its noise for many records at once, and in full on a block.

With residual r = xᵀθ − y the step is θ ↦ θ − η̄ ḡ, where ḡ = r x min(1, C_clip/‖r x‖) and η̄ = min(η, 2/‖x‖²).

**It expands no distance, whatever the record.** It moves θ along x alone. In that direction, with s = xᵀθ, the step
is s ↦ s − a ψ(s − y), where a = η̄‖x‖² and ψ(r) = max(−C_clip/‖x‖, min(r, C_clip/‖x‖)). The slope of ψ is 0 or 1, so
that of the step is 1 or 1 − a, and the least Lipschitz constant is max(1, |1 − a|): 1 if and only if a ≤ 2, which is
what η̄ sees to.

**Replacing its record moves it by at most 2ηC_clip**, because a step is at most η̄‖ḡ‖ ≤ ηC_clip long. Two records with
‖x‖² ≤ 2/η, one opposite to the other, with residuals beyond C_clip/‖x‖ attain it.

**Any record.** Both hold in doubles for every record that is `privacy.records.usable`: finite, with a norm whose square
neither overflows nor vanishes. Every other record is void, and its step is the identity. That is a map of the single
record, not of θ, so neither bound changes. `clipped_gradients`, `adapted_rates` and `noiseless_step` see to it
themselves, `descent.descend_records` and `onepass.release` once before their steps.

**A block of steps.** `advance` makes the steps k = 1, …, m on m given records, for several configurations at once, from
Θ on, a column for each configuration:

    θ_k = Θ − Σ_{j ≤ k} a_j x_j + Σ_{j ≤ k} s_j b_j,      a_j = η̄_j clip(r_j, ±C/‖x_j‖),      s_j = 2Cσ_j,
    r_k = x_k'Θ − y_k − Σ_{j < k} a_j ⟨x_j, x_k⟩ + Σ_{j < k} s_j ⟨b_j, x_k⟩,

since the clipped gradient r x min(1, C/(‖x‖|r|)) is x times the residual clipped at ±C/‖x‖. So the products with Θ,
the Gram matrices and the update of Θ are matrix products, done once a block, and what is left to do step by step
costs no multiple of d. This is Algorithm 1 itself up to rounding, not an approximation. Whatever reads records that
somebody gave (`descent.descend_records`, `onepass.release`) makes its steps here.

**Simulated records.** `simulate` makes the same steps. Where configurations are few it takes them one by one in machine
code, several times faster; how long that takes depends a little on how small the features are, so it is not for
records that somebody gave.

**One private step over all records at once: what a pilot gains when it is followed by a single average.**

Given any θ_0, the mean of n clipped gradients at θ_0 is −μΣ(θ* − θ_0) plus noise, where μ is the descent reduction
factor. For Σ = I one step of length 1/μ,

    θ_1 = θ_0 − (1/μ){(1/n) Σ_k ḡ_k + (2C/(nρ)) b},      C = c√d,  b ~ N(0, I),

has no bias left from θ_0. Two data sets that differ in one record have means within 2C/n, so the step is ρ-Gaussian DP,
hence ρ²/2-zCDP. If θ_0 was released under the same ρ from other records, so is the pair: each record is used once.

The risk, as d → ∞ at γ = d/n, is γ𝒫ν/μ² + 2c²γ²/(ρ²μ²) with 𝒫 = R(θ_0) + ζ²/2: a clipped gradient has the mean square
2𝒫ν·d, and the noise has the size 2C/(nρμ) in each of d coordinates.
"""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.schedule import LARGEST, SMALLEST, check_rho
from costofprivacy.privacy import records, sums
from costofprivacy.privacy.records import doubles, numbers

BLOCK = 32  # steps between two updates of the parameters
FEW = 6  # configurations up to which `simulate` takes single steps


@np.errstate(all="ignore")
def clipped_gradients(theta: np.ndarray, x: np.ndarray, y: np.ndarray, clip_norm: float) -> np.ndarray:
    """Gradients of half the squared error, each shortened to norm C_clip: ḡ of Algorithm 1 of arXiv:2505.16329v2.

    Guarantee: no row is longer than C_clip, to rounding, for every finite θ and whatever the record holds; one that is
    not `privacy.records.usable` has the gradient 0.

    Args:
        theta: finite, shape (..., d). x: features, shape (..., d). y: responses, shape (...).
        clip_norm: C_clip in [`schedule.SMALLEST`, ∞].

    Returns:
        shape (..., d), no row longer than ``clip_norm``.

    Raises:
        ValueError: if ``clip_norm`` is below its range, θ not finite, or an array not of numbers.
    """
    bound = _validate.between("clip_norm", _validate.positive("clip_norm", clip_norm), SMALLEST, math.inf)
    theta, x = doubles("theta", theta), doubles("x", x)
    y = doubles("y", y, x.ndim - 1 or None)
    if not np.isfinite(theta).all():
        raise ValueError("theta must be finite, got NaN or infinities")
    sound = records.usable(x, y)
    if not sound.all():
        x, y = np.where(sound[..., None], x, 0.0), np.where(sound, y, 0.0)
    residual = np.einsum("...d,...d", x, theta) - y
    beyond = ~np.isfinite(residual)
    if beyond.any():  # what overflows on the way to xᵀθ may be a double in the end
        size = np.maximum(np.abs(theta).max(axis=-1, initial=0.0), 1.0)
        residual = np.where(beyond, np.einsum("...d,...d", x, theta / size[..., None]) * size - y, residual)
    limit = bound / np.linalg.norm(x, axis=-1)
    return x * np.clip(residual, -limit, limit)[..., None]


@np.errstate(all="ignore")
def adapted_rates(learning_rate: float | np.ndarray, x: np.ndarray) -> np.ndarray:
    """Learning rates at which no record's step expands, η̄ = min(η, 2/‖x‖²) of Algorithm 1 of arXiv:2505.16329v2.

    Guarantee: η̄ ≤ η and η̄‖x‖² ≤ 2 for every x, to rounding; 0 where x is not finite or its square overflows.

    Args:
        learning_rate: η ≥ 0, a shape that broadcasts with (...). x: features, shape (..., d).

    Returns:
        shape (...); η where x = 0.

    Raises:
        ValueError: if a learning rate is negative or not finite.
    """
    x, rates = doubles("x", x), np.asarray(learning_rate, dtype=float)
    wrong = ~((rates >= 0) & (rates < math.inf))
    if wrong.any():
        raise ValueError(f"learning_rate must be non-negative and finite, got {float(rates[wrong][0])}")
    most = 2 / np.einsum("...d,...d", x, x)
    return np.minimum(rates, most if not np.isnan(most).any() else np.nan_to_num(most, nan=0.0, posinf=np.inf))


@np.errstate(all="ignore")
def noiseless_step(
    theta: np.ndarray, x: np.ndarray, y: np.ndarray, learning_rate: float | np.ndarray, clip_norm: float
) -> np.ndarray:
    """A step of Algorithm 1 of arXiv:2505.16329v2 before its noise, θ − η̄ḡ.

    Guarantees: ‖step(θ) − step(θ')‖ ≤ ‖θ − θ'‖ for every record, and ‖step(θ) − θ‖ ≤ η C_clip, whatever the record
    holds (to rounding); the step of one that is not `privacy.records.usable` is the identity.

    Args:
        theta: finite, shape (..., d). x: features, shape (..., d). y: responses, shape (...).
        learning_rate: η ≥ 0, a shape that broadcasts with (...). clip_norm: C_clip in (0, ∞].

    Returns:
        shape (..., d).

    Raises:
        ValueError: if ``clip_norm`` is not positive, θ not finite, or a learning rate negative or not finite.
    """
    rates = adapted_rates(learning_rate, x)
    return theta - rates[..., None] * clipped_gradients(theta, x, y, clip_norm)


def step_sensitivities(learning_rates: np.ndarray, clip_norm: float) -> np.ndarray:
    """How far replacing its record can move each step, 2η_kC_clip; attained.

    Args:
        learning_rates: η_k, 0 or in [`schedule.SMALLEST`, `schedule.LARGEST`], shape (n,).
        clip_norm: C_clip, between the same ends.

    Guarantee: a bound for every pair of records, whatever they hold.

    Raises:
        ValueError: if a number is outside its range.
    """
    rates = np.asarray(learning_rates, dtype=float)
    if not ((rates >= 0) & (rates < math.inf)).all():
        raise ValueError("learning_rates must be non-negative and finite")
    norm = _validate.finite_positive("clip_norm", clip_norm)
    if not ((rates == 0) | ((rates >= SMALLEST) & (rates <= LARGEST))).all() or not SMALLEST <= norm <= LARGEST:
        raise ValueError(f"learning_rates (if not 0) and clip_norm must be between {SMALLEST:g} and {LARGEST:g}")
    return 2 * norm * rates


@np.errstate(all="ignore")
def advance(
    theta: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    b: np.ndarray,
    learning_rates: np.ndarray,
    noise_std: np.ndarray,
    clip_norm: np.ndarray,
) -> None:
    """Steps 2 to 6 of Algorithm 1 of arXiv:2505.16329v2 on each of m records in turn; ``theta`` changes in place.

    Guarantees: each configuration alone is Algorithm 1, to rounding; a column that overflows spoils no other. Numbers
    of any type are computed with in double precision. It checks nothing else, since runs call it often: records that
    somebody gave go through `privacy.records.regression` first, or one NaN spoils θ and with it the guarantee. A record
    without features divides by zero: warnings are the caller's.

    *Rounding.* Each term of r_k is ‖x_k‖ times a length that no record decides: ‖Θ‖, η_jC, s_j‖b_j‖, and where y_k is
    larger, the residual is clipped unless ‖x_k‖ is so small that its rounding does not matter. So records of very
    different sizes may share a block: what rounding adds to a step is of the order u(‖θ‖ + ηC), u = 2⁻⁵³, for each of
    them. That η̄_k‖x_k‖² ≤ 2 holds to a relative γ_d ≤ du, so that one step expands distances by at most 1 + 4du.

    Args:
        theta: θ, a column for each configuration, shape (d, configurations).
        x: features, shape (m, d); a few dozen rows are fastest (`BLOCK`). y: responses, shape (m,).
        b: private noise of unit variance, shape (m, d).
        learning_rates: η_k ≥ 0, shape (m, configurations).
        noise_std: 2 C_clip σ_k, same shape.
        clip_norm: C_clip in (0, ∞], shape (configurations,).
    """
    x, y, b = (np.asarray(given, dtype=np.float64) for given in (x, y, b))
    theta += b.T @ noise_std - x.T @ coefficients(theta, x, y, b, learning_rates, noise_std, clip_norm)


@np.errstate(all="ignore")
def coefficients(
    theta: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    b: np.ndarray,
    learning_rates: np.ndarray,
    noise_std: np.ndarray,
    clip_norm: np.ndarray,
) -> np.ndarray:
    """a_k of the module's block of steps, shape (m, configurations): `advance` moves θ by Σ s_k b_k − Σ a_k x_k.

    Args: as `advance`, all of them doubles; ``theta`` stays.
    """
    gram = x @ x.T
    found = x @ theta - y[:, None] + np.tril(x @ b.T, -1) @ noise_std
    square = gram.diagonal()[:, None]
    _residuals_to_coefficients(found, gram, np.minimum(learning_rates, 2 / square), clip_norm / np.sqrt(square))
    return found


@compiled
def _residuals_to_coefficients(values: np.ndarray, gram: np.ndarray, rates: np.ndarray, bounds: np.ndarray) -> None:
    """From r_k without the block's own a_j to a_k, in place; all but ``gram`` of shape (m, configurations)."""
    steps, configurations = values.shape
    for k in range(steps):
        for j in range(k):
            for i in range(configurations):
                values[k, i] -= gram[k, j] * values[j, i]
        for i in range(configurations):
            bound = bounds[k, i]
            if values[k, i] > bound:
                values[k, i] = bound
            elif values[k, i] < -bound:
                values[k, i] = -bound
            values[k, i] *= rates[k, i]


@np.errstate(all="ignore")
def simulate(
    theta: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    b: np.ndarray,
    learning_rates: np.ndarray,
    noise_std: np.ndarray,
    clip_norm: np.ndarray,
) -> None:
    """`advance` on simulated records: the same θ to rounding, sooner where configurations are few.

    Args:
        theta, x, y, b, learning_rates, noise_std, clip_norm: as in `advance`; ``theta`` changes in place.
    """
    if len(clip_norm) > FEW:
        return advance(theta, x, y, b, learning_rates, noise_std, clip_norm)
    columns, told = theta.T.copy(), (x, y, b, learning_rates, noise_std, clip_norm)
    _single_steps(columns, *(np.ascontiguousarray(given, dtype=np.float64) for given in told))
    theta[:] = columns.T
    return None


@compiled
def _single_steps(
    columns: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    b: np.ndarray,
    learning_rates: np.ndarray,
    noise_std: np.ndarray,
    clip_norm: np.ndarray,
) -> None:
    """The steps one by one, θ of each configuration a row of ``columns``, which change in place."""
    for k in range(len(x)):
        row, noise = x[k], b[k]
        square = dot(row, row)
        for j in range(len(columns)):
            theta, std = columns[j], noise_std[k, j]
            bound = clip_norm[j] / math.sqrt(square)
            residual = dot(row, theta) - y[k]
            length = min(learning_rates[k, j], 2 / square) * min(max(residual, -bound), bound)
            if std > 0:
                for i in range(len(theta)):
                    theta[i] += std * noise[i] - length * row[i]
            else:
                for i in range(len(theta)):
                    theta[i] -= length * row[i]


@compiled
def dot(a: np.ndarray, b: np.ndarray) -> float:
    """⟨a, b⟩ of two vectors, in four sums that need not wait for each other."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    whole = len(a) - len(a) % 4
    for i in range(0, whole, 4):
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
    for i in range(whole, len(a)):
        first += a[i] * b[i]
    return (first + second) + (third + fourth)


# ---- Averaged step ----

_LOWEST = 1e-3  # c over the residual's standard deviation: below it nothing changes
_HIGHEST = 20.0


def averaged_risk(pilot_risk: float, aspect_ratio: float, label_noise: float, clip: float, rho: float) -> float:
    """The risk after one averaged private step, γ𝒫ν/μ² + 2c²γ²/(ρ²μ²), for Σ = I as d → ∞.

    Args:
        pilot_risk: R(θ_0) ≥ 0. aspect_ratio: γ = d/n of the records of this step. label_noise: ζ > 0.
        clip: c in (0, ∞). rho: ρ in (0, ∞].

    Raises:
        ValueError: if ``clip`` or ``rho`` is not positive.
    """
    clip = _validate.finite_positive("clip", clip)
    rho = _validate.positive("rho", rho)
    test_risk = pilot_risk + label_noise**2 / 2
    mu, nu = float(descent_reduction(clip, test_risk)), float(variance_reduction(clip, test_risk))
    return aspect_ratio * (test_risk * nu + 2 * aspect_ratio * (clip / rho) ** 2) / mu**2


def best_averaged_risk(pilot_risk: float, aspect_ratio: float, label_noise: float, rho: float) -> tuple[float, float]:
    """The least `averaged_risk` over c, and that c.

    Args:
        pilot_risk: R(θ_0) ≥ 0. aspect_ratio: γ of the records of this step. label_noise: ζ > 0. rho: ρ in (0, ∞].
    """
    scale = math.sqrt(2 * pilot_risk + label_noise**2)

    def risk(log: float) -> float:
        return averaged_risk(pilot_risk, aspect_ratio, label_noise, scale * math.exp(log), rho)

    found = minimize_scalar(risk, bounds=(math.log(_LOWEST), math.log(_HIGHEST)), method="bounded")
    return float(found.fun), scale * math.exp(float(found.x))


@np.errstate(all="ignore")
def averaged_step(
    theta: np.ndarray, x: np.ndarray, y: np.ndarray, clip: float, rho: float, mu: float, *, rng: np.random.Generator
) -> np.ndarray:
    """θ_1 of the module's docstring, shape (d,): one private average of clipped gradients.

    Guarantee: ρ-Gaussian DP for replacing one record by any other, for any finite θ_0 made without these records; one
    that is not `privacy.records.usable` has the gradient 0. Gradients are added in pairs, and the noise is larger than
    above by the factor 1 + `privacy.sums.slack` (n, d), which pays for their rounding.

    Args:
        theta: θ_0, shape (d,), made without these records. x: shape (n, d), n ≥ 1. y: shape (n,).
        clip: c in [`schedule.SMALLEST`, `schedule.LARGEST`]. rho: ρ as in `descent.Configuration`.
        mu: the factor μ in (0, 1] that the step makes up for.
        rng: source of the private noise.

    Raises:
        ValueError: if there is no record, shapes disagree, θ_0 is not finite, or a number is outside its range.
    """
    x = numbers("x", x, (None, None))
    n, d = x.shape
    _validate.whole("the number of records", n)
    y, theta = numbers("y", y, (n,)), numbers("theta", theta, (d,))
    mu = _validate.SHARE("mu", mu)
    if not np.isfinite(theta).all():
        raise ValueError("theta must be finite, got NaN or infinities")
    clip = _validate.between("clip", _validate.finite_positive("clip", clip), SMALLEST, LARGEST)
    bound = clip * math.sqrt(d)
    gradients = clipped_gradients(theta, x, y, bound)
    mean = sums.pairwise(lambda rows: gradients[rows].sum(axis=0), n) / n
    noise = 2 * bound / (n * check_rho(rho)) * (1 + sums.slack(n, d)) * rng.standard_normal(d)
    return theta - (mean + noise) / mu
