"""What is measured for Figure 2, for the bounds in high dimension and for Lemmas A.1 to A.3."""

from __future__ import annotations

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.high_dimensional import asymptotics, axes, lemmas, sides
from chapters.noisyhead.high_dimensional.figure import RANDOM, VARIANTS, ZERO, Cell, trial
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, SEED, TRIALS, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.noisyhead import dynamics, population, recipes
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

FIGURE = tuple(v for v in VARIANTS if v != (Setting.PUBLISHED, ZERO))  # what stands in Figure 2's own table


class Experiment(Parameters):
    """Figure 2: excess risk of NoisyHead against N for several ε, at D = L = ⌊√N⌋ and λ = N/D."""

    N: tuple[int, ...] = many(count(16, 10**6), 500, 600, 700, 800, 900, 1000, 1500, 2100, ascending=True)
    """Numbers of training prompts; D and L are the integer part of their square root."""
    epsilon: tuple[float, ...] = many(EPSILON, 0.01, 0.05, 0.1, 0.5, 1.0)
    """Privacy budgets ε of approximate differential privacy, at most T."""
    delta: float = parameter(DELTA, 1e-5)
    """Probability δ of approximate differential privacy, as printed."""
    delta_published: float = parameter(DELTA, 1e-2, published=True)
    """The δ behind the published numbers."""
    failure: float = parameter(KAPPA, 1.0, published=True)
    T: int = parameter(count(1, 10**6), 5, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    trials: int = parameter(TRIALS, 500)
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    bound_N: tuple[int, ...] = many(count(16, 10**4), 100, 400, 900, ascending=True)
    """Numbers of training prompts at which both sides of (4.4) are measured."""
    bound_failure: float = parameter(chance(1e-50, 0.99), 0.01)
    """Failure probability κ there, and in the lemmas."""
    bound_trials: int = parameter(TRIALS, 20)
    """Data sets on which both sides of (4.4) are measured."""
    lemma_trials: int = parameter(count(20, 10**6), 400)
    """Data sets on which Lemmas A.1 to A.3 are tried."""
    seed: int = parameter(SEED, 5)

    def check(self) -> None:
        """Refuse budgets beyond T, and runs of more steps than one can take: a small κ makes G large and η₀ small."""
        if max(self.epsilon) > self.T:
            raise ValueError(f"epsilon must be at most T = {self.T}, got {max(self.epsilon)}")
        if self.T > recipes.MOST_STEPS:
            raise ValueError(f"T must be at most {recipes.MOST_STEPS}, got {self.T}")
        for cell in self.bound_cells:
            T = max(max(told.steps) for told in cell.told)
            if T > recipes.MOST_STEPS:
                asked = f"bound_failure must ask for at most T = {recipes.MOST_STEPS}"
                raise ValueError(f"{asked}, got {self.bound_failure!r}: T = {T} at N = {cell.N}")

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    @property
    def bound_cells(self) -> list[sides.Cell]:
        """One for each size of (4.4), at the largest ε."""
        own = {"epsilon": max(self.epsilon), "failure": self.bound_failure}
        return [self.shared(sides.Cell, N=N, **own) for N in self.bound_N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 2, test errors, starts, published numbers, what Γ* predicts, both sides of (4.4), powers, lemmas."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        every = _table(samples, 0, "excess_risk")
        figure = _figure(every)
        noise, budget = self.label_noise, ApproximateDP(max(self.epsilon), self.delta)
        return {
            "figure-2": figure,
            "test-error": _with_trivial(_figure(_table(samples, 1, "test_error")), self),
            "starts": pd.concat([start_rows(c, every) for c in self.cells], ignore_index=True),
            "comparison": authors.by_budget(figure, authors.if_published(self, published())),
            "reference": asymptotics.reference_shares(max(self.N), noise),
            "both-sides": sides.measure(self.bound_cells, self.bound_trials, runner, self.seed + 1),
            "progress": sides.along_progress(max(self.bound_N), self.bound_failure, noise),
            "narrow": sides.narrow(noise, self.failure, budget, runner, self.seed + 3),
            "regime-axes": axes.regimes(self.bound_failure, noise, budget),
            "powers": asymptotics.powers(noise, self.failure, budget),
            "proof-steps": axes.proof_steps(),
            "lemmas": lemmas.measure(self.lemma_trials, self.bound_failure, runner, self.seed + 2),
            "lemma-a3-tail": lemmas.single_prompt_tail(),
            "sum-tail": lemmas.sum_tails(),
        }


def _table(samples: dict[Cell, np.ndarray], index: int, quantity: str) -> pd.DataFrame:
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values[:, index])
        labels = cell.columns.copy()
        labels.insert(1, "N", cell.N)
        tables.append(labels.assign(**{quantity: mean, "standard_error": error, "trials": len(values)}))
    return pd.concat(tables, ignore_index=True)


def _figure(every: pd.DataFrame) -> pd.DataFrame:
    """The rows of Figure 2: one start for each setting, and the trivial predictor and Γ* in each setting."""
    parts = []
    for setting, start in FIGURE:
        own = every[(every["setting"] == setting) & (every["start"] == start)]
        common = every[every["method"].isin(["zero", "ridge"])].assign(setting=str(setting))
        parts.append(pd.concat([own, common]))
    return pd.concat(parts, ignore_index=True).drop(columns="start")


def _with_trivial(table: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    best = {c.N: population.best_prediction_error(c.model) for c in experiment.cells}
    return table.assign(best_linear_head=table["N"].map(best), response_variance=1 + experiment.label_noise**2)


def start_rows(cell: Cell, every: pd.DataFrame) -> pd.DataFrame:
    """The published algorithm from its random Γ⁰ and from 0, beside the closed form of the same dynamics.

    ``radius_share`` is the root mean square of the unprojected weights' norm over R: the closed form holds where it is
    well below one.
    """
    hyper = cell.hyper[Setting.PUBLISHED]
    h, R = dynamics.curvature(cell.model), hyper.weight_bound
    own = every[(every["N"] == cell.N) & (every["setting"] == Setting.PUBLISHED)].drop(columns="setting")
    noise = dict(zip(cell.epsilon, cell.noise[Setting.PUBLISHED], strict=True))
    rows = []
    for row in own.to_dict("records"):
        energy = (authors.INITIAL_STD * cell.model.D) ** 2 if row["start"] == RANDOM else 0.0
        std = noise.get(row["epsilon"], 0.0)
        descent = dynamics.descent_risk(hyper, cell.model, cell.N, cell.penalty, energy, np.array([cell.T]))[0]
        total = descent + dynamics.noise_risk(hyper, cell.model, std, h)
        reach = np.sqrt(max(energy, total / h)) / R
        rows.append({**row, "closed_form": total, "radius_share": reach, "start_norm": np.sqrt(energy), "radius": R})
    return pd.DataFrame(rows)


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 2: N, epsilon, method, excess_risk (means of 500 trials)."""
    return authors.excess_risks("noisyhead-high-dimensional", ["N", "epsilon"])
