"""What is measured of Algorithm 1: sensitivity, noise, composition, and where descent rests."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner, generator
from costofprivacy import _validate
from costofprivacy.noisyhead import accounts, head, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    every_iterate,
    exact_noise_multiplier,
    last_iterate,
)
from costofprivacy.settings import Setting


@dataclass(frozen=True)
class Cell(authors.OfLowDimension):
    """One training-set size."""

    N: int
    D: int
    failure: float
    penalty: float
    label_noise: float


# ---- Accounting ----

SINGLE_STEPS = (1, 2, 5)
EPSILON_PER_STEP = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 8.0, 9.0, 10.0, 15.0, 20.0, 50.0)
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of G, at which the noise is held against the sensitivity
CLAIMED, EVERY, LAST = "claimed: classical, basic composition", "every iterate, exactly", "last iterate, contraction"


def noise_rows(cell: Cell, budget: ApproximateDP) -> list[dict[str, object]]:
    """Noise of one step in each setting as Algorithm 1 prints it, beside the calibration it stands for.

    ``printed_std`` is the square root of the variance in Algorithm 1, 2η₀²T²σ² log(1.25T/δ)/(εN)²;
    ``calibrated_std`` the classical Gaussian mechanism at (ε/T, δ/T) on the sensitivity (A.1); ``exact_std`` the
    exact composition of T Gaussians. ``step_norm`` is the root mean square norm of one step's noise, D·printed_std.
    ``epsilon_every`` and ``epsilon_last`` are the ε that the printed noise spends, all iterates or the last released.
    """
    rows = []
    for setting, hyper in cell.hyper.items():
        printed = printed_std(hyper, budget, cell.N)
        spent = pretraining.profile(hyper, budget, cell.N, printed).epsilons()
        rows.append(
            {
                "setting": str(setting),
                "N": cell.N,
                "T": hyper.steps,
                "printed_std": printed,
                "calibrated_std": pretraining.noise_std_printed(hyper, budget, cell.N),
                "exact_std": accounts.noise_std(accounts.EVERY, hyper, budget, cell.N, hyper.steps),
                "step_norm": cell.D * printed,
                "weight_bound": hyper.weight_bound,
                "epsilon_every": spent["every iterate"],
                "epsilon_last": spent["last iterate"],
            }
        )
    return rows


def printed_std(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """The root of Algorithm 1's variance, written as it stands there."""
    T, scale = hyper.steps, hyper.learning_rate * hyper.sigma / N
    return math.sqrt(2 * (scale * T / budget.epsilon) ** 2 * math.log(1.25 * T / budget.delta))


