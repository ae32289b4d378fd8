"""What is measured of the deterministic equivalent of DP-GD: Figure 1, the rate of convergence, and its reach."""

from __future__ import annotations

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent import paths, rates, reach, theory
from chapters.dpgd.deterministic_equivalent.regime import LEVELS, Regime, gathered
from chapters.ranges import CLIP, GAMMA, NOISE, RATE, RHO_OR_INFINITE, SEED, TRIALS, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner


class Experiment(Parameters):
    """Figure 1 of arXiv:2505.16329v2, and what it does not show."""

    d: tuple[int, ...] = many(count(1, 10**5), 10, 100, 1000, ascending=True)
    """Dimensions of Figure 1; the number of samples is d over the aspect ratio."""
    gamma: float = parameter(GAMMA, 0.1)
    rho: float = parameter(RHO_OR_INFINITE, 1.0)
    """Privacy parameter of Gaussian differential privacy; infinite for no privacy."""
    label_noise: float = parameter(NOISE, 0.3)
    clip: float = parameter(CLIP, 1.0)
    learning_rate: float = parameter(RATE, 3.0)
    """Learning rate at the start; a step has this length over n."""
    trials: int = parameter(TRIALS, 10)
    """Runs for each curve of Figure 1."""
    n: tuple[int, ...] = many(count(1, 10**7), 160, 480, 1440, 4320, 12960, ascending=True)
    """Numbers of samples at which the rates are measured, each with at least four dimensions."""
    chain_steps: int = parameter(count(1, 10**12), 5_000_000)
    """Steps of simulated chains at each of these numbers of samples; there are at least 2 times 1000 chains."""
    law_d: tuple[int, ...] = many(count(1, 10**5), 20, 60, 200, 600, ascending=True)
    """Dimensions in which other laws of the features are tried."""
    law_trials: int = parameter(TRIALS, 50)
    """Most runs for each law and dimension, at least 2."""
    law_precision: float = parameter(chance(1e-4, 0.5), 0.0075)
    """Standard error of the mean risk for other laws, as a share of it, that is enough."""
    axis_d: tuple[int, ...] = many(count(1, 10**5), 1, 2, 3, 5, 10, 30, 100, 300, 1000, ascending=True)
    """Dimensions along which the equivalent is followed down to the smallest."""
    theory_n: tuple[int, ...] = many(count(2, 10**7), 160, 480, 1440, 4320, ascending=True)
    """Numbers of samples at which Algorithm 1 is compared with the diffusion."""
    step_d: tuple[int, ...] = many(count(1, 10**5), 10, 100, 300, ascending=True)
    """Dimensions in which single steps are measured."""
    theory_trials: int = parameter(TRIALS, 20)
    """Trials of the diffusion, 8 paths each; ten times as many of single steps."""
    seed: int = parameter(SEED, 7)

    def check(self) -> None:
        """Refuse numbers of samples too small for four eigenvalues."""
        if self.regime.dimension(self.n[0]) < LEVELS:
            raise ValueError(f"n must be at least {LEVELS} / gamma = {LEVELS / self.gamma:g}, got {self.n[0]!r}")

    @property
    def regime(self) -> Regime:
        """What all cells have in common."""
        return self.shared(Regime)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``figure-1``, ``rates``, ``laws``, ``axes``, and those of `theory.tables`."""
        return {
            "figure-1": self._figure_1(runner),
            "rates": self._rates(runner),
            "laws": self._laws(runner),
            "axes": self._axes(runner),
            **theory.tables(self.regime, self.theory_n, self.step_d, self.theory_trials, runner, self.seed + 10),
        }

    def _figure_1(self, runner: Runner) -> pd.DataFrame:
        cells = [paths.Cell(self.regime, d, name) for name in paths.SPECTRA for d in self.d]
        return gathered(paths.rows, runner.run(paths.trial, cells, self.trials, self.seed))

    def _rates(self, runner: Runner) -> pd.DataFrame:
        tables = []
        for n in self.n:
            cells = [rates.Cell(self.regime, n, name) for name in rates.SPECTRA]
            batches = max(2, round(self.chain_steps / (n * rates.CHAINS)))
            tables.append(gathered(rates.rows, runner.run(rates.trial, cells, batches, self.seed + 1)))
        return pd.concat(tables, ignore_index=True)

    def _laws(self, runner: Runner) -> pd.DataFrame:
        cells = [reach.LawCell(self.regime, d, law) for law in reach.LAWS for d in self.law_d]
        trials = Precision(self.law_precision, self.law_trials, reach.PILOT, reach.path_means)
        rows = gathered(reach.law_rows, runner.run(reach.law_trial, cells, trials, self.seed + 2))
        places = [rows["law"].map(list(reach.LAWS).index), rows["target"].map(reach.TARGETS.index), rows["d"]]
        return rows.iloc[np.lexsort(places[::-1])].reset_index(drop=True)

    def _axes(self, runner: Runner) -> pd.DataFrame:
        cells = reach.axis_cells(self.axis_d, self.regime)
        return gathered(reach.axis_rows, runner.run(reach.axis_trial, cells, 2, self.seed + 3))
