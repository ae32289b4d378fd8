import pytest

from companion.judging.cards import Figure, drawn_from, gather
from companion.judging.claims import Claim
from companion.judging.findings import Finding, Number, Verdict

CLAIM = Claim("alpha/theorem-1", "Theorem 1", "So.", "part/first-one")
FINDING = Finding(
    Verdict.HOLDS,
    "It is so.",
    (Number("a", 1, table="rates"), Number("b", 2, table="steps"), Number("c", 3, table="rates"), Number("d", 4)),
    would_change="More.",
)


def test_a_finding_rests_on_the_tables_of_its_numbers() -> None:
    found = gather(CLAIM, FINDING)
    assert (found.folder, found.tables, found.figures, found.judge) == ("first-one", ("rates", "steps"), (), "")


def test_its_figures_are_those_drawn_from_these_tables() -> None:
    drawn = {"all": ("rates", "other"), "other": ("other",), "last-steps": ("steps",)}
    found = gather(CLAIM, FINDING, drawn=drawn, titles={"all": "All rates", "last-steps": ""})
    assert found.figures == (
        Figure("part-first-one-all", "All rates"),
        Figure("part-first-one-last-steps", "last-steps"),
    )


@pytest.mark.parametrize(
    ("code", "tables"),
    [
        ('chapter.show("f", pages.draw(tables["a"]))', ("a",)),
        ('chapter.show("f", pages.draw(tables["a"], tables["b-c"], 3))', ("a", "b-c")),
        ('chapter.show(\n    "f",\n    pages.draw(tables["a"], tables["a"]),\n)', ("a",)),
        ('pages.listed(tables["b"])\nchapter.show("f", pages.draw(tables["a"]))', ("a",)),
        ('chapter.show("f", pages.draw(others["a"]))', ()),
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
