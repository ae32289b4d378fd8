"""Verdicts on Theorem 4.2(ii) and on (A.18) and (A.19), the steps of its proof."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.high_dimensional import axes
from costofprivacy.experiments.noisyhead.high_dimensional.sides import HALVED, PRINTED
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, LOST_POWER_SIMULATED
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, pick, select

COMPARABLE = 1.0  # G²/λ up to which η₀λ is of the order of one
SIZES = {
    "N": "the number of prompts",
    "L": "the length of prompts",
    "r": "the progress of descent",
    axes.VARIANCE: "the variance of the responses",
    axes.PENALTY: "the penalty",
    axes.SMALL_PENALTY: "the inverse penalty",
}
HALVE = r"$(1 - \lambda\eta_0)\Gamma^t$ in the update for $(1 - 2\lambda\eta_0)\Gamma^t$"
SHORT = r"$L \lesssim D\log(NL)$ and $\log(NL) \lesssim D$, which excludes prompts much longer than the dimension"
PENALISED = r"$\lambda \gtrsim G^2$, which excludes penalties below $\mathcal{C}^2/L$"


class Growing(NamedTuple):
    """An axis, and the power of its size by which the left side outgrows the right."""

    axis: str
    power: float

    @property
    def size(self) -> str:
        """What grows along the axis, in words."""
        return SIZES.get(self.axis, "the dimension")


NOWHERE = Growing("", -np.inf)


def grows_fastest(rows: pd.DataFrame, left: str = "left", right: str = "right") -> Growing:
    """The axis along which left/right grows fastest; one of a single size is no axis."""
    found = [Growing(str(axis), growth.power(own, "size", left, right)) for axis, own in rows.groupby("axis")]
    return max((g for g in found if not np.isnan(g.power)), key=lambda g: g.power, default=NOWHERE)


def lost(name: str, worst: Growing, table: str, row: str = "") -> Number:
    """The largest power by which a left side outgrows its right side."""
    return Number(name, worst.power, None, LOST_POWER, table, f"{row}axis = {worst.axis}")


def comparable(rows: pd.DataFrame) -> pd.Series:
    """Where λ is not below the order of G², so that η₀λ is of the order of one."""
    return rows["feature_over_penalty"] <= COMPARABLE


class Floor(NamedTuple):
    """What no step removes at the longest prompts, over (4.4); whether that is beyond doubt and grows like a power."""

    ratio: float
    stays: bool


def floor(rows: pd.DataFrame) -> Floor:
    """One part of the rows on long prompts."""
    last = rows.nlargest(1, "N").iloc[0]
    return Floor(last["floor"] / last["bound_44"], growth.stays(rows, "N", "floor", "bound_44", "standard_error"))


class Evidence(NamedTuple):
    """What the tables say of Theorem 4.2(ii).

    Args:
        path: power of N in measured over claimed, simulated at D = L = √N.
        printed, halved: where left over right grows fastest, λ ≳ G², with λ and with λ/2 in the update.
        small: the same, with λ/2, where λ is smaller. at_rest: left over right at ε = ∞ and the largest r, by update.
        floors: what no step removes, by part, for long prompts.
    """

    path: float
    printed: Growing
    halved: Growing
    small: Growing
    at_rest: dict[str, float]
    floors: dict[str, Floor]

    @property
    def broken(self) -> str:
        """The size of which a power is lost where the theorem should hold with λ/2 in the update; or empty."""
        if self.path > LOST_POWER_SIMULATED:
            return SIZES["N"]
        if self.halved.power > LOST_POWER:
            return self.halved.size
        return SIZES["r"] if self.at_rest[HALVED] > 1 else ""

    @property
    def slips(self) -> bool:
        """Whether the update needs λ/2."""
        return self.printed.power > LOST_POWER or self.at_rest[PRINTED] > 1 or self.floors["minimiser"].stays

    @property
    def conditions(self) -> list[str]:
        """What has to be asked for besides."""
        long, small = self.floors["projection"].stays, self.small.power > LOST_POWER
        return [SHORT] * long + [PENALISED] * small

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All of it as data."""
        return (
            Number("power of N of measured over claimed", self.path, None, LOST_POWER_SIMULATED, "both-sides"),
            lost("power of left over right with half the penalty, at most", self.halved, "regime-axes"),
            lost("the same with the penalty as printed", self.printed, "regime-axes"),
            lost("the same where statistics outgrow the penalty", self.small, "regime-axes"),
            *(
                Number("left over right at the largest r", value, None, 1.0, "progress", f"update = {update}")
                for update, value in self.at_rest.items()
            ),
            *(
                Number(
                    "floor over the bound at the longest prompts", value.ratio, None, 1.0, "narrow", f"part = {part}"
                )
                for part, value in self.floors.items()
            ),
        )


def largest_ratios(sides: pd.DataFrame) -> pd.DataFrame:
    """By N, the largest left over right of (4.4), constants one, of all r, λ and methods."""
    ratio = (sides["excess_risk"] / sides["bound"]).groupby(sides["N"]).max()
    return pd.DataFrame({"N": ratio.index, "left": ratio.to_numpy(), "right": 1.0})


