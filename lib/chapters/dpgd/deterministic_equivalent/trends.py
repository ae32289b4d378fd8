"""How measured deviations fall with the number of samples, beside the bound log²n/√n, for judges and pages.

A bound with logarithms has no power: between 4320 and 12960 samples log²n/√n falls like n^(−0.28). We compare the
exponent of a deviation with that of the bound between the same two sizes. Where noise hides the exponent, we compare
the sizes themselves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, reads
from companion.judging.vocabulary import CONSISTENT

RESOLVED = 0.05  # an exponent with a larger error says nothing: it cannot even distinguish the bound from a constant
STEEP = -0.2  # where the bound does not fall like this power at least, it is too near to a constant
ALLOWED = 0.1  # fraction of the bound that the error of a deviation may make up
LEVEL = 1.2  # what stays below this multiple of what it was has not grown; sizes here differ by 10 to 30 times
SMALL = Ruling(Verdict.UNTESTABLE)  # too few sizes, or too small ones, to show a trend
BY_SIZE = "by size"  # the grounds where no power of n is resolved


@dataclass(frozen=True)
class Fall:
    """What one deviation does from the last but one to the last size.

    Args:
        name: of the deviation. table: where it stands. exponent: of n. error: its standard error.
        bound: the exponent of the bound between the same sizes. share: the deviation over the bound at the last size.
        share_error: its standard error. rise: how many standard errors it is above the largest share before.
    """

    name: str
    table: str
    exponent: float
    error: float
    bound: float
    share: float
    share_error: float
    rise: float

    @property
    def resolved(self) -> bool:
        """Whether the exponent says anything."""
        return self.error <= RESOLVED

    @property
    def excess(self) -> float:
        """How many standard errors the deviation is above what the bound allows."""
        return (self.exponent - self.bound) / max(self.error, 1e-12) if self.resolved else self.rise

    @property
    def contradicted(self) -> bool:
        """Whether it grows against the bound beyond doubt."""
        return self.excess > CONSISTENT

    @property
    def number(self) -> Number:
        """The exponent, or the share of the bound where there is none, as data."""
        if self.resolved:
            return Number(f"power of n: {self.name}", self.exponent, self.error, self.bound, self.table, "last two n")
        return Number(f"over log²n/√n: {self.name}", self.share, self.share_error, 1.0, self.table, "last n")


def fall(name: str, table: str, rows: pd.DataFrame) -> Fall:
    """The fall of the deviation in ``rows``: n, value, bound, and standard_error unless it has none."""
    ordered = rows.sort_values("n")
    value, bound = ordered["value"].abs().to_numpy(dtype=float), ordered["bound"].to_numpy(dtype=float)
    error = ordered.get("standard_error", 0 * ordered["n"]).to_numpy(dtype=float)
    width = math.log(ordered["n"].iloc[-1] / ordered["n"].iloc[-2])
    share, share_error = value / bound, error / bound
    before = share[:-1].argmax()
    difference, combined = share[-1] - share[before], math.hypot(share_error[-1], share_error[before])
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.diff(np.log(np.stack([value, bound]))[:, -2:])[:, 0] / width
        relative = np.hypot(*(error / value)[-2:]) / width
    return Fall(
        name,
        table,
        float(exponents[0]),
        float(np.nan_to_num(relative, nan=math.inf)),
        float(exponents[1]),
        float(share[-1]),
        float(share_error[-1]),
        difference / max(combined, 1e-300),  # without chance any rise is beyond doubt
    )


def too_small(rows: pd.DataFrame, fewest: int = 2) -> bool:
    """Whether the sizes are too few or too small for log²n/√n to have fallen between the last two of them."""
    ends = rows.drop_duplicates("n").sort_values("n").tail(2)
    if rows["n"].nunique() < fewest:
        return True
    (first, last), (low, high) = ends["n"], ends["bound"]
    return bool(math.log(high / low) / math.log(last / first) > STEEP)


def judge(falls: Sequence[Fall]) -> Ruling:
    """Whether deviations fall as fast as the bound: what is found on a claim that they do.

    It quotes the slowest power of n beside that of its bound; where none is resolved, the largest percentage of the
    bound that is left. Nothing is decided where there is no deviation, or one that is no number.
    """
    if not falls or any(math.isnan(fall.excess) for fall in falls):
        return SMALL
    contradicted = max(falls, key=lambda fall: fall.excess).contradicted
    noisy = max(fall.share_error for fall in falls) > ALLOWED
    verdict = reads(printed=not contradicted, decided=contradicted or not noisy)
    found, resolved = tuple(fall.number for fall in falls), [fall for fall in falls if fall.resolved]
    if not resolved:
        return Ruling(verdict, found, {"percentage": 100 * max(fall.share for fall in falls)}, BY_SIZE)
    slowest = max(resolved, key=lambda fall: fall.exponent)
    return Ruling(verdict, found, {"power": slowest.exponent, "bound": slowest.bound})


def as_printed_or_corrected(printed: Fall, corrected: Fall) -> Verdict:
    """The verdict on a claim that a deviation falls as fast as the bound, as printed or once a slip is corrected."""
    decided = printed.resolved and (corrected.resolved or not printed.contradicted)
    return reads(printed=not printed.contradicted, corrected=not corrected.contradicted, decided=decided)


def power(exponent: float) -> str:
    """A power of n for a sentence."""
    return f"$n^{{{exponent:.2f}}}$"
