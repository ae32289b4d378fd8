import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import early_stopping as study
from costofprivacy.experiments.noisyhead.early_stopping import closed_forms, experiment
from costofprivacy.montecarlo import Runner, generator
from costofprivacy.noisyhead import accounts as accounting
from costofprivacy.noisyhead import bounds, dynamics, head, hyperparameters, population, pretraining, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, LAST
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    exact_composed_noise_multiplier,
    last_iterate,
)
from costofprivacy.settings import Setting
from tests import oracles

QUIET = Runner(workers=1)
BUDGET = ApproximateDP(0.8, 1e-5)
MODEL = PromptModel(10, 10, 0.5)
HYPER = Hyperparameters(4.0, 2.0, 3.0, 10.0, 0.002, 1)
SMALL = {"N": 36, "T": (2, 5, 30), "epsilon": 2.0, "kappa": 0.5, "tau": 0.5, "test_prompts": 400}


@pytest.fixture(scope="module")
def published() -> dict[str, pd.DataFrame]:
    return study.Experiment(T=(1, 161, 481), trials=25).run(QUIET)


@pytest.fixture(scope="module")
def small() -> dict[str, pd.DataFrame]:
    """A small size whose noise and start are so small that Π_R is idle throughout."""
    return study.Experiment(**SMALL, trials=400).run(QUIET)


# a trial


def test_a_trial_is_the_literal_experiment() -> None:
    """Every run on the same draws, prompt by prompt and step by step, with C, G and R at work.

    The noise is drawn in the eigenbasis of the Gram matrix that a run sees, and carried over.
    """
    cell = study.Cell(20, (2, 7, 3), 0.02, 1e-3, 19.0, 0.7, 3)
    fast = study.trial(cell, rng=generator(5, 20, 0))
    rng = generator(5, 20, 0)
    train, test = sample(cell.model, 20, rng=rng), sample(cell.model, 3, rng=rng)
    start = 0.1 * rng.standard_normal((4, 4))
    stream = int(rng.integers(2**63))
    reference = oracles.ridge(train.x, train.y, 20 / 4)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    labels, weights, longest = [], [], []
    for setting, begins, accounts in experiment.RUNS:
        hyper = cell.hyper[setting]
        C, G, R, told = hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, (hyper.penalty, hyper.learning_rate)
        assert np.abs(train.y).max() > C
        assert max(np.linalg.norm(oracles.statistic(x, y, C, np.inf)) for x, y in zip(train.x, train.y)) > G
        data = in_eigenbasis(head.moments(head.project(head.statistics(train, C), G)))
        directions = data.matrices(np.random.default_rng(stream).standard_normal((7, 16)))
        initial = start if begins == "random" else 0 * start
        stds = iter(cell.noise(setting, accounts))
        for account in accounts:
            for T in cell.T:
                noise = next(stds) * directions[:T]
                labels.append((setting, begins, account, "noisyhead", T))
                weights.append(oracles.noisyhead(train.x, train.y, C, G, R, *told, noise, initial))
                longest.append(np.linalg.norm(weights[-1]) / R)
        for T in (2, 7, 3, *experiment.LATER):
            labels.append((setting, begins, "", "gradient-descent", T))
            if T > 7:
                weights.append(np.full((4, 4), np.nan))
                continue
            weights.append(oracles.noisyhead(train.x, train.y, *3 * [np.inf], *told, 0 * directions[:T], initial))
    labels += [("", "", "", "zero", 0), ("", "", "", "ridge", 0)]
    weights += [np.zeros((4, 4)), reference]
    assert [tuple(row) for row in cell.columns.to_numpy()] == [(str(s), *rest) for s, *rest in labels]
    assert max(longest) == pytest.approx(1)
    assert min(longest) < 0.5
    excess = np.array([np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z]) for Gamma in weights])
    error = np.array([population.prediction_error(cell.model, Gamma) for Gamma in weights])
    near = np.isfinite(excess)
    assert near.sum() == len(near) - 4 * len(experiment.LATER)
    np.testing.assert_allclose(fast[0, near], excess[near], rtol=1e-6, atol=1e-18)
    np.testing.assert_allclose(fast[1, near], error[near], rtol=1e-8)


