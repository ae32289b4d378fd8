"""The ladder from Algorithm 1 to a head that works, its curves, where it is worth anything, and an attack on it."""

from __future__ import annotations

import math

import pandas as pd

from chapters.noisyhead.a_head_that_works import area, audit, curves, floor, ladder, poison, rate, tasks, theory
from chapters.noisyhead.a_head_that_works.curves import Cell
from chapters.ranges import DELTA, EPSILON, SEED, TRIALS, amount, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner, generator
from costofprivacy._validate import within

CONDITION = within(1, 1e6)
PUBLIC_TRIALS = 3
THEORY_TRIALS = 20
RATE_L = 31
SIZE_STREAM, AUDIT_STREAM = 6, 7
AUDIT_MU, AUDIT_DELTA = 1.5, 0.1


class Experiment(Parameters):
    """Private linear heads on isotropic prompts and on prompts with an unknown covariance."""

    condition: tuple[float, ...] = many(CONDITION, 1.0, 10.0, 100.0, ascending=True)
    """Condition numbers of the features' covariance; 1 is the unit sphere of the paper."""
    N: tuple[int, ...] = many(count(20, 10**6), 1000, 2000, 4000, ascending=True)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 50), 5)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.5, 1.0, ascending=True)
    delta: float = parameter(DELTA, 1e-5)
    ladder_epsilon: tuple[float, ...] = many(EPSILON, 0.4, 1.0, ascending=True)
    """Budgets at which the changes are compared one by one, at the largest N."""
    sizes: tuple[int, ...] = many(count(2, 50), 2, 5, 10, 20, ascending=True)
    """Dimensions at the largest N."""
    tokens: tuple[int, ...] = many(count(2, 10**4), 5, 15, 63, 250, ascending=True)
    """Labelled tokens at the largest N."""
    area_condition: tuple[float, ...] = many(CONDITION, 1.0, 2.0, 5.0, 20.0, 100.0, 1000.0, ascending=True)
    """Condition numbers at which pretraining is compared with a head that uses no data."""
    area_N: tuple[int, ...] = many(count(20, 10**6), 100, 300, 1000, 3000, ascending=True)
    """Numbers of prompts in the map."""
    area_epsilon: tuple[float, ...] = many(EPSILON, 0.1, 0.3, 1.0, 3.0, 10.0, ascending=True)
    """Budgets in the map."""
    rate_N: tuple[int, ...] = many(count(20, 10**6), 500, 1000, 2000, 4000, 8000, ascending=True)
    """Numbers of prompts at one L."""
    poison: tuple[float, ...] = many(amount(1e-3, 1e9), 1.0, 1000.0, ascending=True)
    """Sizes of a poisoned prompt."""
    trials: int = parameter(TRIALS, 500)
    """Most trials of a cell of the main table."""
    precision: float = parameter(chance(1e-5, 0.5), 0.001)
    """Largest standard error of a test error of the main table, as a share of it: what its trials are for."""
    few: int = parameter(TRIALS, 12)
    """Trials of every other table."""
    audits: int = parameter(count(1000, 10**7), 50_000)
    """Releases of each input in an audit."""
    test_prompts: int = parameter(count(10, 10**6), 4000)
    """Fresh prompts that test the closed form."""
    seed: int = parameter(SEED, 13)

    def cell(self, condition: float, N: int, epsilon: tuple[float, ...], **other: int) -> Cell:
        """A cell with L = ⌊√N⌋ unless another is given."""
        told = {"L": math.isqrt(N), "D": self.D, "stream": 0} | other
        return Cell(condition, N, told["L"], told["D"], epsilon, self.delta, told["stream"])

    @property
    def ill(self) -> tuple[float, ...]:
        """Condition numbers above 1; the largest there is, where there is none."""
        return tuple(k for k in self.condition if k > 1) or self.condition[-1:]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``test-error`` (the result), ``ladder``, ``sizes``, ``area``, ``rate``, ``tasks``, ``poison``, …"""
        largest, most, seed = self.N[-1], self.epsilon[-1:], self.seed
        middle = self.ill[0]
        sizes = [self.cell(middle, largest, most, D=D, stream=SIZE_STREAM) for D in self.sizes if D != self.D]
        sizes += [self.cell(middle, largest, most, L=L, stream=SIZE_STREAM) for L in self.tokens]
        main = [self.cell(k, n, self.epsilon) for k in self.condition for n in self.N]
        errors = curves.table(runner, main, Precision(self.precision, self.trials), seed)
        told = (self.delta, self.few, seed)
        pair = (1.0, middle) if middle > 1 else (1.0,)
        ladders = [self.cell(k, largest, self.ladder_epsilon) for k in self.condition]
        skewed = [self.cell(k, largest, most, stream=tasks.STREAM) for k in self.condition]
        poisons = [self.cell(k, self.N[0], most, stream=poison.STREAM) for k in pair]
        quiet = [self.cell(k, largest, self.epsilon, stream=floor.STREAM) for k in self.condition]
        return {
            "test-error": errors.drop(columns=["L", "D"]),
            "ladder": ladder.table(runner, ladders, self.few, min(PUBLIC_TRIALS, self.few), seed),
            "sizes": curves.table(runner, sizes, self.few, seed),
            "area": area.table(runner, self.area_condition, self.area_N, self.D, self.area_epsilon, *told),
            "rate": rate.table(runner, pair, self.rate_N, RATE_L, self.D, self.epsilon, *told),
            "tasks": tasks.table(runner, skewed, self.ill[0], self.few, seed),
            "floor": floor.table(runner, quiet, self.few, seed),
            "poison": poison.table(runner, poisons, self.poison, self.few, seed),
            "theory": theory.table(runner, self.test_prompts, THEORY_TRIALS, seed),
            "audit": audit.table(AUDIT_MU, AUDIT_DELTA, self.audits, rng=generator(seed, AUDIT_STREAM, 0)),
        }
