"""Verdicts on steps of the proofs in Appendix D.1 of arXiv:2505.16329v2."""

import pandas as pd

from chapters.dpgd.hyperparameters.steps import CORRECTED, EQUAL, PRINTED
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ROUNDING


@judges("dpgd/equation-d.31")
def equation_d31(tables: Tables) -> Ruling:
    """(D.31): is the descent's constant one that Lemma B.2 grants, so that R̄ ≤ R̄'?"""
    return _step(tables, "D.31")


@judges("dpgd/equation-d.35")
def equation_d35(tables: Tables) -> Ruling:
    """(D.35): is R̄'(1) at most e^{−ā} + b̄/ā?"""
    return _step(tables, "D.35")


@judges("dpgd/equation-d.44")
def equation_d44(tables: Tables) -> Ruling:
    """(D.44) with (B.17): a constant below ν𝒫 for all c ≥ 1 and all risks."""
    return _step(tables, "D.44")


@judges("dpgd/equation-d.54")
def equation_d54(tables: Tables) -> Ruling:
    """(D.54): the closed form against quadrature."""
    return _step(tables, "D.54")


@judges("dpgd/equation-d.59")
def equation_d59(tables: Tables) -> Ruling:
    """(D.59): the bound over all times."""
    return _step(tables, "D.59")


@judges("dpgd/equation-d.61")
def equation_d61(tables: Tables) -> Ruling:
    """(D.61): as (D.31), with another constant."""
    return _step(tables, "D.61")


@judges("dpgd/equation-d.65")
def equation_d65(tables: Tables) -> Ruling:
    """(D.65): the bound at the end."""
    return _step(tables, "D.65")


@judges("dpgd/equation-d.69")
def equation_d69(tables: Tables) -> Ruling:
    """(D.69): both lines from a̲ = 2 on."""
    return _step(tables, "D.69")


@judges("dpgd/equation-d.71")
def equation_d71(tables: Tables) -> Ruling:
    """(D.71): the order of the least value."""
    return _step(tables, "D.71")


def excess(rows: pd.DataFrame) -> pd.Series:
    """By what share of the right side the left one is above it, or away from it where they are to be equal."""
    share = rows["left"] / rows["right"] - 1
    return share.abs().where(rows["claim"] == EQUAL, share)


def _step(tables: Tables, step: str) -> Ruling:
    """Does a step stand in every case as printed, or else with another constant?"""
    table = select(tables["steps"], step=step)
    printed, corrected_rows = (select(table, reading=reading) for reading in (PRINTED, CORRECTED))
    shares = excess(printed)
    worst = printed.loc[shares.idxmax()]
    named = {f"left side against the right, {worst['case']}": (worst["left"], worst["right"])}
    corrected = bool(len(corrected_rows) and excess(corrected_rows).max() <= ROUNDING)
    verdict = reads(printed=shares.max() <= ROUNDING, corrected=corrected, decided=not shares.isna().any())
    quoted = {"share": shares.max(), "case": f"${worst['case'].replace(' ', '')}$"}
    return Ruling(verdict, numbers("steps", named, f"step = {step}"), quoted)
