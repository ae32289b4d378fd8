import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from costofprivacy.chapters import LONGEST_ANSWER
from costofprivacy.experiments.explore.noisyhead import page
from costofprivacy.experiments.explore.noisyhead.experiment import SQUARE, Experiment, Run, noise_factor, step_grid
from costofprivacy.experiments.explore.noisyhead.page import Choice, best, curve
from costofprivacy.judging.headlines import words
from costofprivacy.judging.tables import select
from costofprivacy.noisyhead import accounts, dynamics, learning_curve
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, LAST
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.privacy import ApproximateDP
from costofprivacy.running.montecarlo import Runner
from costofprivacy.running.stamps import read_table
from costofprivacy.settings import Setting
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import BOOK, committed

FIGURE_1 = "D = 5, λ = 5"


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    """As they lie in the book."""
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
    learnt = 1 - learning_curve.noiseless_gain(here.hyper, here.model, N, T)[0]
    unit, limit = here.noise(account, 1e-5, T)[0], learning_curve.noise_limit(here.hyper, here.model)
    assert len(rows) >= 2
    for _, row in rows.iterrows():
        told = learnt + min(limit, unit * noise_factor(account, row["epsilon"], 1e-5))
        assert abs(told - row["test_error"]) < 4 * row["standard_error"]


def test_descent_without_noise_agrees_with_the_simulated_one() -> None:
    rows = select(read_table(BOOK / "noisyhead/low-dimensional/test-error.csv"), setting="corrected", N=1000)
    row = rows[rows["method"] == "gradient-descent"].iloc[0]
    here = run(Setting.CORRECTED, FIGURE_1, 1000)
    learnt = 1 - learning_curve.noiseless_gain(here.hyper, here.model, 1000, np.array([here.recipe_steps]))[0]
    assert abs(learnt - row["test_error"]) < 4 * row["standard_error"]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_factor_of_a_budget_is_the_same_whatever_else_changes(account: str) -> None:
    for hyper, N, T in (
        (Hyperparameters(2.0, 3.0, 4.0, 0.1, 0.2, 1), 100, 7),
        (Hyperparameters(1, 1, 1, 2, 0.1, 1), 9, 900),
    ):
        std, unit = (accounts.noise_std(account, hyper, ApproximateDP(e, 1e-6), N, T) for e in (0.3, 1.0))
        assert noise_factor(account, 0.3, 1e-6) == pytest.approx((std / unit) ** 2, rel=1e-9)


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("setting", [Setting.CORRECTED, Setting.PUBLISHED])
def test_a_curve_is_the_closed_form_at_its_budget(
    tables: dict[str, pd.DataFrame], account: str, setting: Setting
) -> None:
    choice = Choice("D = 5, λ = 0.05", 10_000, account, 0.4, str(setting))
    told, here = curve(tables, choice), run(setting, choice.problem, choice.N)
    h, limit = dynamics.curvature(here.model), learning_curve.noise_limit(here.hyper, here.model)
    for _, row in told.iloc[::7].iterrows():
        T = int(row["T"])
        std = accounts.noise_std(account, here.hyper, ApproximateDP(0.4, 1e-5), 10_000, T)
        free = dynamics.noise_risk(replace(here.hyper, steps=T), here.model, std, h)
        assert row["noise"] == pytest.approx(min(free, limit), rel=1e-4)
        assert bool(row["caught"]) == (free > limit)
    assert {True, False} <= set(told["caught"]) or account != ALGORITHM


def test_nothing_is_told_where_the_printed_calibration_is_no_guarantee(tables: dict[str, pd.DataFrame]) -> None:
    assert curve(tables, Choice(FIGURE_1, account=ALGORITHM, epsilon=5.5))["T"].min() == 6
    assert curve(tables, Choice(FIGURE_1, account=EVERY, epsilon=5.5))["T"].min() == 1


# what they say makes sense


def test_at_the_paper_s_penalties_nothing_predicts(tables: dict[str, pd.DataFrame]) -> None:
    for setting in (Setting.CORRECTED, Setting.PUBLISHED):
        for problem, most in ((FIGURE_1, 0.004), (SQUARE, 1e-3)):
            for N in tables["runs"]["N"].unique():
                choice = Choice(problem, int(N), LAST, 8.0, str(setting))
                assert 0 < 1 - best(tables, choice)["error"] < most


