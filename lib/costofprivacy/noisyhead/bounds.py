r"""The right-hand sides of Theorems 1.1, 4.1, 4.2, Proposition 4.1 and Lemmas A.1-A.3 of arXiv:2504.16000v2.

Hidden constants (≲, ≍) are one wherever a function here has to take a value; the docstrings say which.

**What Π_G costs on long prompts: the ridge solution of statistics that the projection has shortened.**

As L → ∞ the context m of a prompt tends to w/D with w ~ N(0, I_D), whatever the label noise, and Π_G shortens it to
m̃ = m min(1, G/‖m‖). By isotropy the population's ridge solutions are multiples of I: gI for m, g̃I for m̃, with

.. math:: g = \frac{E\langle w, m\rangle}{E\|m\|^2 + \lambda D^2}, \qquad
          \tilde g = \frac{E\langle w, \tilde m\rangle}{E\|\tilde m\|^2 + \lambda D^2} .
"""

import math
from typing import cast

from scipy import special, stats

from costofprivacy import _validate
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP


def cost_of_descent(hyper: Hyperparameters, query_bound: float) -> float:
    """G₀²(1 − η₀λ)^T R²: the first term of (4.2), "cost of descent" of Remark 4.1."""
    decay = (1 - hyper.learning_rate * hyper.penalty) ** hyper.steps
    return query_bound**2 * decay * hyper.weight_bound**2


def cost_of_noise(
    hyper: Hyperparameters, query_bound: float, model: PromptModel, budget: ApproximateDP, N: int
) -> float:
    """G₀²σ²η₀²D T² log(2T/δ)/(N²ε²): the second term of (4.2), "cost of noise injection" of Remark 4.1."""
    T, eta = hyper.steps, hyper.learning_rate
    scale = (query_bound * hyper.sigma * eta * T / (N * budget.epsilon)) ** 2
    return scale * model.D * math.log(2 * T / budget.delta)


def success_probability(failure: float) -> float:
    """1 − 4κ: what Theorems 4.1 and 4.2 guarantee at most, before c₁exp(−c₂D) is taken off.

    >>> success_probability(1.0)
    -3.0
    """
    return 1 - 4 * failure


def low_dimensional_iterations(model: PromptModel, N: int, learning_rate: float, penalty: float) -> int:
    """T = ⌊log(N²LD³)/log(1/(1 − η₀λ))⌋ of Theorem 4.2(i), at least 1."""
    rate = -math.log1p(-_step(learning_rate, penalty))
    return max(1, math.floor(math.log(N**2 * model.L * model.D**3) / rate))


def low_dimensional_cost(model: PromptModel, N: float, budget: ApproximateDP) -> float:
    """ν⁵ log¹⁰(NL)/(NL³)·(1 + log(1/δ)/ε²): right side of (4.3), hidden constant one."""
    _validate.positive("N", N)
    nu, L, size = model.response_variance, model.L, cast(float, _validate.number(N))  # whole numbers stay exact
    return nu**5 * math.log(size * L) ** 10 / (size * L**3) * (1 + _privacy(budget))


def low_dimensional_rate(model: PromptModel, N: float, budget: ApproximateDP) -> float:
    """N^{-3/2}L^{-2} log(1/δ)/ε²: Theorem 1.1, low dimension, constant one, logarithms hidden."""
    return N**-1.5 * model.L**-2.0 * _privacy(budget)


def amended_cost(hyper: Hyperparameters, model: PromptModel, noise_std: float) -> float:
    r"""E‖m‖² {a^{2T}R²/D² + std² (1 − a^{2T})/(1 − a²)}, a = 1 − 2η₀λ': what (4.2) becomes, in expectation.

    Assumes: the update's penalty λ' is half of the ridge penalty, so that Γ* is its fixed point; Π_G and the clipping
    idle; ‖Γ*‖_F ≤ R; Γ⁰ = 0; η₀(2λ' + G²) ≤ 1. Then Π_R moves no iterate away from Γ*, one step contracts by a, and
    E‖Γ^{t+1} − Γ*‖² ≤ a² E‖Γ^t − Γ*‖² + D² std²; a fresh prompt turns E‖·‖²_F into risk by the factor E‖m‖²/D².
    """
    square = (1 - 2 * hyper.learning_rate * hyper.penalty) ** 2
    decay = square**hyper.steps
    noise = noise_std**2 * (1 - decay) / (1 - square)
    return context_energy(model) * (decay * hyper.weight_bound**2 / model.D**2 + noise)


def high_dimensional_iterations(progress: float, learning_rate: float, penalty: float) -> int:
    """T = ⌈log r/log(1/(1 − η₀λ))⌉ of Theorem 4.2(ii), r = ``progress`` > 1, so that (1 − η₀λ)^T ≤ 1/r.

    >>> high_dimensional_iterations(100.0, 0.01, 10.0)
    44

    Raises:
        ValueError: if ``progress`` is not above 1 or η₀λ not between 0 and 1.
    """
    if not progress > 1:
        raise ValueError(f"progress must be above 1, got {progress!r}")
    return math.ceil(math.log(progress) / -math.log1p(-_step(learning_rate, penalty)))


def progress(learning_rate: float, penalty: float, steps: float) -> float:
    """r = (1 − η₀λ)^{−T}: how far T steps have come in the measure of Theorem 4.2(ii) and Proposition 4.1."""
    return math.exp(-steps * math.log1p(-_step(learning_rate, penalty)))


