from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.low_dimensional import judge as low_dimensional_judge
from chapters.noisyhead.low_dimensional import measure
from chapters.noisyhead.low_dimensional.judge import idle_rows
from chapters.noisyhead.low_dimensional.measure import Cell, Experiment, trial
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.prompts import sample
from costofprivacy.settings import Setting
from tests import oracles
from tests.chapters.reading import check_page
from tests.costofprivacy.noisyhead.draws import token_by_token

QUIET = Runner(workers=1)


@pytest.fixture(scope="module", autouse=True)
def short_prompts() -> Iterator[None]:
    """Floors of short prompts alone: the long ones take seconds, and nothing here looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "LENGTHS", measure.LENGTHS[:3])
        yield


@pytest.fixture(scope="module")
def published() -> dict[str, pd.DataFrame]:
    return Experiment(N=(1000, 2000), epsilon=(0.4, 1.0), trials=60).run(QUIET)


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
    small = {"D": 3, "epsilon": (0.5,), "trials": 30, "test_prompts": 20}
    both = Experiment(N=(64, 100), **small)
    one = Experiment(N=(100,), **small)
    first, third = (asked.run(QUIET)["figure-1"] for asked in (both, one))
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


@pytest.mark.slow
def test_a_single_cell_of_other_parameters_runs_and_is_judged() -> None:
    tables = Experiment(N=[2500], epsilon=[0.6], trials=2, D=3, label_noise=0.5, test_prompts=10).run(QUIET)
    assert tables["comparison"].empty
    for judge in (
        low_dimensional_judge.figure_1,
        low_dimensional_judge.theorem_11_low,
        low_dimensional_judge.theorem_42i,
    ):
        judge(tables)
    check_page("noisyhead/low-dimensional", tables)
