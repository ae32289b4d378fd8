"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.robustness.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, moments, prompts


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    N, D, shifts = asked.N, asked.D, len(asked.c) * len(asked.p)
    figure = asked.trials * prompts(N, asked.L, D) * 1.5
    arithmetic = asked.arithmetic_trials * (prompts(N, asked.L, D) + (shifts + 40) * D**4 * 1e-4)
    digits = asked.digit_trials * (D**6 * 1e-5 + N * D**4 * 1e-6)
    places = [(L, asked.bound_D[0]) for L in asked.bound_L]
    places += [(asked.bound_L[len(asked.bound_L) // 2], size) for size in asked.bound_D]
    steps = sum(asked.bound_T) * 4
    sides = asked.bound_trials * sum(prompts(asked.bound_N, L, size) + steps * size**4 * 1e-9 for L, size in places)
    worker = moments(N, D) + moments(asked.bound_N, max(asked.bound_D)) + NUMBER * shifts * 5 * D**4
    kept = 6 * NUMBER * 200.0 * (asked.trials + asked.arithmetic_trials + asked.bound_trials)
    return Load(figure + arithmetic + digits + sides, worker, kept)
