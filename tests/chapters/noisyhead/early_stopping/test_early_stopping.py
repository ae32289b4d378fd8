import math
from collections.abc import Callable
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.early_stopping import measure
from chapters.noisyhead.early_stopping.measure import FROM_R, FROM_ZERO, LATER, RUNS, Cell, Draws, Run
from companion.judging.findings import Verdict
from companion.running.montecarlo import Runner
from companion.streams import generator
from costofprivacy.noisyhead import accounts as accounting
from costofprivacy.noisyhead import bounds, dynamics, head, population, pretraining
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, LAST
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    exact_composed_noise_multiplier,
    last_iterate,
)
from costofprivacy.settings import Setting
from tests import oracles
from tests.chapters.machinery import Case, Tables, both, change, committed, having, judge, put, trials

QUIET = Runner(workers=1)
SMALL = {"N": 36, "T": (2, 5, 30), "epsilon": 2.0, "failure": 0.5, "label_noise": 0.5, "test_prompts": 400}


@pytest.fixture(scope="module")
def published() -> dict[str, pd.DataFrame]:
    return measure.Experiment(T=(1, 161, 481), trials=12).run(QUIET)


@pytest.fixture(scope="module")
def small() -> dict[str, pd.DataFrame]:
    """A small size whose noise and start are so small that Π_R is idle throughout."""
    return measure.Experiment(**SMALL, trials=200).run(QUIET)


# a trial


def drawn(cell: Cell, seed: int) -> tuple[Prompts, Prompts, Draws]:
    """Training and test prompts token by token, and what a trial makes of them."""
    rng = generator(seed, cell.N, 0)
    train, test = sample(cell.model, cell.N, rng=rng), sample(cell.model, cell.test_prompts, rng=rng)
    clipped = head.statistics(train, cell.hyper[Setting.PRINTED].clip_norm)
    start = 0.1 * rng.standard_normal((cell.model.D, cell.model.D))
    draws = Draws(head.statistics(train), clipped, head.statistics(test), start, int(rng.integers(2**63)))
    return train, test, draws


