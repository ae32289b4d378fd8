from collections.abc import Callable

import pandas as pd
import pytest

from costofprivacy.experiments.dpgd.lower_bound import figures, page, tables
from costofprivacy.judging.headlines import words
from costofprivacy.showing.plates import Plate
from tests.experiments.reading import check_plate, check_table
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/lower-bound")


def test_the_answer_follows_the_tables() -> None:
    found = page.answer(TABLES)
    assert words(found) <= 60
    assert "stays bounded on every path" in found
    bounds = TABLES["bounds"]
    grown = change(bounds, "harmonic", lambda r: r["lower"] * r["gamma"] ** -0.3)
    grown = change(grown, "two_stage", lambda r: 2 * r["harmonic"])
    other = page.answer(TABLES | {"bounds": change(grown, "factor", lambda r: r["harmonic"] / r["lower"])})
    assert "keeps growing on some path" in other
    assert "takes nothing of it" in other
    assert words(other) <= 60


PLATES: dict[str, Callable[[], Plate]] = {
    "bounds": lambda: figures.draw_bounds(TABLES["bounds"]),
    "attack": lambda: figures.draw_attack(TABLES["attack"]),
    "records": lambda: figures.draw_records(TABLES["records"]),
}


@pytest.mark.parametrize("name", PLATES)
def test_words_of_plates_are_computed_and_typeset(name: str) -> None:
    check_plate(PLATES[name]())


def test_captions_follow_their_tables() -> None:
    bounds = TABLES["bounds"]
    assert (
        "at most 1000,"
        in figures.draw_bounds(change(bounds, "factor", lambda r: 1000.0, bounds["path"] == "along rho")).caption
    )
    attack = change(TABLES["attack"], "certified", lambda r: 2.5)
    assert "shows 2.5" in figures.draw_attack(attack).caption
    records = change(TABLES["records"], "value", lambda r: r["most"] / 4)
    assert "stays near 25 %" in figures.draw_records(records).caption


SHOWN: dict[str, Callable[[], pd.DataFrame]] = {
    "factors": lambda: tables.show_factors(TABLES["bounds"]),
    "chain": lambda: tables.show_chain(TABLES["chain"]),
    "attack": lambda: tables.show_attack(TABLES["attack"]),
    "rivals": lambda: tables.show_rivals(TABLES["rivals"]),
    "priors": lambda: tables.show_priors(TABLES["priors"]),
    "outside": lambda: tables.show_outside(TABLES["outside"]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_tables_are_for_readers(name: str) -> None:
    check_table(SHOWN[name](), rows=2)
