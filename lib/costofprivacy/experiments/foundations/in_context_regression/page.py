"""The answer of the page on in-context regression."""

from costofprivacy.experiments.foundations.in_context_regression.verdicts import appendix_a1, equation_23
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, pick


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    table = tables["test-error"]
    row = pick(table, D=table["D"].max(), L=table["L"].max(), penalty=table["penalty"].max())
    return (
        f"{words.headline(equation_23, tables)} {words.headline(appendix_a1, tables)} "
        f"At $D = {row['D']:.0f}$, $L = {row['L']:.0f}$ the best linear head has test error {compact(row['best'])}, "
        f"ridge with $\\lambda = {row['penalty']:g}$ {compact(row['test_error'])}, predicting 0 "
        f"{compact(row['response_variance'])}."
    )
