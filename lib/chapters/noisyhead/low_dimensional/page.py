"""The answer of the page on low dimension."""

from chapters.noisyhead.low_dimensional.verdicts import theorem_11_low
from companion.judging import words
from companion.judging.prose import compact, compared
from companion.judging.tables import Tables, pick, select
from costofprivacy.settings import Setting


def answer(tables: Tables) -> list[str]:
    """What becomes of the rate, how good the heads are, and what the reader will see."""
    table = tables["test-error"]
    rows = select(table, N=table["N"].max(), epsilon=table["epsilon"].max(), method="noisyhead")
    head, fixed = pick(rows, setting=Setting.PUBLISHED), rows["response_variance"].iloc[0]
    word = compared(head["test_error"], fixed, ("better than", "no better than", "worse than"), head["standard_error"])
    return [
        words.headline(theorem_11_low, tables),
        f"In the settings behind Figure 1, at $N = {head['N']:.0f}$ and $\\varepsilon = {head['epsilon']:g}$, the "
        f"private head has test error {compact(head['test_error'])}, which is {word} always predicting 0 "
        f"({compact(fixed)}).",
        f"The best linear head has {compact(head['best_linear_head'])}.",
        "We derive the noise part of the risk as a geometric sum, which falls like $N^{-5/2}$ up to logarithms.",
        "We run Algorithm 1 by hand, and judge Figure 1, both theorems and three steps of their proof.",
    ]
