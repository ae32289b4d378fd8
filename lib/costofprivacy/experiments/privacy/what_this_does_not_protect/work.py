"""How much work the attacks and audits need. The chapter has no scheme of sampling to save: it attacks releases."""

from __future__ import annotations

from costofprivacy.experiments.privacy.what_this_does_not_protect.experiment import TIMED_RECORDS, Experiment
from costofprivacy.experiments.privacy.what_this_does_not_protect.population import STRANGERS
from costofprivacy.experiments.privacy.what_this_does_not_protect.timing import ROUNDS
from costofprivacy.running.work import Work

STEP = 6  # operations of a step of DP-GD over d


def scheme(experiment: Experiment) -> Work:
    """Passes of n records for the attacks by seeds, fits of the members, rounds of timing, releases of the audits."""
    n, d, trials = experiment.n, experiment.d, experiment.trials
    guessed = _passes(2 * trials + experiment.guesses, n, d)
    members = sum((_passes(experiment.fits, size, d) for size in experiment.members), Work())
    strangers = Work(normals=experiment.fits * STRANGERS * d * len(experiment.members))
    timed = _passes(ROUNDS * 4, TIMED_RECORDS, d)
    audited = Work(normals=2 * experiment.audit_releases * sum(k for k in experiment.runs if k <= 10))
    repeats = Work(normals=2 * trials * sum(experiment.runs))
    return guessed + members + strangers + timed + audited + repeats


def cheapest(experiment: Experiment) -> Work:
    """No cheaper way is known to attack what was released."""
    return scheme(experiment)


def _passes(count: float, n: float, d: float) -> Work:
    """So many passes of DP-GD, noise included."""
    return count * Work(normals=n * d, loops=STEP * n * d)
