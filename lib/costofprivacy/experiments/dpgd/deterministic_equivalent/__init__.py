"""Section 4 and Appendix C of arXiv:2505.16329v2: Algorithm 1 beside its deterministic equivalent; Figure 1."""

from costofprivacy.experiments.dpgd.deterministic_equivalent.experiment import Experiment
from costofprivacy.experiments.dpgd.deterministic_equivalent.pages import (
    draw_axes,
    draw_figure_1,
    draw_laws,
    draw_rates,
    show_exponents,
    show_laws,
    show_released,
)
from costofprivacy.experiments.dpgd.deterministic_equivalent.verdicts import (
    ASSUMPTION_1,
    ASSUMPTION_2,
    judge_figure_1,
    judge_proposition_44_mean,
    judge_proposition_44_path,
    judge_theorem_1_mean,
    judge_theorem_1_path,
)

__all__ = [
    "ASSUMPTION_1",
    "ASSUMPTION_2",
    "Experiment",
    "draw_axes",
    "draw_figure_1",
    "draw_laws",
    "draw_rates",
    "judge_figure_1",
    "judge_proposition_44_mean",
    "judge_proposition_44_path",
    "judge_theorem_1_mean",
    "judge_theorem_1_path",
    "show_exponents",
    "show_laws",
    "show_released",
]
