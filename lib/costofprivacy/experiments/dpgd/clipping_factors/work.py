"""How much work the chapter on the clipping factors needs: numbers drawn and operations on them, by its parameters."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.clipping_factors.experiment import DEFINITION_DIMENSION, SPECTRA, Experiment
from costofprivacy.running.work import Work


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: its records, with one number for each distinct eigenvalue.

    The isotropic spectrum has one eigenvalue, the uniform one d; the definitions are tried on whole features. Student's
    and the random signs of the definitions count as normals. Five operations for each number drawn.
    """
    each = experiment.trials * experiment.records
    definitions = len(experiment.definition_cells) * (DEFINITION_DIMENSION + 1) * each
    dimensions = sum(d + 1 + (len(SPECTRA) - 1) * 4 for d in experiment.d) * each
    return Work(normals=definitions + dimensions, loops=5 * (definitions + dimensions))


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: no cheaper one is known for distinct eigenvalues."""
    return scheme(experiment)
