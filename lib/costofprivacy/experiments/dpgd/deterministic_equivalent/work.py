"""How much work the chapter on the deterministic equivalent needs: numbers drawn and operations, by its parameters."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.deterministic_equivalent import (
    homogenised,
    last_step,
    one_step,
    paths,
    rates,
    reach,
    theory,
)
from costofprivacy.experiments.dpgd.deterministic_equivalent.experiment import Experiment
from costofprivacy.experiments.dpgd.deterministic_equivalent.regime import ALPHAS, LEVELS
from costofprivacy.running.work import Work

GAMMA = 2.5  # what a gamma number costs in normals
STUDENT = 4.5  # and one of Student's
SIGN = 0.5  # and a sign
COSTS = {"Rademacher": SIGN, "Student t, 5": STUDENT, "Student t, 2.5": STUDENT}
GEOMETRIC = tuple(name for name in reach.LAWS if name not in COSTS)  # laws without a preferred direction


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: records for Figure 1, other laws and the diffusion, else chains.

    Of other laws the number of runs follows from their spread; counted is the number at d = 100, as many as are allowed
    below and fewer above, where the spread falls like 1/√n.
    """
    return _chains(experiment) + _whole(experiment) + _laws(experiment, tuple(reach.LAWS)) + _theory(experiment)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: the laws without a preferred direction by the chain of the risk."""
    others = _laws(experiment, tuple(COSTS))
    steps = len(GEOMETRIC) * sum(_runs(experiment, d) * experiment.regime.samples(d) for d in experiment.law_d)
    return _chains(experiment) + _whole(experiment) + others + _chain(1, 2, steps) + _theory(experiment)


def _chain(spaces: int, configurations: int, steps: float) -> Work:
    """Steps of the chain of the risk: 2G + 1 normals and 2G gammas, a dozen operations an eigenspace."""
    drawn = 2 * spaces * (1 + GAMMA) + 1
    return Work(normals=drawn * steps, loops=(4 * drawn + 15 * spaces * configurations) * steps)


def _chains(experiment: Experiment) -> Work:
    """The rates in two spectra, and the axes."""
    trials = [max(2, round(experiment.chain_steps / (n * rates.CHAINS))) for n in experiment.n]
    steps = rates.CHAINS * sum(count * n for count, n in zip(trials, experiment.n))
    middle = experiment.regime.samples(reach.MIDDLE)
    axes = 2 * reach.CHAINS * sum(map(experiment.regime.samples, experiment.axis_d))
    others = _chain(1, len(reach.CLIPS), 2 * reach.CHAINS * 3 * middle)
    return _chain(1, 3, steps) + _chain(LEVELS, 3, steps) + _chain(1, 1, axes) + others


def _whole(experiment: Experiment) -> Work:
    """Figure 1: features and noise, and two passes over θ for each schedule."""
    numbers = len(paths.SPECTRA) * experiment.trials * sum(d * experiment.regime.samples(d) for d in experiment.d)
    return Work(normals=2 * numbers, loops=(6 * len(ALPHAS) + 2) * numbers)


def _runs(experiment: Experiment, d: int) -> float:
    """How often a law is run in dimension d."""
    return max(min(reach.PILOT, experiment.law_trials), min(experiment.law_trials, experiment.law_trials * 100 / d))


def _laws(experiment: Experiment, names: tuple[str, ...]) -> Work:
    """Features and noise of other laws, and two passes over θ for each target."""
    numbers = sum(_runs(experiment, d) * d * experiment.regime.samples(d) for d in experiment.law_d)
    drawn = sum(1 + COSTS.get(name, 1.0) for name in names)
    return Work(normals=drawn * numbers, loops=len(names) * (6 * len(reach.TARGETS) + 2) * numbers)


def _theory(experiment: Experiment) -> Work:
    """Algorithm 1 beside the diffusion with each drift, and single steps, the last one included."""
    regime, trials = experiment.regime, experiment.theory_trials
    d = [(n, regime.dimension(n)) for n in experiment.theory_n]
    descent = trials * homogenised.PATHS * sum(n * size for n, size in d)
    diffusion = 2 * trials * homogenised.PATHS * homogenised.STEPS * sum(size for _, size in d)
    single = theory.STEP_TRIALS * trials * one_step.RECORDS * sum(experiment.step_d)
    last = theory.STEP_TRIALS * trials * last_step.RECORDS * sum(last_step.DIMENSIONS)
    normals = 2 * descent + diffusion + single + 2 * last
    return Work(normals=normals, loops=16 * descent + 60 * diffusion + 10 * single + 12 * last)
