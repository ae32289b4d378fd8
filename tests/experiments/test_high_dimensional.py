import itertools
from dataclasses import replace

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.claims import Verdict
from costofprivacy.experiments.noisyhead import high_dimensional as study
from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics, lemmas, sides
from costofprivacy.experiments.noisyhead.high_dimensional.experiment import start_rows
from costofprivacy.montecarlo import Runner, generator
from costofprivacy.noisyhead import bounds, dynamics, head, hyperparameters, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.privacy import ApproximateDP, basic_noise_multiplier, exact_composed_noise_multiplier
from costofprivacy.settings import Setting
from tests import oracles

QUIET = Runner(workers=1)
TINY = {"bound_N": (16,), "bound_trials": 2, "lemma_trials": 20}
BUDGET = ApproximateDP(0.7, 1e-4)


@pytest.fixture(scope="module")
def published() -> dict[str, pd.DataFrame]:
    sizes = {"N": (1000, 1500), "epsilon": (0.01, 0.05, 1.0)}
    return study.Experiment(**sizes, trials=20, **TINY).run(Runner(workers=2))


def exactly(value: float) -> object:
    """Equal to rounding, however small: `pytest.approx` takes all below 1e-12 for one."""
    return pytest.approx(value, rel=1e-9, abs=0)


# a trial


def test_a_trial_is_the_literal_experiment() -> None:
    """Every method of every variant on the same draws, prompt by prompt and step by step, with C, G and R at work."""
    cell = study.Cell(20, (0.05, 2.0), 1e-3, 1e-2, 19.0, 3, 0.7, 3)
    fast = study.trial(cell, rng=generator(5, 20, 0))
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
    cell = study.Cell(900, (0.1,), 1e-5, 1e-2, 0.5, 5, 0.5, 7)
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
        told = cell.hyper[setting]
        found = (told.clip_norm, told.feature_bound, told.weight_bound, told.penalty, told.learning_rate, told.steps)
        np.testing.assert_allclose(found, values, rtol=1e-12)
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


def test_the_table_has_its_columns_and_rows(published: dict[str, pd.DataFrame]) -> None:
    table, error = published["figure-2"], published["test-error"]
    assert list(table.columns) == ["setting", "N", "epsilon", "method", "excess_risk", "standard_error", "trials"]
    assert list(error.columns) == [
        *("setting", "N", "epsilon", "method", "test_error", "standard_error", "trials"),
        *("best_linear_head", "response_variance"),
    ]
    assert set(table["method"]) == {"noisyhead", "gradient-descent", "zero", "ridge"}
    assert table[table["method"] != "noisyhead"]["epsilon"].isna().all()
    assert len(table) == len(error) == 3 * 2 * (3 + 3)
    assert not table.duplicated(["setting", "N", "epsilon", "method"]).any()
    assert (table["trials"] == 20).all()
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
    starts, figure = published["starts"], published["figure-2"]
    own = figure[(figure["setting"] == "published") & figure["method"].isin(["noisyhead", "gradient-descent"])]
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
    cell = study.Cell(25, (0.5,), 1e-3, 1e-2, 0.9, 3, 0.7, 3)
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


def test_bits_do_not_depend_on_workers_or_on_the_other_sizes() -> None:
    small = {"epsilon": (0.5,), "trials": 30, "test_prompts": 5, "bound_trials": 2, "lemma_trials": 20, "kappa": 0.5}
    both = study.Experiment(N=(25, 36), bound_N=(16, 20), bound_kappa=0.5, **small)
    one = study.Experiment(N=(36,), bound_N=(20,), bound_kappa=0.5, **small)
    first, second, third = (e.run(Runner(w)) for e, w in ((both, 1), (both, 2), (one, 1)))
    for name in first:
        pd.testing.assert_frame_equal(first[name], second[name], check_exact=True)
    for name, N in (("figure-2", 36), ("test-error", 36), ("starts", 36), ("both-sides", 20)):
        table = first[name]
        kept = table[table["N"] == N].reset_index(drop=True)
        pd.testing.assert_frame_equal(kept, third[name], check_exact=True)
    assert (first["progress"]["N"] == 20).all()
    assert list(study.Experiment(N=(36, 25), bound_N=(20, 16)).N) == [25, 36]


