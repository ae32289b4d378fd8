"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.privacy.what_this_does_not_protect.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    audits = asked.audit_releases * 5e-5 + asked.guesses * 5e-3
    attacks = asked.trials * 0.01 * (asked.n * asked.d / 1000) + asked.fits * 0.4
    members = sum(asked.members) * asked.d * 1e-5
    members += asked.trials * 0.004  # exact minima of 450,000 records
    held = NUMBER * (10.0 * asked.audit_releases + 3 * max(asked.members) * asked.d + asked.n * asked.d)
    return Load(audits + attacks + members + 4.0, held, NUMBER * 10.0 * asked.trials)
