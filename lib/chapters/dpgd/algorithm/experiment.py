"""What is measured of Algorithm 1, its privacy and its noise, arXiv:2505.16329v2."""

from __future__ import annotations

import math

import pandas as pd

from chapters.dpgd.algorithm import conversions, identity, models, noise, outputs, rates, steps
from chapters.dpgd.algorithm.tightness import tightness
from chapters.ranges import CLIP, GAMMA, NOISE, RATE, RHO, SEED, amount, count, from_zero
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner, generator
from costofprivacy import _validate
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule

OUTPUT_STEPS = 6  # steps of the runs whose output's law is computed
OUTPUT_RATE = 9.0  # η̃(0) there, so that η‖x‖² = 1.5 at most
LARGEST_SEARCH = 2 * 10**7  # numbers held at once for the random noise schedules
LARGEST_N = 10**7  # of one run: minutes
OWN_STREAM = 2**32  # of what is tried at random beside the trials


class Experiment(Parameters):
    """Steps, privacy, noise schedules, conversions and rates."""

    gamma: float = parameter(GAMMA, 0.1)
    """Aspect ratio d/n where noise schedules are compared."""
    n: int = parameter(count(10, 10**8), 1000)
    """Steps where noise schedules are compared."""
    rho: float = parameter(RHO, 1.0)
    clip: float = parameter(CLIP, 1.0)
    label_noise: float = parameter(NOISE, 0.3)
    learning_rate: float = parameter(RATE, 3.0)
    """Learning rate η̃(0) at the start, where noise schedules are compared."""
    alpha: tuple[float, ...] = many(amount(1e-3, 1e2), 0.5, 1.0, 5.0)
    """Exponents of the polynomial schedules."""
    harmonic_scale: float = parameter(amount(1e-6, 1e6), 2.0)
    """Scale β of the harmonic schedule β/(t + τ), times the least eigenvalue of the covariance."""
    harmonic_offset: float = parameter(amount(1e-6, 1e6), 4.0)
    """Offset τ of the harmonic schedule, over the larger of γ and γ/ρ."""
    gammas: tuple[float, ...] = many(GAMMA, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
    """Aspect ratios γ on which (1.4) is tried."""
    rhos: tuple[float, ...] = many(RHO, 0.1, 0.3, 1.0)
    """Privacy parameters ρ on which (1.4) is tried."""
    d: int = parameter(count(2, 10**5), 100)
    """Dimension in which (1.4) is tried along γ and ρ."""
    fixed_gamma: float = parameter(GAMMA, 0.01)
    """Aspect ratio γ where n varies."""
    fixed_rho: float = parameter(RHO, 0.3)
    """Privacy parameter ρ where n varies."""
    sizes: tuple[int, ...] = many(count(10, 10**8), 1000, 3000, 10_000, 30_000, 100_000)
    """Numbers of steps n on which the rates are tried at fixed γ and ρ."""
    log_power: float = parameter(from_zero(20.0), 2.0)
    """Power of log n that is drawn for (1.3), which does not state it."""
    pairs: int = parameter(count(20, 10**8), 100_000)
    """Random records, and pairs of coefficients, on which single steps are tried."""
    others: int = parameter(count(2, 10**6), 2000)
    """Random noise schedules that are tried against each one of (4.2)."""
    placements: int = parameter(count(2, 10**6), 100)
    """Trials of the three placements of the noise, and of each law of the features."""
    trials: int = parameter(count(1, 10**6), 2)
    """Trials of the rates, each of 20 runs side by side."""
    seed: int = parameter(SEED, 7)

    def check(self) -> None:
        """Refuse runs that would take hours, and searches that would not fit in memory."""
        longest = max(self.n, *self.sizes, *(math.ceil(self.d / g) for g in self.gammas))
        _validate.between("the longest run's n", longest, 10, LARGEST_N)
        _validate.between("n · others", self.n * self.others, 20, LARGEST_SEARCH)

    def schedules(self, initial: float) -> dict[str, Schedule]:
        """Constant, polynomial with each exponent, and harmonic with the same η̃(0) as the others."""
        powers: dict[str, Schedule] = {f"α = {a:g}": Polynomial(initial, a) for a in self.alpha}
        offset = models.time_offset(self.harmonic_offset, self.gamma, self.rho)
        return {"constant": Constant(initial)} | powers | {"harmonic": Harmonic(initial * offset, offset)}

    @property
    def rate_cells(self) -> list[rates.RateCell]:
        """For each covariance, one for each n at fixed γ, and one for each γ at fixed d."""
        return [
            self.shared(rates.RateCell, covariance=name, axis=axis, gamma=gamma, n=n, rhos=rhos)
            for name in models.SPECTRA
            for axis, gamma, n, rhos in (
                *(("n", self.fixed_gamma, n, (self.fixed_rho,)) for n in self.sizes),
                *(("gamma", gamma, math.ceil(self.d / gamma), self.rhos) for gamma in self.gammas),
            )
        ]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """All tables by name."""
        return self._tried_at_random() | self._closed() | self._simulated(runner)

    def _tried_at_random(self) -> dict[str, pd.DataFrame]:
        """Single steps and noise schedules, all from one stream, in this order."""
        rng = generator(self.seed, 0, OWN_STREAM)
        return {
            "steps": steps.loss_checks(self.pairs, rng),
            "expansion": steps.expansion(self.pairs, rng),
            "sensitivity": steps.sensitivity(self.pairs, rng),
            "schedules": pd.DataFrame(
                [
                    noise.schedule_row(name, plan, self.n, self.rho, self.others, rng)
                    for name, plan in self.schedules(self.learning_rate).items()
                ]
            ),
        }

    def _closed(self) -> dict[str, pd.DataFrame]:
        """What no chance is in."""
        seen = [1, OUTPUT_STEPS // 2, OUTPUT_STEPS]
        laws = [
            outputs.output_rows(name, plan, OUTPUT_STEPS, self.rho, seen)
            for name, plan in self.schedules(OUTPUT_RATE).items()
            if outputs.resolved(plan, OUTPUT_STEPS, self.rho)
        ]
        shares = [
            noise.cumulative_rows(name, plan, self.n, self.rho)
            for name, plan in self.schedules(self.learning_rate).items()
        ]
        return {
            "outputs": pd.concat(laws, ignore_index=True),
            "tightness": tightness(),
            "noise": pd.concat(shares, ignore_index=True),
            "conversions": conversions.conversions(),
            "translation": conversions.translation(self.rho),
            "lower-bounds": rates.lower_bounds(self.harmonic_scale, self.clip, self.label_noise),
        }

    def _simulated(self, runner: Runner) -> dict[str, pd.DataFrame]:
        named = self.schedules(self.learning_rate).items()
        placed = {self.shared(noise.PlacementCell, schedule=plan): name for name, plan in named}
        laws = [self.shared(identity.IdentityCell, law=law) for law in identity.LAWS]
        risks = runner.run(rates.rate_trial, self.rate_cells, self.trials, self.seed)
        places = runner.run(noise.placement_trial, list(placed), self.placements, self.seed)
        disputed = runner.run(noise.placement_trial, list(noise.DISPUTED), self.placements, self.seed)
        ratios = runner.run(identity.identity_trial, laws, self.placements, self.seed)
        found = {
            "rates": [rates.rate_rows(cell, values, self.log_power) for cell, values in risks.items()],
            "placement": [noise.placement_rows(placed[cell], cell, values) for cell, values in places.items()],
            "placement-by-covariance": [noise.disputed_rows(cell, values) for cell, values in disputed.items()],
            "identity": [identity.identity_rows(cell, values) for cell, values in ratios.items()],
        }
        return {name: pd.concat(tables, ignore_index=True) for name, tables in found.items()}
