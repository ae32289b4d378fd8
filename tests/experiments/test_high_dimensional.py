"""The experiment of the chapter on high dimension against the literal algorithm, and its tables."""

from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.noisyhead.high_dimensional import (
    asymptotics,
    experiment,
    figure,
    figures,
    page,
)
from costofprivacy.experiments.noisyhead.high_dimensional import tables as short
from costofprivacy.experiments.noisyhead.high_dimensional.experiment import start_rows
from costofprivacy.experiments.noisyhead.low_dimensional import limits
from costofprivacy.judging.findings import Verdict
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import plain
from costofprivacy.noisyhead import bounds, dynamics, head, hyperparameters, population, pretraining, recipes
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.privacy import ApproximateDP, basic_noise_multiplier, exact_composed_noise_multiplier
from costofprivacy.running.montecarlo import Runner, generator
from costofprivacy.settings import Setting
from tests import oracles
from tests.experiments.reading import check_page, opening_of
from tests.noisyhead.draws import token_by_token

QUIET = Runner(workers=1)
TINY = {"bound_N": (16,), "bound_trials": 2, "lemma_trials": 20}
BUDGET = ApproximateDP(0.7, 1e-4)


@pytest.fixture(scope="module", autouse=True)
def _short_prompts() -> Iterator[None]:
    """What no parameter makes smaller, made smaller: prompts of up to 31,623 examples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "LENGTHS", limits.LENGTHS[:3])
        yield


@pytest.fixture(scope="module")
def published() -> dict[str, pd.DataFrame]:
    sizes = {"N": (1000, 1500), "epsilon": (0.01, 0.05, 1.0)}
    return experiment.Experiment(**sizes, trials=20, **TINY).run(Runner(workers=2))


def exactly(value: float) -> object:
    """Equal to rounding, however small: `pytest.approx` takes all below 1e-12 for one."""
    return pytest.approx(value, rel=1e-9, abs=0)


# a trial


def test_a_trial_is_the_literal_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method of every variant on the same draws, prompt by prompt and step by step, with C, G and R at work."""
    monkeypatch.setattr(head, "sample_statistics", token_by_token)
    cell = figure.Cell(20, (0.05, 2.0), 1e-3, 1e-2, 19.0, 3, 0.7, 3)
    fast = figure.trial(cell, rng=generator(5, 20, 0))
    rng = generator(5, 20, 0)
    train, test = sample(cell.model, 20, rng=rng), sample(cell.model, 3, rng=rng)
    start = 0.1 * rng.standard_normal((4, 4))
    directions = np.random.default_rng(int(rng.integers(2**63))).standard_normal((3, 4, 4))
    reference = oracles.ridge(train.x, train.y, 20 / 4)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    labels, weights = [], []
    for setting, begins in (("printed", 0), ("published", 1), ("published", 0), ("corrected", 0)):
        hyper = cell.hyper[Setting(setting)]
        C, G, R, told = hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, (hyper.penalty, hyper.learning_rate)
        assert np.abs(train.y).max() > C
        assert max(np.linalg.norm(oracles.statistic(x, y, C, np.inf)) for x, y in zip(train.x, train.y)) > G
        initial = begins * start
        for epsilon, std in zip(cell.epsilon, cell.noise[Setting(setting)]):
            labels.append((setting, "random" if begins else "zero", epsilon, "noisyhead"))
            weights.append(oracles.noisyhead(train.x, train.y, C, G, R, *told, std * directions, initial))
        assert np.linalg.norm(weights[-2]) == pytest.approx(R)
        labels.append((setting, "random" if begins else "zero", None, "gradient-descent"))
        weights.append(oracles.noisyhead(train.x, train.y, np.inf, np.inf, np.inf, *told, 0 * directions, initial))
    labels += [("", "", None, "zero"), ("", "", None, "ridge")]
    weights += [np.zeros((4, 4)), reference]
    columns = cell.columns.astype(object).where(cell.columns.notna(), None)
    assert [tuple(row) for row in columns.to_numpy()] == labels
    excess = [np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z]) for Gamma in weights]
    error = [population.prediction_error(cell.model, Gamma) for Gamma in weights]
    np.testing.assert_allclose(fast[0], excess, rtol=1e-7, atol=1e-18)
    np.testing.assert_allclose(fast[1], error, rtol=1e-9)


