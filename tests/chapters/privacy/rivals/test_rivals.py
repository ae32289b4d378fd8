"""The methods on shared records and noise, what is promised of them, and diffprivlib's runs beside them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapters.privacy.rivals import choices, measure, show
from chapters.privacy.rivals.choices import Public
from chapters.privacy.rivals.measure import RECORD, Cell, Experiment, Run
from chapters.privacy.rivals.show import LABEL, failures, joined, origin
from companion.judging.findings import Verdict
from companion.judging.tables import select
from companion.judging.vocabulary import CONSISTENT
from companion.running.extras import ANEW, Extra, ExtraMissing
from costofprivacy.dpgd import spectrum
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import batch_descent, objective_perturbation, output_perturbation, sufficient_statistics
from costofprivacy.rivals.bounds import Bounds
from tests.chapters.machinery import Case, committed, put, trials

Answers = Callable[[measure.Task], np.ndarray]


@pytest.fixture(scope="module")
def found() -> tuple[Cell, np.ndarray]:
    cell = Cell(measure.ISOTROPIC, 200, 3, (4.0,), 1e-6)
    return cell, np.stack([measure.trial(cell, rng=np.random.default_rng(k)) for k in range(2)])


def test_a_trial_has_every_method_and_setting(found: tuple[Cell, np.ndarray]) -> None:
    cell, values = found
    assert values.shape[1:] == (1, len(measure.METHODS) + len(measure.TOLD) + 1, measure.SETTINGS)
    assert np.isfinite(values[:, 0, : len(measure.METHODS)]).all()
    np.testing.assert_allclose(values[:, 0, -1, 1], 1.09)
    table = pd.DataFrame(measure.rows(cell, values))
    assert len(table) == len(measure.METHODS) * measure.SETTINGS + 3
    constant = table.set_index("method").loc[measure.ZERO]
    assert constant["lost"] == pytest.approx(1.0)
    leader = show.public(table).sort_values("lost").iloc[0]
    assert leader["behind"] == leader["behind_error"] == 0


def task(seed: int = 5, n: int = 300, d: int = 4) -> measure.Task:
    """A draw of power-law data at two budgets; the noise that follows is the same for each seed."""
    rng = np.random.default_rng(seed)
    problem = measure.draw(measure.UNEVEN, n, d, rng=rng)
    budgets = (ApproximateDP(1.0, 1e-6), ApproximateDP(4.0, 1e-6))
    told = tuple(Public(n, d, budget, problem.bounds.features, problem.bounds.response) for budget in budgets)
    return measure.Task(problem, told, rng)


def literal_adassp(told: measure.Task) -> np.ndarray:
    """AdaSSP setting by setting, budget by budget."""
    answers, problem = told.empty(), told.problem
    for k, (b, y) in enumerate(measure.NARROW):
        bounds = Bounds(b * problem.bounds.features, y * problem.bounds.response)
        for i, known in enumerate(told.publics):
            data = sufficient_statistics.moments(problem.x, problem.y, bounds)
            answers[i, k] = sufficient_statistics.release(data, bounds, known.budget.to_gaussian(), rng=told.rng)
    return answers


def literal_output(told: measure.Task) -> np.ndarray:
    """Output perturbation, each search from 0."""
    answers, problem = told.empty(), told.problem
    for i, known in enumerate(told.publics):
        c, penalty = choices.output_perturbation(known)
        for k, (a, b) in enumerate(measure.AROUND):
            answers[i, k] = output_perturbation.release(
                problem.x, problem.y, known.clip_norm(a * c), b * penalty, known.budget.to_gaussian(), rng=told.rng
            )
    return answers


def literal_objective(told: measure.Task) -> np.ndarray:
    """Objective perturbation, each search from 0."""
    answers, problem = told.empty(), told.problem
    for i, known in enumerate(told.publics):
        c, part = choices.objective_perturbation_choice(known)
        shares = (part, part, part, part / 3, 1 - (1 - part) / 3)
        for k, ((a, _), share) in enumerate(zip(measure.AROUND, shares, strict=True)):
            C = known.clip_norm(a * c)
            added = objective_perturbation.calibrate(known.budget, share, C, known.features)
            answers[i, k] = objective_perturbation.release(problem.x, problem.y, C, added, rng=told.rng)
    return answers


@pytest.mark.parametrize(
    ("together", "literal"),
    [(measure.adassp, literal_adassp), (measure.output, literal_output), (measure.objective, literal_objective)],
)
def test_what_settings_share_changes_none_of_them(together: Answers, literal: Answers) -> None:
    """On the same noise; another setting's answers are far off."""
    found, expected = together(task()), literal(task())
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert np.abs(found - expected[:, ::-1]).max() > 1e-3


