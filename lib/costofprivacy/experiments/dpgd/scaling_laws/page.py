"""The answer of the page on the scaling laws of arXiv:2505.16329v2."""

from __future__ import annotations

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
        "Risk falls like $\\gamma^h$, $\\gamma=d/n$; weak directions lower $h$. In Figure 2 privacy is free down to "
        f"$\\rho=\\gamma^b$, $b$ from {compact(cost['critical'].min())} to {compact(cost['critical'].max())}: at "
        f"constant $\\rho$ it adds {percent(free.iloc[-1] - 1)} at the largest $\\gamma$, "
        f"{percent(free.iloc[0] - 1)} at the least. Of {len(verdicts)} claims, {tally(verdicts)}."
    )