def high_dimensional_cost(
    model: PromptModel, N: float, penalty: float, progress: float, budget: ApproximateDP
) -> tuple[float, float]:
    """The two terms of (4.4), descent and noise, hidden constants one, for r = ``progress``."""
    L, logs = model.L, math.log(N * model.L)
    descent = N * model.response_variance**5 * logs**3 / (L**2 * penalty**2 * progress)
    rounds = model.D * progress * math.log(progress) ** 3 / N**3
    return descent, descent * rounds * (1 + logs**2 * N / (L * penalty) ** 2) * _privacy(budget)


def overparametrised_cost(model: PromptModel, N: float, progress: float, budget: ApproximateDP) -> tuple[float, float]:
    """The two terms of (4.5), descent and noise, hidden constants one, for r = ``progress``.

    They are ν⁵log³(NL) times D²/(NL²r) and D³log³r/(N⁴L²)·log(1/δ)/ε².
    """
    logs = model.response_variance**5 * math.log(N * model.L) ** 3
    descent = logs * model.D**2 / (N * model.L**2 * progress)
    return descent, descent * progress * math.log(progress) ** 3 * model.D / N**3 * _privacy(budget)


def stopped_cost(model: PromptModel, N: float) -> float:
    """ν⁵log³(NL) D²/(NL)²: right side of (4.6), hidden constant one."""
    return model.response_variance**5 * math.log(N * model.L) ** 3 * (model.D / (N * model.L)) ** 2


def high_dimensional_rate(model: PromptModel, N: float, budget: ApproximateDP) -> float:
    """D²(NL)^{-2} log(1/δ)/ε²: Theorem 1.1, high dimension, constant one, logarithms hidden."""
    return (model.D / (N * model.L)) ** 2 * _privacy(budget)


def noise_cost_section_62(model: PromptModel, N: float, progress: float) -> float:
    """D√L log³r/(N log(NL)): C_Noise as section 6.2 prints it; compare the second term of `overparametrised_cost`."""
    return model.D * math.sqrt(model.L) / (N * math.log(N * model.L)) * math.log(progress) ** 3


def response_level(model: PromptModel, N: int, failure: float) -> float:
    """√((1 + τ²) log(4NL/κ)) of Lemma A.1, constant one; √2 is a constant that serves, whatever the dependence.

    P(|z| > t) ≤ e^{−t²/2ν} for one of them; a union bound over NL at t = √(2ν log(4NL/κ)) leaves κ/4.
    """
    return math.sqrt(model.response_variance * math.log(4 * N * model.L / _validate.probability("failure", failure)))


def feature_sum_level(model: PromptModel, N: int, failure: float) -> float:
    r"""√L (1 + D^{-1/2}√log(N/κ)) of Lemma A.2, constant one; √2 is a constant that serves.

    A coordinate of a uniform unit vector is sub-Gaussian with its own variance 1/D, so with S = Σ x_i and g standard
    normal, E exp(s‖S‖²/2) = E exp(√s⟨g, S⟩) ≤ E exp(sL‖g‖²/(2D)): D‖S‖²/L has the moment generating function of χ²_D
    at most, hence its tail, P(‖S‖ > √L(1 + √(2u/D))) ≤ e^{−u} (Laurent and Massart 2000, Lemma 1); u = log(N/κ).
    """
    odds = math.log(N / _validate.probability("failure", failure))
    return math.sqrt(model.L) * (1 + math.sqrt(odds / model.D))


def product_sum_level(model: PromptModel, N: int, failure: float) -> float:
    """√(NL) (1 + D^{-1}√log(1/κ)) of Lemma A.3, constant one.

    The square of the left side has mean NL, and a direction A of R^{D×D} the variance NL/D² at ‖A‖_F = 1: the form is
    that of a Gaussian sum, right where N ≳ D² + log(1/κ). For few prompts it is not: at N = 1 the left side is ‖Σ x_i‖,
    whose deviations are of the order √(L/D), not √L/D (Lemma A.2).
    """
    odds = -math.log(_validate.probability("failure", failure))
    return math.sqrt(N * model.L) * (1 + math.sqrt(odds) / model.D)


def _step(learning_rate: float, penalty: float) -> float:
    """η₀λ, refused unless it lies between 0 and 1."""
    step = learning_rate * penalty
    if not 0 < step < 1:
        raise ValueError(f"learning_rate * penalty must be between 0 and 1, got {step!r}")
    return step


def _privacy(budget: ApproximateDP) -> float:
    """log(1/δ)/ε²."""
    return -math.log(budget.delta) / budget.epsilon**2


# ---- Shortening ----


def shortening_risk(D: int, feature_bound: float, penalty: float) -> float:
    """E⟨Γ̃ − Γ*, Z⟩² = (g̃ − g)²/D² in the limit L → ∞: the excess risk that Π_G alone leaves, without any noise.

    With r = ‖w‖ and u = GD, E⟨w, m⟩ falls by E[r²/D − Gr; r > u] and E‖m‖² by E[r²/D² − G²; r > u], both by tails of
    χ². It rises from 0 at G = ∞ to `population.zero_excess_risk`, that of answering 0, at G = 0.

    Args:
        D: dimension, at least 1. feature_bound: G > 0, finite. penalty: λ > 0, finite.
    """
    D = _validate.whole("D", D)
    G, square = _validate.finite_positive("feature_bound", feature_bound), (feature_bound * D) ** 2
    tail = [stats.chi2.sf(square, D + power) for power in (0, 1, 2)]
    mean = math.sqrt(2) * math.exp(special.gammaln((D + 1) / 2) - special.gammaln(D / 2))  # E‖w‖
    lost, energy_lost = tail[2] - G * mean * tail[1], tail[2] / D - G**2 * tail[0]
    whole = 1 / D + _validate.finite_positive("penalty", penalty) * D**2
    gap = (lost * whole - energy_lost) / (whole * (whole - energy_lost))
    return float((gap / D) ** 2)
