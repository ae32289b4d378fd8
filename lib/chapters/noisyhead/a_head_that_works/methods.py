"""What the literature on private regression offers, on the records (vec Z, y), for every option of a grid."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from costofprivacy._compiled import compiled
from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic
from costofprivacy.estimators import prompts as prompt_tuning
from costofprivacy.estimators.prompts import Given
from costofprivacy.noisyhead import accounts, head, hyperparameters, pretraining, private_ridge, recipes
from costofprivacy.noisyhead.best_head import scale_without_data
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.examples import Examples, examples
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import huber, objective_perturbation, sufficient_statistics, tukey
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.sufficient_statistics import PARTS, noisy_matrix, share, solver
from costofprivacy.settings import Setting


@dataclass(frozen=True, eq=False)
class Seen:
    """One draw of N prompts, and a budget, as each method of the ladder sees them.

    Args:
        law: of the features, for what is public of it. prompts: the data. budget: (ε, δ).
    """

    law: TokenLaw
    prompts: Prompts
    budget: ApproximateDP

    @property
    def N(self) -> int:
        """Prompts."""
        return len(self.prompts.y)

    @property
    def model(self) -> PromptModel:
        """What the paper supposes of them: D and L, isotropic."""
        return PromptModel(self.law.D, self.prompts.y.shape[1] - 1)

    @property
    def mu(self) -> GaussianDP:
        """The budget as μ."""
        return self.budget.to_gaussian()

    def bounded(self, clip_norm: float, feature_bound: float) -> Moments:
        """Moments of responses clipped at C and Z projected at G."""
        return head.moments(head.project(head.statistics(self.prompts, clip_norm), feature_bound))

    @cached_property
    def statistics(self) -> Statistics:
        """Raw."""
        return head.statistics(self.prompts)

    @cached_property
    def Z(self) -> np.ndarray:
        """vec Z, shape (N, D²)."""
        return self.statistics.Z.reshape(self.N, -1)

    def shortened(self, bound: float) -> np.ndarray:
        """vec Z, rows brought to a norm of ``bound`` where they are longer, shape (N, D²)."""
        if bound not in self._short:
            self._short[bound] = Bounds(bound, 1.0).clip(self.Z, self.statistics.response)[0]
        return self._short[bound]

    @cached_property
    def _short(self) -> dict[float, np.ndarray]:
        return {}

    def examples(self, *, every_token: bool) -> Examples:
        """For `whitened_descent`."""
        return examples(self.prompts, every_token=every_token)


# ---- The first rungs: Algorithm 1 as printed in section 6.1, then with one thing mended after the other ----

PRINTED, RADIUS, EXACT = "as printed", "smallest valid R", "exact accounting"
LAST, PENALTY, LENGTH = "last iterate alone", "λ by closed form", "T by closed form"
TUNED, START = "η₀, C and G by closed form", "start at the head without data"
FIXED = (PRINTED, RADIUS, EXACT, LAST, PENALTY, LENGTH, TUNED, START)


def algorithm_1(seen: Seen, rung: str, *, rng: np.random.Generator) -> np.ndarray:
    """One release of Algorithm 1 with all that is mended up to a rung of `FIXED`, shape (D, D).

    The smallest radius is C/(2√(2λ)), the longest that the solution to which the update tends can be. The exact account
    pays for every iterate. What the closed forms choose is best for the paper's law; R follows from C and λ.
    """
    told = recipes.low_dimension(seen.model, seen.N, 1.0, 5.0)[Setting.PRINTED]  # κ and λ of section 6.1

    def closed(given: Given) -> Hyperparameters:
        return prompt_tuning.tuned(seen.model, seen.N, seen.budget, accounts.LAST, given)

    if rung in (RADIUS, EXACT, LAST):
        told = replace(told, weight_bound=hyperparameters.weight_bound_singular(told.clip_norm, 2 * told.penalty))
    if rung in (PENALTY, LENGTH):
        told = closed(Given(told.clip_norm, told.feature_bound, learning_rate=told.learning_rate, steps=told.steps))
    if rung == LENGTH:
        C, G, penalty, rate = told.clip_norm, told.feature_bound, 2 * told.penalty, told.learning_rate
        told = closed(Given(C, G, penalty=penalty, learning_rate=rate))
    if rung in (TUNED, START):
        told = closed(Given())
    start = None
    if rung == START:
        start = scale_without_data(seen.law, seen.model.L) * np.eye(seen.law.D)
        start = start * min(1.0, told.weight_bound / float(np.linalg.norm(start)))
    account = {PRINTED: accounts.ALGORITHM, RADIUS: accounts.ALGORITHM, EXACT: accounts.EVERY}.get(rung, accounts.LAST)
    std = accounts.noise_std(account, told, seen.budget, seen.N, told.steps)
    data = in_eigenbasis(seen.bounded(told.clip_norm, told.feature_bound))
    return pretraining.pretrain(data, told, [std], rng=rng, initial=start)[0]


# ---- Descents with free numbers: each gives the head for every option of a grid, to be chosen on public prompts ----

Option = tuple[float, ...]
DISTANCES = np.geomspace(30, 1e4, 6)  # ηcT, of clipped descents
UNCLIPPED: list[Option] = list(
    itertools.product(
        (0.3, 0.6, 1.2, 2.5),
        (0.02, 0.05, 0.1, 0.2, 0.4),
        (1.0, 3.0, 10.0, 30.0),
        (10, 40, 160, 640),
        (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
    )
)
DESCENTS: list[Option] = [
    (T, c, float(far) / (c * T)) for T in (80, 320, 1280) for c in (0.003, 0.01, 0.03) for far in DISTANCES
]
PASSES: list[Option] = list(itertools.product((1,), (0.003, 0.01, 0.03, 0.1, 0.3), (50.0, 120.0, 300.0, 800.0, 2000.0)))


def unclipped(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Full batches with NoisyHead's bounds and no penalty, all iterates paid for: options (C, G, R, T, η).

    Guarantee: T Gaussian mechanisms of sensitivity 2G(C + RG)/N, together μ-Gaussian DP: |y| ≤ C, ‖Z‖ ≤ G, ‖Γ‖ ≤ R.

    Returns:
        shape (options, D, D).
    """
    found = np.empty((len(options), seen.law.D**2))
    for C, G in sorted({option[:2] for option in options}):
        data = seen.bounded(C, G)
        for T in sorted({int(option[3]) for option in options}):
            rows = [k for k, option in enumerate(options) if (*option[:2], int(option[3])) == (C, G, T)]
            R, eta = (np.array([options[k][i] for k in rows]) for i in (2, 4))
            std = 2 * G * (C + R * G) * math.sqrt(T) / (seen.N * seen.mu.mu)
            found[rows] = _within(data.gram, data.cross, R, eta, std, rng.standard_normal((T, seen.law.D**2)))
    return found.reshape(len(options), seen.law.D, -1)


