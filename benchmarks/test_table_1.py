"""Table 1 against the literal algorithms, and an audit against drawing its normals."""

from typing import Any

import numpy as np

from chapters.noisyhead.rivals import measure
from chapters.noisyhead.rivals.measure import Cell, Experiment, trial
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead.prompts import sample
from costofprivacy.settings import Setting
from tests import oracles

N = 2000
CORES = 2
RELEASES = 400_000


def literal(cell: Cell, rng: np.random.Generator) -> list[float]:
    """One trial, prompt by prompt and step by step: both methods in the published setting, all ε, at T alone."""
    hyper = cell.hyper[Setting.PUBLISHED]
    train, test = sample(cell.model, cell.N, rng=rng), sample(cell.model, cell.test_prompts, rng=rng)
    reference = oracles.ridge(train.x, train.y, cell.penalty)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    bound, zero = (hyper.clip_norm, hyper.feature_bound), np.zeros((cell.D, cell.D))
    told = (*bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
    weights = []
    for column in cell.solved[Setting.PUBLISHED]:
        noise = column.std * rng.standard_normal((cell.D, cell.D))
        weights.append(oracles.dp_ridge(train.x, train.y, *bound, cell.penalty, noise))
    for column in cell.descended[Setting.PUBLISHED]:
        if column.share == 1:
            noise = column.std * rng.standard_normal((column.steps, cell.D, cell.D))
            weights.append(oracles.noisyhead(train.x, train.y, *told, noise, zero))
    return [float(np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z])) for Gamma in weights]


def test_the_literal_algorithms(benchmark: Any, seconds: dict[str, float]) -> None:
    (cell,) = Experiment(N=(N,)).cells
    benchmark.pedantic(lambda: literal(cell, generator(1, N, 0)), rounds=1)
    seconds["table-1 literal"] = benchmark.stats["mean"]


def test_a_trial_of_table_1(benchmark: Any, seconds: dict[str, float]) -> None:
    """All settings, methods and numbers of steps, where the literal one runs one setting at one T."""
    (cell,) = Experiment(N=(N,)).cells
    trial(cell, rng=generator(1, N, 0))
    benchmark.pedantic(lambda: trial(cell, rng=generator(1, N, 0)), rounds=5)
    seconds["table-1 fast"] = benchmark.stats["mean"]


def test_table_1_at_full_scale(benchmark: Any) -> None:
    benchmark.pedantic(lambda: Experiment().run(Runner(CORES)), rounds=1, warmup_rounds=0)


def audited() -> measure.AuditCell:
    (cell,) = Experiment(N=(N,)).cells
    told = cell.told(Setting.PUBLISHED)
    return measure.AuditCell(told, cell.D, cell.budgets[0], measure.PRINTED, RELEASES, 0.9999)


def test_an_audit(benchmark: Any, seconds: dict[str, float]) -> None:
    cell = audited()
    benchmark.pedantic(lambda: measure.audit_trial(cell, rng=generator(1, 0, 0)), rounds=2)
    seconds["audit"] = benchmark.stats["mean"]


def test_the_normals_of_an_audit(benchmark: Any, seconds: dict[str, float]) -> None:
    buffer, rng = np.empty(2**15), np.random.default_rng(0)

    def draw() -> None:
        for _ in range(2 * RELEASES * 25 // len(buffer)):
            rng.standard_normal(out=buffer)

    benchmark.pedantic(draw, rounds=2)
    seconds["audit normals"] = benchmark.stats["mean"]
