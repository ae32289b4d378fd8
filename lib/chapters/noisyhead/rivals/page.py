"""The lines that open the page on NoisyHead's rivals."""

from chapters.noisyhead.rivals.experiment import DP_RIDGE, LAST
from chapters.noisyhead.rivals.verdicts import appendix_b_privacy, table_1_order
from companion.judging import words
from companion.judging.prose import compact
from companion.judging.tables import Tables, pick
from costofprivacy.settings import Setting


def answer(tables: Tables) -> list[str]:
    """What the printed noise spends, which method wins, and what the page derives, runs and judges."""
    table = tables["table-1"]
    cell = {"N": table["N"].max(), "epsilon": table["epsilon"].max(), "setting": Setting.CORRECTED}
    last, ridge = (pick(table, **cell, method=method)["excess_risk"] for method in (LAST, DP_RIDGE))
    return [
        words.headline(appendix_b_privacy, tables),
        words.headline(table_1_order, tables),
        f"If only its last iterate is accounted for, NoisyHead has {compact(last / ridge)} times as much.",
        "We derive how far one prompt moves the ridge solution, and so the noise that it needs, and run it by hand.",
        "Then we audit releases, search for the settings of Table 1, and compare scaling laws.",
    ]
