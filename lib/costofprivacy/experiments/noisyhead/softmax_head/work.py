"""The work of this chapter: scores, exponentials and weighted means of every token, head and step; and the prompts."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.softmax_head.experiment import PILOT, Experiment
from costofprivacy.experiments.noisyhead.softmax_head.law import Law
from costofprivacy.running.work import Work

EXPONENTIAL = 8.0  # operations of a pass over numbers that one in vector arithmetic takes
BEST, BOUNDED = 4, 2  # softmax runs of the largest T for each ε: clipped (cold, last, warm) and bounded
FIT = 20  # passes of a fit over all prompts
AUDITED_STEPS = 14  # of all audits together, on each of two neighbours


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: descents, choices of plans, poison, theory and audits.

    A token, head and step take a score, an exponential and sums of x, yx, y and 1. The runs by the printed account are
    left out, since they are short. A law of the largest N is counted with the pilot's trials and others with the most.
    """
    e, T, heads = experiment, max(experiment.steps), Work()
    for law in e.laws:
        trials = min(e.trials, PILOT) if max(e.N) == law.N else e.trials
        heads += trials * (_prompts(law, law.N + e.test_prompts) + _scored(law, BEST * len(e.epsilon) * T + FIT))
    for N in e.N:
        law = Law(N, e.D, 1.0)
        heads += len(e.epsilon) * e.public_trials * (_prompts(law, N + e.test_prompts) + _scored(law, _grid(e)))
    law = Law(max(e.N), e.D, 1.0)
    heads += e.trials * (_prompts(law, law.N) + _scored(law, (1 + len(e.poisoned)) * T))
    return heads + _theory(e) + Work(normals=2 * AUDITED_STEPS * 4 * e.releases)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: the same, since no statistic of fixed size stands for a prompt."""
    return scheme(experiment)


def _prompts(law: Law, count: int) -> Work:
    """So many prompts with their features."""
    numbers = float(count * (law.L + 2) * law.D)
    return Work(normals=numbers, flops=2 * law.D * numbers, loops=6 * numbers)


def _scored(law: Law, steps: float) -> Work:
    """Steps of a single softmax head on the N prompts of a law."""
    tokens = steps * law.N * law.L
    return Work(flops=(6 * law.D + 4) * tokens, loops=EXPONENTIAL * tokens)


def _grid(e: Experiment) -> float:
    """Steps of all softmax heads that are tried at one N and ε: those of the exact account have the largest T."""
    plans = len(e.clips) * len(e.reaches) + len(e.bounded_times)
    return float(plans * (sum(e.steps) + max(e.steps)))


def _theory(e: Experiment) -> Work:
    """Tokens drawn for the closed forms: by covariance and length, for the temperatures and for the curvature."""
    tokens = float(e.tokens * (len(e.condition) * len(e.lengths) + 1))
    bent = 5 * 2 * e.D**3 * e.tokens / 4  # five points, central differences, each of D tasks
    scored = tokens + e.tokens * len(e.kappas) + bent
    flops = (6 * e.D + 4) * scored + 2 * e.D**2 * tokens
    return Work(normals=e.D * tokens, flops=flops, loops=EXPONENTIAL * scored + 6 * e.D * tokens)
