"""Descent with a shrinking clip: sensitivity on neighbours, noise, composition by dp-accounting, the pseudocode."""

import math

import dp_accounting
import numpy as np
import pytest

from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import shrinking_clip
from costofprivacy.rivals.shrinking_clip import Plan
from tests.each import each

BUDGET = GaussianDP(1.0)


def quiet() -> np.random.Generator:
    """A generator of which two copies draw the same noise."""
    return np.random.default_rng(3)


def test_opposite_records_attain_that_sensitivity() -> None:
    x, y = np.zeros((5, 2)), np.zeros(5)
    x[0] = [9.0, 0.0]
    y[0] = 50.0
    one, two = (shrinking_clip.release(x, v, Plan((0.4,), (1.0,), BUDGET), rng=quiet()) for v in (y, -y))
    assert np.linalg.norm(one - two) * 5 == pytest.approx(2 * 0.4)


def test_the_noise_of_each_round_is_that_of_the_plan() -> None:
    """Without features every sum is 0, so a round moves θ by its noise alone."""
    d, clips, mu = 200_000, (3.0, 0.5), 0.7
    x, y = np.zeros((1, d)), np.ones(1)
    for rates, clip_norm in (((1.0, 0.0), 3.0), ((0.0, 1.0), 0.5)):
        theta = shrinking_clip.release(x, y, Plan(clips, rates, GaussianDP(mu)), rng=np.random.default_rng(1))
        assert theta.std() == pytest.approx(2 * clip_norm * math.sqrt(2) / mu, rel=0.01)


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0])
def test_all_rounds_together_spend_the_budget_by_dp_accounting(mu: float) -> None:
    plan = shrinking_clip.plan(6000, 60, 1.0, 0.0, GaussianDP(mu))
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(plan.noise_multiplier), plan.rounds)
    accountant = dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_SPECIAL)
    spent = accountant.compose(event).get_epsilon(1e-5)
    assert plan.rounds == max(1, math.floor(0.05 * mu**2 * 100**2 + 1e-6))
    assert spent == pytest.approx(GaussianDP(mu).epsilon(1e-5), rel=0.01)
    assert plan.guarantee.mu == pytest.approx(mu)
    zcdp = plan.rounds / (2 * plan.noise_multiplier**2)
    assert zcdp == pytest.approx(mu**2 / 2)


def test_a_run_is_the_pseudocode() -> None:
    rng = np.random.default_rng(0)
    x, y, start = rng.standard_normal((40, 3)), rng.standard_normal(40), np.array([0.3, -1.0, 2.0])
    plan = Plan((2.0, 0.7, 0.2), (0.9, 0.5, 1.3), GaussianDP(1.7))
    found = shrinking_clip.release(x, y, plan, start, rng=np.random.default_rng(1))
    fresh, theta = np.random.default_rng(1), start
    for clip_norm, rate in zip(plan.clip_norms, plan.learning_rates, strict=True):
        total = np.zeros(3)
        for features, response in zip(x, y, strict=True):
            g = features * (features @ theta - response)
            total += g * min(1.0, clip_norm / np.linalg.norm(g))
        theta = theta - rate / 40 * (total + 2 * clip_norm * math.sqrt(3) / 1.7 * fresh.standard_normal(3))
    np.testing.assert_allclose(found, theta, rtol=1e-9)


def test_shifting_labels_and_start_together_shifts_the_release() -> None:
    rng = np.random.default_rng(0)
    x, shift = rng.standard_normal((200, 5)), rng.standard_normal(5)
    plan = shrinking_clip.plan(200, 5, 1.0, 0.1, BUDGET)
    y = 0.1 * rng.standard_normal(200)
    plain = shrinking_clip.release(x, y, plan, rng=quiet())
    shifted = shrinking_clip.release(x, y + x @ shift, plan, shift, rng=quiet())
    np.testing.assert_allclose(shifted - shift, plain, atol=1e-12)


def test_clips_shrink_to_the_label_noise_and_no_further() -> None:
    d = 60
    plan = shrinking_clip.plan(6000, d, 1.0, 1e-3, BUDGET)
    assert np.all(np.diff(plan.clip_norms) < 0)
    assert plan.clip_norms[0] == pytest.approx(math.sqrt(d), rel=1e-5)
    assert plan.clip_norms[-1] == pytest.approx(1e-3 * math.sqrt(d), rel=0.05)


@each(
    ("make", "message"),
    [
        (lambda: Plan((), (), BUDGET), "the number of clip_norms must be"),
        (lambda: Plan((1.0, 2.0), (1.0,), BUDGET), "learning_rates must have 2 entries like clip_norms, got 1"),
        (lambda: Plan((1e-200,), (1.0,), BUDGET), "clip_norms must be"),
        (lambda: Plan((math.nan,), (1.0,), BUDGET), "clip_norms must be"),
        (lambda: Plan((1.0,), (-1.0,), BUDGET), "learning_rates must be"),
        (lambda: Plan((1.0,), (1.0,), GaussianDP(math.inf)), "mu must be"),
        (lambda: shrinking_clip.plan(100, 0, 1.0, 0.0, BUDGET), "d must be"),
        (lambda: shrinking_clip.plan(100, 2, 0.0, 0.0, BUDGET), "radius must be"),
        (lambda: shrinking_clip.plan(100, 2, 1.0, -1.0, BUDGET), "label_noise must be"),
        (lambda: shrinking_clip.plan(10**6, 1, 1.0, 0.0, BUDGET), "mu must be at most"),
        (
            lambda: shrinking_clip.release(
                np.ones((2, 1)), np.ones(2), Plan((1.0,), (1.0,), BUDGET), np.array([math.nan]), rng=quiet()
            ),
            "start must be finite",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
