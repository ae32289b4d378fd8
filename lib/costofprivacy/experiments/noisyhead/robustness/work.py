"""The work of this chapter: contexts of clean prompts, features of attacked ones, and ridge evaluated in many ways."""

from __future__ import annotations

import math

from costofprivacy.experiments.noisyhead.robustness import arithmetic, rounding
from costofprivacy.experiments.noisyhead.robustness.experiment import Experiment
from costofprivacy.running.work import Work

TOKEN = 30.0  # operations with the two cosines of a token


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: the statistics of every clean prompt, and normal equations.

    Figure 4 solves them for each α and two settings, the table of evaluations in every way for each α and decade.
    """
    e, p = experiment, experiment.D**2
    sets = e.trials + e.arithmetic_trials + e.digit_trials
    found = sets * _contexts(e.N + e.test_prompts, e.L, e.D)
    found += Work(flops=e.trials * 2 * len(e.cell.alpha) * 2.0 * e.N * p**2)
    alphas = len(e.cell.alpha) + len(rounding.DECADES)
    found += Work(flops=e.arithmetic_trials * alphas * (len(arithmetic.EVALUATIONS) + 3) * 2.0 * e.N * p**2)
    return found + _fractions(e) + _theorem(e)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: the same, since what is measured is how literal evaluations round."""
    return scheme(experiment)


def _contexts(prompts: float, L: int, D: int) -> Work:
    """So many prompts without their features (`noisyhead.contexts`): two cosines a token, three vectors a prompt."""
    token = _cosine(D) + _cosine(D - 1) + Work(loops=TOKEN)
    return prompts * (L * token + Work(normals=3.0 * D, loops=20.0 * D))


def _cosine(d: int) -> Work:
    """Random numbers in one coordinate of a uniform point of the sphere of R^d."""
    if d <= 3:
        return Work(uniforms=1.0)
    if d <= 5:
        return Work(uniforms=8 / math.pi if d == 4 else 3.0)
    return Work(normals=1.2, uniforms=1.2)


def _fractions(e: Experiment) -> Work:
    """Features of the prompts that are attacked at most, their contexts by α, raw and clipped; sums of stretches."""
    most, p = max(e.fraction_cell.counts), e.D**2
    numbers = float(most * (e.L + 2) * e.D)
    contexts, rows = 2 * (1 + len(e.fraction_alpha)), e.N + 2 * len(e.fraction_alpha) * most
    drawn = Work(normals=numbers, flops=2 * contexts * numbers, loops=(6 + 5 * contexts / e.D) * numbers)
    sums = Work(flops=(2 + len(e.fraction_cell.hyper)) * 2.0 * rows * p**2)
    return e.fraction_trials * (_contexts(e.N - most, e.L, e.D) + drawn + sums)


def _theorem(e: Experiment) -> Work:
    """Contexts at every size, moments, and three runs of each T."""
    found = Work()
    for cell in dict.fromkeys(cell for _, cell in e.bound_cells):
        p = cell.D**2
        runs = Work(normals=2.0 * p * sum(cell.T), loops=3 * 2.0 * p**2 * sum(cell.T), flops=2 * 2.0 * cell.N * p**2)
        found += e.bound_trials * (_contexts(cell.N, cell.L, cell.D) + runs)
    return found
