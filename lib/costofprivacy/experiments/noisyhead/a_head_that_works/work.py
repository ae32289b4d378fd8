"""How much work the chapter is: prompts drawn, their moments, the descents of both kinds, and the ladder's searches.

Counted are, for each trial of each cell: the normals of tokens, tasks and noise; one pass over the tokens (S, U and the
third and fourth moments up to `quadratic.FEW` features, all examples in each step beyond); the steps on a prompt's
coefficients; and least squares. The ladder adds, for each of its cases, the descents that its grids hold. The audit is
counted by its releases, three means a step. Trials of the main table are taken at their most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from costofprivacy.experiments.noisyhead.a_head_that_works import audit, ladder, literature, options, poison, theory
from costofprivacy.experiments.noisyhead.a_head_that_works.experiment import (
    PUBLIC_TRIALS,
    RATE_L,
    THEORY_TRIALS,
    Experiment,
)
from costofprivacy.noisyhead.quadratic import FEW
from costofprivacy.noisyhead.whitened_plan import STEPS
from costofprivacy.running.work import Work

Size = tuple[int, int, int, int]  # N, L, D, releases on the same prompts
NEWTON = 12  # products with a certified minimum's records: its steps, each a gradient, a curvature's part, a line


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: every token is drawn, and read once."""
    total = Work()
    for trials, size in _cells(experiment):
        total = total + trials * _trial(size)
    return total + _ladder(experiment) + _theory(experiment) + _audit(experiment)


def cheapest(experiment: Experiment) -> Work:
    """The same: the fourth moments of a prompt's tokens have no simpler law than that of the tokens."""
    return scheme(experiment)


def _cells(told: Experiment) -> Iterator[tuple[int, Size]]:
    """Trials and size of each cell beside the ladder."""
    largest, most = told.cell(1.0, told.N[-1], told.epsilon), len(told.epsilon)
    for _ in told.condition:
        yield from ((told.trials, (n, told.cell(1.0, n, ()).L, told.D, most)) for n in told.N)
        yield told.few, (largest.N, largest.L, told.D, 6 * most)  # the floor
    skewed = 3 * len([k for k in told.condition if k > 1]) + len([k for k in told.condition if k == 1])
    yield skewed * told.few, (largest.N, largest.L, told.D, 1)
    yield from ((told.few, (largest.N, largest.L, D, 1)) for D in told.sizes if told.D != D)
    yield from ((told.few, (largest.N, L, told.D, 1)) for L in told.tokens)
    for n in told.area_N:
        yield told.few * len(told.area_condition), (n, told.cell(1.0, n, ()).L, told.D, len(told.area_epsilon))
    yield from ((2 * told.few, (n, RATE_L, told.D, most)) for n in told.rate_N)
    attacks = 2 * told.few * (len(poison.KINDS) * len(told.poison) - (1.0 in told.poison))
    yield attacks, (told.N[0], told.cell(1.0, told.N[0], ()).L, told.D, 2 * poison.RELEASES)


def _trial(size: Size) -> Work:
    """One draw of prompts, least squares, and releases on them."""
    N, L, D, releases = size
    tokens, pairs = N * (L + 1), D * (D + 1) // 2
    drawn = Work(normals=tokens * D + N * D, loops=tokens * (D**2 + 4 * D))
    squares = Work(flops=2 * N * D**4)
    if D > FEW:
        once, step = 2 * tokens * D * (D + 2), tokens * (4 * D**2 + 4 * D)
        return drawn + squares + Work(flops=once + releases * (STEPS * step + 2 * (STEPS + 1) * N * D**4))
    third, fourth = pairs * (D + 2) // 3, pairs * (D + 2) * (D + 3) // 12
    once = tokens * (2 * (third + fourth) + 7 * pairs) + 8 * N * pairs**2
    step = 2 * N * D**4 + 4 * N * D**3
    return drawn + squares + Work(loops=once + releases * ((STEPS - 1) * step + 8 * N * D**3))


def _ladder(told: Experiment) -> Work:
    """The searches on public prompts, and the rungs, most of which is descents that clip each prompt's gradient."""
    cases, cell = len(told.condition) * len(told.ladder_epsilon), told.cell(1.0, told.N[-1], ())
    public, N, d = min(PUBLIC_TRIALS, told.few), cell.N, told.D**2
    clipped = sum(int(T) for T, *_ in options.DESCENTS)
    bounded = sum(int(option[3]) for option in options.UNCLIPPED)
    rounds = sum(int(option[2]) for option in literature.BOOSTED)
    records = clipped + rounds + NEWTON * len(literature.PERTURBED)
    grams = len({option[:2] for option in (*options.UNCLIPPED, *literature.RIDGES)}) + 2 * len(literature.MOMENTS)
    search = Work(flops=4 * N * d * records + 2 * grams * N * d**2, loops=2 * bounded * d**2 + 3 * N * records)
    longest = 2 * max(int(T) for T, *_ in options.DESCENTS)  # of the rungs: clipped, and averaged
    rungs = Work(flops=4 * N * d * longest + 2 * len(ladder.RUNGS) * N * d**2, loops=3 * N * longest)
    prompts = _trial((N, cell.L, told.D, 2))
    return cases * (public * (search + prompts) + told.few * (rungs + prompts))


def _theory(told: Experiment) -> Work:
    """Fresh prompts, and their contexts."""
    tokens = ((told.test_prompts * (L + 1), D) for _, _, D, L, _ in theory.CASES)
    return THEORY_TRIALS * _sum(Work(normals=n * D, loops=6 * n * D) for n, D in tokens)


def _audit(told: Experiment) -> Work:
    """Releases on both inputs of each pair, their means twice: two prompts' terms, and two roots each."""
    D, N, releases = audit.D, audit.N, 2 * told.audits * len(audit.FAULTS) * len(audit.AUDITED)
    means = N * (STEPS + 1) * 4 * D**4 + 2 * 30 * D**3
    return releases * Work(normals=(2 + STEPS) * D**2, loops=2 * means)


def _sum(parts: Iterable[Work]) -> Work:
    total = Work()
    for part in parts:
        total = total + part
    return total
