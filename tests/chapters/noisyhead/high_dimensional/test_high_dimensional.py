"""The experiment of the chapter on high dimension against the literal algorithm, and its tables."""

from collections.abc import Iterator
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.high_dimensional import measure, show
from chapters.noisyhead.low_dimensional import measure as low_dimensional_measure
from companion.judging.findings import Verdict
from companion.judging.judges import judges_of
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead import head, population, pretraining
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.privacy import ApproximateDP, basic_noise_multiplier, exact_composed_noise_multiplier
from costofprivacy.settings import Setting
from tests import oracles
from tests.chapters.reading import check_page
from tests.costofprivacy.noisyhead.draws import token_by_token

QUIET = Runner(workers=1)
TINY = {"bound_N": (16,), "bound_trials": 2, "lemma_trials": 20}


@pytest.fixture(scope="module", autouse=True)
def _short_prompts() -> Iterator[None]:
    """What no parameter makes smaller, made smaller: prompts of up to 31,623 examples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(low_dimensional_measure, "LENGTHS", low_dimensional_measure.LENGTHS[:3])
        yield


@pytest.fixture(scope="module")
def published() -> dict[str, pd.DataFrame]:
    sizes = {"N": (1000, 1500), "epsilon": (0.01, 0.05, 1.0)}
    return measure.Experiment(**sizes, trials=20, **TINY).run(Runner(workers=2))


# a trial


def test_a_trial_is_the_literal_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method of every variant on the same draws, prompt by prompt and step by step, with C, G and R at work."""
    monkeypatch.setattr(head, "sample_statistics", token_by_token)
    cell = measure.Cell(20, (0.05, 2.0), 1e-3, 1e-2, 19.0, 3, 0.7, 3)
    fast = measure.trial(cell, rng=generator(5, 20, 0))
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
    cell = measure.Cell(900, (0.1,), 1e-5, 1e-2, 0.5, 5, 0.5, 7)
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


# the tables


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


@pytest.mark.slow
def test_bits_do_not_depend_on_the_other_sizes() -> None:
    small = {"epsilon": (0.5,), "trials": 30, "test_prompts": 5, "bound_trials": 2, "lemma_trials": 20, "failure": 0.5}
    both = measure.Experiment(N=(25, 36), bound_N=(16, 20), bound_failure=0.5, **small)
    one = measure.Experiment(N=(36,), bound_N=(20,), bound_failure=0.5, **small)
    first, third = (asked.run(QUIET) for asked in (both, one))
    for name, N in (("figure-2", 36), ("test-error", 36), ("starts", 36), ("both-sides", 20)):
        table = first[name]
        kept = table[table["N"] == N].reset_index(drop=True)
        pd.testing.assert_frame_equal(kept, third[name], check_exact=True)
    assert (first["progress"]["N"] == 20).all()


@pytest.mark.slow
def test_few_trials_of_a_single_cell_decide_nothing_and_break_nothing() -> None:
    tables = measure.Experiment(N=[30], epsilon=[0.6], trials=2, label_noise=0.5, test_prompts=10, **TINY).run(QUIET)
    assert tables["comparison"].empty
    assert (tables["test-error"]["response_variance"] == 1.25).all()
    found = {claim: judge(tables) for claim, judge in judges_of(show.__package__).items()}
    for claim in ("noisyhead/figure-2", "noisyhead/theorem-4.2ii"):
        assert found[claim].verdict == Verdict.UNTESTABLE
    check_page("noisyhead/high-dimensional", tables)
