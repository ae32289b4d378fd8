"""Remark 3.1, Appendix B and Table 1 of arXiv:2504.16000v2: private ridge regression beside NoisyHead."""

from costofprivacy.experiments.noisyhead.rivals.experiment import (
    Cell,
    Experiment,
    published,
    trial,
)
from costofprivacy.experiments.noisyhead.rivals.pages import (
    draw_penalties,
    draw_powers,
    draw_privacy,
    draw_steps,
    draw_table_1,
    show_audit,
    show_ladder,
    show_other_column,
    show_privacy,
    show_readings,
    show_sensitivity,
    show_table_1,
    show_test_error,
)
from costofprivacy.experiments.noisyhead.rivals.verdicts import (
    asymptotic_exponents,
    judge_appendix_b_early_stopping,
    judge_appendix_b_privacy,
    judge_appendix_b_scaling,
    judge_appendix_b_sensitivity,
    judge_remark_31,
    judge_table_1,
)

__all__ = [
    "Cell",
    "Experiment",
    "asymptotic_exponents",
    "draw_penalties",
    "draw_powers",
    "draw_privacy",
    "draw_steps",
    "draw_table_1",
    "judge_appendix_b_early_stopping",
    "judge_appendix_b_privacy",
    "judge_appendix_b_scaling",
    "judge_appendix_b_sensitivity",
    "judge_remark_31",
    "judge_table_1",
    "published",
    "show_audit",
    "show_ladder",
    "show_other_column",
    "show_privacy",
    "show_readings",
    "show_sensitivity",
    "show_table_1",
    "show_test_error",
    "trial",
]
