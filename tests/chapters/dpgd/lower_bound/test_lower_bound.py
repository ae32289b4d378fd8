"""The machinery behind the chapter on the lower bound."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from chapters.dpgd.lower_bound import measure
from companion.running.montecarlo import Runner, generator
from costofprivacy.dpgd import lower_bound, spectrum
from costofprivacy.dpgd import schedule as schedules
from tests import oracles


def test_an_attack_does_not_depend_on_the_other_cells() -> None:
    cells = [measure.AttackCell(4, n, 1.0, 0.1, 0.3, rates=(5.0, 8.0, 20.0), offset=0.1) for n in (32, 36)]
    among, alone = (Runner(workers=1).run(measure.attack, asked, 3, 10)[cells[0]] for asked in (cells, cells[:1]))
    np.testing.assert_array_equal(among, alone)
    assert not np.isclose(*Runner(workers=1).run(measure.attack, cells, 2, 10).values()).any()


def test_twins_are_algorithm_1_with_one_record_replaced() -> None:
    cell = measure.TwinCell(d=3, n=40, rho=0.8, clip=0.2, label_noise=0.3, tuned=5.0, multiple=2.0)
    found = measure.twins(cell, rng=generator(1, 2, 3))
    rng = generator(1, 2, 3)
    model, x, y = cell.draw(rng)
    others_x, others_y = spectrum.sample(model, len(cell.positions), rng=rng)
    eta = schedules.learning_rates(schedules.Constant(10.0), 40)
    bare = np.zeros((40, 3))

    def run(features: np.ndarray, responses: np.ndarray) -> np.ndarray:
        return oracles.dpgd(features, responses, eta, 0.2 * math.sqrt(3), np.zeros(40), bare)[-1]

    theta = run(x, y)
    noise = 2 * 0.2 * math.sqrt(3) * schedules.noise_multipliers(eta, 0.8)[-1]
    for j, k in enumerate(cell.positions):
        changed_x, changed_y = x.copy(), y.copy()
        changed_x[k], changed_y[k] = others_x[j], others_y[j]
        square = ((run(changed_x, changed_y) - theta) ** 2).sum() / noise**2
        assert found[j] == pytest.approx(math.expm1(square), rel=1e-8)
        assert square <= 0.8**2
    score = sum((y[i] - x[i] @ model.target) * (x[i] @ (theta - model.target)) for i in range(40))
    assert found[-2] == pytest.approx(score)
    assert found[-1] == pytest.approx(float(model.risk(theta)) + 3 * noise**2 / 2)


def test_the_attack_on_estimators_without_privacy() -> None:
    cell = measure.AttackCell(d=3, n=30, rho=math.inf, clip=0.1, label_noise=0.3, rates=(), offset=0.0)
    found = measure.attack(cell, rng=generator(1, 2, 3))
    model, x, y = cell.draw(generator(1, 2, 3))
    least = np.linalg.lstsq(x, y)[0]
    assert found[2, 0] == pytest.approx(lower_bound.tracing_attack(x, y, model.target, least).sum())
    stacked = np.vstack([x, np.eye(3) * math.sqrt(0.09 * 3 * 7)])
    ridge = np.linalg.lstsq(stacked, np.append(y, np.zeros(3)))[0]
    assert found[1, 1] == pytest.approx(float(model.risk(ridge)))
    assert found[0, 1] == pytest.approx(model.initial_risk)


def test_what_leaving_the_ball_costs_against_draws() -> None:
    row = measure.outside().query("label_noise == 1.3 and ratio == 1.1 and d == 10").iloc[0]
    theta = np.random.default_rng(2).normal(size=(200_000, 10)) * math.sqrt(row["spread"] / 10)
    out = np.linalg.norm(theta, axis=1) >= 1
    assert row["leaves"] == pytest.approx(out.mean(), abs=0.005)
    risk = ((theta - np.eye(10)[0]) ** 2).sum(axis=1) / 2
    assert row["cost"] == pytest.approx((risk * out).mean(), rel=0.02)


def test_attacks_on_fresh_records_have_the_law_of_whole_ones() -> None:
    cell = measure.Setting(d=4, n=20_000, rho=1.0, clip=0.2, label_noise=0.3)
    model, x, y = cell.draw(generator(1, 2, 3))
    theta = np.random.default_rng(5).standard_normal((2, 4))
    whole = lower_bound.tracing_attack(x, y, model.target, theta)
    ours = measure.fresh_attacks(cell, model.risk(theta), np.random.default_rng(6))
    assert min(ks_2samp(*pair).pvalue for pair in zip(whole, ours)) > 1e-3
    assert ks_2samp(whole[0], measure.fresh_attacks(cell, 2 * model.risk(theta), generator(1, 2, 4))[0]).pvalue < 1e-9
