"""The opening lines of the page on in-context regression."""

from chapters.foundations.in_context_regression.verdicts import appendix_a1, equation_23
from companion.judging import words
from companion.judging.prose import compact
from companion.judging.tables import Tables, pick


def answer(tables: Tables) -> list[str]:
    """The chapter's answer, and what a reader will see."""
    table = tables["test-error"]
    row = pick(table, D=table["D"].max(), L=table["L"].max(), penalty=table["penalty"].max())
    return [
        "The head is a linear regression on one statistic $Z$ of the prompt. "
        f"At $D = {row['D']:.0f}$, $L = {row['L']:.0f}$ the best linear head has test error {compact(row['best'])}, "
        f"and ridge regression with $\\lambda = {row['penalty']:g}$ has {compact(row['test_error'])}.",
        words.headline(equation_23, tables),
        words.headline(appendix_a1, tables),
        "We derive the best head and its error, which is $(D-1)/(D+L-1)$ without label noise.",
        "Heads trained by hand agree with the formula.",
    ]
