"""Theorem 5.1 and its proof, measured where its conditions hold: λ > C²/L, κ > N exp(−D²), perturbations of (5.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead.robustness import figure
from companion import _fits
from costofprivacy.noisyhead import attack as attack_bounds
from costofprivacy.noisyhead import head, population, recipes
from costofprivacy.noisyhead.accounts import ALGORITHM, noise_std
from costofprivacy.noisyhead.attack import (
    NONE,
    Attack,
    candidates,
    pretrain_each,
    statistic_energy,
    stealthy_shift,
    with_each,
)
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.noisyhead.ridge import RidgeWithOneMore
from costofprivacy.privacy import ApproximateDP

RESPONSES = ("left as it is", "shifted by α")  # y_{L+1}: as (5.1) has it, as (A.24) and the published numbers have it
UPPER, LOWER = "upper end, μ = 1", "lower end, μ = 1"
SMALL, SMALL_LOWER = "upper end, small μ", "lower end, small μ"
AMENDED_UPPER, AMENDED_LOWER = "amended upper end, μ = 1", "amended lower end, μ = 1"
AMENDED_SMALL, AMENDED_SMALL_LOWER = "amended upper end, small μ", "amended lower end, small μ"
LEAST_CONSTANT = 1e-4  # c_ℓ of the amended (5.2): with c_ℓ = 1 it admits nothing at sizes that can be run


@dataclass(frozen=True)
class Cell:
    """Sizes with everything that a trial needs."""

    N: int
    L: int
    D: int
    T: tuple[int, ...]
    epsilon: float
    delta: float
    failure: float
    penalty: float
    label_noise: float

    @property
    def key(self) -> int:
        """(L, D) names the random stream."""
        return self.L * 10**3 + self.D

    @cached_property
    def model(self) -> PromptModel:
        """The law of a clean prompt."""
        return PromptModel(self.D, self.L, self.label_noise)

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Theorem 4.1's hyperparameters, for a single step."""
        return recipes.theorem(self.model, self.N, self.failure, self.penalty)

    def noise_std(self, T: int) -> float:
        """Standard deviation of an entry of z_t for T steps."""
        return noise_std(ALGORITHM, self.hyper, ApproximateDP(self.epsilon, self.delta), self.N, T)

    @cached_property
    def lower(self) -> float:
        """The lower end of (5.2) on α²μ², constant one."""
        return attack_bounds.lower_end(self.model, self.N, self.failure, self.penalty)

    @cached_property
    def upper(self) -> float:
        """The upper end of (5.2) on α²μ⁴, constant one."""
        return attack_bounds.upper_end(self.model, self.N, self.penalty)

    @cached_property
    def perturbations(self) -> dict[tuple[str, str], Attack]:
        """The ends of (5.2), printed and amended, at μ = 1 and at a μ of the size of x̄, by name and response."""
        small = stealthy_shift(self.model)
        chosen = {
            UPPER: (math.sqrt(self.upper), 1.0),
            LOWER: (math.sqrt(self.lower), 1.0),
            SMALL: (math.sqrt(self.upper) / small**2, small),
            SMALL_LOWER: (math.sqrt(self.lower) / small, small),
            AMENDED_UPPER: (math.sqrt(self._upper_amended(1.0)), 1.0),
            AMENDED_LOWER: (math.sqrt(LEAST_CONSTANT * self.lower), 1.0),
            AMENDED_SMALL: (math.sqrt(self._upper_amended(small)), small),
            AMENDED_SMALL_LOWER: (math.sqrt(LEAST_CONSTANT * self.lower) / small, small),
        }
        return {
            (name, response): Attack(alpha, mu, alpha if response == RESPONSES[1] else 0.0)
            for name, (alpha, mu) in chosen.items()
            for response in RESPONSES
        }

    def _upper_amended(self, mu: float) -> float:
        return attack_bounds.upper_end_amended(self.model, self.N, self.penalty, mu)

    def admits(self, attack: Attack) -> bool:
        """Whether (5.2) with constants one admits it (its very ends included)."""
        return _is_between(attack, self.upper / attack.feature_shift**4, self.lower)

    def admits_amended(self, attack: Attack) -> bool:
        """Whether (5.2) admits it with the upper end that (A.22) needs and a small c_ℓ."""
        return _is_between(attack, self._upper_amended(attack.feature_shift), LEAST_CONSTANT * self.lower)


