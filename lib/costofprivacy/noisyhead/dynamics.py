r"""The excess risk along Algorithm 1 in closed form, as long as Π_R is idle: a part of descent and a part of noise.

Without Π_R the update is affine, so Γ^T = (its noiseless twin) + Σ_t M^{T−1−t} z_t with M = (1 − 2λη₀)I − η₀H, and the
noise has mean 0: the mean excess risk is that of the twin plus that of the noise. With the curvature h of the
population, H = hI, h = E‖m‖²/D² (`population`), both are elementary. On a data set the eigenvalues of H differ from h
by a multiple of h itself, which changes the risk by a relative O(h/λ): 1e-5 where λ = N/D, and nothing to speak of.

**The test error along Algorithm 1 from Γ⁰ = 0 in closed form: what descent learns, and what noise adds at most.**

Without noise Γ^T = g_T b with g_T = (1 − a^T)/(2λ + h) and a = 1 − η₀(2λ + h) (`dynamics`), where H = hI. A matrix Γ
that does not depend on the query has the test error 1 + τ² − 2 tr(Γ)/D² + h‖Γ‖²_F (`population`), and E tr b = 1/D:

.. math:: \mathrm{error}_T = 1 + \tau^2 - \frac{2g_T}{D^3} + h\,g_T^2\,E\|b\|^2 + (\text{the noise's part}).

The noise has mean 0 and is independent of b, so its part is that of the excess risk, `dynamics.noise_risk`.

**What Algorithm 1 releases after many steps, simulated at once instead of step by step. It is no release.**

Where :math:`\Pi_R` is idle the update is linear. In the eigenbasis of the Gram matrix H each coordinate is a chain

.. math:: g_{t+1} = (1 - \eta_0(2\lambda + h))\,g_t + \eta_0 b + s\,\xi_t,

so that, given the data, its last value is Gaussian. Its mean is that of descent without noise, and its variance is
:math:`s^2\sum_{t<T}(1 - \eta_0(2\lambda + h))^{2t}`. Millions of steps cost what one does.

This is for experiments on data that need no protection. Whether :math:`\Pi_R` is idle depends on the data, and where it
is not, the law that is drawn from is another than that of Algorithm 1: nobody has bounded what it tells of a prompt.
What may be released is made by `pretraining.release`.
"""

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.pretraining import descent_path, refuse_unbounded
from costofprivacy.noisyhead.prompts import PromptModel


def curvature(model: PromptModel) -> float:
    """h = E‖m‖²/D²: every eigenvalue of the population's Gram matrix of vec(Z)."""
    return context_energy(model) / model.D**2


def noise_risk(hyper: Hyperparameters, model: PromptModel, noise_std: float, curvature: float = 0.0) -> float:
    r"""E⟨Γ^T − Γ^T_noiseless, Z⟩² where Π_R is idle: std² E‖m‖² Σ_{t<T} (1 − η₀(2λ + h))^{2t}.

    Args:
        hyper: λ, η₀, T. model: the law of a prompt. noise_std: of an entry of z_t.
        curvature: h ≥ 0, the eigenvalue of the Gram matrix; E‖m‖²/D² in the population, where it is h I.
    """
    return float(noise_risks(hyper, model, np.array(noise_std), np.array(hyper.steps), curvature))


def noise_risks(
    hyper: Hyperparameters, model: PromptModel, noise_std: np.ndarray, steps: np.ndarray, curvature: float = 0.0
) -> np.ndarray:
    """`noise_risk` after each T of ``steps``, with the standard deviation that belongs to it; of their shape."""
    square = (1 - hyper.learning_rate * (2 * hyper.penalty + curvature)) ** 2
    risks: np.ndarray = noise_std**2 * context_energy(model) * (1 - square**steps) / (1 - square)
    return risks


def cross_energy(model: PromptModel, N: int) -> float:
    r"""E‖b‖² of the cross moment b = N⁻¹ Σ y_k Z_k: (1 − 1/N)/D³ + E y²‖m‖²/N.

    E yZ = I/D² (`population`). Given w the query's E y² is ‖w‖²/D + τ², and ‖m‖² is on average ‖w‖²f + τ²/L with
    f = (E‖m‖² − τ²/L)/D, from the features alone; E‖w‖⁴ = D(D + 2).

    >>> round(cross_energy(PromptModel(D=31, L=31), 10**12) * 31**3, 6)
    1.0
    """
    tau2, D = model.label_noise**2, model.D
    f = (context_energy(model) - tau2 / model.L) / D
    square = f * (D + 2) + tau2 * (1 / model.L + D * f + tau2 / model.L)
    return (1 - 1 / N) / D**3 + square / N


