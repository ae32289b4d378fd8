"""The answer of the page on robustness."""

from costofprivacy.experiments.noisyhead.robustness.verdicts import figure_4
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.settings import Setting


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    errors = select(tables["test-error"], setting=Setting.PUBLISHED).set_index(["method", "prompts"])["test_error"]
    ridge = [compact(errors["ridge", prompts]) for prompts in ("clean", "attacked")]
    fixed = tables["test-error"]["response_variance"].iloc[0]
    return (
        f"{words.headline(figure_4, tables)} In the authors' settings NoisyHead's test error is "
        f"{compact(errors['noisyhead', 'clean'])}, where answering 0 has {compact(fixed)}. That of ridge regression is "
        f"{ridge[0]} before the attack and {ridge[1]} after it."
    )
