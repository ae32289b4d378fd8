r"""One perturbed training prompt, (5.1) of arXiv:2504.16000v2, and how large its statistic is.

The attacker adds μ to every coordinate of the prompt's L + 1 features and α to its L responses. With x̄ = L⁻¹ Σ x_i and
ȳ = L⁻¹ Σ y_i the context becomes, exactly,

.. math:: m' = m + \mu\bar y\,\mathbf 1 + \alpha\bar x + \alpha\mu\,\mathbf 1 ,

so Z' = (x_{L+1} + μ1) m'ᵀ is affine in α: Z' = Z₀ + αV with V = (x_{L+1} + μ1)(x̄ + μ1)ᵀ, and ‖V‖ does not fall with L.

**The right-hand sides of Theorem 5.1, Remark 5.1 and (A.20)-(A.24) of arXiv:2504.16000v2, and what replaces them.**

Hidden constants (≲, c_u, c_ℓ) are one wherever a function here has to take a value.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead import hyperparameters, population
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.pretraining import project_ball
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.privacy import records


@dataclass(frozen=True)
class Attack:
    """What is added to a prompt.

    Args:
        response_shift: α, finite, added to the L labelled responses.
        feature_shift: μ, finite, added to every coordinate of all L + 1 features.
        query_shift: added to y_{L+1}, finite: 0 as (5.1) has it; α in (A.24) and behind the published numbers.

    Raises:
        ValueError: if a shift is not a finite number.
    """

    response_shift: float
    feature_shift: float
    query_shift: float = 0.0

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE, "response_shift", "feature_shift", "query_shift")


NONE = Attack(0.0, 0.0)


def perturb(prompts: Prompts, attack: Attack) -> Prompts:
    """E_bad of (5.1) for every prompt given; the features are no longer of norm one."""
    x = prompts.x + attack.feature_shift
    y = prompts.y + attack.response_shift
    y[:, -1] = prompts.y[:, -1] + attack.query_shift
    return Prompts(x, y, prompts.w)


def unit_query(data: Statistics) -> Statistics:
    """The same Z and responses with queries of norm one: their lengths move into the contexts.

    `head.project` and `Statistics.norm` are then right for prompts whose features do not lie on the sphere.
    """
    length = np.linalg.norm(data.query, axis=1, keepdims=True)
    return Statistics(data.query / length, data.context * length, data.response)


def candidates(prompts: Prompts, attacks: Sequence[Attack], clip_norm: float = math.inf) -> Statistics:
    """Statistics of the prompts under each attack, attack by attack; queries of norm one, responses clipped at C.

    Those of `perturb`, without its features: Σ y(x + μ1) = Σ yx + μ(Σ y)1. Attacks that differ in the response of the
    query alone share their contexts.

    Args:
        prompts: B prompts. attacks: A attacks. clip_norm: C in (0, ∞].

    Returns:
        Statistics of A·B prompts: query and context (A·B, D), response (A·B,); attack by attack.
    """
    C = _validate.positive("clip_norm", clip_norm)
    shifts = list(dict.fromkeys((attack.response_shift, attack.feature_shift) for attack in attacks))
    alpha, mu = np.array(shifts).T
    y = np.clip(prompts.y[:, None, :-1] + alpha[:, None], -C, C)
    products = np.matmul(y[:, :, None], prompts.x[:, None, :-1])[:, :, 0]  # each by itself: no bit depends on others
    total = products + (mu * y.sum(axis=2))[:, :, None]
    found = total.transpose(1, 0, 2) / y.shape[2]  # L⁻¹ Σ clip(y_i + α)(x_i + μ1) for each α and μ
    context = found[[shifts.index((attack.response_shift, attack.feature_shift)) for attack in attacks]]
    features, queries = (np.array([getattr(a, name) for a in attacks]) for name in ("feature_shift", "query_shift"))
    query = prompts.x[:, -1] + features[:, None, None]
    response = np.clip(prompts.y[:, -1] + queries[:, None], -C, C)
    D = query.shape[-1]
    return unit_query(Statistics(*records.voided(query.reshape(-1, D), context.reshape(-1, D), response.reshape(-1))))


def pretrain_each(
    data: Sequence[Moments],
    hyper: Hyperparameters,
    noises: np.ndarray,
    which: Sequence[int],
    initial: np.ndarray | None = None,
) -> np.ndarray:
    """Γ^T of Algorithm 1 on each of several data sets, side by side, on noise that is given: for comparisons.

    Guarantee: none. Runs on given noise are no releases; `pretraining.release` is the function for one.

    Args:
        data: K data sets. hyper: η₀, λ, R and T of all runs. noises: z_t of J runs, shape (J, T, D²).
        which: the noise of each data set, K numbers below J. initial: Γ⁰ of each, shape (K, D, D); 0 if left out.

    Returns:
        shape (K, D, D).

    Raises:
        ValueError: if the shapes disagree.
    """
    K, p = len(data), len(data[0].cross)
    _validate.shape("noises", noises, (None, hyper.steps, p))
    start = np.zeros((K, p)) if initial is None else initial.reshape(K, p)
    start = project_ball(start, hyper.weight_bound).copy()
    gram, cross = np.stack([d.gram for d in data]), np.stack([d.cross for d in data])
    shrink = 1 - 2 * hyper.penalty * hyper.learning_rate
    chosen = np.asarray(which)
    found = _walked(gram, cross, start, noises, chosen, shrink, hyper.learning_rate, float(hyper.weight_bound))
    return found.reshape(K, math.isqrt(p), -1)


@compiled
def _walked(
    gram: np.ndarray,
    cross: np.ndarray,
    Gamma: np.ndarray,
    noises: np.ndarray,
    which: np.ndarray,
    shrink: float,
    rate: float,
    radius: float,
) -> np.ndarray:
    """The last iterates, shape (K, p): Γ ↦ Π_R(shrink·Γ − rate·(HΓ − b) + z), H symmetric; moves ``Gamma``."""
    K, p = Gamma.shape
    moved = np.empty(p)
    for k in range(K):
        for z in noises[which[k]]:
            for i in range(p):
                moved[i] = shrink * Gamma[k, i] + rate * cross[k, i] + z[i]
            for j in range(p):
                factor, column = rate * Gamma[k, j], gram[k, j]
                for i in range(p):
                    moved[i] -= factor * column[i]
            square = 0.0
            for i in range(p):
                square += moved[i] * moved[i]
            scale = 1.0 if square <= radius * radius else radius / math.sqrt(square)
            for i in range(p):
                Gamma[k, i] = moved[i] * scale
    return Gamma


def direction(prompts: Prompts, feature_shift: float) -> np.ndarray:
    """V = (x_{L+1} + μ1)(x̄ + μ1)ᵀ, the growth of Z' per unit of α, shape (N, D, D)."""
    query = prompts.x[:, -1] + feature_shift
    mean = prompts.x[:, :-1].mean(axis=1) + feature_shift
    return query[:, :, None] * mean[:, None, :]