def literal(cell: Cell, train: Prompts, draws: Draws, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights of every column up to ``most`` steps, NaN beyond, and the longest iterate of each run over its R."""
    D = cell.model.D
    directions = np.random.default_rng(draws.stream).standard_normal((most, D, D))
    weights, longest = [], []
    for setting, begins, accounts in RUNS:
        hyper = cell.hyper[setting]
        C, G, R, told = hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, (hyper.penalty, hyper.learning_rate)
        initial = draws.start if begins == "random" else 0 * draws.start
        stds = iter(cell.noise[setting, accounts])
        for _ in accounts:
            for T in cell.T:
                noise = next(stds) * directions[:T]
                weights.append(oracles.noisyhead(train.x, train.y, C, G, R, *told, noise, initial))
                longest.append(np.linalg.norm(weights[-1]) / R)
        for T in cell.later:
            plain = (train.x, train.y, *3 * [np.inf], *told, np.zeros((T, D, D)), initial)
            weights.append(oracles.noisyhead(*plain) if most >= T else np.full((D, D), np.nan))
    reference = oracles.ridge(train.x, train.y, cell.penalty)
    return np.array([*weights, np.zeros((D, D)), reference]), np.array(longest)


CELLS = {  # and how many of the 24 private runs are run step by step
    "Π_R, C and G at work": (Cell(20, (2, 7, 3), 0.02, 1e-3, 19.0, 0.7, 3), range(1, 24)),
    "some runs projected": (Cell(36, (2, 7, 3), 0.01, 1e-3, 0.5, 0.5, 3), range(1, 24)),
    "all idle": (Cell(36, (2, 7, 3), 2.0, 1e-3, 0.5, 0.5, 3), [0]),
    "no series, H as large as λ": (Cell(16, (2, 7, 3), 2.0, 1e-3, 0.5, 30.0, 3), [24]),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_trial_is_the_literal_experiment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run on the same draws and the same noise, prompt by prompt and step by step."""
    cell, by_step = CELLS[name]
    train, test, draws = drawn(cell, 5)
    stepped: list[float] = []
    run = pretraining.pretrain
    monkeypatch.setattr(pretraining, "pretrain", lambda *told, **by: stepped.extend(told[2]) or run(*told, **by))
    fast = measure.measured(cell, draws)
    assert len(stepped) in by_step
    weights, longest = literal(cell, train, draws, 7)
    assert (longest.max() > 1 - 1e-9) == (0 < len(stepped) < 24)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    excess = np.array([np.mean([((Gamma - weights[-1]) * z).sum() ** 2 for z in Z]) for Gamma in weights])
    error = population.prediction_error(cell.model, weights)
    near = np.isfinite(excess)
    assert near.sum() == len(cell.columns) - 4 * len(LATER)
    np.testing.assert_allclose(fast[0, near], excess[near], rtol=1e-8, atol=1e-20)
    np.testing.assert_allclose(fast[1, near], error[near], rtol=1e-10)


def test_descent_far_beyond_the_figure_is_the_literal_one() -> None:
    cell = Cell(16, (1, 2), 1.0, 1e-3, 1.0, 0.3, 2)
    assert cell.later == (1, 2, *range(600, 3001, 200))
    assert replace(cell, T=(1, 700)).later == (1, 700, *range(800, 3001, 200))
    train, _, draws = drawn(cell, 5)
    fast, (weights, _) = measure.measured(cell, draws), literal(cell, train, draws, 600)
    excess = head.mean_square(weights - weights[-1], draws.test)
    at = cell.columns.query("method == 'gradient-descent' and T == 600").index
    assert len(at) == 4
    np.testing.assert_allclose(fast[0, at], excess[at], rtol=1e-8)


def test_the_settings_by_hand() -> None:
    """N = 900, D = L = 30, λ = 30, κ = 0.5, τ = 0.5."""
    cell = Cell(900, (40, 9), 0.3, 1e-4, 0.5, 0.5, 7)
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
        np.testing.assert_allclose(astuple(cell.hyper[setting]), values, rtol=1e-12)


def test_the_noise_of_each_account_by_hand() -> None:
    """Each account spends the budget and no less, by the accounting that it names."""
    cell = Cell(900, (40, 9), 0.3, 1e-4, 0.5, 0.5, 7)
    for setting, hyper in cell.hyper.items():
        sensitivity = hyper.learning_rate * 2 * hyper.feature_bound
        sensitivity *= (hyper.clip_norm + hyper.weight_bound * hyper.feature_bound) / 900
        c = 1 - 2 * hyper.learning_rate * hyper.penalty
        for i, T in enumerate((40, 9)):
            printed, every, last = (cell.stds(setting, ACCOUNTS)[k * 2 + i] for k in range(3))
            assert printed == pytest.approx(sensitivity * T / 0.3 * np.sqrt(2 * np.log(1.25 * T / 1e-4)), rel=1e-12)
            assert GaussianDP(sensitivity * np.sqrt(T) / every).delta(0.3) == pytest.approx(1e-4, rel=1e-6)
            geometric = sum(c**t for t in range(T)) / np.sqrt(sum(c ** (2 * t) for t in range(T)))
            assert GaussianDP(sensitivity * geometric / last).delta(0.3) == pytest.approx(1e-4, rel=1e-6)
            assert last < every < printed


# the tables


@pytest.mark.slow
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


def test_descent_rests_and_its_rise_is_counted() -> None:
    """``risen``: the share of data sets whose risk is above an earlier one, at each T."""
    cell = Cell(16, (1, 2), 1.0, 1e-3, 1.0, 0.0, 1)
    values = np.ones((4, len(cell.columns)))
    own = cell.columns.query("setting == 'published' and start == 'random' and method == 'gradient-descent'").index
    values[:, own[0]] = 3.0
    values[:, own[1]] = [2.0, 3.5, 3.0, 0.5]
    values[:, own[2]] = [2.0 * (1 + 1e-10), 2.5, 2.9, 0.6]
    rows = measure.descent_rows(cell, values)
    assert len(rows) == 4 * (2 + len(LATER))
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


# the closed forms, against formulas written out

BUDGET = ApproximateDP(0.8, 1e-5)
MODEL = PromptModel(10, 10, 0.5)
HYPER = Hyperparameters(4.0, 2.0, 3.0, 10.0, 0.002, 1)
RUN = Run(HYPER, MODEL, 100)
BY_HAND = Hyperparameters(*oracles.theorem_41(10**4, 100.0, 0.5, 0.3))


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_risk_is_the_sum_of_its_parts(account: str) -> None:
    steps = np.array([1, 4, 50])
    found = RUN.risk(2.5, account, BUDGET, steps)
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
        descent = dynamics.descent_risk(HYPER, MODEL, 100, 10.0, 2.5, np.array([T]))[0]
        assert row[1:] == pytest.approx((T, descent, noise, descent + noise), rel=1e-9)
        assert accounting.noise_std(account, HYPER, BUDGET, 100, T) == pytest.approx(std)


def test_the_bounds_of_the_paper_at_each_T() -> None:
    """(4.2) with G₀ of the proof, (4.5) and C_Noise at r = (1 − η₀λ)^{−T}."""
    table = measure.right_sides(RUN, 0.3, BUDGET, np.array([3, 80]))
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


def test_the_last_iterates_price_in_the_limit() -> None:
    """A(1 − x)² + B x² with x = a^T: its least value and place by search, and its limit A."""
    limits = measure.last_iterate(RUN, BUDGET, {"far": 2.5, "zero": 0.0}).set_index("start")
    A, B = limits.loc["far", "A"], limits.loc["far", "B"]
    x = np.linspace(0, 1, 200_001)
    total = A * (1 - x) ** 2 + B * x**2
    assert limits.loc["far", "least"] == pytest.approx(total.min(), rel=1e-8)
    a = 1 - HYPER.learning_rate * (2 * HYPER.penalty + dynamics.curvature(MODEL))
    assert a ** limits.loc["far", "best_T"] == pytest.approx(x[total.argmin()], abs=1e-5)
    assert limits.loc["far", "for_ever_over_least"] == pytest.approx(1 + A / B)
    steps = np.arange(1, 400)
    curve = RUN.risk(2.5, LAST, BUDGET, steps)
    np.testing.assert_allclose(curve["noise"], A * (1 - a**steps) ** 2, rtol=5e-4)  # c and a differ by η₀h


# as N grows


def test_the_best_T_as_N_grows_is_the_least_of_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Γ⁰ of Figure 3 is longer than R at N = 10⁴ and projected on it; the longest start has the latest best T."""
    monkeypatch.setattr(measure, "SIZES", (100, 10**4))
    monkeypatch.setattr(measure, "LONGEST", 150)
    table = measure.stopping(0.5, 0.3, BUDGET)
    assert len(table) == 2 * 3 * 3
    steps = np.arange(1, 151)
    for row in table.itertuples():
        size = math.isqrt(int(row.N))
        hyper = Hyperparameters(*oracles.theorem_41(int(row.N), row.N / size, 0.5, 0.3))
        lengths = {
            measure.FROM_R: hyper.weight_bound,
            measure.FROM_FIGURE: 1.0 if size == 10 else hyper.weight_bound,
            measure.FROM_ZERO: 0.0,
        }
        run = Run(hyper, PromptModel(size, size, 0.3), int(row.N))
        total = run.risk(lengths[row.start] ** 2, row.account, BUDGET, steps)["total"]
        assert row.best_T == steps[total.argmin()]
        assert row.best_T_over_log_N == pytest.approx(row.best_T / np.log(row.N))
        assert row.risk_at_best == pytest.approx(total.min())
        assert row.risk_at_longest_over_best == pytest.approx(total.iloc[-1] / total.min())
    best = table.pivot_table(index=["N", "account"], columns="start", values="best_T")
    assert (best[measure.FROM_ZERO] <= best[measure.FROM_FIGURE]).all()
    assert (best[measure.FROM_FIGURE] <= best[measure.FROM_R]).all()


def test_the_risk_where_r_is_N_by_hand() -> None:
    table = measure.stopped(0.5, 0.3, 1e-4)
    assert len(table) == 8 * 4
    row = table.query("N == 1e4 and epsilon == 0.1").iloc[0]
    hyper, model = BY_HAND, PromptModel(100, 100, 0.3)
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
    table = measure.section_62(0.3, BUDGET).set_index("N")
    sizes = table.index.to_numpy()
    np.testing.assert_allclose(table["descent"], sizes**-2)
    np.testing.assert_allclose(table["noise_45"], sizes**-3.5 * np.log(sizes) ** 3)
    np.testing.assert_allclose(table["noise_printed"], sizes**-0.25 * np.log(sizes) ** 2 / 1.5)
    np.testing.assert_allclose(table["exponent_descent"], -2)
    step = np.log(table["noise_45"].iloc[-1] / table["noise_45"].iloc[-2]) / np.log(100)
    assert table["exponent_noise_45"].iloc[-1] == pytest.approx(step)


def test_the_bound_is_followed_along_each_size() -> None:
    """(4.5) along T, along ever smaller ε at r = N, and along T at the largest ε that is private."""
    table = measure.any_steps(0.5, 0.3, BUDGET)
    assert (table["N"] == 1e4).all()
    axes = dict(list(table.groupby("axis")))
    assert set(axes) == {"T", "ε", "T, ε = T"}
    assert (axes["T"]["epsilon"] == 0.8).all()
    assert axes["ε"]["T"].nunique() == 1
    assert axes["ε"]["epsilon"].min() == pytest.approx(1e-8)
    for axis in ("T", "T, ε = T"):
        assert (axes[axis]["T"].min(), axes[axis]["T"].max()) == (1, measure.LONGEST)
    assert (axes["T, ε = T"]["epsilon"] == axes["T, ε = T"]["T"]).all()
    run = Run(BY_HAND, PromptModel(100, 100, 0.3), 10**4)
    for row in table.iloc[[3, len(axes["T"]) + 2, -2]].itertuples():
        budget = ApproximateDP(row.epsilon, 1e-5)
        r = (1 - run.hyper.learning_rate * 100) ** -row.T
        assert row.r == pytest.approx(r, rel=1e-9)
        assert row.bound_45 == pytest.approx(sum(bounds.overparametrised_cost(run.model, 10**4, r, budget)), rel=1e-9)
        total = run.risk(run.hyper.weight_bound**2, ALGORITHM, budget, np.array([row.T]))["total"][0]
        assert row.excess_risk == pytest.approx(total)


def test_the_parts_at_the_stop_by_hand() -> None:
    """Noise and descent at T of the order of log N; the noise of one step is quadratic in the learning rate."""
    table = measure.parts_at_stop(0.5, 0.3, BUDGET)
    assert len(table) == 8 * 2 * 3 * 3
    assert sorted(table[table["N"] == 1e4]["T"].unique()) == [1, 5, 10]
    model, hyper = PromptModel(100, 100, 0.3), BY_HAND
    h = dynamics.curvature(model)
    zero = h * dynamics.cross_energy(model, 10**4) / (100 + h) ** 2
    for start, energy in ((measure.FROM_R, hyper.weight_bound**2), (measure.FROM_ZERO, 0.0)):
        for share in measure.RATES:
            told = replace(hyper, learning_rate=share * hyper.learning_rate)
            rows = table[(table["N"] == 1e4) & (table["start"] == start) & (table["rate_share"] == share)]
            closed = Run(told, model, 10**4).risk(energy, ALGORITHM, BUDGET, np.array([1, 5, 10]))
            np.testing.assert_allclose(rows["noise"], closed["noise"])
            np.testing.assert_allclose(rows["descent"], closed["descent"])
            np.testing.assert_allclose(rows["zero_risk"], zero)
            np.testing.assert_allclose(rows["noise_over_descent"], closed["noise"] / closed["descent"])
            np.testing.assert_allclose(rows["descent_over_zero"], closed["descent"] / zero)
    first = table[(table["T"] == 1) & (table["N"] == 1e8)].groupby("rate_share")["noise"].first()
    np.testing.assert_allclose(first / first[1.0], first.index.to_numpy() ** 2)


HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/early-stopping"
FIGURE_3, MONOTONE = "noisyhead/figure-3", "noisyhead/section-6.2-monotone"
STOPPING, C_NOISE = "noisyhead/section-4-optimal-stopping", "noisyhead/section-6.2-c-noise"
ANY_T, STOPPED = "noisyhead/proposition-4.1-any-t", "noisyhead/proposition-4.1-stopped"
TRANSITION, NECESSITY = "noisyhead/section-1.1-phase-transition", "noisyhead/section-8-necessity"
PARTS = "noisyhead/section-3-noise-below-descent"
To = Callable[[pd.DataFrame], Any]


def expected(t: Tables, total: To, start: str) -> dict:
    """The closed form of Algorithm 1's own account with another risk from a start."""
    return put("closed-form", "total", total, start=start, account=ALGORITHM)(t)


def curve(t: Tables, risk: To, error: float = 1e-6, first: int = 1, last: int = 481) -> dict:
    """Figure 3 over some T with another risk of NoisyHead, its relative error given."""
    own = having(t["figure-3"], method="noisyhead")
    bent = change(t["figure-3"], "excess_risk", risk, own)
    certain = change(bent, "standard_error", lambda r: error * r["excess_risk"].min(), own)
    return {"figure-3": certain[certain["T"].between(first, last)]}


def turning(r: pd.DataFrame, at: int = 161) -> Any:
    return 1e-6 + 1e-6 * np.abs(r["T"] - at)


def stepped(t: Tables, before: float = 0.0, after: float = 0.0) -> dict:
    """A turn whose fall and rise are as many errors as is said, one step each."""
    depth = {141: before, 161: 0.0, 181: after}
    risk = lambda r: 1.0 + r["T"].map(lambda T: depth.get(T, before if T < 161 else after)) * 2**0.5 * 1e-3  # noqa: E731
    return curve(t, risk, 1e-3)


def matched(t: Tables, deviation: float = 0.5, **where: Any) -> dict:
    """Published numbers that come out again, but for those at this distance."""
    near = change(t["comparison"], "deviation", lambda r: 0.5)
    return {"comparison": change(near, "deviation", lambda r: deviation, having(near, **where))}


def from_zero(t: Tables, risk: To, error: float = 1e-9) -> dict:
    """Another risk from Γ⁰ = 0 in Algorithm 1's account."""
    own = {"start": "zero", "account": ALGORITHM}
    return both(put("accounts", "excess_risk", risk, **own), put("accounts", "standard_error", error, **own))(t)


def fallen(t: Tables, errors: float) -> dict:
    """A risk from Γ⁰ = 0 that falls by some errors once, and stays."""
    return from_zero(t, lambda r: 1.0 - 2**0.5 * 1e-3 * errors * (r["T"] > 1), 1e-3)


def descent(t: Tables, column: str, to: To, **where: Any) -> dict:
    return put("descent", column, to, setting="published", start="random", **where)(t)


def nudged(t: Tables, errors: float) -> dict:
    """Descent at T = 21 raised over T = 1 by some errors."""
    table = t["descent"][having(t["descent"], setting="published", start="random")]
    first = table[table["T"] == 1].iloc[0]
    sure = descent(t, "standard_error", lambda r: first["standard_error"], T=21)["descent"]
    level = first["excess_risk"] + errors * 2**0.5 * first["standard_error"]
    return descent({"descent": sure}, "excess_risk", lambda r: level, T=21)


def noise(t: Tables, power: float) -> dict:
    return {"closed-form": change(t["closed-form"], "noise", lambda r: 1e-12 * r["T"] ** power)}


def best(t: Tables, start: str, to: Callable[[pd.Series], Any]) -> dict:
    """The best T of Algorithm 1 from a start as a function of log N."""
    own = having(t["stopping"], start=start, account=ALGORITHM)
    logs = np.log(t["stopping"]["N"][own])
    steps = np.maximum(1, np.rint(to(logs))).astype(int)
    table = change(t["stopping"], "best_T", lambda r: steps, own)
    return {"stopping": change(table, "best_T_over_log_N", lambda r: steps / logs, own)}


def cost(t: Tables, exponent: float = 0.0, ahead: bool = False) -> dict:
    """A printed noise cost like that of (4.5), but for an exponent, and perhaps a factor."""
    section = t["section-62"]
    near = change(section, "exponent_noise_printed", lambda r: r["exponent_noise_45"] + exponent)
    return {"section-62": change(near, "noise_printed", lambda r: r["noise_45"] * (1e40 if ahead else 1.0))}


def stopped(t: Tables, to: To, where: Any = slice(None)) -> dict:
    """Another cost at r = N, half of (4.6) elsewhere."""
    half = change(t["stopped"], "excess_risk", lambda r: r["bound_46"] / 2)
    return {"stopped": change(half, "excess_risk", to, where)}


def longest(t: Tables, ratio: float, **where: Any) -> dict:
    """What the longest training costs, over the best, in some accounts and from some starts."""
    return put("stopping", "risk_at_longest_over_best", ratio, **where)(t)


def loud(t: Tables) -> dict:
    """A second term of (4.5) that exceeds descent at one size."""
    section = cost(t, 0.2)["section-62"]
    return {"section-62": change(section, "noise_45", lambda r: 2 * r["descent"], section["N"] == 1e4)}


def parts(t: Tables, ratio: float, **where: Any) -> dict:
    return put("parts-at-stop", "noise_over_descent", ratio, **where)(t)


CASES = [
    Case(FIGURE_3, "it turns from both starts, all match", lambda t: from_zero(t, turning) | matched(t), HOLDS),
    Case(FIGURE_3, "it turns from both starts", lambda t: from_zero(t, turning), CORRECTED),
    Case(FIGURE_3, "from zero it falls by 3.9 errors", lambda t: fallen(t, 3.9) | matched(t), NARROWER,
         says="after 21 steps"),
    Case(FIGURE_3, "it only rises", lambda t: curve(t, lambda r: 1e-3 * r["T"]), FAILS),
    Case(FIGURE_3, "it only falls", lambda t: curve(t, lambda r: 1e-3 / r["T"]), FAILS),
    Case(FIGURE_3, "it only rises late", lambda t: curve(t, lambda r: 1e-3 * r["T"], first=161), UNTESTABLE),
    Case(FIGURE_3, "it rises on the way down", lambda t: curve(t, lambda r: turning(r) + 1e-4 * (r["T"] == 41)), FAILS),
    Case(MONOTONE, "it rises beyond the figure", lambda t: descent(t, "excess_risk", lambda r: 1.0, T=3000), HOLDS),
    Case(MONOTONE, "it rises at one step", lambda t: descent(t, "excess_risk", lambda r: 1.0, T=441), FAILS),
    Case(MONOTONE, "one data set in 500 rises", lambda t: descent(t, "risen", lambda r: 0.002, T=481), NARROWER),
    Case(MONOTONE, "a step may be a rise", lambda t: nudged(t, 3.9), UNTESTABLE),
    Case(STOPPING, "a cube, and log N from zero too", lambda t: noise(t, 3.0) | best(t, FROM_ZERO, lambda x: 3 * x),
         HOLDS),
    Case(STOPPING, "log N from zero too", lambda t: best(t, FROM_ZERO, lambda x: 3 * x), CORRECTED),
    Case(STOPPING, "more than a cube, and log N from zero too",
         lambda t: noise(t, 3.35) | best(t, FROM_ZERO, lambda x: 3 * x), FAILS),
    Case(STOPPING, "affine and late from R", lambda t: best(t, FROM_R, lambda x: 1.6 * x - 50), UNTESTABLE),
    Case(STOPPING, "five or six steps from zero", lambda t: best(t, FROM_ZERO, lambda x: 5 + (x > 20)), NARROWER,
         says="at most 6"),
    Case(C_NOISE, "the same but for three logarithms", lambda t: cost(t, 0.17), HOLDS),
    Case(C_NOISE, "the term that it quotes exceeds descent, too", loud, FAILS),
    Case(TRANSITION, "it turns from zero, too", lambda t: expected(t, turning, "zero"), HOLDS),
    Case(TRANSITION, "another depth", lambda t: expected(t, turning, "random"), NARROWER, says="0.016 %"),
    Case(NECESSITY, "needed in every account", lambda t: longest(t, 1.03), HOLDS),
    Case(NECESSITY, "hardly needed in one", lambda t: longest(t, 1.02, account="last iterate"), NARROWER),
    Case(ANY_T, "the rest lags like a power of N", put("stopped", "rest", lambda r: r["least_45"] * r["N"] ** 0.11),
         CORRECTED),
    Case(STOPPED, "it grows like a power of N at one budget",
         lambda t: stopped(t, lambda r: r["bound_46"] * r["N"] ** 0.11, t["stopped"]["epsilon"] == 8.0), FAILS),
    Case(PARTS, "small at the theorem's rate too", lambda t: parts(t, 0.05, start=FROM_ZERO, rate_share=1.0), HOLDS),
    Case(PARTS, "above a tenth from zero", lambda t: parts(t, 0.11, start=FROM_ZERO), NARROWER),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)


@pytest.mark.parametrize("claim", [ANY_T, STOPPED])
def test_a_bound_is_vacuous_where_always_predicting_0_meets_it(claim: str) -> None:
    t = committed(CHAPTER)
    assert judge(CHAPTER, claim, t).vacuous
    tight = {name: t["stopped"][name] * 1e-10 for name in ("excess_risk", "bound_45", "bound_46", "rest", "least_45")}
    assert not judge(CHAPTER, claim, t | {"stopped": t["stopped"].assign(**tight)}).vacuous
