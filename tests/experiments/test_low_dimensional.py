from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.experiments.noisyhead.low_dimensional import figures, limits, page, verdicts
from costofprivacy.experiments.noisyhead.low_dimensional import tables as short
from costofprivacy.experiments.noisyhead.low_dimensional.experiment import Cell, Experiment, trial
from costofprivacy.experiments.noisyhead.low_dimensional.verdicts import idle_rows
from costofprivacy.noisyhead import population
from costofprivacy.noisyhead.prompts import sample
from costofprivacy.running.montecarlo import Runner, generator
from costofprivacy.settings import Setting
from tests import oracles
from tests.experiments.verdicts.machinery import committed

QUIET = Runner(workers=1)


@pytest.fixture(scope="module", autouse=True)
def short_prompts() -> Iterator[None]:
    """Floors of short prompts alone: the long ones take seconds, and nothing here looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "LENGTHS", limits.LENGTHS[:3])
        yield


@pytest.fixture(scope="module")
def published() -> dict[str, pd.DataFrame]:
    return Experiment(N=(1000, 2000), epsilon=(0.4, 1.0), trials=60).run(QUIET)


def test_a_trial_is_the_literal_experiment() -> None:
    """Every method of every setting on the same draws, prompt by prompt and step by step."""
    cell = Cell(20, 2, (0.5, 2.0), 1e-3, 0.9, 0.7, 0.3, 3)
    fast = trial(cell, rng=generator(5, 20, 0))
    rng = generator(5, 20, 0)
    train, test = sample(cell.model, 20, rng=rng), sample(cell.model, 3, rng=rng)
    start = 0.1 * rng.standard_normal((2, 2))
    reference = oracles.ridge(train.x, train.y, 0.7)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    excess, error = [], []
    for setting, hyper in cell.hyper.items():
        initial = start if setting == Setting.PUBLISHED else np.zeros((2, 2))
        directions = rng.standard_normal((hyper.steps, 2, 2))
        told = (hyper.weight_bound, hyper.penalty, hyper.learning_rate)
        runs = [
            oracles.noisyhead(train.x, train.y, hyper.clip_norm, hyper.feature_bound, *told, std * directions, initial)
            for std in cell.noise[setting]
        ]
        runs.append(oracles.noisyhead(train.x, train.y, np.inf, np.inf, np.inf, *told[1:], 0 * directions, initial))
        for Gamma in (*runs, np.zeros((2, 2)), reference):
            excess.append(np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z]))
            error.append(population.prediction_error(cell.model, Gamma))
    np.testing.assert_allclose(fast[0], excess, rtol=1e-7, atol=1e-18)
    np.testing.assert_allclose(fast[1], error, rtol=1e-9)


def test_published_numbers_are_matched_and_printed_settings_give_others(published: dict[str, pd.DataFrame]) -> None:
    comparison = published["comparison"]
    worst = comparison["deviation"].abs().groupby(comparison["setting"]).max()
    assert worst["published"] < 4
    assert worst["printed"] > 4
    assert (comparison["setting"] == "published").sum() == 2 * 2 + 2 * 5


def test_the_table_has_its_columns_and_rows(published: dict[str, pd.DataFrame]) -> None:
    table = published["figure-1"]
    assert list(table.columns) == ["setting", "N", "epsilon", "method", "excess_risk", "standard_error", "trials"]
    assert set(table["method"]) == {"noisyhead", "gradient-descent", "zero"}
    assert table[table["method"] != "noisyhead"]["epsilon"].isna().all()
    assert len(table) == 3 * 2 * 4
    assert (table["trials"] == 60).all()


def test_bits_do_not_depend_on_workers_or_on_the_other_sizes() -> None:
    small = {"D": 3, "epsilon": (0.5,), "trials": 30, "test_prompts": 20}
    both = Experiment(N=(64, 100), **small)
    one = Experiment(N=(100,), **small)
    first, second, third = (e.run(Runner(w))["figure-1"] for e, w in ((both, 1), (both, 2), (one, 1)))
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    pd.testing.assert_frame_equal(
        first[first["N"] == 100].reset_index(drop=True), third.reset_index(drop=True), check_exact=True
    )


def test_the_noise_part_follows_its_closed_form_where_the_projection_is_idle(
    published: dict[str, pd.DataFrame],
) -> None:
    rows = idle_rows(published["noise-part"])
    score = (rows["noise_risk"] - rows["closed_form"]).abs() / rows["standard_error"]
    assert len(rows) >= 6
    assert score.max() < 4
    assert ((1.25 * rows["closed_form"] - rows["noise_risk"]) / rows["standard_error"]).max() > 4


def test_gradient_descent_rests_at_the_closed_form_gap(published: dict[str, pd.DataFrame]) -> None:
    table = published["figure-1"]
    plain = table[(table["method"] == "gradient-descent") & (table["N"] == 2000)].set_index("setting")["excess_risk"]
    gap = published["floors"].query("part == 'minimiser' and N == 1000")["floor"].iloc[0]
    assert 0.8 * gap < plain["published"] < 1.3 * gap
    assert plain["corrected"] < 1e-15


def test_a_single_cell_of_other_parameters_runs_and_is_judged() -> None:
    tables = Experiment(N=[2500], epsilon=[0.6], trials=2, D=3, label_noise=0.5, test_prompts=10).run(QUIET)
    assert tables["comparison"].empty
    for judge in (verdicts.figure_1, verdicts.theorem_11_low, verdicts.theorem_42i):
        judge(tables)
    for draw in (
        lambda: figures.draw_figure_1(tables["figure-1"], tables["comparison"]),
        lambda: figures.draw_exponents(tables["exponents"], tables["noise-part"]),
        lambda: figures.draw_test_error(tables["test-error"]),
        lambda: figures.draw_floors(tables["floors"]),
    ):
        plate = draw()
        assert plate.figure.axes
        assert "$" not in plate.alt
        plt.close(plate.figure)
    assert page.answer(tables)


def test_short_tables_come_from_tables(published: dict[str, pd.DataFrame]) -> None:
    shown = short.show_test_error(published["test-error"])
    assert len(shown) == 3 + 3 + 1
    assert shown.loc["answering 0", "share of the variance predicted, %"] == "0"
    assert short.show_conditions(published["conditions"]).shape == (2 * 3, 5)
    assert short.show_steps(published["proof-steps"]).shape == (4, 3)
    assert len(short.show_floor_axes(published["floor-axes"])) == 2 * 2
    assert len(short.show_slopes(published["noise-part"])) == len(verdicts.slopes(published["noise-part"]))
    assert set(short.show_deviations(published["comparison"]).index.levels[1]) == {"NoisyHead", "no noise"}


def test_the_answer_follows_its_tables() -> None:
    measured = committed("noisyhead/low-dimensional")
    answer = page.answer(measured)
    assert "is 1.05, more than always answering 0 has (1)" in answer
    better = measured["test-error"].assign(test_error=0.5, best_linear_head=0.25)
    other = page.answer(measured | {"test-error": better})
    assert "is 0.5, less than always answering 0 has (1). The best linear head has 0.25." in other


def test_words_below_figures_follow_their_tables() -> None:
    measured = committed("noisyhead/low-dimensional")
    table, floors = measured["figure-1"], measured["floors"]
    doubled = table.assign(excess_risk=2 * table["N"])
    plates = [
        *(figures.draw_figure_1(rows, measured["comparison"]) for rows in (table, doubled)),
        *(figures.draw_floors(rows) for rows in (floors, floors.assign(floor=0.0))),
    ]
    plt.close("all")
    first, rising, crossed, never = (plate.caption for plate in plates)
    assert r"falls from 4.99 to 1.25 at $\varepsilon = 0.2$" in first
    assert r"rises from 2000 to 8000 at $\varepsilon = 0.2$" in rising
    assert "that is 1 times the excess risk of always answering 0" in rising
    assert "on the bound lies below what descent leaves" in crossed
    assert "bound lies below" not in never
    assert "is not seen" in never


@given(
    st.lists(st.integers(4, 10**6), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=4, unique=True),
    st.integers(2, 50),
    st.floats(1e-12, 0.5),
    st.floats(1e-3, 1.0),
    st.floats(0, 5),
)
@settings(derandomize=True, deadline=None, max_examples=50)
def test_admissible_parameters_give_admissible_algorithms(
    N: list[int], epsilon: list[float], D: int, delta: float, failure: float, label_noise: float
) -> None:
    experiment = Experiment(N=N, epsilon=epsilon, D=D, delta=delta, failure=failure, label_noise=label_noise)
    for cell in experiment.cells:
        for setting, hyper in cell.hyper.items():
            assert 0 < hyper.learning_rate * hyper.penalty < 1
            assert hyper.contraction < 1
            assert all(0 < std < np.inf for std in cell.noise[setting])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"N": [3]}, "each of N must be a whole number of at least 4, got 3"),
        ({"N": []}, r"N must be a non-empty list, got \[\]"),
        ({"N": 1000}, "N must be a non-empty list, got 1000"),
        ({"N": [1000, 1000]}, "N must be a list of distinct values"),
        ({"epsilon": [-1.0]}, "each of epsilon must be positive and finite, got -1.0"),
        ({"epsilon": [900.0]}, "epsilon must be at most T = "),
        ({"delta": 1.0}, "delta must be between 0 and 1, both excluded, got 1.0"),
        ({"failure": 1.5}, "failure must be between 0 and 1, got 1.5"),
        ({"failure": 0}, "failure must be positive, got 0"),
        ({"penalty": 0.0}, "penalty must be positive and finite, got 0.0"),
        ({"penalty": 0.01}, "penalty must ask for at most T = 100000, got 0.01: T = "),
        ({"label_noise": -0.1}, "label_noise must be non-negative and finite, got -0.1"),
        ({"trials": 1}, "trials must be a whole number of at least 2, got 1"),
        ({"test_prompts": 0}, "test_prompts must be a whole number of at least 1, got 0"),
        ({"D": 1}, "D must be a whole number of at least 2, got 1"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_inadmissible_parameters_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Experiment(**arguments)
