import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

import costofprivacy
from costofprivacy.judging import cards
from costofprivacy.judging.claims import Claim
from costofprivacy.judging.evidence import Evidence, Figure
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.symbols import Row
from tests.each import each

ONE = Claim("alpha/theorem-1", "Theorem 1", "One $x$\n  is one.", "part/one")
TWO = Claim("alpha/theorem-2", "Theorem 2", "Two.", "part/one")
REGISTER = """
papers:
  alpha: {title: First Paper, arxiv: "1", short: Alpha}
  beta: {title: Second Paper, arxiv: "2", short: Beta}
claims:
  - {id: alpha/theorem-1, place: Theorem 1, says: One., chapter: part/one}
  - {id: alpha/theorem-2, place: Theorem 2, says: Two., chapter: part/one}
  - {id: beta/figure-1, place: Figure 1, says: Three., chapter: part/two, pending: true}
"""
RATIO = (Number("ratio_of", 2.5e-7, 0.1, None, "figure-1", "N = 1000"),)
HELD = Finding(Verdict.HOLDS, "It is so.", RATIO, would_change="More trials.")
FAILED = Finding(Verdict.FAILS, "It is not.", RATIO, Consequence.CONCLUSION, would_change="Fewer trials.")
CORRECTED = Finding(Verdict.CORRECTED, "It is twice.", RATIO, Consequence.NUMBERS, r"$2\lambda$.", "More trials.")


@pytest.mark.parametrize(
    ("verdict", "slug", "label"),
    [
        ("holds", "holds", "holds"),
        ("holds, narrower", "holds-narrower", "holds under an extra condition"),
        ("holds, amended", "holds-amended", "holds, amended"),
        ("pending", "pending", "pending"),
    ],
)
def test_a_badge_is_a_label_with_a_class(verdict: str, slug: str, label: str) -> None:
    assert cards.badge(verdict) == f'<span class="verdict verdict-{slug}">{label}</span>'


def test_a_bound_that_says_nothing_is_called_vacuous() -> None:
    vacuous = replace(HELD, vacuous=True)
    assert cards.of(vacuous) == f'{cards.badge("holds")} <span class="verdict verdict-vacuous">vacuous here</span>'
    assert "always predicting 0" in terms(cards.card(ONE, vacuous))["Vacuous here"]
    assert "Vacuous here" not in terms(cards.card(ONE, HELD))


def rendered(markdown: str) -> str:
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
    return parser.render(f"*Found:* {markdown}.")


