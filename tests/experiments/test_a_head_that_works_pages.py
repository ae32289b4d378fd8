"""The page on a private head that works says what its tables hold."""

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.method import tables_heads as heads
from costofprivacy.experiments.noisyhead.a_head_that_works import (
    figures,
    floor,
    ladder,
    page,
    page_statements,
    readings,
)
from costofprivacy.experiments.noisyhead.a_head_that_works import tables as shown_tables
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import (
    BEST,
    ISOTROPIC,
    NO_DATA,
    NON_PRIVATE,
    name_of,
)
from costofprivacy.judging.prose import compact, listed, percent
from costofprivacy.judging.tables import Tables
from costofprivacy.showing.plates import Plate
from tests.experiments.reading import check_plate, opening_of, shown
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("noisyhead/a-head-that-works")


def scaled(table: str, method: str, factor: float, column: str = "method") -> Tables:
    rows = TABLES[table][column] == method
    return TABLES | {table: change(TABLES[table], "test_error", lambda r: factor * r["test_error"], rows)}


def test_the_result_is_within_what_was_asked() -> None:
    for covariance, share in readings.TARGETS.items():
        assert readings.over_non_private(TABLES, covariance) <= share


def test_the_table_of_results_has_what_others_check() -> None:
    table = TABLES["test-error"]
    columns = ["covariance", "N", "epsilon", "method", "test_error", "standard_error", "trials"]
    assert table.columns.tolist() == columns
    assert set(table["covariance"]) == {"isotropic", "unknown-10", "unknown-100"}
    assert {"zero", NO_DATA, NON_PRIVATE, BEST, PRIVATE} <= set(table["method"])
    assert table["trials"].between(100, 500).all()
    assert table.groupby(["covariance", "N", "epsilon"])["method"].nunique().eq(table["method"].nunique()).all()


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    worse = opening_of(page)(scaled("test-error", PRIVATE, 3.0))
    assert worse != found
    names = ["unknown-10", "unknown-100", ISOTROPIC]  # the most favourable one last
    over = listed([percent(readings.over_non_private(TABLES, name)) for name in names])
    excess = listed([compact(readings.excess_over_non_private(TABLES, name)) for name in names])
    assert f"is {over} above that of least squares without privacy (unknown, condition 10" in found
    assert f"is {excess} times as large" in found
    assert "uses no data beats both" in found
    assert "uses no data beats both" not in opening_of(page)(scaled("test-error", NO_DATA, 2.0))
    never = opening_of(page)(TABLES | {"area": TABLES["area"].assign(test_error=9.0)})
    assert "in 0 % of cases and loses in 100 %" in never
    assert "the covariance alone wins in 0 %" in never


def test_the_sentences_follow_the_tables() -> None:
    said = page_statements.statements(TABLES).sentences
    for changed, place in (
        (scaled("test-error", PRIVATE, 2.0), 0),
        (scaled("test-error", PRIVATE, 2.0), 1),
        (scaled("test-error", COVARIANCE, 2.0), 2),
        (scaled("tasks", COVARIANCE, 0.1), 3),
        (scaled("test-error", NO_DATA, 2.0), 4),
        (scaled("ladder", ladder.UNCLIPPED, 12.0, "rung"), 5),
        (scaled("ladder", ladder.LAST, 0.3, "rung"), 6),
        (scaled("ladder", ladder.CLIPPED, 12.0, "rung"), 7),
        (scaled("ladder", ladder.UNCLIPPED, 0.01, "rung"), 7),
        (TABLES | {"area": TABLES["area"].assign(test_error=9.0)}, 8),
        (TABLES | {"area": TABLES["area"].assign(test_error=0.0)}, 9),
        (TABLES | {"poison": TABLES["poison"].assign(shift_over_noise=1.0)}, 10),
    ):
        assert page_statements.statements(changed).sentences[place] != said[place]
    assert len(said) == 11


def test_the_caption_names_the_change_that_closes_most() -> None:
    """Clipping is no answer of its own: it is held against the descent that differs from it in nothing else."""
    assert f"*{readings.closer(TABLES, ISOTROPIC)}*" in figures.draw_ladder(TABLES).caption
    late = scaled("ladder", ladder.UNCLIPPED, 12.0, "rung")
    assert readings.closer(late, ISOTROPIC) == ladder.CLIPPED
    assert f"*{ladder.CLIPPED}*" in figures.draw_ladder(late).caption
    left = readings.steps(TABLES, ISOTROPIC)["left"]
    assert readings.closed(TABLES, ISOTROPIC, ladder.CLIPPED) == left[ladder.UNCLIPPED] - left[ladder.CLIPPED]


