"""NoisyHead's figures and Table 1 against the literal algorithms, and against drawing the same number of normals."""

import resource
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from chapters.noisyhead.early_stopping import measure as figure_3
from chapters.noisyhead.high_dimensional import measure as figure_2
from chapters.noisyhead.low_dimensional import measure as figure_1
from chapters.noisyhead.rivals import measure as table_1
from chapters.noisyhead.robustness import arithmetic
from chapters.noisyhead.robustness import measure as figure_4
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead.accounts import ALGORITHM
from costofprivacy.noisyhead.attack import NONE, Attack, perturb
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.settings import Setting
from tests import oracles

CORES = 2
BUFFER = 2**15
# Prompts in what is timed against the literal algorithms.
FIGURE_1 = (1000, 4000)
FIGURE_2 = 1000
FIGURE_3 = 1000
FIGURE_4 = 500  # a tenth of Figure 4's, which takes the literal algorithm minutes
TABLE_1 = 2000
TRIALS = 3
PRINTED = (500, 600, 700, 800, 900, 1000)  # Figure 2's own sizes; the published ones go beyond
FEW = 5  # literal steps that are timed; all steps cost the same
RELEASES = 400_000


class Cell(Protocol):
    """What both figures' cells have."""

    N: int
    test_prompts: int

    @property
    def model(self) -> PromptModel: ...
    @property
    def penalty(self) -> float: ...
    @property
    def hyper(self) -> Mapping[Setting, Hyperparameters]: ...
    @property
    def noise(self) -> Mapping[Setting, Sequence[float]]: ...


def literal(cell: Cell, rng: np.random.Generator) -> list[float]:
    """One trial, prompt by prompt and step by step: the published setting alone, all ε, tested on all test prompts."""
    hyper, shape = cell.hyper[Setting.PUBLISHED], (cell.model.D, cell.model.D)
    train, test = sample(cell.model, cell.N, rng=rng), sample(cell.model, cell.test_prompts, rng=rng)
    reference = oracles.ridge(train.x, train.y, cell.penalty)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
    start = 0.1 * rng.standard_normal(shape)
    risks = []
    for std in cell.noise[Setting.PUBLISHED]:
        noise = std * rng.standard_normal((hyper.steps, *shape))
        Gamma = oracles.noisyhead(train.x, train.y, *told, noise, start)
        risks.append(float(np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z])))
    return risks


def full_run(benchmark: Any, experiment: Any, note: list[str]) -> float:
    """Seconds of an experiment at full scale; leaves a note on memory."""
    benchmark.pedantic(lambda: experiment.run(Runner(CORES)), rounds=1, warmup_rounds=0)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    note.append(f"largest process so far: {peak / 1024:.0f} MB, {CORES} workers")
    return benchmark.stats["mean"]


