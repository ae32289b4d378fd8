from pathlib import Path

import pytest

from costofprivacy import symbols
from costofprivacy.book import listing
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project, chapters, is_plain
from tests.each import each

PROJECT = Project(Path(__file__).parents[2])


def test_the_chapters_are_listed_with_question_claims_and_time(project: Project) -> None:
    (project.book / "budgets.yml").write_text("part/first-one: 12\n")
    assert list(listing.chapter_lines(project)) == [
        "part/first-one     1 claims   12 s  What is it?",
        "ledger          every claim    0 s  ",
    ]


@each("name", [name for name in chapters(PROJECT) if not is_plain(PROJECT, name)])
def test_every_chapter_asks_a_question_and_lists_its_parameters(name: str) -> None:
    asked = listing.question(PROJECT, name)
    assert asked.endswith("?")
    text = listing.parameters_of(PROJECT, name)
    assert text.startswith(f"Parameters of {name}: {asked}")
    assert symbols.BY_NAME["workers"].meaning in text
    assert max(map(len, text.splitlines()[2:])) <= 200


def test_a_plain_notebook_is_listed_by_its_title() -> None:
    assert listing.question(PROJECT, "your-data") == "Private regression on your own data."
    assert listing.parameters_of(PROJECT, "your-data").startswith(
        "your-data has the parameters epsilon = 1.0, delta = 1e-06: "
    )


def test_an_unknown_chapter_has_no_parameters(project: Project) -> None:
    with pytest.raises(RequestError, match="NAME must be one of part/first-one, ledger; got 'nothing'"):
        listing.parameters_of(project, "nothing")
