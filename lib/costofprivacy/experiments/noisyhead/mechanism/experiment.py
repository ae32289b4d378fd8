"""What is measured of Algorithm 1: sensitivity, noise, composition, and where descent rests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from costofprivacy import _fits, _validate
from costofprivacy.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, pretraining, recipes
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    every_iterate,
    exact_composed_noise_multiplier,
    exact_noise_multiplier,
    last_iterate,
)
from costofprivacy.settings import Setting

FAR = 1e6  # a response that every clipping reaches
LONG = 10**12  # steps, in closed form, after which descent has come to rest
SINGLE_STEPS = (1, 2, 5)
EPSILON_PER_STEP = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 8.0, 9.0, 10.0, 15.0, 20.0, 50.0)


@dataclass(frozen=True)
class Experiment:
    """What one update can reveal, what T of them do, and where they lead without noise.

    Args:
        N: numbers of training prompts, each at least 4; L = ⌊√N⌋.
        D: feature dimension, at least 2.
        epsilon, delta: the budget, 0 < ε ≤ max T and δ in (0, 1).
        kappa: κ in (0, 1]. penalty: λ > 0. tau: label noise, ≥ 0.
        T: numbers of steps for the accounting, each at least 1.
        pairs: random pairs of prompts tried as neighbours, at least 1.
        trials: data sets on which descent is run to its end, at least 2.
        seed: root of all random streams, ≥ 0.
    """

    N: tuple[int, ...] = (1000, 1500, 2000, 2500, 3000, 3500, 4000)
    D: int = 5
    epsilon: float = 1.0
    delta: float = 1e-5
    kappa: float = 1.0
    penalty: float = 5.0
    tau: float = 0.0
    T: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    pairs: int = 20000
    trials: int = 20
    seed: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "N", _validate.each(_validate.whole, "N", self.N, at_least=4))
        object.__setattr__(self, "T", _validate.each(_validate.whole, "T", self.T))
        _validate.whole("D", self.D, at_least=2)
        _validate.between("epsilon", _validate.positive("epsilon", self.epsilon), 0, max(self.T))
        _validate.probability("delta", self.delta)
        _validate.between("kappa", _validate.positive("kappa", self.kappa), 0, 1)
        _validate.finite_positive("penalty", self.penalty)
        _validate.nonnegative("tau", self.tau)
        _validate.whole("pairs", self.pairs)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("seed", self.seed, at_least=0)
        for N in self.N:
            self.settings(N)

    @property
    def budget(self) -> ApproximateDP:
        """The budget (ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)

    def model(self, N: int) -> PromptModel:
        """L = ⌊√N⌋."""
        return recipes.square_model(self.D, N, self.tau)

    def settings(self, N: int) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.low_dimension(self.model(N), N, self.kappa, self.penalty)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``sensitivity``, ``noise``, ``composition``, ``single-steps`` and ``minimisers``."""
        cells = [Cell(N, self) for N in self.N]
        samples = runner.run(minimiser_trial, cells, self.trials, self.seed)
        return {
            "sensitivity": pd.concat([sensitivity_rows(self, N) for N in self.N], ignore_index=True),
            "noise": pd.concat([noise_rows(self, N) for N in self.N], ignore_index=True),
            "composition": composition(self),
            "single-steps": single_steps(self.delta),
            "minimisers": pd.concat([minimiser_rows(c.N, v) for c, v in samples.items()], ignore_index=True),
        }


@dataclass(frozen=True)
class Cell:
    """One training-set size."""

    N: int
    experiment: Experiment

    @property
    def key(self) -> int:
        """N names the random stream."""
        return self.N


# ------------------------------------------------------------------------------------------------ sensitivity


def neighbour(L: int, token: np.ndarray, query: np.ndarray, response: float) -> Prompts:
    """A prompt with Z along ``query ⊗ token``: L equal tokens with far responses, and its query."""
    x = np.concatenate([np.tile(token, (L, 1)), query[None]])
    return Prompts(x[None], np.array([[*[FAR] * L, response]]), np.zeros((1, len(token))))


def contribution(Gamma: np.ndarray, prompt: Prompts, hyper: Hyperparameters) -> np.ndarray:
    """(⟨Γ, Z̃⟩ − clip(y))Z̃ of one prompt, through the very clipping and projection of Algorithm 1."""
    data = head.project(head.statistics(prompt, hyper.clip_norm), hyper.feature_bound)
    return (head.predict(Gamma, data) - data.response)[0] * data.Z[0]


def measured_sensitivity(
    model: PromptModel, hyper: Hyperparameters, N: int, pairs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Change of one update: the largest over about ``pairs`` random pairs, and that of the pair built to be worst.

    Γ = R a bᵀ; prompts have their query at a, tokens in the plane of b and a normal c, responses at ±C.
    """
    frame, _ = np.linalg.qr(rng.standard_normal((model.D, model.D)))
    query, along, across = frame[:, 0], frame[:, 0], frame[:, 1]
    Gamma = hyper.weight_bound * np.outer(query, along)
    worst = pretraining.worst_angle(hyper)

    def largest(angles: np.ndarray) -> float:
        tokens = [math.cos(t) * along + math.sin(t) * across for t in angles]
        drawn = [neighbour(model.L, token, query, y) for token in tokens for y in (-FAR, FAR)]
        moved = np.stack([contribution(Gamma, prompt, hyper).reshape(-1) for prompt in drawn])
        return hyper.learning_rate / N * float(np.linalg.norm(moved[:, None] - moved[None], axis=2).max())

    angles = rng.uniform(-math.pi, math.pi, max(2, math.isqrt(pairs // 2)))
    return largest(angles), largest(np.array([worst, -worst]))


def sensitivity_rows(experiment: Experiment, N: int) -> pd.DataFrame:
    """Sensitivity of one update: the bound (A.1), its exact value, and the largest change found."""
    rows = []
    model = experiment.model(N)
    for setting, hyper in experiment.settings(N).items():
        rng = generator(experiment.seed, N, 2**32)
        found, built = measured_sensitivity(model, hyper, N, experiment.pairs, rng)
        bound, exact = pretraining.update_sensitivity(hyper, N), pretraining.update_sensitivity_exact(hyper, N)
        told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound)
        rows.append((str(setting), N, *told, bound, exact, found, built))
    columns = ["setting", "N", "clip_norm", "feature_bound", "weight_bound", "bound", "exact"]
    columns += ["largest_found", "constructed"]
    return pd.DataFrame(rows, columns=columns)


# ------------------------------------------------------------------------------------------- noise, accounting


def noise_rows(experiment: Experiment, N: int) -> pd.DataFrame:
    """Noise of one step in each setting as Algorithm 1 prints it, beside the calibration it stands for.

    ``printed_std`` is the square root of the variance in Algorithm 1, 2η₀²T²σ² log(1.25T/δ)/(εN)²;
    ``calibrated_std`` the classical Gaussian mechanism at (ε/T, δ/T) on the sensitivity (A.1); ``exact_std`` the
    exact composition of T Gaussians. ``step_norm`` is the root mean square norm of one step's noise, D·printed_std.
    ``epsilon_every`` and ``epsilon_last`` are the ε that the printed noise spends, all iterates or the last released.
    """
    rows = []
    for setting, hyper in experiment.settings(N).items():
        T, budget = hyper.steps, experiment.budget
        scale = hyper.learning_rate * hyper.sigma / N
        printed = math.sqrt(2 * (scale * T / budget.epsilon) ** 2 * math.log(1.25 * T / budget.delta))
        calibrated = pretraining.noise_std_printed(hyper, budget, N)
        exact = scale * exact_composed_noise_multiplier(budget, T)
        spent = pretraining.profile(hyper, budget, N, printed).epsilons()
        views = (spent["every iterate"], spent["last iterate"])
        norms = (experiment.D * printed, hyper.weight_bound)
        rows.append((str(setting), N, T, printed, calibrated, exact, *norms, *views))
    columns = ["setting", "N", "T", "printed_std", "calibrated_std", "exact_std", "step_norm", "weight_bound"]
    columns += ["epsilon_every", "epsilon_last"]
    return pd.DataFrame(rows, columns=columns)


def composition(experiment: Experiment) -> pd.DataFrame:
    """ε spent at δ by T steps with Algorithm 1's noise, in three views, and the noise that each view would ask for.

    The contraction is that of the published setting at the first N. ``noise_multiplier`` is std over sensitivity.
    """
    budget, delta = experiment.budget, experiment.delta
    c = min(1.0, experiment.settings(experiment.N[0])[Setting.PUBLISHED].contraction)
    rows = []
    for T in experiment.T:
        multiplier = basic_noise_multiplier(budget, T)
        step = GaussianDP(1 / multiplier)
        last = last_iterate(step, c, T)
        needed = exact_noise_multiplier(budget)
        rows += [
            (T, "claimed: classical, basic composition", budget.epsilon, multiplier, c),
            (T, "every iterate, exactly", every_iterate(step, T).epsilon(delta), math.sqrt(T) * needed, c),
            (T, "last iterate, contraction", last.epsilon(delta), needed * last.mu / step.mu, c),
        ]
    return pd.DataFrame(rows, columns=["T", "accounting", "epsilon", "noise_multiplier", "contraction"])


def single_steps(delta: float) -> pd.DataFrame:
    """δ truly spent at the claimed ε, exactly composed, where the sensitivity bound is attained (RG ≪ C)."""
    rows = []
    for T in SINGLE_STEPS:
        for share in EPSILON_PER_STEP:
            budget = ApproximateDP(share * T, delta)
            spent = every_iterate(GaussianDP(1 / basic_noise_multiplier(budget, T)), T).delta(budget.epsilon)
            rows.append((T, budget.epsilon, share, delta, float(spent)))
    return pd.DataFrame(rows, columns=["T", "epsilon", "epsilon_per_step", "delta", "delta_spent"])


# -------------------------------------------------------------------------------------------------- minimisers


def minimiser_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Relative distances on one data set; shape (5,), in the order of `MINIMISER_CHECKS`."""
    experiment, lam = cell.experiment, cell.experiment.penalty
    raw, _ = head.sample_statistics(experiment.model(cell.N), cell.N, rng=rng)
    data = head.moments(raw)
    hyper = replace(experiment.settings(cell.N)[Setting.PUBLISHED], steps=LONG)
    rest = pretraining.gradient_descent(data, hyper)
    rest_half = pretraining.gradient_descent(data, replace(hyper, penalty=lam / 2))
    single, double = ridge(data, lam), ridge(data, 2 * lam)
    return np.array(
        [
            _gradient_ratio(raw, data, single, lam),
            _apart(rest, single),
            _apart(rest, double),
            _apart(rest_half, single),
            float(np.linalg.norm(rest) / np.linalg.norm(single)),
        ]
    )


MINIMISER_CHECKS = (
    "gradient of (2.6) at (2.7), relative",
    "update at rest, distance to ridge(λ)",
    "update at rest, distance to ridge(2λ)",
    "update with λ/2 at rest, distance to ridge(λ)",
    "update at rest, norm over that of ridge(λ)",
)


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def _gradient_ratio(raw: Statistics, data: Moments, Gamma: np.ndarray, penalty: float) -> float:
    """‖∇(2.6)‖ at Γ, summed prompt by prompt, over its value at 0."""
    residual = head.predict(Gamma, raw) - raw.response
    gradient = 2 * np.einsum("n,nd,ne->de", residual, raw.query, raw.context) / len(residual) + 2 * penalty * Gamma
    return float(np.linalg.norm(gradient) / (2 * np.linalg.norm(data.cross)))


def minimiser_rows(N: int, samples: np.ndarray) -> pd.DataFrame:
    """Mean of each check over the data sets."""
    mean, error = _fits.mean_and_error(samples)
    rows = [(N, name, m, e, len(samples)) for name, m, e in zip(MINIMISER_CHECKS, mean, error)]
    return pd.DataFrame(rows, columns=["N", "check", "value", "standard_error", "trials"])
