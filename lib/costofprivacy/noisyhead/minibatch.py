r"""DP-SGD on the ridge objective (2.6) of arXiv:2504.16000v2, as section 6.4 has it.

A step draws each prompt with probability q, clips each drawn prompt's gradient :math:`f(\langle\Gamma, Z\rangle - y)Z`
at norm c, and takes the penalty by weight decay, which needs no data:

.. math:: \Gamma^{t+1} = (1 - 2\lambda\eta_0)\Gamma^t - \eta_0\Big(\frac{1}{qN}\sum_{k\in B_t}
          \mathrm{clip}_c\big(f(\langle\Gamma^t, Z_k\rangle - y_k)Z_k\big) + s\,\xi_t\Big).

f = 2 is the gradient of (2.6) itself, whose resting point is Γ* of (2.7); f = 1 is the step of Algorithm 1, which rests
at Γ_{2λ}. A *prompt* is the record: one gradient each, whatever its length.

*Guarantee.* Replacing one prompt by any other moves the mean gradient of a step by at most 2c/(qN) if it is drawn, and
not at all if not; adding or removing one by at most half of that. `costofprivacy.privacy.subsampled` accounts for it.
"""

from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.head import Statistics, project
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import records, sums
from costofprivacy.privacy.records import numbers

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
    Gamma, Z, drawn = np.zeros((len(factor), p)), np.empty((N, p)), np.empty(N, np.int64)
    for _ in range(steps):
        n = 0
        for k in range(N):
            if rng.random() < batch / N:
                drawn[n], Z[n] = k, features[k]
                n += 1
        weights = np.dot(Z[:n], Gamma.T)
        for i in range(n):
            length, y = norm[drawn[i]], response[drawn[i]]
            for b in range(len(factor)):
                residual = factor[b] * (weights[i, b] - y)
                weights[i, b] = residual * min(1.0, clip_norm[b] / max(abs(residual) * length, _TINY))
        gradient = _summed(weights, Z[:n])
        z = np.array([rng.standard_normal() for _ in range(p)])
        for b in range(len(factor)):
            Gamma[b] = shrink * Gamma[b] - rate * (gradient[b] / batch + noise_std[b] * z)
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
        sums_of[k] = np.dot(weights[k * _ROWS : (k + 1) * _ROWS].T, Z[k * _ROWS : (k + 1) * _ROWS])
    while size > 1:
        for k in range(size // 2):
            sums_of[k] = sums_of[2 * k] + sums_of[2 * k + 1]
        if size % 2:
            sums_of[size // 2] = sums_of[size - 1]
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
