"""The pages that join the chapters: every place is filled, every value is used, and nothing else is typed."""

import re
from pathlib import Path

import pytest

from companion.build import staging
from companion.build.project import BookError, Project

PROJECT = Project(Path(__file__).parents[2])
PAGES = staging.filled_pages(PROJECT)

each_page = pytest.mark.parametrize("name", PAGES)


def test_places_are_filled_with_the_texts_of_their_keys() -> None:
    assert staging.filled("{{ a }} and {{ b }}, $x_{{i}}$", {"a": "one", "b": "$\\log N$"}, "x") == (
        "one and $\\log N$, $x_{{i}}$"
    )


def test_a_place_that_nothing_fills_is_refused() -> None:
    with pytest.raises(BookError, match=r"^the page x has placeholders without a value: b, c$"):
        staging.filled("{{ a }} {{ c }} {{ b }}", {"a": "one"}, "x")


def test_the_front_page_and_both_summaries_are_filled() -> None:
    assert {"index", "noisyhead-in-ten-minutes", "dpgd-in-ten-minutes"} <= set(PAGES)


@each_page
def test_a_page_uses_all_that_is_computed_for_it(name: str) -> None:
    values = staging.values_of(PROJECT, PAGES[name], PROJECT.book)
    assert set(staging.VALUE.findall((PROJECT.book / f"{name}.md").read_text("utf-8"))) == set(values)


# Code, mathematics, places to be filled, targets of links, directives, and what names a place in a paper.
UNREAD = (
    r"(`{3,}).*?\1",
    r"\$\$.*?\$\$",
    r"`[^`]*`",
    r"\$[^$]*\$",
    r"\{\{[^}]*\}\}",
    r"\]\([^)]*\)",
    r"^:[^\n]*$",
    r"^\d+\. ",
    r"arXiv [\d.v]+",
    r"(?:Algorithm|Figure|Theorem|Proposition|Section|Table)s?\s+\d[\d.]*(?:(?:,| and| to)\s+\d[\d.]*)*",
    r"(?:Assumption|Definition|Lemma|Proposition|Remark)s?\s+(?:[A-Z]\.)?\d[\d.]*",
    r"\((?:[A-Z]\.)?\d+(?:\.\d+)?\)",  # an equation
    r"predicting 0",
)


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"on-a-cluster"}))
def test_a_page_of_prose_types_no_number(name: str) -> None:
    """But for what names a place in a paper, and always predicting 0. The page on the cluster is a manual."""
    text = (PROJECT.book / f"{name}.md").read_text("utf-8")
    for unread in UNREAD:
        text = re.sub(unread, " ", text, flags=re.S | re.M)
    assert re.findall(r"\d[\d.]*", text) == []


@pytest.mark.slow
def test_plates_are_drawn_beside_the_page(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Title\n\n{{ figure }}\n", "utf-8")
    for page in (tmp_path / f"{name}.md" for name in set(PAGES) - {"index"}):
        page.parent.mkdir(exist_ok=True)
        page.write_text("# Title\n", "utf-8")
    staging.fill(PROJECT, PROJECT.book, tmp_path)
    text = (tmp_path / "index.md").read_text("utf-8")
    assert "```{figure} figures/index-figure.svg\n:name: index-figure\n:alt: NoisyHead at" in text
    assert (tmp_path / "figures" / "index-figure.narrow.svg").is_file()
