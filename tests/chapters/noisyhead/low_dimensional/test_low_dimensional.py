"""What the chapter on low dimension measures: against the literal experiment and closed forms."""

import math

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.low_dimensional import measure
from chapters.noisyhead.low_dimensional.judge import idle_rows
from chapters.noisyhead.low_dimensional.measure import (
    Cell,
    CommonWeightCell,
    Experiment,
    _clipped_mean,
    common_weight_trial,
    maximal_coupling,
    noise_rows,
    trial,
)
from companion.judging.judges import judges_of
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.prompts import sample
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.settings import Setting
from tests import oracles
from tests.chapters.reading import check_page
from tests.costofprivacy.noisyhead.draws import token_by_token

QUIET = Runner(workers=1)


def test_a_trial_is_the_literal_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method of every setting on the same draws, prompt by prompt, step by step; noise in an eigenbasis."""
    monkeypatch.setattr(head, "sample_statistics", token_by_token)
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
        seen = head.project(head.statistics(train, hyper.clip_norm), hyper.feature_bound)
        directions = in_eigenbasis(head.moments(seen)).matrices(rng.standard_normal((hyper.steps, 4)))
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


def test_bits_do_not_depend_on_the_other_sizes() -> None:
    both, one = (Experiment(N=N, D=3, epsilon=(0.5,), test_prompts=20).cells for N in ((64, 100), (100,)))
    first, second = (QUIET.run(trial, cells, 10, 1)[one[0]] for cells in (both, one))
    np.testing.assert_array_equal(first, second)


def test_the_noise_part_follows_its_closed_form_where_the_projection_is_idle() -> None:
    cells = Experiment(N=(1000, 2000), epsilon=(0.4, 1.0), test_prompts=100).cells
    rows = idle_rows(pd.concat(noise_rows(c, v[:, 0]) for c, v in QUIET.run(trial, cells, 60, 1).items()))
    score = (rows["noise_risk"] - rows["closed_form"]).abs() / rows["standard_error"]
    assert len(rows) >= 6
    assert score.max() < 4
    assert ((1.25 * rows["closed_form"] - rows["noise_risk"]) / rows["standard_error"]).max() > 4


@pytest.mark.slow
def test_a_single_cell_of_other_parameters_runs_and_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "LENGTHS", measure.LENGTHS[:3])  # floors of long prompts take seconds
    tables = Experiment(N=[2500], epsilon=[0.6], trials=2, D=3, label_noise=0.5, test_prompts=10).run(QUIET)
    assert tables["comparison"].empty
    judges = judges_of("chapters.noisyhead.low_dimensional")
    for claim in ("figure-1", "theorem-1.1-low", "theorem-4.2i"):
        judges[f"noisyhead/{claim}"](tables)
    check_page("noisyhead/low-dimensional", tables)


# ---- Prompts with a common weight ----


def test_the_two_stages_spend_the_budget() -> None:
    """Each stage moves by at most 2C/N for any two prompts; the sum of squares is that of the whole budget."""
    cell = CommonWeightCell(64, 3, 0.7, 1e-5)
    spent = [2 * clip / cell.N / std for clip, std in zip(cell.bounds[:2], cell.noise_stds)]
    assert GaussianDP(math.hypot(*spent)).delta(0.7) == pytest.approx(1e-5)
    assert ApproximateDP(0.7, 1e-5).to_gaussian().mu == pytest.approx(math.hypot(*spent))
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 4, 5, 3)), 1e6 * rng.standard_normal((2, 4, 5))
    means = [_clipped_mean(x[0], y[0], 2.0)]
    x[0, 2], y[0, 2] = x[1, 2], y[1, 2]
    means.append(_clipped_mean(x[0], y[0], 2.0))
    assert 0 < np.linalg.norm(means[0] - means[1]) <= 2 * 2.0 / 4


@pytest.mark.parametrize("a", [0.03, 3.0])
def test_the_maximal_coupling_by_drawing_from_it(a: float) -> None:
    """Rejection: X' = X with probability min(p', p)/p at X, else X' from the part of p' above p."""
    rng = np.random.default_rng(2)
    draws = 500_000
    different, square = maximal_coupling(a)
    X, other = rng.standard_normal((2, draws))
    other += a
    log = a * X - a**2 / 2  # of p'/p
    moves = np.log(rng.random(draws)) > log
    above = np.log(rng.random(draws)) > -(a * other - a**2 / 2)
    assert moves.mean() == pytest.approx(different, abs=4 / draws**0.5)
    low, high = X[moves], other[above]
    size = min(len(low), len(high))
    assert np.mean((high[:size] - low[:size]) ** 2) == pytest.approx(square, rel=0.05)
    assert different * np.mean(high[:size] - low[:size]) == pytest.approx(a, rel=0.05)


@pytest.mark.parametrize("noise", [measure.CONSTANT, measure.SMALL, measure.NONE])
def test_the_cost_is_the_noise_of_the_second_stage_and_no_less_than_the_lower_bound(noise: str) -> None:
    cell = CommonWeightCell(500, 2, 1.0, 1e-5, noise)
    costs = np.array([common_weight_trial(cell, rng=np.random.default_rng(k))[0] for k in range(40)])
    assert costs.mean() == pytest.approx(cell.upper, rel=0.2)
    assert cell.lower < costs.mean()


def test_what_the_release_differs_from_least_squares_without_the_second_noise() -> None:
    """At a large budget and without label noise that is all of the cost, and the closed form bounds it."""
    cell = CommonWeightCell(400, 2, 1e6, 1e-5, measure.NONE)
    cost = np.mean([common_weight_trial(cell, rng=np.random.default_rng(k))[0] for k in range(60)])
    assert cell.noise_stds[1] ** 2 < 0.1 * cost < cost < cell.upper
