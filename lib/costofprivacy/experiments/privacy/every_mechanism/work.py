"""How much work the audits need: the noise of every release that they draw."""

from __future__ import annotations

from costofprivacy.experiments.privacy.every_mechanism import audits
from costofprivacy.experiments.privacy.every_mechanism.experiment import Experiment
from costofprivacy.running.work import Work

NORMALS, STEPS = 3.0, 30.0  # of a release, and operations on it, on average
SORTED = 60.0  # operations to sort a score and to count it
EXACT = 5e8  # operations of all exact laws


def scheme(experiment: Experiment) -> Work:
    """Two inputs for each audit. Of deficits one or two are tried until one is found."""
    asked = audits.cells(
        experiment.mu, experiment.delta, experiment.releases, experiment.hostile_releases, experiment.deficits
    )
    drawn = sum(2.0 * cell.releases * (2 if cell.tried == audits.NOISE else 1) for cell in asked)
    return Work(normals=NORMALS * drawn, loops=(STEPS + SORTED) * drawn + EXACT)


def cheapest(experiment: Experiment) -> Work:
    """No cheaper way is known to audit what is known by its releases alone."""
    return scheme(experiment)
