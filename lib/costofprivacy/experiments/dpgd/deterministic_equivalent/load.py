"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.deterministic_equivalent.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, records


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    figure = asked.trials * sum(2 * (d / asked.gamma) * d * 40e-9 for d in asked.d)
    chains = 2 * len(asked.n) * max(asked.chain_steps, 4000 * max(asked.n)) * 0.3e-6
    laws = asked.law_trials * sum(10 * (d / asked.gamma) * d * 60e-9 for d in asked.law_d)
    axes = 2 * sum(2 * 10 * (d / asked.gamma) * d * 40e-9 for d in asked.axis_d)
    theory = asked.theory_trials * (
        sum(n * asked.gamma * n * 8 * 40e-9 for n in asked.theory_n) + 10 * sum(asked.step_d) * 1e-5
    )
    largest = max(*asked.d, *asked.law_d, *asked.axis_d, *asked.step_d, *(asked.gamma * n for n in asked.theory_n))
    worker = 3 * records(largest) + NUMBER * (20.0 * max(*asked.n, *asked.theory_n) + 1000 * 200 + 4000 * largest)
    return Load(figure + chains + laws + axes + theory + 10.0, worker)
