r"""Prompts whose features have any covariance Σ, and the best linear head for them.

A feature is :math:`x = \sqrt{D}\,\Sigma^{1/2}u` with u uniform on the unit sphere: its covariance is Σ exactly, and
Σ = I/D gives the prompts of section 2 of arXiv:2504.16000v2. Here tr Σ = 1, so that a response has the variance 1 + τ²
for every Σ. With S = L⁻¹ Σ x_i x_iᵀ the context is m = Sw + noise, and from the moments of u

.. math:: M = \mathbb{E}\,mm^\top = \frac1L\,\frac{D}{D+2}(\Sigma + 2\Sigma^2) + \Big(1 - \frac1L\Big)\Sigma^2
          + \frac{\tau^2}{L}\Sigma, \qquad \mathbb{E}\,mw^\top = \Sigma .

A linear head ŷ = xᵀΓm errs by 1 + τ² − 2 tr ΓΣ² + tr ΣΓMΓᵀ. The best one is Γ = ΣM⁻¹; of the multiples of I, which
need no knowledge of the axes of Σ, the best is g = tr Σ²/tr ΣM. All of it commutes: the eigenvalues of Σ are enough.
"""

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.prompts import Prompts


def spectrum(D: int, condition: float) -> np.ndarray:
    """Eigenvalues of a covariance of trace 1, in geometric progression; ``condition`` is the last over the first.

    >>> spectrum(2, 3.0).round(2)
    array([0.25, 0.75])
    """
    if not _validate.finite_positive("condition", condition) >= 1:
        raise ValueError(f"condition must be at least 1, got {condition!r}")
    values = np.geomspace(1.0, condition, _validate.whole("D", D))
    return values / values.sum()


def axes(D: int, *, rng: np.random.Generator) -> np.ndarray:
    """A rotation from the uniform law, shape (D, D): its columns are the axes of a covariance."""
    Q, R = np.linalg.qr(rng.standard_normal((D, D)))
    return Q * np.sign(np.diagonal(R))


def matrix(Q: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Q diag(values) Qᵀ: with the eigenvalues' roots a root of the covariance, with other values a head."""
    return (Q * values) @ Q.T


def sample(root: np.ndarray, L: int, N: int, label_noise: float = 0.0, *, rng: np.random.Generator) -> Prompts:
    """Draw N prompts of L labelled tokens and a query, with features √D Σ^½ u.

    Args:
        root: Σ^½, shape (D, D), symmetric. L, N: at least 1. label_noise: τ ≥ 0. rng: source of randomness.

    Raises:
        ValueError: if an argument is outside its range.
    """
    _validate.shape("root", root, (None, len(root)))
    D, tokens = len(root), _validate.whole("L", L) + 1
    w = rng.standard_normal((_validate.whole("N", N), D))
    u = rng.standard_normal((N, tokens, D))
    u /= np.sqrt(np.einsum("nld,nld->nl", u, u))[:, :, None]
    x = u @ (np.sqrt(D) * root)
    y = np.matmul(x, w[:, :, None])[:, :, 0]
    if _validate.nonnegative("label_noise", label_noise) > 0:
        y += label_noise * rng.standard_normal((N, tokens))
    return Prompts(x, y, w)


def context_moment(values: np.ndarray, L: int, label_noise: float = 0.0) -> np.ndarray:
    """The eigenvalues of M = E m mᵀ for a covariance with these eigenvalues, shape (D,)."""
    D = len(values)
    single = D / (D + 2) * (values + 2 * values**2)
    return single / L + (1 - 1 / L) * values**2 + label_noise**2 / L * values


def best_linear(values: np.ndarray, L: int, label_noise: float = 0.0) -> tuple[np.ndarray, float]:
    """The eigenvalues of the best Γ = ΣM⁻¹, and its test error.

    >>> round(best_linear(spectrum(5, 1.0), 31)[1] - 4 / 35, 12) == 0
    True
    """
    moment = context_moment(values, L, label_noise)
    return values / moment, float(1 + label_noise**2 - (values**3 / moment).sum())


def public_linear(values: np.ndarray, L: int, label_noise: float = 0.0) -> tuple[float, float]:
    """The best multiple of I, which uses no prompt and no axes of Σ: g, and its test error."""
    moment, square = context_moment(values, L, label_noise), (values**2).sum()
    energy = (values * moment).sum()
    return float(square / energy), float(1 + label_noise**2 - square**2 / energy)


def linear_error(Gamma: np.ndarray, Q: np.ndarray, values: np.ndarray, L: int, label_noise: float = 0.0) -> np.ndarray:
    """Test error of linear heads on a fresh prompt, in closed form.

    Args:
        Gamma: shape (B, D, D). Q, values: axes and eigenvalues of Σ. L: labelled tokens. label_noise: τ.

    Returns:
        shape (B,).
    """
    turned = Q.T @ Gamma @ Q
    straight = np.einsum("bdd,d->b", turned, values**2)
    square = np.einsum("d,bde,e->b", values, turned**2, context_moment(values, L, label_noise))
    return 1 + label_noise**2 - 2 * straight + square
