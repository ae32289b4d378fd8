"""Theorem 4.1, its proof and Remarks 4.1-4.3 of arXiv:2504.16000v2: both sides of (4.2), and the events behind it."""

from costofprivacy.experiments.noisyhead.cost_of_privacy.experiment import (
    Cell,
    Experiment,
    trial,
)
from costofprivacy.experiments.noisyhead.cost_of_privacy.pages import (
    draw_dimensions,
    draw_lengths,
    draw_radius,
    draw_steps,
    show_events,
    show_recursion,
)
from costofprivacy.experiments.noisyhead.cost_of_privacy.verdicts import (
    REMARK_43,
    judge_equation_a4,
    judge_equation_a5,
    judge_equation_a6,
    judge_equation_a7,
    judge_equation_a8,
    judge_equation_a9,
    judge_equation_a10,
    judge_equation_a11,
    judge_equation_a12,
    judge_equation_a13,
    judge_remark_41,
    judge_remark_42,
    judge_theorem_41,
)

__all__ = [
    "REMARK_43",
    "Cell",
    "Experiment",
    "draw_dimensions",
    "draw_lengths",
    "draw_radius",
    "draw_steps",
    "judge_equation_a4",
    "judge_equation_a5",
    "judge_equation_a6",
    "judge_equation_a7",
    "judge_equation_a8",
    "judge_equation_a9",
    "judge_equation_a10",
    "judge_equation_a11",
    "judge_equation_a12",
    "judge_equation_a13",
    "judge_remark_41",
    "judge_remark_42",
    "judge_theorem_41",
    "show_events",
    "show_recursion",
    "trial",
]
