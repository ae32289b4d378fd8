"""What is measured of Algorithm 1: sensitivity, noise, composition, and where descent rests."""

from __future__ import annotations

import pandas as pd

from chapters.noisyhead.mechanism import accounting, minimisers, sensitivity
from chapters.noisyhead.mechanism.cell import Cell
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting


class Experiment(Parameters):
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
            _ = cell.settings

    @property
    def budget(self) -> ApproximateDP:
        """The budget (ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """What an update reveals, its noise, what T updates spend, and where they lead without noise, as tables."""
        samples = runner.run(minimisers.trial, self.cells, self.trials, self.seed)
        revealed = [row for cell in self.cells for row in sensitivity.rows(cell, self.pairs, self.seed)]
        noise = [row for cell in self.cells for row in accounting.noise_rows(cell, self.budget)]
        first = self.cells[0]
        published = first.settings[Setting.PUBLISHED]
        return {
            "sensitivity": pd.DataFrame(revealed),
            "noise": pd.DataFrame(noise),
            "noise-law": accounting.noise_law(published, self.budget, first.N),
            "composition": accounting.composition(self.T, self.budget, min(1.0, published.contraction)),
            "single-steps": accounting.single_steps(self.delta),
            "minimisers": pd.concat([minimisers.rows(c, v) for c, v in samples.items()], ignore_index=True),
        }