def _evidence(tables: Tables) -> Evidence:
    regimes = tables["regime-axes"]
    inside = comparable(regimes)
    ends = {str(update): pick(rows.nlargest(1, "r")) for update, rows in tables["progress"].groupby("update")}
    return Evidence(
        path=growth.power(largest_ratios(tables["both-sides"]), "N"),
        printed=_over_budgets(regimes[inside], "risk_printed"),
        halved=_over_budgets(regimes[inside], "risk_halved"),
        small=_over_budgets(regimes[~inside], "risk_halved"),
        at_rest={update: float(row["excess_risk"] / row["bound"]) for update, row in ends.items()},
        floors={str(part): floor(rows) for part, rows in tables["narrow"].groupby("part")},
    )


def _over_budgets(rows: pd.DataFrame, left: str) -> Growing:
    """The axis along which left over (4.4) grows fastest, at the fixed ε or at ε = T."""
    found = [grows_fastest(own, left, "bound_44") for _, own in rows.groupby("budget")]
    return max(found, key=lambda worst: worst.power, default=NOWHERE)


@judges("noisyhead/theorem-4.2ii")
def theorem_42ii(tables: Tables) -> Finding:
    """(4.4) at D = L = √N in simulation; along each size in closed form; and where prompts are long or λ is small."""
    found = _evidence(tables)
    numbers, change = found.numbers, r"A bias of $\Pi_G$ that stays below a multiple of the bound for long prompts."
    if np.isnan(found.path):
        return Finding(Verdict.UNTESTABLE, "A single number of prompts shows no growth.", numbers, would_change=change)
    if found.broken:
        headline = f"The high-dimensional bound is exceeded by a power of {found.broken}, whatever its constant."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if found.conditions:
        correction = f"For {', and '.join(found.conditions)}" + (f"; with {HALVE}." if found.slips else ".")
        return Finding(Verdict.NARROWER, _narrowed(found), numbers, Consequence.NUMBERS, correction, change)
    if found.slips:
        headline = (
            "The high-dimensional bound holds with half the penalty in the update; as printed descent rests above it."
        )
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, f"{HALVE}.", change)
    headline = "The high-dimensional bound exceeds the cost at every size and number of steps, up to one constant."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _narrowed(found: Evidence) -> str:
    projection = found.floors["projection"]
    if not projection.stays:
        return "The high-dimensional bound holds unless the statistics outgrow the penalty."
    return (
        "The high-dimensional bound holds while prompts are about as long as the dimension; with longer ones the "
        f"projection leaves {compact(projection.ratio)} times as much."
    )


@judges("noisyhead/equation-a.18")
def equation_a18(tables: Tables) -> Finding:
    """The descent part of (4.4)."""
    return _step(tables, axes.DESCENT_STEP, "descent part of the high-dimensional bound", 0)


@judges("noisyhead/equation-a.19")
def equation_a19(tables: Tables) -> Finding:
    """The noise part of (4.4); the proof's last line has ν³ where the theorem has ν⁵."""
    return _step(tables, axes.NOISE_STEP, "noise part of the high-dimensional bound", 2)


def _step(tables: Tables, step: str, part: str, lost_variances: int) -> Finding:
    """Whether left/right of a step of the proof is bounded along each size, as printed or with ν to a higher power."""
    rows, row = select(tables["proof-steps"], step=step), f"step = {step}, "
    mended = rows.assign(right=rows["right"] * rows["response_variance"] ** lost_variances)
    inside = comparable(rows)
    printed, kept, small = (grows_fastest(r) for r in (rows[inside], mended[inside], mended[~inside]))
    numbers = (
        lost("power of left over right, at most", printed, "proof-steps", row),
        *[lost(f"the same with ν to the power {3 + lost_variances}", kept, "proof-steps", row)] * (lost_variances > 0),
        lost("the same where statistics outgrow the penalty", small, "proof-steps", row),
    )
    change, slip = "Another power between the two sides along one of the sizes.", printed.power > LOST_POWER
    mend = rf"$\nu^{{{3 + lost_variances}}}$ for $\nu^3$"
    if kept == NOWHERE:
        return Finding(Verdict.UNTESTABLE, "A single size shows no power.", numbers, would_change=change)
    if kept.power > LOST_POWER:
        headline = f"The {part} exceeds its stated order by a power of {kept.size}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    if small.power > LOST_POWER:
        headline = f"The {part} is of the stated order unless the statistics outgrow the penalty."
        correction = f"For {PENALISED}" + (
            rf"; $1/\lambda^2$ for $1/\lambda$ in its first line, {mend}." if slip else "."
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)
    if slip:
        headline = f"The {part} is of the stated order with more powers of the response's variance."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, f"{mend}.", change)
    return Finding(Verdict.HOLDS, f"The {part} is of the stated order along every size.", numbers, would_change=change)
