"""What the pages around the chapters say follows the saved tables and findings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapters.overview import (
    appendix_c,
    dpgd_in_ten_minutes,
    index,
    letter_dpgd,
    letter_noisyhead,
    noisyhead_in_ten_minutes,
    on_a_cluster,
)
from chapters.overview.saved import Saved
from companion.build.project import LEDGER, Project, chapters, is_plain
from companion.judging.findings import Verdict
from companion.showing.plates import Plate

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "book"
SAVED = Saved(BOOK)

# the front page and the pages of ten minutes


@dataclass(frozen=True)
class Changed(Saved):
    """The committed tables, with other values in some columns."""

    changed: Mapping[str, Any]

    def table(self, chapter: str, name: str) -> pd.DataFrame:
        return super().table(chapter, name).assign(**self.changed)


def halved(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value / 2 for name, value in values.items()}


@pytest.mark.parametrize(
    ("error", "words"),
    [(0.5, "It beats always"), (1.0, "It does no better than always"), (2.0, "It does worse than always")],
)
def test_whether_the_head_learns_is_read_off_its_test_error(error: float, words: str) -> None:
    text = index.learns(Changed(BOOK, {"test_error": error, "response_variance": 1.0, "best_linear_head": 0.06}))
    assert text.startswith(words)
    assert f"{100 * error:.0f}" in text
    doubled = {"test_error": 2 * error, "response_variance": 2.0, "best_linear_head": 0.12, "standard_error": 0.0}
    assert index.learns(Changed(BOOK, doubled)) == index.learns(Changed(BOOK, halved(doubled)))
    assert "6.0 %" in text


def test_equations_that_are_far_off_are_not_said_to_predict() -> None:
    far = Changed(BOOK, {"ode_risk": 0.1, "risk_mean": 0.2, "standard_error": 0.005})
    assert index.predicts(far).startswith("Its equations miss the algorithm")


@pytest.mark.parametrize(("page", "most"), [(dpgd_in_ten_minutes, 4), (noisyhead_in_ten_minutes, 3)])
def test_every_claim_is_judged_and_there_are_few_figures(page: ModuleType, most: int) -> None:
    values = page.values(SAVED)
    assert set(page.CLAIMS.values()) <= set(SAVED.findings)
    assert 1 <= sum(isinstance(value, Plate) for value in values.values()) <= most


# the letters: ten points, none of which holds as printed, and what they promise is so

PLACE = re.compile(r"\{\{ (\w+) \}\}")
POINTS = 10
LETTERS = [("letter-noisyhead", letter_noisyhead), ("letter-dpgd", letter_dpgd)]


@pytest.mark.parametrize(("name", "letter"), LETTERS)
def test_a_letter_has_ten_points_that_do_not_hold_as_printed(name: str, letter: ModuleType) -> None:
    text = (BOOK / f"{name}.md").read_text("utf-8")
    points = re.findall(r"^\d+\. .*(?:\n   .*)*", text, re.MULTILINE)
    assert len(points) == POINTS
    for point in points:
        named = {place.removesuffix("_correction") for place in PLACE.findall(point)} & set(letter.CLAIMS)
        assert named
        for place in named:
            assert SAVED.findings[letter.CLAIMS[place]].verdict not in (Verdict.HOLDS, Verdict.UNTESTABLE), place


@pytest.mark.parametrize(("name", "letter"), LETTERS)
def test_a_letter_quotes_what_it_names_and_names_what_it_quotes(name: str, letter: ModuleType) -> None:
    places = set(PLACE.findall((BOOK / f"{name}.md").read_text("utf-8")))
    values = letter.values(SAVED)
    assert places <= set(values)
    assert set(letter.CLAIMS) <= {place.removesuffix("_correction") for place in places}
    assert all(values[place] for place in places)


@pytest.mark.parametrize("place", ["path", "rate", "lower"])
def test_what_the_letter_confirms_to_the_authors_of_dp_gd_holds(place: str) -> None:
    assert SAVED.findings[letter_dpgd.CLAIMS[place]].verdict == Verdict.HOLDS
    for promised in ("proposition-4.1", "theorem-1-path", "theorem-1-mean", "theorem-2", "theorem-3"):
        assert SAVED.findings[f"dpgd/{promised}"].verdict == Verdict.HOLDS


# the proofs of the deterministic equivalent, and costs


def test_every_claim_of_appendix_c_is_one_of_the_chapter_and_is_named_once() -> None:
    names = [f"dpgd/{name}" for group in appendix_c.JUDGED.values() for name in group]
    assert len(set(names)) == len(names)
    assert {SAVED.register[name].chapter for name in names} == {appendix_c.CHAPTER}
    assert set(names) <= set(SAVED.findings)


def test_every_table_of_appendix_c_has_rows_and_there_is_one_figure() -> None:
    values = appendix_c.values(SAVED)
    assert sum(isinstance(value, Plate) for value in values.values()) == 1
    assert all(str(values[key]).count("\n") >= 3 for key in appendix_c.TABLES)


def test_every_chapter_that_measures_something_has_its_costs() -> None:
    costs = SAVED.table("costs", "chapters")
    project = Project(ROOT)
    assert set(costs["chapter"]) == {
        name for name in chapters(project) if name != LEDGER and not is_plain(project, name)
    }


def test_the_exponents_are_those_of_the_table() -> None:
    size = 2.0 ** np.arange(6)
    table = pd.DataFrame({"size": size, "seconds": 3 * size**1.5, "memory_mb": np.r_[0.0, 9 * size[1:]]})
    assert on_a_cluster.power(table, "seconds") == pytest.approx(1.5)
    assert on_a_cluster.power(table, "memory_mb") == pytest.approx(1.0)
    assert np.isnan(on_a_cluster.power(table.assign(seconds=0.0), "seconds"))


def test_each_size_has_a_row_and_a_curve() -> None:
    growth = SAVED.table("costs", "growth")
    values = on_a_cluster.values(SAVED)
    assert str(values["exponents"]).count("\n") == 1 + len(growth.groupby(["subject", "axis"]))
    assert {"N", "L", "D", "n", "d", "trials", "workers"} == set(growth["axis"])
