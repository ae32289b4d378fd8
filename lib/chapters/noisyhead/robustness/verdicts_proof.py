"""Verdicts on the proof of Theorem 5.1, (A.20)-(A.24) of arXiv:2504.16000v2."""

import math

import numpy as np
import pandas as pd

from chapters.noisyhead.robustness import limits, rates
from chapters.noisyhead.robustness.theorem import RESPONSES
from chapters.noisyhead.robustness.verdicts_theorem import LEFT, SHIFTED, at_least, many_steps
from companion.judging.findings import Verdict
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT

OPPOSITE = 4.0  # (2R)² over R²: what two points at opposite ends of the ball add to (A.20), whatever the sizes
CERTAIN = 0.99  # share of the trials in which an event of high probability has to occur


@judges("noisyhead/equation-a.20")
def equation_a20(tables: Tables) -> Ruling:
    """Two heads in the ball of radius R differ by at most C²R²/L on a clean prompt."""
    rows = many_steps(tables["heads"]).rename(columns={"displacement": "left", "bound_ball": "right"})
    log = rows["L"] * np.sqrt(rows["bound_theorem"] / rows["N"])  # log(NL/κ), as that bound is N L⁻² log²(NL/κ)
    short = rows.assign(short=rows["L"] <= rows["D"] ** 3 * log)
    return _bounded(short, "heads", select(tables["sizes"], claim=limits.BALL), OPPOSITE)


@judges("noisyhead/equation-a.21")
def equation_a21(tables: Tables) -> Ruling:
    """The clean prompts' Gram matrix has norm at most C²N/L, below Nλ."""
    rows = tables["gram"].rename(columns={"norm": "left", "bound": "right"})
    short = rows.assign(short=rows["right"] * rows["D"] ** 2 >= 2)  # L up to D² log(NL/κ), as C² = 2 log(NL/κ)
    return _bounded(short, "gram", select(tables["sizes"], claim=limits.GRAM), 1.0)


def _bounded(rows: pd.DataFrame, table: str, sizes: pd.DataFrame, constant: float) -> Ruling:
    """Is ``left`` below ``right``, measured and in closed form, along every size, or where ``short`` at least?"""
    powers = rates.fitted(rows, "left", "standard_error", "right")
    if "L" not in set(powers["axis"]):
        return Ruling(Verdict.UNTESTABLE)
    closed = sizes.loc[sizes["length_over"] <= 1, "ratio"].max()
    lost = {*rates.grows(powers)["axis"], *rates.far_lost(sizes)}
    least = rows["left"] - CONSISTENT * rows["standard_error"]
    beyond = closed > constant or (least > constant * rows["right"])[rows["short"]].any()
    printed = not lost and not (least > rows["right"]).any()
    found = (
        *rates.as_numbers(powers, "measured over claimed", table),
        *rates.far_numbers(sizes),
        *numbers(table, {"measured over claimed, at most": ((rows["left"] / rows["right"]).max(), 1.0)}, ""),
        *numbers("sizes", {"closed form over claimed on short prompts, at most": (closed, constant)}, ""),
    )
    verdict = reads(printed, corrected=not lost, narrower=lost == {"L"} and not beyond)
    return Ruling(verdict, found, {"power": rates.far_powers(sizes).get("L", math.nan)})


@judges("noisyhead/equation-a.22")
def equation_a22(tables: Tables) -> Ruling:
    """‖Z_bad‖² is at most of the order α²μ⁴/L, below Nλ."""
    every, sizes = tables["perturbations"], select(tables["sizes"], claim=limits.OUTLIER)
    rows, amended = every[every["admissible"]], every[every["admissible_amended"]]
    powers = rates.fitted(rows, "energy", "energy_error", "energy_claimed", ["perturbation", "response"])
    if powers.empty:
        return Ruling(Verdict.UNTESTABLE)
    distance = ((every["energy"] - every["energy_closed_form"]) / every["energy_error"]).abs().max()
    named = {
        r"energy over $N\lambda$, at most": (rows["energy_over_N_penalty"].max(), 1.0),
        r"energy over $N\lambda$ under the amended (5.2), at most": (amended["energy_over_N_penalty"].max(), 1.0),
        "largest distance from the closed form, in errors": (distance, CONSISTENT),
    }
    claimed = rates.as_numbers(powers, "energy over its claimed order", "perturbations")
    found = (*claimed, *rates.far_numbers(sizes), *numbers("perturbations", named, ""))
    grown, bounded = rates.grows(powers), not rates.far_lost(sizes)
    steep = grown[~grown["perturbation"].isin(rows[rows["mu"] < 1]["perturbation"])]
    verdict = reads(printed=bounded and grown.empty, narrower=bounded and steep.empty)
    return Ruling(verdict, found, {"by": rates.worded(steep) or "a power of its sizes, far out"})


@judges("noisyhead/equation-a.23")
def equation_a23(tables: Tables) -> Ruling:
    """‖Γ*_bad − Γ*‖ is at least ‖y'Z' − yZ‖/(Nλ), in the median over data sets."""
    return at_least(tables["perturbations"].assign(ratio=lambda r: r["a23_ratio"], error=0.0))


@judges("noisyhead/equation-a.24")
def equation_a24(tables: Tables) -> Ruling:
    """‖y'Z' − yZ‖ is at least α²μ², under all of (5.2) or where α is at least C."""
    names = ("perturbations", "long-prompts")
    rows = {name: select(tables[name], admissible=True) for name in names}
    every = pd.concat(rows.values())
    share, large = (
        part.groupby("response")["a24_frequency"].min() for part in (every, every[every["alpha_over_C"] >= 1])
    )
    if min(len(share), len(large)) < len(RESPONSES):
        return Ruling(Verdict.UNTESTABLE)
    found = [
        number
        for name in names
        for response, least in rows[name].groupby("response")["a24_frequency"].min().items()
        for number in numbers(name, {"least share of data sets": (least, CERTAIN)}, f"response = {response}")
    ]
    shifted = {"the same where the shift is at least C": (large[SHIFTED], CERTAIN)}
    found += numbers("perturbations", shifted, f"response = {SHIFTED}")
    verdict = reads(share[LEFT] >= CERTAIN, corrected=share[SHIFTED] >= CERTAIN, narrower=large[SHIFTED] >= CERTAIN)
    return Ruling(verdict, tuple(found))