def statistic_energy(model: PromptModel, attack: Attack) -> float:
    r"""E‖Z'‖²_F of a perturbed prompt, in closed form.

    The query is independent of the tokens and centred, so E‖x + μ1‖² = 1 + Dμ² factors out. Given w, the L terms
    (y_i + α)(x_i + μ1) of m' are independent with mean w/D + αμ1, and E y²⟨x, 1⟩ = E y⟨x, 1⟩ = 0 over w and x. Hence

    E‖Z'‖² = (1 + Dμ²){(1 + τ² + α²)(1 + Dμ²)/L + (1 − 1/L)(1/D + Dα²μ²)}:

    of order D²α²μ⁴ for μ ≥ D^{-1/2}, whatever L. (A.22) has α²μ⁴/L, as if the shifts averaged out like the features.

    >>> statistic_energy(PromptModel(D=5, L=500), Attack(0.0, 0.0)) == 1 / 500 + 499 / 2500
    True
    """
    length = 1 + model.D * attack.feature_shift**2
    single = (model.response_variance + attack.response_shift**2) * length / model.L
    mean = 1 / model.D + model.D * (attack.response_shift * attack.feature_shift) ** 2
    return length * (single + (1 - 1 / model.L) * mean)


def stealthy_shift(model: PromptModel) -> float:
    """μ = (LD)^{-1/2}: the shift at which ‖μ1‖² equals E‖x̄‖² = 1/L."""
    return 1 / math.sqrt(model.L * model.D)


def with_each(rest: Moments, count: int, data: Statistics) -> list[Moments]:
    """Moments of ``count`` prompts whose means are ``rest`` and of one more: each of those in ``data`` in turn."""
    Z = data.Z.reshape(len(data.response), -1)
    return [
        Moments((count * rest.gram + np.outer(z, z)) / (count + 1), (count * rest.cross + y * z) / (count + 1))
        for z, y in zip(Z, data.response)
    ]


# ---- Attack bounds ----