def test_few_trials_of_a_single_cell_decide_nothing_and_break_nothing() -> None:
    tables = study.Experiment(N=[30], epsilon=[0.6], trials=2, tau=0.5, test_prompts=10, **TINY).run(QUIET)
    assert tables["comparison"].empty
    assert (tables["test-error"]["response_variance"] == 1.25).all()
    assert study.judge_figure_2(tables["figure-2"], tables["comparison"], tables["starts"]).verdict == (
        Verdict.UNTESTABLE
    )
    study.judge_theorem_11_high(tables["powers"])
    study.judge_section_11(tables["powers"])
    assert study.judge_theorem_42ii(tables["both-sides"], tables["progress"], tables["narrow"]).verdict == (
        Verdict.UNTESTABLE
    )
    for judge in (study.judge_lemma_a1, study.judge_lemma_a2):
        judge(tables["lemmas"])
    study.judge_lemma_a3(tables["lemmas"], tables["lemma-a3-tail"])
    draw_and_show(tables)


def draw_and_show(tables: dict[str, pd.DataFrame]) -> None:
    drawn = [
        study.draw_figure_2(tables["figure-2"], tables["comparison"]),
        study.draw_starts(tables["starts"]),
        study.draw_powers(tables["powers"]),
        study.draw_progress(tables["progress"], tables["both-sides"]),
    ]
    for figure in drawn:
        assert all(axes.get_xlabel() for axes in figure.axes)
        figure.canvas.draw()
    assert len(study.show_test_error(tables["test-error"])) >= 6
    assert len(study.show_reference(tables["reference"])) == 9
    assert study.show_narrow(tables["narrow"]).shape[1] == 2
    assert study.show_lemmas(tables["lemmas"]).shape == (7, 3)
    assert len(study.show_tail(tables["lemma-a3-tail"])) == 6
    study.show_deviations(tables["comparison"])
    assert study.show_radii(tables["starts"]).notna().all(axis=None)


def test_figures_and_short_tables_come_from_tables(published: dict[str, pd.DataFrame]) -> None:
    draw_and_show(published)
    shown = study.show_test_error(published["test-error"])
    rows = published["test-error"].query("N == 1500 and setting == 'published' and epsilon == 0.01")
    assert float(shown.loc[("published", "noisyhead, ε = 0.01"), "ppm"]) == pytest.approx(
        1e6 * (1 - rows["test_error"].iloc[0]), rel=0.01
    )
    assert ("published", "noisyhead, ε = 0.05") not in shown.index
    assert float(shown.loc[("any", "best linear head"), "ppm"]) == pytest.approx(1e6 * 38 / 75, rel=0.01)
    radii = study.show_radii(published["starts"]).loc[1500]
    random = published["starts"].query("N == 1500 and start == 'random'").set_index("method")
    assert radii["min(1, R²/‖Γ⁰‖²)"] == pytest.approx((radii["R"] / 3.8) ** 2, rel=1e-3)
    ratio = random.query("epsilon == 1")["excess_risk"].iloc[0] / random["excess_risk"]["gradient-descent"]
    assert radii["NoisyHead / no noise"] == pytest.approx(ratio, abs=1e-3)