def test_descent_far_beyond_the_figure_is_the_literal_one() -> None:
    cell = study.Cell(16, (1, 2), 1.0, 1e-3, 1.0, 0.3, 2)
    assert cell.later == (1, 2, *range(600, 3001, 200))
    assert replace(cell, T=(1, 700)).later == (1, 700, *range(800, 3001, 200))
    fast = study.trial(cell, rng=generator(5, 16, 0))
    rng = generator(5, 16, 0)
    train, test = sample(cell.model, 16, rng=rng), sample(cell.model, 2, rng=rng)
    start, reference = 0.1 * rng.standard_normal((4, 4)), oracles.ridge(train.x, train.y, 4.0)
    hyper = cell.hyper[Setting.PUBLISHED]
    told = (*3 * [np.inf], hyper.penalty, hyper.learning_rate, np.zeros((600, 4, 4)), start)
    Gamma = oracles.noisyhead(train.x, train.y, *told)
    excess = np.mean(
        [((Gamma - reference) * oracles.statistic(x, y, 9e9, 9e9)).sum() ** 2 for x, y in zip(test.x, test.y)]
    )
    at = cell.columns.query(
        "setting == 'published' and start == 'random' and method == 'gradient-descent' and T == 600"
    )
    assert fast[0, at.index[0]] == pytest.approx(excess, rel=1e-8)


def test_one_eigendecomposition_serves_only_what_it_is_of() -> None:
    """Whether anything was clipped or projected decides whether a run has its own Gram matrix."""
    raw = head.statistics(sample(MODEL, 30, rng=np.random.default_rng(1)))
    assert experiment._same(head.project(raw, 1e9), raw)
    assert not experiment._same(head.project(raw, 0.3), raw)
    assert not experiment._same(replace(raw, response=2 * raw.response), raw)


def test_the_settings_by_hand() -> None:
    """N = 900, D = L = 30, λ = 30, κ = 0.5, τ = 0.5."""
    cell = study.Cell(900, (40, 9), 0.3, 1e-4, 0.5, 0.5, 7)
    assert cell.model == PromptModel(30, 30, 0.5)
    assert (cell.penalty, cell.key, cell.budget) == (30.0, 900, ApproximateDP(0.3, 1e-4))
    C = np.sqrt(2 * 1.25 * np.log(27000 / 0.5))
    G = [C / np.sqrt(30) * (1 + np.log(1800) ** 0.5 / 30), C / np.sqrt(30) * (1 + (np.log(1800) / 900) ** 0.25)]
    R, rates = C**2 * np.sqrt(30) / 30, [0.02 * 30 / (3 * (30 + g**2) ** 2) for g in G]
    expected = {
        Setting.PRINTED: (C, G[0], R, 30.0, rates[0], 40),
        Setting.PUBLISHED: (C, G[1], R, 30.0, rates[1], 40),
        Setting.CORRECTED: (C, G[1], C / (2 * np.sqrt(30)), 15.0, rates[1], 40),
    }
    for setting, values in expected.items():
        told = cell.hyper[setting]
        found = (told.clip_norm, told.feature_bound, told.weight_bound, told.penalty, told.learning_rate, told.steps)
        np.testing.assert_allclose(found, values, rtol=1e-12)


def test_the_noise_of_each_account_by_hand() -> None:
    """Each account spends the budget and no less, by the accounting that it names."""
    cell = study.Cell(900, (40, 9), 0.3, 1e-4, 0.5, 0.5, 7)
    for setting, hyper in cell.hyper.items():
        sensitivity = hyper.learning_rate * 2 * hyper.feature_bound
        sensitivity *= (hyper.clip_norm + hyper.weight_bound * hyper.feature_bound) / 900
        c = 1 - 2 * hyper.learning_rate * hyper.penalty
        for i, T in enumerate((40, 9)):
            printed, every, last = (cell.noise(setting, ACCOUNTS)[k * 2 + i] for k in range(3))
            assert printed == pytest.approx(sensitivity * T / 0.3 * np.sqrt(2 * np.log(1.25 * T / 1e-4)), rel=1e-12)
            assert GaussianDP(sensitivity * np.sqrt(T) / every).delta(0.3) == pytest.approx(1e-4, rel=1e-6)
            geometric = sum(c**t for t in range(T)) / np.sqrt(sum(c ** (2 * t) for t in range(T)))
            assert GaussianDP(sensitivity * geometric / last).delta(0.3) == pytest.approx(1e-4, rel=1e-6)
            assert last < every < printed


# the tables