def upper_end(model: PromptModel, N: int, penalty: float) -> float:
    """NLλ: the upper bound of (5.2) on α²μ⁴."""
    return N * model.L * _validate.finite_positive("penalty", penalty)


def upper_end_amended(model: PromptModel, N: int, penalty: float, feature_shift: float) -> float:
    r"""Nλ/[(1 + Dμ²){(1 + Dμ²)/L + Dμ²}]: the α² up to which ‖Z_bad‖² ≲ Nλ, as (A.22) wants it.

    `attack.statistic_energy` is α²(1 + Dμ²){(1 + Dμ²)/L + (1 − 1/L)Dμ²} and what a prompt without α has.
    """
    square = model.D * feature_shift**2
    return N * _validate.finite_positive("penalty", penalty) / ((1 + square) * ((1 + square) / model.L + square))


def lower_end(model: PromptModel, N: int, failure: float, penalty: float) -> float:
    """C²L^{-1/2}(1 ∨ λNR²L^{-1/2}): the lower bound of (5.2) on α²μ², with R of (4.1)."""
    C = hyperparameters.clip_norm(model, N, failure)
    R = hyperparameters.weight_bound_theorem(model, N, failure, penalty)
    root = math.sqrt(model.L)
    return C**2 / root * max(1.0, penalty * N * R**2 / root)


def lower_end_simplified(model: PromptModel, N: int) -> float:
    """N²/L²: what Remark 5.1 makes of `lower_end`.

    >>> lower_end_simplified(PromptModel(D=5, L=500), 5000)
    100.0
    """
    return (N / model.L) ** 2


def least_penalty(model: PromptModel, N: int, failure: float) -> float:
    """C²/L: Theorem 5.1 asks for a larger λ."""
    return hyperparameters.clip_norm(model, N, failure) ** 2 / model.L


def noisyhead_displacement(model: PromptModel, N: int, failure: float) -> float:
    """N L⁻² log²(NL/κ): first right side of (5.3)."""
    return N / model.L**2 * math.log(N * model.L / failure) ** 2


def ball_displacement(model: PromptModel, N: int, failure: float, weight_bound: float) -> float:
    """C²R²/L: right side of (A.20)."""
    return least_penalty(model, N, failure) * weight_bound**2


def ball_displacement_mean(model: PromptModel, weight_bound: float) -> float:
    """4R²E‖Z‖²/D²: two heads of norm at most R on a fresh prompt, in the mean; what (A.20) becomes.

    ‖Γ̂ − Γ̂_bad‖ ≤ 2R, and E⟨A, Z⟩² = ‖A‖²_F E‖Z‖²/D² for any A that does not depend on the prompt. E‖Z‖² → 1/D, not 0.
    """
    return 4 * weight_bound**2 * population.context_energy(model) / model.D**2


def trajectory_displacement(hyper: Hyperparameters, N: int) -> float:
    r"""(η₀σ/N) Σ_{t<T} a^t ≥ ‖Γ^T − Γ^T_bad‖_F for runs on the same noise from the same Γ⁰; replace one prompt.

    One update on either data set is a-Lipschitz, a = ``hyper.contraction``, Π_R moves no two points apart, and at a
    common Γ the two updates differ by at most the sensitivity η₀σ/N of (A.1): d_{t+1} ≤ a d_t + η₀σ/N, d₀ = 0.
    Neither α nor μ enters.
    """
    a, T = hyper.contraction, hyper.steps
    steps = float(T) if a == 1 else (1 - a**T) / (1 - a)
    return hyper.learning_rate * hyper.sigma / _validate.whole("N", N) * steps


def rerun_displacement_mean(model: PromptModel, hyper: Hyperparameters, N: int, noise_std: float) -> float:
    r"""(e/D²) min{2R, (η₀σ/N) Σ_{t<T} aᵗ + s D √(2 Σ_{t<T} a²ᵗ)}² ≥ E⟨Γ^T − Γ^T_bad, Z⟩², noises of their own.

    With u_t² = E‖Γᵗ − Γᵗ_bad‖² the step of `trajectory_displacement` reads u_{t+1}² ≤ (a u_t + η₀σ/N)² + 2s²D², since
    two fresh noises of variance s² in D² entries are centred and independent of the past; the rest is the triangle
    inequality in ℓ². Two points of the ball are 2R apart at most. Neither α nor μ enters.

    Args:
        model: the law of a prompt. hyper: of both runs. N: training prompts. noise_std: s ≥ 0.
    """
    a, T = hyper.contraction, hyper.steps
    squares = float(T) if a == 1 else (1 - a ** (2 * T)) / (1 - a**2)
    moved = trajectory_displacement(hyper, N) + noise_std * model.D * math.sqrt(2 * squares)
    return min(2 * hyper.weight_bound, moved) ** 2 * population.context_energy(model) / model.D**2


