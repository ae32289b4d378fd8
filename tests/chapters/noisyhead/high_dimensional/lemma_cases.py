"""What is tried on the judges of the lemmas in the chapter on high dimension, and how changes are joined."""

from collections.abc import Callable

import pandas as pd

from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Change, Tables, both, change, put

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
A1, A2, A3, TAIL = (f"noisyhead/{name}" for name in ("lemma-a.1", "lemma-a.2", "lemma-a.3", "tail-before-lemma-a.2"))


def broken(name: str, failures: float, grows: str = "N", by: float = 0.0, where: str = "N > 0") -> Change:
    """Data sets that break a lemma with √2, and constants needed that grow with a size."""

    def changed(t: Tables) -> Tables:
        lemmas = t["lemmas"]
        own = lemmas.query(f"lemma == '{name}' and {where}").index
        counted = change(lemmas, "fails_at_root_2", lambda r: (failures * r["data_sets"]).round(), own)
        return {"lemmas": change(counted, "constant", lambda r: 2.0 * r[grows] ** by, own)}

    return changed


def single(by: float) -> Change:
    return lambda t: {"lemma-a3-tail": t["lemma-a3-tail"].assign(constant_A3=lambda r: 2.0 * r["D"] ** by)}


OTHERWISE = "other than in the book"  # the verdict of the book, on other grounds
LEMMA_CASES = [
    *(
        Case(claim, f"no constant, along {size}", broken(name, 1.0, size, 0.11), FAILS)
        for claim, name in ((A1, "A.1"), (A2, "A.2"))
        for size in "NLD"
    ),
    # where Lemma A.3 is judged L = √N: one cannot be told from the other
    *(
        Case(A3, f"no constant, along {size}", broken("A.3", 1.0, size, by), FAILS)
        for size, by in (("N", 0.15), ("L", 0.3), ("D", 0.11))
    ),
    *(
        Case(claim, f"another constant, {size}", broken(name, 1.0, size, 0.01), HOLDS, says=OTHERWISE)
        for claim, name in ((A1, "A.1"), (A2, "A.2"))
        for size in "NLD"
    ),
    Case(A1, "the largest constant is named", broken("A.1", 1.0, "N", 0.11), FAILS),
    Case(A1, "as often as may be", broken("A.1", 0.0325, "N", 1.0), HOLDS, says="91 of 2800"),
    Case(A1, "more often than may be", broken("A.1", 0.035, "N", 1.0), FAILS),
    Case(A1, "more often in one cell alone", broken("A.1", 0.035, "N", 1.0, "N == 900"), FAILS),
    Case(A3, "one constant for all", single(0.09), HOLDS),
    Case(A3, "one that grows", single(0.11), NARROWER, says=r"many prompts.*to 3\.32 at"),
    Case(A3, "broken at many prompts, bounded at one", both(broken("A.3", 1.0, "D", 0.2), single(0.0)), FAILS),
    Case(
        A3,
        "broken at one prompt alone",
        both(broken("A.3", 1.0, "D", 0.2, "N == 1"), single(0.11)),
        NARROWER,
    ),
]


def tails(to: Callable[[pd.DataFrame], object], column: str = "over_printed", where: str = "t > 0") -> Change:
    return put("sum-tail", column, to, where)


BOUNDED = tails(lambda r: 5.0 * r["t"] ** 0.09)
LEMMA_CASES += [
    Case(TAIL, "as printed, up to a constant", BOUNDED, HOLDS),
    *(
        Case(TAIL, f"beyond at {where}", both(BOUNDED, tails(lambda r: r["t"] ** 0.11, where=where)), CORRECTED)
        for where in ("D == 2 and L > 1e9", "D == 100 and L == 1", "D == 5 and L == 1", "D == 20 and L == 30")
    ),
    Case(TAIL, "beyond half the exponent", tails(lambda r: 1.1, "over_halved", "D == 5 and t == 2"), FAILS),
    Case(TAIL, "just half the exponent", tails(lambda r: 1.0, "over_halved", "D == 5 and t == 2"), CORRECTED),
]
