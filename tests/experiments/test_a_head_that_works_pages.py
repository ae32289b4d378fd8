"""The page on a private head that works says what its tables hold."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.method import heads
from costofprivacy.experiments.noisyhead.a_head_that_works import findings, ladder, pages, pages_maps, pages_tables
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import (
    BEST,
    ISOTROPIC,
    NO_DATA,
    NON_PRIVATE,
    name_of,
)
from costofprivacy.findings import Tables, words
from costofprivacy.plates import Plate
from tests.experiments.reading import check_plate, check_table
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("noisyhead/a-head-that-works")
PLATES: dict[str, Callable[[], Plate]] = {
    "ladder": lambda: pages.draw_ladder(TABLES),
    "curves": lambda: pages.draw_curves(TABLES["test-error"]),
    "area": lambda: pages_maps.draw_area(TABLES["area"]),
    "sizes": lambda: pages_maps.draw_sizes(TABLES["sizes"], 5),
    "rate": lambda: pages_maps.draw_rate(TABLES["rate"]),
}
SHOWN: dict[str, Callable[[], pd.DataFrame]] = {
    "theory": lambda: pages_tables.show_theory(TABLES["theory"]),
    "thresholds": lambda: pages_tables.show_thresholds(TABLES["area"]),
    "tasks": lambda: pages_tables.show_tasks(TABLES["tasks"]),
    "poison": lambda: pages_tables.show_poison(TABLES["poison"]),
    "audit": lambda: pages_tables.show_audit(TABLES["audit"]),
    "rate": lambda: pages_tables.show_rate(TABLES["rate"]),
    "method": lambda: heads.show(TABLES),
}


def scaled(table: str, method: str, factor: float, column: str = "method") -> Tables:
    rows = TABLES[table][column] == method
    return TABLES | {table: change(TABLES[table], "test_error", lambda r: factor * r["test_error"], rows)}


def test_the_result_is_within_what_was_asked() -> None:
    for covariance, share in findings.TARGETS.items():
        assert findings.over_non_private(TABLES, covariance) <= share


def test_the_table_of_results_has_what_others_check() -> None:
    table = TABLES["test-error"]
    columns = ["covariance", "N", "epsilon", "method", "test_error", "standard_error", "trials"]
    assert table.columns.tolist() == columns
    assert set(table["covariance"]) == {"isotropic", "unknown-10", "unknown-100"}
    assert {"zero", NO_DATA, NON_PRIVATE, BEST, PRIVATE} <= set(table["method"])
    assert (table["trials"] == 500).all()
    assert table.groupby(["covariance", "N", "epsilon"])["method"].nunique().eq(table["method"].nunique()).all()


def test_the_answer_follows_the_tables() -> None:
    found = pages.answer(TABLES)
    assert words(found) <= 60
    worse = pages.answer(scaled("test-error", PRIVATE, 3.0))
    assert worse != found
    assert "known without data" in found
    assert "known without data" not in pages.answer(scaled("test-error", NO_DATA, 2.0))
    never = TABLES | {"area": TABLES["area"].assign(test_error=9.0)}
    assert "0 % of the cases" in pages.answer(never)


@pytest.mark.parametrize("name", PLATES)
def test_words_of_plates_are_computed_and_typeset(name: str) -> None:
    check_plate(PLATES[name]())


@pytest.mark.parametrize("name", SHOWN)
def test_tables_are_for_readers(name: str) -> None:
    check_table(SHOWN[name]())


def test_the_sentences_follow_the_tables() -> None:
    said = pages.statements(TABLES).sentences
    for changed, place in (
        (scaled("test-error", PRIVATE, 2.0), 0),
        (scaled("test-error", NO_DATA, 2.0), 1),
        (scaled("ladder", ladder.CLIPPED, 12.0, "rung"), 2),
        (scaled("ladder", ladder.LAST, 0.3, "rung"), 3),
        (TABLES | {"area": TABLES["area"].assign(test_error=9.0)}, 4),
        (TABLES | {"area": TABLES["area"].assign(test_error=0.0)}, 5),
        (TABLES | {"poison": TABLES["poison"].assign(shift_over_noise=1.0)}, 6),
    ):
        assert pages.statements(changed).sentences[place] != said[place]


@pytest.mark.parametrize("asked", [(1.0,), (10.0,), (1.0, 100.0), (10.0, 100.0)])
def test_the_page_shows_other_covariances(asked: tuple[float, ...]) -> None:
    names = [name_of(condition) for condition in asked]
    some = TABLES | {k: TABLES[k][TABLES[k]["covariance"].isin(names)] for k in ("test-error", "ladder")}
    kinds = {condition > 1 for condition in asked}
    some |= {"area": TABLES["area"][(TABLES["area"]["condition"] > 1).isin(kinds)]}
    assert names[0] in pages.answer(some)
    check_plate(pages.draw_ladder(some))
    check_plate(pages_maps.draw_area(some["area"]), numbers=2)
    said = pages.statements(some).sentences
    assert any("isotropic" in sentence for sentence in said) == (1.0 in asked)
    assert any("unknown" in sentence for sentence in said) == (asked[-1] > 1)
    assert len(pages_tables.show_targets(some)) == len(findings.aims(some)) > 0


def test_the_least_budget_that_wins_is_read_off_the_map() -> None:
    area = TABLES["area"]
    found = findings.threshold(area).set_index(["condition", "N"])["epsilon"]
    rows = findings.worth(area).set_index(["condition", "N", "epsilon"])["wins"]
    for (condition, N), epsilon in found.items():
        cell = rows.loc[(condition, N)].sort_index()
        assert cell[cell.index >= epsilon].all() if np.isfinite(epsilon) else not cell.iloc[-1]
    assert np.isnan(found.loc[1.0]).all()


def test_the_rate_s_miss_is_the_largest_factor() -> None:
    rate = TABLES["rate"]
    assert findings.rate_miss(rate, PRIVATE, ISOTROPIC) > 1
    assert "*private-head* no" in pages_tables.read_rate(rate).data
    exact = rate.assign(fitted=rate["excess"])
    assert "*private-head* yes" in pages_tables.read_rate(exact).data
    assert findings.rate_miss(exact, PRIVATE, ISOTROPIC) == pytest.approx(1)


def test_the_page_that_chooses_says_which_is_least() -> None:
    told = heads.read(TABLES).data
    assert "no data" in told
    better = heads.read(scaled("ladder", ladder.ONE_PASS, 0.01, "rung")).data
    assert heads.SHOWN[ladder.ONE_PASS] in better
    assert heads.explained(TABLES).endswith("%")