def test_budgets_and_settings_of_a_descent_have_their_own_noise() -> None:
    """Answers of DP-SGD at one setting spread as its noise says, and those of others not with them."""
    answers = np.array([measure.sgd(task(5 + k, 300, 4))[:, :, 0] for k in range(30)])
    spread = answers.std(axis=0)
    assert (spread[0] > spread[1]).all()  # ε = 1 and 4
    apart = np.corrcoef((answers - answers.mean(axis=0))[:, 0, :2].T)[0, 1]
    assert abs(apart) < 0.9


def public(n: int = 2000, d: int = 20, epsilon: float = 1.0) -> Public:
    return Public(n, d, ApproximateDP(epsilon, 1e-6), 1.5 * math.sqrt(d), 3.13)


def mean_risk(seed: int, release: Callable[..., np.ndarray]) -> float:
    """Of eight releases, each from 4000 new records of dimension 40."""
    values, rng = spectrum.isotropic(40), np.random.default_rng(seed)
    model = spectrum.RegressionModel(values, spectrum.projections(values), 0.3)
    drawn = (spectrum.sample(model, 4000, rng=rng) for _ in range(8))
    return float(np.mean([float(model.risk(release(x, y, rng=rng))) for x, y in drawn]))


def test_the_formula_for_a_minimisers_risk_is_that_of_a_simulation() -> None:
    told = public(4000, 40)
    c, share = choices.objective_perturbation_choice(told)
    C = told.clip_norm(c)
    added = objective_perturbation.calibrate(told.budget, share, C, told.features)
    risk = mean_risk(2, lambda x, y, rng: objective_perturbation.release(x, y, C, added, rng=rng))
    assert risk == pytest.approx(choices.minimiser_risk(told, c, added.penalty, added.noise_std), rel=0.25)


def test_a_plan_reaches_what_it_promises() -> None:
    told = public(4000, 40)
    plan, C = choices.full_batch(told), told.clip_norm(choices.full_batch(told).clip)
    sigma = batch_descent.noise_multiplier(told.budget, 1.0, len(plan.rates))
    risk = mean_risk(3, lambda x, y, rng: batch_descent.release(x, y, C, plan.rates, sigma, rng=rng))
    assert risk == pytest.approx(plan.risk, rel=0.3)
    assert risk < 0.1 * plan.risk + 0.05


def test_moments_drawn_as_such_have_the_law_of_those_of_records() -> None:
    size = measure.Size(measure.ADASSP, 30, 1e-6)
    rng = np.random.default_rng(4)
    risks = [[float(size.model.risk(measure._statistics(size, 4000, rng))) for _ in range(60)]]
    direct = []
    for _ in range(60):
        x, y = size.draw(4000, rng)
        bounds = Bounds(size.public(4000).features, size.public(4000).response)
        budget = size.public(4000).budget.to_gaussian()
        theta = sufficient_statistics.release(sufficient_statistics.moments(x, y, bounds), bounds, budget, rng=rng)
        direct.append(float(size.model.risk(theta)))
    spread = math.hypot(np.std(risks), np.std(direct)) / math.sqrt(60)
    assert abs(np.mean(risks) - np.mean(direct)) < CONSISTENT * spread


TABLES = committed("privacy/rivals")
RUNS = TABLES[measure.NAME]
JOINED = joined(TABLES)


