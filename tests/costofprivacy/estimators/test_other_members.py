"""Other members of the kinds of fault that version 0.15.0 had, each of which was red when it was found."""

from array import array

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from costofprivacy.estimators import (
    BoostedAdaSSPRegressor,
    ClippedDescentRegressor,
    DPGDRegressor,
    NoisyHeadRegressor,
    ObjectivePerturbationRegressor,
    PrivateSearch,
    Schema,
    category,
)
from costofprivacy.estimators.guarantee import Receipt
from costofprivacy.estimators.schema import SchemaWarning

pytestmark = pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning")
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
    for model in (DPGDRegressor(mu=1.0), ClippedDescentRegressor(**BUDGET, **SCALES), search):
        model.fit(X, Y)
        assert model.score(X.copy(), Y.tolist(), [1] * 60) == model.score(X.copy(), Y) <= 1.0
        for asked in ((X[:], told), (X[:], np.array(told, dtype=object)), (X[:], Y, told)):
            with pytest.raises(ValueError, match="contains NaN") as caught:
                model.score(*asked)
            assert SECRET not in str(caught.value)
    head = NoisyHeadRegressor(**BUDGET).fit(*PROMPTS)
    with pytest.raises(ValueError, match="contains NaN"):
        head.score(*PROMPTS, sample_weight=[SECRET] * 10)


@pytest.mark.parametrize("model", [DPGDRegressor, ClippedDescentRegressor, NoisyHeadRegressor, PrivateSearch])
def test_an_interrupted_fit_leaves_a_receipt_or_nothing(model: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was found: between the coefficients and the receipt was a moment, and the next receipt did not count it."""
    if model is PrivateSearch:
        fitted = model(ClippedDescentRegressor(**SCALES), [{}], loss_bound=1.0, **BUDGET)
    else:
        fitted = model(**BUDGET) if model is NoisyHeadRegressor else model(**BUDGET, **SCALES)
    data, made, interrupted = PROMPTS if model is NoisyHeadRegressor else (X, Y), Receipt.__post_init__, [True]

    def interrupt(receipt: Receipt) -> None:
        made(receipt)
        if interrupted.pop() and (model is not PrivateSearch or receipt.method.startswith("PrivateSearch")):
            raise KeyboardInterrupt
        interrupted.append(True)

    monkeypatch.setattr(Receipt, "__post_init__", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(*data)
    monkeypatch.undo()
    released = {"coef_", "intercept_", "Gamma_", "best_estimator_", "scores_", "receipt_"}
    assert not released & set(vars(fitted))
    assert fitted.fit(*data).receipt().fit == 1


def test_a_response_may_be_an_array_of_python() -> None:
    """As it was found: it counted as one cell, and "contains NaN"."""
    one, two = (DPGDRegressor(mu=1.0, random_state=0).fit(X, y).coef_ for y in (Y, array("d", Y)))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("model", [ClippedDescentRegressor, BoostedAdaSSPRegressor, ObjectivePerturbationRegressor])
def test_one_word_makes_no_duration_of_other_records_nothing(model: type) -> None:
    """The first false guarantee of 0.15.0, by the estimators that no other test tries it on."""
    rows = [[np.timedelta64(k % 8, "D"), float(y)] for k, y in enumerate(Y)]
    other = [[0.0, "unknown"] if k == 3 else row for k, row in enumerate(rows)]
    void = [[0.0, np.nan] if k == 3 else row for k, row in enumerate(rows)]
    asked = model(**BUDGET, **SCALES, not_finite="void", random_state=0)
    np.testing.assert_array_equal(asked.fit(other, Y).coef_, asked.fit(void, Y).coef_)
    np.testing.assert_array_equal(asked.fit(rows, Y).coef_, asked.fit(other, Y).coef_)  # a duration is no number


def test_a_level_that_is_not_listed_is_warned_of_in_predict_too() -> None:
    told = pd.DataFrame({"sex": ["f", "m"] * 30})
    model = make_pipeline(Schema({"sex": category(["f", "m"])}).transformer(), DPGDRegressor(mu=1.0))
    with pytest.warns(SchemaWarning, match="counts as 'f'"):
        model.fit(told, Y)
    with pytest.warns(SchemaWarning, match="counts as 'f'"):
        model.predict(pd.DataFrame({"sex": ["x"]}))