def noise_law(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> pd.DataFrame:
    """The variance of the noise against the sensitivity of an update and its square, as G moves the sensitivity."""
    rows = []
    for factor in FACTORS:
        told = replace(hyper, feature_bound=factor * hyper.feature_bound)
        sensitivity, variance = pretraining.update_sensitivity(told, N), printed_std(told, budget, N) ** 2
        row = {"feature_bound": told.feature_bound, "sensitivity": sensitivity, "variance": variance}
        row |= {"variance_over_sensitivity": variance / sensitivity, "variance_over_square": variance / sensitivity**2}
        rows.append(row)
    return pd.DataFrame(rows)


def composition(T: tuple[int, ...], budget: ApproximateDP, contraction: float) -> pd.DataFrame:
    """ε spent at δ by T steps with Algorithm 1's noise, in three views, and the noise that each view would ask for.

    ``noise_multiplier`` is the noise's standard deviation over the sensitivity.
    """
    rows, needed = [], exact_noise_multiplier(budget)
    for steps in T:
        multiplier = basic_noise_multiplier(budget, steps)
        step = GaussianDP(1 / multiplier)
        last = last_iterate(step, contraction, steps)
        views = {
            CLAIMED: (budget.epsilon, multiplier),
            EVERY: (every_iterate(step, steps).epsilon(budget.delta), math.sqrt(steps) * needed),
            LAST: (last.epsilon(budget.delta), needed * last.mu / step.mu),
        }
        for name, (epsilon, noise) in views.items():
            rows.append({"T": steps, "accounting": name, "epsilon": epsilon, "noise_multiplier": noise})
    return pd.DataFrame(rows).assign(contraction=contraction)


def single_steps(delta: float) -> pd.DataFrame:
    """δ truly spent at the claimed ε, exactly composed, where the sensitivity bound is attained (RG ≪ C)."""
    rows = []
    for T in SINGLE_STEPS:
        for share in EPSILON_PER_STEP:
            budget = ApproximateDP(share * T, delta)
            spent = every_iterate(GaussianDP(1 / basic_noise_multiplier(budget, T)), T).delta(budget.epsilon)
            row = {"T": T, "epsilon": budget.epsilon, "epsilon_per_step": share}
            rows.append(row | {"delta": delta, "delta_spent": float(spent)})
    return pd.DataFrame(rows)


# ---- Minimisers ----

LONG = 10**12  # steps, in closed form, after which descent has come to rest
GRADIENT = "gradient of (2.6) at (2.7), relative"
SINGLE = "update at rest, distance to ridge(λ)"
DOUBLE = "update at rest, distance to ridge(2λ)"
HALVED = "update with λ/2 at rest, distance to ridge(λ)"
NORM = "update at rest, norm over that of ridge(λ)"
CHECKS = (GRADIENT, SINGLE, DOUBLE, HALVED, NORM)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Relative distances on one data set; shape (5,), in the order of `CHECKS`."""
    raw, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    data, penalty = head.moments(raw), cell.penalty
    hyper = replace(cell.hyper[Setting.PUBLISHED], steps=LONG)
    rest = pretraining.gradient_descent(data, hyper)
    rest_half = pretraining.gradient_descent(data, replace(hyper, penalty=penalty / 2))
    single, double = ridge(data, penalty), ridge(data, 2 * penalty)
    residual = head.predict(single, raw) - raw.response  # ∇(2.6) is summed prompt by prompt
    gradient = 2 * np.einsum("n,nd,ne->de", residual, raw.query, raw.context) / len(residual) + 2 * penalty * single
    found = {
        GRADIENT: float(np.linalg.norm(gradient) / (2 * np.linalg.norm(data.cross))),  # over its value at 0
        SINGLE: _apart(rest, single),
        DOUBLE: _apart(rest, double),
        HALVED: _apart(rest_half, single),
        NORM: float(np.linalg.norm(rest) / np.linalg.norm(single)),
    }
    return np.array([found[check] for check in CHECKS])


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


# ---- Sensitivity ----

FAR = 1e6  # a response that every clipping reaches
STREAM = 2**32  # beside the trials of a cell


def neighbour(L: int, token: np.ndarray, query: np.ndarray, response: float) -> Prompts:
    """A prompt with Z along ``query ⊗ token``: L equal tokens with far responses, and its query."""
    x = np.concatenate([np.tile(token, (L, 1)), query[None]])
    return Prompts(x[None], np.array([[*[FAR] * L, response]]), np.zeros((1, len(token))))


def together(drawn: Sequence[Prompts]) -> Prompts:
    """The prompts in one array."""
    return Prompts(*(np.concatenate([getattr(prompt, part) for prompt in drawn]) for part in ("x", "y", "w")))


def contributions(Gamma: np.ndarray, drawn: Prompts, hyper: Hyperparameters) -> np.ndarray:
    """(⟨Γ, Z̃⟩ − clip(y))Z̃ of each prompt, through the very clipping and projection of Algorithm 1; shape (n, D²)."""
    data = head.project(head.statistics(drawn, hyper.clip_norm), hyper.feature_bound)
    error = head.predict(Gamma, data) - data.response
    return error[:, None] * data.Z.reshape(len(error), -1)


def contribution(Gamma: np.ndarray, prompt: Prompts, hyper: Hyperparameters) -> np.ndarray:
    """That of one prompt, shape (D, D)."""
    return contributions(Gamma, prompt, hyper).reshape(Gamma.shape)


def diameter(points: np.ndarray) -> float:
    """The largest distance between two of n points, shape (n, p), by way of their n × n inner products.

    Of the pairs that these place within rounding of the largest, the distance is taken itself.
    """
    square = (points**2).sum(axis=1)
    apart = square[:, None] + square - 2 * points @ points.T
    first, second = np.nonzero(apart >= apart.max() - 1e-9 * square.max())
    return float(np.linalg.norm(points[first] - points[second], axis=1).max())


def measured(
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
        drawn = together([neighbour(model.L, token, query, y) for token in tokens for y in (-FAR, FAR)])
        return hyper.learning_rate / N * diameter(contributions(Gamma, drawn, hyper))

    angles = rng.uniform(-math.pi, math.pi, max(2, math.isqrt(pairs // 2)))
    return largest(angles), largest(np.array([worst, -worst]))


def sensitivity_rows(cell: Cell, pairs: int, seed: int) -> list[dict[str, object]]:
    """One row a setting; every setting is tried with the same pairs."""
    rows = []
    for setting, hyper in cell.hyper.items():
        found, built = measured(cell.model, hyper, cell.N, pairs, generator(seed, cell.N, STREAM))
        rows.append(
            {
                "setting": str(setting),
                "N": cell.N,
                "clip_norm": hyper.clip_norm,
                "feature_bound": hyper.feature_bound,
                "weight_bound": hyper.weight_bound,
                "bound": pretraining.update_sensitivity(hyper, cell.N),
                "exact": pretraining.update_sensitivity_exact(hyper, cell.N),
                "largest_found": found,
                "constructed": built,
            }
        )
    return rows


# ---- The experiment ----


class Experiment(Parameters, authors.WithBudget):
    """What one update can reveal, what T of them do, and where they lead without noise."""

    N: tuple[int, ...] = many(count(4, 10**7), 1000, 1500, 2000, 2500, 3000, 3500, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5)
    epsilon: float = parameter(EPSILON, 1.0)
    """Privacy budget ε of approximate differential privacy, at most the largest T."""
    delta: float = parameter(DELTA, 1e-5)
    failure: float = parameter(KAPPA, 1.0)
    penalty: float = parameter(PENALTY, 5.0)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0)
    T: tuple[int, ...] = many(count(1, 10**6), 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    """Numbers of steps for the accounting."""
    pairs: int = parameter(count(1, 10**8), 20000)
    """Random pairs of prompts tried as neighbours."""
    trials: int = parameter(TRIALS, 20)
    """Data sets on which descent is run to its end."""
    seed: int = parameter(SEED, 3)

    def check(self) -> None:
        """Refuse a budget beyond the largest T, and sizes without hyperparameters."""
        _validate.between("epsilon", self.epsilon, 0, max(self.T))
        for cell in self.cells:
            _ = cell.hyper

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """What an update reveals, its noise, what T updates spend, and where they lead without noise, as tables."""
        minimisers = []
        for cell, values in runner.run(trial, self.cells, self.trials, self.seed).items():
            mean, error = _fits.mean_and_error(values)
            row = {"N": cell.N, "check": CHECKS, "value": mean, "standard_error": error, "trials": len(values)}
            minimisers.append(pd.DataFrame(row))
        revealed = [row for cell in self.cells for row in sensitivity_rows(cell, self.pairs, self.seed)]
        noise = [row for cell in self.cells for row in noise_rows(cell, self.budget)]
        first = self.cells[0]
        published = first.hyper[Setting.PUBLISHED]
        return {
            "sensitivity": pd.DataFrame(revealed),
            "noise": pd.DataFrame(noise),
            "noise-law": noise_law(published, self.budget, first.N),
            "composition": composition(self.T, self.budget, min(1.0, published.contraction)),
            "single-steps": single_steps(self.delta),
            "minimisers": pd.concat(minimisers, ignore_index=True),
        }
