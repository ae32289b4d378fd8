from collections.abc import Callable

import pandas as pd
import pytest

from costofprivacy.experiments.noisyhead.dp_sgd import pages
from costofprivacy.experiments.noisyhead.dp_sgd.cell import ALGORITHM, NOISYHEAD, ZERO
from costofprivacy.judging.headlines import words
from costofprivacy.judging.prose import compact
from costofprivacy.showing.plates import Plate
from tests.experiments.reading import check_plate, check_table
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("noisyhead/dp-sgd")
FIGURE = TABLES["figure-5"]


def test_the_answer_follows_the_tables() -> None:
    found = pages.answer(TABLES)
    assert words(found) <= 60
    assert "As printed" in found
    dear = change(FIGURE, "excess_risk", lambda r: r["excess_risk"] / 1e3, FIGURE["method"] == ZERO)
    assert pages.answer(TABLES | {"figure-5": dear}) != found


def test_the_answer_has_both_settings() -> None:
    for setting in ("published", "corrected"):
        rows = FIGURE["setting"] == setting
        zero = FIGURE[rows & (FIGURE["method"] == ZERO)].set_index("N")["excess_risk"]
        own = FIGURE[rows & (FIGURE["method"] == NOISYHEAD)]
        least = (own["excess_risk"] / own["N"].map(zero)).min()
        assert compact(least) in pages.answer(TABLES)
        half = change(FIGURE, "excess_risk", lambda r: r["excess_risk"] / 2, rows & (FIGURE["method"] == NOISYHEAD))
        assert compact(least / 2) in pages.answer(TABLES | {"figure-5": half})


PLATES: dict[str, Callable[[], Plate]] = {
    "figure-5": lambda: pages.draw_figure_5(FIGURE, TABLES["opacus"]),
    "spent": lambda: pages.draw_spent(TABLES["accounts"]),
    "records": lambda: pages.draw_records(TABLES["records"]),
}


@pytest.mark.parametrize("name", PLATES)
def test_words_of_plates_are_computed_and_typeset(name: str) -> None:
    check_plate(PLATES[name]())


def test_captions_follow_their_tables() -> None:
    far = change(FIGURE, "excess_risk", lambda r: 1e6 * r["excess_risk"], FIGURE["account"] == ALGORITHM)
    before, after = (pages.draw_figure_5(figure, TABLES["opacus"]).caption for figure in (FIGURE, far))
    assert before != after
    opacus = change(TABLES["opacus"], "deviation", lambda r: 33.0)
    assert "within 33 standard errors" in pages.draw_figure_5(FIGURE, opacus).caption
    records = change(TABLES["records"], "ratio", lambda r: 7.0)
    assert "for each prompt it is 7;" in pages.draw_records(records).caption


SHOWN: dict[str, tuple[Callable[[], pd.DataFrame], int]] = {
    "risks": (lambda: pages.show_risks(FIGURE), 10),
    "readings": (lambda: pages.show_readings(FIGURE), 4),
    "opacus": (lambda: pages.show_opacus(TABLES["opacus"]), 12),
    "resting": (lambda: pages.show_resting(TABLES["opacus-runs"]), 2),
}


@pytest.mark.parametrize("name", SHOWN)
def test_tables_are_full_and_typeset(name: str) -> None:
    show, rows = SHOWN[name]
    check_table(show(), rows)


def test_the_page_says_where_opacus_ran() -> None:
    found = pages.origin(TABLES)
    count = len(TABLES["opacus-runs"])
    assert f"Of its {count} runs here, {count} are read from the committed run and 0 were measured" in found
    assert "opacus 1.6.0" in found


def test_without_published_numbers_the_page_says_so() -> None:
    assert "no published numbers" in pages.published_gap(TABLES["comparison"].head(0))
    assert "% of the published" in pages.published_gap(TABLES["comparison"])