@given(
    st.text(
        st.characters(min_codepoint=33, max_codepoint=0x3C9, exclude_characters="&$", categories=["L", "N", "P", "S"])
    )
)
@example(r"a_b_c, *x*, `y`, [z](w), <b>, \alpha, {cite}`q`, |t|")
@example("Π_G, N^(-1.95 ± 0.01), ε ≤ T, ‖Γ^T − Γ*‖², 2e-09")
@settings(derandomize=True, deadline=None, max_examples=150)
def test_plain_text_means_itself_in_markdown(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert rendered(cards.plain(text)) == f"<p><em>Found:</em> {escaped}.</p>\n"


@each("character", "\\`*_{}[]<>|")
def test_plain_escapes(character: str) -> None:
    assert cards.plain(f"a{character}b{character}") == f"a\\{character}b\\{character}"


def test_plain_leaves_the_rest_alone() -> None:
    assert cards.plain("ε = 0.6 (at N = 1000), -1.5 ± 0.1") == "ε = 0.6 (at N = 1000), -1.5 ± 0.1"


def test_plain_keeps_mathematics() -> None:
    assert cards.plain(r"a_b is $x_1 \le \{y\}$") == r"a\_b is $x_1 \le \{y\}$"


def test_typeset_text_is_html_with_its_mathematics_for_mathjax() -> None:
    text = cards.typeset(r"a < b & $x_1 < 2$, $\alpha$")
    math = '<span class="math notranslate nohighlight">'
    assert text == rf"a &lt; b &amp; {math}\(x_1 &lt; 2\)</span>, {math}\(\alpha\)</span>"


def terms(card: str) -> dict[str, str]:
    """What a card says, by its terms."""
    return dict(re.findall(r"^(.+)\n: (.+)$", card, re.MULTILINE))


def test_a_card_has_every_part() -> None:
    text = cards.card(ONE, CORRECTED)
    assert text.splitlines()[:4] == [
        "(claim-alpha-theorem-1)=",
        "`````{div} claim-card",
        f"<details><summary>{cards.badge('holds, corrected')} <strong>Theorem 1</strong> "
        '<span class="headline">It is twice.</span></summary>',
        "",
    ]
    assert text.splitlines()[-2:] == ["</details>", "`````"]
    assert terms(text) == {
        "The paper says": "One $x$ is one.",
        "Consequence": "*numbers*: something that a reader would compute changes.",
        "Should read": r"$2\lambda$.",
        "What would change this": "More trials.",
        "Evidence": "Data: {download}`figure-1.csv <one/figure-1.csv>`.",
    }
    head = "".join(f'<th scope="col">{name}</th>' for name in ("number", "value", "±", "from"))
    value = r'<span class="math notranslate nohighlight">\(2.5\cdot 10^{-7}\)</span>'
    assert head in text
    assert f"<td>ratio of</td><td>{value}</td><td>0.1</td><td>figure-1, N = 1000</td>" in text


def test_what_is_in_sight_of_a_card_stands_on_one_line_and_is_typeset() -> None:
    claim, finding = replace(ONE, place="Theorem 1, $b<1$"), replace(HELD, headline="It is at most $\\rho$.")
    head = cards.card(claim, finding).splitlines()[2]
    assert r"\(b&lt;1\)</span></strong>" in head
    assert r'>It is at most <span class="math notranslate nohighlight">\(\rho\)</span>.</span></summary>' in head


def test_a_chapter_leads_to_its_claims_in_one_line() -> None:
    assert cards.all_of("part/one", [Verdict.HOLDS, Verdict.FAILS]) == (
        "[All 2 claims of this chapter, with the evidence](one-claims.md): 1 holds, 1 does not hold."
    )
    assert cards.all_of("part/one", [Verdict.HOLDS]).startswith("[The one claim of this chapter, with the evidence](")


def test_a_card_says_where_it_belongs() -> None:
    text = cards.card(ONE, HELD)
    assert f"Version {costofprivacy.__version__} of the book" in text
    assert '<a href="#claim-alpha-theorem-1">this card</a>' in text
    assert '<a href="../ledger.html#claim-alpha-theorem-1">in the ledger</a>' in text


def test_a_card_links_what_stands_behind_it() -> None:
    evidence = Evidence("one", ("figure-1", "rates"), (Figure("part-one-rates", "Rates in $N$"),), "a.verdicts:judge")
    assert terms(cards.card(ONE, HELD, evidence))["Evidence"] == (
        "Data: {download}`figure-1.csv <one/figure-1.csv>`, {download}`rates.csv <one/rates.csv>`. "
        'Drawn in: <a href="one.html#part-one-rates">Rates in $N$</a>. {judge}`a.verdicts:judge`'
    )


def test_a_card_of_what_holds_under_a_condition_names_it_as_one() -> None:
    condition = "$L \\lesssim N$."
    narrower = Finding(Verdict.NARROWER, "It is so for few.", RATIO, condition=condition, would_change="More.")
    said = terms(cards.card(ONE, narrower))
    assert said["Missing condition"] == condition
    assert "Should read" not in said


def test_a_card_quotes_the_paper_and_says_how_it_was_judged() -> None:
    claim = replace(ONE, quote="It is one.", kind="simulation", undermines="Abstract: “it is one”.")
    finding = replace(FAILED, rule="It passes if it is one.", argued="It is nearly one. But not quite.")
    said = terms(cards.card(claim, finding, arxiv="1.2v3"))
    assert said["The paper"] == "“It is one.” (Theorem 1, [arXiv 1.2v3](https://arxiv.org/abs/1.2v3))"
    assert said["In our words"] == "One $x$ is one."
    assert said["Consequence"] == "*conclusion*. This does not follow: Abstract: “it is one”."
    assert said["For the authors"] == "It is nearly one. But not quite."
    assert said["Pass criterion"] == "It passes if it is one."
    assert said["Kind of evidence"] == "Simulation."


def test_a_card_of_what_holds_has_neither_consequence_nor_correction() -> None:
    assert list(terms(cards.card(ONE, HELD))) == ["The paper says", "What would change this", "Evidence"]


def test_a_card_of_what_cannot_be_tested_needs_no_numbers() -> None:
    text = cards.card(ONE, Finding(Verdict.UNTESTABLE, "Nothing follows.", would_change="A number."))
    assert "The numbers" not in text
    assert "Evidence" not in terms(text)


def test_a_small_card_leads_to_the_full_one() -> None:
    lines = cards.short(ONE, FAILED).splitlines()
    assert lines[1] == f"{cards.badge('fails')} **[Theorem 1](#claim-alpha-theorem-1)**"
    assert "It is not." in lines
    assert not any(line.startswith("(") for line in lines)  # the anchor is the full card's


def test_leading_cards_stand_in_one_grid() -> None:
    text = cards.leading([ONE, TWO], {ONE.id: FAILED, TWO.id: HELD})
    assert text.splitlines()[0] == "`````{div} claim-cards"
    assert text.count("````{div} claim-card\n") == 2
    assert text.index("It is not.") < text.index("It is so.")
    assert cards.leading([], {}) == ""


def test_a_few_other_claims_are_listed_and_many_are_folded() -> None:
    few = cards.others([ONE, TWO], {ONE.id: FAILED, TWO.id: HELD})
    assert few == (
        f"- {cards.badge('fails')} [Theorem 1](#claim-alpha-theorem-1)\n"
        f"- {cards.badge('holds')} [Theorem 2](#claim-alpha-theorem-2)"
    )
    many = [Claim(f"alpha/lemma-{n}", f"Lemma {n}", "So.", "part/one") for n in range(cards.MOST_OPEN + 1)]
    folded = cards.others(many, {claim.id: FAILED if claim is many[0] else HELD for claim in many})
    assert (
        folded.splitlines()[0] == f"````{{dropdown}} {len(many)} more claims: {cards.MOST_OPEN} hold, 1 does not hold"
    )
    assert folded.count("\n- ") == len(many)
    assert cards.others([], {}) == ""


def test_a_list_of_claims() -> None:
    text = cards.as_list([ONE, TWO], {ONE.id: FAILED})
    assert text.splitlines()[0] == f"- {cards.badge('fails')} **Theorem 1.** One $x$ is one."
    assert "\n\n  *Found:* It is not.\n\n" in text
    assert text.count("*Found:*") == 1
    assert f"\n- {cards.badge('pending')} **Theorem 2.** Two.\n" in text
    assert "ipynb" not in text


def test_only_judged_claims_are_linked() -> None:
    text = cards.as_list([ONE, TWO], {ONE.id: HELD}, links=True)
    assert "**[Theorem 1](#claim-alpha-theorem-1).**" in text
    assert text.count("](") == 1


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "claims.yml").write_text(REGISTER, encoding="utf-8")
    return tmp_path