def test_with_a_smaller_penalty_and_many_prompts_it_does(tables: dict[str, pd.DataFrame]) -> None:
    assert best(tables, Choice("D = 5, λ = 0.005", 1_000_000))["error"] < 0.2


def test_more_budget_prompts_or_accounting_never_hurts(tables: dict[str, pd.DataFrame]) -> None:
    for problem in page.problems(tables):
        for choices in (
            [Choice(problem, epsilon=epsilon) for epsilon in (0.1, 0.4, 1.0, 4.0, 8.0)],
            [Choice(problem, account=account) for account in (ALGORITHM, EVERY, LAST)],
            [Choice(problem, N=int(N)) for N in tables["runs"]["N"].unique() if problem != SQUARE],
        ):
            errors = [best(tables, choice)["error"] for choice in choices]
            assert (np.diff(errors) <= 1e-5).all()


def test_the_chart_begins_where_something_is_learnt_and_says_so(tables: dict[str, pd.DataFrame]) -> None:
    here, told = page.start(tables), page.explore(tables)
    assert (here.problem, here.N, here.epsilon) == (FIGURE_1, 4000, 1.0)
    assert (curve(tables, here)["error"] - 1).abs().max() < 0.02
    rows = curve(tables, page.first(tables))
    assert rows["error"].min() < 0.97
    assert f"between {rows['error'].min():.3f} and {rows['error'].max():.3f}" in told.caption
    crossing = rows.loc[rows["noise"] > rows["gained"], "T"].min()
    assert f"from {crossing:,} steps on noise adds more" in told.alt


@pytest.mark.slow
def test_the_answer_follows_the_tables(tables: dict[str, pd.DataFrame]) -> None:
    text = opening_of(page)(tables)
    assert words(text) <= LONGEST_ANSWER
    assert r"\lambda = 0.005" in text
    share = 1 - best(tables, Choice("D = 5, λ = 0.005", 1_000_000))["error"]
    assert f"{100 * share:.0f} %" in text
    free = tables["noise"].assign(noise=0.0)
    assert opening_of(page)(tables | {"noise": free}) != text
    assert "noise never adds as much" in page.explore(tables | {"noise": free}).caption


# the page


def test_what_to_try_is_told_from_the_tables(tables: dict[str, pd.DataFrame]) -> None:
    text = page.try_these(tables).data
    assert len(re.findall(r"^\d\. ", text, re.M)) == 3
    assert "penalty alone" in text
    assert f"{best(tables, Choice('D = 5, λ = 0.005', 1_000_000))['error']:.3f}" in text
    learnt = tables["learnt"].assign(gained=lambda table: 20 * table["gained"])
    other = page.try_these(tables | {"learnt": learnt}).data
    assert "penalty alone" not in other
    assert set(re.findall(r"0\.\d+", text)) != set(re.findall(r"0\.\d+", other))


def test_other_parameters_make_a_page_too(small: dict[str, pd.DataFrame]) -> None:
    here = page.start(small)
    assert (here.problem, here.N, here.epsilon) == ("D = 5, λ = 0.7", 2000, 0.6)
    assert "2{,}000" in page.try_these(small).data
    controls = {control.name: control for control in page.explore(small).controls}
    assert controls["N"].options == (500, 2000)
    assert controls["epsilon"].options == (0.3, 0.6)
    assert controls["epsilon"].slides


@pytest.mark.slow
def test_every_control_has_a_label_and_the_page_stays_small(tables: dict[str, pd.DataFrame]) -> None:
    explorer = page.explore(tables)
    assert [control.label for control in explorer.controls] == [
        "Budget ε", "Training prompts N", "Problem and penalty", "Accounting", "Setting",
    ]  # fmt: skip
    html = explorer._repr_html_()
    assert len(html) < 400_000
    assert "http" not in html


def test_steps_are_every_whole_number_at_first() -> None:
    assert step_grid(3)[:8].tolist() == [1, 2, 3, 4, 6, 7, 10, 13]
    assert step_grid(3)[-1] == 1000
