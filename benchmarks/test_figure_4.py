"""Figure 4 against the literal algorithm, and at full scale."""

import resource
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from chapters.noisyhead.robustness import arithmetic
from chapters.noisyhead.robustness.measure import Experiment
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead.attack import NONE, Attack, perturb
from costofprivacy.noisyhead.prompts import sample
from costofprivacy.settings import Setting
from tests import oracles

N = 500  # a tenth of Figure 4's, which takes the literal algorithm minutes
CORES = 2


def literal(cell: arithmetic.Cell, rng: np.random.Generator) -> list[float]:
    """One trial, prompt by prompt and step by step: the published setting and one α alone, on all test prompts."""
    hyper, std = cell.hyper[Setting.PUBLISHED], cell.noise[Setting.PUBLISHED]
    prompts, test = sample(cell.model, cell.N, rng=rng), sample(cell.model, cell.test_prompts, rng=rng)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
    private, plain = [], []
    for attack in (NONE, Attack(cell.alpha[0], cell.mu, cell.alpha[0])):
        bad = perturb(prompts, attack)
        x, y = np.concatenate([prompts.x[:-1], bad.x[-1:]]), np.concatenate([prompts.y[:-1], bad.y[-1:]])
        noise = std * rng.standard_normal((hyper.steps, cell.D, cell.D))
        private.append(oracles.noisyhead(x, y, *told, noise, 0.1 * rng.standard_normal((cell.D, cell.D))))
        plain.append(oracles.ridge(x, y, cell.penalty))
    return [float(np.mean([((b - a) * z).sum() ** 2 for z in Z])) for a, b in (private, plain)]


def cell() -> arithmetic.Cell:
    return replace(Experiment().cell, N=N)


def test_the_literal_attack(benchmark: Any, seconds: dict[str, float]) -> None:
    with threadpool_limits(1):
        benchmark.pedantic(lambda: literal(cell(), generator(1, N, 0)), rounds=1)
    seconds["literal-attack"] = benchmark.stats["mean"]


def test_the_fast_attack(benchmark: Any, seconds: dict[str, float]) -> None:
    """All settings, all α and every part, where the literal one runs one of each."""
    small = cell()
    with threadpool_limits(1):
        arithmetic.trial(small, rng=generator(1, N, 0))
        benchmark.pedantic(lambda: arithmetic.trial(small, rng=generator(1, N, 0)), rounds=5)
    seconds["fast-attack"] = benchmark.stats["mean"]


def test_figure_4_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    """With all tables of its chapter."""
    benchmark.pedantic(lambda: Experiment().run(Runner(CORES)), rounds=1, warmup_rounds=0)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    elapsed = benchmark.stats["mean"]
    note.append(
        f"Figure 4 at full scale: {elapsed:.0f} s, largest process so far {peak / 1024:.0f} MB, {CORES} workers"
    )
