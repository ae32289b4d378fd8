"""The opening lines of the page on Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2."""

from chapters.noisyhead.mechanism import verdicts
from companion.judging.prose import percent
from companion.judging.tables import Tables, pick
from companion.judging.words import headline
from costofprivacy.settings import Setting


def answer(tables: Tables) -> list[str]:
    """The chapter's answer, what privacy could cost, and what a reader will see."""
    sensitivity = tables["sensitivity"]
    row = pick(sensitivity, N=sensitivity["N"].max(), setting=Setting.PRINTED)
    return [
        headline(verdicts.theorem_32, tables),
        headline(verdicts.section_12_accounting, tables),
        f"We derive the exact sensitivity of one step. At $N = {row['N']:.0f}$, in the printed setting, it is "
        f"{percent(row['exact'] / row['bound'])} of the bound (A.1).",
        "A search by hand finds the same sensitivity, and shows which clipping the bound needs.",
        "Without noise, the update leads to the ridge solution for $2\\lambda$ instead of $\\lambda$.",
    ]
