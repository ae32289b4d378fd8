"""How much work the page to explore DP-GD needs: solved equations, counted from its parameters."""

from __future__ import annotations

from costofprivacy.dpgd import exponential, parts
from costofprivacy.experiments.dpgd.solving import ASKED, EQUATION, REDUCTION
from costofprivacy.experiments.explore.dpgd.experiment import SCHEDULES, SPECTRA, Cell, Experiment
from costofprivacy.running.work import Work

SOURCES = 3  # of the risk: each crosses the cells once more
ACROSS = 100  # operations for a cell and a source however few the equations: called from Python, one by one


def scheme(experiment: Experiment) -> Work:
    """What the chapter computes: on one grid of cells, the risk of every run by three passes, and then its parts."""
    cells = parts._CELLS + len(experiment.times)
    settings = len(experiment.clip) * (len(experiment.rho) + 1) * len(experiment.learning_rate)
    runs = settings * len(experiment.gamma) * len(SCHEDULES)
    return Work(loops=float(sum(runs * cells * _cell(_equations(experiment, spectrum)) for spectrum in SPECTRA)))


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: that of `scheme`, which draws nothing."""
    return scheme(experiment)


def _equations(experiment: Experiment, spectrum: str) -> int:
    """How many eigenvalues stand for a spectrum."""
    cell = experiment.shared(Cell, spectrum=spectrum, gamma=1.0, schedule="constant", rho=(1.0,))
    return len(cell.system.initial)


def _cell(equations: int) -> float:
    """One cell of one run."""
    passes = exponential.PASSES * (EQUATION * equations + ASKED * REDUCTION)
    return passes + SOURCES * (EQUATION * equations + ACROSS)
