"""The opening lines of the page on Theorem 4.1 and its proof, arXiv:2504.16000v2."""

from chapters.noisyhead.cost_of_privacy.verdicts import theorem_41
from companion.judging import words
from companion.judging.prose import along, span
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT


def answer(tables: Tables) -> list[str]:
    """The chapter's answer, and what a reader will see."""
    events = tables["events"].sort_values("L")
    lengths = span(events["L"])
    rows = select(tables["both-sides"], setting="corrected", quantity="total")
    exceeded = (rows["value"] > rows["bound_amended"] + CONSISTENT * rows["standard_error"]).sum()
    corrected = "holds at every size tried" if exceeded == 0 else f"is exceeded at {exceeded} of {len(rows)} sizes"
    return [
        words.headline(theorem_41, tables),
        "The proof assumes that $\\|Z\\|_F$, the norm of a prompt's statistic, vanishes as prompts grow. "
        f"For $L$ of {lengths} its mean {along(events, 'mean_norm')}.",
        f"A corrected bound {corrected}.",
        "We derive the noise part of the cost as a geometric sum, and where descent rests without noise.",
        "A run by hand shows both.",
    ]
