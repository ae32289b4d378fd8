"""Figure 1, Theorem 1.1 (low dimension) and Theorem 4.2(i) of arXiv:2504.16000v2."""

from costofprivacy.experiments.noisyhead.low_dimensional.experiment import (
    Cell,
    Experiment,
    trial,
)
from costofprivacy.experiments.noisyhead.low_dimensional.pages import (
    draw_exponents,
    draw_figure_1,
    draw_floors,
    draw_test_error,
    show_conditions,
    show_deviations,
    show_test_error,
)
from costofprivacy.experiments.noisyhead.low_dimensional.verdicts import (
    judge_figure_1,
    judge_theorem_11_low,
    judge_theorem_42i,
    slopes,
)

__all__ = [
    "Cell",
    "Experiment",
    "draw_exponents",
    "draw_figure_1",
    "draw_floors",
    "draw_test_error",
    "judge_figure_1",
    "judge_theorem_11_low",
    "judge_theorem_42i",
    "show_conditions",
    "show_deviations",
    "show_test_error",
    "slopes",
    "trial",
]
