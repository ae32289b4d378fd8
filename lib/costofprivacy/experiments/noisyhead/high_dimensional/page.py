"""The answer of the page on high dimension."""

from costofprivacy.experiments.noisyhead.high_dimensional.verdicts import figure_2, start_slopes, theorem_11_high
from costofprivacy.judging import words
from costofprivacy.judging.prose import listed, percent
from costofprivacy.judging.tables import Tables, select

STARTS = {"random": "from there", "zero": "from zero"}


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    slopes = start_slopes(tables["starts"]).set_index("start")["exponent"]
    powers = [f"{name} like $N^{{{slopes[start]:.2f}}}$" for start, name in STARTS.items() if start in slopes]
    fall = f"It falls {listed(powers)}. " if powers else ""
    trained = select(tables["test-error"], method="noisyhead")
    predicted = (1 - trained["test_error"] / trained["response_variance"]).max()
    return (
        f"{words.headline(figure_2, tables)} {fall}{words.headline(theorem_11_high, tables)} "
        f"Heads explain {percent(predicted)} of Var(y)."
    )
