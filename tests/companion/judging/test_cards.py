"""Cards, and the evidence that they name."""

import re
from dataclasses import replace

import pytest

from companion.judging import cards
from companion.judging.cards import drawn_from
from companion.judging.claims import Claim
from companion.judging.findings import Consequence, Finding, Number, Verdict

ONE = Claim("alpha/theorem-1", "Theorem 1", "One $x$\n  is one.", "part/one")
RATIO = (Number("ratio_of", 2.5e-7, 0.1, None, "figure-1", "N = 1000"),)
HELD = Finding(Verdict.HOLDS, "It is so.", RATIO, would_change="More trials.")
FAILED = Finding(Verdict.FAILS, "It is not.", RATIO, Consequence.CONCLUSION, would_change="Fewer trials.")
CORRECTED = Finding(Verdict.CORRECTED, "It is twice.", RATIO, Consequence.NUMBERS, r"$2\lambda$.", "More trials.")


def test_a_bound_that_says_nothing_is_called_vacuous() -> None:
    vacuous = replace(HELD, vacuous=True)
    assert cards.of(vacuous) == f'{cards.badge("holds")} <span class="verdict verdict-vacuous">vacuous here</span>'
    assert "always predicting 0" in terms(cards.card(ONE, vacuous))["Vacuous here"]
    assert "Vacuous here" not in terms(cards.card(ONE, HELD))


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


def test_a_card_links_the_tables_of_its_numbers_the_figures_drawn_from_them_and_its_judge() -> None:
    numbers = [Number("a", 1, table="rates"), Number("b", 2, table="steps"), Number("c", 3, table="rates")]
    finding = replace(HELD, numbers=(*numbers, Number("d", 4)))
    figures = {"all": ("rates", "other"), "other": ("other",), "last-steps": ("steps",)}
    text = cards.card(ONE, finding, judge=terms, figures=figures, titles={"all": "Rates in $N$", "last-steps": ""})
    assert terms(text)["Evidence"] == (
        "Data: {download}`rates.csv <one/rates.csv>`, {download}`steps.csv <one/steps.csv>`. "
        'Drawn in: <a href="one.html#part-one-all">Rates in $N$</a>, '
        f'<a href="one.html#part-one-last-steps">last-steps</a>. {{judge}}`{__name__}:terms`'
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


@pytest.mark.parametrize(
    ("code", "tables"),
    [
        ('chapter.show("f", pages.draw(tables["a"]))', ("a",)),
        ('chapter.show("f", pages.draw(tables["a"], tables["b-c"], 3))', ("a", "b-c")),
        ('chapter.show(\n    "f",\n    pages.draw(tables["a"], tables["a"]),\n)', ("a",)),
        ('pages.listed(tables["b"])\nchapter.show("f", pages.draw(tables["a"]))', ("a",)),
        ('chapter.show("f", pages.draw(others["a"]))', ()),
        ('a, b = tables["a"], tables["b"]\nchapter.show("f", figure, pages.caption(tables))', ("a", "b")),
    ],
)
def test_a_figure_is_drawn_from_what_its_code_says(code: str, tables: tuple[str, ...]) -> None:
    assert drawn_from([code]) == {"f": tables}


def test_each_figure_of_a_cell_has_its_own_tables() -> None:
    cells = [
        'chapter.show("f", draw(tables["a"]))\nchapter.show("g", draw(tables["b"], tables["c"]))',
        'chapter.judge("claim")\nchapter.show("h", draw(tables["b"]))',
    ]
    assert drawn_from(cells) == {"f": ("a",), "g": ("b", "c"), "h": ("b",)}
