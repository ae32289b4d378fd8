import math

import numpy as np
import pytest

from costofprivacy.dpgd import accounting
from costofprivacy.dpgd.schedule import Constant, Polynomial, learning_rates, noise_multipliers
from tests.costofprivacy.privacy import numerics


def test_a_profile_says_what_is_claimed_and_what_is_spent() -> None:
    rates = learning_rates(Polynomial(3.0, 0.5), 400)
    sigma = noise_multipliers(rates, 0.8)
    told = accounting.profile(rates, sigma, 1e-5)
    assert told.neighbours == "replace one record"
    assert told.claimed.epsilon == pytest.approx(0.8**2 / 2 + 0.8 * math.sqrt(2 * math.log(1e5)))
    assert told.last_iterate.mu == pytest.approx(0.8)
    assert told.every_iterate.mu == pytest.approx(0.8 * math.sqrt(399), rel=1e-6)
    assert not told.honours_claim()
    exact = told.last_iterate.epsilon(1e-5)
    assert numerics.hockey_stick(0.8, 1.0, exact) == pytest.approx(1e-5, rel=1e-6)
    assert exact < told.claimed.epsilon


def test_output_perturbation_may_release_nothing_but_the_last_iterate() -> None:
    rates = learning_rates(Constant(3.0), 50)
    sigma = noise_multipliers(rates, 1.0)
    assert accounting.last_iterate(rates, sigma).mu == pytest.approx(1.0)
    assert accounting.every_iterate(rates, sigma).mu == math.inf


def test_a_step_of_length_0_does_not_count() -> None:
    assert accounting.every_iterate(np.array([2.0, 0.0]), np.array([1.0, 0.0])).mu == 2.0


def test_bad_schedules() -> None:
    with pytest.raises(ValueError, match=r"^noise_multipliers must have shape \(3,\) like learning_rates, got \(2,\)$"):
        accounting.every_iterate(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match=r"^learning_rates must have a positive entry"):
        accounting.every_iterate(np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match=r"^mu must be positive"):
        accounting.last_iterate(np.zeros(2), np.ones(2))
    for bad in (-1.0, math.nan, math.inf):
        values = np.append(np.ones(200), bad)
        for name, arguments in (
            ("learning_rates", (values, np.ones(201))),
            ("noise_multipliers", (np.ones(201), values)),
        ):
            with pytest.raises(ValueError, match=rf"^{name} must be finite and non-negative, at least one, got {bad}$"):
                accounting.every_iterate(*arguments)
    with pytest.raises(ValueError, match=r"^delta must be between"):
        accounting.profile(np.ones(2), np.ones(2), 0.0)
