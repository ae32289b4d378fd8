"""The lines that open the page on robustness."""

from chapters.noisyhead.robustness.verdicts import figure_4
from companion.judging import words
from companion.judging.prose import compact
from companion.judging.tables import Tables, select
from costofprivacy.settings import Setting


def answer(tables: Tables) -> list[str]:
    """What the attack does to ridge regression and to NoisyHead, and what the page derives, runs and judges."""
    errors = select(tables["test-error"], setting=Setting.PUBLISHED).set_index(["method", "prompts"])["test_error"]
    ridge = [compact(errors["ridge", prompts]) for prompts in ("clean", "attacked")]
    fixed = tables["test-error"]["response_variance"].iloc[0]
    return [
        words.headline(figure_4, tables),
        f"In the authors' settings NoisyHead's test error is {compact(errors['noisyhead', 'clean'])}, "
        f"where answering 0 has {compact(fixed)}.",
        f"The attack raises the test error of ridge regression from {ridge[0]} to {ridge[1]}.",
        "We derive why ridge's change is bounded however strong the attack is, and run it by hand.",
        "Then we judge both sides of Theorem 5.1, and attack many prompts at once.",
    ]