class NoRunner:
    def run(self, *arguments: Any) -> dict[Any, Any]:
        raise AssertionError(arguments)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment, and nothing asked anew."""
    monkeypatch.setattr(Extra, "present", False)
    monkeypatch.delenv("COSTOFPRIVACY_EXTRAS", raising=False)


def gaussian(**other: Any) -> list[Run]:
    experiment = Experiment(**other)
    return experiment._runs(experiment._gaussian())


@pytest.mark.usefixtures("absent")
def test_the_first_of_the_committed_runs_are_read_where_there_is_no_environment() -> None:
    found = measure.table([(gaussian(records=[100], epsilon=[1.0]), 6)], NoRunner())
    assert found["trial"].tolist() == [0, 1, 2, 3, 4, 5] * 2
    known = set(RUNS["digest"])
    assert set(found["digest"]) <= known
    assert all(RECORD.committed(run, 20) is not None for run in gaussian())


@pytest.mark.usefixtures("absent")
def test_runs_that_are_missing_are_left_out_and_the_page_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = measure.table([(gaussian(seed=1), 2)], NoRunner())
    assert found.empty
    tables = TABLES | {measure.NAME: found}
    assert "18 of 22 cases are not measured" in origin(tables)
    assert " extra NAME=diffprivlib" in origin(tables)
    assert "no case" in failures(tables)
    pd.testing.assert_frame_equal(joined(tables).drop(columns="failed"), TABLES["errors"])
    assert (show.show_rivals(joined(tables), 1.0).loc[measure.HARMONIC] != "–").all()
    monkeypatch.setenv("COSTOFPRIVACY_EXTRAS", ANEW)
    with pytest.raises(ExtraMissing, match=r" extra NAME=diffprivlib$"):
        measure.table([(gaussian(), 2)], NoRunner())


def test_a_row_is_the_mean_of_its_runs_with_their_standard_error() -> None:
    runs = select(RUNS, problem=measure.ISOTROPIC, n=20000, epsilon=4.0)
    row = select(JOINED, method=LABEL, problem=measure.ISOTROPIC, n=20000, epsilon=4.0, setting=0).iloc[0]
    lost = (runs["error_0"] - 0.09) / 1.0
    assert row["lost"] == pytest.approx(lost.mean())
    assert row["lost_error"] == pytest.approx(lost.std(ddof=1) / math.sqrt(len(runs)))
    rows = show.show_rivals(JOINED, 4.0).loc[LABEL]
    assert rows["isotropic, 20000"].startswith(f"{100 * row['lost']:.0f}"[:1])
    assert (rows[[name for name in rows.index if name.startswith("MNIST")]] == "–").all()


def test_the_expected_risk_counts_clipping_as_a_simulation_does() -> None:
    rng, d, n = np.random.default_rng(0), 20, 200_000
    theta = np.full(d, math.sqrt(2 * measure.INITIAL_RISK / d))
    x = rng.standard_normal((n, d))
    y = x @ theta + measure.LABEL_NOISE * rng.standard_normal(n)
    for b, bound in ((1.0, 3.0), (2.0, 1.5)):
        box = np.clip(x, -b, b)
        fitted = np.linalg.solve(box.T @ box, box.T @ np.clip(y, -bound, bound))
        risk = ((fitted - theta) ** 2).sum() / 2
        run = Run(measure.ISOTROPIC, n, d, 1e9, 0, 0)
        assert risk == pytest.approx(measure.expected_risk(b, bound, run)[0], rel=0.15, abs=0.003)


# the judges

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "privacy/rivals"
LINEAR, CLIP, PERTURB, STATISTICS = (
    f"dpgd/section-{name}"
    for name in ("1-linear-samples", "1-significant-clipping", "1-perturbation", "2-sufficient-statistics")
)


def needs(method: str, multiple: float, power: float) -> Any:
    return put("thresholds", "log_records", lambda r: np.log(multiple * r["d"] ** power), method=method)


def left(method: str, to: Any) -> Any:
    """The share of the risk that is left by a method at d/n fixed."""
    return put("proportional", "share", to, method=method)


CASES = [
    Case(LINEAR, "as AdaSSP needs", needs(measure.FULL, 3.0, 1.5), FAILS),
    Case(LINEAR, "a logarithm",
         put("thresholds", "log_records", lambda r: np.log(r["d"] * (2 + 0.3 * np.log(r["d"])))),
         HOLDS, silent="halves"),
    Case(STATISTICS, "in proportion to d", needs(measure.ADASSP, 30.0, 1.0), FAILS),
    Case(PERTURB, "output perturbation learns nothing", left(measure.OUTPUT, lambda r: 1.0), FAILS),
    Case(PERTURB, "objective perturbation learns less and less",
         left(measure.OBJECTIVE, lambda r: 0.004 * r["d"] ** 0.25), FAILS),
    Case(CLIP, "no difference", put("clipping", "share", 0.01), FAILS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
