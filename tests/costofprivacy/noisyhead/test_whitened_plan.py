import math
from dataclasses import replace
from itertools import combinations

import dp_accounting
import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from costofprivacy.noisyhead import quadratic, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import best_head, head_error
from costofprivacy.noisyhead.whitened_plan import Plan, plan
from costofprivacy.privacy import ApproximateDP, GaussianDP
from tests.each import each

PAPER = plan(5, 31, 4000, GaussianDP(0.27), every_token=False)
EVERY = plan(5, 31, 4000, GaussianDP(0.27), every_token=True)
EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)
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
        q = size * math.sqrt(left + 6 / 37)
        found = minimize_scalar(lambda c: cost(told, q, math.exp(c)), bounds=(-5, 5), method="bounded").x  # noqa: B023
        assert norm == pytest.approx(math.exp(found), rel=1e-4)
        assert cost(told, q, norm) == pytest.approx(q**2 / (4000 * told.step_budget.mu), rel=1e-12)
    assert (np.diff(told.clip_norms) < 0).all()


def cost(told: Plan, q: float, c: float) -> float:
    """The bound on the squared bias of clipping at c, and the variance of the noise."""
    return (q**2 / (4 * 5 * c)) ** 2 + (5 * told.step_std(c)) ** 2


@each("share", [0.5, 2.0])
def test_clipping_moves_a_mean_of_zero_by_no_more_than_the_bound(share: float) -> None:
    """Skewed gradients with independent entries, half of them three times as long: against q²/(4Dc), by simulation."""
    D, rng = 3, np.random.default_rng(1)
    size = np.where(rng.random(200_000) < 0.5, 1.0, 3.0)
    gradients = size[:, None] * (rng.exponential(size=(200_000, D * D)) - 1)
    norms = np.linalg.norm(gradients, axis=1)
    q = math.sqrt((norms**2).mean())
    kept = gradients * np.minimum(1, share * q / norms)[:, None]
    along = kept.mean(axis=0) - gradients.mean(axis=0)
    assert 0.1 * q / (4 * D * share) < np.linalg.norm(along) <= q / (4 * D * share)


def test_a_larger_budget_is_never_worse() -> None:
    """On the same prompts and noise, beyond four standard errors of the difference."""
    rng, errors = np.random.default_rng(7), []
    for _ in range(2):
        law = token_laws.unknown(5, 10.0, rng=rng)
        data, _ = quadratic.drawn(law, 4000, 63, rng=rng)
        noise = rng.standard_normal((16, 6, 5, 5))
        plans = [plan(5, 63, 4000, ApproximateDP(e, 1e-5).to_gaussian(), every_token=True) for e in EPSILONS]
        errors.append([head_error(law, 63, whitened_descent.simulate(data, told, noise)) for told in plans])
    risk = np.concatenate(errors, axis=1)
    for less, more in combinations(risk, 2):
        grown = more - less
        assert grown.mean() <= 4 * grown.std(ddof=1) / math.sqrt(len(grown))
    assert risk[-1].mean() < 1.01 * float(head_error(law, 63, best_head(law, 63)))


@each(("told", "steps"), [(PAPER, 1), (EVERY, 7)])
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
