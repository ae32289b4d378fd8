"""Verdicts on the proof of Theorem 5.1, (A.20)-(A.24) of arXiv:2504.16000v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.robustness import limits, rates
from costofprivacy.experiments.noisyhead.robustness.theorem import RESPONSES
from costofprivacy.experiments.noisyhead.robustness.verdicts_theorem import (
    LEFT,
    NOT_ADMITTED,
    RANK_ONE,
    SHIFTED,
    WITH_QUERY,
    at_least,
    many_steps,
)
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
NONE, NUMBERS, CONCLUSION = Consequence
OPPOSITE = 4.0  # (2R)² over R²: what two points at opposite ends of the ball add to (A.20), whatever the sizes
CERTAIN = 0.99  # share of the trials in which an event of high probability has to occur


@judges("noisyhead/equation-a.20")
def equation_a20(tables: Tables) -> Finding:
    """Two heads in the ball of radius R differ by at most C²R²/L on a clean prompt."""
    rows = many_steps(tables["heads"]).rename(columns={"displacement": "left", "bound_ball": "right"})
    log = rows["L"] * np.sqrt(rows["bound_theorem"] / rows["N"])  # log(NL/κ), as that bound is N L⁻² log²(NL/κ)
    condition = (
        r"Add $L \lesssim D^3\log(NL/\kappa)$, and a factor 4 for two ends of the ball; this excludes longer prompts. "
        r"At any length the mean of $\langle\hat\Gamma - \hat\Gamma_{\text{bad}}, Z\rangle^2$ is at most "
        r"$4R^2\,\mathbb E\|Z\|^2/D^2$."
    )
    subject, sizes = "Two heads in the ball differ by more than claimed", select(tables["sizes"], claim=limits.BALL)
    short = rows.assign(short=rows["L"] <= rows["D"] ** 3 * log)
    return _bounded(short, "heads", sizes, OPPOSITE, subject, CONCLUSION, condition)


@judges("noisyhead/equation-a.21")
def equation_a21(tables: Tables) -> Finding:
    """The clean prompts' Gram matrix has norm at most C²N/L, below Nλ."""
    rows = tables["gram"].rename(columns={"norm": "left", "bound": "right"})
    condition = (
        r"Add $L \lesssim D^2\log(NL/\kappa)$ and $N \gtrsim (L/D)^2/\log^2(NL/\kappa)$; this excludes longer prompts. "
        r"The norm is $N\{(e/D)^2 + \mathbb E\|Z\|^4/N\}^{1/2}$ or so, $e = \mathbb E\|Z\|^2$: below $N\lambda$ for "
        r"$\lambda > e/D$ and large $N$."
    )
    subject, sizes = "The Gram matrix exceeds its bound", select(tables["sizes"], claim=limits.GRAM)
    short = rows.assign(short=rows["right"] * rows["D"] ** 2 >= 2)  # L up to D² log(NL/κ), as C² = 2 log(NL/κ)
    return _bounded(short, "gram", sizes, 1.0, subject, NUMBERS, condition)


def _bounded(
    rows: pd.DataFrame,
    table: str,
    sizes: pd.DataFrame,
    constant: float,
    subject: str,
    weight: Consequence,
    holds_if: str,
) -> Finding:
    """Is ``left`` below ``right``, measured and in closed form, along every size, or where ``short`` at least?"""
    powers = rates.fitted(rows, "left", "standard_error", "right")
    change = "A left side that falls with the prompt length like its bound."
    if "L" not in set(powers["axis"]):
        return rates.ruling(change)(UNTESTABLE, "A single prompt length shows no rate.")
    over, closed = (rows["left"] / rows["right"]).max(), sizes.loc[sizes["length_over"] <= 1, "ratio"].max()
    numbers = (
        *rates.as_numbers(powers, "measured over claimed", table),
        *rates.far_numbers(sizes),
        Number("measured over claimed, at most", over, None, 1.0, table),
        Number("closed form over claimed on short prompts, at most", closed, None, constant, "sizes"),
    )
    rule = rates.ruling(change, numbers)
    lost = {*rates.grows(powers)["axis"], *rates.far_lost(sizes)}
    least = rows["left"] - CONSISTENT * rows["standard_error"]
    if not lost and not (least > rows["right"]).any():
        return rule(HOLDS, f"{subject} at none of the sizes tried.")
    if not lost:
        headline = f"{subject} by about the same factor at every size, up to {compact(over)}."
        factor = f"A constant of at least {compact(over)} on the right."
        return rule(CORRECTED, headline, NUMBERS, factor)
    if lost != {"L"} or closed > constant or (least > constant * rows["right"])[rows["short"]].any():
        return rule(FAILS, f"{subject} on short prompts too.", weight)
    power = compact(rates.far_powers(sizes)["L"])
    headline = f"{subject} on long prompts, by a factor like the power {power} of their length."
    return rule(NARROWER, headline, weight, holds_if)


