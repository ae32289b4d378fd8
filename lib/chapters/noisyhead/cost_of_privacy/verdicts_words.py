"""Verdicts on what arXiv:2504.16000v2 says of Theorem 4.1 in words: section 1.1 and Remark 4.3."""

from chapters.noisyhead.cost_of_privacy.trends import told
from chapters.noisyhead.cost_of_privacy.verdicts import quantity, totals
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER_SIMULATED, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables


@judges("noisyhead/section-1.1-characterization")
def section_11_characterization(tables: Tables) -> Ruling:
    """Is the cost of privacy the bound (4.2) up to a constant, along every size?"""
    trends = totals(tables["both-sides"])
    if None in trends:
        return Ruling(Verdict.UNTESTABLE)
    powers = {g.size: g.power for g in trends if g is not None}
    apart = {g.size for g in trends if g is not None and g.changes}
    found = told(trends, "measured cost over the bound (4.2)", "both-sides", ", printed")
    verdict = reads(printed=not apart, narrower=apart <= {"L", "D"})
    return Ruling(verdict, found, {"length": powers["L"], "dimension": powers["D"]})


@judges("noisyhead/remark-4.3")
def remark_43(tables: Tables) -> Ruling:
    """Does L enter the rate of the noise, with the printed radii and with those that leave the statistics alone?

    The noise is followed in closed form, with Π_R idle: the corrected bound without its descent, which has vanished.
    """
    sides = tables["both-sides"]
    rows = {name: quantity(sides, name, "L", "noise") for name in ("printed", "corrected")}
    if not all(several(part["L"]) for part in rows.values()):
        return Ruling(Verdict.UNTESTABLE)
    printed, corrected = (power(part, "L", "bound_amended", "") for part in rows.values())
    named = {
        "power of L in the noise, printed radii": (printed, LOST_POWER_SIMULATED, "axis = L, printed"),
        "power of L in the noise, radii at every length": (corrected, LOST_POWER_SIMULATED, "axis = L, corrected"),
    }
    depends, still = abs(printed) > LOST_POWER_SIMULATED, abs(corrected) > LOST_POWER_SIMULATED
    verdict = reads(printed=depends and still, narrower=depends)
    return Ruling(verdict, numbers("both-sides", named), {"printed": printed})