def its_normals(benchmark: Any, experiment: Any) -> float:
    """Seconds that drawing the normals of a full run's prompts takes on the same cores."""
    tokens = ((c.N + c.test_prompts) * (c.model.L + 2) * c.model.D for c in experiment.cells)
    count = experiment.trials * sum(tokens)
    pool = joblib.Parallel(n_jobs=CORES)
    pool(joblib.delayed(_draw)(BUFFER, s) for s in range(CORES))
    benchmark.pedantic(lambda: pool(joblib.delayed(_draw)(count // CORES, s) for s in range(CORES)), rounds=1)
    return benchmark.stats["mean"]


def _draw(count: int, seed: int) -> None:
    """Fill a reused buffer with ``count`` normals."""
    rng, buffer = np.random.default_rng(seed), np.empty(BUFFER)
    for _ in range(count // BUFFER):
        rng.standard_normal(out=buffer)


# Figure 1


def test_the_literal_algorithm(benchmark: Any, seconds: dict[str, float]) -> None:
    cells = figure_1.Experiment(N=FIGURE_1).cells
    runs = lambda: [literal(c, generator(1, c.N, t)) for c in cells for t in range(TRIALS)]  # noqa: E731
    benchmark.pedantic(runs, rounds=1)
    seconds["literal"] = benchmark.stats["mean"] / (len(FIGURE_1) * TRIALS)


def test_the_fast_path(benchmark: Any, seconds: dict[str, float]) -> None:
    """All three settings, where the literal one runs one."""
    cells = figure_1.Experiment(N=FIGURE_1).cells
    for cell in cells:
        figure_1.trial(cell, rng=generator(1, cell.N, 0))
    runs = lambda: [figure_1.trial(c, rng=generator(1, c.N, t)) for c in cells for t in range(TRIALS)]  # noqa: E731
    benchmark.pedantic(runs, rounds=5)
    seconds["fast"] = benchmark.stats["mean"] / (len(FIGURE_1) * TRIALS)


def test_figure_1_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    seconds["figure-1"] = full_run(benchmark, figure_1.Experiment(), note)


def test_drawing_its_normals(benchmark: Any, seconds: dict[str, float]) -> None:
    seconds["normals"] = its_normals(benchmark, figure_1.Experiment())


@pytest.mark.parametrize("N", FIGURE_1)
def test_a_trial(benchmark: Any, N: int) -> None:
    (cell,) = figure_1.Experiment(N=(N,)).cells
    figure_1.trial(cell, rng=generator(1, N, 0))
    benchmark(lambda: figure_1.trial(cell, rng=generator(1, N, 0)))


# Figure 2


def test_the_literal_algorithm_in_high_dimension(benchmark: Any, seconds: dict[str, float]) -> None:
    (cell,) = figure_2.Experiment(N=(FIGURE_2,)).cells
    with threadpool_limits(1):
        benchmark.pedantic(lambda: literal(cell, generator(1, FIGURE_2, 0)), rounds=1)
    seconds["literal-2"] = benchmark.stats["mean"]


def test_the_fast_path_in_high_dimension(benchmark: Any, seconds: dict[str, float]) -> None:
    """Four variants, where the literal one runs one."""
    (cell,) = figure_2.Experiment(N=(FIGURE_2,)).cells
    with threadpool_limits(1):
        figure_2.trial(cell, rng=generator(1, FIGURE_2, 0))
        benchmark.pedantic(lambda: figure_2.trial(cell, rng=generator(1, FIGURE_2, 0)), rounds=10)
    seconds["fast-2"] = benchmark.stats["mean"]


def test_figure_2_as_printed_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    seconds["figure-2"] = full_run(benchmark, figure_2.Experiment(N=PRINTED), note)


def test_drawing_the_normals_of_figure_2(benchmark: Any, seconds: dict[str, float]) -> None:
    seconds["normals-2"] = its_normals(benchmark, figure_2.Experiment(N=PRINTED))


@pytest.mark.parametrize("size", [500, 2100])
def test_a_trial_of_figure_2(benchmark: Any, size: int) -> None:
    (cell,) = figure_2.Experiment(N=(size,)).cells
    with threadpool_limits(1):
        benchmark.pedantic(lambda: figure_2.trial(cell, rng=generator(1, size, 0)), rounds=5, warmup_rounds=1)


# Figure 3


def test_the_literal_algorithm_of_figure_3(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    """Γ* and a few steps of the published setting, prompt by prompt, extrapolated to Σ T: each T is its own run."""
    cell = figure_3.Experiment().cell
    hyper, std = cell.hyper[Setting.PUBLISHED], cell.stds(Setting.PUBLISHED, (ALGORITHM,))[0]
    rng = generator(1, FIGURE_3, 0)
    train = sample(cell.model, FIGURE_3, rng=rng)
    start, noise = (0.1 * rng.standard_normal(shape) for shape in ((31, 31), (FEW, 31, 31)))
    told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)

    def steps(count: int) -> None:
        oracles.noisyhead(train.x, train.y, *told, std * noise[:count], start)

    with threadpool_limits(1):
        benchmark.pedantic(lambda: steps(FEW), rounds=3)
        several = benchmark.stats["min"]
        once = min(_seconds(lambda: steps(0)) for _ in range(3))
        reference = _seconds(lambda: oracles.ridge(train.x, train.y, cell.penalty))
    step, total = (several - once) / FEW, sum(cell.T)
    seconds["literal-3"] = reference + len(cell.T) * once + total * step
    note.append(
        f"literal Figure 3: {FEW} steps timed, {1000 * step:.3g} ms each, extrapolated to the {total} of a trial"
    )


def _seconds(work: Any) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def test_the_fast_path_of_figure_3(benchmark: Any, seconds: dict[str, float]) -> None:
    """Four runs, eight accounts and their noiseless twins, where the literal one is one."""
    cell = figure_3.Experiment().cell
    with threadpool_limits(1):
        benchmark.pedantic(lambda: figure_3.trial(cell, rng=generator(1, FIGURE_3, 0)), rounds=5, warmup_rounds=1)
    seconds["fast-3"] = benchmark.stats["mean"]


def test_figure_3_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    seconds["figure-3"] = full_run(benchmark, figure_3.Experiment(), note)


# Figure 4


def literal_attack(cell: arithmetic.Cell, rng: np.random.Generator) -> list[float]:
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


def attacked() -> arithmetic.Cell:
    return replace(figure_4.Experiment().cell, N=FIGURE_4)


def test_the_literal_attack(benchmark: Any, seconds: dict[str, float]) -> None:
    with threadpool_limits(1):
        benchmark.pedantic(lambda: literal_attack(attacked(), generator(1, FIGURE_4, 0)), rounds=1)
    seconds["literal-attack"] = benchmark.stats["mean"]


def test_the_fast_attack(benchmark: Any, seconds: dict[str, float]) -> None:
    """All settings, all α and every part, where the literal one runs one of each."""
    small = attacked()
    with threadpool_limits(1):
        arithmetic.trial(small, rng=generator(1, FIGURE_4, 0))
        benchmark.pedantic(lambda: arithmetic.trial(small, rng=generator(1, FIGURE_4, 0)), rounds=5)
    seconds["fast-attack"] = benchmark.stats["mean"]


def test_figure_4_at_full_scale(benchmark: Any, note: list[str]) -> None:
    """With all tables of its chapter."""
    full_run(benchmark, figure_4.Experiment(), note)


# Table 1


def literal_table(cell: table_1.Cell, rng: np.random.Generator) -> list[float]:
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
    (cell,) = table_1.Experiment(N=(TABLE_1,)).cells
    benchmark.pedantic(lambda: literal_table(cell, generator(1, TABLE_1, 0)), rounds=1)
    seconds["table-1 literal"] = benchmark.stats["mean"]


def test_a_trial_of_table_1(benchmark: Any, seconds: dict[str, float]) -> None:
    """All settings, methods and numbers of steps, where the literal one runs one setting at one T."""
    (cell,) = table_1.Experiment(N=(TABLE_1,)).cells
    table_1.trial(cell, rng=generator(1, TABLE_1, 0))
    benchmark.pedantic(lambda: table_1.trial(cell, rng=generator(1, TABLE_1, 0)), rounds=5)
    seconds["table-1 fast"] = benchmark.stats["mean"]


def test_table_1_at_full_scale(benchmark: Any) -> None:
    benchmark.pedantic(lambda: table_1.Experiment().run(Runner(CORES)), rounds=1, warmup_rounds=0)


def audited() -> table_1.AuditCell:
    (cell,) = table_1.Experiment(N=(TABLE_1,)).cells
    told = cell.told(Setting.PUBLISHED)
    return table_1.AuditCell(told, cell.D, cell.budgets[0], table_1.PRINTED, RELEASES, 0.9999)


def test_an_audit(benchmark: Any, seconds: dict[str, float]) -> None:
    cell = audited()
    benchmark.pedantic(lambda: table_1.audit_trial(cell, rng=generator(1, 0, 0)), rounds=2)
    seconds["audit"] = benchmark.stats["mean"]


def test_the_normals_of_an_audit(benchmark: Any, seconds: dict[str, float]) -> None:
    buffer, rng = np.empty(BUFFER), np.random.default_rng(0)

    def draw() -> None:
        for _ in range(2 * RELEASES * 25 // len(buffer)):
            rng.standard_normal(out=buffer)

    benchmark.pedantic(draw, rounds=2)
    seconds["audit normals"] = benchmark.stats["mean"]
