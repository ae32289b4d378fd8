"""What the page on the lower bound of arXiv:2505.16329v2 opens with."""

import pandas as pd

from chapters.dpgd.lower_bound.optimality import ALONG_NOISE, BALL, ISOTROPIC, PATHS
from chapters.dpgd.lower_bound.verdicts import section_8_optimality
from companion.judging.findings import Verdict
from companion.judging.prose import compact
from companion.judging.tables import Tables, select

CONSTANT_RHO = next(iter(PATHS))


def answer(tables: Tables) -> list[str]:
    """What the chapter found, and what its page shows."""
    bounds = select(tables["bounds"], start=BALL)
    slow = select(bounds, path=CONSTANT_RHO, spectrum=ISOTROPIC).sort_values("gamma").iloc[0]
    worst = bounds[bounds["path"] != ALONG_NOISE]["factor"].max()
    rows = drawn(bounds)
    gain = (rows["harmonic"] / rows["two_stage"]).max()
    grows = section_8_optimality(tables).verdict != Verdict.HOLDS
    better = f"up to {compact(gain)} times less risk" if gain > 1 else "no less risk"
    return [
        f"For $\\rho = {tex(slow['rho'])}$ and the smallest $\\gamma$ the risk of tuned DP-GD is at most "
        f"{compact(slow['factor'])} times the least possible for a private algorithm.",
        f"Over all settings tried, the lower bound leaves room for a factor of {compact(worst)}. As $\\gamma$ falls, "
        f"the factor {'keeps growing on some path' if grows else 'stays bounded on every path'}.",
        f"A pilot with one averaged step has {better} than DP-GD.",
        "We derive the bound in six steps from an attack that traces a record in the release, run the attack by hand, "
        "and judge the steps of the proof.",
    ]


def drawn(bounds: pd.DataFrame) -> pd.DataFrame:
    """What is drawn and told: Σ = I, the worst target in the ball, the paper's label noise."""
    rows = select(bounds, spectrum=ISOTROPIC, start=BALL)
    return rows[rows["path"] != ALONG_NOISE]


def tex(value: float) -> str:
    """A number inside a formula."""
    return compact(value).strip("$")