def test_published_numbers_are_matched_and_printed_settings_give_others(published: dict[str, pd.DataFrame]) -> None:
    comparison = published["comparison"]
    worst = comparison["deviation"].abs().groupby(comparison["setting"]).max()
    assert worst["published"] < 4
    assert worst["printed"] > 1000
    assert (comparison["setting"] == "published").sum() == 2 * 3
    theirs = experiment.published()
    assert sorted(theirs["T"].unique()) == list(study.Experiment().T)[::2]
    row = comparison.query("setting == 'published' and T == 161 and method == 'noisyhead'").iloc[0]
    assert row["excess_risk_theirs"] == theirs.query("T == 161 and method == 'noisyhead'")["excess_risk"].item()
    combined = np.hypot(row["standard_error"], row["standard_error"] * np.sqrt(25 / 500))
    assert row["deviation"] == pytest.approx((row["excess_risk"] - row["excess_risk_theirs"]) / combined)


def test_the_figure_has_its_columns_and_rows(published: dict[str, pd.DataFrame]) -> None:
    table, error = published["figure-3"], published["test-error"]
    assert list(table.columns) == ["setting", "method", "T", "excess_risk", "standard_error", "trials"]
    assert list(error.columns)[-2:] == ["best_linear_head", "response_variance"]
    assert len(table) == len(error) == 3 * 3 * 4
    assert not table.duplicated(["setting", "T", "method"]).any()
    assert set(table["method"]) == {"noisyhead", "gradient-descent", "zero", "ridge"}
    assert (table["trials"] == 25).all()
    assert (table[table["method"] == "ridge"]["excess_risk"] == 0).all()
    assert (error[error["method"] == "zero"]["test_error"] == 1).all()
    np.testing.assert_allclose(error["best_linear_head"], 30 / 61)
    for method in ("zero", "ridge"):
        assert table[table["method"] == method]["excess_risk"].nunique() == 1


def test_the_figure_is_made_of_the_runs_that_it_names(published: dict[str, pd.DataFrame]) -> None:
    figure, accounts, descent = (published[n] for n in ("figure-3", "accounts", "descent"))
    own = figure.query("setting == 'published' and method == 'noisyhead'")["excess_risk"]
    same = accounts.query(f"start == 'random' and account == '{ALGORITHM}'")["excess_risk"]
    np.testing.assert_array_equal(own, same)
    assert len(accounts) == 2 * 3 * 3
    for setting, start in (("published", "random"), ("printed", "zero"), ("corrected", "zero")):
        plain = figure.query(f"setting == '{setting}' and method == 'gradient-descent'")["excess_risk"]
        there = descent.query(f"setting == '{setting}' and start == '{start}' and T <= 481")["excess_risk"]
        np.testing.assert_allclose(plain, there, rtol=1e-14)


def test_the_closed_form_is_met(published: dict[str, pd.DataFrame], small: dict[str, pd.DataFrame]) -> None:
    """At the figure's size, and at N = 36 with N⁻¹Σ ZZᵀ far from its mean, h/λ being 1 %."""
    for tables, tolerance in ((published, 0.0), (small, 0.02)):
        for name in ("accounts", "descent"):
            rows = tables[name]
            rows = rows[rows["radius_share"] < 0.6] if name == "accounts" else rows[rows["closed_form"] > 1e-30]
            rows = rows[rows["excess_risk"] > 1e-20]
            assert len(rows) >= 6
            gap = (rows["excess_risk"] - rows["closed_form"]).abs() - tolerance * rows["closed_form"]
            assert (gap / rows["standard_error"]).max() < 4.5, name


def test_the_radius_share_by_hand(published: dict[str, pd.DataFrame]) -> None:
    h = population.context_energy(PromptModel(31, 31)) / 31**2
    R = hyperparameters.clip_norm(PromptModel(31, 31), 1000, 1.0) ** 2 * np.sqrt(1000 / 31) * 31 / 1000
    for row in published["accounts"].itertuples():
        begins = 3.1 if row.start == "random" else 0.0
        assert row.radius_share == pytest.approx(max(begins, np.sqrt(row.closed_form / h)) / R)
    np.testing.assert_allclose(published["closed-form"]["limit_of_R"], h * R**2)


