"""What the calculator answers, and its table of forecasts against the forecasts, between its nodes and at them."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest

from costofprivacy.estimators import automatic, calculator, forecasting
from costofprivacy.estimators.calculator import METHODS, Table
from costofprivacy.estimators.tabular import ScaleWarning
from costofprivacy.privacy import ApproximateDP, GaussianDP


def test_the_same_budget_in_three_currencies_has_the_same_answer() -> None:
    by_epsilon = calculator.answer(5000, 10, epsilon=1.0, delta=1e-7)
    assert by_epsilon.mu == ApproximateDP(1.0, 1e-7).to_gaussian().mu
    assert by_epsilon.rho == pytest.approx(GaussianDP(by_epsilon.mu).to_zero_concentrated().rho)
    for other in ({"mu": by_epsilon.mu}, {"rho": by_epsilon.rho}):
        told = calculator.answer(5000, 10, delta=1e-7, **other)
        assert told.epsilon == pytest.approx(1.0, rel=1e-6)
        assert told.r2 == pytest.approx(by_epsilon.r2, abs=1e-6)
        assert told.method == by_epsilon.method


@pytest.mark.parametrize("given", [{}, {"epsilon": 1.0, "mu": 1.0}, {"epsilon": 1.0, "rho": 1.0, "mu": 1.0}])
def test_a_budget_is_stated_once(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="exactly one of epsilon, rho and mu must be given"):
        calculator.answer(5000, 10, **given)


def test_the_best_method_is_that_of_the_table() -> None:
    asked = {"expected_r2": 0.8, "most_per_unit": 2}
    told = calculator.answer(3000, 30, epsilon=1.0, delta=1e-6, by=calculator.approximate, **asked)
    table = calculator.approximate(3000, 30, 1.0, **asked)
    exact = forecasting.forecast(3000, 30, 1.0, 1e-6, **asked)
    assert abs(table["r2"] - exact["r2"])[list(forecasting.CHOICE)].max() < CLOSE
    assert '"most_per_unit": 2}' in told.code
    pd.testing.assert_frame_equal(told.methods, table)
    assert told.r2 == table["r2"].max()
    assert told.method == table["r2"].idxmax()
    assert told.useful


def people(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series]:
    """Records with the means and deviations that the lines state, of whose response the features explain half."""
    X = pd.DataFrame({"age": rng.normal(50, 15, n).clip(18, 90), "bmi": rng.normal(27, 4, n).clip(15, 45)})
    signal = 0.5 * (X["age"] - 50) / 15 + 0.5 * (X["bmi"] - 27) / 4
    return X, 125 + 15 * (signal + math.sqrt(0.5) * rng.standard_normal(n))


def test_its_lines_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(calculator.SHORT.values()) == set(automatic.METHODS)
    code = calculator.CODE.format(method="boosted", epsilon="1", delta="1e-6", expected_r2="0.5")
    assert max(map(len, code.splitlines())) <= 78
    X, y = people(400, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        exec(code, {"X": X, "y": y})
    assert "fitted to 400 records of 2 features" in capsys.readouterr().out


# ----------------------------------------------------------------------------------------------------- the table

CLOSE = 0.01  # of R²
AT_A_NODE = 0.03  # of y: the size of a step of the spelling, and of what a plan of another d̃ has


def questions(count: int, seed: int) -> list[tuple[int, int, float, float, float]]:
    """n, d, ε, δ and R² at random, where the table is to be right."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        d = round(10 ** rng.uniform(0, 2.5))
        n = round((d + 1) * 10 ** rng.uniform(0.7, 4))
        epsilon, delta = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-8, -5)
        found.append((n, d, float(epsilon), float(delta), float(rng.uniform(0.1, 0.95))))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("question", questions(5, 3))
def test_the_best_method_s_r2_is_close_to_the_forecast(question: tuple[int, int, float, float, float]) -> None:
    n, d, epsilon, delta, expected_r2 = question
    exact = forecasting.forecast(n, d, epsilon, delta, expected_r2=expected_r2)
    told = calculator.approximate(n, d, epsilon, delta, expected_r2=expected_r2)
    named = forecasting.best_method(told)
    assert told.loc[named, "r2"] == pytest.approx(max(exact.loc[named, "r2"], 0.0), abs=CLOSE)
    # the method that the table names is as good as the best
    assert exact.loc[named, "r2"] > exact.loc[list(forecasting.CHOICE), "r2"].max() - 2 * CLOSE
    assert told["without_privacy"].to_numpy() == pytest.approx(exact["without_privacy"].to_numpy())
    assert (told["low"] <= told["r2"] + 1e-12).all()
    assert (told["r2"] <= told["high"] + 1e-12).all()


@pytest.mark.parametrize("method", METHODS)
def test_nodes_are_forecasts(method: str) -> None:
    """Fails where a formula of a forecast has changed since the table was made."""
    rng, table = np.random.default_rng(5), calculator.read()
    pairs = [(i, j) for i, j in itertools.product(range(11), range(3, 12)) if calculator.needed(i, j)]
    i, j = pairs[rng.integers(len(pairs))]
    k, m = rng.integers(5), rng.choice([0, 1, 3])
    mu = 10 ** (calculator.STRENGTHS[j] - math.log10(calculator.RECORDS[i]))
    where = calculator.RECORDS[i], min(max(mu, 1e-3), 20.0), calculator.EXPLAINED[k]
    exact = calculator.node(method, *where, calculator.COEFFICIENTS[m])
    found = table.values[METHODS.index(method), i, j, k, m]
    assert abs(exact[0] - found[0]) < AT_A_NODE
    np.testing.assert_allclose(exact[1:], found[1:], atol=calculator.WIDTH)


def test_a_linear_function_is_interpolated_exactly_and_ends_go_on() -> None:
    axes = tuple(np.array(nodes) for nodes in ([0.0, 1.0, 3.0], [-1.0, 2.0], [0.0, 1.0], [0.5, 4.0]))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1) @ np.array([1.0, -2.0, 3.0, 0.5])
    table = Table(axes, np.repeat(grid[None, ..., None], 3, axis=-1))
    point = (2.2, 0.3, 0.9, 1.1)
    assert table._between(0, point)[0] == pytest.approx(2.2 - 0.6 + 2.7 + 0.55)
    assert table._between(0, (9.0, -5.0, 0.0, 0.5))[0] == table._between(0, (3.0, -1.0, 0.0, 0.5))[0]


def test_the_strength_of_objective_perturbation_is_that_of_a_smaller_budget() -> None:
    plain = calculator.strength(forecasting.DESCENT, 1.0, 1e-6)
    assert plain == ApproximateDP(1.0, 1e-6).to_gaussian().mu
    own = calculator.strength(forecasting.OBJECTIVE, 1.0, 1e-6)
    assert own < plain
    assert GaussianDP(own).epsilon(5e-7) == pytest.approx(0.9, rel=1e-6)


@pytest.mark.parametrize(
    ("n", "d", "epsilon", "message"),
    [
        (32, 10, 1.0, "n must be at least 33 for 10 features, got 32"),
        (100, 0, 1.0, "d must be"),
        (10**6, 1001, 1.0, "d must be"),
        (1000, 10, -1.0, r"epsilon must be .*got -1\.0"),
    ],
)
def test_questions_outside_the_table_are_refused(n: int, d: int, epsilon: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calculator.approximate(n, d, epsilon)
