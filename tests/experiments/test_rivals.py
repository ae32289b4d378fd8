import io
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.noisyhead.rivals import (
    closed_forms,
    figures,
    guarantees,
    page,
    readings,
    verdicts,
)
from costofprivacy.experiments.noisyhead.rivals import tables as short
from costofprivacy.experiments.noisyhead.rivals.experiment import (
    DESCENT,
    DP_RIDGE,
    LAST,
    NOISYHEAD,
    Cell,
    Experiment,
    published,
    trial,
)
from costofprivacy.noisyhead import accounts, dynamics, head, population, private_ridge
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.privacy import ApproximateDP, GaussianDP, exact_noise_multiplier
from costofprivacy.running.montecarlo import Runner, generator
from costofprivacy.settings import Setting
from tests import oracles
from tests.experiments.reading import check_page, opening_of
from tests.noisyhead import draws

QUIET = Runner(workers=1)
BUDGET = ApproximateDP(0.4, 1e-5)
SMALL = {"pairs": 200, "releases": 2000}


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return Experiment(N=(2000, 4000), trials=60, shares=(0.25, 1.0), **SMALL).run(QUIET)


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
        spent = step * math.sqrt(forgotten if column.method == LAST else column.steps)
        assert spent == pytest.approx(1 / multiplier, rel=1e-9)


@pytest.mark.slow
def test_figure_1_is_matched_where_table_1_is_not(tables: dict[str, pd.DataFrame]) -> None:
    rows = tables["comparison"].query("setting == 'published' and method == 'noisyhead'")
    combined = rows["standard_error"] * math.sqrt(1 + 60 / 500)
    assert ((rows["excess_risk"] - rows["excess_risk_figure_1"]).abs() / combined).max() < 4
    assert rows["deviation"].abs().min() > 4


def test_closed_forms_meet_the_simulation(tables: dict[str, pd.DataFrame]) -> None:
    """DP-ridge's noise part; NoisyHead's, where Π_R is idle; both are all of the excess risk."""
    table = tables["table-1"].query("N == 4000 and epsilon == 0.4").set_index(["method", "setting"])
    ladder = tables["ladder"].set_index("stage")["noise_risk"].to_numpy()
    rows = [(DP_RIDGE, "published"), (DP_RIDGE, "corrected"), (LAST, "corrected"), (NOISYHEAD, "corrected")]
    for row, closed in zip([*rows, (NOISYHEAD, "published")], [*ladder[:4], ladder[6]]):
        risk, error = table.loc[row, ["excess_risk", "standard_error"]]
        assert abs(risk - closed) < 4 * error
        assert abs(risk - 1.3 * closed) > 4 * error


def test_the_texts_own_readings_are_the_printed_and_the_published_noise(tables: dict[str, pd.DataFrame]) -> None:
    own = {name: next(iter(options)) for name, options in readings.OPTIONS.items()}
    (cell,) = Experiment(N=(2000,)).cells
    for G, setting in (("theorem", Setting.PRINTED), ("proof", Setting.PUBLISHED)):
        std = private_ridge.noise_std_printed(cell.told(setting), BUDGET)
        expected = std**2 * population.context_energy(cell.model)
        assert readings.predicted(own | {"G": G}, 2000, 0.4) == pytest.approx(expected, rel=1e-12)
    ours = tables["readings"].query("departures == 0")
    assert set(ours["G"]) == {"theorem", "proof"}
    assert ours["power"].between(-2.3, -2.2).all()


def test_the_nearest_readings_are_kept_of_all_that_were_tried(tables: dict[str, pd.DataFrame]) -> None:
    kept, every = tables["readings"], readings.readings(published(), 0.01)
    assert (kept["tried"] == len(every)).all()
    assert len(every) == math.prod(len(options) for options in readings.OPTIONS.values())
    assert readings.KEPT <= len(kept) <= readings.KEPT + 2 + (kept["deviation"] <= 4).sum()
    wide = readings.nearest(every.assign(deviation=every["deviation"] / 1e6))
    assert len(wide) == len(every)


def test_only_a_penalty_that_grows_like_N_has_table_1s_power() -> None:
    steep = readings.readings(published(), 0.01).query("power < -4.2 and measure == 'excess risk' and D == '5'")
    assert set(steep["λ"]) <= {"N/D²", "N/D", "5N/1000"}


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