def test_descent_rests_and_its_rise_is_counted() -> None:
    """``risen``: the share of data sets whose risk is above an earlier one, at each T."""
    cell = study.Cell(16, (1, 2), 1.0, 1e-3, 1.0, 0.0, 1)
    values = np.ones((4, len(cell.columns)))
    own = cell.columns.query("setting == 'published' and start == 'random' and method == 'gradient-descent'").index
    values[:, own[0]] = 3.0
    values[:, own[1]] = [2.0, 3.5, 3.0, 0.5]
    values[:, own[2]] = [2.0 * (1 + 1e-10), 2.5, 2.9, 0.6]
    rows = experiment.descent_rows(cell, values)
    assert len(rows) == 4 * (2 + len(experiment.LATER))
    mine = rows.query("setting == 'published' and start == 'random'").reset_index(drop=True)
    assert list(mine["T"]) == list(cell.later)
    assert list(mine["risen"][:4]) == [0.0, 0.25, 0.25, 0.25]
    assert mine["excess_risk"][1] == pytest.approx(2.25)
    assert mine["standard_error"][1] == pytest.approx(np.std([2.0, 3.5, 3.0, 0.5], ddof=1) / 2)
    assert (rows.drop(mine.index)["trials"] == 4).all()
    h, cross = dynamics.curvature(cell.model), dynamics.cross_energy(cell.model, 16)
    gap = h * cross * (1 / (8 + h) - 1 / (4 + h)) ** 2
    np.testing.assert_allclose(mine["rest"], gap)
    eta = cell.hyper[Setting.PUBLISHED].learning_rate
    decay = (1 - eta * (8 + h)) ** mine["T"]
    off = (1 - decay) / (8 + h) - 1 / (4 + h)
    np.testing.assert_allclose(mine["closed_form"], h * (decay**2 * 0.16 + off**2 * cross))
    np.testing.assert_allclose(rows.query("setting == 'corrected'")["rest"], 0, atol=1e-12 * gap)


def test_descent_passes_its_rest_in_some_data_sets_only_with_lambda(published: dict[str, pd.DataFrame]) -> None:
    descent = published["descent"]
    risen = descent.groupby(["setting", "start"])["risen"].max()
    assert 0.2 < risen["published", "random"] < 0.9
    assert risen["corrected", "zero"] == risen["published", "zero"] == risen["printed", "zero"] == 0
    last = descent[descent["T"] == 3000].set_index(["setting", "start"])
    assert last["excess_risk"]["published", "random"] == pytest.approx(last["rest"]["published", "random"], rel=0.03)


def test_best_steps_are_the_least_of_each_curve(published: dict[str, pd.DataFrame]) -> None:
    best = published["best-steps"].set_index(["source", "start", "account"])
    accounts, curves, limits = (published[name] for name in ("accounts", "closed-form", "bounds"))
    for start in ("random", "zero"):
        for account in ACCOUNTS:
            for source, table, value in (("simulation", accounts, "excess_risk"), ("closed form", curves, "total")):
                rows = table[(table["start"] == start) & (table["account"] == account)]
                found = best.loc[(source, start, account)]
                assert found["least"] == rows[value].min()
                assert rows[rows["T"] == found["best_T"]][value].item() == rows[value].min()
                assert (found["first_T"], found["last_T"]) == (1, rows["T"].max())
    for name in ("42", "45"):
        total = limits[f"descent_{name}"] + limits[f"noise_{name}"]
        found = best.loc[(f"(4.{name[1]})", "", ALGORITHM)]
        assert found["least"] == total.min()
        assert limits["T"][total.argmin()] == found["best_T"]
        assert total.iloc[0] > found["least"] < total.iloc[-1]


def test_bits_do_not_depend_on_workers() -> None:
    both = study.Experiment(N=25, T=(3, 1, 20), trials=30, test_prompts=5, kappa=0.5)
    assert both.T == (1, 3, 20)
    first, second = (both.run(Runner(w)) for w in (1, 2))
    for name in first:
        pd.testing.assert_frame_equal(first[name], second[name], check_exact=True)


def test_few_trials_of_two_T_decide_nothing_and_break_nothing() -> None:
    tables = study.Experiment(N=16, T=(1, 40), trials=2, tau=0.5, test_prompts=3, kappa=1e-50).run(QUIET)
    assert tables["comparison"].empty
    assert np.isfinite(tables["bounds"]).all(axis=None)
    assert (tables["bounds"]["noise_45"].iloc[1:] > 0).all()
    figure = tables["figure-3"], tables["comparison"], tables["accounts"]
    assert study.judge_figure_3(*figure).verdict == Verdict.UNTESTABLE
    assert study.judge_monotone(tables["descent"]).verdict == Verdict.HOLDS
    assert study.judge_optimal_stopping(tables["closed-form"], tables["stopping"]).verdict == Verdict.AMENDED
    assert study.judge_c_noise(tables["section-62"]).verdict == Verdict.FAILS
    assert study.judge_any_steps(tables["accounts"], tables["bounds"], tables["stopped"]).verdict == Verdict.HOLDS
    assert study.judge_stopped(tables["stopped"]).verdict == Verdict.AMENDED
    draw(tables)
    show(tables)