def _is_between(attack: Attack, upper: float, lower: float) -> bool:
    """Whether α² is at most ``upper`` and α²μ² at least ``lower``, up to rounding."""
    square = attack.response_shift**2
    return square <= upper * (1 + 1e-9) and square * attack.feature_shift**2 >= lower * (1 - 1e-9)


RIDGE_QUANTITIES = ("displacement", "energy", "contribution", "weights", "bound")
HEAD_QUANTITIES = ("independent", "common")


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One data set: ‖Σ vec(Z) vec(Z)ᵀ‖_F/N; then NoisyHead's displacements by T, then ridge's quantities; flat."""
    raw, clipped = head.sample_statistics(cell.model, cell.N - 1, cell.hyper.clip_norm, rng=rng)
    return measured(cell, raw, clipped, sample(cell.model, 1, rng=rng), rng)


def measured(cell: Cell, raw: Statistics, clipped: Statistics, prompt: Prompts, rng: np.random.Generator) -> np.ndarray:
    """`trial` on a data set that is drawn already: prompts that stay clean, raw and clipped, and the attacked one."""
    rest = head.moments(raw)
    gram = np.linalg.norm(with_each(rest, cell.N - 1, candidates(prompt, [NONE]))[0].gram)
    heads = [_noisyhead(cell, clipped, prompt, T, rng) for T in cell.T]
    return np.concatenate([[gram], *heads, _ridge(cell, rest, prompt).reshape(-1)])


def _noisyhead(cell: Cell, clipped: Statistics, prompt: Prompts, T: int, rng: np.random.Generator) -> np.ndarray:
    """Squared displacement over a fresh prompt, by independent noise and by common noise, Γ⁰ = 0: shape (2,)."""
    hyper = replace(cell.hyper, steps=T)
    clean, bad = figure.training_sets(clipped, prompt, [cell.perturbations[UPPER, RESPONSES[1]]], hyper)
    std = cell.noise_std(T)
    noises = np.stack([std * figure.noise(seed, T, cell.D) for seed in rng.integers(2**63, size=2)])
    first, independent, common = pretrain_each([clean, bad, bad], hyper, noises, [0, 1, 0])
    return population.excess_risk(cell.model, np.stack([independent - first, common - first]))


def _ridge(cell: Cell, rest: Moments, prompt: Prompts) -> np.ndarray:
    """For each perturbation: displacement, ‖Z'‖², ‖y'Z' − yZ‖, ‖Γ*_bad − Γ*‖, what bounds it: shape (B, 5)."""
    solver = RidgeWithOneMore(rest, cell.N - 1, cell.penalty)
    last = candidates(prompt, [NONE, *cell.perturbations.values()])
    steps = solver.step(last.Z, last.response)
    moved = steps[1:] - steps[0]
    products = last.response[:, None, None] * last.Z
    bounds = attack_bounds.ridge_step_bound(rest, cell.N - 1, cell.penalty, last.response)
    return np.stack(
        [
            population.excess_risk(cell.model, moved),
            last.norm[1:] ** 2,
            np.linalg.norm(products[1:] - products[0], axis=(1, 2)),
            np.linalg.norm(moved, axis=(1, 2)),
            bounds[1:] + bounds[0],
        ],
        axis=1,
    )


def contribution_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """‖y'Z' − yZ‖/(α²μ²) of one prompt under each perturbation with μ = 1, shape (B,)."""
    attacks = [attack for attack in cell.perturbations.values() if attack.feature_shift == 1]
    last = candidates(sample(cell.model, 1, rng=rng), [NONE, *attacks])
    products = last.response[:, None, None] * last.Z
    claimed = np.array([attack.response_shift**2 for attack in attacks])
    return np.asarray(np.linalg.norm(products[1:] - products[0], axis=(1, 2)) / claimed)


