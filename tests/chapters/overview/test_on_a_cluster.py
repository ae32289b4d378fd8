from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from chapters.overview import on_a_cluster as page
from chapters.overview.saved import Saved
from companion.build.project import LEDGER, Project, chapters, is_plain

ROOT = Path(__file__).parents[3]
SAVED = Saved(ROOT / "book")


def test_every_chapter_that_measures_something_has_its_costs() -> None:
    costs = SAVED.table("costs", "chapters")
    project = Project(ROOT)
    assert set(costs["chapter"]) == {
        name for name in chapters(project) if name != LEDGER and not is_plain(project, name)
    }


def test_the_exponents_are_those_of_the_table() -> None:
    size = 2.0 ** np.arange(6)
    table = pd.DataFrame({"size": size, "seconds": 3 * size**1.5, "memory_mb": np.r_[0.0, 9 * size[1:]]})
    assert page.power(table, "seconds") == pytest.approx(1.5)
    assert page.power(table, "memory_mb") == pytest.approx(1.0)
    assert np.isnan(page.power(table.assign(seconds=0.0), "seconds"))


def test_each_size_has_a_row_and_a_curve() -> None:
    growth = SAVED.table("costs", "growth")
    values = page.values(SAVED)
    assert str(values["exponents"]).count("\n") == 1 + len(growth.groupby(["subject", "axis"]))
    assert {"N", "L", "D", "n", "d", "trials", "workers"} == set(growth["axis"])
