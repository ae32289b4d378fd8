"""Figure 2, Theorem 1.1 (high dimension), Theorem 4.2(ii) and Lemmas A.1-A.3 of arXiv:2504.16000v2."""

from costofprivacy.experiments.noisyhead.high_dimensional.experiment import Cell, Experiment, trial
from costofprivacy.experiments.noisyhead.high_dimensional.pages import (
    draw_figure_2,
    draw_powers,
    draw_progress,
    draw_starts,
    show_deviations,
    show_lemmas,
    show_narrow,
    show_radii,
    show_reference,
    show_tail,
    show_test_error,
)
from costofprivacy.experiments.noisyhead.high_dimensional.verdicts import (
    judge_figure_2,
    judge_lemma_a1,
    judge_lemma_a2,
    judge_lemma_a3,
    judge_section_11,
    judge_theorem_11_high,
    judge_theorem_42ii,
    start_slopes,
)

__all__ = [
    "Cell",
    "Experiment",
    "draw_figure_2",
    "draw_powers",
    "draw_progress",
    "draw_starts",
    "judge_figure_2",
    "judge_lemma_a1",
    "judge_lemma_a2",
    "judge_lemma_a3",
    "judge_section_11",
    "judge_theorem_11_high",
    "judge_theorem_42ii",
    "show_deviations",
    "show_lemmas",
    "show_narrow",
    "show_radii",
    "show_reference",
    "show_tail",
    "show_test_error",
    "start_slopes",
    "trial",
]
