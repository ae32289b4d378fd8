"""What the calculator for prompts answers: its reduction to Nμ, its ends, its table against fresh releases."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from costofprivacy.estimators import calculator, prompt_calculator
from costofprivacy.estimators.prompt_calculator import BEST, COVARIANCE, LEARNED, NO_DATA, PRIVATE, prompts
from costofprivacy.noisyhead import covariance_head, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import best_error, head_error
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP, GaussianDP


def test_the_number_of_prompts_and_the_budget_count_by_their_product() -> None:
    """Twice the prompts, each of them twice, at half of μ: the same means, the same noise, the same heads."""
    rng, D, L, N = np.random.default_rng(0), 3, 8, 60
    drawn = token_laws.sample(token_laws.unknown(D, 9.0, rng=rng), N, L, rng=rng)
    heads = []
    for copies in (1, 2):
        data = Prompts(*(np.repeat(part, copies, axis=0) for part in (drawn.x, drawn.y, drawn.w)))
        mu = GaussianDP(1.5 / copies)
        plan = whitened_plan.plan(D, L, N * copies, mu, every_token=True)
        moment = covariance_head.token_moment(data.x)
        told = examples(data, every_token=True)
        heads.append(
            [
                whitened_descent.release(told, plan, rng=np.random.default_rng(1)),
                covariance_head.release(moment, N * copies, L, mu, 2.0, rng=np.random.default_rng(1)),
            ]
        )
    np.testing.assert_allclose(*heads, rtol=1e-9)


@pytest.mark.parametrize(("D", "L"), [(2, 6), (7, 40), (20, 100)])
def test_isotropic_features_have_nothing_to_learn(D: int, L: int) -> None:
    told = prompts(5000, L, D, epsilon=1.0, condition=1.0, tasks="isotropic")
    assert (told.head, told.useful) == (NO_DATA, False)
    assert told.error == pytest.approx((D + 1) / (D + 1 + L))
    assert told.loss == pytest.approx(0.0, abs=1e-12)


def test_the_end_without_data_is_the_best_multiple_of_the_identity() -> None:
    told = prompts(5000, 30, 6, epsilon=1.0, condition=40.0)
    law = token_laws.unknown(6, 40.0, rng=np.random.default_rng(2))
    scales = np.linspace(0, 10, 100_001)
    errors = head_error(law, 30, np.eye(6)[None])  # a parabola through 0, 1 and 2
    one, two = float(errors[0]), float(head_error(law, 30, 2 * np.eye(6)))
    bend, slope = (two - 2 * one + 1) / 2, (4 * one - two - 3) / 2
    assert told.heads.loc[NO_DATA, "error"] == pytest.approx((1 + slope * scales + bend * scales**2).min(), abs=1e-6)
    assert told.without_privacy == told.heads.loc[BEST, "error"] == pytest.approx(best_error(law, 30))


@pytest.mark.parametrize(("condition", "D"), list(itertools.product((5.0, 50.0), (5, 20))))
def test_small_noise_costs_the_covariance_alone_what_first_order_says(condition: float, D: int) -> None:
    """Σ̂ = Σ + sW, s = √2/(Nμ), moves Γ° = (aΣ + tr Σ/L)⁻¹ by −Γ°(a sW + tr sW/L)Γ°."""
    L, strength = 30 * D, 1.25
    values, a = token_laws.eigenvalues(D, condition), 1 + 1 / L
    gamma, variance = 1 / (a * values + 1 / L), 2 / (10**strength * D**2) ** 2
    weight = np.outer(values * gamma**2, values * gamma)  # λ_i K_j γ_i² γ_j², as K_j = λ_j/γ_j
    beside = a**2 / 2 * (weight.sum() - np.trace(weight))
    excess = variance * (beside + (a**2 + 2 * a / L + D / L**2) * np.trace(weight))
    least = best_error(token_laws.gaussian(np.diag(values)), L)
    point = prompt_calculator.coordinates(10**strength * D**2, L, D, 1.0, condition)
    r2 = calculator.read(prompt_calculator.FILE).look_up({COVARIANCE: point}, 1 - least).loc[COVARIANCE, "r2"]
    assert 1 - r2 - least == pytest.approx(excess, rel=0.2)


def released(N: int, L: int, D: int, epsilon: float, condition: float, trials: int) -> np.ndarray:
    """Test errors of both heads on fresh prompts, shape (trials, 2)."""
    rng, mu, errors = np.random.default_rng((N, L, D)), ApproximateDP(epsilon, 1e-6).to_gaussian(), []
    plan = whitened_plan.plan(D, L, N, mu, every_token=True)
    for _ in range(trials):
        law = token_laws.unknown(D, condition, rng=rng)
        drawn = token_laws.sample(law, N, L, rng=rng)
        private = whitened_descent.release(examples(drawn, every_token=True), plan, rng=rng)
        alone = covariance_head.release(covariance_head.token_moment(drawn.x), N, L, mu, law.spread, rng=rng)
        errors.append(head_error(law, L, np.stack([private, alone])))
    return np.array(errors)


CASES = [(700, 12, 4, 1.0, 8.0), (400, 25, 3, 3.0, 30.0), (900, 14, 7, 2.0, 3.0)]  # none at a node


@pytest.mark.parametrize("case", CASES)
def test_fresh_releases_have_the_expected_error(case: tuple[int, int, int, float, float]) -> None:
    """Within 15 % or three standard errors: the criterion of the module's text."""
    N, L, D, epsilon, condition = case
    found = released(*case, trials=8)
    told = prompts(N, L, D, epsilon=epsilon, condition=condition).heads
    error = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    assert (
        np.abs(told.loc[list(LEARNED), "error"] - found.mean(axis=0)) <= 0.15 * found.mean(axis=0) + 3 * error
    ).all()


