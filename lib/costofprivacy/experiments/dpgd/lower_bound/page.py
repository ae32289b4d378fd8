"""The answer of the page on the lower bound of arXiv:2505.16329v2."""

import pandas as pd

from costofprivacy.experiments.dpgd.lower_bound.optimality import ALONG_NOISE, BALL, ISOTROPIC, PATHS
from costofprivacy.experiments.dpgd.lower_bound.verdicts import section_8_optimality
from costofprivacy.judging.findings import Verdict
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

CONSTANT_RHO = next(iter(PATHS))


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    bounds = select(tables["bounds"], start=BALL)
    slow = select(bounds, path=CONSTANT_RHO, spectrum=ISOTROPIC).sort_values("gamma").iloc[0]
    worst = bounds[bounds["path"] != ALONG_NOISE]["factor"].max()
    rows = drawn(bounds)
    gain = (rows["harmonic"] / rows["two_stage"]).max()
    grows = section_8_optimality(tables).verdict != Verdict.HOLDS
    better = f"up to {compact(gain)} times less risk" if gain > 1 else "no less risk"
    return (
        f"At $\\rho = {tex(slow['rho'])}$ and $\\gamma = {tex(slow['gamma'])}$ the risk of tuned DP-GD is at most "
        f"{compact(slow['factor'])} times the least possible for a private algorithm. Over all settings tried, the "
        f"lower bound leaves room for a factor of {compact(worst)}; a pilot with one averaged step has {better}. "
        f"As $\\gamma$ falls, the factor {'keeps growing on some path' if grows else 'stays bounded on every path'}."
    )


def drawn(bounds: pd.DataFrame) -> pd.DataFrame:
    """What is drawn and told: Σ = I, the worst target in the ball, the paper's label noise."""
    rows = select(bounds, spectrum=ISOTROPIC, start=BALL)
    return rows[rows["path"] != ALONG_NOISE]


def tex(value: float) -> str:
    """A number inside a formula."""
    return compact(value).strip("$")
