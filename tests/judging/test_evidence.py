import pytest

from costofprivacy.judging import evidence
from costofprivacy.judging.claims import Claim
from costofprivacy.judging.evidence import Figure, drawn_from, gather
from costofprivacy.judging.findings import Finding, Number, Verdict

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


def test_a_judge_has_a_name_and_a_place_among_the_pages() -> None:
    name = gather(CLAIM, FINDING, judge=evidence.gather).judge
    assert name == "costofprivacy.judging.evidence:gather"
    assert evidence.judge_link(name) == "_modules/costofprivacy/judging/evidence.html#gather"


@pytest.mark.parametrize(
    ("caption", "title"),
    [("**Figure 1, re-run.** More.", "Figure 1, re-run"), ("**Rates in $N$**, more", "Rates in $N$"), ("None.", "")],
)
def test_a_caption_opens_with_its_title(caption: str, title: str) -> None:
    assert evidence.title_of(caption) == title


@pytest.mark.parametrize(
    ("code", "tables"),
    [
        ('chapter.show("f", pages.draw(tables["a"]))', ("a",)),
        ('chapter.show("f", pages.draw(tables["a"], tables["b-c"], 3))', ("a", "b-c")),
        ('x = tables["a"]\nchapter.show("f", pages.draw(x))', ("a",)),
        ('x, y = tables["a"], tables["b"]\nchapter.show("f", pages.draw(y))', ("b",)),
        ('x, y = split(tables["a"])\nchapter.show("f", pages.draw(y))', ("a",)),
        ('x = tables["a"]\nfigure = pages.draw(x)\nx = tables["b"]\nchapter.show("f", figure)', ("a",)),
        ('x = tables["a"]\nx = 3\nchapter.show("f", pages.draw(x))', ()),
        ('chapter.show("f", pages.draw(others["a"]))', ()),
    ],
)
def test_a_figure_is_drawn_from_what_its_code_says(code: str, tables: tuple[str, ...]) -> None:
    assert drawn_from([code]) == {"f": tables}


def test_cells_are_read_one_after_the_other() -> None:
    cells = [
        'x = tables["a"]',
        'chapter.show("f", draw(x))',
        'chapter.judge("claim")\nchapter.show("g", draw(tables["b"]))',
    ]
    assert drawn_from(cells) == {"f": ("a",), "g": ("b",)}