def test_the_search_and_the_solver_agree() -> None:
    """The search's rank-one algebra against the solver on whole data sets, and the bound above both."""
    told = PrivateRidge(1.0, 1.0, 0.5, 12)
    found = guarantees.search(told, 20_000, np.random.default_rng(0))
    assert found <= private_ridge.sensitivity(told)
    assert found > 0.9 * guarantees.moved(private_ridge.worst_neighbours(told, 3), 0.5)


def test_drawn_replacements_move_as_the_solver_says() -> None:
    """Prompt by prompt on whole data sets; further round the data set than its N prompts."""
    model, told = PromptModel(2, 6, 0.2), PrivateRidge(1.5, 0.8, 0.4, 7)
    prompts = sample(model, 17, rng=np.random.default_rng(5))
    found = guarantees.drawn(head.project(head.statistics(prompts, 1.5), 0.8), told)
    train = range(7)
    first = oracles.dp_ridge(prompts.x[train], prompts.y[train], 1.5, 0.8, 0.4, 0.0)
    moves = []
    for new in range(7, 17):
        keep = [new if k == new % 7 else k for k in train]
        other = oracles.dp_ridge(prompts.x[keep], prompts.y[keep], 1.5, 0.8, 0.4, 0.0)
        moves.append(np.linalg.norm(other - first))
    assert found == pytest.approx(max(moves), rel=1e-9)


