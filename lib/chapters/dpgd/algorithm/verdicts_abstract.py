"""Verdict on the rate in the abstract of arXiv:2505.16329v2, which it calls non-asymptotic."""

import math

from chapters.dpgd.algorithm.rates import ALGORITHMS
from chapters.dpgd.algorithm.verdicts_rates import LEVEL
from companion import _fits
from companion.judging.growth import several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT


@judges("dpgd/abstract-non-asymptotic")
def abstract_non_asymptotic(tables: Tables) -> Ruling:
    """At fixed γ and ρ: does the risk stay a constant multiple of γ + γ²/ρ² from small n and d on?"""
    rows = select(tables["rates"], algorithm=ALGORITHMS[0], axis="n")
    fits = {
        f"power of n in the risk over γ + γ²/ρ², {name}": _fits.power_law(
            part["n"], part["excess_risk"] / part["rate_1.4"], part["standard_error"] / part["rate_1.4"]
        )
        for name, part in rows.groupby("spectrum", sort=False)
        if several(part["n"])
    }
    found = {name: {"value": power, "error": error, "against": LEVEL} for name, (power, error) in fits.items()}
    found["largest multiple of γ + γ²/ρ²"] = {"value": (rows["excess_risk"] / rows["rate_1.4"]).max()}
    decided = bool(fits) and not any(math.isnan(power + error) for power, error in fits.values())
    level = all(power <= LEVEL + CONSISTENT * error for power, error in fits.values())
    verdict = reads(printed=level, decided=decided)
    return Ruling(verdict, numbers("rates", found, "c constant, axis = n"), {"smallest": rows["d"].min()})
