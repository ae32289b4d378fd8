"""What is measured of the clipping constant and the learning rate in Section 5 and Figure 4 of arXiv:2505.16329v2."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd

from chapters.dpgd.hyperparameters import limit, maps, steps, terms, tuned
from chapters.dpgd.hyperparameters.problem import ALPHAS
from chapters.ranges import CLIP, NOISE, RHO, RISK, SEED, SMALL_GAMMA, TRIALS, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner

NOISE_SIZES = (10, 100, 1000, 10000)
LIMIT_GAMMA, LIMIT_RHO, LIMIT_CLIP, LIMIT_RATE = 0.1, 1.0, 0.1, 15.0  # where risks are followed along the dimension


class Experiment(Parameters):
    """Figure 4 of arXiv:2505.16329v2, the best hyper-parameters, and the rates of Propositions 5.1, D.3 and D.4."""

    d: int = parameter(count(2, 10**5), 100)
    """Dimension of the simulated maps."""
    gamma: tuple[float, ...] = many(SMALL_GAMMA, 0.01, 0.001)
    """Aspect ratios of the simulated maps."""
    rho: float = parameter(RHO, 0.1)
    label_noise: float = parameter(NOISE, 0.3)
    initial_risk: float = parameter(RISK, 0.5)
    """Risk of the start, θ = 0."""
    points: int = parameter(count(4, 1000), 28)
    """Values of c, and of the learning rate, in a map."""
    trials: int = parameter(TRIALS, 10)
    """Runs behind each point of a map."""
    advice_gammas: tuple[float, ...] = many(SMALL_GAMMA, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6)
    """Aspect ratios at which the best choice is told."""
    rhos: tuple[float, ...] = many(RHO, 0.03, 0.1, 0.3, 1.0)
    """Privacy parameters at which the two schedules are compared."""
    clips: tuple[float, ...] = many(
        CLIP, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0, ascending=True
    )
    """Clipping constants at which the best learning rate is found."""
    rate_gammas: tuple[float, ...] = many(SMALL_GAMMA, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
    """Aspect ratios at which rates are measured."""
    sketch_gammas: tuple[float, ...] = many(SMALL_GAMMA, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
    """Aspect ratios at which the sketch of the proof is held against the equations."""
    comparison_gammas: tuple[float, ...] = many(
        SMALL_GAMMA, 0.9, 0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8
    )
    """Aspect ratios at which the two schedules are compared."""
    limit_d: tuple[int, ...] = many(count(2, 10**5), 10, 30, 100, 300, 1000, ascending=True)
    """Dimensions along which the proportional limit is followed."""
    limit_trials: int = parameter(TRIALS, 50)
    """Runs for each of these dimensions."""
    seed: int = parameter(SEED, 10)

    @property
    def own(self) -> dict[str, Any]:
        """ζ and R(0), which all problems share."""
        return {"label_noise": self.label_noise, "initial_risk": self.initial_risk}

    @property
    def map_cells(self) -> list[maps.Map]:
        """The panels of Figure 4."""
        return [self.shared(maps.Map, gamma=g, alpha=a) for g, a in itertools.product(self.gamma, ALPHAS)]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Table ``figure-4`` and those of `tuned`, `terms`, `limit` and `steps`."""
        return {
            "figure-4": maps.table(self.map_cells, self.trials, self.seed, runner),
            "valley": self._valley(runner),
            "rates": tuned.rate_table(self.rate_gammas, runner, **self.own),
            "comparison": tuned.comparison(self.comparison_gammas, self.rhos, runner, **self.own),
            "clipping": tuned.clipping(self.rate_gammas, self.rho, runner, **self.own),
            "reduced": terms.reduced(self.sketch_gammas, 12, runner, **self.own),
            "factors": terms.factors(self.sketch_gammas, self.rho, self.label_noise, self.initial_risk),
            "limit": self._limit(runner),
            "steps": steps.table(self.gamma[0], self.label_noise),
            "noise": steps.noise(NOISE_SIZES, self.rho),
        }

    def _valley(self, runner: Runner) -> pd.DataFrame:
        gammas = sorted({*self.advice_gammas, *self.gamma}, reverse=True)
        cells = [
            tuned.Problem(alpha, gamma, rho, clips=self.clips, **self.own)
            for rho, alpha, gamma in itertools.product(dict.fromkeys((self.rho, 1.0)), ALPHAS, gammas)
        ]
        return tuned.valley(cells, runner)

    def _limit(self, runner: Runner) -> pd.DataFrame:
        fixed = {"gamma": LIMIT_GAMMA, "rho": LIMIT_RHO, "base": LIMIT_CLIP, "learning_rate": LIMIT_RATE}
        cells = [
            self.shared(limit.Size, d=d, alpha=alpha, rule=rule, **fixed)
            for alpha, rule, d in itertools.product(ALPHAS, limit.RULES, self.limit_d)
        ]
        return limit.table(cells, self.limit_trials, self.seed + 1, runner)
