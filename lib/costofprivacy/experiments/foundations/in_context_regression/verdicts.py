"""Verdicts on (2.3)-(2.5) and Appendix A.1 of arXiv:2504.16000v2: pure functions of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.claims import Judgement, Verdict

CONSISTENT = 4.0  # standard errors
ROUNDING = 1e-12  # relative to the largest prediction


def _worst(identities: pd.DataFrame, name: str) -> float:
    return float(identities.loc[identities["identity"] == name, "relative_difference"].max())


def judge_equation_23(identities: pd.DataFrame) -> Judgement:
    """(2.3): the last entry of the head's output is the bilinear form."""
    worst = _worst(identities, "(2.3), all weights")
    shapes = len(identities[["D", "L"]].drop_duplicates())
    evidence = f"largest relative difference over {shapes} shapes with random weights: {worst:.0e}"
    return Judgement(Verdict.HOLDS if worst < ROUNDING else Verdict.FAILS, evidence)


def _transposed(identities: pd.DataFrame, right: str, printed: str) -> Judgement:
    amended, as_printed = _worst(identities, right), _worst(identities, printed)
    if as_printed < ROUNDING:
        return Judgement(Verdict.HOLDS, f"largest relative difference as printed: {as_printed:.0e}")
    evidence = (
        f"the printed form is off by {as_printed:.2g} of the largest prediction, with W₁₁ transposed by {amended:.0e}"
    )
    return Judgement(Verdict.AMENDED if amended < ROUNDING else Verdict.FAILS, evidence)


def judge_equation_24(identities: pd.DataFrame) -> Judgement:
    """(2.4): the form multiplied out; W₁₁ wants a transpose."""
    return _transposed(identities, "(2.4), with W11 transposed", "(2.4), as printed")


def judge_equation_25(identities: pd.DataFrame) -> Judgement:
    """(2.5): ŷ = ⟨Γ, Z⟩; Γ = w₂₂ W₁₁ wants a transpose."""
    return _transposed(identities, "(2.5), Γ = w22 W11 transposed", "(2.5), as printed")


def judge_appendix_a1(dropped: pd.DataFrame, identities: pd.DataFrame) -> Judgement:
    """Appendix A.1: the dropped terms carry nothing."""
    products = dropped[dropped["product"] != "even terms²"]
    score = (products["mean"].abs() / products["standard_error"]).max()
    added = dropped.loc[dropped["product"] == "even terms²", "mean"].min()
    contained = _worst(identities, "task + rank-one = ⟨Γ', Z⟩")
    evidence = (
        "for random normal weights the two terms even in y are uncorrelated with y and with the rest (worst "
        f"{score:.1f} standard errors in "
        f"{len(products)} products) and would add at least {added:.2g} to the test error; the fourth term is "
        f"itself of the form ⟨Γ, Z⟩ (to {contained:.0e})"
    )
    allowed = max(CONSISTENT, float(np.sqrt(2 * np.log(100 * len(products)))))
    fine = score < allowed and added > 0 and contained < ROUNDING
    return Judgement(Verdict.HOLDS if fine else Verdict.FAILS, evidence)
