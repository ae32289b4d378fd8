"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.algorithm.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, records


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    lengths = [(n, max(1.0, asked.fixed_gamma * n)) for n in asked.sizes] + [
        (asked.d / g, asked.d) for g in asked.gammas
    ]
    rates = asked.trials * sum(2 * n * d * 25e-9 + n * 1e-5 for n, d in lengths)
    placed = asked.placements * (asked.n * max(1.0, asked.gamma * asked.n) * 10e-8 + asked.n * 5e-6) * 5
    others = asked.n * asked.others * 8e-8 * (2 + len(asked.alpha))
    worker = max(records(d) + 8 * NUMBER * n for n, d in lengths)
    kept = NUMBER * (8 * asked.n * asked.others + 60 * asked.pairs)
    return Load(rates + placed + others + asked.pairs * 2e-5 + 10.0, worker, kept)
