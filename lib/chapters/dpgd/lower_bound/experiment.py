"""What is measured of the lower bound of arXiv:2505.16329v2: the attack, the bounds, and each step of their proof."""

from __future__ import annotations

import math

import pandas as pd

from chapters.dpgd.lower_bound import attacks, optimality, steps
from chapters.ranges import CLIP, GAMMA, NOISE, RHO, SEED, TRIALS, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner


class Experiment(Parameters):
    """Theorem 3: the tracing attack on DP-GD, its upper bound beside the lower one, and the steps of the proof."""

    d: int = parameter(count(2, 10**5), 50)
    """Dimension of everything that is simulated."""
    ratios: tuple[int, ...] = many(count(2, 10**6), 5, 10, 20, 50, ascending=True)
    """Records over dimension, n/d, where algorithms are attacked."""
    rho: tuple[float, ...] = many(RHO, 0.3, 1.0, 3.0, ascending=True)
    """Privacy parameters ρ of the algorithms that are attacked."""
    label_noise: float = parameter(NOISE, 0.3)
    clip: float = parameter(CLIP, 0.1)
    gammas: tuple[float, ...] = many(GAMMA, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, ascending=True)
    """Aspect ratios γ at which the harmonic schedule is tuned."""
    gamma: float = parameter(GAMMA, 1e-4)
    """Aspect ratio γ along which ρ varies."""
    rhos: tuple[float, ...] = many(RHO, *(1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0), ascending=True)
    """Privacy parameters ρ at that aspect ratio."""
    noises: tuple[float, ...] = many(NOISE, 0.003, 0.03, 0.3, 3.0, ascending=True)
    """Standard deviations ζ of the label noise, for Section 8's remark; c is proportional to them."""
    rival_n: int = parameter(count(100, 10**8), 50_000)
    """Records of the comparison with a pilot and one averaged step."""
    rival_rho: float = parameter(RHO, 0.02)
    """Privacy parameter ρ of that comparison."""
    pilot_share: float = parameter(chance(1e-3, 0.999), 0.25)
    """Share of the records that the pilot uses."""
    trials: int = parameter(TRIALS, 200)
    rival_trials: int = parameter(TRIALS, 40)
    """Independent repetitions of that comparison."""
    seed: int = parameter(SEED, 10)

    def check(self) -> None:
        """Refuse so few records that those which are replaced are not distinct."""
        least = 2 * attacks.POSITIONS
        if self.d * self.ratios[0] < least:
            raise ValueError(f"d times each of ratios must be at least {least}, got {self.d * self.ratios[0]}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables of the attack, of the bounds and of the proof's steps."""
        return {
            **self._attacks(runner),
            "rivals": self._rivals(runner),
            "bounds": self._bounds(runner),
            "far": optimality.far(),
            "conversion": optimality.conversion(),
            "prior": steps.prior(),
            "priors": steps.priors(),
            "likelihood": steps.likelihood(self.rho),
            "outside": steps.outside(),
            "lemma": steps.lemma_d8(),
            "bayes": self._bayes(runner),
            "orders": steps.orders(),
        }

    def _attacks(self, runner: Runner) -> dict[str, pd.DataFrame]:
        settings = [
            self.shared(attacks.Setting, n=ratio * self.d, rho=rho) for ratio in self.ratios for rho in self.rho
        ]
        tuned = {cell: found[0] for cell, found in runner.run(attacks.tune, settings, 1, 0).items()}
        cells = [
            self.shared(attacks.AttackCell, n=c.n, rho=c.rho, rates=tuple(t[:, 0].tolist()), offset=float(t[2, 1]))
            for c, t in tuned.items()
        ]
        bare = [
            self.shared(attacks.AttackCell, n=ratio * self.d, rho=math.inf, rates=(), offset=0.0)
            for ratio in self.ratios
        ]
        found = runner.run(attacks.attack, bare + cells, self.trials, self.seed)
        pairs = [
            self.shared(attacks.TwinCell, n=c.n, rho=c.rho, tuned=float(t[0, 0]), multiple=multiple)
            for c, t in tuned.items()
            for multiple in attacks.MULTIPLES
        ]
        rows = [attacks.attack_rows(cell, samples) for cell, samples in found.items()]
        return {
            "attack": pd.concat(rows, ignore_index=True),
            **attacks.twin_tables(runner.run(attacks.twins, pairs, self.trials, self.seed)),
        }

    def _rivals(self, runner: Runner) -> pd.DataFrame:
        cell = self.shared(attacks.RivalCell, n=self.rival_n, rho=self.rival_rho)
        whole, pilot = runner.run(attacks.rival_plans, [cell], 1, 0)[cell][0].tolist()
        trial = self.shared(
            attacks.RivalTrial,
            n=self.rival_n, rho=self.rival_rho, whole=tuple(whole), pilot=tuple(pilot),
        )  # fmt: skip
        samples = runner.run(attacks.rival_trial, [trial], self.rival_trials, self.seed)[trial]
        return attacks.rival_rows(trial, samples)

    def _bounds(self, runner: Runner) -> pd.DataFrame:
        places = optimality.places(self.gammas, self.rhos, self.gamma, self.noises, self.label_noise, self.clip)
        cells = [self.shared(optimality.Cell, **place) for place in places]
        found = runner.run(optimality.solve, cells, 1, 0)
        return pd.DataFrame([optimality.row(cell, values[0]) for cell, values in found.items()])

    def _bayes(self, runner: Runner) -> pd.DataFrame:
        cells = [
            self.shared(steps.BayesCell, spectrum=name, n=ratio * self.d)
            for name in ("isotropic", "uniform")
            for ratio in sorted({self.ratios[0], self.ratios[-1]})
        ]
        found = runner.run(steps.bayes_trial, cells, self.trials, self.seed)
        return pd.DataFrame([steps.bayes_rows(cell, samples) for cell, samples in found.items()])
