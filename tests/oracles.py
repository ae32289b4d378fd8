"""The papers' pseudocode, word for word: slow, obvious, and independent of the library."""

import numpy as np


def clip(value: float, C: float) -> float:
    """clip_C: the nearest point of [-C, C]."""
    return min(max(value, -C), C)


def project(matrix: np.ndarray, radius: float) -> np.ndarray:
    """Π: the nearest matrix of Frobenius norm at most ``radius``."""
    norm = np.sqrt((matrix**2).sum())
    return matrix if norm <= radius else matrix * radius / norm


def statistic(x: np.ndarray, y: np.ndarray, C: float, G: float) -> np.ndarray:
    """First line of Algorithm 1 for one prompt: Π_G(L⁻¹ x_{L+1} Σ clip_C(y_i) x_iᵀ)."""
    L = len(y) - 1
    total = np.zeros((x.shape[1], x.shape[1]))
    for i in range(L):
        total += np.outer(x[L], clip(y[i], C) * x[i])
    return project(total / L, G)


def noisyhead(
    x: np.ndarray,
    y: np.ndarray,
    C: float,
    G: float,
    R: float,
    lam: float,
    eta0: float,
    noise: np.ndarray,
    Gamma0: np.ndarray,
) -> np.ndarray:
    """Algorithm 1 of arXiv:2504.16000v2, prompt by prompt and step by step; ``noise`` holds z_0, …, z_{T−1}."""
    N = len(y)
    Z = [statistic(x[k], y[k], C, G) for k in range(N)]
    Gamma = project(Gamma0, R)
    for z in noise:
        total = np.zeros_like(Gamma)
        for k in range(N):
            total += ((Gamma * Z[k]).sum() - clip(y[k, -1], C)) * Z[k]
        Gamma = project((1 - 2 * lam * eta0) * Gamma - eta0 * total / N + z, R)
    return Gamma


def ridge(x: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """Γ* of (2.7) from unclipped statistics."""
    N, D = len(y), x.shape[2]
    left, right = lam * N * np.eye(D * D), np.zeros(D * D)
    for k in range(N):
        z = statistic(x[k], y[k], np.inf, np.inf).reshape(-1)
        left += np.outer(z, z)
        right += y[k, -1] * z
    return np.linalg.solve(left, right).reshape(D, D)


def attention_entry(E: np.ndarray, W_PV: np.ndarray, W_KQ: np.ndarray) -> float:
    """The (D + 1, L + 1) entry of (2.2) for one embedding."""
    L = E.shape[1] - 1
    return float((E + W_PV @ E @ (E.T @ W_KQ @ E) / L)[-1, -1])


def dp_ridge(x: np.ndarray, y: np.ndarray, C: float, G: float, lam: float, noise: np.ndarray) -> np.ndarray:
    """The noisy estimator of Appendix B: (2.7) on clipped and projected statistics, plus W†."""
    N, D = len(y), x.shape[2]
    left, right = lam * N * np.eye(D * D), np.zeros(D * D)
    for k in range(N):
        z = statistic(x[k], y[k], C, G).reshape(-1)
        left += np.outer(z, z)
        right += clip(y[k, -1], C) * z
    return np.linalg.solve(left, right).reshape(D, D) + noise


def dpgd(
    x: np.ndarray, y: np.ndarray, eta: np.ndarray, C_clip: float, sigma: np.ndarray, b: np.ndarray
) -> list[np.ndarray]:
    """Algorithm 1 of arXiv:2505.16329v2, line by line; ``b`` holds b_1, …, b_n; returns θ_0, …, θ_n."""
    theta = [np.zeros(x.shape[1])]
    for k in range(len(y)):
        g = x[k] * (x[k] @ theta[-1] - y[k])
        norm = np.sqrt((g**2).sum())
        g_bar = g * min(1.0, C_clip / norm) if norm > 0 else g
        eta_bar = min(eta[k], 2 / (x[k] ** 2).sum())
        theta.append(theta[-1] - eta_bar * g_bar + 2 * C_clip * sigma[k] * b[k])
    return theta