def contribution_table(cell: Cell, ratios: np.ndarray) -> pd.DataFrame:
    """Both sides of (A.24) under each perturbation with μ = 1."""
    named = [(name, attack) for name, attack in cell.perturbations.items() if attack.feature_shift == 1]
    return pd.DataFrame(
        [
            {
                "N": cell.N,
                "L": cell.L,
                "D": cell.D,
                "perturbation": name,
                "response": response,
                "alpha": attack.response_shift,
                "alpha_over_C": attack.response_shift / cell.hyper.clip_norm,
                "admissible": cell.admits(attack),
                "least_ratio": ratio.min(),
                "a24_frequency": float((ratio >= 1).mean()),
                "trials": len(ratio),
            }
            for ((name, response), attack), ratio in zip(named, ratios.T, strict=True)
        ]
    )


def tables(measured: list[tuple[str, Cell, np.ndarray]]) -> dict[str, pd.DataFrame]:
    """Tables ``gram``, ``heads`` and ``perturbations`` of (axis, sizes, samples)."""
    makers = {"gram": gram_rows, "heads": head_rows, "perturbations": perturbation_rows}
    return {
        name: pd.DataFrame(
            [{"axis": axis, "N": of.N, "L": of.L, "D": of.D} | row for axis, of, x in measured for row in make(of, x)]
        )
        for name, make in makers.items()
    }


def gram_rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Both sides of (A.21), divided by N, the root mean square of the left and ‖E vec(Z) vec(Z)ᵀ‖_F = e/D."""
    mean, error = _fits.mean_and_error(values[:, 0])
    yield {
        "norm": mean,
        "standard_error": error,
        "trials": len(values),
        "closed_form": attack_bounds.gram_norm_rms(cell.model, cell.N) / cell.N,
        "norm_of_mean": attack_bounds.gram_norm(cell.model, cell.N) / cell.N,
        "bound": attack_bounds.least_penalty(cell.model, cell.N, cell.failure),
        "penalty": cell.penalty,
    }


def head_rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """NoisyHead's displacement by T and kind of noise beside the bounds of (5.3), of (A.20) and our own."""
    energy = population.context_energy(cell.model)
    R = cell.hyper.weight_bound
    for t, T in enumerate(cell.T):
        steps = replace(cell.hyper, steps=T)
        own = {
            "independent": attack_bounds.ball_displacement_mean(cell.model, R),
            "common": attack_bounds.trajectory_displacement(steps, cell.N) ** 2 * energy / cell.D**2,
        }
        for k, noise in enumerate(HEAD_QUANTITIES):
            mean, error = _fits.mean_and_error(values[:, 1 + 2 * t + k])
            yield {
                "T": T,
                "noise": noise,
                "displacement": mean,
                "standard_error": error,
                "trials": len(values),
                "bound_theorem": attack_bounds.noisyhead_displacement(cell.model, cell.N, cell.failure),
                "bound_ball": attack_bounds.ball_displacement(cell.model, cell.N, cell.failure, R),
                "bound_amended": own[noise],
            }


def perturbation_rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Ridge's displacement and the steps (A.22)-(A.24) for each perturbation."""
    first = 1 + len(HEAD_QUANTITIES) * len(cell.T)
    measured = values[:, first:].reshape(len(values), -1, len(RIDGE_QUANTITIES))
    for b, ((name, response), attack) in enumerate(cell.perturbations.items()):
        displacement, energy, contribution, weights, bound = measured[:, b].T
        mean, error = _fits.mean_and_error(displacement)
        mean_energy, energy_error = _fits.mean_and_error(energy)
        yield {
            "perturbation": name,
            "response": response,
            "alpha": attack.response_shift,
            "alpha_over_C": attack.response_shift / cell.hyper.clip_norm,
            "mu": attack.feature_shift,
            "admissible": cell.admits(attack),
            "admissible_amended": cell.admits_amended(attack),
            "displacement": mean,
            "standard_error": error,
            "trials": len(values),
            "claimed": attack_bounds.ridge_displacement(attack, cell.N, cell.penalty),
            "bound": float((bound**2).mean()) * population.context_energy(cell.model) / cell.D**2,
            "energy": mean_energy,
            "energy_error": energy_error,
            "energy_closed_form": statistic_energy(cell.model, attack),
            "energy_claimed": attack_bounds.outlier_energy(cell.model, cell.N, cell.failure, attack),
            "energy_over_N_penalty": mean_energy / (cell.N * cell.penalty),
            "a23_ratio": float(np.median(weights * cell.N * cell.penalty / contribution)),
            "a24_frequency": float((contribution >= (attack.response_shift * attack.feature_shift) ** 2).mean()),
        }
