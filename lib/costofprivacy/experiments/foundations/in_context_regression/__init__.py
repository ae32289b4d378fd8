"""The head as a regression on Z, the terms that w₁₂ = 0 drops, and the best that a linear head can do."""

from costofprivacy.experiments.foundations.in_context_regression.experiment import (
    Cell,
    Experiment,
    trial,
)
from costofprivacy.experiments.foundations.in_context_regression.pages import (
    draw_prompt,
    draw_test_error,
    show_dropped_terms,
    show_identities,
    show_tuned,
)
from costofprivacy.experiments.foundations.in_context_regression.verdicts import (
    judge_appendix_a1,
    judge_equation_23,
    judge_equation_24,
    judge_equation_25,
)

__all__ = [
    "Cell",
    "Experiment",
    "draw_prompt",
    "draw_test_error",
    "judge_appendix_a1",
    "judge_equation_23",
    "judge_equation_24",
    "judge_equation_25",
    "show_dropped_terms",
    "show_identities",
    "show_tuned",
    "trial",
]