def test_the_table_of_changes_has_every_rung_end_and_budget_and_marks_edges() -> None:
    steps = TABLES["ladder"]
    shown = shown_tables.show_ladder(steps)
    assert len(shown) == len(ladder.RUNGS) + 4
    assert shown.shape[1] == len(steps[["covariance", "epsilon"]].drop_duplicates())
    marked = sum(shown_tables.EDGE in text for text in shown.to_numpy().ravel())
    assert marked == steps["edge"].sum()
    assert f"in {marked} of" in page.read_ladder(TABLES).data
    assert "in 0 of" in page.read_ladder(TABLES | {"ladder": steps.assign(edge=False)}).data


def test_which_tokens_to_ask_is_counted_beyond_doubt() -> None:
    found = readings.asked(scaled("ladder", LAST_TOKEN, 9.0, "rung"))
    assert found["better"].all()
    assert not found["worse"].any()
    worse = scaled("ladder", LAST_TOKEN, 0.1, "rung")
    assert readings.asked(worse)["worse"].all()
    assert f"and a larger one in {len(found)} (" in page.read_ladder(worse).data
    assert "in 0." in page.read_ladder(scaled("ladder", LAST_TOKEN, 9.0, "rung")).data


def test_the_map_is_told_for_both_heads_with_what_is_lost() -> None:
    told = page.read_area(TABLES["area"]).data
    for method in (PRIVATE, COVARIANCE):
        wins, (share, worst) = readings.won(TABLES["area"], method=method), readings.lost(TABLES["area"], method=method)
        assert f"wins {wins.sum()} of {len(wins)} cells and loses {round(share * len(wins))}" in told
        assert worst > 1
    assert readings.lost(TABLES["area"].assign(test_error=0.0)) == (0.0, 0.0)
    shown = shown_tables.show_thresholds(TABLES["area"])
    assert len(shown) == 2 * TABLES["area"]["condition"].nunique()


def test_when_to_take_the_covariance_alone_is_read_off_two_tables() -> None:
    told = page.read_tasks(TABLES).data
    assert "in 27 of 27 cells" in told
    assert "in 0 of 27 cells" in page.read_tasks(scaled("test-error", COVARIANCE, 9.0)).data
    assert page.read_tasks(scaled("tasks", COVARIANCE, 2.0)).data != told
    assert 'tasks="isotropic"' in told


def test_what_audits_say_follows_the_table() -> None:
    told = page.read_audit(TABLES["audit"]).data
    assert "is found below its claim, and 3 of 3 faults" in told
    assert "above its claim" not in told
    assert "noise that is 3.4 % too small would be found" in told
    fooled = page.read_audit(TABLES["audit"].assign(found_epsilon=9.0)).data
    assert "is found above its claim" in fooled
    nothing = TABLES["audit"].assign(found_epsilon=0.1, found_mu=0.1)
    assert "0 of 3 faults" in page.read_audit(nothing).data
    assert "is found above its claim" in page.read_audit(nothing.assign(found_mu=1.6)).data


def test_the_bound_on_probabilities_is_told() -> None:
    assert "11 %" in page.read_poison(TABLES["poison"]).data
    assert "50 %" in page.read_poison(TABLES["poison"].assign(probability_bound=0.5)).data


def test_what_is_left_without_noise_is_a_share_of_the_excess() -> None:
    quiet = TABLES["floor"]
    told = page.read_floor(TABLES).data
    as_noisy = quiet.assign(test_error=quiet["best"] + 0.01)
    assert (
        "100 % of the excess is left without noise, 100 % without clipping"
        in page.read_floor(TABLES | {"floor": as_noisy}).data
    )
    gone = quiet.assign(test_error=quiet["test_error"].where(quiet["way"] == floor.NOISY, quiet["best"]))
    assert "0 % of the excess is left without noise" in page.read_floor(TABLES | {"floor": gone}).data
    assert len(readings.dearer(TABLES["test-error"])) > 0
    assert "More budget is not always better" in told
    falling = TABLES["test-error"].assign(test_error=1 / TABLES["test-error"]["epsilon"])
    assert readings.dearer(falling).empty
    assert "Nowhere in the main table" in page.read_floor(TABLES | {"test-error": falling}).data