@given(
    st.lists(st.integers(16, 10**6), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(1e-3, 5.0), min_size=1, max_size=4, unique=True),
    st.floats(1e-12, 0.5),
    st.floats(1e-3, 1.0),
    st.floats(0, 5),
)
@settings(derandomize=True, deadline=None, max_examples=50)
def test_admissible_parameters_give_admissible_algorithms(
    N: list[int], epsilon: list[float], delta: float, kappa: float, tau: float
) -> None:
    experiment = study.Experiment(N=N, epsilon=epsilon, delta=delta, delta_published=delta, kappa=kappa, tau=tau)
    for cell in experiment.cells:
        for setting, hyper in cell.hyper.items():
            assert 0 < hyper.learning_rate * hyper.penalty < 1
            assert hyper.contraction < 1
            assert all(0 < std < np.inf for std in cell.noise[setting])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"N": [15]}, "each of N must be a whole number of at least 16, got 15"),
        ({"N": []}, r"N must be a non-empty list, got \[\]"),
        ({"N": [1000, 1000]}, "N must be a list of distinct values"),
        ({"bound_N": [9]}, "each of bound_N must be a whole number of at least 16, got 9"),
        ({"epsilon": [-1.0]}, "each of epsilon must be positive and finite, got -1.0"),
        ({"epsilon": [0.1, 5.5]}, r"epsilon must be at most T = 5, got 5\.5"),
        ({"delta": 1.0}, "delta must be between 0 and 1, both excluded, got 1.0"),
        ({"delta_published": 0.0}, "delta_published must be between 0 and 1, both excluded, got 0.0"),
        ({"kappa": 1.5}, "kappa must be between 0 and 1, got 1.5"),
        ({"kappa": 0}, "kappa must be positive, got 0"),
        ({"bound_kappa": 1.0}, "bound_kappa must be between 0 and 1, both excluded, got 1.0"),
        ({"T": 0}, "T must be a whole number of at least 1, got 0"),
        ({"T": 10**7}, "T must be at most 100000, got 10000000"),
        ({"bound_kappa": 1e-100}, "bound_kappa must ask for at most T = 100000, got 1e-100: T = "),
        ({"tau": -0.1}, "tau must be non-negative and finite, got -0.1"),
        ({"trials": 1}, "trials must be a whole number of at least 2, got 1"),
        ({"test_prompts": 0}, "test_prompts must be a whole number of at least 1, got 0"),
        ({"bound_trials": 1}, "bound_trials must be a whole number of at least 2, got 1"),
        ({"lemma_trials": 19}, "lemma_trials must be a whole number of at least 20, got 19"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_inadmissible_parameters_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}") as refusal:
        study.Experiment(**arguments)
    assert "\n" not in str(refusal.value)


def test_the_edges_of_what_is_admissible() -> None:
    experiment = study.Experiment(N=[16], epsilon=[5.0], kappa=1, bound_N=[16], trials=2, lemma_trials=20)
    assert experiment.is_published
    for other in ({"T": 6}, {"delta_published": 1e-3}, {"kappa": 0.5}, {"tau": 0.1}, {"test_prompts": 499}):
        assert not replace(experiment, **other).is_published
    assert replace(experiment, delta=1e-3).is_published


# the powers of N


def exponent(powers: pd.DataFrame, regime: str, quantity: str) -> float:
    rows = powers[(powers["regime"] == regime) & (powers["quantity"] == quantity)]
    assert len(rows) == 12
    assert rows["N"].max() == 1e24
    return float(rows["exponent"].iloc[-1])


def test_the_powers_of_N(published: dict[str, pd.DataFrame]) -> None:
    a, powers = asymptotics, published["powers"]
    expected = {
        (a.LOW, a.BARE): -2.5,
        (a.LOW, a.TRIVIAL): 0.0,
        (a.LOW, a.RATE_11): -2.5,
        (a.HIGH, a.BARE): -4.0,
        (a.HIGH, a.TRIVIAL): -4.0,
        (a.HIGH, a.RATE_11): -2.0,
        (a.HIGH, a.FROM_R): -4.0,
        (a.HIGH, a.FIGURE_2): -0.5,
    }
    for key, value in expected.items():
        assert exponent(powers, *key) == pytest.approx(value, abs=1e-3), key
    for key, value in {(a.LOW, a.NOISE): -2.5, (a.HIGH, a.NOISE): -4.0, (a.HIGH, a.STOPPED): -2.0}.items():
        assert value < exponent(powers, *key) < value + 0.15, key
    bound = exponent(powers, a.HIGH, a.BOUND)
    assert bound == pytest.approx(exponent(powers, a.HIGH, a.STOPPED), abs=1e-6)
    assert len(powers) == 12 * (4 + 9)


