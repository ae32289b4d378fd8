"""What is measured of Algorithm 1, its privacy and its noise, arXiv:2505.16329v2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy import _fits, _validate
from costofprivacy.dpgd import spectrum
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule, learning_rates
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.dpgd.update import noiseless_step
from costofprivacy.experiments.dpgd.algorithm import noise, outputs, rates, steps
from costofprivacy.montecarlo import Runner, generator

OUTPUT_STEPS = 6  # steps of the runs whose output's law is computed
OUTPUT_RATE = 9.0  # η̃(0) there, so that η‖x‖² = 1.5 at most
POSITIVE = (
    "gamma",
    "rho",
    "clip",
    "label_noise",
    "learning_rate",
    "harmonic_scale",
    "harmonic_offset",
    "fixed_gamma",
    "fixed_rho",
)
LARGEST_SEARCH = 2 * 10**7  # numbers held at once for the random noise schedules
LARGEST_N = 10**7  # of one run: minutes


@dataclass(frozen=True)
class Experiment:
    """Steps, privacy, noise schedules, conversions and rates.

    Args:
        gamma: γ > 0. n: steps of the schedules looked at, at least 10.
        rho: ρ > 0. clip: c > 0. label_noise: ζ > 0.
        learning_rate: η̃(0) > 0 of the polynomial schedules. alpha: their exponents, each > 0.
        harmonic_scale: βλ_min > 0. harmonic_offset: τ/max(γ, γ/ρ) > 0.
        gammas, rhos: the grid for (1.4), each > 0. d: its dimension, at least 2.
        sizes: numbers of steps at fixed γ = ``fixed_gamma`` > 0 and ρ = ``fixed_rho`` > 0, each at least 10.
        log_power: p ≥ 0, the power of log n drawn for (1.3).
        pairs: random pairs tried, at least 20. others: random noise schedules, at least 2.
        placements: trials of the three placements of the noise, at least 2.
        trials: trials of the rates, of 20 runs each, at least 1.
        seed: root of all random streams, ≥ 0.
    """

    gamma: float = 0.1
    n: int = 1000
    rho: float = 1.0
    clip: float = 1.0
    label_noise: float = 0.3
    learning_rate: float = 3.0
    alpha: tuple[float, ...] = (0.5, 1.0, 5.0)
    harmonic_scale: float = 2.0
    harmonic_offset: float = 4.0
    gammas: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
    rhos: tuple[float, ...] = (0.1, 0.3, 1.0)
    d: int = 100
    fixed_gamma: float = 0.01
    fixed_rho: float = 0.3
    sizes: tuple[int, ...] = (1000, 3000, 10_000, 30_000, 100_000)
    log_power: float = 2.0
    pairs: int = 100_000
    others: int = 2000
    placements: int = 100
    trials: int = 2
    seed: int = 7

    def __post_init__(self) -> None:
        for name in POSITIVE:
            _validate.finite_positive(name, getattr(self, name))
        for name in ("alpha", "gammas", "rhos"):
            object.__setattr__(self, name, _validate.each(_validate.finite_positive, name, getattr(self, name)))
        object.__setattr__(self, "sizes", _validate.each(_validate.whole, "sizes", self.sizes, at_least=10))
        _validate.nonnegative("log_power", self.log_power)
        for name, least in {"n": 10, "d": 2, "pairs": 20, "others": 2, "placements": 2, "trials": 1, "seed": 0}.items():
            _validate.whole(name, getattr(self, name), at_least=least)
        longest = max(self.n, *self.sizes, *(math.ceil(self.d / g) for g in self.gammas))
        _validate.between("the longest run's n", longest, 10, LARGEST_N)
        _validate.between("n · others", self.n * self.others, 20, LARGEST_SEARCH)

    def schedules(self, initial: float) -> dict[str, Schedule]:
        """Constant, polynomial with each exponent, and harmonic with the same η̃(0) as the others."""
        powers: dict[str, Schedule] = {f"α = {a:g}": Polynomial(initial, a) for a in self.alpha}
        offset = self.harmonic_offset * max(self.gamma, self.gamma / self.rho)
        return {"constant": Constant(initial)} | powers | {"harmonic": Harmonic(initial * offset, offset)}

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """All tables by name."""
        return self._closed() | self._simulated(runner)

    def _closed(self) -> dict[str, pd.DataFrame]:
        rng = generator(self.seed, 0, 2**32)
        named = self.schedules(self.learning_rate).items()
        seen = [1, OUTPUT_STEPS // 2, OUTPUT_STEPS]
        laws = [
            outputs.output_rows(name, plan, OUTPUT_STEPS, self.rho, seen)
            for name, plan in self.schedules(OUTPUT_RATE).items()
            if outputs.resolved(plan, OUTPUT_STEPS, self.rho)
        ]
        return {
            "steps": steps.loss_checks(self.pairs, rng),
            "expansion": steps.expansion(self.pairs, rng),
            "sensitivity": steps.sensitivity(self.pairs, rng),
            "outputs": pd.concat(laws, ignore_index=True),
            "schedules": pd.DataFrame(
                [noise.schedule_row(name, plan, self.n, self.rho, self.others, rng) for name, plan in named]
            ),
            "noise": pd.concat(
                [noise.cumulative_rows(name, plan, self.n, self.rho) for name, plan in named], ignore_index=True
            ),
            "conversions": rates.conversions(),
            "translation": rates.translation(self.rho),
        }

    def _simulated(self, runner: Runner) -> dict[str, pd.DataFrame]:
        sized = [
            cell
            for name in rates.SPECTRA
            for cell in (
                *(rates.RateCell(self, name, "n", self.fixed_gamma, n, (self.fixed_rho,)) for n in self.sizes),
                *(rates.RateCell(self, name, "gamma", g, math.ceil(self.d / g), self.rhos) for g in self.gammas),
            )
        ]
        placed = [PlacementCell(self, name) for name in self.schedules(self.learning_rate)]
        laws = [rates.IdentityCell(name, self.label_noise) for name in rates.LAWS]
        risks = runner.run(rates.rate_trial, sized, self.trials, self.seed)
        places = runner.run(placement_trial, placed, self.placements, self.seed)
        identity = runner.run(rates.identity_trial, laws, self.placements, self.seed)
        return {
            "rates": pd.concat([rates.rate_rows(c, v) for c, v in risks.items()], ignore_index=True),
            "placement": pd.concat([placement_rows(c, v) for c, v in places.items()], ignore_index=True),
            "identity": pd.concat([rates.identity_rows(c, v) for c, v in identity.items()], ignore_index=True),
        }


@dataclass(frozen=True)
class PlacementCell:
    """One schedule of learning rates, with its noise placed in three ways."""

    experiment: Experiment
    schedule: str

    @property
    def key(self) -> int:
        """All schedules meet the same records and noise."""
        return 0

    @property
    def model(self) -> RegressionModel:
        """Σ = I at d = γn; θ = 0 has risk ½."""
        shape = spectrum.isotropic(max(2, round(self.experiment.gamma * self.experiment.n)))
        target = spectrum.projections(shape, initial_risk=rates.INITIAL_RISK)
        return RegressionModel(shape, target, self.experiment.label_noise)


def placement_trial(cell: PlacementCell, *, rng: np.random.Generator) -> np.ndarray:
    """Released risk of Algorithm 1, step by step on the same records and noise directions; shape (placements,)."""
    e, model = cell.experiment, cell.model
    eta = learning_rates(e.schedules(e.learning_rate)[cell.schedule], e.n)
    C = e.clip * math.sqrt(model.d)
    std = 2 * C * np.stack(list(noise.placed(eta, e.rho).values()), axis=1)
    x, y = spectrum.sample(model, e.n, rng=rng)
    b = rng.standard_normal(x.shape)
    theta = np.zeros((std.shape[1], model.d))
    for k in range(e.n):
        theta = noiseless_step(theta, x[k], y[k], eta[k], C) + std[k][:, None] * b[k]
    return model.risk(theta)


def placement_rows(cell: PlacementCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean risks, and by how much each exceeds that with the noise of (4.2) on the same records."""
    mean, error = _fits.mean_and_error(samples)
    above, above_error = _fits.mean_and_error(samples - samples[:, :1])
    model, e = cell.model, cell.experiment
    rows = [
        (cell.schedule, name, *row, row[0] + e.label_noise**2 / 2, model.initial_risk, len(samples))
        for name, *row in zip(noise.PLACEMENTS, mean, error, above, above_error)
    ]
    columns = ["schedule", "placement", "excess_risk", "standard_error", "above", "above_error"]
    return pd.DataFrame(rows, columns=[*columns, "half_test_error", "zero_risk", "trials"])
