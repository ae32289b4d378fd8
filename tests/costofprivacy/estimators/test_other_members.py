"""Other members of the kinds of fault that version 0.15.0 had, each of which was red when it was found."""

import numpy as np
import pytest

from costofprivacy.estimators import ClippedDescentRegressor, DPGDRegressor, NoisyHeadRegressor, PrivateSearch

SECRET = "SSN 078-05-1120"
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (60, 2))
Y = X[:, 0] - X[:, 1]
PROMPTS = RNG.standard_normal((10, 4, 2)), RNG.standard_normal((10, 4))
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
SCALES = {"feature_scale": 1.0, "response_scale": 1.0}


def test_a_score_quotes_no_cell() -> None:
    told = [SECRET, *Y[1:].tolist()]
    search = PrivateSearch(ClippedDescentRegressor(**SCALES), [{}], loss_bound=1.0, **BUDGET)
    for model in (DPGDRegressor(rho=1.0), ClippedDescentRegressor(**BUDGET, **SCALES), search):
        model.fit(X, Y)
        assert model.score(X, Y.tolist(), [1] * 60) == model.score(X, Y) <= 1.0
        for asked in ((X, told), (X, np.array(told, dtype=object)), (X, Y, told)):
            with pytest.raises(ValueError, match="contains NaN") as caught:
                model.score(*asked)
            assert SECRET not in str(caught.value)
    head = NoisyHeadRegressor(**BUDGET).fit(*PROMPTS)
    with pytest.raises(ValueError, match="contains NaN"):
        head.score(*PROMPTS, sample_weight=[SECRET] * 10)
