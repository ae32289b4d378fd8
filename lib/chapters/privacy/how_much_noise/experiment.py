"""What a budget asks for and what it costs, in both algorithms: nothing is drawn but the prompts that are left out."""

from __future__ import annotations

import pandas as pd

from chapters.privacy.how_much_noise import calibration, conversions, prompts, regression
from chapters.ranges import KAPPA, NOISE, NOISE_OR_NONE, PENALTY, SEED, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy._validate import within


class Experiment(Parameters):
    """Noise and cost of a budget (ε, δ) for NoisyHead and DP-GD, by how it is calibrated and who is a neighbour."""

    epsilon: tuple[float, ...] = many(within(0.01, 20), 0.1, 0.3, 1.0, 3.0, 10.0, ascending=True)
    """Budgets ε that a user may ask for."""
    delta: tuple[float, ...] = many(chance(1e-50, 0.1), 1e-5, 1e-8)
    """Probabilities δ that a user may ask for; the first is that of the papers."""
    records: tuple[int, ...] = many(count(2, 10**9), 10, 100, 1000, 10000, ascending=True)
    """Records for each feature, n/d, of DP-GD."""
    regression_noise: float = parameter(NOISE, 0.3)
    """Standard deviation of the label noise of DP-GD's regression."""
    N: tuple[int, ...] = many(count(4, 10**9), 1000, 4000, 16000, 64000, ascending=True)
    """Numbers of NoisyHead's training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5)
    failure: float = parameter(KAPPA, 1.0)
    penalty: float = parameter(PENALTY, 5.0)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0)
    n: tuple[int, ...] = many(count(2, 10**9), 100, 10000, ascending=True)
    """Records of a pass of DP-GD of which every iterate is released, or the last alone."""
    seed: int = parameter(SEED, 5)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``budgets`` and ``curves`` (ρ, ε, δ), ``regression`` and ``prompts`` (cost), and what claims say."""
        told = (self.D, self.failure, self.penalty, self.label_noise)
        return {
            "budgets": conversions.budgets(self.epsilon, self.delta),
            "curves": conversions.curves(self.delta),
            "regression": regression.table(runner, self.epsilon, self.delta, self.records, self.regression_noise),
            "prompts": prompts.table(self.N, self.epsilon, self.delta[:1], told),
            "single-steps": calibration.single_steps(),
            "limits": calibration.limits(),
            "composition": calibration.composition(self.epsilon, self.delta[0]),
            "inclusion": calibration.inclusion(self.N, told, self.seed),
            "outputs": calibration.outputs(1.0, self.n, self.delta[0]),
            "orders": calibration.orders(),
        }