def draw(tables: dict[str, pd.DataFrame]) -> None:
    curves, accounts = tables["closed-form"], tables["accounts"]
    drawn = [
        study.draw_figure_3(tables["figure-3"], tables["comparison"], curves),
        study.draw_accounts(accounts, curves),
        study.draw_bounds(tables["bounds"], curves),
        study.draw_noise_power(curves),
        study.draw_stopping(tables["stopping"]),
        study.draw_descent(tables["descent"]),
    ]
    for figure in drawn:
        assert all(axes.get_xlabel() for axes in figure.axes)
        figure.canvas.draw()


def show(tables: dict[str, pd.DataFrame]) -> None:
    assert len(study.show_best(tables["best-steps"])) == 2 * 6 + 2
    assert len(study.show_test_error(tables["test-error"])) == 3 * 2 + 2
    assert study.show_stopped(tables["stopped"]).shape == (8, 4)
    assert study.show_section_62(tables["section-62"]).notna().all(axis=None)
    study.show_deviations(tables["comparison"])
    assert list(study.show_last_iterate(tables["last-iterate"]).index) == ["random", "zero"]


def test_short_tables_come_from_tables(published: dict[str, pd.DataFrame]) -> None:
    show(published)
    shown = study.show_test_error(published["test-error"])
    assert list(shown.columns) == [1, 161, 481]
    row = published["test-error"].query("setting == 'published' and method == 'noisyhead' and T == 481").iloc[0]
    assert float(shown.loc["noisyhead, published", 481]) == pytest.approx(1e6 * (1 - row["test_error"]), rel=0.01)
    assert float(shown.loc["best linear head", 1]) == pytest.approx(1e6 * 31 / 61, rel=0.01)
    stopped = published["stopped"].query("N == 1e4 and epsilon == 8").iloc[0]
    ratio = float(study.show_stopped(published["stopped"]).loc["1e+04", 8.0])
    assert ratio == pytest.approx(stopped["excess_risk"] / stopped["bound_46"], rel=0.05)


def test_both_sides_join_the_simulation_with_the_bounds(published: dict[str, pd.DataFrame]) -> None:
    both = study.both_sides(published["accounts"], published["bounds"])
    assert list(both["T"]) == [1, 161, 481]
    row = both.iloc[1]
    assert row["over_42"] == row["excess_risk"] / (row["descent_42"] + row["noise_42"])
    assert row["over_45"] == row["excess_risk"] / (row["descent_45"] + row["noise_45"])
    assert (row["start"], row["account"]) == ("random", ALGORITHM)


# closed forms


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_risk_is_the_sum_of_its_parts(account: str) -> None:
    steps = np.array([1, 4, 50])
    found = closed_forms.risk(HYPER, MODEL, 100, 7.0, 2.5, account, BUDGET, steps)
    h, e = dynamics.curvature(MODEL), population.context_energy(MODEL)
    a = 1 - 0.002 * (20 + h)
    sensitivity = 0.002 * 2 * 2.0 * (4.0 + 3.0 * 2.0) / 100
    for T, row in zip(steps, found.itertuples()):
        every = sensitivity * exact_composed_noise_multiplier(BUDGET, T)
        std = {
            ALGORITHM: sensitivity * basic_noise_multiplier(BUDGET, T),
            EVERY: every,
            LAST: every * last_iterate(GaussianDP(1.0), 0.96, T).mu / np.sqrt(T),
        }[account]
        noise = std**2 * e * sum(a ** (2 * t) for t in range(T))
        descent = dynamics.descent_risk(HYPER, MODEL, 100, 7.0, 2.5, np.array([T]))[0]
        assert row[1:] == pytest.approx((T, descent, noise, descent + noise), rel=1e-9)
        assert accounting.noise_std(account, HYPER, BUDGET, 100, T) == pytest.approx(std)


