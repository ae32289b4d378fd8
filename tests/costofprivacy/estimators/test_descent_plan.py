"""The plan of clipped descent: it spends the budget, has two stages where that helps, and keeps what it promises."""

import math

import numpy as np
import pytest

from costofprivacy.estimators import descent_plan, expected, forecasting
from costofprivacy.estimators.descent_plan import Course, walk
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import guarded_descent

BUDGETS = [ApproximateDP(epsilon, 1e-6) for epsilon in (0.1, 1.0, 10.0)]


def chosen(n: int, d: int, budget: ApproximateDP, kind: str = "textbook") -> descent_plan.Chosen:
    return descent_plan.choose(*forecasting.asked(n, d, budget.epsilon, budget.delta, 0.6, kind, None, False))


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("n", [60, 3000, 10**6])
def test_all_stages_together_spend_the_budget(n: int, budget: ApproximateDP) -> None:
    found = chosen(n, 4, budget)
    assert found.plan.guarantee.mu == pytest.approx(budget.to_gaussian().mu, rel=1e-12)
    assert 1 <= len(found.plan.plans) <= 2
    assert 1 <= found.plan.averaged <= len(found.plan.plans[-1].learning_rates)


def test_the_second_stage_clips_shorter_and_is_averaged() -> None:
    found = chosen(10_000, 4, BUDGETS[1]).plan
    near, last = found.plans
    assert last.clip_norm < math.sqrt(4)  # a standard deviation of the response
    assert found.averaged == len(last.learning_rates)
    spent = [len(plan.learning_rates) / plan.noise_multiplier**2 for plan in (near, last)]
    assert spent[0] <= spent[1]


def test_many_steps_are_taken_where_they_are_quick() -> None:
    steps = [sum(len(plan.learning_rates) for plan in chosen(n, 4, BUDGETS[1]).plan.plans) for n in (10_000, 10**7)]
    assert steps[0] > 40 >= steps[1]


@pytest.mark.parametrize("budget", BUDGETS[1:])
def test_a_plan_keeps_its_promise(budget: ApproximateDP) -> None:
    """Gaussian features whose second moment is stated: the mean excess over least squares of 40 fits, within 1.4."""
    n, d, r2 = 3000, 5, 0.6
    found = descent_plan.choose(
        *forecasting.asked(n, d, budget.epsilon, budget.delta, r2, "textbook", np.ones(d), False)
    )
    excess = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, theta = rng.standard_normal((n, d)), rng.standard_normal(d)
        y = x @ theta * math.sqrt(r2) / np.linalg.norm(theta) + math.sqrt(1 - r2) * rng.standard_normal(n)
        private = guarded_descent.release(x, y, *found.plan.plans, averaged=found.plan.averaged, rng=rng)
        excess.append(((x @ (private - np.linalg.lstsq(x, y)[0])) ** 2).mean() / 2)
    assert found.expected.privacy / 1.4 < np.mean(excess) < found.expected.privacy * 1.4


def test_descents_side_by_side_do_not_depend_on_their_order() -> None:
    known, n, _, stated = forecasting.asked(1000, 4, 1.0, 1e-6, 0.6, "textbook", None, False)
    clip, rate, steps, noise = np.ones(4), np.array([0.5, 0.9, 0.7, 0.3]), np.array([2, 1, 5, 3]), np.full(4, 0.01)

    def walked(order: np.ndarray) -> list[np.ndarray]:
        courses = [Course.started(model, len(order)) for model in expected.models(known, n, stated)]
        args = (each[order] for each in (clip, rate, steps, noise))
        lengths = walk(courses, *args, expected.Records.whole(len(order)))
        return [lengths, *(course.errors for course in courses), *(course.mean()[2][0] for course in courses)]

    backwards, alone = np.arange(4)[::-1], np.array([2])
    both = zip(walked(np.arange(4)), walked(backwards), walked(alone), strict=True)
    for found, turned, own in both:
        assert turned == pytest.approx(found[backwards], rel=1e-12)
        assert own == pytest.approx(found[alone], rel=1e-12)
    assert ((walked(np.arange(4))[0] > 0).sum(axis=1) == steps).all()