@compiled
def _within(
    gram: np.ndarray, cross: np.ndarray, R: np.ndarray, eta: np.ndarray, std: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """The last iterate of each option, shape (B, p), for R, η and noise of shape (B,), noise directions (T, p)."""
    T, p = noise.shape
    found, pull = np.zeros((len(R), p)), np.empty(p)
    for k in range(len(R)):
        Gamma = found[k]
        for t in range(T):
            for i in range(p):
                pull[i] = cross[i] + std[k] * noise[t, i]
            for j in range(p):
                for i in range(p):
                    pull[i] -= Gamma[j] * gram[j, i]
            square = 0.0
            for i in range(p):
                Gamma[i] += eta[k] * pull[i]
                square += Gamma[i] ** 2
            if square > R[k] ** 2:
                Gamma *= R[k] / np.sqrt(square)
    return found


def descents(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Full batches with clipped gradients: options (T, c, η); the last iterate and the mean of the last half.

    The grid has c and ηcT, how far Γ can go: for small c the head depends on the latter alone.

    Guarantee: T Gaussian mechanisms of sensitivity 2c/N, together μ-Gaussian DP.

    Returns:
        shape (2, options, D, D).
    """
    found, Z, y = np.empty((2, len(options), seen.law.D**2)), seen.Z, seen.statistics.response
    for T in sorted({int(option[0]) for option in options}):
        rows = [k for k, option in enumerate(options) if option[0] == T]
        c, eta = (np.array([options[k][i] for k in rows]) for i in (1, 2))
        bound = c[:, None] / np.maximum(np.linalg.norm(Z, axis=1), np.finfo(float).tiny)
        least, residual = -bound, np.empty((len(c), len(Z)))
        std = 2 * c * math.sqrt(T) / (seen.N * seen.mu.mu)
        Gamma, later = np.zeros((2, len(c), Z.shape[1]))
        for t in range(T):
            np.subtract(y, np.matmul(Gamma, Z.T, out=residual), out=residual)
            pull = np.clip(residual, least, bound, out=residual) @ Z / seen.N
            Gamma = Gamma + eta[:, None] * (pull + np.outer(std, rng.standard_normal(Z.shape[1])))
            later += Gamma * (t >= T // 2)
        found[:, rows] = Gamma, later / (T - T // 2)
    return found.reshape(2, len(options), seen.law.D, -1)


def passes(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """One pass of DP-GD with d = D² over (vec Z, y): options (harmonic, c, η̃(0)); shape (options, D, D).

    Z is scaled so that, isotropic, E‖Z‖² = d, as the DP-GD paper has its features.
    """
    scale = seen.law.D / math.sqrt(context_energy(seen.model))
    batch, heads = (seen.Z * scale, seen.statistics.response), []
    for harmonic, c, rate in options:
        told = Configuration(c, Harmonic(rate * 0.1, 0.1) if harmonic else Constant(rate), seen.mu.mu)
        heads.append(scale * onepass.release([batch], told, seen.N, seen.Z.shape[1], rng=rng).theta)
    return np.nan_to_num(np.stack(heads)).reshape(len(options), seen.law.D, -1)


# ---- Literature ----

RIDGES: list[Option] = list(
    itertools.product(
        (0.05, 0.15, 0.5, 1.5, 4.0), (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8), np.geomspace(1e-5, 1.0, 11).tolist()
    )
)
MOMENTS: list[Option] = list(
    itertools.product((0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4), (0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.5))
)
BOOSTED: list[Option] = list(itertools.product((0.4, 0.8, 1.6, 3.2), (0.003, 0.01, 0.03, 0.1, 0.3), (10, 40, 160)))
PERTURBED: list[Option] = list(
    itertools.product((0.2, 0.4, 0.8, 1.6, 3.2), (0.003, 0.01, 0.03, 0.1, 0.3), (0.1, 0.5, 0.8, 0.95))
)
DEEP: list[Option] = [(1.0,), (2.0,)]


def ridges(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """DP-ridge of Appendix B with its sharp sensitivity: options (C, G, λ); shape (options, D, D)."""
    heads, data = [], {pair: seen.bounded(*pair) for pair in {option[:2] for option in options}}
    for C, G, penalty in options:
        told = PrivateRidge(C, G, penalty, seen.N)
        heads.append(private_ridge.release(data[C, G], told, [private_ridge.noise_std(told, seen.budget)], rng=rng)[0])
    return np.stack(heads)


def sufficient(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """AdaSSP on (vec Z, y): options (bound on ‖Z‖, bound on |y|); shape (options, D, D)."""
    heads = []
    for features, response in options:
        bounds = Bounds(features, response)
        data = sufficient_statistics.moments(seen.Z, seen.statistics.response, bounds)
        heads.append(sufficient_statistics.release(data, bounds, seen.mu, rng=rng))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)


def boosted(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Boosted AdaSSP: options (bound on ‖Z‖, C, rounds); shape (options, D, D).

    The numbers of `boosting.release`, to rounding: options with one bound make their rounds side by side.
    """
    each, y = [], seen.statistics.response
    for features, clip_norm, rounds in options:  # what `boosting.release` draws and computes, in its order
        x, T = seen.shortened(features), int(rounds)
        matrix, penalty = noisy_matrix(sums.product(x, x), len(x), Bounds(features, 1.0), share(seen.mu), rng=rng)
        std = gaussian_std(2 * clip_norm * (1 + sums.slack(*x.shape)), share(seen.mu, PARTS * T))
        inverse = solver(matrix, penalty)(np.eye(len(matrix)))
        each.append((inverse, huber.limits(x, clip_norm), std * rng.standard_normal((T, x.shape[1]))))
    found = np.empty((len(options), seen.Z.shape[1]))
    for features in sorted({option[0] for option in options}):
        rows = [k for k, option in enumerate(options) if option[0] == features]
        rows.sort(key=lambda k: -len(each[k][2]))  # those with most rounds first
        inverses, limits, noises = zip(*(each[k] for k in rows))
        inverse, limit, lengths = np.stack(inverses), np.stack(limits), np.array([len(noise) for noise in noises])
        x, theta = seen.shortened(features), np.zeros((len(rows), seen.Z.shape[1]))
        for t in range(lengths[0]):
            B = int((lengths > t).sum())
            pull = np.clip(y - theta[:B] @ x.T, -limit[:B], limit[:B]) @ x
            pull += np.stack([noise[t] for noise in noises[:B]])
            theta[:B] += np.matmul(inverse[:B], pull[:, :, None])[:, :, 0]
        found[rows] = theta
    return found.reshape(len(options), seen.law.D, -1)


def perturbed(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Objective perturbation: options (bound on ‖Z‖, C, share of ε for the curvature); shape (options, D, D)."""
    heads = []
    for features, clip_norm, curvature in options:
        x = seen.shortened(features)
        added = objective_perturbation.calibrate(seen.budget, curvature, clip_norm, features)
        heads.append(objective_perturbation.release(x, seen.statistics.response, clip_norm, added, rng=rng))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)


def deep(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """TukeyEM: options (records a feature in each part,); 0 where that leaves too few parts; shape (options, D, D)."""
    heads, y = [], seen.statistics.response
    for (records,) in options:
        parts = int(seen.N / (records * seen.Z.shape[1]))
        enough = parts >= tukey.LEAST_MODELS
        heads.append(tukey.fit(seen.Z, y, parts, seen.budget, rng=rng) if enough else np.zeros(seen.Z.shape[1]))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)