def test_the_parts_of_the_risk_by_hand() -> None:
    """N = 10⁴, D = L = 100, λ = 100, κ = 0.2, τ = 0.5; in low dimension D = 5, λ = 5."""
    a, table = asymptotics, asymptotics.powers(0.5, 0.2, BUDGET).query("N == 1e4")
    values = table.set_index(["regime", "quantity"])["value"]
    privacy = np.log(1e4) / 0.49
    C = np.sqrt(2 * 1.25 * np.log(10**6 / 0.2))
    for regime, D, lam in ((a.LOW, 5, 5.0), (a.HIGH, 100, 100.0)):
        model = PromptModel(D, 100, 0.5)
        G = C / 10 * (1 + np.sqrt(np.log(5e4)) / D)
        R = C**2 * 10 / lam * (1 + np.sqrt(np.log(5)) / D)
        eta = 0.9 * lam / (2 * lam + G**2) ** 2
        goal = np.log(10**8 * 100 * 125) if regime == a.LOW else np.log(1e4)
        T = goal / -np.log(1 - eta * lam)
        T = int(np.floor(T)) if regime == a.LOW else int(np.ceil(T))
        e = 1.25 / 100 + 99 / (100 * D)
        h = e / D**2
        decay = 1 - eta * (2 * lam + h)
        total = e * sum(decay ** (2 * t) for t in range(T))
        std = eta * 2 * G * (C + R * G) / 1e4 * np.sqrt(2 * np.log(1.25 * T / 1e-4)) * T / 0.7
        bare = eta * 2 / 10 * (1 + 10 / lam / 10) / 1e4 / 0.7
        cross = dynamics.cross_energy(model, 10**4)
        assert values[regime, a.NOISE] == exactly(std**2 * total)
        assert values[regime, a.BARE] == exactly(bare**2 * total)
        assert values[regime, a.TRIVIAL] == exactly(h * cross / (lam + h) ** 2)
    assert values[a.LOW, a.RATE_11] == exactly(1e-6 * 1e-4 * privacy)
    assert values[a.HIGH, a.RATE_11] == exactly(1e4 / 1e12 * privacy)
    off = 1 / (2 * lam + h) - 1 / (lam + h)
    from_R = h * (decay ** (2 * T) * R**2 + ((1 - decay**T) / (2 * lam + h) - 1 / (lam + h)) ** 2 * cross)
    five = h * (decay**10 * 100 + ((1 - decay**5) / (2 * lam + h) - 1 / (lam + h)) ** 2 * cross)
    assert values[a.HIGH, a.FROM_R] == exactly(from_R)
    assert values[a.HIGH, a.FIGURE_2] == exactly(five)
    assert h * off**2 * cross < values[a.HIGH, a.FROM_R]
    assert values[a.HIGH, a.STOPPED] == exactly(bounds.stopped_cost(model, 1e4))
    assert values[a.HIGH, a.BOUND] == exactly(sum(bounds.overparametrised_cost(model, 1e4, 1e4, BUDGET)))


