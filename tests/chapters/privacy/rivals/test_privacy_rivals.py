"""The machinery behind the chapter on rivals."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from chapters.privacy.rivals import choices, measure, show
from chapters.privacy.rivals.choices import Public
from chapters.privacy.rivals.measure import Cell
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.dpgd import spectrum
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import batch_descent, objective_perturbation, output_perturbation, sufficient_statistics
from costofprivacy.rivals.bounds import Bounds

Answers = Callable[[measure.Task], np.ndarray]


@pytest.fixture(scope="module")
def found() -> tuple[Cell, np.ndarray]:
    """Three trials of a small cell."""
    cell = Cell(measure.ISOTROPIC, 400, 5, (4.0,), 1e-6)
    return cell, np.stack([measure.trial(cell, rng=np.random.default_rng(k)) for k in range(3)])


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
    [
        (measure.adassp, literal_adassp),
        (measure.output, literal_output),
        (measure.objective, literal_objective),
    ],
)
def test_what_settings_share_changes_none_of_them(together: Answers, literal: Answers) -> None:
    """On the same noise; another setting's answers are far off."""
    found, expected = together(task()), literal(task())
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert np.abs(found - expected[:, ::-1]).max() > 1e-3


def test_budgets_and_settings_of_a_descent_have_their_own_noise() -> None:
    """Answers of DP-SGD at one setting spread as its noise says, and those of others not with them."""
    answers = np.array([measure.sgd(task(5 + k, 300, 4))[:, :, 0] for k in range(60)])
    spread = answers.std(axis=0)
    assert (spread[0] > spread[1]).all()  # ε = 1 and 4
    apart = np.corrcoef((answers - answers.mean(axis=0))[:, 0, :2].T)[0, 1]
    assert abs(apart) < 0.9


def public(n: int = 2000, d: int = 20, epsilon: float = 1.0) -> Public:
    return Public(n, d, ApproximateDP(epsilon, 1e-6), 1.5 * math.sqrt(d), 3.13)


def test_the_formula_for_a_minimisers_risk_is_that_of_a_simulation() -> None:
    told = public(4000, 40)
    c, share = choices.objective_perturbation_choice(told)
    added = objective_perturbation.calibrate(told.budget, share, told.clip_norm(c), told.features)
    expected = choices.minimiser_risk(told, c, added.penalty, added.noise_std)
    values = spectrum.isotropic(40)
    model, rng = spectrum.RegressionModel(values, spectrum.projections(values), 0.3), np.random.default_rng(2)
    risks = []
    for _ in range(8):
        x, y = spectrum.sample(model, 4000, rng=rng)
        risks.append(float(model.risk(objective_perturbation.release(x, y, told.clip_norm(c), added, rng=rng))))
    assert np.mean(risks) == pytest.approx(expected, rel=0.25)


def test_a_plan_reaches_what_it_promises() -> None:
    told = public(4000, 40)
    plan = choices.full_batch(told)
    sigma = batch_descent.noise_multiplier(told.budget, 1.0, len(plan.rates))
    values = spectrum.isotropic(40)
    model, rng = spectrum.RegressionModel(values, spectrum.projections(values), 0.3), np.random.default_rng(3)
    risks = []
    for _ in range(8):
        x, y = spectrum.sample(model, 4000, rng=rng)
        theta = batch_descent.release(x, y, told.clip_norm(plan.clip), plan.rates, sigma, rng=rng)
        risks.append(float(model.risk(theta)))
    assert np.mean(risks) == pytest.approx(plan.risk, rel=0.3)
    assert np.mean(risks) < 0.1 * plan.risk + 0.05


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
