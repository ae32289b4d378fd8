"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.scaling_laws.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    curves = len(asked.flat) + len(asked.steep)
    starts = len(asked.starts) * (len(asked.flat_phi) * len(asked.flat_psi) * len(asked.flat_b) + 1)
    solved = (2 * curves + starts) * len(asked.decades) * 0.05 + curves * len(asked.checked) * 0.1
    theory = 60 * len(asked.order_decades) * 0.1 + 12 * len(asked.clip_decades) * 0.3 + curves * asked.far * 1e-3
    return Load(solved + theory + asked.draws * 2e-3 + 10.0, NUMBER * 2.0**20, NUMBER * 400.0 * asked.draws)
