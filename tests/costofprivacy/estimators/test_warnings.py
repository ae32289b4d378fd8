"""Wrong uses are warned of once, from public arguments alone, before anything is drawn."""

import warnings

import numpy as np
import pytest

from costofprivacy.estimators import (
    BoostedAdaSSPRegressor,
    DPGDRegressor,
    NoisyHeadRegressor,
    PrivateLinearRegression,
    PrivateSearch,
    gate,
    private_bounds,
    private_mean_loss,
)
from costofprivacy.privacy import PrivacyWarning
from tests.each import each

RNG = np.random.default_rng(0)
X = RNG.standard_normal((100, 2))
PROMPTS = RNG.standard_normal((60, 3, 2))
STATED = {"feature_scale": 1.0, "response_scale": 1.0}
TUNED = {"clip": 0.3, "schedule": "constant", "learning_rate": 1.0}  # so that no plan is searched for
RELEASES = {
    "a fit": lambda n, asked: PrivateLinearRegression("boosted", **asked, **STATED).fit(X[:n], X[:n, 0]),
    "a stream": lambda n, asked: PrivateLinearRegression("one pass", **asked, **STATED).fit_stream(
        [(X[:n], X[:n, 0])], n=n
    ),
    "a stream read again": lambda n, asked: BoostedAdaSSPRegressor(**asked, **STATED).fit_stream(
        lambda: [(X[:n], X[:n, 0])], n=n
    ),
    "DP-GD": lambda n, asked: DPGDRegressor(**asked, **TUNED).fit(X[:n], X[:n, 0]),
    "DP-GD on a stream": lambda n, asked: DPGDRegressor(**asked, **TUNED).fit_stream([(X[:n], X[:n, 0])], n=n),
    "bounds": lambda n, asked: private_bounds(X[:n, 0], **asked, grid=[-1, 0, 1], levels=(0.3, 0.7)),
    "a score": lambda n, asked: private_mean_loss(X[:n, 0], 1.0, **asked),
    "a search": lambda n, asked: PrivateSearch(DPGDRegressor(**TUNED), [{}], loss_bound=4.0, **asked).fit(
        X[:n], X[:n, 0]
    ),
    "prompts": lambda n, asked: NoisyHeadRegressor(**asked).fit(PROMPTS[:n], PROMPTS[:n, :, 0]),
    "units": lambda n, asked: DPGDRegressor(**asked, **TUNED, most_per_unit=2).fit(
        X[: 2 * n], X[: 2 * n, 0], unit=np.repeat(range(n), 2)[: len(X)]
    ),
}
WRONG = [
    (60, {"epsilon": 1.0, "delta": 1e-6}, None, None),
    (60, {"epsilon": 21.0, "delta": 1e-6}, PrivacyWarning, "epsilon should be far below 20, got 21"),
    (60, {"epsilon": 1.0, "delta": 0.1 / 60}, PrivacyWarning, "delta should be far below 1/n.*probability of 0.1"),
    (49, {"epsilon": 1.0, "delta": 1e-6}, gate.FewRecordsWarning, "n should be at least 50, got 49"),
]


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_allowed_and_rarely_meant_is_warned_of_once(release, monkeypatch):
    for n, asked, category, message in WRONG:
        n = min(n, 50 if release == "units" else n)
        asked = asked | ({"delta": 0.1 / n} if "delta" in str(message) else {})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            RELEASES[release](n, asked)
        told = [one for one in caught if issubclass(one.category, (PrivacyWarning, gate.FewRecordsWarning))]
        assert len(told) == (category is not None), (release, [str(one.message) for one in told])
        for one in told:
            assert one.category is category
            assert one.filename == __file__, release
            assert pytest.raises(AssertionError, match=message).matches(AssertionError(str(one.message)))


def test_a_delta_that_was_left_out_is_warned_of_where_the_profile_would_state_a_large_one():
    long = np.zeros((100_000, 1))
    with pytest.warns(PrivacyWarning, match="delta should be far below"):
        DPGDRegressor(mu=0.1, **TUNED).fit(long, long[:, 0])
    with pytest.warns(PrivacyWarning, match="epsilon should be far below 20"):
        DPGDRegressor(mu=5.0, **TUNED).fit(X, X[:, 0])


SEARCH = PrivateSearch(DPGDRegressor(**TUNED), [{}], epsilon=1.0, delta=1e-6, loss_bound=4.0)


@each(
    "model",
    [DPGDRegressor(mu=0.5, **TUNED), PrivateLinearRegression("boosted", epsilon=1.0, delta=1e-6, **STATED), SEARCH],
)
def test_a_score_on_the_training_data_is_warned_of(model):
    model.fit(X, X[:, 0])
    with pytest.warns(PrivacyWarning, match="score on the training data"):
        model.score(X, X[:, 0])
    model.score(X[:50], X[:50, 0])  # nobody knows
    assert not any("train" in name for name in vars(model))
