import math
import re
from pathlib import Path

import pandas as pd
import pytest

from companion.judging.claims import read_findings
from companion.judging.findings import Consequence, Finding, Number, Verdict
from companion.judging.judges import judges_of
from companion.judging.tables import cite, nearest, pick, select
from tests.each import each

ONE = (Number("ratio", 1.0),)
TABLE = pd.DataFrame(
    {"setting": ["printed", "printed", "corrected"], "epsilon": [0.5, math.nan, 0.5], "risk": [1.0, 2, 3]}
)
MOST_QUANTITIES = 2

# What a headline may hold. A reference to a place in a paper is no quantity; a number in digits or in words is one, and
# so is each formula.
PLACE = re.compile(
    r"\b(?:Theorem|Lemma|Proposition|Corollary|Remark|Definition|Assumption|Section|Appendix|Figure|Table|Algorithm|"
    r"Equation)s?\s+[A-Z]?\.?\d+(?:\.\d+)*(?:\([ivx]+\))?|\([A-Z]?\.?\d+(?:\.\d+)*\)"
)
FORMULA = re.compile(r"\$[^$]*\$")
DECORATION = re.compile(r"_(?:\{[^}]*\}|\\?\w+)|\^\{?\*\}?")  # an index or a star makes a symbol, no quantity
QUANTITY = re.compile(r"[\d^/=<>+]|\\(?:sqrt|frac|log|exp|cdot|infty|le|ge|ll|gg|sim|asymp|lesssim|gtrsim)\b")
DIGITS = re.compile(r"[-−+]?\d[\d,.]*(?:e[-+]?\d+|\s?%)?", re.IGNORECASE)
WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety|hundred|thousand|million|billion|half|third|quarter|twice|thrice|double|triple|tenfold|dozen)s?\b",
    re.IGNORECASE,
)


def quantities(text: str) -> int:
    text = PLACE.sub(" ", text)
    formulas = [DECORATION.sub("", formula) for formula in FORMULA.findall(text)]
    rest = FORMULA.sub(" ", text)
    written = len(DIGITS.findall(rest)) + len(WORDS.findall(rest))
    return written + sum(bool(QUANTITY.search(formula)) for formula in formulas)


def test_the_book_s_headlines_have_few_quantities() -> None:
    found = read_findings(Path(__file__).parents[3] / "book")
    assert len(found) > 200
    assert {name for name, finding in found.items() if quantities(finding.headline) > MOST_QUANTITIES} == set()


@each(
    ("text", "number"),
    [
        ("The risk falls.", 0),
        ("Theorem 4.2(ii) and equation (A.13) hold.", 0),
        ("Of 40 published numbers 21 come out.", 2),
        ("It is twice as large as half of it.", 2),
        ("It falls like $N^{-5/2}$ in $N$ for $\\varepsilon = 1$.", 2),
        ("The error is $2.5\\cdot10^{-3}$, 3 % of it.", 2),
        ("It is −1.95, 0.01 off, a hundred times.", 3),
        ("One head, $L$ and $\\lambda$.", 0),
        ("$\\Gamma^*$, $\\eta_0$, $D_{\\max}$ and $\\tilde\\sigma_k$ are symbols.", 0),
        ("$\\log N$ and $\\sqrt L$.", 2),
        ("At $\\sqrt{N}$ it is larger by 1e5.", 2),
    ],
)
def test_quantities_are_counted_in_digits_words_and_formulas(text: str, number: int) -> None:
    assert quantities(text) == number


@each(
    ("headline", "message"),
    [
        ("", "must be one sentence"),
        ("It holds", "with its full stop"),
        ("It\nholds.", "on one line"),
        ("It " + "really " * 24 + "holds.", "at most 25 words, got 26"),
        ("It is N^2.", "typeset its mathematics"),
        ("It is about ε.", "typeset its mathematics"),
        ("It is √N.", "typeset its mathematics"),
    ],
)
def test_a_headline_is_short_and_plain(headline: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^headline .*{message}"):
        Finding(Verdict.HOLDS, headline, ONE, would_change="More.")


@each(
    ("parts", "message"),
    [
        ({"verdict": Verdict.HOLDS, "consequence": Consequence.NUMBERS}, "neither consequence nor correction"),
        ({"verdict": Verdict.HOLDS, "should_read": "$x$"}, "neither consequence nor correction"),
        ({"verdict": Verdict.CORRECTED}, "should_read must say"),
        ({"verdict": Verdict.NARROWER}, "condition must say"),
        ({"verdict": Verdict.FAILS, "numbers": ()}, "numbers must hold at least one"),
        ({"verdict": Verdict.HOLDS, "would_change": ""}, "would_change must say"),
        ({"verdict": Verdict.HOLDS, "headline": "it is so."}, "must be sentences"),
        ({"verdict": Verdict.FAILS, "argued": "A.", "should_read": "MORE."}, "must be sentences"),
        ({"verdict": Verdict.HOLDS, "would_change": "More"}, "must be sentences"),
    ],
)
def test_the_parts_of_a_finding_fit(parts: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Finding(**{"headline": "It is so.", "numbers": ONE, "would_change": "More."} | parts)


def test_a_finding_without_numbers_is_untestable() -> None:
    assert Finding(Verdict.UNTESTABLE, "It says nothing.", would_change="A size.").numbers == ()


def test_the_nearest_value_is_nearest_in_ratio() -> None:
    assert nearest(pd.Series([1, 10, 1000]), 400) == 1000


def test_rows_are_found_by_their_values() -> None:
    assert pick(TABLE, setting="printed", epsilon=0.5)["risk"] == 1
    assert pick(TABLE, setting="printed", epsilon=math.nan)["risk"] == 2
    assert list(select(TABLE, epsilon=0.5)["risk"]) == [1, 3]
    for where, rows in (({"setting": "printed"}, 2), ({"setting": "published"}, 0)):
        with pytest.raises(LookupError, match=rf"^one row must have setting = .*, got {rows}$"):
            pick(TABLE, **where)


def test_a_cited_number_says_where_it_stands() -> None:
    number = cite("the risk", {"t": TABLE}, "t", "risk", error="epsilon", against=2, setting="corrected", epsilon=0.5)
    assert number == Number("the risk", 3.0, 0.5, 2.0, "t", "setting = corrected, epsilon = 0.5")
    assert cite("the risk", {"t": TABLE}, "t", "risk", setting="corrected").error is None


def test_judges_are_found_by_their_claims() -> None:
    found = judges_of("chapters.noisyhead.low_dimensional")
    named = {"noisyhead/figure-1", "noisyhead/section-6.1-hyperparameters", "noisyhead/theorem-1.1-low"}
    named |= {"noisyhead/theorem-4.2i", "noisyhead/section-1.1-common-weight"}
    assert set(found) == named | {f"noisyhead/equation-a.{number}" for number in (15, 16, 17)}
    assert next(iter(found)) == "noisyhead/figure-1"
    assert judges_of("chapters.ledger") == {}
