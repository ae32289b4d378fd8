import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.rivals import measure, show
from chapters.noisyhead.rivals.measure import DESCENT, DP_RIDGE, EXPERIMENT_LAST, NOISYHEAD, Cell, Experiment, trial
from companion.judging.judges import judges_of
from companion.running.montecarlo import Runner, generator
from costofprivacy.noisyhead import accounts, dynamics, head, population, private_ridge
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.privacy import ApproximateDP, GaussianDP, exact_noise_multiplier
from costofprivacy.settings import Setting
from tests import oracles
from tests.chapters.reading import check_page
from tests.costofprivacy.noisyhead import draws

QUIET = Runner(workers=1)
BUDGET = ApproximateDP(0.4, 1e-5)
SMALL = {"pairs": 200, "releases": 2000}


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return Experiment(N=(4000,), trials=60, shares=(1.0,), **SMALL).run(QUIET)


def test_a_trial_is_the_literal_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method of every setting on the same draws, prompt by prompt and step by step."""
    cell = Cell(20, 2, (0.5, 2.0), 1e-3, 0.9, 0.7, 0.3, (0.5, 1.0), 3)
    monkeypatch.setattr(head, "sample_statistics", draws.token_by_token)
    fast = trial(cell, rng=generator(5, 20, 0))
    rng = generator(5, 20, 0)
    train, test = sample(cell.model, 20, rng=rng), sample(cell.model, 3, rng=rng)
    start, seeds = 0.1 * rng.standard_normal((2, 2)), rng.integers(2**32, size=2)
    reference = oracles.ridge(train.x, train.y, 0.7)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    weights = []
    for setting, hyper in cell.hyper.items():
        bound = (hyper.clip_norm, hyper.feature_bound)
        direction = np.random.default_rng(seeds[0]).standard_normal((2, 2))
        weights += [oracles.dp_ridge(train.x, train.y, *bound, 0.7, c.std * direction) for c in cell.solved[setting]]
        data = in_eigenbasis(head.moments(head.project(head.statistics(train, bound[0]), bound[1])))
        steps = data.matrices(np.random.default_rng(seeds[1]).standard_normal((hyper.steps, 4)))
        initial = start if setting == Setting.PUBLISHED else np.zeros((2, 2))
        told = (*bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
        for c in cell.descended[setting]:
            weights.append(oracles.noisyhead(train.x, train.y, *told, c.std * steps[: c.steps], initial))
    weights += [np.zeros((2, 2)), reference]
    excess = [np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z]) for Gamma in weights]
    np.testing.assert_allclose(fast[0], excess, rtol=1e-7, atol=1e-18)
    errors = [population.prediction_error(cell.model, Gamma) for Gamma in weights]
    np.testing.assert_allclose(fast[1], errors, rtol=1e-9)
    assert len(cell.columns) == len(weights)


def test_noise_of_each_method_meets_the_same_budget() -> None:
    """Accounted as each method says, every private column of the corrected setting is (ε, δ)-DP and no more private."""
    (cell,) = Experiment(N=(2000,)).cells
    multiplier = exact_noise_multiplier(BUDGET)
    told = cell.told(Setting.CORRECTED)
    for column in cell.solved[Setting.CORRECTED][1:2]:
        assert column.std == pytest.approx(multiplier * private_ridge.sensitivity(told))
    for column in cell.descended[Setting.CORRECTED]:
        if column.method == DESCENT or column.epsilon != BUDGET.epsilon:
            continue
        hyper = replace(cell.hyper[Setting.CORRECTED], steps=column.steps)
        step = hyper.learning_rate * hyper.sigma / 2000 / column.std
        c = hyper.contraction
        forgotten = (1 - c**column.steps) / (1 + c**column.steps) * (1 + c) / (1 - c)
        spent = step * math.sqrt(forgotten if column.method == EXPERIMENT_LAST else column.steps)
        assert spent == pytest.approx(1 / multiplier, rel=1e-9)


def test_closed_forms_meet_the_simulation(tables: dict[str, pd.DataFrame]) -> None:
    """DP-ridge's noise part; NoisyHead's, where Π_R is idle; both are all of the excess risk."""
    table = tables["table-1"].query("N == 4000 and epsilon == 0.4").set_index(["method", "setting"])
    ladder = tables["ladder"].set_index("stage")["noise_risk"].to_numpy()
    rows = [(DP_RIDGE, "published"), (DP_RIDGE, "corrected"), (EXPERIMENT_LAST, "corrected"), (NOISYHEAD, "corrected")]
    for row, closed in zip([*rows, (NOISYHEAD, "published")], [*ladder[:4], ladder[6]]):
        risk, error = table.loc[row, ["excess_risk", "standard_error"]]
        assert abs(risk - closed) < 4 * error
        assert abs(risk - 1.3 * closed) > 4 * error


def test_the_texts_own_readings_are_the_printed_and_the_published_noise(tables: dict[str, pd.DataFrame]) -> None:
    own = {name: next(iter(options)) for name, options in measure.OPTIONS.items()}
    (cell,) = Experiment(N=(2000,)).cells
    for G, setting in (("theorem", Setting.PRINTED), ("proof", Setting.PUBLISHED)):
        std = private_ridge.noise_std_printed(cell.told(setting), BUDGET)
        expected = std**2 * population.context_energy(cell.model)
        assert measure.predicted(own | {"G": G}, 2000, 0.4) == pytest.approx(expected, rel=1e-12)
    ours = tables["readings"].query("departures == 0")
    assert set(ours["G"]) == {"theorem", "proof"}
    assert ours["power"].between(-2.3, -2.2).all()


@pytest.mark.parametrize("rate", [0.05, 0.17])
def test_last_iterate_accounting_turns_descent_into_output_perturbation(rate: float) -> None:
    """With no curvature in the data and T → ∞ the noise part is DP-ridge's with the coarse bound.

    For any η₀ ≤ 2/(4λ' + G²), so that no curvature contracts less than none.
    """
    (cell,) = Experiment(N=(2000,)).cells
    hyper = replace(cell.hyper[Setting.CORRECTED], learning_rate=rate, steps=5000)
    std = accounts.noise_std(accounts.LAST, hyper, BUDGET, 2000, hyper.steps)
    once = private_ridge.sensitivity_coarse(cell.told(Setting.CORRECTED)) * exact_noise_multiplier(BUDGET)
    energy = population.context_energy(cell.model)
    assert dynamics.noise_risk(hyper, cell.model, std) == pytest.approx(once**2 * energy, rel=1e-9)


def test_drawn_replacements_move_as_the_solver_says() -> None:
    """Prompt by prompt on whole data sets; further round the data set than its N prompts."""
    model, told = PromptModel(2, 6, 0.2), PrivateRidge(1.5, 0.8, 0.4, 7)
    prompts = sample(model, 17, rng=np.random.default_rng(5))
    found = measure.drawn(head.project(head.statistics(prompts, 1.5), 0.8), told)
    train = range(7)
    first = oracles.dp_ridge(prompts.x[train], prompts.y[train], 1.5, 0.8, 0.4, 0.0)
    moves = []
    for new in range(7, 17):
        keep = [new if k == new % 7 else k for k in train]
        other = oracles.dp_ridge(prompts.x[keep], prompts.y[keep], 1.5, 0.8, 0.4, 0.0)
        moves.append(np.linalg.norm(other - first))
    assert found == pytest.approx(max(moves), rel=1e-9)


def test_an_audit_is_of_what_private_ridge_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release without noise tells all: the audit sees it."""
    cell = measure.AuditCell(PrivateRidge(1.0, 1.0, 1.0, 20), 2, BUDGET, measure.RIGHT, 20_000, 0.99)
    honest = measure.audit_trial(cell, rng=np.random.default_rng(0))
    assert honest[0] <= BUDGET.epsilon
    assert honest[1] <= BUDGET.to_gaussian().mu
    quiet = private_ridge.components
    monkeypatch.setattr(private_ridge, "components", lambda d, t, s, u, n, *, rng: quiet(d, t, 0.1 * s, u, n, rng=rng))
    assert measure.audit_trial(cell, rng=np.random.default_rng(0))[0] > 3 * BUDGET.epsilon


def test_the_table_of_audits_holds_the_claim_and_what_is_spent(tables: dict[str, pd.DataFrame]) -> None:
    audit = tables["audit"]
    for _, row in audit.iterrows():
        claim = ApproximateDP(row["epsilon"], 1e-5)
        assert row["mu"] == pytest.approx(1 / exact_noise_multiplier(claim))
        assert row["epsilon_spent"] == pytest.approx(GaussianDP(row["mu_spent"]).epsilon(1e-5))
    right = audit[audit["calibration"] == measure.RIGHT]
    assert (right["mu_spent"] <= right["mu"] * (1 + 1e-9)).all()
    assert (right["mu_found"] <= right["mu"]).all()


@pytest.mark.slow
def test_a_single_cell_of_other_parameters_runs_and_is_judged_and_drawn() -> None:
    experiment = Experiment(
        N=[900], epsilon=[0.6], trials=2, D=3, label_noise=0.5, test_prompts=10, shares=[1], **SMALL
    )
    tables = experiment.run(QUIET)
    assert tables["comparison"].empty
    judges = judges_of("chapters.noisyhead.rivals")
    judges["noisyhead/table-1"](tables)
    judges["noisyhead/appendix-b-early-stopping"](tables)
    assert "Table 1 prints" not in show.caption_table_1(tables)
    check_page("noisyhead/rivals", tables)