def test_the_settings_by_hand() -> None:
    """N = 900, D = L = 30, λ = 30, κ = 0.5, τ = 0.5."""
    cell = figure.Cell(900, (0.1,), 1e-5, 1e-2, 0.5, 5, 0.5, 7)
    assert cell.model == PromptModel(30, 30, 0.5)
    assert cell.penalty == 30.0
    assert cell.key == 900
    C = np.sqrt(2 * 1.25 * np.log(27000 / 0.5))
    G = [C / np.sqrt(30) * (1 + np.log(1800) ** 0.5 / 30), C / np.sqrt(30) * (1 + (np.log(1800) / 900) ** 0.25)]
    R = C**2 * np.sqrt(30) / 30
    rate = [0.07 * 30 / (30 + G[0] ** 2) ** 2, 0.1 * 2 * 30 / (3 * (30 + G[1] ** 2) ** 2)]
    expected = {
        Setting.PRINTED: (C, G[0], R, 30.0, rate[0], 5),
        Setting.PUBLISHED: (C, G[1], R, 30.0, rate[1], 5),
        Setting.CORRECTED: (C, G[1], C / (2 * np.sqrt(30)), 15.0, rate[1], 5),
    }
    for setting, values in expected.items():
        np.testing.assert_allclose(astuple(cell.hyper[setting]), values, rtol=1e-12)
    multiplier = {
        Setting.PRINTED: basic_noise_multiplier(ApproximateDP(0.1, 1e-5), 5),
        Setting.PUBLISHED: basic_noise_multiplier(ApproximateDP(0.1, 1e-2), 5),
        Setting.CORRECTED: exact_composed_noise_multiplier(ApproximateDP(0.1, 1e-5), 5),
    }
    for setting, value in multiplier.items():
        std = pretraining.update_sensitivity(cell.hyper[setting], 900) * value
        assert cell.noise[setting] == (pytest.approx(std, rel=1e-12),)


@pytest.mark.parametrize(("N", "size"), [(16, 4), (24, 4), (1000, 31), (2100, 45), (10**24, 10**12)])
def test_the_dimension_is_the_whole_root(N: int, size: int) -> None:
    assert recipes.overparametrised_model(N, 0.0) == PromptModel(size, size)
    assert recipes.high_dimension_penalty(N) == N / size


# the tables


def test_published_numbers_are_matched_and_printed_settings_give_others(published: dict[str, pd.DataFrame]) -> None:
    comparison = published["comparison"]
    worst = comparison["deviation"].abs().groupby(comparison["setting"]).max()
    assert worst["published"] < 4
    assert worst["printed"] > 4
    assert (comparison["setting"] == "published").sum() == 2 * 3 + 2 * 5


def test_the_rows_that_need_no_simulation(published: dict[str, pd.DataFrame]) -> None:
    table, error = published["figure-2"], published["test-error"]
    assert (table[table["method"] == "ridge"]["excess_risk"] == 0).all()
    assert (error[error["method"] == "zero"]["test_error"] == 1).all()
    for N, size in ((1000, 31), (1500, 38)):
        best = error[error["N"] == N]["best_linear_head"]
        np.testing.assert_allclose(best, (size - 1) / (2 * size - 1))


def test_what_stands_beside_the_figure_is_at_the_largest_N_and_epsilon(published: dict[str, pd.DataFrame]) -> None:
    budget = ApproximateDP(1.0, 1e-5)
    pd.testing.assert_frame_equal(published["powers"], asymptotics.powers(0.0, 1.0, budget))
    pd.testing.assert_frame_equal(published["reference"], asymptotics.reference_shares(1500, 0.0))
    row = published["both-sides"].query("method == 'noisyhead'").iloc[0]
    bound = bounds.high_dimensional_cost(PromptModel(4, 4), 16, row["penalty"], row["r"], budget)
    assert row["bound"] == exactly(sum(bound))
    assert (published["lemmas"]["kappa"] == 0.01).all()


