from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chapters.explore.noisyhead import show
from chapters.explore.noisyhead.measure import Experiment, Run, noise_factor
from chapters.explore.noisyhead.show import Choice, curve
from companion.judging.tables import select
from companion.running.montecarlo import Runner
from companion.running.stamps import read_table
from costofprivacy.noisyhead import accounts, dynamics
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, LAST
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting
from tests.chapters.machinery import BOOK, committed

FIGURE_1 = "D = 5, λ = 5"


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return committed("explore/noisyhead")


@pytest.fixture(scope="module")
def small() -> dict[str, pd.DataFrame]:
    """Other parameters, of which none is a start value of the page."""
    return Experiment(N=(500, 2000), penalty=(0.7,), epsilon_step=0.3, epsilon_count=2, decades=2).run(Runner(1))


def run(setting: Setting, problem: str, N: int) -> Run:
    return next(r for r in Experiment().runs() if (r.setting, r.problem, r.N) == (setting, problem, N))


# the numbers


def test_the_committed_tables_are_those_of_the_experiment(tables: dict[str, pd.DataFrame]) -> None:
    for name, table in Experiment().run(Runner(1)).items():
        pd.testing.assert_frame_equal(table, tables[name], check_dtype=False, rtol=1e-5)


@pytest.mark.parametrize(
    ("chapter", "method", "account", "N"),
    [
        ("low-dimensional", "noisyhead", EVERY, 1000),
        ("low-dimensional", "noisyhead", EVERY, 4000),
        ("rivals", "noisyhead", EVERY, 3000),
        ("rivals", "noisyhead, last iterate", LAST, 2000),
        ("rivals", "noisyhead, last iterate", LAST, 4000),
    ],
)
def test_they_agree_with_the_runs_that_the_book_simulated(chapter: str, method: str, account: str, N: int) -> None:
    """The corrected setting of Figure 1 and of Table 1, at the recipe's T."""
    simulated = read_table(BOOK / "noisyhead" / chapter / "test-error.csv")
    rows = select(simulated, setting="corrected", method=method, N=N)
    here = next(r for r in Experiment(N=(N,)).runs() if r.problem == FIGURE_1)
    T = np.array([here.recipe_steps])
    learnt = 1 - dynamics.noiseless_gain(here.hyper, here.model, N, T)[0]
    unit, limit = here.noise(account, 1e-5, T)[0], dynamics.noise_limit(here.hyper, here.model)
    assert len(rows) >= 2
    for _, row in rows.iterrows():
        told = learnt + min(limit, unit * noise_factor(account, row["epsilon"], 1e-5))
        assert abs(told - row["test_error"]) < 4 * row["standard_error"]


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("setting", [Setting.CORRECTED, Setting.PUBLISHED])
def test_a_curve_is_the_closed_form_at_its_budget(
    tables: dict[str, pd.DataFrame], account: str, setting: Setting
) -> None:
    choice = Choice("D = 5, λ = 0.05", 10_000, account, 0.4, str(setting))
    told, here = curve(tables, choice), run(setting, choice.problem, choice.N)
    h, limit = dynamics.curvature(here.model), dynamics.noise_limit(here.hyper, here.model)
    for _, row in told.iloc[::7].iterrows():
        T = int(row["T"])
        std = accounts.noise_std(account, here.hyper, ApproximateDP(0.4, 1e-5), 10_000, T)
        free = dynamics.noise_risk(replace(here.hyper, steps=T), here.model, std, h)
        assert row["noise"] == pytest.approx(min(free, limit), rel=1e-4)
        assert bool(row["caught"]) == (free > limit)
    assert {True, False} <= set(told["caught"]) or account != ALGORITHM


# the page


def test_other_parameters_make_a_page_too(small: dict[str, pd.DataFrame]) -> None:
    here = show.start(small)
    assert (here.problem, here.N, here.epsilon) == ("D = 5, λ = 0.7", 2000, 0.6)
    assert "2{,}000" in show.try_these(small).data
    controls = {control.name: control for control in show.explore(small).controls}
    assert controls["N"].options == (500, 2000)
    assert controls["epsilon"].options == (0.3, 0.6)
    assert controls["epsilon"].slides