def test_drawn_replacements_stay_below_the_printed_sensitivity(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["sensitivity"]
    assert (table["drawn"] < table["printed"]).all()
    assert (table["typical"] > 1.9 * table["printed"]).all()


def test_an_audit_is_of_what_private_ridge_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release without noise tells all: the audit sees it."""
    cell = guarantees.AuditCell(PrivateRidge(1.0, 1.0, 1.0, 20), 2, BUDGET, guarantees.RIGHT, 20_000, 0.99)
    honest = guarantees.audit_trial(cell, rng=np.random.default_rng(0))
    assert honest[0] <= BUDGET.epsilon
    assert honest[1] <= BUDGET.to_gaussian().mu
    quiet = private_ridge.components
    monkeypatch.setattr(private_ridge, "components", lambda d, t, s, u, n, *, rng: quiet(d, t, 0.1 * s, u, n, rng=rng))
    assert guarantees.audit_trial(cell, rng=np.random.default_rng(0))[0] > 3 * BUDGET.epsilon


def test_an_audit_of_whole_releases_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that D² normals make, in place of one, for the noise as printed: the bounds agree to a few percent."""
    cell = guarantees.AuditCell(PrivateRidge(1.0, 1.0, 1.0, 20), 2, BUDGET, guarantees.PRINTED, 200_000, 0.99)
    fast = guarantees.audit_trial(cell, rng=np.random.default_rng(0))

    def whole(data, told, std, direction, count, *, rng):  # type: ignore[no-untyped-def]
        return private_ridge.releases(data, told, [std], count, rng=rng).reshape(count, -1) @ direction

    monkeypatch.setattr(private_ridge, "components", whole)
    slow = guarantees.audit_trial(cell, rng=np.random.default_rng(1))
    assert slow[1] > BUDGET.to_gaussian().mu
    np.testing.assert_allclose(fast[:2], slow[:2], rtol=0.1)


def test_the_table_of_audits_holds_the_claim_and_what_is_spent(tables: dict[str, pd.DataFrame]) -> None:
    audit = tables["audit"]
    for _, row in audit.iterrows():
        claim = ApproximateDP(row["epsilon"], 1e-5)
        assert row["mu"] == pytest.approx(1 / exact_noise_multiplier(claim))
        assert row["epsilon_spent"] == pytest.approx(GaussianDP(row["mu_spent"]).epsilon(1e-5))
    right = audit[audit["calibration"] == guarantees.RIGHT]
    assert (right["mu_spent"] <= right["mu"] * (1 + 1e-9)).all()
    assert (right["mu_found"] <= right["mu"]).all()


def test_lambda_that_grows_like_the_root_of_N_over_L_takes_the_power_away() -> None:
    powers = closed_forms.powers(5, 5.0, 1.0, BUDGET)
    rows = powers[powers["algorithm"] == closed_forms.PUBLISHED].set_index(["path", "size"])["exponent"]
    fixed, chosen = "N, with L = N^(1/4)", "N, with L = N^(1/4), λ ∝ √N/L"
    assert rows[fixed, 1e29] > 0.5
    assert 0.3 > rows[chosen, 1e9] > rows[chosen, 1e19] > rows[chosen, 1e29] > 0


@pytest.mark.slow
def test_bits_do_not_depend_on_the_other_sizes() -> None:
    small = {"D": 3, "epsilon": (0.5,), "trials": 30, "test_prompts": 20, "shares": (1.0,), **SMALL}
    both, one = Experiment(N=(64, 100), **small), Experiment(N=(100,), **small)
    first, third = (asked.run(QUIET) for asked in (both, one))
    for name in ("table-1", "sensitivity", "privacy"):
        own = first[name][first[name]["N"] == 100].reset_index(drop=True)
        pd.testing.assert_frame_equal(own, third[name], check_exact=True)


@pytest.mark.slow
def test_a_single_cell_of_other_parameters_runs_and_is_judged_and_drawn() -> None:
    experiment = Experiment(
        N=[900], epsilon=[0.6], trials=2, D=3, label_noise=0.5, test_prompts=10, shares=[1], **SMALL
    )
    tables = experiment.run(QUIET)
    assert tables["comparison"].empty
    verdicts.table_1(tables)
    verdicts.appendix_b_early_stopping(tables)
    assert "Table 1" not in figures.draw_table_1(tables["table-1"], tables["comparison"]).alt
    check_page("noisyhead/rivals", tables)


def test_the_answer_follows_the_tables(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["table-1"]
    last = (table["method"] == LAST) & (table["setting"] == Setting.CORRECTED)
    for share in (2.0, 5.0):
        level = table.loc[(table["method"] == DP_RIDGE) & (table["setting"] == Setting.CORRECTED), "excess_risk"].min()
        other = table.assign(excess_risk=table["excess_risk"].where(~last, share * level))
        assert f"NoisyHead has {share:g} times as much" in opening_of(page)({**tables, "table-1": other})
    private = tables["privacy"].assign(delta_spent=tables["privacy"]["delta"])
    assert opening_of(page)({**tables, "privacy": private}).startswith("On these tables it holds")


@pytest.mark.slow
def test_captions_follow_the_tables(tables: dict[str, pd.DataFrame]) -> None:
    steps, table = tables["steps"], tables["table-1"]
    falling = steps.assign(excess_risk=1 / steps["share"])
    for told, word in ((steps, "raise"), (falling, "lower"), (steps.assign(excess_risk=1.0), "do not change")):
        plate = figures.draw_steps(told, table)
        assert f"More steps {word} the risk" in plate.caption
    nothing = tables["audit"].assign(epsilon_found=0.0, mu_found=0.0)
    found = nothing.assign(epsilon_found=9.0), nothing, nothing.assign(mu_found=9.0)
    said = [figures.draw_privacy(tables["privacy"], audit).caption for audit in found]
    count = len(tables["audit"]) // 2
    assert f"refute {count} of {count} claims" in said[0]
    assert f"refute 0 of {count} claims" in said[1]
    assert f"refute {count} of {count} claims" in said[2]
    comparison = tables["comparison"]
    far = comparison.assign(excess_risk_figure_1=2 * comparison["excess_risk_figure_1"])
    assert "agrees with 2 of 2 numbers" in figures.draw_table_1(table, comparison).caption
    assert "agrees with 0 of 2 numbers" in figures.draw_table_1(table, far).caption


def test_a_reading_is_named_by_what_departs_from_the_text_however_it_was_saved(tables: dict[str, pd.DataFrame]) -> None:
    text = io.StringIO(tables["readings"].to_csv(index=False))
    for kept in (tables["readings"], pd.read_csv(text)):
        shown = short.show_readings(kept)
        assert set(shown.index[:2]) == {"the text, G: proof", "the text, G: theorem"}
        assert not shown.index.str.contains("e-05|1.0,").any()


@pytest.mark.slow
def test_short_tables_are_shown(tables: dict[str, pd.DataFrame]) -> None:
    check_page("noisyhead/rivals", tables)
    assert short.show_test_error(tables["test-error"]).loc["answer 0", "test error"].startswith("1.00000")


def test_penalties_follow_their_closed_form() -> None:
    model = PromptModel(5, 63)
    table = closed_forms.penalties(model, 1.0, 4000, BUDGET).pivot(
        index="penalty", columns="method", values="test_error"
    )
    plain = table["ridge, no privacy"]
    assert plain.is_monotonic_increasing
    assert (table["DP-ridge"] > plain).all()
    assert population.best_prediction_error(model) < plain.iloc[0] < 0.1