def test_what_has_no_setting_is_the_same_in_all(published: dict[str, pd.DataFrame]) -> None:
    table = published["figure-2"]
    for method in ("zero", "ridge"):
        values = table[table["method"] == method].pivot_table(index="N", columns="setting", values="excess_risk")
        assert (values.nunique(axis=1) == 1).all()
    zero = published["test-error"].query("method == 'zero'")
    assert (zero["standard_error"] == 0).all()


def test_the_starts_are_those_of_the_published_setting(published: dict[str, pd.DataFrame]) -> None:
    starts, table = published["starts"], published["figure-2"]
    own = table[(table["setting"] == "published") & table["method"].isin(["noisyhead", "gradient-descent"])]
    random = starts[starts["start"] == "random"]
    np.testing.assert_array_equal(random["excess_risk"], own["excess_risk"])
    assert len(starts) == 2 * len(random) == 2 * 2 * 4
    assert "setting" not in starts
    for N, size in ((1000, 31), (1500, 38)):
        rows = starts[starts["N"] == N]
        C = hyperparameters.clip_norm(PromptModel(size, size), N, 1.0)
        np.testing.assert_allclose(rows["radius"], C**2 * np.sqrt(N / size) * size / N)
        np.testing.assert_allclose(rows["start_norm"], np.where(rows["start"] == "random", 0.1 * size, 0))


def test_the_closed_form_is_met_where_the_projection_is_idle(published: dict[str, pd.DataFrame]) -> None:
    starts = published["starts"]
    idle = starts[starts["radius_share"] < 0.6]
    assert len(idle) >= 6
    score = (idle["excess_risk"] - idle["closed_form"]).abs() / idle["standard_error"]
    assert score.max() < 4
    assert ((1.25 * idle["closed_form"] - idle["excess_risk"]) / idle["standard_error"]).min() > 4
    free = starts[(starts["method"] == "gradient-descent") & (starts["start"] == "random")]
    assert ((free["excess_risk"] - free["closed_form"]).abs() / free["standard_error"]).max() < 4
    held = starts[starts["radius_share"] > 2]
    assert (held["excess_risk"] < held["closed_form"]).all()


def test_the_closed_form_of_the_starts_by_hand() -> None:
    cell = figure.Cell(25, (0.5,), 1e-3, 1e-2, 0.9, 3, 0.7, 3)
    every = pd.DataFrame(
        [
            (25, "published", "random", 0.5, "noisyhead", 1.0),
            (25, "published", "zero", np.nan, "gradient-descent", 2.0),
            (36, "published", "zero", 0.5, "noisyhead", 3.0),
            (25, "printed", "zero", 0.5, "noisyhead", 4.0),
        ],
        columns=["N", "setting", "start", "epsilon", "method", "excess_risk"],
    )
    rows = start_rows(cell, every)
    assert list(rows["excess_risk"]) == [1.0, 2.0]
    hyper, std = cell.hyper[Setting.PUBLISHED], cell.noise[Setting.PUBLISHED][0]
    h = population.context_energy(cell.model) / 25
    descent = [dynamics.descent_risk(hyper, cell.model, 25, 5.0, e, np.array([3]))[0] for e in (0.25, 0.0)]
    noise = dynamics.noise_risk(hyper, cell.model, std, h)
    np.testing.assert_allclose(rows["closed_form"], [descent[0] + noise, descent[1]])
    R = hyper.weight_bound
    expected = [np.sqrt(max(0.25, (descent[0] + noise) / h)) / R, np.sqrt(descent[1] / h) / R]
    np.testing.assert_allclose(rows["radius_share"], expected)
    big = start_rows(replace(cell, epsilon=(1e6,)), every.assign(epsilon=[1e6, np.nan, 1, 1]))
    assert big["radius_share"].iloc[0] == pytest.approx(0.5 / R, rel=1e-6)


