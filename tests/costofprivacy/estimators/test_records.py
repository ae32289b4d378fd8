"""Every type of number, every layout and every hostile value, with the rule that covers them all: ``"void"``."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from costofprivacy.dpgd.schedule import Constant
from costofprivacy.estimators import DPGDRegressor, NoisyHeadRegressor, PrivateHeadRegressor, gate
from costofprivacy.privacy import sums
from tests.costofprivacy.privacy.hostile import neighbours

pytestmark = pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning")
TRIED = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
FEW = (1, 2, 6, 40, 700)
RATE, CLIP = 3.0, 0.5


@TRIED
@pytest.mark.parametrize("intercept", [True, False])
@given(pair=neighbours((2,), (), records=FEW))
def test_a_replaced_record_moves_a_fit_by_its_sensitivity(intercept, pair):
    """With the same noise θ moves by at most 2ηC_clip/n, whatever the record holds and whatever type it has."""
    asked = {"schedule": Constant(RATE), "clip": CLIP, "shuffle": False, "fit_intercept": intercept, "random_state": 0}
    one, two = (DPGDRegressor(rho=1.0, **asked, not_finite="void").fit(*data) for data in pair)
    most = 2 * RATE / len(pair[0][0]) * CLIP * math.sqrt(2 + intercept)
    moved = math.hypot(*(two.coef_ - one.coef_), two.intercept_ - one.intercept_)
    assert np.isfinite(one.coef_).all()
    assert moved <= most * (1 + 1e-9) + 1e-13 * (1 + math.hypot(*one.coef_, one.intercept_))
    with np.errstate(over="ignore", invalid="ignore"):  # a feature of 1e308 has a prediction beyond doubles
        told = one.predict(pair[0][0])
    assert np.isfinite(told).all() or np.abs(pair[0][0].astype(float)).max() > 1e100


@TRIED
@given(pair=neighbours((3, 2), (3,), records=FEW))
def test_a_replaced_prompt_moves_the_moments_by_their_sensitivity(pair):
    model = NoisyHeadRegressor(
        epsilon=1.0,
        delta=1e-6,
        not_finite="void",
        random_state=0,
        clip_norm=2.0,
        feature_bound=0.7,
        steps=2,
        penalty=0.1,
    )
    fits = [model.fit(*data).Gamma_ for data in pair]
    hyper, N = model.hyperparameters_, len(pair[0][0])
    moments = []
    for x, y in pair:
        X = gate.prompts(model, x)
        allowed = model._allowed(X, gate.responses(model, y, N, (3,)))
        moments.append(model._moments(*allowed, hyper))
    room = 1 + sums.slack(N, 16)
    assert np.linalg.norm(moments[1].gram - moments[0].gram) <= 2 * 0.7**2 / N * room
    assert np.linalg.norm(moments[1].cross - moments[0].cross) <= 2 * 0.7 * 2.0 / N * room
    assert np.isfinite(fits).all()
    assert np.linalg.norm(fits[0]) <= hyper.weight_bound * (1 + 1e-12)


@TRIED
@pytest.mark.parametrize("known", [{"queries": "last"}, {"queries": "every"}, {"tasks": "isotropic"}])
@given(pair=neighbours((3, 2), (3,), records=(1, 6, 40)))
def test_a_private_head_of_hostile_prompts_is_finite(known, pair):
    for x, y in pair:
        model = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, **known, not_finite="void", random_state=0).fit(x, y)
        assert np.isfinite(model.Gamma_).all()
        assert np.isfinite(model.predict(x, y)).all()


@TRIED
@given(pair=neighbours((2,), (), records=FEW))
def test_by_default_a_fit_is_refused_without_a_word_of_the_record(pair):
    X, y = pair[0]
    model = DPGDRegressor(rho=1.0, random_state=0)
    try:
        model.fit(X, y)
    except (ValueError, TypeError) as error:
        raised = error
    else:
        assert np.isfinite(model.coef_).all()
        return
    assert raised.__context__ is None
    assert not hasattr(model, "coef_")
    assert str(raised).startswith(("Input X contains NaN", "Input y contains NaN", "X must hold", "y must hold"))
