"""What is measured of the deterministic equivalent of DP-GD: Figure 1, the rate of convergence, and its reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy import _validate
from costofprivacy.experiments.dpgd.deterministic_equivalent import paths, rates, reach, theory
from costofprivacy.experiments.dpgd.deterministic_equivalent._setting import LEVELS, Setting
from costofprivacy.montecarlo import Runner


@dataclass(frozen=True)
class Experiment:
    """Figure 1 of arXiv:2505.16329v2, and what it does not show.

    Args:
        d: dimensions of Figure 1; n = d/γ.
        gamma, rho, zeta, c, initial_rate: γ, ρ, ζ, c and η̃(0), all positive and, but for ρ, finite.
        trials: runs for each curve of Figure 1, at least 2.
        n: numbers of samples at which the rates are measured, with γn at least 4.
        chain_steps: steps of simulated chains at each of these n, at least 1; there are at least 2 × 1000 chains.
        law_d: dimensions in which other laws of the features are tried. law_trials: runs for each, at least 2.
        axis_d: dimensions along which the equivalent is followed down to small d.
        theory_n: numbers of samples at which Algorithm 1 is held against the diffusion (4.14), with γn at least 1.
        step_d: dimensions in which single steps are measured. theory_trials: for both, at least 2.
        seed: root of all random streams, ≥ 0.
    """

    d: tuple[int, ...] = (10, 100, 1000)
    gamma: float = 0.1
    rho: float = 1.0
    zeta: float = 0.3
    c: float = 1.0
    initial_rate: float = 3.0
    trials: int = 10
    n: tuple[int, ...] = (160, 480, 1440, 4320, 12960)
    chain_steps: int = 20_000_000
    law_d: tuple[int, ...] = (20, 60, 200, 600)
    law_trials: int = 50
    axis_d: tuple[int, ...] = (1, 2, 3, 5, 10, 30, 100, 300, 1000)
    theory_n: tuple[int, ...] = (160, 480, 1440, 4320)
    step_d: tuple[int, ...] = (10, 100, 300)
    theory_trials: int = 20
    seed: int = 7

    def __post_init__(self) -> None:
        for name in ("d", "n", "law_d", "axis_d", "theory_n", "step_d"):
            values = _validate.each(_validate.whole, name, getattr(self, name))
            object.__setattr__(self, name, tuple(sorted(values)))
        for name in ("trials", "law_trials", "theory_trials"):
            _validate.whole(name, getattr(self, name), at_least=2)
        _validate.whole("chain_steps", self.chain_steps)
        _validate.whole("seed", self.seed, at_least=0)
        if round(self.setting.gamma * self.n[0]) < LEVELS:
            raise ValueError(f"n must be at least {LEVELS} / gamma = {LEVELS / self.gamma:g}, got {self.n[0]!r}")

    @property
    def setting(self) -> Setting:
        """What all cells have in common."""
        return Setting(*(getattr(self, field.name) for field in fields(Setting)))

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``figure-1``, ``rates``, ``laws``, ``axes``, and those of `theory.tables`."""
        return {
            "figure-1": self._figure_1(runner),
            "rates": self._rates(runner),
            "laws": self._laws(runner),
            "axes": self._axes(runner),
            **theory.tables(self.setting, self.theory_n, self.step_d, self.theory_trials, runner, self.seed + 10),
        }

    def _figure_1(self, runner: Runner) -> pd.DataFrame:
        cells = [paths.Cell(name, d, self.setting) for name in paths.SPECTRA for d in self.d]
        return _table(paths.rows, runner.run(paths.trial, cells, self.trials, self.seed))

    def _rates(self, runner: Runner) -> pd.DataFrame:
        tables = []
        for n in self.n:
            cells = [rates.Cell(name, n, self.setting) for name in rates.SPECTRA]
            batches = max(2, round(self.chain_steps / (n * rates.CHAINS)))
            tables.append(_table(rates.rows, runner.run(rates.trial, cells, batches, self.seed + 1)))
        return pd.concat(tables, ignore_index=True)

    def _laws(self, runner: Runner) -> pd.DataFrame:
        combinations = [(law, target, d) for law in reach.LAWS for target in reach.TARGETS for d in self.law_d]
        cells = [reach.LawCell(*combination, self.setting) for combination in combinations]
        return _table(reach.law_row, runner.run(reach.law_trial, cells, self.law_trials, self.seed + 2))

    def _axes(self, runner: Runner) -> pd.DataFrame:
        cells = reach.axis_cells(self.axis_d, self.setting)
        return _table(reach.axis_rows, runner.run(reach.axis_trial, cells, 2, self.seed + 3))


def _table(rows: Callable[[Any, np.ndarray], pd.DataFrame], samples: dict[Any, np.ndarray]) -> pd.DataFrame:
    """The rows of all cells."""
    parts: Sequence[pd.DataFrame] = [rows(cell, values) for cell, values in samples.items()]
    return pd.concat(parts, ignore_index=True)
