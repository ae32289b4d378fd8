"""The answer of the page on the scaling laws of arXiv:2505.16329v2."""

from costofprivacy.judging.cards import tally
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import compact, percent
from costofprivacy.judging.tables import Tables


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    cost = tables["cost"]
    free = cost[cost["b"] <= cost["critical"]].groupby("gamma")["ratio"].max()
    return (
        "The risk falls like $\\gamma^h$, $\\gamma=d/n$; weak directions lower $h$. In Figure 2 privacy is free in the "
        f"limit up to $\\rho=\\gamma^b$, $b$ = {compact(cost['critical'].min())} to "
        f"{compact(cost['critical'].max())}; constant $\\rho$ adds {percent(free.iloc[-1] - 1)} at the largest "
        f"$\\gamma$. Of {len(verdicts)} claims, {tally(verdicts)}."
    )