def descent_risk(
    hyper: Hyperparameters, model: PromptModel, N: int, penalty: float, initial_energy: float, steps: np.ndarray
) -> np.ndarray:
    r"""E⟨Γ^T − Γ*, Z⟩² of the noiseless twin after each T of ``steps``, for H = hI.

    Γ^T = a^TΓ⁰ + (1 − a^T)b/(2λ' + h) with a = 1 − η₀(2λ' + h), λ' the update's penalty, and Γ* = b/(λ + h); Γ⁰ has
    mean 0 and is independent of the data.

    Args:
        hyper: λ' and η₀. penalty: λ of the reference Γ*.
        initial_energy: E‖Γ⁰‖²_F ≥ 0. steps: T ≥ 0, any shape.

    Returns:
        of the shape of ``steps``.
    """
    h = curvature(model)
    rest = 2 * hyper.penalty + h
    decay = (1 - hyper.learning_rate * rest) ** np.asarray(steps)
    off = (1 - decay) / rest - 1 / (penalty + h)
    return h * (decay**2 * initial_energy + off**2 * cross_energy(model, N))


# ---- Learning curve ----


def noiseless_gain(hyper: Hyperparameters, model: PromptModel, N: int, steps: np.ndarray) -> np.ndarray:
    """By how much Algorithm 1 without noise, from Γ⁰ = 0 and Π_R idle, is on average better than answering 0.

    Assumes: the Gram matrix of the statistics is h I, its mean, right to O(h/λ) relative; clipping and projection
    change no statistic.

    Args:
        hyper: λ and η₀ of the update. model: the law of a prompt. N: training prompts. steps: T ≥ 0, any shape.

    Returns:
        1 + τ² less the test error after each T, of the shape of ``steps``; 0 at T = 0.

    >>> from costofprivacy.noisyhead import recipes
    >>> model = recipes.square_model(5, 1000, 0.0)
    >>> hyper = recipes.low_dimension(model, 1000, 1.0, 5.0)["corrected"]
    >>> print(noiseless_gain(hyper, model, 1000, np.array([0, 10, 44])).round(5))
    [0.      0.00313 0.00319]
    """
    h = curvature(model)
    rest = 2 * hyper.penalty + h
    learnt = (1 - (1 - hyper.learning_rate * rest) ** np.asarray(steps)) / rest
    return 2 * learnt / model.D**3 - h * learnt**2 * cross_energy(model, N)


def noise_limit(hyper: Hyperparameters, model: PromptModel) -> float:
    """h R²: what noise can add at most, since Π_R keeps ‖Γ‖_F ≤ R.

    The mean square norm of the noise in Γ^T is at most the least of R² and of what it would be without Π_R: Π_R
    shortens, it keeps directions, and min(R², ·) is concave.
    """
    return curvature(model) * hyper.weight_bound**2


# ---- Last iterate ----


def simulate(data: Moments, hyper: Hyperparameters, noise_std: float, *, rng: np.random.Generator) -> np.ndarray:
    """Simulate Γ^T of Algorithm 1 (arXiv:2504.16000v2) from Γ⁰ = 0: its law where the projection is idle.

    Not for release: whether the projection is idle depends on the data, so that nothing is promised to a prompt.

    Assumes: the projection onto the ball of radius R is idle. A norm well below R says that it was.

    Args:
        data: moments of the clipped and projected statistics. hyper: C, G, λ, η₀ and T; R is not used.
        noise_std: standard deviation of an entry of z_t, at least 0.
        rng: source of the noise; advanced by D² normals.

    Returns:
        shape (D, D).

    Raises:
        ValueError: if the standard deviation is negative, or moments that noise should protect cannot be those of
            prompts within C and G.
    """
    std = _validate.nonnegative("noise_std", noise_std)
    if std:
        refuse_unbounded(data, hyper.clip_norm, hyper.feature_bound)
    moments = in_eigenbasis(data)
    square = (1 - hyper.learning_rate * (2 * hyper.penalty + moments.eigenvalues)) ** 2
    spread = std * np.sqrt((1 - square**hyper.steps) / (1 - square))
    noise = spread * rng.standard_normal(len(spread))
    return descent_path(moments, hyper, [hyper.steps])[0] + moments.matrices(noise)[0]
