"""What is measured on the real data of section 7 of arXiv:2505.16329v2."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd

from chapters.dpgd.real_data import figure_eight, maps, seeds
from chapters.dpgd.real_data.problem import LIMIT, PAPERS, Problem, problems
from chapters.ranges import CLIP, RHO, SEED, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy._validate import FINITE_POSITIVE, within
from costofprivacy.datasets import COUNTS, HOUSING, MNIST, NORMALISATION

ASPECT_RATIO = within(0, 10, after=FINITE_POSITIVE)
FEATURES = {MNIST: 784, HOUSING: 8}


class Experiment(Parameters):
    """Figures 5, 6 and 8 of arXiv:2505.16329v2, the seeds that blow up, and the equivalent fed real spectra."""

    data_sets: ClassVar[tuple[str, ...]] = PAPERS

    mnist_gamma: tuple[float, ...] = many(ASPECT_RATIO, 1.0, 0.1)
    """Aspect ratios d/n of the maps on MNIST."""
    housing_gamma: tuple[float, ...] = many(ASPECT_RATIO, 0.01, 0.001)
    """Aspect ratios d/n of the maps on California housing."""
    rho: float = parameter(RHO, 0.1)
    """Privacy parameter of the maps and of the seeds."""
    points: int = parameter(count(4, 100), 20)
    """Values of c, and of the learning rate, in a map."""
    mnist_trials: int = parameter(count(2, 10**4), 10)
    """Shuffles of MNIST behind each point of a map."""
    housing_trials: int = parameter(count(2, 10**4), 5)
    """Shuffles of California housing behind each point of a map."""
    kept_trials: int = parameter(count(5, 10**4), 60)
    """Shuffles of California housing of which those that do not blow up are kept."""
    normalisation: int = parameter(count(2, 15000), NORMALISATION)
    """Rows that only give means and standard deviations."""
    held_out: int = parameter(count(10, 10**6), 100000)
    """Test rows at most; the paper takes all that there are, which are fewer."""
    mnist_n: tuple[int, ...] = many(count(10, 13000), 100, 300, 1000, 3000, 10000, ascending=True)
    """Training rows of Figure 8 on MNIST."""
    housing_n: tuple[int, ...] = many(count(10, 20000), 100, 300, 1000, 3000, 10000, 17000, ascending=True)
    """Training rows of Figure 8 on California housing."""
    clip: float = parameter(CLIP, 0.1)
    """Clipping constant of Figure 8, and of the seeds."""
    schedule_rho: float = parameter(RHO, 1.0)
    """Privacy parameter of Figure 8."""
    schedule_trials: int = parameter(count(4, 10**4), 10)
    """Shuffles of MNIST behind each point of Figure 8."""
    housing_schedule_trials: int = parameter(count(4, 10**4), 20)
    """Shuffles of California housing behind each point of Figure 8, those included that blow up."""
    equation_trials: int = parameter(count(1, 10**3), 3)
    """Shuffles on whose spectra the equations are solved."""
    seed_n: tuple[int, ...] = many(count(10, 18000), 800, 8000, 16000, ascending=True)
    """Training rows with which seeds that blow up are counted."""
    seed_normalisation: tuple[int, ...] = many(count(2, 15000), 500, 2000, 8000, ascending=True)
    """Numbers of normalisation rows with which they are."""
    seed_trials: int = parameter(count(5, 10**4), 200)
    """Shuffles among which they are counted."""
    seed: int = parameter(SEED, 2505)

    def check(self) -> None:
        """Refuse more rows than the data sets have: one at least is left to test on."""
        middle = self.seed_n[len(self.seed_n) // 2]
        self._have("mnist_gamma", MNIST, FEATURES[MNIST] / min(self.mnist_gamma), self.normalisation)
        self._have("housing_gamma", HOUSING, FEATURES[HOUSING] / min(self.housing_gamma), self.normalisation)
        self._have("mnist_n", MNIST, max(self.mnist_n), self.normalisation)
        self._have("housing_n", HOUSING, max(self.housing_n), self.normalisation)
        self._have("seed_n", HOUSING, max(self.seed_n), self.normalisation)
        self._have("seed_normalisation", HOUSING, middle, max(self.seed_normalisation))

    @staticmethod
    def _have(name: str, data: str, n: float, normalisation: int) -> None:
        if n + normalisation >= COUNTS[data]:
            asked = f"{n:.6g} training and {normalisation} normalisation rows"
            raise ValueError(f"{name} asks for {asked}; {data} has {COUNTS[data]}, and some are to test on")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables of both maps, of what they rest on, of Figure 8, and of the seeds."""
        return self._maps(runner) | self._figure_8(runner) | {"seeds": self._seeds(runner)}

    def _trials(self, asked: str) -> int:
        return self.mnist_trials if asked == MNIST else self.housing_trials

    def _problems(self, asked: str) -> list[Problem]:
        sizes = self.mnist_gamma if asked == MNIST else self.housing_gamma
        return problems(asked, sizes, self.normalisation, self.held_out, gammas=True)

    def _maps(self, runner: Runner) -> dict[str, pd.DataFrame]:
        tables: dict[str, pd.DataFrame] = {}
        parts: dict[str, list[pd.DataFrame]] = {name: [] for name in ("remedy", "equations", "rows", "treatments")}
        for asked in PAPERS:
            found, trials = self._problems(asked), self._trials(asked)
            cells = maps.cells(found, self.rho, self.points)
            limited = maps.cells([replace(problem, limit=LIMIT) for problem in found], self.rho, self.points)
            most = trials if asked == MNIST else max(trials, self.kept_trials)
            runs, safe_runs = (maps.runs(each, most, self.seed, runner) for each in (cells, limited))
            raw, safe = (maps.long(maps.first(each, trials)) for each in (runs, safe_runs))
            tables[maps.FIGURES[asked]] = raw
            parts["remedy"].append(maps.summary(safe).assign(data=found[0].data))
            for each in (cells, limited):
                parts["equations"].append(maps.predicted(each, min(trials, self.equation_trials), self.seed, runner))
            parts["rows"].append(self._rows(found, trials, runner))
            if asked == MNIST:
                parts["treatments"].append(self._treatments(raw, safe, runner))
            else:
                chosen = (maps.first(each, self.kept_trials) for each in (runs, safe_runs))
                tables["kept"] = maps.kept(*chosen)
        return tables | {name: pd.concat(each, ignore_index=True) for name, each in parts.items()}

    def _rows(self, found: list[Problem], trials: int, runner: Runner) -> pd.DataFrame:
        cell = maps.Rows(tuple(found))
        described = runner.run(maps.described, [cell], trials, self.seed)[cell]
        parts = []
        for problem, values in zip(found, np.moveaxis(described, 1, 0)):
            own = {"asked": problem.asked, "data": problem.data, "d": problem.d, "n": problem.n}
            own |= {"gamma": round(problem.gamma, 9), "normalisation": problem.normalisation}
            measures = dict(zip(maps.DESCRIBED, values.T))
            parts.append(pd.DataFrame(own | {"seed": range(len(values))} | measures))
        return pd.concat(parts, ignore_index=True)

    def _treatments(self, raw: pd.DataFrame, safe: pd.DataFrame, runner: Runner) -> pd.DataFrame:
        """What other ways to treat constant pixels do to the last map with output perturbation, over its seeds."""
        problem = self._problems(MNIST)[-1]
        divided = replace(problem, constant_scale=1.0)
        cells = [maps.Map(divided, 0.0, self.rho, self.points)]
        other = maps.long(maps.runs(cells, self.mnist_trials, self.seed, runner))
        treated = {
            "set to 0": (problem, raw),
            "divided by 1": (divided, other),
            f"set to 0, and features limited at {LIMIT:g}": (replace(problem, limit=LIMIT), safe),
        }
        squares = runner.run(maps.squares, [each for each, _ in treated.values()], self.mnist_trials, self.seed)
        rows = []
        for name, (each, table) in treated.items():
            chosen = table[(table["gamma"] == round(problem.gamma, 9)) & (table["alpha"] == 0)]
            risks = chosen.pivot(index="seed", columns=["c", "eta0"], values="risk")
            clip, rate = risks.mean().idxmin()
            told = figure_eight.cross_fitted(risks.to_numpy())
            for seed, (risk, (mean, median)) in enumerate(zip(told, squares[each])):
                place = {"data": problem.data, "treatment": name, "c": clip, "eta0": rate}
                rows.append(place | {"seed": seed, "trace": mean, "typical": median, "risk": risk})
        return pd.DataFrame(rows)

    def _figure_8(self, runner: Runner) -> dict[str, pd.DataFrame]:
        figure, theory = [], []
        for asked, sizes, trials in (
            (MNIST, self.mnist_n, self.schedule_trials),
            (HOUSING, self.housing_n, self.housing_schedule_trials),
        ):
            found = problems(asked, sizes, self.normalisation, self.held_out, gammas=False)
            own = (self.clip, self.schedule_rho)
            figure.append(figure_eight.table(found, *own, trials, self.seed, runner))
            theory.append(figure_eight.theory_table(found, *own, self.equation_trials, self.seed, runner))
        return {"figure-8": pd.concat(figure, ignore_index=True), "theory": pd.concat(theory, ignore_index=True)}

    def _seeds(self, runner: Runner) -> pd.DataFrame:
        found = problems(HOUSING, self.seed_n, self.normalisation, self.held_out, gammas=False)
        sizes = list(self.seed_normalisation) if found[0].data == HOUSING else []
        return seeds.table(found, sizes, self.clip, self.rho, self.seed_trials, self.seed, runner)
