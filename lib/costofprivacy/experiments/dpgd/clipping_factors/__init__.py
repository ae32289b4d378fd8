"""The descent and variance reduction factors of arXiv:2505.16329v2: (4.5), (4.6), Lemmas B.1 and B.2, Figure 9."""

from costofprivacy.experiments.dpgd.clipping_factors.experiment import DefinitionCell, DimensionCell, Experiment
from costofprivacy.experiments.dpgd.clipping_factors.pages import (
    draw_dimension,
    draw_figure_9,
    draw_precision,
    show_bounds,
    show_definition,
    show_landmarks,
)
from costofprivacy.experiments.dpgd.clipping_factors.verdicts import (
    judge_equation_45,
    judge_equation_46,
    judge_equation_b24,
    judge_figure_9,
    judge_lemma_b1_mu,
    judge_lemma_b1_nu,
    judge_lemma_b2_bounds,
    judge_lemma_b2_half,
    judge_lemma_b2_limits,
)

__all__ = [
    "DefinitionCell",
    "DimensionCell",
    "Experiment",
    "draw_dimension",
    "draw_figure_9",
    "draw_precision",
    "judge_equation_45",
    "judge_equation_46",
    "judge_equation_b24",
    "judge_figure_9",
    "judge_lemma_b1_mu",
    "judge_lemma_b1_nu",
    "judge_lemma_b2_bounds",
    "judge_lemma_b2_half",
    "judge_lemma_b2_limits",
    "show_bounds",
    "show_definition",
    "show_landmarks",
]