def filled_ball_displacement(model: PromptModel, weight_bound: float) -> float:
    """2R²E‖Z‖²/D²: two heads in independent directions on the sphere of radius R; what T → ∞ makes of Algorithm 1.

    Its noise grows with T, basic composition or not, and the last step leaves Π_R of noise that dwarfs R.
    """
    return ball_displacement_mean(model, weight_bound) / 2


def ridge_displacement(attack: Attack, N: int, penalty: float) -> float:
    """α²μ²/(Nλ): last right side of (5.3), claimed below ridge's displacement."""
    return (attack.response_shift * attack.feature_shift) ** 2 / (N * penalty)


def ridge_step_bound(rest: Moments, count: int, penalty: float, response: np.ndarray) -> np.ndarray:
    r"""|y|/(2√μ_min) + √(μ_max/μ_min) ‖Γ₀‖_F ≥ ‖Γ* − Γ₀‖_F for one more prompt with response y and *any* Z.

    With u = A^{-1/2}z the step of `ridge.RidgeWithOneMore` is A^{-1/2}u(y − ⟨A^{1/2}Γ₀, u⟩)/(1 + ‖u‖²), where
    ‖u‖/(1 + ‖u‖²) ≤ 1/2 and ‖u‖²/(1 + ‖u‖²) ≤ 1; μ_min ≥ λN and μ_max are A's extreme eigenvalues. So no perturbation
    of the features and of the labelled responses moves ridge further; one of y_{L+1} can.

    Args:
        rest: means over the other prompts. count: their number. penalty: λ > 0.
        response: y of each candidate, shape (B,).

    Returns:
        The bounds, shape (B,).
    """
    p, N = len(rest.cross), count + 1
    A = count * rest.gram + penalty * N * np.eye(p)
    eigenvalues = np.linalg.eigvalsh(A)
    without = float(np.linalg.norm(np.linalg.solve(A, count * rest.cross)))
    least, condition = eigenvalues[0], eigenvalues[-1] / eigenvalues[0]
    return np.abs(response) / (2 * math.sqrt(least)) + math.sqrt(condition) * without


def gram_norm_rms(model: PromptModel, N: int) -> float:
    """(E‖Σ vec(Z) vec(Z)ᵀ‖²_F)^{1/2} = N {(1 − 1/N)(e/D)² + E‖Z‖⁴/N}^{1/2} for N independent prompts."""
    square = (population.context_energy(model) / model.D) ** 2
    return N * math.sqrt((1 - 1 / N) * square + statistic_fourth_moment(model) / N)


def statistic_fourth_moment(model: PromptModel) -> float:
    r"""E‖Z‖⁴_F = E‖m‖⁴ of a clean prompt, in closed form; (D + 2)/D³ as L grows.

    Given w the moment is a quadratic f in q = ‖w‖², of mean D and variance 2D, so E f(q) = f(D) + D f''.

    >>> statistic_fourth_moment(PromptModel(D=5, L=1))
    3.0
    """
    D = model.D
    at = [_fourth_moment_given(model, q) for q in (0.0, float(D), 2.0 * D)]
    return at[1] + (at[2] - 2 * at[1] + at[0]) / D


def _fourth_moment_given(model: PromptModel, q: float) -> float:
    r"""E(‖m‖⁴ | ‖w‖² = q): Lm = Lb + Σ u_i with b = w/D and u_i = y_i x_i − b independent and centred.

    E‖Lm‖⁴ = L⁴b⁴ + 2L³b² tr Σ + 4L³ bᵀΣb + 4L² E(b·u)‖u‖² + L E‖u‖⁴ + L(L − 1){(tr Σ)² + 2 tr Σ²}, where b² = ‖b‖² and
    Σ = cov u has one eigenvalue along w and D − 1 equal ones across.
    """
    D, L, v = model.D, model.L, model.label_noise**2
    b2, y2 = q / D**2, q / D + v
    across = q / (D * (D + 2)) + v / D
    along = 3 * q / (D * (D + 2)) + v / D - b2
    trace, trace_of_square = along + (D - 1) * across, along**2 + (D - 1) * across**2
    y4 = 3 * q**2 / (D * (D + 2)) + 6 * v * q / D + 3 * v**2
    projected, crossed = b2 * (along + b2), 3 * b2 * (q / (D + 2) + v)  # E(b·yx)² and E y²(b·yx)
    skew = crossed - 2 * projected + 2 * b2**2 - b2 * y2
    single = y4 + 4 * projected - 3 * b2**2 - 4 * crossed + 2 * b2 * y2
    pairs = trace**2 + 2 * trace_of_square
    drift = L**4 * b2**2 + 2 * L**3 * b2 * trace + 4 * L**3 * b2 * along
    return (drift + 4 * L**2 * skew + L * single + L * (L - 1) * pairs) / L**4


