"""Private scores: means of clipped losses and R², for records and for units."""

import math

import numpy as np
import pytest

from costofprivacy.estimators import (
    Account,
    AccountError,
    DPGDRegressor,
    compose,
    private_mean_loss,
    private_r2,
    search_plans,
)
from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.audit import audit_mechanism
from tests.each import each

pytestmark = [
    pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning"),
    pytest.mark.filterwarnings("ignore:delta should be far below:costofprivacy.privacy.PrivacyWarning"),
]
RNG = np.random.default_rng(0)
Y = RNG.uniform(0, 10, 40_000)
GUESSED = Y + 2 * RNG.standard_normal(len(Y))


def test_a_private_mean_loss_is_that_of_the_search():
    losses = (Y - GUESSED) ** 2
    ours = private_mean_loss(losses, 9.0, mu=0.5, random_state=3)
    theirs = search_plans.private_mean_loss(losses, 9.0, GaussianDP(0.5), rng=np.random.default_rng(3))
    assert ours == theirs == pytest.approx(np.minimum(losses, 9).mean(), abs=1e-2)
    assert ours.guarantee.gaussian == GaussianDP(0.5)


def test_a_private_r2_is_r2_to_its_noise():
    variance = Y.var()
    for loss_bound, wanted in ((1e3, 1 - 4 / variance), (4.0, None)):
        found = private_r2(Y, GUESSED, response_bounds=(0, 10), loss_bound=loss_bound, epsilon=50.0, delta=1e-6)
        wanted = wanted or 1 - np.minimum((Y - GUESSED) ** 2, 4).mean() / variance
        assert found == pytest.approx(wanted, abs=0.02)
    assert private_r2(Y, np.full(len(Y), 5.0), response_bounds=(0, 10), mu=10.0) == pytest.approx(0, abs=0.02)
    constant = [private_r2(np.ones(9), np.ones(9), response_bounds=(0, 10), mu=1e9) for _ in range(30)]
    assert any(map(math.isnan, constant))


def test_each_unit_counts_once_and_replacing_it_moves_one_term():
    """The law of the release is a Gaussian around the mean of the units' means: its exact distance is at most μ."""
    mu, noise = 0.7, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rest = [rng.uniform(-1, 12, rng.integers(1, 6)) for _ in range(rng.integers(1, 5))]
        pair = []
        for _ in range(2):
            rows = [*rest, rng.choice([-1e300, 0.0, 10.0, np.nan, np.inf], rng.integers(1, 7))]
            y, unit = np.concatenate(rows), np.repeat(np.arange(len(rows)), list(map(len, rows)))
            pair.append(float(private_mean_loss(y, 10.0, mu=mu, unit=unit, random_state=seed)))
        noise.append(abs(pair[0] - pair[1]) * mu * len(rows) / 10)  # over the standard deviation, 10/(mμ)
    assert 0.9 * mu < max(noise) <= mu * (1 + 1e-12)
    several = np.repeat(np.arange(10_000), 4)
    found = private_r2(Y, GUESSED, response_bounds=(0, 10), loss_bound=100.0, mu=5.0, unit=several)
    assert found == pytest.approx(1 - 4 / Y.var(), abs=0.03)
    assert found.guarantee.neighbours.startswith("replace all records of one unit by any others")


@pytest.mark.slow
def test_an_audit_of_r2_finds_no_more_than_it_promises_and_convicts_half_of_its_noise():
    def scores(data, count, rng, mu=1.0):
        seeds = rng.integers(2**31, size=count)
        return np.array(
            [private_r2(*data, response_bounds=(0, 1), loss_bound=1.0, mu=mu, random_state=int(s)) for s in seeds]
        )

    y = np.r_[np.zeros(30), np.ones(30)]
    one, two = (np.r_[y, 1.0], np.r_[y, 1.0]), (np.r_[y, 1.0], np.r_[y, -9.0])
    asked = {"delta": 1e-6, "releases": 2000, "confidence": 0.999, "rng": np.random.default_rng(0)}
    assert audit_mechanism(scores, one, two, **asked).mu <= 1
    assert audit_mechanism(lambda *a: scores(*a, mu=3.0), one, two, **asked).mu > 1


def test_scores_are_charged_and_add_up_with_the_fit_of_others():
    X = RNG.standard_normal((200, 2))
    with Account(epsilon=1.0, delta=1e-6) as account:
        model = DPGDRegressor(mu=0.1, clip=0.3, schedule="constant", learning_rate=1.0).fit(X, X[:, 0])
        r2 = private_r2(X[:, 0], model.predict(X), response_bounds=(-3, 3), mu=0.2)
        private_mean_loss(np.ones(5), 1.0, mu=0.05)
        with pytest.raises(AccountError, match="private_r2 asks for"):
            private_r2(X[:, 0], X[:, 0], response_bounds=(-3, 3), mu=0.2)
    assert [name for name, _ in account.charges] == ["DPGDRegressor", "private_r2", "private_mean_loss"]
    assert compose(model, r2, delta=1e-6).gaussian.mu == pytest.approx(math.hypot(0.1, 0.2))


@each(
    ("asked", "message"),
    [
        ({"bound": 0.0, "mu": 1.0}, "bound must be between"),
        ({"bound": 1.0}, "no budget was stated"),
        ({"bound": 1.0, "mu": 0.0}, "mu must be positive"),
        ({"bound": 1.0, "epsilon": 1.0}, "delta must be given"),
        ({"bound": 1.0, "mu": 1.0, "unit": [1]}, "unit must be an identifier for each of the 2"),
        ({"bound": 1.0, "rho": 1.0}, "rho is no argument here"),
    ],
)
def test_wrong_arguments_of_a_mean_loss_are_named(asked, message):
    with pytest.raises((ValueError, TypeError), match=message):
        private_mean_loss([1.0, 2.0], **asked)


@each(
    ("asked", "message"),
    [
        ({"response_bounds": (1, 1)}, "response_bounds must have low below high"),
        ({"predicted": [1.0]}, "predicted must have the shape of y"),
        ({"loss_bound": -1.0}, "loss_bound must be between"),
    ],
)
def test_wrong_arguments_of_r2_are_named(asked, message):
    with pytest.raises(ValueError, match=message):
        private_r2(**{"y": [1.0, 2.0], "predicted": [1.0, 2.0], "response_bounds": (0, 1), "mu": 1.0} | asked)
