"""The answer of the page on early stopping."""

from costofprivacy.experiments.noisyhead.early_stopping import verdicts
from costofprivacy.judging import words
from costofprivacy.judging.prose import compared, percent
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.settings import Setting

RIVALS = ("worse than", "no better than", "better than")


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    theirs = select(tables["comparison"], setting=Setting.PUBLISHED)
    met = int((theirs["deviation"].abs() <= CONSISTENT).sum())
    errors = select(tables["test-error"], setting=Setting.PUBLISHED, method="noisyhead")
    best = errors.loc[errors["test_error"].idxmin()]
    word = compared(best["response_variance"], best["test_error"], RIVALS, best["standard_error"])
    forever = pick(tables["last-iterate"], start="random")["for_ever_over_least"]
    return (
        f"{words.headline(verdicts.figure_3, tables)} We reproduce {met} of {len(theirs)} published numbers. "
        f"At its best step the head is {word} always predicting 0. If only the last iterate is released, never "
        f"stopping adds {percent(forever - 1)} to the least excess risk."
    )
