"""How much work the chapter on the lower bound needs: numbers drawn and operations on them, by its parameters."""

from __future__ import annotations

from typing import Any

from costofprivacy.experiments.dpgd import solving
from costofprivacy.experiments.dpgd.lower_bound import attacks, optimality
from costofprivacy.experiments.dpgd.lower_bound.attacks import COARSE
from costofprivacy.experiments.dpgd.lower_bound.experiment import Experiment
from costofprivacy.running.work import Work


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: attacks and twins on whole records, and searches for schedules.

    A fresh record is two normals for each of three algorithms.
    """
    n = sum(ratio * experiment.d for ratio in experiment.ratios)
    attacked = experiment.trials * n * (1 + len(experiment.rho))
    private = experiment.trials * experiment.d * n * len(experiment.rho)
    twins = private * len(attacks.MULTIPLES)
    rivals = experiment.rival_trials * experiment.d * experiment.rival_n
    normals = attacked * (experiment.d + 6) + private + twins + (2 + experiment.pilot_share) * rivals
    loops = 18 * attacked + 18 * private + 4 * (1 + attacks.POSITIONS / 2) * twins + 6 * rivals
    return Work(normals=normals, loops=loops) + _searches(experiment)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: both multiples of a rate meet the same records, drawn once."""
    n = sum(ratio * experiment.d for ratio in experiment.ratios)
    once = experiment.trials * experiment.d * n * len(experiment.rho)
    return scheme(experiment) + Work(normals=-(len(attacks.MULTIPLES) - 1) * once)


def _searches(experiment: Experiment) -> Work:
    """Best harmonic schedules, of which some problems have a pilot as well."""
    places = optimality.places(
        experiment.gammas, experiment.rhos, experiment.gamma, experiment.noises, experiment.label_noise, experiment.clip
    )
    attacked = [1 / ratio for ratio in experiment.ratios] * len(experiment.rho)
    rival = experiment.d / experiment.rival_n
    gammas = [*attacked, rival, rival / experiment.pilot_share, *_pilots(experiment, places)]
    parts = [solving.best_harmonic(gamma, 1, COARSE) for gamma in gammas]
    parts += [solving.best_harmonic(p["gamma"], len(optimality.SPECTRA[p["spectrum"]]), COARSE) for p in places]
    return solving.total(parts)


def _pilots(experiment: Experiment, places: list[dict[str, Any]]) -> list[float]:
    """γ of the pilots that are tuned besides."""
    single = [p for p in places if p["spectrum"] == optimality.ISOTROPIC and p["start"] == optimality.BALL]
    return [p["gamma"] / experiment.pilot_share for p in single if p["path"] != optimality.ALONG_NOISE]
