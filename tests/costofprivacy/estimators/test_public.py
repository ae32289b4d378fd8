import math

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Harmonic
from costofprivacy.estimators import public
from costofprivacy.estimators.gate import budget
from costofprivacy.estimators.scaling import bounds_by_name, public_scale, stated_scale, values_by_name

KNOWN = public.knowledge(np.ones(10), True, 0.3, 0.5)
NAMES = ["age", "bmi"]


def test_an_intercept_is_one_more_feature():
    assert KNOWN.d == 11
    assert KNOWN.eigenvalues == (1.0,)
    assert KNOWN.equations(110).aspect_ratio == pytest.approx(0.1)
    assert KNOWN.equations(110).initial_risk == pytest.approx(0.5)


def test_eigenvalues_are_carried_to_trace_d():
    known = public.knowledge(np.array([1.0, 3.0]), False, 0.3, 0.5)
    np.testing.assert_allclose(known.eigenvalues, [0.5, 1.5])
    np.testing.assert_allclose(known.weights, [0.5, 0.5])


def test_many_eigenvalues_are_averaged_and_the_risk_hardly_moves():
    values = spectrum.power_law(300, 0.3)
    grouped = public.knowledge(values.eigenvalues, False, 0.3, 0.5)
    assert len(grouped.eigenvalues) == public.MOST_EQUATIONS
    model = spectrum.RegressionModel(values.normalised(), spectrum.projections(values.normalised()), 0.3)
    plan = Harmonic(2.0, 0.1)
    whole = equivalent.final_risk(system.of_model(model, 3000), plan, 0.3, 1.0)
    assert equivalent.final_risk(grouped.equations(3000), plan, 0.3, 1.0) == pytest.approx(whole, rel=5e-3)


@pytest.mark.parametrize("rho", [0.1, pytest.param(math.inf, marks=pytest.mark.slow)])
def test_auto_is_no_worse_than_any_single_choice(rho):
    best = public.tuned(KNOWN, 2000, rho, None, "auto", None)
    for family in ("constant", "even", "harmonic"):
        alone = public.tuned(KNOWN, 2000, rho, None, family, None)
        assert best.risk <= alone.risk
        assert alone.risk <= public.tuned(KNOWN, 2000, rho, best.clip, family, 1.0).risk * (1 + 1e-3)


def test_a_schedule_of_its_own_gets_the_best_clip_and_a_promise():
    clip, risk = public.clipped(KNOWN, 2000, 1.0, None, Constant(3.0))
    each = [
        equivalent.final_risk(KNOWN.equations(2000), Constant(3.0), c * 1.044030650891055, 1.0) for c in public.CLIPS
    ]
    assert risk == pytest.approx(min(each), rel=1e-4)
    assert clip == pytest.approx(public.CLIPS[int(np.argmin(each))] * 1.044030650891055)


def test_the_budget_in_either_currency():
    with pytest.raises(ValueError, match="no budget was stated"):
        budget(None, None, None)
    assert budget(1.0, None, None).mu == 1.0
    assert budget(math.inf, None, None).claimed.epsilon == math.inf
    assert budget(None, math.inf, 1e-5).mu == math.inf
    asked = budget(None, 3.0, 1e-7)
    assert (asked.claimed.epsilon, asked.claimed.delta) == (3.0, 1e-7)


def test_what_is_left_out_follows_from_the_bounds():
    bounds = bounds_by_name({"age": (18, 90), "bmi": (15, 45)}, NAMES)
    usual = public_scale("feature", bounds, 0.0, 1.0, 2)
    for part in ("center", "scale"):
        given = {"center": None, "scale": None} | {part: values_by_name(f"feature_{part}", {"bmi": 20}, NAMES)}
        found = stated_scale("feature", bounds, given["center"], given["scale"], 2)
        stated = {"center": usual.center, "scale": usual.scale}
        stated[part] = np.array([stated[part][0], 20.0])
        np.testing.assert_array_equal(found.center, stated["center"])
        np.testing.assert_array_equal(found.scale, stated["scale"])
        np.testing.assert_array_equal((found.low, found.high), bounds)


def left_out(part):
    return values_by_name(f"feature_{part}", {"age": 40}, NAMES)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: stated_scale("feature", ([18, 15], [90, 45]), [540, 20], None, 2, NAMES),
            "feature_center must be within feature_bounds, got column 'age': center 540, low 18, high 90$",
        ),
        (
            lambda: stated_scale("feature", (0, 1), [0.5, -2.5], None, 2),
            "feature_center must be within feature_bounds, got feature 1: center -2.5, low 0, high 1$",
        ),
        (
            lambda: stated_scale("response", (80, 200), 12.5, None),
            "response_center must be within response_bounds, got center 12.5, low 80, high 200$",
        ),
        (
            lambda: public_scale("feature", ([0] * 5, [-1, 1, -1, -1, -1]), 0.0, 1.0, 5),
            r"feature_bounds must have low below high, got feature 0: .*; feature 3: low 0, high -1; and 1 more$",
        ),
        (
            lambda: bounds_by_name({"age": (90, 18), "bmi": (15, 45)}, NAMES),
            "feature_bounds must have low below high, got column 'age': low 90, high 18$",
        ),
        (
            lambda: values_by_name("feature_center", {"mem": 3}, NAMES),
            r"feature_center must have entries for features alone: without a feature \['mem'\]$",
        ),
        (
            lambda: stated_scale("feature", None, left_out("center"), None, 2, NAMES),
            "feature_center must have an entry for each feature where there are no feature_bounds, got column 'bmi': "
            "none$",
        ),
        (
            lambda: stated_scale("feature", None, None, left_out("scale"), 2),
            "feature_scale must have an entry for each feature where there are no feature_bounds, got feature 1: none$",
        ),
        (lambda: stated_scale("feature", (0, 1), [math.nan, 0], None, 2), "feature_center must be a finite number"),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused_by_its_column(wrong, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        wrong()


def test_bounds_are_public_and_clip():
    scale = public_scale("feature", ((0.0, -1.0), (1.0, 1.0)), 0.0, 1.0, 2)
    found = scale.apply(np.array([[0.5, 0.0], [9.0, -9.0]]))
    np.testing.assert_allclose(found, [[0.0, 0.0], [3**0.5, -(3**0.5)]])
    assert np.isfinite(public_scale("feature", None, 0.0, 1e-50).apply(np.array([1e308]))).all()


@pytest.mark.parametrize("kind", ["int8", "uint8", "float32", "object"])
def test_public_numbers_of_any_type_are_widened(kind):
    low, high = np.array([-100, 0]).astype(kind), np.array([100, 120]).astype(kind)
    if kind == "uint8":
        low = np.array([0, 0], dtype=np.uint8)
    scale = public_scale("feature", (low, high), 0, 1, 2)
    assert scale.center.dtype == scale.scale.dtype == np.float64
    np.testing.assert_array_equal(scale.center, (low.astype(float) + high.astype(float)) / 2)
    values = np.array([[100, 100], [7, 7]]).astype(kind)
    np.testing.assert_array_equal(scale.apply(values), scale.apply(values.astype(float)))
