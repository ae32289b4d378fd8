"""The answer of the page on low dimension."""

from costofprivacy.experiments.noisyhead.low_dimensional.verdicts import theorem_11_low
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact, compared
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.settings import Setting


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    table = tables["test-error"]
    rows = select(table, N=table["N"].max(), epsilon=table["epsilon"].max(), method="noisyhead")
    head, fixed = pick(rows, setting=Setting.PUBLISHED), rows["response_variance"].iloc[0]
    word = compared(head["test_error"], fixed, ("better than", "no better than", "worse than"), head["standard_error"])
    return (
        f"{words.headline(theorem_11_low, tables)} In the settings behind Figure 1, at $N = {head['N']:.0f}$ and "
        f"$\\varepsilon = {head['epsilon']:g}$, the private head has test error {compact(head['test_error'])}, which "
        f"is {word} always predicting 0 ({compact(fixed)}). "
        f"The best linear head has {compact(head['best_linear_head'])}."
    )
