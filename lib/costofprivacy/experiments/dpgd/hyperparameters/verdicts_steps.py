"""Verdicts on steps of the proofs in Appendix D.1 of arXiv:2505.16329v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.dpgd.hyperparameters.steps import CORRECTED, EQUAL, PRINTED
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

EXACT = 1e-9  # relative
CHANGE = "A case in which the two sides of the step stand otherwise."


@judges("dpgd/equation-d.31")
def equation_d31(tables: Tables) -> Finding:
    """(D.31): is the descent's constant one that Lemma B.2 grants, so that R̄ ≤ R̄'?"""
    correction = r"$\overline a = 2\lambda_{\min}vc\,\underline c_\mu/\sqrt{2\mathcal R(0)+2+\zeta^2}$."
    return _step(tables, "D.31", "the comparison with the printed descent", correction)


@judges("dpgd/equation-d.35")
def equation_d35(tables: Tables) -> Finding:
    """(D.35): is R̄'(1) at most e^{−ā} + b̄/ā?"""
    correction = r"$\overline R(1) < \mathcal R(0)\,e^{-\overline a} + \overline b/\overline a$."
    return _step(tables, "D.35", "the bound on the final risk", correction)


@judges("dpgd/equation-d.44")
def equation_d44(tables: Tables) -> Finding:
    """(D.44) with (B.17): a constant below ν𝒫 for all c ≥ 1 and all risks."""
    return _step(tables, "D.44", "the lower bound for large clipping constants")


@judges("dpgd/equation-d.54")
def equation_d54(tables: Tables) -> Finding:
    """(D.54): the closed form against quadrature."""
    return _step(tables, "D.54", "the closed form")


@judges("dpgd/equation-d.59")
def equation_d59(tables: Tables) -> Finding:
    """(D.59): the bound over all times."""
    return _step(tables, "D.59", "the bound over all times")


@judges("dpgd/equation-d.61")
def equation_d61(tables: Tables) -> Finding:
    """(D.61): as (D.31), with another constant."""
    correction = r"$\overline a = 2vc\lambda_{\min}\,\underline c_\mu/\sqrt{2\mathcal R(0)+2+\zeta^2}$."
    return _step(tables, "D.61", "the comparison with the printed descent", correction)


@judges("dpgd/equation-d.65")
def equation_d65(tables: Tables) -> Finding:
    """(D.65): the bound at the end."""
    return _step(tables, "D.65", "the bound at the end")


@judges("dpgd/equation-d.69")
def equation_d69(tables: Tables) -> Finding:
    """(D.69): both lines from a̲ = 2 on."""
    return _step(tables, "D.69", "the pair of inequalities")


@judges("dpgd/equation-d.71")
def equation_d71(tables: Tables) -> Finding:
    """(D.71): the order of the least value."""
    return _step(tables, "D.71", "the order of the minimum")


def excess(rows: pd.DataFrame) -> pd.Series:
    """By what share of the right side the left one is above it, or away from it where they are to be equal."""
    share = rows["left"] / rows["right"] - 1
    return share.abs().where(rows["claim"] == EQUAL, share)


def _step(tables: Tables, step: str, name: str, correction: str = "") -> Finding:
    table = select(tables["steps"], step=step)
    printed, mended = (select(table, reading=reading) for reading in (PRINTED, CORRECTED))
    shares = excess(printed)
    worst = printed.loc[shares.idxmax()]
    numbers = (
        Number(
            f"left side, {worst['case']}", worst["left"], against=worst["right"], table="steps", row=f"step = {step}"
        ),
    )
    if shares.max() <= EXACT:
        kind = "agrees with quadrature" if (printed["claim"] == EQUAL).all() else "stands"
        headline = f"In every case tried {name} {kind}."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=CHANGE)
    if len(mended) and excess(mended).max() <= EXACT:
        headline = f"As printed, {name} is missed by a share of {compact(shares.max())}; another constant mends it."
        return Finding(Verdict.CORRECTED, headline, numbers, correction=correction, would_change=CHANGE)
    headline = f"In a case tried {name} does not stand."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=CHANGE)