def test_the_last_iterate_pays_for_its_limit_once_and_stops_where_the_algebra_says() -> None:
    """Noise A(1 − a^T)²; A(1 − a^T)² + Ba^{2T} is least at log(1 + B/A)/log(1/a), where it is AB/(A + B)."""
    steps = np.arange(1, 2001)
    noise = closed_forms.noise_part(HYPER, MODEL, 100, LAST, BUDGET, steps)
    a, e, h = 0.96, population.context_energy(MODEL), dynamics.curvature(MODEL)
    sensitivity = 0.002 * 2 * 2.0 * (4.0 + 3.0 * 2.0) / 100
    A = e * (sensitivity * exact_composed_noise_multiplier(BUDGET, 1) / (1 - a)) ** 2
    np.testing.assert_allclose(noise, A * (1 - a**steps) ** 2, rtol=2 * 0.002 * h / (1 - a))
    for B in (0.3 * A, 5 * A, 1e4 * A):
        total = A * (1 - a**steps) ** 2 + B * a ** (2 * steps)
        best = math.log(1 + B / A) / math.log(1 / a)
        assert abs(steps[total.argmin()] - best) <= 1
        assert total.min() == pytest.approx(A * B / (A + B), rel=2e-3)
        assert total.min() >= A * B / (A + B)
        assert total[-1] / total.min() == pytest.approx(1 + A / B, rel=2e-3)


@given(st.integers(2, 10**7))
@settings(derandomize=True, deadline=None, max_examples=20)
def test_the_grid_of_steps(longest: int) -> None:
    grid = closed_forms.step_grid(longest)
    assert (grid[0], grid[-1]) == (1, longest)
    assert (np.diff(grid) > 0).all()
    assert len(grid) <= 120
    ratio = longest ** (1 / 119)
    assert set(range(1, min(longest, int(1 / (ratio - 1))) + 1)) <= set(grid)
    assert (np.diff(grid) <= (ratio - 1) * (grid[:-1] + 0.5) + 1).all()


def test_the_bounds_of_the_paper_at_each_T() -> None:
    """(4.2) with G₀ of the proof, (4.5) and C_Noise at r = (1 − η₀λ)^{−T}."""
    table = closed_forms.paper_bounds(HYPER, MODEL, 100, 0.3, BUDGET, np.array([3, 80]))
    C = np.sqrt(2 * 1.25 * np.log(1000 / 0.3))
    G0 = C / np.sqrt(10) * (1 + (-np.log(0.3) / 100) ** 0.25)
    for T, row in zip((3, 80), table.itertuples()):
        r = 0.98**-T
        sigma = 2 * 2.0 * (4.0 + 3.0 * 2.0)
        by_hand = (
            G0**2 * 0.98**T * 9,
            (G0 * sigma * 0.002 * T / 80) ** 2 * 10 * np.log(2 * T / 1e-5),
            *bounds.overparametrised_cost(MODEL, 100, r, BUDGET),
            10 * np.sqrt(10) * np.log(r) ** 3 / (100 * np.log(1000)),
        )
        assert row[1:] == pytest.approx((T, r, *by_hand), rel=1e-9)
        assert row.descent_42 == pytest.approx(bounds.cost_of_descent(replace(HYPER, steps=T), G0))
        assert row.noise_42 == pytest.approx(bounds.cost_of_noise(replace(HYPER, steps=T), G0, MODEL, BUDGET, 100))


def test_the_bounds_are_followed_as_far_as_they_can_be_computed() -> None:
    for T, last in (((1, 7), 350), ((1, 481), 24050), ((9000, 100_000), 100_000)):
        cell = study.Experiment(T=T).cell
        table = experiment.paper_bounds(cell)
        assert set(T) <= set(table["T"])
        assert table["T"].max() >= last
        assert np.isfinite(table).all(axis=None)
        assert (table[["descent_45", "noise_45"]] > 0).all(axis=None)
    widest = study.Experiment(N=2500, T=(1, 100_000), kappa=1.0).cell
    assert np.isfinite(experiment.paper_bounds(widest)).all(axis=None)


def test_the_closed_curves_cover_twice_the_figure(published: dict[str, pd.DataFrame]) -> None:
    curves = published["closed-form"]
    assert curves["T"].max() == 962
    assert set(zip(curves["start"], curves["account"])) == {(s, a) for s in ("random", "zero") for a in ACCOUNTS}
    cell = study.Experiment().cell
    one = curves.query(f"start == 'random' and account == '{LAST}' and T == 5").iloc[0]
    steps = np.array([5])
    found = closed_forms.risk(cell.hyper[Setting.PUBLISHED], cell.model, 1000, 1000 / 31, 9.61, LAST, BUDGET, steps)
    assert one["total"] == pytest.approx(found["total"][0])


# as N grows


def told_by_hand(N: int, kappa: float, tau: float) -> Hyperparameters:
    D = math.isqrt(N)
    C = np.sqrt(2 * (1 + tau**2) * np.log(N * D / kappa))
    G = C / np.sqrt(D) * (1 + np.sqrt(np.log(N / kappa)) / D)
    R = C**2 * np.sqrt(N / D) * D / N * (1 + np.sqrt(np.log(1 / kappa)) / D)
    return Hyperparameters(C, G, R, N / D, 0.9 * N / D / (2 * N / D + G**2) ** 2, 1)


