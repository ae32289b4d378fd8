"""What can be chosen on the page: NoisyHead's test error along its steps, in closed form, and what noise adds to it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.explore import rounded
from chapters.noisyhead.early_stopping.measure import SHARE
from chapters.noisyhead.rivals import measure as rivals_measure
from chapters.ranges import DELTA, NOISE_OR_NONE, PENALTY, amount, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy._validate import within
from costofprivacy.noisyhead import accounts, dynamics, population, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

SQUARE = "D = L = √N, λ = N/D"
SETTINGS = (Setting.CORRECTED, Setting.PUBLISHED)
UNIT = 1.0  # ε at which the noise is tabulated
A_DECADE = 8  # numbers of steps in a factor of ten
DIGITS = 6  # significant, of what is saved


@dataclass(frozen=True)
class Run:
    """Algorithm 1 from Γ⁰ = 0 on N prompts of a law; its number of steps is that of the recipe, 0 where it has none."""

    setting: Setting
    problem: str
    N: int
    model: PromptModel
    hyper: Hyperparameters
    recipe_steps: int

    @property
    def names(self) -> dict[str, object]:
        """What singles the run out in every table."""
        return {"setting": str(self.setting), "problem": self.problem, "N": self.N}

    def noise(self, account: str, delta: float, steps: np.ndarray) -> np.ndarray:
        """What noise adds to the test error after each T at ε = `UNIT`, Π_R idle."""
        h, budget = dynamics.curvature(self.model), ApproximateDP(UNIT, delta)
        found = []
        for T in map(int, steps):
            std = accounts.noise_std(account, self.hyper, budget, self.N, T)
            found.append(dynamics.noise_risk(replace(self.hyper, steps=T), self.model, std, h))
        return np.array(found)


class Experiment(Parameters):
    """NoisyHead's test error against its steps; closed forms, nothing is drawn."""

    label_noise: float = parameter(NOISE_OR_NONE, 0.0)
    N: tuple[int, ...] = many(count(4, 10**7), 1000, 4000, 10_000, 100_000, 1_000_000, ascending=True)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5)
    """Dimension of a feature in the problems of Figure 1; in that of Figure 3 it is the integer part of √N."""
    penalty: tuple[float, ...] = many(PENALTY, 5.0, 0.5, 0.05, 0.005)
    """Ridge penalties of the problems of Figure 1; the paper's is 5."""
    epsilon_step: float = parameter(amount(1e-6, 1e2), 0.1)
    """Distance of the budgets ε that can be chosen, and the least of them."""
    epsilon_count: int = parameter(count(1, 10**5), 80)
    """How many budgets can be chosen."""
    delta: float = parameter(DELTA, 1e-5)
    failure: float = parameter(within(1e-50, 1), 1.0)
    decades: int = parameter(count(1, 50), 5)
    """Powers of ten up to which the numbers of steps go."""

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``runs`` (what belongs to each), ``learnt``, ``noise`` at ε = 1, and ``budgets`` (its factor by ε)."""
        # Every whole number at first, then `A_DECADE` in a factor of ten.
        steps = np.unique(np.round(np.geomspace(1, 10**self.decades, self.decades * A_DECADE + 1)).astype(int))
        runs, facts = list(self.runs()), []
        learnt, noise = [], []
        for run in runs:
            fact: dict[str, float] = {"D": run.model.D, "L": run.model.L, "recipe_steps": run.recipe_steps}
            fact |= {"noise_limit": dynamics.noise_limit(run.hyper, run.model)}
            fact |= {"best_linear_head": population.best_prediction_error(run.model)}
            facts.append(run.names | fact | {"response_variance": run.model.response_variance})
            gained = dynamics.noiseless_gain(run.hyper, run.model, run.N, steps)
            learnt.append(pd.DataFrame({**run.names, "T": steps, "gained": gained}))
            for account in ACCOUNTS:
                added = run.noise(account, self.delta, steps)
                noise.append(pd.DataFrame({**run.names, "account": account, "T": steps, "noise": added}))
        # By what the noise at ε = `UNIT` is multiplied at each ε, by account: the same for all T, N and problems.
        budgets = []
        for k in range(1, self.epsilon_count + 1):
            epsilon = float(f"{k * self.epsilon_step:.12g}")
            for account in ACCOUNTS:
                factor = noise_factor(account, epsilon, self.delta)
                budgets.append({"epsilon": epsilon, "account": account, "factor": factor})
        tables = {
            "runs": pd.DataFrame(facts),
            "learnt": pd.concat(learnt, ignore_index=True),
            "noise": pd.concat(noise, ignore_index=True),
            "budgets": pd.DataFrame(budgets),
        }
        return {name: rounded(table, DIGITS) for name, table in tables.items()}

    def runs(self) -> Iterator[Run]:
        """Every setting, problem and N."""
        for setting in SETTINGS:
            recipe = rivals_measure.published_at if setting == Setting.PUBLISHED else rivals_measure.corrected_at
            for penalty in self.penalty:
                name = f"D = {self.D}, λ = {penalty:g}"
                for N in self.N:
                    model = recipes.square_model(self.D, N, self.label_noise)
                    hyper = recipe(model, N, self.failure, penalty)
                    yield Run(setting, name, N, model, hyper, hyper.steps)
            for N in self.N:
                model = recipes.overparametrised_model(N, self.label_noise)
                hyper = recipes.high_dimension(model, N, self.failure, SHARE, 1)[setting]
                yield Run(setting, SQUARE, N, model, hyper, 0)


def noise_factor(account: str, epsilon: float, delta: float) -> float:
    """The noise's part at ε over that at `UNIT`: (multiplier at ε over multiplier at `UNIT`)², here of a single step.

    The classical multiplier is proportional to 1/ε at each T. The exact ones are 1/μ(ε, δ), μ of Gaussian differential
    privacy, times what depends on T and the contraction alone.
    """
    hyper = Hyperparameters(1.0, 1.0, 1.0, 0.5, 0.5, 1)
    at, unit = (accounts.noise_std(account, hyper, ApproximateDP(e, delta), 1, 1) for e in (epsilon, UNIT))
    return (at / unit) ** 2