def test_the_share_that_the_reference_predicts() -> None:
    table = asymptotics.reference_shares(1000, 0.5)
    assert list(table["powers_of_ten_below"]) == list(range(9))
    model = PromptModel(31, 31, 0.5)
    for row in table.itertuples():
        lam = 1000 / 31 / 10**row.powers_of_ten_below
        assert row.penalty == pytest.approx(lam)
        Gamma = population.ridge_scale(model, lam) * np.eye(31)
        predicted = 1 - float(population.prediction_error(model, Gamma)) / 1.25
        assert row.share_predicted == pytest.approx(predicted, abs=1e-12)
        assert row.best_linear_head == pytest.approx(31 / (1.25 * 31 + 30) / 1.25)
    assert table["share_predicted"].is_monotonic_increasing
    assert table["share_predicted"].iloc[0] < 1e-3 < 0.3 < table["share_predicted"].iloc[-1]


# both sides of (4.4)


def told_by_hand(N: int, lam: float, kappa: float) -> Hyperparameters:
    D = int(np.sqrt(N))
    C = np.sqrt(2 * 1.09 * np.log(N * D / kappa))
    G = C / np.sqrt(D) * (1 + np.sqrt(np.log(N / kappa)) / D)
    R = C**2 * np.sqrt(N / D) / lam * (1 + np.sqrt(np.log(1 / kappa)) / D)
    return Hyperparameters(C, G, R, lam, 0.9 * lam / (2 * lam + G**2) ** 2, 1)


def test_what_both_sides_are_told() -> None:
    cell = sides.Cell(16, BUDGET, 0.5, 0.3)
    assert [told.penalty for told in cell.told] == [4.0, 1.0]
    for told in cell.told:
        by_hand = told_by_hand(16, told.penalty, 0.5)
        assert told.model == PromptModel(4, 4, 0.3)
        for name in ("clip_norm", "feature_bound", "weight_bound", "learning_rate", "penalty"):
            assert getattr(told.hyper, name) == pytest.approx(getattr(by_hand, name), rel=1e-12), name
        rate = -np.log(1 - by_hand.learning_rate * told.penalty)
        assert told.steps == [int(np.ceil(p * np.log(16) / rate)) for p in (0.25, 0.5, 1.0, 2.0)]
        expected = [pretraining.noise_std_printed(replace(by_hand, steps=T), BUDGET, 16) for T in told.steps]
        np.testing.assert_allclose(told.noise, expected, rtol=1e-12)


def test_a_trial_of_the_left_side_is_the_literal_one() -> None:
    """Both penalties, every T, from ‖Γ⁰‖ = R; the noise is drawn in the eigenbasis and carried over."""
    cell = sides.Cell(16, ApproximateDP(2.0, 1e-2), 0.9, 0.3)
    fast = sides.trial(cell, rng=generator(22, 16, 0))
    assert fast.shape == (2, 2, 4)
    rng = generator(22, 16, 0)
    train = sample(PromptModel(4, 4, 0.3), 16, rng=rng)
    hyper = cell.told[0].hyper
    clipped = head.statistics(train, hyper.clip_norm)
    assert np.abs(train.y[:, :-1]).max() > hyper.clip_norm
    assert clipped.norm.max() > hyper.feature_bound
    seen = head.project(clipped, hyper.feature_bound)
    data = in_eigenbasis(head.moments(seen))
    for i, told in enumerate(cell.told):
        C, G, R, eta = (getattr(told.hyper, n) for n in ("clip_norm", "feature_bound", "weight_bound", "learning_rate"))
        reference = oracles.ridge(train.x, train.y, told.penalty)
        start = rng.standard_normal((4, 4))
        start *= R / np.linalg.norm(start)
        directions = data.matrices(rng.standard_normal((max(told.steps), 16)))
        for t, (T, std) in enumerate(zip(told.steps[:2], told.noise)):
            private = oracles.noisyhead(train.x, train.y, C, G, R, told.penalty, eta, std * directions[:T], start)
            plain = oracles.noisyhead(train.x, train.y, C, G, 1e9, told.penalty, eta, 0 * directions[:T], start)
            literal = [float(population.excess_risk(told.model, Gamma - reference)) for Gamma in (private, plain)]
            np.testing.assert_allclose(fast[i, :, t], literal, rtol=1e-7)