@pytest.mark.slow
def test_no_name_of_the_tables_is_shown() -> None:
    """A reader is told words."""
    told = [opening_of(page)(TABLES), heads.read(TABLES, 1e-6).data, heads.show(TABLES).to_csv()]
    for found, _ in shown("noisyhead/a-head-that-works"):
        if isinstance(found, Plate):
            told.append(found.caption + found.alt)
        else:
            told.append(found.to_csv() if isinstance(found, pd.DataFrame) else getattr(found, "data", ""))
    for name in ("unknown-", "no-data", "private-head", "covariance-alone", "non-private's"):
        assert not any(name in text for text in told), name


def test_a_covariance_has_a_name_in_a_panel_and_in_a_sentence() -> None:
    assert readings.title("unknown-10") == "unknown, condition 10"
    assert readings.where("unknown-2.5").endswith("condition number 2.5")
    assert readings.where(ISOTROPIC) == "on isotropic prompts"


@pytest.mark.slow
@pytest.mark.parametrize("asked", [(1.0,), (10.0,), (1.0, 100.0), (10.0, 100.0)])
def test_the_page_shows_other_covariances(asked: tuple[float, ...]) -> None:
    names = [name_of(condition) for condition in asked]
    some = TABLES | {k: TABLES[k][TABLES[k]["covariance"].isin(names)] for k in ("test-error", "ladder")}
    kinds = {condition > 1 for condition in asked}
    some |= {"area": TABLES["area"][(TABLES["area"]["condition"] > 1).isin(kinds)]}
    assert readings.title(names[0]) in opening_of(page)(some)
    check_plate(figures.draw_ladder(some))
    check_plate(figures.draw_area(some["area"]), numbers=2)
    some |= {"tasks": TABLES["tasks"][TABLES["tasks"]["covariance"].isin(names)]}
    said = page_statements.statements(some).sentences
    assert any("On isotropic prompts" in sentence for sentence in said) == (1.0 in asked)
    assert any("unknown" in sentence for sentence in said) == (asked[-1] > 1)
    assert shown_tables.show_ends(some).shape[1] == len(names)
    assert len(readings.aims(some)) > 0


def test_the_least_budget_that_wins_is_read_off_the_map() -> None:
    area = TABLES["area"]
    found = readings.threshold(area).set_index(["condition", "N"])["epsilon"]
    rows = readings.worth(area).set_index(["condition", "N", "epsilon"])["wins"]
    for (condition, N), epsilon in found.items():
        cell = rows.loc[(condition, N)].sort_index()
        assert cell[cell.index >= epsilon].all() if np.isfinite(epsilon) else not cell.iloc[-1]
    assert np.isnan(found.loc[1.0]).all()


def test_the_rate_s_miss_is_the_largest_factor() -> None:
    rate = TABLES["rate"]
    assert readings.rate_miss(rate, PRIVATE, ISOTROPIC) > 1
    assert "private head: no" in page.read_rate(rate).data
    exact = rate.assign(fitted=rate["excess"])
    assert "private head: yes" in page.read_rate(exact).data
    halved = rate.assign(excess=1 / rate["N"])
    assert "private head's excess changes by a factor 0.5, that of least squares by 0.5" in page.read_rate(halved).data
    assert readings.rate_miss(exact, PRIVATE, ISOTROPIC) == pytest.approx(1)


def test_the_page_that_chooses_says_which_is_least() -> None:
    told = heads.read(TABLES, 1e-6).data
    assert "without data" in told
    assert "alone has a smaller error in 3 of 3 cases" in told
    assert "in 0 of 3 cases" in heads.read(scaled("ladder", COVARIANCE, 9.0, "rung"), 1e-6).data
    assert heads.read(scaled("tasks", COVARIANCE, 3.0), 1e-6).data != told
    better = heads.read(scaled("ladder", ladder.ONE_PASS, 0.01, "rung"), 1e-6).data
    assert heads.SHOWN[ladder.ONE_PASS] in better
    first, isotropic = heads.opening(TABLES, 1e-6)
    assert first.startswith("For *prompts*, each its own small regression: train a *head*")
    assert "If features vary 10 times more in some unknown directions than others, it explains" in first
    assert isotropic.startswith("If they vary equally (*isotropic* prompts), a head without data is better")
    assert heads.opening(scaled("ladder", PRIVATE, 0.5 / 0.0605306, "rung"), 1e-6)[1] != isotropic
