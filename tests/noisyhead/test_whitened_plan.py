import math
from dataclasses import replace

import dp_accounting
import numpy as np
import pytest
from scipy.optimize import minimize

from costofprivacy.noisyhead import whitened_plan
from costofprivacy.noisyhead.whitened_plan import Plan, plan
from costofprivacy.privacy import GaussianDP

PAPER = plan(5, 31, 4000, GaussianDP(0.27), every_token=False)
EVERY = plan(5, 31, 4000, GaussianDP(0.27), every_token=True)
BOTH = pytest.mark.parametrize("told", [PAPER, EVERY], ids=["last", "every"])


def excess(told: Plan, gains: np.ndarray, uneven: float) -> float:
    """What is left of e = 1 after the steps of a plan, with other gains: the recursion with its quadratic written out.

    A step removes e − e', of which a share stays.
    """
    e = 1.0
    for norm, g in zip(told.clip_norms, gains):
        noise = (5 * told.step_std(norm)) ** 2
        e = (1 - uneven) * ((1 - g) ** 2 * e + g**2 * noise) + uneven * e
    return e


@BOTH
def test_the_gains_are_the_best_of_all(told: Plan) -> None:
    """Kalman's gains against a minimisation over all of them at once."""
    found = minimize(lambda g: excess(told, g, whitened_plan.UNEVEN), np.full(4, 0.5), method="L-BFGS-B", tol=1e-14)
    np.testing.assert_allclose(told.gains, found.x, rtol=1e-3)
    assert excess(told, np.array(told.gains), whitened_plan.UNEVEN) == pytest.approx(found.fun, rel=1e-7)


@BOTH
def test_clip_norms_follow_what_is_left(told: Plan) -> None:
    size = 5 if told is PAPER else math.sqrt(5)
    for t, norm in enumerate(told.clip_norms):
        left = excess(told, np.array(told.gains[:t]), whitened_plan.UNEVEN)
        assert norm == pytest.approx(size * math.sqrt(left + 6 / 37), rel=1e-12)
    assert (np.diff(told.clip_norms) < 0).all()


@BOTH
@pytest.mark.parametrize("steps", [1, 4, 7])
def test_the_releases_spend_the_budget_and_no_more(told: Plan, steps: int) -> None:
    """By the squares, and by dp-accounting's composition of Gaussians with the noise multipliers std/sensitivity."""
    told = replace(told, clip_norms=told.clip_norms[:1] * steps, gains=told.gains[:1] * steps)
    moments = [(told.moment_std(c), math.sqrt(2) * c / told.N) for c in (told.feature_norm, told.context_norm)]
    every = moments + [(told.step_std(c), 2 * c / told.N) for c in told.clip_norms]
    assert sum((sensitivity / std) ** 2 for std, sensitivity in every) == pytest.approx(0.27**2, rel=1e-12)
    accountant = dp_accounting.pld.PLDAccountant()
    for std, sensitivity in every:
        accountant.compose(dp_accounting.GaussianDpEvent(std / sensitivity))
    assert accountant.get_epsilon(1e-5) == pytest.approx(GaussianDP(0.27).epsilon(1e-5), rel=1e-3)


def test_without_privacy_a_step_is_whole_and_without_budget_there_is_none() -> None:
    free, poor = (plan(5, 31, 4000, GaussianDP(mu), every_token=True) for mu in (math.inf, 1e-9))
    assert free.gains == (1.0,) * 4
    assert free.step_std(1.0) == free.moment_std(1.0) == 0
    assert max(poor.gains) < 1e-9
    assert poor.clip_norms[-1] == pytest.approx(poor.clip_norms[0])


def test_more_prompts_are_as_more_budget() -> None:
    one, two = (
        plan(5, 31, 8000, GaussianDP(0.27), every_token=True),
        plan(5, 31, 4000, GaussianDP(0.54), every_token=True),
    )
    np.testing.assert_allclose(one.gains, two.gains, rtol=1e-12)
    assert one.step_std(3.0) == pytest.approx(two.step_std(3.0))
