"""The machinery behind the chapter on in-context regression."""

import numpy as np
import pandas as pd
import pytest

from chapters.foundations.in_context_regression import measure
from chapters.foundations.in_context_regression.measure import Cell, Design, Experiment
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.head import LinearAttentionHead
from costofprivacy.noisyhead.prompts import sample


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return Experiment(L=(5, 31), D=(2, 5), trials=4, test_prompts=500, N=500).run(Runner(workers=1))


def test_closed_forms_meet_the_simulation(tables: dict[str, pd.DataFrame]) -> None:
    ridge = tables["test-error"].query("penalty >= 1")
    assert (ridge["test_error"] / ridge["closed_form"] - 1).abs().max() < 0.15


def test_a_trial_is_ridge_regression_and_its_error_that_of_many_fresh_prompts() -> None:
    cell = Cell(D=2, L=4, label_noise=0.3, N=40, test_prompts=5, penalty=(0.1, 2.0))
    found = measure.trial(cell, rng=generator(3, 1, 0))
    train, _ = head.sample_statistics(cell.model, 40, rng=generator(3, 1, 0))
    fresh = head.statistics(sample(cell.model, 200_000, rng=generator(4, 1, 0)))
    Z = train.Z.reshape(40, 4)
    for penalty, error in zip(cell.penalty, found, strict=True):
        Gamma = np.linalg.solve(Z.T @ Z / 40 + penalty * np.eye(4), Z.T @ train.response / 40).reshape(2, 2)
        squares = (fresh.response - head.predict(Gamma, fresh)) ** 2
        spread = squares.std() / np.sqrt(len(squares))
        assert abs(squares.mean() - error) < 4 * spread
        assert abs(squares.mean() - 1.05 * error) > 4 * spread


def test_zero_blocks_are_the_slope_of_the_loss() -> None:
    """Half the derivative of the mean squared error along the two blocks at 0, by differences."""
    cell = Cell(D=3, L=6, label_noise=0.2, N=1, test_prompts=300, penalty=(1.0,))
    slopes = measure.zero_blocks(*measure.random_terms(cell, 9))
    rng = generator(9, cell.key, 2**32 + 1)
    drawn = sample(cell.model, 300, rng=rng)
    full = measure.random_head(3, rng)

    def loss(PV: float, KQ: float) -> float:
        W_PV, W_KQ = full.W_PV.copy(), full.W_KQ.copy()
        W_PV[-1, :-1] *= PV
        W_KQ[-1, :-1] *= KQ
        answer = sum(head.bilinear_terms(drawn, LinearAttentionHead(W_PV, W_KQ)).values())
        return float(np.mean((drawn.y[:, -1] - answer) ** 2))

    h = 1e-4
    assert slopes["W^PV"].mean() == pytest.approx((loss(h, 0) - loss(-h, 0)) / (4 * h), rel=1e-6)
    assert slopes["W^KQ"].mean() == pytest.approx((loss(0, h) - loss(0, -h)) / (4 * h), rel=1e-6)


def test_inverse_moments_are_those_of_the_features() -> None:
    rng = generator(1, 0, 0)
    found = measure.inverse_moments(Design(3, 12), rng=generator(1, 0, 0))
    x = rng.standard_normal((measure.DESIGNS, 12, 3))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    np.testing.assert_allclose(found, [np.trace(np.linalg.inv(X.T @ X)) / 3 for X in x], rtol=1e-10)


def test_the_weight_meets_the_inverse_moment_to_first_order() -> None:
    """Their ratio is 1 − 2(D − 1)/L up to squares of D/L; the penalised weight is the population's."""
    rows = Experiment(D=(4,), L=(5,), trials=40, test_prompts=100, N=10).run(Runner(workers=1))["inverse-moment"]
    free, penalised = (rows[of].set_index("L") for of in (rows["penalty"] == 0, rows["penalty"] == 5))
    long = free.loc[400]
    assert abs(long["over_normalised"] - (1 - 6 / 400)) < 4 * long["ratio_error"] + 3 * (4 / 400) ** 2
    assert abs(long["over_normalised"] - 1) > 20 * long["ratio_error"]
    assert (free["over_features"] / free["over_normalised"]).to_list() == pytest.approx(list(free.index))
    model = measure.PromptModel(4, 400, 0.0)
    ratio = population.ridge_scale(model, 5.0) / population.ridge_scale(model, 0.0)
    assert penalised.loc[400, "over_normalised"] / long["over_normalised"] == pytest.approx(ratio)
