"""Figure 3, Proposition 4.1 and section 6.2 of arXiv:2504.16000v2."""

from costofprivacy.experiments.noisyhead.early_stopping.experiment import Cell, Experiment, trial
from costofprivacy.experiments.noisyhead.early_stopping.pages import (
    draw_accounts,
    draw_bounds,
    draw_descent,
    draw_figure_3,
    draw_noise_power,
    draw_stopping,
    show_best,
    show_deviations,
    show_last_iterate,
    show_section_62,
    show_stopped,
    show_test_error,
)
from costofprivacy.experiments.noisyhead.early_stopping.verdicts import (
    both_sides,
    judge_any_steps,
    judge_c_noise,
    judge_figure_3,
    judge_monotone,
    judge_optimal_stopping,
    judge_stopped,
)

__all__ = [
    "Cell",
    "Experiment",
    "both_sides",
    "draw_accounts",
    "draw_bounds",
    "draw_descent",
    "draw_figure_3",
    "draw_noise_power",
    "draw_stopping",
    "judge_any_steps",
    "judge_c_noise",
    "judge_figure_3",
    "judge_monotone",
    "judge_optimal_stopping",
    "judge_stopped",
    "show_best",
    "show_deviations",
    "show_last_iterate",
    "show_section_62",
    "show_stopped",
    "show_test_error",
    "trial",
]