@pytest.mark.slow
def test_a_node_is_what_the_algorithms_reach() -> None:
    """Fails where one of them has changed since the table was made."""
    table, D, ratio, condition = calculator.read(prompt_calculator.FILE), 3, 3.0, 5.0
    found = prompt_calculator.nodes(D, int(ratio * D), condition)
    saved = table.values[:, :, 1, 1, 1]
    np.testing.assert_allclose(found[..., 0], saved[..., 0], atol=2 * calculator.STEP)


def test_the_head_that_assumes_isotropic_tasks_is_named_where_they_are() -> None:
    sizes, budget = (4000, 63, 5), {"epsilon": 1.0, "condition": 10.0}
    plain, isotropic = prompts(*sizes, **budget), prompts(*sizes, **budget, tasks="isotropic")
    assert (plain.head, isotropic.head) == (PRIVATE, COVARIANCE)
    assert isotropic.error < plain.error
    assert plain.low <= plain.error <= plain.high
    assert plain.error == pytest.approx(plain.without_privacy * (1 + plain.loss))


def test_few_prompts_are_worth_less_than_none() -> None:
    told = prompts(250, 31, 5, epsilon=0.1, condition=10.0, tasks="isotropic")
    assert (told.head, told.useful) == (NO_DATA, False)
    assert told.heads.loc[PRIVATE, "error"] > 2 * told.error


@pytest.mark.parametrize("tasks", ["any", "isotropic"])
@pytest.mark.parametrize("N", [250, 6000])
def test_its_lines_run(N: int, tasks: str) -> None:
    told = prompts(N, 20, 2, epsilon=1.0, condition=30.0, tasks=tasks)
    drawn = token_laws.sample(
        token_laws.unknown(2, 30.0, rng=np.random.default_rng(3)), N, 20, rng=np.random.default_rng(4)
    )
    names: dict[str, Any] = {"X": drawn.x, "y": drawn.y}
    exec(told.code, names)
    predicted = names["predicted"] if told.head == NO_DATA else names["model"].predict(drawn.x, drawn.y)
    assert np.mean((drawn.y[:, -1] - predicted) ** 2) < 1.0
    assert max(map(len, told.code.splitlines())) <= 78


@pytest.mark.parametrize(
    ("sizes", "other", "message"),
    [
        ((4000, 63, 21), {}, "D must be between 2 and 20, got 21"),
        ((4000, 151, 5), {}, "L must be between 5 and 150, got 151"),
        ((4000, 4, 2), {}, "L must be between 5 and 60, got 4"),
        ((249, 63, 5), {}, "N must be between 250 and 1000000000, got 249"),
        ((4000, 63, 5), {"condition": 0.5}, "condition must be between 1 and 1000, got 0.5"),
        ((4000, 63, 5), {"tasks": "all"}, "tasks must be one of any, isotropic, got 'all'"),
        ((4000, 63, 5), {"mu": 1.0}, "exactly one of epsilon, rho and mu must be given, got epsilon, mu"),
        ((4000, 63, 5), {"delta": 0.0}, "delta must be between 0 and 1"),
    ],
)
def test_questions_outside_the_table_are_refused(
    sizes: tuple[int, int, int], other: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        prompts(*sizes, epsilon=1.0, **other)
