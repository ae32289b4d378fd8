"""The answer of the page on early stopping."""

from chapters.noisyhead.early_stopping import verdicts
from companion.judging import words
from companion.judging.prose import compared, percent
from companion.judging.tables import Tables, pick, select
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.settings import Setting

RIVALS = ("worse than", "no better than", "better than")


def answer(tables: Tables) -> list[str]:
    """Where the fall comes from, what is reproduced, whether to stop, and what the reader will see."""
    theirs = select(tables["comparison"], setting=Setting.PUBLISHED)
    met = int((theirs["deviation"].abs() <= CONSISTENT).sum())
    errors = select(tables["test-error"], setting=Setting.PUBLISHED, method="noisyhead")
    best = errors.loc[errors["test_error"].idxmin()]
    word = compared(best["response_variance"], best["test_error"], RIVALS, best["standard_error"])
    forever = pick(tables["last-iterate"], start="random")["for_ever_over_least"]
    return [
        words.headline(verdicts.figure_3, tables),
        f"We reproduce {met} of {len(theirs)} published numbers. At its best step the head is {word} always "
        "predicting 0.",
        f"If only the last iterate is released, never stopping adds {percent(forever - 1)} to the least excess risk.",
        "We derive the best number of steps from the balance of descent and noise.",
        "We run Figure 3 by hand, and judge Proposition 4.1 and the remarks on early stopping.",
    ]
