"""The page on real data says what its tables hold."""

import pandas as pd
import pytest

from costofprivacy.chapters import LONGEST_ANSWER
from costofprivacy.datasets import DIABETES, DIGITS, HOUSING, MNIST
from costofprivacy.experiments.dpgd.real_data import figures, figures_schedules, page
from costofprivacy.judging.headlines import words
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import committed

TABLES = committed("dpgd/real-data")


def instead(names: dict[str, str]) -> dict[str, pd.DataFrame]:
    """The tables as stand-ins would leave them."""
    found = {}
    for name, table in TABLES.items():
        found[name] = table.assign(data=table["data"].replace(names)) if "data" in table else table
    for name, asked in (("figure-5", MNIST), ("figure-6", HOUSING), ("kept", HOUSING)):
        found[name] = TABLES[name].assign(data=names[asked])
    return found


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "cure all." in found
    bad = TABLES | {"seeds": TABLES["seeds"].assign(limited=9.0)}
    assert "cure all but 100 %" in opening_of(page)(bad)


def test_stand_ins_are_named_and_nothing_is_said_of_the_papers_data() -> None:
    tables = instead({MNIST: DIGITS, HOUSING: DIABETES})
    assert words(opening_of(page)(tables)) <= LONGEST_ANSWER
    assert "says nothing of the paper's data" in opening_of(page)(tables)
    assert f"{DIGITS}, 784 features (in the place of {MNIST}" in page.said_of_data(tables)
    plate = figures.draw_map(tables["figure-5"], tables["rows"], MNIST)
    assert "Maps of a stand-in" in plate.caption
    assert DIGITS in plate.caption
    assert "MNIST" not in plate.caption + plate.alt
    assert "Schedules on stand-ins" in figures_schedules.draw_figure_8(tables["figure-8"], tables["rows"]).caption


@pytest.mark.slow
def test_the_caption_of_figure_8_says_where_a_schedule_leads() -> None:
    table = TABLES["figure-8"]
    caption = figures_schedules.draw_figure_8(table, TABLES["rows"]).caption
    cases = 2 * table.drop_duplicates(["data", "n"]).shape[0]  # as the paper has it, and with limited features
    assert f"is lowest beyond the errors in 0 of {cases} cases, and no other is lower" in caption
    harmonic = table["schedule"] == "harmonic"
    ahead = table.assign(risk=table["risk"].where(~harmonic, table["risk"] / 100))
    assert f"in {cases} of {cases} cases" in figures_schedules.draw_figure_8(ahead, TABLES["rows"]).caption
    behind = table.assign(risk=table["risk"].where(~harmonic, table["risk"] * 100))
    assert "it is behind " in figures_schedules.draw_figure_8(behind, TABLES["rows"]).caption
