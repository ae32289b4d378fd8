"""The papers' pseudocode, word for word: slow, obvious, and independent of the library."""

import math

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


def examples(x: np.ndarray, y: np.ndarray, every_token: bool) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """(query, context, response) of one prompt: its last token asked, or each token once, the others its context."""
    L = len(y) - 1
    result = []
    for j in range(L + 1) if every_token else [L]:
        context = np.zeros(x.shape[1])
        for i in range(L + 1):
            if i != j:
                context += y[i] * x[i] / L
        result.append((x[j], context, y[j]))
    return result


def inverse_root(moment: np.ndarray, floor: float) -> np.ndarray:
    """M^{-½}, eigenvalues below the floor raised to it."""
    values, vectors = np.linalg.eigh(moment)
    return sum(np.outer(v, v) / np.sqrt(max(value, floor)) for value, v in zip(values, vectors.T))


def whitened_descent(
    prompts: list[tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray, float]]]],
    C_A: float,
    C_M: float,
    clips: list[float],
    gains: list[float],
    stds: list[float],
    noise: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Â, M̂ and Γ of `noisyhead.whitened_descent`, prompt by prompt; ``stds`` and ``noise`` of Â, M̂ and each step."""
    N, D = len(prompts), prompts[0][0].shape[1]

    def symmetric(z: np.ndarray) -> np.ndarray:
        return np.array([[(z[a, b] + z[b, a]) / 2 for b in range(D)] for a in range(D)])

    A = stds[0] * symmetric(noise[0])
    for tokens, _ in prompts:
        A = A + project(sum(np.outer(x, x) for x in tokens) / len(tokens), C_A) / N
    A_root = inverse_root(A, np.sqrt(2 * D) * stds[0])
    M = stds[1] * symmetric(noise[1])
    for _, asked in prompts:
        M = M + project(sum(np.outer(A_root @ m, A_root @ m) for _, m, _ in asked) / len(asked), C_M) / N
    M_root = inverse_root(M, np.sqrt(2 * D) * stds[1])
    Gamma = np.zeros((D, D))
    for t, (c, g) in enumerate(zip(clips, gains)):
        mean = np.zeros((D, D))
        for _, asked in prompts:
            gradient = np.zeros((D, D))
            for x, m, y in asked:
                x_white, m_white = A_root @ x, M_root @ A_root @ m
                gradient += (y - x_white @ Gamma @ m_white) * np.outer(x_white, m_white) / len(asked)
            mean += project(gradient, c) / N
        Gamma = project(Gamma + g * (mean + stds[2 + t] * noise[2 + t]), 1.0)
    return A, M, A_root @ Gamma @ M_root @ A_root


def theorem_41(N: int, lam: float, failure: float, label_noise: float) -> tuple[float, ...]:
    """C, G, R of (4.1), λ, η₀ of Theorem 4.1 and T = 1, for D = L = ⌊√N⌋."""
    D = math.isqrt(N)
    C = np.sqrt(2 * (1 + label_noise**2) * np.log(N * D / failure))
    G = C / np.sqrt(D) * (1 + np.sqrt(np.log(N / failure)) / D)
    R = C**2 * np.sqrt(N / D) / lam * (1 + np.sqrt(np.log(1 / failure)) / D)
    return C, G, R, lam, 0.9 * lam / (2 * lam + G**2) ** 2, 1
