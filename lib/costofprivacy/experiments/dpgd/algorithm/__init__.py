"""Algorithm 1 of arXiv:2505.16329v2, its privacy, its noise, and the rates of the introduction."""

from costofprivacy.experiments.dpgd.algorithm.experiment import Experiment, PlacementCell
from costofprivacy.experiments.dpgd.algorithm.pages import (
    draw_conversions,
    draw_expansion,
    draw_noise,
    draw_rates,
    show_conversions,
    show_outputs,
    show_placement,
    show_schedules,
)
from costofprivacy.experiments.dpgd.algorithm.rates import IdentityCell, RateCell
from costofprivacy.experiments.dpgd.algorithm.verdicts import (
    ALGORITHM_1,
    DEFINITION_31,
    DEFINITION_A1,
    DEFINITION_A2,
    judge_equation_11,
    judge_equation_12,
    judge_equation_13,
    judge_equation_14,
    judge_equation_41,
    judge_equation_42,
    judge_equation_a3,
    judge_equation_a9,
    judge_proposition_41,
    judge_proposition_a3,
)

__all__ = [
    "ALGORITHM_1",
    "DEFINITION_31",
    "DEFINITION_A1",
    "DEFINITION_A2",
    "Experiment",
    "IdentityCell",
    "PlacementCell",
    "RateCell",
    "draw_conversions",
    "draw_expansion",
    "draw_noise",
    "draw_rates",
    "judge_equation_11",
    "judge_equation_12",
    "judge_equation_13",
    "judge_equation_14",
    "judge_equation_41",
    "judge_equation_42",
    "judge_equation_a3",
    "judge_equation_a9",
    "judge_proposition_41",
    "judge_proposition_a3",
    "show_conversions",
    "show_outputs",
    "show_placement",
    "show_schedules",
]
