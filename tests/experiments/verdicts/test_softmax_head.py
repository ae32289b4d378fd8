"""What is tried on the judge of the chapter on a softmax head."""

from costofprivacy.experiments.noisyhead.softmax_head.audits import LESS_NOISE, SOUND
from costofprivacy.experiments.noisyhead.softmax_head.names import LINEAR, PRIVATE, SOFTMAX
from costofprivacy.experiments.noisyhead.softmax_head.readings import BEST_ROUTE, LITERAL
from costofprivacy.findings import Verdict
from tests.experiments.verdicts.machinery import Case, Tables, change, committed, judge, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/softmax-head"
CLAIM = "noisyhead/section-1.1-transformers"
TRADE = "noisyhead/section-8-softmax"
FOUND = {CLAIM: NARROWER, TRADE: HOLDS}


def errs(t: Tables, route: tuple[str, str], value: float, head: str = SOFTMAX, **where: object) -> Tables:
    errors = t["test-error"]
    rows = (errors["head"] == head) & (errors["bound"] == route[0]) & (errors["account"] == route[1])
    for column, wanted in where.items():
        rows &= errors[column] == wanted
    return {"test-error": change(errors, "test_error", lambda r: value, rows)}


def finds(t: Tables, fault: str, head: str = SOFTMAX) -> Tables:
    rows = (t["audit"]["fault"] == fault) & (t["audit"]["head"] == head)
    return {"audit": change(t["audit"], "epsilon_found", lambda r: 1.01 * r["epsilon"], rows)}


def dearer(t: Tables, factor: float, **where: object) -> Tables:
    """The private softmax head's error multiplied, where its columns have these values."""
    errors = t["test-error"]
    rows = (errors["head"] == SOFTMAX) & (errors["method"] == PRIVATE)
    for column, wanted in where.items():
        rows &= errors[column] == wanted
    return {"test-error": change(errors, "test_error", lambda r: factor * r["test_error"], rows)}


CASES = [
    Case(CLAIM, "the literal design learns", lambda t: errs(t, LITERAL, 0.5), HOLDS, says=r"own design .* 0\.5,"),
    Case(CLAIM, "the literal design learns one covariance",
         lambda t: errs(t, LITERAL, 0.5, covariance="isotropic"), NARROWER),
    Case(CLAIM, "the literal design is worse still", lambda t: errs(t, LITERAL, 33.0), NARROWER, says="errs 33;"),
    Case(CLAIM, "the literal design is not told from zero", lambda t: errs(t, LITERAL, 0.9999), NARROWER),
    Case(CLAIM, "clipped gradients err otherwise", lambda t: errs(t, BEST_ROUTE, 0.7), NARROWER, says=r"errs 0\.7\."),
    Case(CLAIM, "clipped gradients learn nothing", lambda t: errs(t, BEST_ROUTE, 1.2), FAILS, says=r"1\.2\."),
    Case(CLAIM, "an audit finds more than the claim", lambda t: finds(t, SOUND), FAILS, says="gives away"),
    Case(TRADE, "a fifth cheaper everywhere", lambda t: dearer(t, 0.8), HOLDS, says="multiplies"),
    Case(TRADE, "far dearer with an unknown covariance",
         lambda t: dearer(t, 9.0, covariance="unknown-10"), NARROWER, says="On isotropic"),
    Case(TRADE, "far cheaper at one size of an unknown covariance",
         lambda t: dearer(t, 0.1, covariance="unknown-10", N=2000), NARROWER),
    Case(TRADE, "far dearer at one isotropic size",
         lambda t: dearer(t, 9.0, covariance="isotropic", N=1000), FAILS, says="no common law"),
    Case(TRADE, "far cheaper everywhere", lambda t: dearer(t, 0.1), FAILS),
]  # fmt: skip

test_what_the_book_found, test_a_judge_follows_its_tables, test_every_judge_acquits_and_convicts = trials(
    CHAPTER, FOUND, CASES
)


def test_what_is_broken_on_purpose_or_linear_convicts_no_softmax_head() -> None:
    tables = committed(CHAPTER)
    before = judge(CHAPTER, CLAIM, tables)
    for changed in (finds(tables, LESS_NOISE), finds(tables, SOUND, LINEAR), errs(tables, BEST_ROUTE, 2.0, LINEAR)):
        assert judge(CHAPTER, CLAIM, tables | dict(changed)) == before
