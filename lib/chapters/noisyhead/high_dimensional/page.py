"""The answer of the page on high dimension."""

from chapters.noisyhead.high_dimensional.verdicts import figure_2, start_slopes, theorem_11_high
from companion.judging import words
from companion.judging.prose import listed, percent
from companion.judging.tables import Tables, select

STARTS = {"random": "from the random start", "zero": "from zero"}


def answer(tables: Tables) -> list[str]:
    """What falls in the figure, what that says of the cost of privacy, and what the reader will see."""
    slopes = start_slopes(tables["starts"]).set_index("start")["exponent"]
    powers = [f"{name} like $N^{{{slopes[start]:.2f}}}$" for start, name in STARTS.items() if start in slopes]
    trained = select(tables["test-error"], method="noisyhead")
    predicted = (1 - trained["test_error"] / trained["response_variance"]).max()
    return [
        words.headline(figure_2, tables),
        *([f"The risk falls {listed(powers)}."] if powers else []),
        f"{words.headline(theorem_11_high, tables)} Heads explain {percent(predicted)} of Var(y).",
        "We derive three parts of the risk: of the start, the noise and the descent.",
        "We run both starts by hand, and judge the theorems, their proof and three lemmas.",
    ]
