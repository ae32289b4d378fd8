"""The answer of the page on NoisyHead's rivals."""

from costofprivacy.experiments.noisyhead.rivals.experiment import DP_RIDGE, LAST
from costofprivacy.experiments.noisyhead.rivals.verdicts import appendix_b_privacy, table_1_order
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, pick
from costofprivacy.settings import Setting


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    table = tables["table-1"]
    cell = {"N": table["N"].max(), "epsilon": table["epsilon"].max(), "setting": Setting.CORRECTED}
    last, ridge = (pick(table, **cell, method=method)["excess_risk"] for method in (LAST, DP_RIDGE))
    found = " ".join(words.headline(judge, tables) for judge in (appendix_b_privacy, table_1_order))
    return f"{found} With the last iterate alone accounted for, NoisyHead has {compact(last / ridge)} times as much."
