"""What is measured of Theorem 4.1: both sides of (4.2), and the events and steps of its proof."""

from __future__ import annotations

import pandas as pd

from chapters.noisyhead.cost_of_privacy import events, limits, prediction, sides, steps
from chapters.noisyhead.cost_of_privacy.problem import Problem, Size
from chapters.noisyhead.cost_of_privacy.sides import Cell
from chapters.ranges import DELTA, EPSILON, NOISE_OR_NONE, PENALTY, SEED, TRIALS, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner, generator
from costofprivacy import _validate
from costofprivacy.noisyhead import recipes


class Experiment(Parameters):
    """Both sides of (4.2) along T, N, D and L, and the events and steps of its proof."""

    N: tuple[int, ...] = many(count(2, 10**7), 250, 500, 1000, 2000, 4000, ascending=True)
    """Numbers of training prompts. Of N, L and D each axis runs through one, the others at their middle element."""
    L: tuple[int, ...] = many(count(1, 10**6), 10, 31, 100, 316, 1000, 2000, ascending=True)
    """Numbers of labelled tokens in a prompt."""
    D: tuple[int, ...] = many(count(2, 1000), 2, 3, 5, 10, 20, ascending=True)
    """Dimensions of a feature."""
    T: tuple[int, ...] = many(count(1, 10**6), 1, 2, 5, 10, 20, 30, 50, 75, 100, ascending=True)
    """Numbers of steps, at the middle of N, L and D; elsewhere that of Theorem 4.2(i)."""
    epsilon: float = parameter(EPSILON, 1.0)
    """Privacy budget ε of approximate differential privacy, at most the least T."""
    delta: float = parameter(DELTA, 1e-5)
    failure: float = parameter(chance(1e-50, 0.99), 0.01)
    penalty: float = parameter(PENALTY, 5.0)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0)
    trials: int = parameter(TRIALS, 100)
    """Data sets for both sides of (4.2)."""
    event_trials: int = parameter(TRIALS, 20)
    """Data sets for the events of the proof."""
    seed: int = parameter(SEED, 4)

    def check(self) -> None:
        """Refuse a budget or a penalty that some cell cannot have."""
        _validate.between("epsilon", self.epsilon, 0, min(self.T))
        for cell in (cell for axis in self.axes.values() for cell in axis):
            longest = max(max(cell.steps(hyper)) for hyper in cell.hyper.values())
            recipes.check_steps(longest, cell.penalty, cell.N)

    @property
    def base(self) -> dict[str, int]:
        """The middle of the three axes; of two middle elements the lower."""
        return {name: getattr(self, name)[(len(getattr(self, name)) - 1) // 2] for name in ("N", "L", "D")}

    def along(self, axis: str) -> list[dict[str, int]]:
        """The sizes of an axis."""
        return [self.base | {axis: value} for value in getattr(self, axis)]

    @property
    def axes(self) -> dict[str, list[Cell]]:
        """The cells of each axis: all of T at the middle, then those of N, L and D with the T of Theorem 4.2(i)."""
        theorem = {axis: [self.shared(Cell, T=(), **sizes) for sizes in self.along(axis)] for axis in ("N", "L", "D")}
        return {"T": [self.shared(Cell, **self.base)]} | theorem

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Both sides of (4.2), the radius of Γ*, the events, the steps of the proof, and closed forms, as tables."""
        return self._sides(runner) | self._proof(runner) | self._limits()

    def _sides(self, runner: Runner) -> dict[str, pd.DataFrame]:
        cells = dict.fromkeys(cell for axis in self.axes.values() for cell in axis)  # the axes meet in the middle
        samples = runner.run(sides.trial, list(cells), self.trials, self.seed)
        rows = [sides.side_rows(name, cell, samples[cell]) for name, axis in self.axes.items() for cell in axis]
        radii = [sides.radius_row(cell, samples[cell]) for cell in self.axes["N"]]
        return {"both-sides": pd.concat(rows, ignore_index=True), "radius": pd.DataFrame(radii)}

    def _proof(self, runner: Runner) -> dict[str, pd.DataFrame]:
        lengths = [self.shared(Size, **sizes) for sizes in self.along("L")]
        dimensions = [self.shared(Problem, **sizes) for sizes in self.along("D")]
        middle = self.shared(Problem, **self.base)
        happened = runner.run(events.trial, lengths, self.event_trials, self.seed + 1)
        recursion = runner.run(steps.recursion_trial, [middle], self.event_trials, self.seed + 2)
        response = runner.run(steps.noise_response_trial, dimensions, self.trials, self.seed + 3)
        return {
            "events": pd.DataFrame([events.event_row(c, v) for c, v in happened.items()]),
            "noise-response": pd.concat([steps.response_rows(c, v) for c, v in response.items()], ignore_index=True),
            "recursion": steps.recursion_rows(recursion[middle]),
            "projection-step": steps.projection_step(generator(self.seed + 4, 0, 0)),
            "signed-sums": events.signed_sums(middle.D, generator(self.seed + 5, 0, 0)),
            "split": prediction.split(middle.model, generator(self.seed + 6, 0, 0)),
        }

    def _limits(self) -> dict[str, pd.DataFrame]:
        middle = self.axes["T"][0]
        return {
            "constants": events.sum_constants(middle.D, self.failure),
            "constants-by-dimension": events.sum_constants_by_dimension(self.failure),
            "norms": limits.norms(middle),
            "conditional": limits.conditional(middle),
            "dominance": limits.dominance(middle),
        }