def test_the_rows_of_both_sides_by_hand() -> None:
    told = sides.Cell(100, BUDGET, 0.5, 0.3).told[0]
    values = np.arange(24.0).reshape(3, 2, 4)
    rows = sides.side_rows(told, values)
    assert len(rows) == 8
    for i, power in enumerate((0.25, 0.5, 1.0, 2.0)):
        T = told.steps[i]
        r = (1 - told.hyper.learning_rate * 10.0) ** -T
        assert r >= 100**power * (1 - 1e-12)
        descent, noise = bounds.high_dimensional_cost(told.model, 100, 10.0, r, BUDGET)
        for m, (method, bound) in enumerate((("noisyhead", descent + noise), ("gradient-descent", descent))):
            error = values[:, m, i].std(ddof=1) / np.sqrt(3)
            expected = (100, 10, 10.0, power, r, T, method, values[:, m, i].mean(), error, 3, bound)
            assert rows[2 * i + m] == pytest.approx(expected)


def test_the_table_of_both_sides_is_made_of_its_trials() -> None:
    cell = sides.Cell(16, BUDGET, 0.9, 0.3)
    table = sides.measure((16,), BUDGET, 0.9, 0.3, 3, QUIET, 4)
    trials = np.stack([sides.trial(cell, rng=generator(4, 16, t)) for t in range(3)])
    for i, told in enumerate(cell.told):
        own = table[table["penalty"] == told.penalty]
        for m, method in enumerate(("noisyhead", "gradient-descent")):
            rows = own[own["method"] == method]
            assert list(rows["T"]) == told.steps
            np.testing.assert_allclose(rows["excess_risk"], trials[:, i, m].mean(axis=0), rtol=1e-12)


def test_both_sides_have_their_rows(published: dict[str, pd.DataFrame]) -> None:
    table = published["both-sides"]
    names = ["N", "D", "penalty", "power_of_N", "r", "T", "method", "excess_risk", "standard_error", "trials", "bound"]
    assert list(table.columns) == names
    assert len(table) == 2 * 4 * 2
    assert set(table["penalty"]) == {4.0, 1.0}
    assert (table["trials"] == 2).all()
    assert (table.groupby(["penalty", "power_of_N"])["bound"].nunique() == 2).all()


def test_the_progress_is_the_descent_in_closed_form() -> None:
    """From ‖Γ⁰‖ = R against r up to N⁸, with λ it rests at the gap of the minimisers, with λ/2 at nothing."""
    table = sides.along_progress(100, 0.5, 0.3)
    told = sides.Told(100, 10.0, ApproximateDP(np.inf, 0.5), 0.5, 0.3)
    assert len(table) == 2 * 60
    assert table["r"].min() == pytest.approx(2)
    assert table["r"].max() == pytest.approx(1e16)
    eta, R = told.hyper.learning_rate, told.hyper.weight_bound
    h, cross = dynamics.curvature(told.model), dynamics.cross_energy(told.model, 100)
    for row in table.itertuples():
        assert np.ceil(np.log(row.r) / -np.log(1 - eta * 10)) == row.T
        logs = 1.09**5 * np.log(1000) ** 3
        assert row.bound == exactly(100 * logs / (100 * 100 * row.r))
        rest = h + (20.0 if row.update == "penalty λ" else 10.0)
        decay = (1 - eta * rest) ** row.T
        off = (1 - decay) / rest - 1 / (10 + h)
        assert row.excess_risk == exactly(h * (decay**2 * R**2 + off**2 * cross))
    last = table.groupby("update")["excess_risk"].last()
    assert last["penalty λ"] == exactly(h * cross * (1 / (20 + h) - 1 / (10 + h)) ** 2)
    assert last["penalty λ/2"] < 1e-9 * last["penalty λ"]


