"""The page on real data where stand-ins took the place of the data."""

import pandas as pd

from chapters.dpgd.real_data import figures, figures_schedules, page
from companion.chapters import LONGEST_ANSWER
from companion.judging.findings import word_count
from costofprivacy.datasets import DIABETES, DIGITS, HOUSING, MNIST
from tests.chapters.machinery import committed
from tests.chapters.reading import opening_of

TABLES = committed("dpgd/real-data")


def instead(names: dict[str, str]) -> dict[str, pd.DataFrame]:
    """The tables as stand-ins would leave them."""
    found = {}
    for name, table in TABLES.items():
        found[name] = table.assign(data=table["data"].replace(names)) if "data" in table else table
    for name, asked in (("figure-5", MNIST), ("figure-6", HOUSING), ("kept", HOUSING)):
        found[name] = TABLES[name].assign(data=names[asked])
    return found


def test_stand_ins_are_named_and_nothing_is_said_of_the_papers_data() -> None:
    tables = instead({MNIST: DIGITS, HOUSING: DIABETES})
    assert word_count(opening_of(page)(tables)) <= LONGEST_ANSWER
    assert "says nothing of the paper's data" in opening_of(page)(tables)
    assert f"{DIGITS}, 784 features (in the place of {MNIST}" in page.said_of_data(tables)
    plate = figures.draw_map(tables["figure-5"], tables["rows"], MNIST)
    assert "Maps of a stand-in" in plate.caption
    assert DIGITS in plate.caption
    assert "MNIST" not in plate.caption + plate.alt
    assert "Schedules on stand-ins" in figures_schedules.draw_figure_8(tables["figure-8"], tables["rows"]).caption
