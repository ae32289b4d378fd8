"""What the calculator answers: the budget in three currencies, the best method, and lines that run."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from costofprivacy.estimators import calculator
from costofprivacy.estimators.automatic import METHODS
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
    told = calculator.answer(3000, 30, epsilon=1.0, expected_r2=0.8)
    table = calculator.approximate(3000, 30, 1.0, expected_r2=0.8)
    pd.testing.assert_frame_equal(told.methods, table)
    assert told.r2 == table["r2"].max()
    assert told.method == table["r2"].idxmax()
    assert told.useful


def people(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series]:
    """Records with the means and deviations that the lines state, of whose response the features explain half."""
    X = pd.DataFrame({"age": rng.normal(50, 15, n).clip(18, 90), "bmi": rng.normal(27, 4, n).clip(15, 45)})
    signal = 0.5 * (X["age"] - 50) / 15 + 0.5 * (X["bmi"] - 27) / 4
    return X, 125 + 15 * (signal + math.sqrt(0.5) * rng.standard_normal(n))


@pytest.mark.parametrize("method", METHODS)
def test_its_lines_run(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = calculator.CODE.format(method=method, epsilon="1", delta="1e-6", expected_r2="0.5")
    assert max(map(len, code.splitlines())) <= 78
    X, y = people(400, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        exec(code, {"X": X, "y": y})
    assert "fitted to 400 records of 2 features" in capsys.readouterr().out
