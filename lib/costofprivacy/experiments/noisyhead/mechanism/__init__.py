"""Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2: sensitivity, noise, composition, and where descent rests."""

from costofprivacy.experiments.noisyhead.mechanism.experiment import (
    Cell,
    Experiment,
)
from costofprivacy.experiments.noisyhead.mechanism.pages import (
    draw_composition,
    draw_reach,
    draw_single_steps,
    show_minimisers,
    show_noise,
    show_sensitivity,
)
from costofprivacy.experiments.noisyhead.mechanism.verdicts import (
    DEFINITION_31,
    judge_algorithm_1,
    judge_equation_27,
    judge_equation_a1,
    judge_section_3_update,
    judge_theorem_32,
)

__all__ = [
    "DEFINITION_31",
    "Cell",
    "Experiment",
    "draw_composition",
    "draw_reach",
    "draw_single_steps",
    "judge_algorithm_1",
    "judge_equation_27",
    "judge_equation_a1",
    "judge_section_3_update",
    "judge_theorem_32",
    "show_minimisers",
    "show_noise",
    "show_sensitivity",
]