# the lemmas


@pytest.mark.parametrize(("N", "seed"), [(230, 0), *((1, seed) for seed in range(1, 30))])
def test_a_data_set_of_the_lemmas_is_a_literal_loop(N: int, seed: int) -> None:
    """230 prompts take three chunks; of one prompt the query has, now and then, the largest response."""
    cell = lemmas.Cell(N, 4, 3)
    found = lemmas.trial(cell, rng=np.random.default_rng(seed))
    drawn = sample(PromptModel(3, 4, 0.5), N, rng=np.random.default_rng(seed))
    largest, longest, total = 0.0, 0.0, np.zeros((3, 3))
    for x, y in zip(drawn.x, drawn.y):
        walk = np.zeros(3)
        for i in range(4):
            largest = max(largest, abs(y[i]))
            walk = walk + x[i]
            total += np.outer(x[4], x[i])
        longest = max(longest, float(np.sqrt((walk**2).sum())))
    np.testing.assert_allclose(found, [largest, longest, np.sqrt((total**2).sum())], rtol=1e-12)


def test_the_constants_of_the_lemmas_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemmas, "SIZES", ((2, 3, 4), (5, 2, 2)))
    table = lemmas.measure(30, 0.3, QUIET, 7)
    assert list(table["lemma"]) == ["A.1", "A.2", "A.3"] * 2
    assert list(table["N"]) == [2] * 3 + [5] * 3
    for i, size in enumerate(((2, 3, 4), (5, 2, 2))):
        cell = lemmas.Cell(*size)
        draws = np.array([lemmas.trial(cell, rng=generator(7, cell.key, t)) for t in range(30)])
        model = PromptModel(size[2], size[1], 0.5)
        levels = (bounds.response_level, bounds.feature_sum_level, bounds.product_sum_level)
        for j, level in enumerate(levels):
            ratio, row = draws[:, j] / level(model, size[0], 0.3), table.iloc[3 * i + j]
            assert (row["L"], row["D"], row["data_sets"], row["kappa"]) == (size[1], size[2], 30, 0.3)
            assert row["fails_at_1"] == sum(r > 1 for r in ratio)
            assert row["fails_at_root_2"] == sum(r > 2**0.5 for r in ratio)
            assert row["constant"] == pytest.approx(np.quantile(ratio, 0.7))
            assert row["largest"] == ratio.max()
    assert table["fails_at_1"].gt(0).any()


def test_every_cell_of_the_lemmas_has_its_own_stream() -> None:
    sizes = {*lemmas.SIZES, *itertools.permutations((1, 50, 5))}
    assert len({lemmas.Cell(*size).key for size in sizes}) == len(sizes)


def test_the_tail_of_a_single_prompt_against_high_precision() -> None:
    """P(χ²_D > q) = exp(−D²) at the quantile that the table implies, for every D, underflow or not."""
    table = lemmas.single_prompt_tail().set_index("D")
    assert list(table.index) == [2, 5, 10, 20, 50, 100]
    with mpmath.workdps(50):
        for D, row in table.iterrows():
            for root in (2 * row["constant_A3"], row["constant_A2_form"] * (1 + np.sqrt(D))):
                q = mpmath.mpf(D) * mpmath.mpf(root) ** 2
                log_tail = mpmath.log(mpmath.gammainc(mpmath.mpf(D) / 2, q / 2, mpmath.inf, regularized=True))
                assert float(log_tail / D**2) == pytest.approx(-1, rel=1e-8), D


@pytest.mark.parametrize("D", [10, 20, 26])
def test_the_far_quantile_is_that_of_scipy_before_underflow(D: int) -> None:
    exact = np.sqrt(lemmas.stats.chi2.isf(np.exp(-(D**2.0)), D) / D)
    assert lemmas._far_quantile(D) == pytest.approx(exact, rel=1e-4)
