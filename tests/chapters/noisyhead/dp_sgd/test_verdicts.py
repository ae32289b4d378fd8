"""What is tried on the judges of the chapter on DP-SGD."""

from typing import Any

from chapters.noisyhead.dp_sgd.measure import ADD, ALGORITHM, DP_SGD, LOSS, NOISYHEAD, PAIR, PROMPT, REPLACE, UPDATE
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, both, change, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/dp-sgd"
FIGURE, PARITY, FAIR, NAIVE = (
    f"noisyhead/{name}" for name in ("figure-5", "section-6.4-parity", "section-6.4-fair", "section-1.1-dp-sgd")
)
ANALOGOUS = "noisyhead/section-1.2-dp-sgd"


def like_dp_sgd(t: Tables, head: str, sgd: str, gradients: str, factor: float) -> Tables:
    """NoisyHead's risk by an accounting set to a multiple of DP-SGD's, at every size and setting."""
    figure = t["figure-5"]
    place = ["setting", "N", "epsilon"]
    theirs = figure[(figure["method"] == DP_SGD) & (figure["account"] == sgd) & (figure["gradients"] == gradients)]
    known = theirs.set_index(place)["excess_risk"]
    where = (figure["method"] == NOISYHEAD) & (figure["account"] == head)

    def scaled(rows: Any) -> Any:
        return factor * known.loc[[tuple(row) for row in rows[place].to_numpy()]].to_numpy()

    return {"figure-5": change(figure, "excess_risk", scaled, where)}


def stated(t: Tables, factor: float) -> Tables:
    return like_dp_sgd(t, ALGORITHM, ADD, LOSS, factor)


def same(t: Tables, factor: float) -> Tables:
    return like_dp_sgd(t, REPLACE, REPLACE, UPDATE, factor)


def unlike_closed_form(t: Tables, method: str) -> Tables:
    return put("figure-5", "closed_form", lambda r: 2 * r["closed_form"], method=method)(t)


def spent(t: Tables, method: str, account: str, share: float) -> Tables:
    return put("accounts", f"spent, {REPLACE}", lambda r: share * r["epsilon"], method=method, account=account)(t)


def grown(t: Tables, record: str, power: float) -> Tables:
    return put("records", "ratio", lambda r: r["L"].astype(float) ** power, record=record)(t)


CASES = [
    Case(FIGURE, "NoisyHead is better as printed", lambda t: stated(t, 0.9), HOLDS),
    Case(FIGURE, "NoisyHead is the same as printed", lambda t: stated(t, 1.0), HOLDS),
    Case(FIGURE, "NoisyHead is worse as printed", lambda t: stated(t, 1.5), NARROWER, says="up to 1.5 times"),
    Case(FIGURE, "NoisyHead is better at the same accounting", lambda t: same(t, 0.5), NARROWER, says="0.5"),
    Case(FIGURE, "NoisyHead is worse in both", lambda t: same(t, 1.6), FAILS),
    Case(PARITY, "a par as printed, NoisyHead alone in closed form",
         both(lambda u: stated(u, 1.0), lambda u: unlike_closed_form(u, DP_SGD)), HOLDS),
    Case(PARITY, "a par as printed, both in closed form", lambda t: stated(t, 1.05), NARROWER, silent="follows"),
    Case(PARITY, "NoisyHead alone in closed form", lambda t: unlike_closed_form(t, DP_SGD), NARROWER, silent="follows"),
    Case(PARITY, "neither in closed form",
         both(lambda u: unlike_closed_form(u, DP_SGD), lambda u: unlike_closed_form(u, NOISYHEAD)),
         NARROWER, says="neither"),
    Case(PARITY, "far apart at the same accounting", lambda t: same(t, 5.0), FAILS),
    Case(FAIR, "both spend the budget",
         both(lambda u: spent(u, NOISYHEAD, ALGORITHM, 1.0), lambda u: spent(u, DP_SGD, ADD, 1.0)), HOLDS),
    Case(FAIR, "NoisyHead spends half", lambda t: spent(t, NOISYHEAD, ALGORITHM, 0.5), NARROWER, says="50 % of"),
    Case(FIGURE, "NoisyHead is on a par as printed", lambda t: stated(t, 1.09), HOLDS),
    Case(ANALOGOUS, "no closed form", lambda t: unlike_closed_form(t, DP_SGD), FAILS),
    Case(FAIR, "the exact accountings differ, too", lambda t: spent(t, DP_SGD, REPLACE, 1.5), FAILS),
    Case(NAIVE, "a prompt costs its length", lambda t: grown(t, PROMPT, 0.5), HOLDS),
    Case(NAIVE, "a prompt gets cheaper", lambda t: grown(t, PROMPT, -0.5), NARROWER),
    Case(NAIVE, "a pair costs nothing either", lambda t: grown(t, PAIR, 0.0), FAILS),
    Case(NAIVE, "one length", lambda t: {"records": t["records"][t["records"]["L"] == 31]}, UNTESTABLE),
]  # fmt: skip

test_what_the_book_found, test_a_judge_follows_its_tables, test_every_judge_acquits_and_convicts = trials(
    CHAPTER, CASES
)
