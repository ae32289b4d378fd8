"""What is tried on the judges of the chapter on 20 Newsgroups."""

from typing import Any

import pandas as pd

from chapters.noisyhead.newsgroups.measure import BEST, PRIVATE
from companion.judging.findings import Verdict
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY
from tests.chapters.machinery import Case, Tables, both, change, committed, judge, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/newsgroups"
FIGURE = "noisyhead/figure-6"
UTILITY = "noisyhead/section-1.1-utility"
DATA, DESCENT, CAUSE, STOP, AGREE = (
    f"noisyhead/section-7-{name}" for name in ("data", "descent", "accumulation", "early-stopping", "agreement")
)


def shapes(query: str = "last > 0", **to: Any) -> Any:
    """Columns of the shapes set to numbers, or to what a function makes of their rows, where a query says so."""
    return both(*(put("shapes", column, value, query) for column, value in to.items()))


def first(**to: Any) -> Any:
    """Columns of the first row of the shapes set to numbers."""
    return lambda t: {"shapes": change(t["shapes"], next(iter(to)), lambda r: next(iter(to.values())), [0])}


TURN = {
    "second": lambda r: r["first"],
    "last": lambda r: 9 * r["least"],
    "rise": 9.0,
    "descent_first": 1.0,
    "descent_last": 0.5,
    "descent_rise": 0.0,
}
CALM = {"descent_first": 1.0, "descent_last": 0.5, "descent_rise": 0.0}
COSTLY = {"last": lambda r: 3 * r["least"], "rise": 8.0}


def gains(value: float, rows: str, error: float = 0.01) -> Any:
    """What private heads gain, with a small error."""

    def make(t: Tables) -> Tables:
        table = t["test-error"]
        private = table["method"] == f"{PRIVATE}, {BEST}"
        where = private if rows == "all" else private & (private.cumsum() == 3)
        gained = change(table, "gain", lambda r: value, where)
        return {"test-error": change(gained, "gain_error", lambda r: error, where)}

    return make


def parts(step: Any, added: Any) -> Any:
    own = {"account": ALGORITHM}
    return both(put("noise-parts", "step_variance", step, **own), put("noise-parts", "accumulated", added, **own))


def stood_in(t: Tables) -> Tables:
    return {"data": t["data"].assign(name="made up", instead_of="20 Newsgroups")}


def available(number: int) -> Any:
    return lambda t: {"data": t["data"].assign(available=number)}


def no_noise_seen(t: Tables) -> Tables:
    bound = t["bound"]
    return {"bound": pd.DataFrame(bound).assign(bound_best_T=bound.loc[bound["excess_risk"].idxmin(), "T"])}


CASES = [
    Case(FIGURE, "every setting turns", shapes(**TURN), HOLDS),
    Case(FIGURE, "the settings of Section 6.2 do not turn", first(rise=0.0), NARROWER),
    Case(FIGURE, "no risk rises", shapes(rise=0.0), FAILS),
    Case(FIGURE, "descent settles nowhere", shapes(descent_rise=9.0), FAILS),
    Case(FIGURE, "other data", stood_in, UNTESTABLE),
    Case(STOP, "no rise as Algorithm 1 counts", shapes("account == 'Algorithm 1'", rise=1.0), FAILS),
    Case(STOP, "a rise however it is counted", shapes(**COSTLY), HOLDS),
    Case(STOP, "other data", stood_in, UNTESTABLE),
    Case(DESCENT, "it settles everywhere", shapes(**CALM), HOLDS),
    Case(DESCENT, "it settles nowhere", shapes(descent_last=3e9), FAILS),
    Case(DESCENT, "it does not settle with the settings of Section 6.2", first(descent_last=3e9), NARROWER),
    Case(CAUSE, "every step has the same noise", parts(lambda r: 1.0, lambda r: r["T"]), HOLDS),
    Case(CAUSE, "steps do not add up", parts(lambda r: r["T"], lambda r: 1 / r["T"]), FAILS),
    Case(AGREE, "the bound turns where the risk does", no_noise_seen, HOLDS),
    Case(AGREE, "no risk rises", shapes(rise=0.0), NARROWER),
    Case(AGREE, "a risk above the bound", put("bound", "excess_risk", 1e9), FAILS),
    Case(DATA, "as many as it says", available(50_000), HOLDS),
    Case(DATA, "enough, but not as many", available(40_000), CORRECTED, says="other than in the book"),
    Case(UTILITY, "every private head predicts", gains(0.3, "all"), HOLDS),
    Case(UTILITY, "with our radii no more", put("own-radii", "gain", 0.005), FAILS),
    Case(UTILITY, "with our radii nothing that is sure", put("own-radii", "gain_error", 0.02), FAILS),
    Case(UTILITY, "with our radii at one other budget", put("own-radii", "gain", 0.0, "epsilon > 0.5"), FAILS),
    Case(UTILITY, "every private head predicts next to nothing", gains(0.005, "all", 0.001), NARROWER),
    Case(UTILITY, "one private head predicts", gains(0.3, "one"), NARROWER),
]
test_what_the_book_found, test_a_judge_follows_its_tables, test_every_judge_acquits_and_convicts = trials(
    CHAPTER, CASES
)


def test_an_exact_count_that_is_least_before_its_last_step_is_not_what_the_book_found() -> None:
    t = committed(CHAPTER)
    turned = shapes(f"account == '{EVERY}'", last=lambda r: 1.05 * r["least"])(t)
    found = judge(CHAPTER, STOP, {**t, **turned})
    assert found.verdict == NARROWER
    assert "other than in the book" in found.headline


def test_a_bound_below_the_risk_of_predicting_the_mean_is_not_vacuous() -> None:
    t = committed(CHAPTER)
    assert judge(CHAPTER, AGREE, t).vacuous
    smaller = {name: lambda r, name=name: 1e-12 * r[name] for name in ("descent_42", "noise_42", "excess_risk")}
    bound = t["bound"]
    for name, to in smaller.items():
        bound = change(bound, name, to)
    assert not judge(CHAPTER, AGREE, {**t, "bound": bound}).vacuous
