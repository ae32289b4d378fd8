"""Scripts of the pages: search and ledger in a browser, the calculator in Node.js against the library."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapters.ledger import show as ledger
from chapters.ledger.measure import Experiment
from chapters.method import show as method
from costofprivacy.estimators import calculator, prompt_calculator

from .conftest import OURS

PAGES = """bookSections = [
  ["book/a.html", "chapter", ["a", "The attack", "Nothing else."], ["why", "Why bounded", "A corrupted prompt."]],
  ["book/b.html", "chapter", ["b", "How to choose", "A placement of ε, <b>late</b>. Clipped."], ["n", "Clipping", ""]],
  ["book/c.html", "library reference", ["c", "clip", "Clips at private_bounds, theorem 3.1."]],
  ["book/d.html", "ledger and errata", ["d", "Claims", "None."], ["t", "Theorem 3", "It is ρ.", "holds", "verdict"]]]"""
PAGE = """<!DOCTYPE html><meta charset="utf-8"><div {}><form class="bd-search"><input name="q"></form></div>
<script defer src="_static/find.js"></script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with the dialog of the search and the search page, opened from files."""
    made = tmp_path_factory.mktemp("search")
    (made / "_static").mkdir()
    for name in ("find.js", "find.css"):
        (made / "_static" / name).write_text((OURS.book / "_static" / name).read_text("utf-8"), "utf-8")
    (made / "_static/sections.js").write_text(PAGES, "utf-8")
    (made / "page.html").write_text(PAGE.format('id="pst-search-dialog"'), "utf-8")
    (made / "search.html").write_text(PAGE.format('class="bd-search-container"'), "utf-8")
    return made.as_uri()


def results(page: Any, query: str) -> list[str]:
    page.fill("input", query)
    page.wait_for_function("query => document.querySelector('.found').dataset.query === query.trim()", arg=query)
    return page.eval_on_selector_all(".found-title a", "links => links.map(link => link.href.split('#')[1])")


FOUND = {
    "why is a prompt poisoned?": ["why", "a"],  # a synonym; the words of a question do not count
    "choosing epsilon": ["b", "n"],  # other endings, a letter by its name
    "theorem 3": ["t", "c"],  # 3.1 is another number
    "private_bounds": ["c"],
    "corrup": ["why"],  # a word that is not typed to its end
    "clip": ["n", "c", "b"],  # headings first, and the book before the reference
    "what is the zebra": [],
}


@pytest.mark.parametrize(("query", "anchors"), FOUND.items())
def test_sections_are_found_by_the_words_of_a_question(page: Any, folder: str, query: str, anchors: list[str]) -> None:
    page.goto(f"{folder}/page.html")
    assert results(page, query) == anchors


def test_a_suggestion_shows_section_page_and_snippet_and_arrows_lead_to_it(page: Any, folder: str) -> None:
    page.goto(f"{folder}/page.html")
    assert page.locator("script[src*=sections]").count() == 0
    results(page, "late ε")
    assert page.inner_text(".found-title") == "How to choose chapter"
    assert page.inner_html(".found-excerpt").startswith("A placement of <mark>ε</mark>, &lt;b&gt;<mark>late</mark>")
    page.press("input", "ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "How to choose"


def test_the_search_page_keeps_query_and_kind_in_its_address(page: Any, folder: str) -> None:
    page.goto(f"{folder}/search.html?q=clip")
    page.select_option("select", "library reference")
    page.wait_for_function("document.querySelector('.found').textContent.startsWith('clip')")
    page.reload()
    assert results(page, "theorem 3") == ["c"]
    assert page.inner_text(".found-count") == "1 result for “theorem 3”."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The book's ledger as a page of its own, opened from a file."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "ledger.js").write_text((OURS.book / "_static/ledger.js").read_text("utf-8"), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSTOFPRIVACY_BOOK", str(OURS.book))
        table = ledger.show_claims(Experiment().read(OURS.book)).data
    script = '<script defer src="ledger.js"></script>'
    (folder / "ledger.html").write_text(f"<!DOCTYPE html><meta charset='utf-8'>{script}{table}", "utf-8")
    return (folder / "ledger.html").as_uri()


def shown(page: Any, name: str) -> list[str]:
    return page.eval_on_selector_all("tbody tr", f"rows => rows.map(row => row.dataset.{name})")


def test_a_choice_narrows_and_survives_a_reload(page: Any, address: str) -> None:
    page.goto(address)
    everything = len(shown(page, "verdict"))
    page.select_option("label:has-text('verdict') select", "fails")
    page.fill("input[type=search]", "ridge")
    narrowed = shown(page, "verdict")
    assert set(narrowed) == {"fails"}
    assert 0 < len(narrowed) < everything
    assert page.url.endswith("#verdict=fails&q=ridge")
    page.reload()
    assert shown(page, "verdict") == narrowed
    assert page.input_value("input[type=search]") == "ridge"
    assert f"{len(narrowed)} of {everything} claims" in page.inner_text("[role=status]")
    page.click("button:has-text('Show all')")
    assert len(shown(page, "verdict")) == everything


def test_where_no_claim_has_all_words_those_with_most_of_them_are_shown(page: Any, address: str) -> None:
    page.goto(address)
    page.fill("input[type=search]", "ridge")
    ridge = shown(page, "chapter")
    page.fill("input[type=search]", "ridge xylophone")
    assert shown(page, "chapter") == ridge != []
    assert "with 1 of the 2 words" in page.inner_text("[role=status]")
    page.fill("input[type=search]", "xylophone")
    assert shown(page, "chapter") == []


def test_a_header_sorts_upwards_then_downwards_then_no_longer(page: Any, address: str) -> None:
    page.goto(address)
    places = page.eval_on_selector_all("tbody tr", "rows => rows.map(row => row.id)")
    seen = []
    for _ in range(3):
        page.click("thead th:nth-child(3) [role=button]")
        seen.append(list(dict.fromkeys(shown(page, "consequence"))))
    assert seen[:2] == [["conclusion", "numbers", "none"], ["none", "numbers", "conclusion"]]
    assert page.eval_on_selector_all("tbody tr", "rows => rows.map(row => row.id)") == places
    assert "sort" not in page.url


def test_the_address_of_a_row_shows_it_whatever_was_chosen(page: Any, address: str) -> None:
    page.goto(f"{address}#verdict=pending")
    page.goto(f"{address}#claim-noisyhead-theorem-4-1")
    page.wait_for_function("document.querySelector('tr:target')")
    box = page.locator("#claim-noisyhead-theorem-4-1").bounding_box()
    assert 0 <= box["y"] < 300


BOOK = Path(__file__).parents[2] / "book"
SCRIPT = BOOK / "_static" / "calculator.js"
NODE = shutil.which("node")
SAME = 1e-6  # relative difference of budgets; dp-accounting's own searches end at 1e-9
NUMBERS = ("r2", "low", "high", "without_privacy")


def run(expression: str, value: Any) -> Any:
    """What an expression of JavaScript gives, in which ``c`` is the script's own and ``v`` a value."""
    program = (
        f"const c = require({json.dumps(str(SCRIPT))});"
        f"const v = JSON.parse(require('fs').readFileSync(0)); process.stdout.write(JSON.stringify({expression}))"
    )
    assert NODE is not None
    done = subprocess.run([NODE, "-e", program], input=json.dumps(value), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def questions(count: int) -> list[dict[str, Any]]:
    """What readers may ask, in the names of the page's controls."""
    rng = np.random.default_rng(1)
    return [
        {
            "n": int((d := int(10 ** rng.uniform(0, 3))) * 10 ** rng.uniform(0.9, 5)) + 6,
            "d": d,
            "budget": str(rng.choice(["epsilon", "rho", "mu"])),
            "value": float(10 ** rng.uniform(-2, 1)),
            "delta": float(10 ** rng.uniform(-10, -3)),
            "r2": float(rng.uniform(0.02, 0.99)),
        }
        for _ in range(count)
    ]


@pytest.mark.skipif(NODE is None, reason="there is no Node.js here")
def test_both_give_the_same_answer() -> None:
    asked = questions(60)
    answers = run(
        "(t => v.asked.map(a => c.answer(t, v.data.words, a)))(c.decoded(v.data.table))",
        {"data": json.loads(method.data()), "asked": asked},
    )
    for question, found in zip(asked, answers, strict=True):
        budget = {question["budget"]: question["value"]}
        told = calculator.answer(
            *(question["n"], question["d"]),
            **budget | {"delta": question["delta"], "expected_r2": question["r2"], "by": calculator.approximate},
        )
        for name in ("epsilon", "mu", "rho"):
            assert found[name] == pytest.approx(getattr(told, name), rel=SAME)
        for name in NUMBERS:
            assert found[name] == pytest.approx(getattr(told, name), abs=SAME)
        assert (found["method"], found["useful"], found["code"]) == (told.method, told.useful, told.code)
        r2 = {each["name"]: each["r2"] for each in found["methods"]}
        assert r2 == pytest.approx(told.methods["r2"].to_dict(), abs=SAME)


def prompt_questions(count: int) -> list[dict[str, Any]]:
    """The same of the calculator for prompts."""
    rng = np.random.default_rng(2)
    return [
        {
            "N": int((D := int(rng.integers(2, 21))) * 50 * 10 ** rng.uniform(0, 4)),
            "L": int(rng.integers(max(5, D), 30 * D + 1)),
            "D": D,
            "condition": float(10 ** rng.uniform(0, 3)),
            "tasks": str(rng.choice(["any", "isotropic"])),
            "budget": str(rng.choice(["epsilon", "rho", "mu"])),
            "value": float(10 ** rng.uniform(-2, 1)),
            "delta": float(10 ** rng.uniform(-10, -3)),
        }
        for _ in range(count)
    ]


@pytest.mark.skipif(NODE is None, reason="there is no Node.js here")
def test_both_give_the_same_answer_for_prompts() -> None:
    asked = prompt_questions(60)
    found = run(
        "(t => v.asked.map(a => [c.wrongPrompts(a, v.data.words), c.prompts(t, v.data.words, a)]))"
        "(c.decoded(v.data.table))",
        {"data": json.loads(method.prompt_data()), "asked": asked},
    )
    for question, (fault, answer) in zip(asked, found, strict=True):
        given = {name: value for name, value in question.items() if name not in ("budget", "value")}
        told = prompt_calculator.prompts(**given, **{question["budget"]: question["value"]})
        assert fault == ""
        for name in ("error", "low", "high", "without_privacy", "loss", "epsilon", "mu", "rho"):
            assert answer[name] == pytest.approx(getattr(told, name), rel=SAME, abs=SAME)
        assert (answer["method"], answer["useful"], answer["code"]) == (told.head, told.useful, told.code)
        errors = {each["name"]: each["error"] for each in answer["methods"]}
        assert errors == pytest.approx(told.heads["error"].to_dict(), abs=SAME)


@pytest.mark.skipif(NODE is None, reason="there is no Node.js here")
@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"D": 21}, "from 2 to 20"),
        ({"L": 151}, "from 5 to 150"),
        ({"N": 249}, "from 250 to"),
        ({"condition": 0.5}, "between 1 and 1000"),
        ({"value": 0}, "budget"),
    ],
)
def test_the_calculator_for_prompts_says_what_is_wrong(other: dict[str, Any], words: str) -> None:
    asked = {"N": 4000, "L": 63, "D": 5, "condition": 10, "value": 1, "delta": 1e-6} | other
    assert words in run("c.wrongPrompts(v[0], v[1])", [asked, json.loads(method.prompt_data())["words"]])
