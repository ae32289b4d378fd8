"""Verdicts on Theorem 4.2(ii) and on (A.18) and (A.19), the steps of its proof."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from chapters.noisyhead.high_dimensional import axes
from chapters.noisyhead.high_dimensional.sides import HALVED, PRINTED
from companion.judging import growth
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED
from companion.judging.judges import Ruling, judges, reads
from companion.judging.tables import Tables, pick, select

COMPARABLE = 1.0  # G²/λ up to which η₀λ is of the order of one


class Growing(NamedTuple):
    """An axis, and the power of its size by which the left side outgrows the right."""

    axis: str
    power: float


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


class Sides(NamedTuple):
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
    def broken(self) -> bool:
        """Whether a power is lost where the theorem should hold with λ/2 in the update."""
        return self.path > LOST_POWER_SIMULATED or self.halved.power > LOST_POWER or self.at_rest[HALVED] > 1

    @property
    def slips(self) -> bool:
        """Whether the update needs λ/2."""
        return self.printed.power > LOST_POWER or self.at_rest[PRINTED] > 1 or self.floors["minimiser"].stays

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All of it as data."""
        return (
            Number("power of N in the simulated cost over (4.4)", self.path, None, LOST_POWER_SIMULATED, "both-sides"),
            lost("power of the cost over (4.4) with half the penalty, at most", self.halved, "regime-axes"),
            lost("the same with the penalty as printed, at most", self.printed, "regime-axes"),
            lost("the same as the penalty tends to 0, which Algorithm 1 excludes", self.small, "regime-axes"),
            *(
                Number("noiseless cost over (4.4) at the largest r", value, None, 1.0, "progress", f"update = {update}")
                for update, value in self.at_rest.items()
            ),
            *(
                Number("what no step removes over (4.4), longest prompts", ratio, None, 1.0, "narrow", f"part = {part}")
                for part, (ratio, _) in self.floors.items()
            ),
        )


def largest_ratios(sides: pd.DataFrame) -> pd.DataFrame:
    """By N, the largest left over right of (4.4), constants one, of all r, λ and methods."""
    ratio = (sides["excess_risk"] / sides["bound"]).groupby(sides["N"]).max()
    return pd.DataFrame({"N": ratio.index, "left": ratio.to_numpy(), "right": 1.0})


def _evidence(tables: Tables) -> Sides:
    regimes = tables["regime-axes"]
    inside = comparable(regimes)
    ends = {str(update): pick(rows.nlargest(1, "r")) for update, rows in tables["progress"].groupby("update")}
    return Sides(
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
def theorem_42ii(tables: Tables) -> Ruling:
    """(4.4) at D = L = √N in simulation; along each size in closed form; and where prompts are long.

    That it is lost as λ tends to 0 is no fault of the theorem: Algorithm 1 asks for λ ≥ c > 0.
    """
    found = _evidence(tables)
    long = found.floors["projection"]
    mended = not found.broken and not long.stays
    verdict = reads(
        printed=mended and not found.slips,
        corrected=mended,
        narrower=not found.broken,
        decided=not np.isnan(found.path),
    )
    grounds = "both conditions" if long.stays and found.slips else ""
    return Ruling(verdict, found.numbers, grounds=grounds)


@judges("noisyhead/equation-a.18")
def equation_a18(tables: Tables) -> Ruling:
    """The descent part of (4.4)."""
    return _step(tables, axes.DESCENT_STEP, 0)


@judges("noisyhead/equation-a.19")
def equation_a19(tables: Tables) -> Ruling:
    """The noise part of (4.4); its last line has ν³ where the theorem has ν⁵."""
    return _step(tables, axes.NOISE_STEP, 2)


def _step(tables: Tables, step: str, lost_variances: int) -> Ruling:
    """Whether left/right of a step of the proof is bounded along each size, as printed or with ν to a higher power.

    A λ that tends to 0 does not count: Algorithm 1 asks for λ ≥ c > 0.
    """
    rows, row = select(tables["proof-steps"], step=step), f"step = {step}, "
    mended = rows.assign(right=rows["right"] * rows["response_variance"] ** lost_variances)
    inside = comparable(rows)
    printed, kept, small = (grows_fastest(r) for r in (rows[inside], mended[inside], mended[~inside]))
    found = (
        lost("power of left over right, at most", printed, "proof-steps", row),
        *[lost(f"the same with ν to the power {3 + lost_variances}", kept, "proof-steps", row)] * (lost_variances > 0),
        lost("the same as the penalty tends to 0, which Algorithm 1 excludes", small, "proof-steps", row),
    )
    bounded = kept.power <= LOST_POWER
    verdict = reads(printed=bounded and not printed.power > LOST_POWER, corrected=bounded, decided=kept != NOWHERE)
    return Ruling(verdict, found)