def gram_norm(model: PromptModel, N: int) -> float:
    r"""N e/D, e = E‖Z‖²: ‖E Σ vec(Z) vec(Z)ᵀ‖_F, since the mean is the multiple e/D² of the D² × D² identity.

    (A.21) has C²N/L, which is smaller from L ≈ C²D² on.
    """
    return N * population.context_energy(model) / model.D


def outlier_energy(model: PromptModel, N: int, failure: float, attack: Attack) -> float:
    """C²/L + α²μ⁴/L: right side of (A.22) for ‖Z_bad‖²_F."""
    shift = attack.response_shift**2 * attack.feature_shift**4
    return least_penalty(model, N, failure) + shift / model.L


def ridge_limit(model: PromptModel, penalty: float, feature_shift: float, ratio: float) -> float:
    r"""Ridge's squared displacement over a fresh prompt as α → ∞, then N, L → ∞, for y_{L+1} + ratio·α; D ≥ 2.

    The limit of `ridge.RidgeWithOneMore` with A ∝ I and Γ₀ = gI (the population), V = μ(x + μ1)1ᵀ (x̄ → 0):
    ‖Γ_bad − Γ*‖² = (ratio − gμ⟨x + μ1, 1⟩)²/(μ²D‖x + μ1‖²), times E‖Z‖²/D², averaged over the attacked query x. With
    ⟨x, 1⟩ = √D t, t has the density ∝ (1 − t²)^{(D−3)/2}: Gauss–Jacobi nodes. At μ = D^{-1/2} the query −μ1 annuls the
    direction: for D ≤ 3 and ratio ≠ 0 the mean is infinite then (close to that μ the nodes lose digits).

    Args:
        model: the law of a prompt. penalty: λ > 0. feature_shift: μ ≠ 0. ratio: of y_{L+1}'s shift to α.

    Raises:
        ValueError: if D is below 2 or the penalty not positive.
    """
    penalty = _validate.finite_positive("penalty", penalty)
    D, mu = model.D, feature_shift
    exponent = (_validate.whole("D", D, at_least=2) - 3) / 2
    if D <= 3 and ratio != 0 and math.isclose(D * mu**2, 1):
        return math.inf
    t, weight = special.roots_jacobi(200, exponent, exponent)
    g, s = population.ridge_scale(model, penalty), math.sqrt(D) * t
    norm = (ratio - g * mu * (s + D * mu)) ** 2 / (mu**2 * D * (1 + 2 * mu * s + D * mu**2))
    return float(norm @ weight / weight.sum() * population.context_energy(model) / D**2)


def rerun_displacement(
    data: Moments, hyper: Hyperparameters, model: PromptModel, noise_std: float, initial_std: float
) -> tuple[float, float]:
    r"""How far two runs of Algorithm 1 on *one* data set lie apart, over a fresh prompt, Π_R idle: by Γ⁰, by noise.

    In the eigenbasis of H a step multiplies a coordinate by a_j = 1 − η₀(2λ + h_j), so two independent Γ⁰ of variance v
    leave 2v Σ_j a_j^{2T}, two independent noises of variance s² leave 2s² Σ_j Σ_{t<T} a_j^{2t}; both times E‖Z‖²/D².

    Args:
        data: moments of the clipped and projected prompts. hyper: of both runs. model: the law of the fresh prompt.
        noise_std: s of an entry of z_t. initial_std: √v of an entry of Γ⁰.

    Returns:
        The two displacements, scalars.
    """
    square = (1 - hyper.learning_rate * (2 * hyper.penalty + np.linalg.eigvalsh(data.gram))) ** 2
    risk = 2 * population.context_energy(model) / model.D**2
    powers = (square[:, None] ** np.arange(hyper.steps)).sum()
    return risk * initial_std**2 * float((square**hyper.steps).sum()), risk * noise_std**2 * float(powers)