@pytest.mark.slow
def test_bits_do_not_depend_on_the_other_sizes() -> None:
    small = {"epsilon": (0.5,), "trials": 30, "test_prompts": 5, "bound_trials": 2, "lemma_trials": 20, "failure": 0.5}
    both = experiment.Experiment(N=(25, 36), bound_N=(16, 20), bound_failure=0.5, **small)
    one = experiment.Experiment(N=(36,), bound_N=(20,), bound_failure=0.5, **small)
    first, third = (asked.run(QUIET) for asked in (both, one))
    for name, N in (("figure-2", 36), ("test-error", 36), ("starts", 36), ("both-sides", 20)):
        table = first[name]
        kept = table[table["N"] == N].reset_index(drop=True)
        pd.testing.assert_frame_equal(kept, third[name], check_exact=True)
    assert (first["progress"]["N"] == 20).all()


@pytest.mark.slow
def test_few_trials_of_a_single_cell_decide_nothing_and_break_nothing() -> None:
    tables = experiment.Experiment(N=[30], epsilon=[0.6], trials=2, label_noise=0.5, test_prompts=10, **TINY).run(QUIET)
    assert tables["comparison"].empty
    assert (tables["test-error"]["response_variance"] == 1.25).all()
    found = {claim: judge(tables) for claim, judge in judges_of(page.__package__).items()}
    for claim in ("noisyhead/figure-2", "noisyhead/theorem-4.2ii"):
        assert found[claim].verdict == Verdict.UNTESTABLE
    check_page("noisyhead/high-dimensional", tables)


@pytest.mark.slow
def test_figures_and_short_tables_come_from_tables(published: dict[str, pd.DataFrame]) -> None:
    check_page("noisyhead/high-dimensional", published)
    shown = short.show_test_error(published["test-error"])["predicted, parts per million"]
    rows = published["test-error"].query("N == 1500 and setting == 'published' and epsilon == 0.01")
    predicted = float(shown["published", "NoisyHead, ε = 0.01"].replace("−", "-"))
    assert predicted == pytest.approx(1e6 * (1 - rows["test_error"].iloc[0]), rel=0.01)
    assert ("published", "NoisyHead, ε = 0.05") not in shown.index
    assert shown["any", "best linear head"] == plain(1e6 * 38 / 75)
    radii = short.show_radii(published["starts"]).loc[1500].astype(float)
    random = published["starts"].query("N == 1500 and start == 'random'").set_index("method")
    assert radii["min(1, R²/‖Γ⁰‖²)"] == pytest.approx((radii["R"] / 3.8) ** 2, rel=1e-2)
    ratio = random.query("epsilon == 1")["excess_risk"].iloc[0] / random["excess_risk"]["gradient-descent"]
    assert radii["NoisyHead / no noise"] == pytest.approx(ratio, rel=1e-2)


@pytest.mark.slow
def test_the_answer_and_the_captions_follow_the_tables(published: dict[str, pd.DataFrame]) -> None:
    test_error = published["test-error"]
    better = test_error.assign(test_error=0.75 * test_error["response_variance"])
    assert "explain 25 % of Var(y)" in opening_of(page)({**published, "test-error": better})
    starts, table, comparison = published["starts"], published["figure-2"], published["comparison"]
    steep = starts.assign(excess_risk=starts["N"] ** -3.0)
    for told, power in ((steep, "-3.00"), (starts.assign(excess_risk=starts["N"] ** -1.0), "-1.00")):
        caption = figures.draw_figure_2(told, table, comparison).caption
        assert f"goes like $N^{{{power}}}$" in caption
        assert f"like $N^{{{power}}}$" in opening_of(page)({**published, "starts": told})
    low = table.assign(excess_risk=table["excess_risk"].where(table["method"] != "zero", 1e9))
    for told, word in ((table, "above"), (low, "below")):
        assert f"is {word} that of" in figures.draw_settings(told).caption
    powers = published["powers"]
    flat = powers.assign(exponent=-2.0)
    words = [figures.draw_powers(told).caption for told in (powers, flat)]
    assert ["falls faster, like" in caption for caption in words] == [True, False]


def test_the_edges_of_what_is_admissible() -> None:
    edge = experiment.Experiment(N=[16], epsilon=[5.0], failure=1, bound_N=[16], trials=2, lemma_trials=20)
    assert edge.is_published
    for other in ({"T": 6}, {"delta_published": 1e-3}, {"failure": 0.5}, {"label_noise": 0.1}, {"test_prompts": 499}):
        assert not replace(edge, **other).is_published
    assert replace(edge, delta=1e-3).is_published
