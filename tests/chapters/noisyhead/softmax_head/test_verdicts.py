"""What is tried on the judge of the chapter on a softmax head."""

from chapters.noisyhead.softmax_head.judge import BEST_ROUTE, LITERAL, ROUTES
from chapters.noisyhead.softmax_head.measure import LESS_NOISE, LINEAR, SOFTMAX, SOUND
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Change, both, committed, judge, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/softmax-head"
CLAIM = "noisyhead/section-1.1-transformers"


def errs(route: tuple[str, str], value: float, head: str = SOFTMAX) -> Change:
    return put("test-error", "test_error", value, head=head, bound=route[0], account=route[1])


def finds(fault: str, head: str = SOFTMAX, claim: str = "epsilon") -> Change:
    return put("audit", f"{claim}_found", lambda r: 1.01 * r[claim], fault=fault, head=head)


NOTHING_LEARNS = both(*(errs(route, 1.2) for route in ROUTES))
CASES = [
    Case(CLAIM, "the literal design alone learns", both(NOTHING_LEARNS, errs(LITERAL, 0.5)), HOLDS),
    Case(CLAIM, "the literal design is worse still", errs(ROUTES[1], 33.0), HOLDS, says=r"33"),
    Case(CLAIM, "clipped gradients have another error", errs(BEST_ROUTE, 0.7), HOLDS, says=r"0\.7"),
    Case(CLAIM, "no route learns", NOTHING_LEARNS, FAILS),
    Case(CLAIM, "an audit finds more than the claim", finds(SOUND), FAILS),
    Case(CLAIM, "an audit finds more than the claimed μ alone", finds(SOUND, claim="mu"), FAILS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)


def test_what_is_broken_on_purpose_or_linear_convicts_no_softmax_head() -> None:
    tables = committed(CHAPTER)
    before = judge(CHAPTER, CLAIM, tables)
    for changed in (finds(LESS_NOISE), finds(SOUND, LINEAR), errs(BEST_ROUTE, 2.0, LINEAR)):
        assert judge(CHAPTER, CLAIM, tables | dict(changed(tables))) == before
