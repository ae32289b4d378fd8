"""What is tried on the judges of the chapter on rivals of DP-GD."""

from typing import Any

import numpy as np

from chapters.privacy.rivals import measure
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, both, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "privacy/rivals"
LINEAR, CLIP, PERTURB, STATISTICS = (
    f"dpgd/section-{name}"
    for name in ("1-linear-samples", "1-significant-clipping", "1-perturbation", "2-sufficient-statistics")
)


def needs(method: str, multiple: float, power: float) -> Any:
    """Records of a method: a multiple of a power of d."""
    return put("thresholds", "log_records", lambda r: np.log(multiple * r["d"] ** power), method=method)


def left(method: str, to: Any) -> Any:
    """The share of the risk that is left by a method at d/n fixed."""
    return put("proportional", "share", to, method=method)


def clipping(**columns: Any) -> Any:
    return both(*(put("clipping", name, to) for name, to in columns.items()))


CASES = [
    Case(LINEAR, "as AdaSSP needs", needs(measure.FULL, 3.0, 1.5), FAILS),
    Case(LINEAR, "a logarithm",
         put("thresholds", "log_records", lambda r: np.log(r["d"] * (2 + 0.3 * np.log(r["d"])))),
         HOLDS, silent="halves"),
    Case(STATISTICS, "in proportion to d", needs(measure.ADASSP, 30.0, 1.0), FAILS),
    Case(STATISTICS, "the claimed power", needs(measure.ADASSP, 5.0, 1.5), HOLDS),
    Case(STATISTICS, "more still", needs(measure.ADASSP, 1.0, 2.0), HOLDS, says="largest"),
    Case(PERTURB, "output perturbation learns nothing", left(measure.OUTPUT, lambda r: 1.0), FAILS),
    Case(PERTURB, "objective perturbation learns less and less",
         left(measure.OBJECTIVE, lambda r: 0.001 * r["d"]), FAILS),
    Case(PERTURB, "both learn more", left(measure.OUTPUT, lambda r: 0.5 * r["share"]), HOLDS),
    Case(CLIP, "no difference", clipping(share=lambda r: 0.01), FAILS),
    Case(CLIP, "open is best", clipping(share=lambda r: 0.01 / r["clip"]), FAILS),
    Case(CLIP, "a harder clip is best still", clipping(share=lambda r: 0.1 * r["clip"]), HOLDS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
