"""The answer of the page on the scaling laws of arXiv:2505.16329v2."""

from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import compact, percent
from companion.judging.tables import Tables


def answer(tables: Tables) -> list[str]:
    """What the page opens with, a line each."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    cost = tables["cost"]
    free = cost[cost["b"] <= cost["critical"]].groupby("gamma")["ratio"].max()
    return [
        "The risk falls like $\\gamma^h$, where $\\gamma = d/n$. Weak directions make the exponent $h$ smaller.",
        "In the limit of Figure 2 privacy is free for $\\rho = \\gamma^b$ up to $b$ = "
        f"{compact(cost['critical'].min())} to {compact(cost['critical'].max())}. A constant $\\rho$ still adds "
        f"{percent(free.iloc[-1] - 1)} to the risk at the largest $\\gamma$.",
        "You see $h$ derived from the balance of three errors, and measure it over five decades of $\\gamma$.",
        f"Of {len(verdicts)} claims, {tally(verdicts)}.",
    ]
