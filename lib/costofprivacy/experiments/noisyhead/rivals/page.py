"""The answer of the page on NoisyHead's rivals."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.rivals.experiment import DP_RIDGE, LAST, NOISYHEAD
from costofprivacy.experiments.noisyhead.rivals.verdicts import appendix_b_privacy, table_1
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, pick
from costofprivacy.settings import Setting


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    table = tables["table-1"]
    cell = {"N": table["N"].max(), "epsilon": table["epsilon"].max(), "setting": Setting.CORRECTED}
    risk = {method: pick(table, **cell, method=method)["excess_risk"] for method in (NOISYHEAD, LAST, DP_RIDGE)}
    every, last = (compact(risk[method] / risk[DP_RIDGE]) for method in (NOISYHEAD, LAST))
    found = " ".join(words.headline(judge, tables) for judge in (appendix_b_privacy, table_1))
    return (
        f"{found} Rightly calibrated, NoisyHead has {every} times its excess risk, and {last} times if only the "
        "last iterate is released."
    )
