"""Verdict on what Section 5 of arXiv:2505.16329v2 says of Section 4: that it is precise enough."""

import pandas as pd

from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from companion.judging.vocabulary import CONSISTENT

NOTICED = 0.5  # relative gap between a simulated and the predicted risk that has to be noticed


@judges("dpgd/section-5-precise")
def section_5_precise(tables: Tables) -> Ruling:
    """Does the predicted risk agree with the simulated one, in proportion, at every size and for every schedule?

    The relative standard error is pooled over all points, because each has few trials.
    """
    rows = pd.concat([tables["figure-7"], tables["optimum"]]).dropna(subset="risk_mean")
    gap = (rows["risk_mean"] / rows["ode_risk"] - 1).abs().max(skipna=False)
    error = ((rows["risk_sd"] / rows["ode_risk"]) ** 2 / rows["trials"]).mean(skipna=False) ** 0.5
    span = rows["ode_risk"].max() / rows["ode_risk"].min()
    largest = "largest relative gap of simulated and predicted risk"
    found = {largest: {"value": gap, "error": error, "against": 0.0}, "largest predicted risk over the least": (span,)}
    verdict = reads(printed=gap <= CONSISTENT * error, decided=CONSISTENT * error <= NOTICED)
    return Ruling(verdict, numbers("figure-7", found, "all sizes and schedules"), {"gap": gap, "span": span})
