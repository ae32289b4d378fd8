import numpy as np
import pandas as pd
import pytest

from chapters.explore.dpgd import show
from chapters.explore.dpgd.measure import CONSTANT, ROOT, SCHEDULES, Cell, Experiment
from chapters.explore.dpgd.show import COLUMNS, Choice, released
from companion.judging.tables import pick, select
from companion.running.montecarlo import Runner
from companion.running.stamps import read_table
from costofprivacy.dpgd import equivalent
from tests.chapters.machinery import BOOK, committed

ALPHA = {CONSTANT: 0.0, ROOT: 0.5}


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return committed("explore/dpgd")


@pytest.fixture(scope="module")
def small() -> dict[str, pd.DataFrame]:
    """Other parameters, of which none is a start value of the page."""
    told = {"gamma": (0.05,), "rho": (2.0,), "clip": (0.7,), "learning_rate": (2.0,), "times": (0.0, 0.5, 1.0)}
    return Experiment(label_noise=0.5, **told).run(Runner(1))


# the numbers


@pytest.mark.parametrize("schedule", ALPHA)
@pytest.mark.parametrize("spectrum", ["isotropic", "uniform"])
def test_they_agree_with_the_runs_that_the_book_simulated(
    tables: dict[str, pd.DataFrame], spectrum: str, schedule: str
) -> None:
    """Figure 1 at d = 1000, before the last step and released: 4 errors and a hundredth apart at most."""
    simulated = read_table(BOOK / "dpgd/deterministic-equivalent/figure-1.csv")
    rows = select(simulated, spectrum=spectrum, alpha=ALPHA[schedule], d=1000).set_index("t")
    run = released(tables, Choice(spectrum, schedule=schedule))
    path = select(tables["paths"], run=run["run"]).set_index("t")
    told = path[list(COLUMNS)[:-1]].sum(axis=1).drop(1.0)
    told.loc[1.0] = run["excess_risk"]
    for t in set(told.index) & set(rows.index):
        row = rows.loc[t]
        assert abs(told[t] - row["risk_mean"]) < 4 * row["standard_error"] + 0.01 * row["risk_mean"], t
        assert told[t] == pytest.approx(row["ode_risk"], rel=0.01), t
    assert len(set(told.index) & set(rows.index)) > 15


@pytest.mark.parametrize("number", [7, 100, 333, 500, 777, 940])
def test_a_row_is_what_the_book_s_solver_gives(tables: dict[str, pd.DataFrame], number: int) -> None:
    run = pick(tables["runs"], run=number)
    place = {name: run[name] for name in ("spectrum", "gamma", "schedule")}
    own = {"rho": (run["rho"],), "clip": (run["clip"],), "learning_rate": (run["learning_rate"],), "times": (0.0, 1.0)}
    cell = Cell(**place, **own, label_noise=0.3)
    told = (cell.system, SCHEDULES[run["schedule"]](run["learning_rate"]), run["clip"], run["rho"])
    assert run["excess_risk"] == pytest.approx(equivalent.final_risk(*told), rel=3e-3)
    times = np.array([0.02, 0.3, 0.9])
    path = select(tables["paths"], run=number)
    found = [pick(path, t=t)[list(COLUMNS)[:-1]].sum() for t in times]
    np.testing.assert_allclose(found, equivalent.risk_path(*told, times), rtol=3e-3)


# the page


def test_other_parameters_make_a_page_too(small: dict[str, pd.DataFrame]) -> None:
    here = show.start(small)
    assert (here.gamma, here.rho, here.clip, here.learning_rate) == (0.05, 2.0, 0.7, 2.0)
    assert r"\gamma = 0.05" in show.try_these(small).data
    assert [control.options for control in show.explore(small).controls[:2]] == [(2.0, "inf"), (0.05,)]
