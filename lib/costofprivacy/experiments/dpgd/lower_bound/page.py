"""The answer of the page on the lower bound of arXiv:2505.16329v2."""

from __future__ import annotations

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
    taken = f"takes up to {compact(gain)} of it" if gain > 1 else "takes nothing of it"
    return (
        f"At $\\rho = {tex(slow['rho'])}$ and $\\gamma = {tex(slow['gamma'])}$ no private algorithm can beat tuned "
        f"DP-GD by more than {compact(slow['factor'])} times. Over all settings tried the proof leaves up to "
        f"{compact(worst)} times; a pilot followed by one averaged step {taken}. Towards small $\\gamma$ the factor "
        f"{'keeps growing on some path' if grows else 'stays bounded on every path tried'}."
    )


def drawn(bounds: pd.DataFrame) -> pd.DataFrame:
    """What is drawn and told: Σ = I, the worst target in the ball, the paper's label noise."""
    rows = select(bounds, spectrum=ISOTROPIC, start=BALL)
    return rows[rows["path"] != ALONG_NOISE]


def tex(value: float) -> str:
    """A number inside a formula."""
    return compact(value).strip("$")