def test_what_theorem_41_tells_the_algorithm() -> None:
    for N in (100, 10**6):
        found = recipes.theorem(recipes.overparametrised_model(N, 0.3), N, 0.5, recipes.high_dimension_penalty(N))
        by_hand = told_by_hand(N, 0.5, 0.3)
        for name in ("clip_norm", "feature_bound", "weight_bound", "penalty", "learning_rate"):
            assert getattr(found, name) == pytest.approx(getattr(by_hand, name), rel=1e-12), name


def test_the_best_T_as_N_grows_is_the_least_of_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Γ⁰ of Figure 3 is longer than R at N = 10⁴ and projected on it; the longest start has the latest best T."""
    monkeypatch.setattr(closed_forms, "SIZES", (100, 10**4))
    monkeypatch.setattr(closed_forms, "LONGEST", 150)
    table = closed_forms.stopping(0.5, 0.3, BUDGET)
    assert len(table) == 2 * 3 * 3
    steps = np.arange(1, 151)
    for row in table.itertuples():
        hyper, size = told_by_hand(int(row.N), 0.5, 0.3), math.isqrt(int(row.N))
        lengths = {
            closed_forms.FROM_R: hyper.weight_bound,
            closed_forms.FROM_FIGURE: 1.0 if size == 10 else hyper.weight_bound,
            closed_forms.FROM_ZERO: 0.0,
        }
        told = (hyper, PromptModel(size, size, 0.3), int(row.N), row.N / size, lengths[row.start] ** 2)
        total = closed_forms.risk(*told, row.account, BUDGET, steps)["total"]
        assert row.best_T == steps[total.argmin()]
        assert row.best_T_over_log_N == pytest.approx(row.best_T / np.log(row.N))
        assert row.risk_at_best == pytest.approx(total.min())
        assert row.risk_at_longest_over_best == pytest.approx(total.iloc[-1] / total.min())
    best = table.pivot_table(index=["N", "account"], columns="start", values="best_T")
    assert (best[closed_forms.FROM_ZERO] <= best[closed_forms.FROM_FIGURE]).all()
    assert (best[closed_forms.FROM_FIGURE] <= best[closed_forms.FROM_R]).all()


def test_the_risk_where_r_is_N_by_hand() -> None:
    table = closed_forms.stopped(0.5, 0.3, 1e-4)
    assert len(table) == 8 * 4
    row = table.query("N == 1e4 and epsilon == 0.1").iloc[0]
    hyper, model = told_by_hand(10**4, 0.5, 0.3), PromptModel(100, 100, 0.3)
    T = math.ceil(math.log(10**4) / -math.log1p(-hyper.learning_rate * 100))
    assert row["T"] == T
    assert row["T_over_log_N"] == pytest.approx(T / np.log(10**4))
    std = pretraining.noise_std_printed(replace(hyper, steps=T), ApproximateDP(0.1, 1e-4), 10**4)
    noise = dynamics.noise_risk(replace(hyper, steps=T), model, std, dynamics.curvature(model))
    descent = dynamics.descent_risk(hyper, model, 10**4, 100.0, hyper.weight_bound**2, np.array([T]))[0]
    assert row["excess_risk"] == pytest.approx(noise + descent)
    assert row["bound_46"] == pytest.approx(1.09**5 * np.log(10**6) ** 3 * 1e4 / 1e12)
    logs = np.log(10**4) ** 3 * 100 / 1e12 * 1e4 * np.log(1e4) / 0.01
    assert row["bound_45"] == pytest.approx(row["bound_46"] * (1 + logs))


def test_section_62_by_hand() -> None:
    """With D = L = √N at r = N: N^{-2}; N^{-7/2}log³N; N^{-1/4}log³N/log N^{3/2}."""
    table = closed_forms.section_62(0.3, BUDGET).set_index("N")
    sizes = table.index.to_numpy()
    np.testing.assert_allclose(table["descent"], sizes**-2)
    np.testing.assert_allclose(table["noise_45"], sizes**-3.5 * np.log(sizes) ** 3)
    np.testing.assert_allclose(table["noise_printed"], sizes**-0.25 * np.log(sizes) ** 2 / 1.5)
    np.testing.assert_allclose(table["exponent_descent"], -2)
    step = np.log(table["noise_45"].iloc[-1] / table["noise_45"].iloc[-2]) / np.log(100)
    assert table["exponent_noise_45"].iloc[-1] == pytest.approx(step)


# parameters


@given(
    st.integers(16, 2500),
    st.lists(st.integers(1, 3000), min_size=2, max_size=4, unique=True),
    st.floats(1e-3, 1.0),
    st.floats(1e-12, 0.5),
    st.floats(1e-50, 1.0),
    st.floats(0, 5),
)
@settings(derandomize=True, deadline=None, max_examples=30)
def test_admissible_parameters_give_admissible_algorithms(
    N: int, T: list[int], epsilon: float, delta: float, kappa: float, tau: float
) -> None:
    cell = study.Experiment(N=N, T=T, epsilon=epsilon, delta=delta, kappa=kappa, tau=tau).cell
    for setting, hyper in cell.hyper.items():
        assert 0 < hyper.learning_rate * hyper.penalty < 1
        assert hyper.contraction < 1
        assert all(0 < std < np.inf for std in cell.noise(setting, ACCOUNTS))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"N": 15}, "N must be between 16 and 2500, got 15"),
        ({"N": 2501}, "N must be between 16 and 2500, got 2501"),
        ({"N": 99.5}, "N must be a whole number of at least 1, got 99.5"),
        ({"T": [5]}, r"T must hold at least two numbers of steps, got \[5\]"),
        ({"T": 5}, "T must be a non-empty list, got 5"),
        ({"T": [0, 5]}, "each of T must be a whole number of at least 1, got 0"),
        ({"T": [5, 5]}, r"T must be a list of distinct values, got \[5, 5\]"),
        ({"T": [1, 100_001]}, "each of T must be at most 100000, got 100001"),
        ({"epsilon": 1.5}, "epsilon must be between 0 and 1, got 1.5"),
        ({"epsilon": 0}, "epsilon must be positive, got 0"),
        ({"delta": 1.0}, "delta must be between 0 and 1, both excluded, got 1.0"),
        ({"kappa": 1.5}, "kappa must be between 1e-50 and 1, got 1.5"),
        ({"kappa": 1e-300}, "kappa must be between 1e-50 and 1, got 1e-300"),
        ({"kappa": 0}, "kappa must be positive, got 0"),
        ({"tau": -0.1}, "tau must be non-negative and finite, got -0.1"),
        ({"trials": 1}, "trials must be a whole number of at least 2, got 1"),
        ({"test_prompts": 0}, "test_prompts must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_inadmissible_parameters_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}") as refusal:
        study.Experiment(**arguments)
    assert "\n" not in str(refusal.value)


def test_the_edges_of_what_is_admissible() -> None:
    edge = study.Experiment(N=16, T=[100_000, 7], epsilon=7.0, kappa=1e-50, trials=2, test_prompts=1, seed=0)
    assert edge.T == (7, 100_000)
    assert not edge.is_published
    whole = study.Experiment()
    assert whole.is_published
    assert replace(whole, T=(1, 7), trials=2, seed=9).is_published
    others = ({"N": 999}, {"epsilon": 0.7}, {"delta": 1e-4}, {"kappa": 0.5}, {"tau": 0.1}, {"test_prompts": 9})
    assert not any(replace(whole, **other).is_published for other in others)


def test_the_last_iterates_price_in_the_limit() -> None:
    """A(1 − x)² + B x² with x = a^T: its least value and place by search, and its limit A."""
    limits = closed_forms.last_iterate(HYPER, MODEL, 100, BUDGET, {"far": 2.5, "zero": 0.0}).set_index("start")
    A, B = limits.loc["far", "A"], limits.loc["far", "B"]
    x = np.linspace(0, 1, 200_001)
    total = A * (1 - x) ** 2 + B * x**2
    assert limits.loc["far", "least"] == pytest.approx(total.min(), rel=1e-8)
    a = 1 - HYPER.learning_rate * (2 * HYPER.penalty + dynamics.curvature(MODEL))
    assert a ** limits.loc["far", "best_T"] == pytest.approx(x[total.argmin()], abs=1e-5)
    assert limits.loc["far", "for_ever_over_least"] == pytest.approx(1 + A / B)
    steps = np.arange(1, 400)
    curve = closed_forms.risk(HYPER, MODEL, 100, HYPER.penalty, 2.5, LAST, BUDGET, steps)
    np.testing.assert_allclose(curve["noise"], A * (1 - a**steps) ** 2, rtol=5e-4)  # c and a differ by η₀h
