"""What is tried on the judge of the chapter on a softmax head."""

from costofprivacy.experiments.noisyhead.softmax_head import readings
from costofprivacy.experiments.noisyhead.softmax_head.audits import LESS_NOISE, SOUND
from costofprivacy.experiments.noisyhead.softmax_head.names import LINEAR, PRIVATE, SOFTMAX
from costofprivacy.experiments.noisyhead.softmax_head.readings import BEST_ROUTE, LITERAL
from costofprivacy.judging.findings import Verdict
from costofprivacy.judging.tables import select
from tests.experiments.verdicts.machinery import Case, Tables, committed, judge, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/softmax-head"
CLAIM = "noisyhead/section-1.1-transformers"
TRADE = "noisyhead/section-8-softmax"


def errs(t: Tables, route: tuple[str, str], value: float, head: str = SOFTMAX, **where: object) -> Tables:
    return put("test-error", "test_error", value, head=head, bound=route[0], account=route[1], **where)(t)


def finds(t: Tables, fault: str, head: str = SOFTMAX, claim: str = "epsilon") -> Tables:
    return put("audit", f"{claim}_found", lambda r: 1.01 * r[claim], fault=fault, head=head)(t)


def priced(t: Tables, price: float, **where: object) -> Tables:
    """The private softmax head's error, so that its price is so many times the linear head's, to within the errors."""
    errors = t["test-error"].copy()
    prices = readings.prices(errors).set_index(["covariance", "N", "epsilon"])["price"]
    bound, account = BEST_ROUTE
    rows = select(errors, head=SOFTMAX, method=PRIVATE, bound=bound, account=account, **where)
    for at, row in rows.iterrows():
        errors.loc[at, "test_error"] *= price / prices[row["covariance"], row["N"], row["epsilon"]]
    return {"test-error": errors}


def fewer(t: Tables) -> Tables:
    """Two sizes alone."""
    return {"test-error": t["test-error"][t["test-error"]["N"] > t["test-error"]["N"].min()]}


CASES = [
    Case(CLAIM, "the literal design learns", lambda t: errs(t, LITERAL, 0.5), HOLDS),
    Case(CLAIM, "the literal design learns one covariance",
         lambda t: errs(errs(t, LITERAL, 1.2), LITERAL, 0.5, covariance="isotropic"), NARROWER, says="^With"),
    Case(CLAIM, "the literal design is worse still", lambda t: errs(t, LITERAL, 33.0), NARROWER,
         says="errs 33 by .* worse than"),
    Case(CLAIM, "the literal design is not told from zero", lambda t: errs(t, LITERAL, 0.9999), NARROWER,
         says="no better than"),
    Case(CLAIM, "clipped gradients err otherwise", lambda t: errs(t, BEST_ROUTE, 0.7), NARROWER, says=r"and 0\.7 with"),
    Case(CLAIM, "the literal design is worst where features are uneven",
         lambda t: errs(t, LITERAL, 7.0, covariance="unknown-10"), NARROWER, says="^With an unknown .* errs 7 "),
    Case(CLAIM, "clipped gradients learn nothing", lambda t: errs(t, BEST_ROUTE, 1.2), FAILS),
    Case(CLAIM, "an audit finds more than the claim", lambda t: finds(t, SOUND), FAILS),
    Case(CLAIM, "an audit finds more than the claimed μ alone", lambda t: finds(t, SOUND, claim="mu"), FAILS),
    Case(TRADE, "one factor everywhere", lambda t: priced(t, 0.8), HOLDS),
    Case(TRADE, "one factor but with an unknown covariance",
         lambda t: priced(t, 0.8, covariance="isotropic"), UNTESTABLE, says=r"0\.\d+ to"),
    Case(TRADE, "one factor but for one size", lambda t: priced(priced(t, 1.5), 0.5, N=2000), UNTESTABLE,
         says=r"0\.5 to 1\.5 times"),
    Case(TRADE, "one factor, two sizes", lambda t: fewer(priced(t, 0.8)), UNTESTABLE, silent="a direction"),
    Case(TRADE, "nothing is learnt anywhere", lambda t: errs(t, BEST_ROUTE, 1.3), FAILS),
    Case(TRADE, "something is learnt at one size", lambda t: errs(errs(t, BEST_ROUTE, 1.3), BEST_ROUTE, 0.5, N=2000),
         UNTESTABLE),
]  # fmt: skip

test_what_the_book_found, test_a_judge_follows_its_tables, test_every_judge_acquits_and_convicts = trials(
    CHAPTER, CASES
)


def test_what_is_broken_on_purpose_or_linear_convicts_no_softmax_head() -> None:
    tables = committed(CHAPTER)
    before = judge(CHAPTER, CLAIM, tables)
    for changed in (finds(tables, LESS_NOISE), finds(tables, SOUND, LINEAR), errs(tables, BEST_ROUTE, 2.0, LINEAR)):
        assert judge(CHAPTER, CLAIM, tables | dict(changed)) == before