def test_parameters_stand_as_a_reader_writes_them() -> None:
    @dataclass(frozen=True)
    class Experiment:
        delta: tuple[float, ...] = (1e-5, 0.9999, 0.05)
        trials: int = 4_000_000

    rows = [Row(name, "", "meaning", "", "positive", None) for name in ("delta", "trials")]
    html = cards.parameters(rows, Experiment())
    assert "<td>10⁻⁵, 0.9999, 0.05 </td>" in html
    assert "<td>4000000 </td>" in html


@each(
    ("text", "read"),
    [
        ("gamma = 1e-06, label_noise = 2", "gamma = 10⁻⁶, label noise = 2"),
        ("$C_{clip}$ at 1.5e+03", "$C_{clip}$ at 1500"),
        ("noise = common", "noise = common"),
        ("N, with L = N^(1/4), and W^PV", "N, with L = $N^{1/4}$, and $W^{PV}$"),
        ("of size $N^2$", "of size $N^2$"),
        ("axis = rho = gamma^(3/4), alpha = 1", "axis = rho = $\\gamma^{3/4}$, alpha = 1"),
        ("zeta = gamma^1.25", "zeta = $\\gamma^{1.25}$"),
        ("noise against η̃(0)/(n^{3/2}ρ)", "noise against η̃(0)/($n^{3/2}$ρ)"),
    ],
)
def test_names_and_numbers_of_a_row_are_read_out(text: str, read: str) -> None:
    assert cards.read_out(text) == read


def test_a_tally_counts_verdicts_and_always_tells_what_fails() -> None:
    assert cards.tally([Verdict.HOLDS]) == "1 holds, none fails"
    many = [Verdict.FAILS, Verdict.CORRECTED, Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.UNTESTABLE]
    assert cards.tally(many) == "2 hold, 1 holds with a correction, 1 cannot be tested, 2 do not hold"
    assert cards.tally([Verdict.NARROWER] * 2) == "2 hold under an extra condition, none fails"