@judges("noisyhead/equation-a.22")
def equation_a22(tables: Tables) -> Finding:
    """‖Z_bad‖² is at most of the order α²μ⁴/L, below Nλ."""
    every, sizes = tables["perturbations"], select(tables["sizes"], claim=limits.OUTLIER)
    rows, kept = every[every["admissible"]], every[every["admissible_amended"]]
    powers = rates.fitted(rows, "energy", "energy_error", "energy_claimed", ["perturbation", "response"])
    change = "A common shift of all tokens that averages out over them as the features do."
    if powers.empty:
        return rates.ruling(change)(UNTESTABLE, NOT_ADMITTED)
    largest, amended = (part["energy_over_N_penalty"].max() for part in (rows, kept))
    distance = ((every["energy"] - every["energy_closed_form"]) / every["energy_error"]).abs().max()
    numbers = (
        *rates.as_numbers(powers, "energy over its claimed order", "perturbations"),
        *rates.far_numbers(sizes),
        Number(r"energy over $N\lambda$, at most", largest, None, 1.0, "perturbations"),
        Number(r"energy over $N\lambda$ under the amended (5.2), at most", amended, None, 1.0, "perturbations"),
        Number("largest distance from the closed form, in errors", distance, None, CONSISTENT, "perturbations"),
    )
    rule = rates.ruling(change, numbers)
    grown, lost = rates.grows(powers), rates.far_lost(sizes)
    if grown.empty and not lost:
        return rule(HOLDS, "The attacked prompt is of the claimed order, along every size.")
    steep = grown[~grown["perturbation"].isin(rows[rows["mu"] < 1]["perturbation"])]
    if steep.empty and not lost:
        headline = "The attacked prompt is of the claimed order only for shifts that do not shrink with the prompt."
        condition = r"Add $\mu \gtrsim 1$; this excludes shifts that fall with $L$."
        return rule(NARROWER, headline, CONCLUSION, condition)
    by = rates.worded(steep) if len(steep) else "a power of its sizes, far out"
    instead = r"$\|Z_{\text{bad}}\|_F^2 \asymp (1 + D\mu^2)\alpha^2\{(1 + D\mu^2)/L + D\mu^2\}$."
    headline = f"The attacked prompt outgrows its bound, like {by}."
    return rule(FAILS, headline, CONCLUSION, instead)


@judges("noisyhead/equation-a.23")
def equation_a23(tables: Tables) -> Finding:
    """‖Γ*_bad − Γ*‖ is at least ‖y'Z' − yZ‖/(Nλ), in the median over data sets."""
    rows = tables["perturbations"].assign(ratio=lambda r: r["a23_ratio"], error=0.0)
    instead = (
        rf"The matrix of (2.7) changes with the prompt: the step is {RANK_ONE}. For a matrix that stays and is at "
        r"least $N\lambda$ the inequality points the other way."
    )
    return at_least(rows, "Ridge's weights move", instead)


@judges("noisyhead/equation-a.24")
def equation_a24(tables: Tables) -> Finding:
    """‖y'Z' − yZ‖ is at least α²μ²."""
    share = select(tables["perturbations"], admissible=True).groupby("response")["a24_frequency"].min()
    change = "A query's response that is left alone and a contribution that changes by as much."
    if len(share) < len(RESPONSES):
        return rates.ruling(change)(UNTESTABLE, NOT_ADMITTED)
    numbers = tuple(
        Number("least share of data sets", share[response], None, CERTAIN, "perturbations", f"response = {response}")
        for response in RESPONSES
    )
    rule = rates.ruling(change, numbers)
    if share[LEFT] >= CERTAIN:
        return rule(HOLDS, "The attack changes the contribution of its prompt by as much as claimed.")
    if share[SHIFTED] >= CERTAIN:
        headline = "The attack changes the contribution as claimed once it also shifts the response of the query."
        return rule(CORRECTED, headline, NUMBERS, WITH_QUERY)
    headline = f"Even with the query's response shifted, the claim fails in {1 - share[SHIFTED]:.0%} of the data sets."
    return rule(FAILS, headline, CONCLUSION)
