"""The unit of privacy: all records of one unit are replaced together, and no more than its k places change."""

import math
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from costofprivacy.estimators import (
    BoostedAdaSSPRegressor,
    ClippedDescentRegressor,
    DPGDRegressor,
    ObjectivePerturbationRegressor,
    PrivateLinearRegression,
    PrivateSearch,
    compose,
    epsilon_needed,
    forecast,
    forecast_intervals,
    forecasting,
    linear,
    private_bounds,
    records_needed,
    units,
)
from costofprivacy.estimators.automatic import METHODS
from costofprivacy.estimators.gate import Budget
from costofprivacy.privacy import ApproximateDP, GaussianDP, groups, mechanisms, secure
from costofprivacy.privacy.audit import audit_mechanism
from costofprivacy.rivals import private_quantile, sandwich
from tests.each import each, refused

pytestmark = [
    pytest.mark.filterwarnings("ignore:delta should be far below:costofprivacy.privacy.PrivacyWarning"),
]
needs_opendp = pytest.mark.skipif(find_spec("opendp") is None, reason="the extra `secure` is not installed")
BUDGET = {"epsilon": 4.0, "delta": 1e-6, "feature_scale": 1.0, "response_scale": 1.0, "expected_r2": 0.8}


def problem(m=800, most=6, seed=0):
    """Units with 1 to ``most`` records."""
    rng = np.random.default_rng(seed)
    ids = np.repeat([f"p{k}" for k in range(m)], rng.integers(1, most + 1, m))
    X = rng.standard_normal((len(ids), 3))
    y = X @ [0.7, 0.1, -0.5] + 0.2 + 0.3 * rng.standard_normal(len(ids))
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(patient=ids), y


# ---- The places ----


class Common:
    """Draws that are made in common for two data sets: by unit and number of the record, or of the place, in it.

    For all i < n, a unit's record i has the same key, and its place j the same position, whatever number the unit has.
    """

    def __init__(self, identifiers, most, names, rows, places):
        self.identifiers, self.most, self.names, self.rows, self.places = identifiers, most, names, rows, places

    def random(self, n):
        seen, keys = {}, []
        for who in self.identifiers:
            seen[who] = seen.get(who, -1) + 1
            keys.append(self.rows[self.names[who], seen[who]])
        assert len(keys) == n
        return np.array(keys)

    def permutation(self, size):
        order = list(dict.fromkeys(self.identifiers))  # as the units are numbered
        found = np.array([self.places[self.names[who], j] for who in order for j in range(self.most)])
        assert sorted(found) == list(range(size))
        return found


def placed(identifiers, values, most, draws):
    told = units.identified(identifiers, most, len(values), void=False)
    return told.placed(np.asarray(values, dtype=float)[:, None], rng=draws)[0][:, 0]


@each("seed", range(150))
def test_replacing_a_unit_changes_its_own_places_alone(seed):
    """Whatever the order of the table, the identifiers and the number of the records that come instead."""
    rng = np.random.default_rng(seed)
    m, most = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    others = [(who, value) for who in range(1, m) for value in rng.random(rng.integers(1, 9))]
    pair = []
    for name in ("replaced", "zzz" if seed % 2 else "another"):  # which may be numbered differently
        rows = [*others, *((name, value) for value in rng.random(rng.integers(1, 9)))]
        if seed % 3:  # the order of one unit's records stays, the tables are merged in any other way
            at = np.sort(rng.random(len(others)))
            own = np.sort(rng.random(len(rows) - len(others)))
            rows = [rows[k] for k in np.argsort(np.concatenate([at, own]), kind="stable")]
        pair.append(rows)
    labels = {who: 0 if isinstance(who, str) else who for rows in pair for who, _ in rows}
    keys = {(who, k): rng.random() for who in range(m) for k in range(9)}
    places = dict(zip([(who, j) for who in range(m) for j in range(most)], rng.permutation(m * most)))
    one, two = (
        placed(ids, values, most, Common(ids, most, labels, keys, places)) for ids, values in (zip(*r) for r in pair)
    )
    changed = ~((one == two) | (np.isnan(one) & np.isnan(two)))
    assert len(one) == len(two) == m * most
    assert set(np.flatnonzero(changed)) <= {places[0, j] for j in range(most)}


def test_each_place_is_filled_by_the_records_of_one_unit_in_random_order():
    ids, values = [1, 2, 1, 1, 3], [10, 20, 11, 12, 30]
    found = [placed(ids, values, 2, np.random.default_rng(seed)) for seed in range(300)]
    for one in found:
        assert sorted(one[~np.isnan(one)].astype(int) // 10) == [1, 1, 2, 3]
    assert {tuple(sorted(one[(one >= 10) & (one < 20)])) for one in found} == {(10, 11), (10, 12), (11, 12)}
    assert {int(np.flatnonzero(one == 30)[0]) for one in found} == set(range(6))


# ---- The guarantee ----


K, AUDITED_AT = 4, ApproximateDP(6.0, 1e-6)


def scores(name):
    """What fits release to units one of which is as bad as can be: each of its gradients is as long as the clip."""
    X, told = np.full((K + 2, 1), 1e-3), units.identified([0] * K + [1, 2], K, K + 2, void=False)
    asked = {"epsilon": 6.0, "delta": 1e-6, "fit_intercept": False, "most_per_unit": K}

    def one_pass(y, rng):
        model = DPGDRegressor(**asked, schedule="constant", clip=0.3, learning_rate=1.0)
        return model._fit(X, y, rng, told).coef_[0]

    def other(y, rng):
        model = PrivateLinearRegression(name, **BUDGET | asked)
        model.n_features_in_ = 1
        places = told.placed(X, y, rng=rng)
        return model._release(*places, model._stated(len(places[0]), told.unit), rng).theta[0]

    def drawn(sign, count, rng):
        y = np.where(np.arange(K + 2) < K, sign * 1e9, 0.0)
        return np.array([(one_pass if name == "DPGDRegressor" else other)(y, rng) for _ in range(count)])

    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", ["objective", "boosted", "one pass", "DPGDRegressor"])
def test_an_audit_finds_no_more_than_is_promised_for_a_unit_and_convicts_noise_for_one_record(name, monkeypatch):
    """By a unit of four records, each of which moves the release as far as it can, in one direction."""
    asked = {"delta": 1e-6, "releases": 800, "confidence": 0.999, "rng": np.random.default_rng(0)}
    mu, honest = AUDITED_AT.to_gaussian().mu, audit_mechanism(scores(name), 1, -1, **asked)
    assert honest.epsilon <= AUDITED_AT.epsilon
    assert honest.mu <= mu
    monkeypatch.setattr(groups, "of_one", lambda whole, size, gaussian: whole)
    monkeypatch.setattr(linear, "budget", lambda *given: Budget(K * mu, AUDITED_AT))
    assert audit_mechanism(scores(name), 1, -1, **asked).mu > mu


class Noiseless(secure.Sampler):
    """Keeps what noise is asked for and adds none; for a neighbour it tells what it told before."""

    def __init__(self, before=None):
        np.random.Generator.__init__(self, np.random.PCG64(0))
        self.asked, self.before = [], before

    def noisy(self, value, std, mu):
        self.asked.append((np.array(value), np.ones(np.shape(value)) * std))
        return np.array(self.asked[-1][0] if self.before is None else self.before.asked[len(self.asked) - 1][0])


def spent(release, pair):
    """The μ of all Gaussian mechanisms together, given what they released: exact."""
    release(*pair[0], first := Noiseless())
    release(*pair[1], second := Noiseless(first))
    told = zip(first.asked, second.asked, strict=True)
    return math.sqrt(sum((((one - two) / std) ** 2).sum() for (one, std), (two, _) in told))


def moments(mu, most=K):
    bounds = 1.0, 0.5, GaussianDP(mu / most)
    return lambda X, y, rng: sandwich.release(X[:most], y[:most], np.zeros(2), *bounds, most=most, rng=rng)


def fit(mu, name="descent", share=0.0):
    asked = {"epsilon": GaussianDP(mu).epsilon(1e-6), "fit_intercept": False, "interval_share": share}
    model = PrivateLinearRegression(name, **BUDGET | asked, most_per_unit=K)
    told, model.n_features_in_ = units.identified([0] * K + [1, 2], K, K + 2, void=False), 2
    return lambda X, y, rng: model._release(
        *told.placed(X, y, beside=True, rng=rng), model._stated(3 * K, told.unit), rng
    )


OPPOSITE = [(np.ones((K + 2, 2)), np.where(np.arange(K + 2) < K, sign * 1e9, 0.0)) for sign in (1, -1)]
PERPENDICULAR = [(np.tile(100 * axis, (K + 2, 1)), np.full(K + 2, 0.4999999)) for axis in np.eye(2)]
GIVEN = [  # what noises are asked for, at which neighbours, and which share of the promise these spend
    (moments, PERPENDICULAR, 1.0),
    (lambda mu: moments(mu, 1), PERPENDICULAR, 1.0),
    (fit, OPPOSITE, 1.0),
    (lambda mu: fit(mu, share=0.3), OPPOSITE, math.sqrt(0.7 + 0.3 * sandwich.GRADIENT)),
]


@each("release, pair, share", GIVEN)
def test_a_unit_spends_what_is_promised_where_its_records_move_the_release_as_far_as_they_can(release, pair, share):
    assert spent(release(0.5), pair) / 0.5 == pytest.approx(share, rel=1e-6)


@each("seed", range(40))
def test_no_unit_spends_more_than_is_promised(seed):
    draw = np.random.default_rng(seed)
    X, y = 3 * draw.standard_normal((2, K + 2, 2)), draw.choice([0.0, 0.1, 1e6, -1e6], (2, K + 2))
    X[1, K:], y[1, K:] = X[0, K:], y[0, K:]
    for release in (moments(0.5), fit(0.5, share=0.3), fit(0.5, "boosted")):
        assert spent(release, [(X[0], y[0]), (X[1], y[1])]) <= 0.5 * (1 + 1e-9)


@pytest.mark.parametrize(("noise", "releases"), [("fast", 10**6), pytest.param("secure", 20_000, marks=needs_opendp)])
def test_an_audit_of_the_intervals_of_a_unit_finds_a_tenth_too_little_noise(noise, releases):
    """By draws along the line between the neighbours, in OpenDP's exact and slow way, too."""
    rng = np.random.default_rng(0)
    source = rng if noise == "fast" else secure.Sampler()
    for mu, found in ((1.0, False), (1 / 0.9, True)):
        drawn = lambda at, count, _: mechanisms.noisy(np.full(count, at), 1.0, mu, rng=source)  # noqa: B023, E731
        asked = {"delta": 1e-6, "releases": releases, "confidence": 0.999, "rng": rng}
        assert (audit_mechanism(drawn, spent(moments(mu), PERPENDICULAR), 0.0, **asked).mu > 1) == found


@each("epsilon", [1e-8, 0.1, 1.0, 6.0, 50.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-3])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_what_one_record_may_spend_adds_up_to_the_budget(epsilon, delta, size):
    whole = ApproximateDP(epsilon, delta)
    one = groups.of_one(whole, size, gaussian=True)
    total = groups.group(one.to_gaussian(), size)
    assert total.mu <= whole.to_gaussian().mu
    assert total.mu == pytest.approx(whole.to_gaussian().mu, rel=1e-6)
    other = groups.of_one(whole, size, gaussian=False)
    assert other.epsilon * size == pytest.approx(epsilon)
    assert delta * (1 - 1e-6) <= (groups.group_approximate(other, size) if size > 1 else other.delta) <= delta


def test_a_budget_too_large_for_a_group_is_refused():
    refused("epsilon must be smaller for groups of 2", groups.of_one, ApproximateDP(1e5, 1e-6), 2, gaussian=False)


def test_a_forecast_says_what_k_costs(monkeypatch):
    """By the quickest formula in the place of all: how a group is counted depends on the method's name alone."""
    quick = forecasting.PROMISES[forecasting.BOOSTED]
    monkeypatch.setattr(forecasting, "PROMISES", dict.fromkeys(METHODS.values(), quick))
    asked = {"n": 2000, "d": 3, "epsilon": 2.0, "delta": 1e-6}
    alone, several = forecast(**asked), forecast(**asked, most_per_unit=5)
    assert (several["cost_of_privacy"] > 2 * alone["cost_of_privacy"]).all()
    mu = ApproximateDP(2.0, 1e-6).to_gaussian().mu / 5
    same = forecast(**asked | {"epsilon": GaussianDP(mu).epsilon(1e-6)})  # the Gaussian methods' noise is that for μ/5
    gaussian = several["r2"].drop("objective perturbation")
    np.testing.assert_allclose(gaussian, same["r2"].drop("objective perturbation"), rtol=1e-6)
    assert several["r2"]["objective perturbation"] != pytest.approx(gaussian.iloc[0], rel=1e-6)
    assert records_needed(0.45, 3, 1.0, most_per_unit=4) > records_needed(0.45, 3, 1.0)
    wide, narrow = (forecast_intervals(20_000, 3, 2.0, 1e-6, most_per_unit=k)["half_width"] for k in (5, 1))
    assert (wide > narrow).all()
    assert epsilon_needed(0.45, 2000, 3, most_per_unit=4) > 3 * epsilon_needed(0.45, 2000, 3)


@pytest.mark.parametrize("group", [1, 3])
def test_bounds_are_private_for_a_unit(group):
    """The range of the privacy loss is at most that of one record's mechanism, exactly, and it is nearly attained."""
    rng, grid, budget, worst = np.random.default_rng(0), np.linspace(0, 1, 6), GaussianDP(1.0), 0.0
    eta = private_quantile.exponent(budget) / group
    for _ in range(400):
        rest = rng.random(rng.integers(1, 9))
        pair = [np.append(rest, rng.integers(0, 2, rng.integers(0, group + 1)) * 1.0) for _ in range(2)]
        logs = [-eta * private_quantile.misses(values, 0.3, grid) for values in pair]
        one, two = (log - np.logaddexp.reduce(log) for log in logs)
        worst = max(worst, float(np.ptp(one - two)))
    assert 0.6 * 2 * eta * group < worst <= 2 * eta * group * (1 + 1e-12)
    noise = np.random.default_rng(1).gumbel(size=6)
    drawn = private_quantile.quantile(rest, 0.3, grid, budget, group=group, rng=np.random.default_rng(1))
    assert drawn == grid[np.argmax(noise - eta * private_quantile.misses(rest, 0.3, grid))]


def test_bounds_of_units_are_charged_as_the_fit_is():
    frame, y = problem(4000, 4)
    asked = {"mu": 0.5, "grid": np.linspace(-5, 5, 41), "unit": frame["patient"], "most_per_unit": 3}
    found = private_bounds(y, **asked, random_state=0)
    assert -4 < found.low < -1 < 1 < found.high < 4
    model = ClippedDescentRegressor(**BUDGET, most_per_unit=3).fit(frame, y, unit="patient")
    total = compose(found, model, delta=2e-6)
    assert total.neighbours == "replace all records of one unit (column 'patient')"
    with pytest.raises(ValueError, match="must protect the same neighbours"):
        compose(found, ClippedDescentRegressor(**BUDGET).fit(frame.drop(columns="patient"), y), delta=2e-6)
    with pytest.raises(ValueError, match="number of records must be at least"):  # that are three of a unit weigh less
        private_bounds(y[:2000], mu=0.1, unit=range(2000), most_per_unit=3)


# ---- Fits ----


@each("method", [*METHODS, "auto"])
def test_each_method_finds_the_coefficients_and_promises_the_unit(method):
    frame, y = problem(3000)
    model = PrivateLinearRegression(method, **BUDGET, most_per_unit=3, random_state=0).fit(frame, y, unit="patient")
    np.testing.assert_allclose(model.coef_, [0.7, 0.1, -0.5], atol=0.08)
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.drop(columns="patient")))
    assert model.guarantee_.claimed == ApproximateDP(4.0, 1e-6)
    whole = ApproximateDP(4.0, 1e-6).to_gaussian().mu
    if model.method_ != "objective":
        assert whole * (1 - 1e-6) < model.guarantee_.gaussian.mu <= whole
    told = model.receipt().data()
    assert told["neighbours"].startswith("replace all records of one unit (column 'patient') by any others")
    assert (told["units"], told["most_per_unit"]) == (3000, 3)
    assert "3000 units (column 'patient'), of each of which at most 3 records were used" in " ".join(
        str(model.receipt()).split()
    )
    assert "Who stands in several records" not in str(model.receipt())


def test_nothing_public_depends_on_how_many_records_the_units_have():
    told = []
    for most in (1, 6):
        frame, y = problem(300, most)
        model = PrivateLinearRegression("descent", **BUDGET, most_per_unit=3).fit(frame, y, unit="patient")
        told.append({**model.receipt().data(), "plan": model.plan_, "n": model.n_records_, "r2": model.expected_r2_})
    assert told[0] == told[1]


def test_identifiers_are_given_as_a_column_or_an_array_also_through_a_pipeline():
    frame, y = problem(300)
    X, ids = frame.drop(columns="patient"), frame["patient"]
    asked = BUDGET | {"most_per_unit": 2, "random_state": 0}
    by_name = ClippedDescentRegressor(**asked).fit(frame, y, unit="patient").coef_
    for unit in (ids, ids.to_numpy(), list(ids), ids.astype("category")):
        np.testing.assert_array_equal(ClippedDescentRegressor(**asked).fit(X, y, unit=unit).coef_, by_name)
    polars = pytest.importorskip("polars").from_pandas(frame)
    np.testing.assert_array_equal(ClippedDescentRegressor(**asked).fit(polars, y, unit="patient").coef_, by_name)
    piped = make_pipeline(FunctionTransformer(), ClippedDescentRegressor(**asked))
    np.testing.assert_array_equal(piped.fit(X, y, clippeddescentregressor__unit=ids)[-1].coef_, by_name)


def test_one_record_of_each_unit_is_a_fit_of_that_guarantee():
    """With k = 1 noise and plan are those of m records."""
    frame, y = problem(500, 1)
    X = frame.drop(columns="patient")
    one = ClippedDescentRegressor(**BUDGET, most_per_unit=1).fit(frame, y, unit="patient")
    assert one.plan_ == ClippedDescentRegressor(**BUDGET).fit(X, y).plan_


@each("model", [DPGDRegressor(mu=0.5), PrivateLinearRegression("one pass", **BUDGET)])
def test_a_stream_states_how_many_records_of_a_unit_it_may_hold(model):
    frame, y = problem(100)
    X = frame.drop(columns="patient").to_numpy()
    plain = model.fit_stream([(X, y)], n=len(y))
    mu, configuration = plain.guarantee_.gaussian.mu, getattr(plain, "plan_", None) or plain.configuration_
    told = model.set_params(most_per_unit=6).fit_stream([(X, y)], n=len(y))
    assert told.guarantee_.gaussian.mu == pytest.approx(mu, rel=1e-6)
    assert (getattr(told, "plan_", None) or told.configuration_).rho == pytest.approx(configuration.rho / 6, rel=1e-6)
    assert "a stream that must hold at most 6 records of a unit, which was not checked" in " ".join(
        str(told.receipt()).split()
    )
    assert told.receipt().data()["most_per_unit"] == 6
    model.set_params(most_per_unit=None)


@pytest.mark.parametrize("method", [ObjectivePerturbationRegressor, ClippedDescentRegressor])
def test_intervals_take_the_records_of_a_unit_together(method):
    """Four equal records of a unit say no more than one; taken for independent they would halve the width."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2))
    y = X @ [0.5, -0.5] + 0.5 * rng.standard_normal(4000)
    asked = BUDGET | {"epsilon": 30.0, "interval_share": 0.3, "random_state": 0}
    four, order = np.repeat(np.arange(4000), 4), rng.permutation(16_000)
    told = method(**asked, most_per_unit=4).fit(X[four[order]], y[four[order]], unit=four[order])
    found, alone = told.intervals(), method(**asked).fit(X, y).intervals()
    width, of_one = ((table["high"] - table["low"]).mean() for table in (found, alone))
    assert 0.8 < width / of_one < 1.4
    assert found["low"].iloc[0] < 0.5 < found["high"].iloc[0]
    assert "replace all records of one unit" in str(told.receipt()).replace("\n  ", " ")


TWO = ClippedDescentRegressor(**BUDGET, most_per_unit=2)


@each(
    ("model", "unit", "message"),
    [
        (ClippedDescentRegressor(**BUDGET), "patient", "unit and most_per_unit go together"),
        (TWO, None, "unit and most_per_unit go together"),
        (TWO, "person", "unit must be one column"),
        (TWO, [1, 2], "unit must be an identifier for each"),
        (TWO, pd.Series(range(3), name="a"), "give unit='a', its column"),
        (TWO, dict.fromkeys(range(len(problem(60)[1]))), "got a dict"),
        (ClippedDescentRegressor(**BUDGET, most_per_unit=0), "patient", "most_per_unit must be"),
        (DPGDRegressor(mu=1.0, most_per_unit=2, shuffle=False), "patient", "shuffle must be True with unit"),
    ],
)
def test_what_cannot_be_protected_is_refused_before_anything_is_drawn(model, unit, message):
    frame, y = problem(60)
    X = frame if isinstance(unit, str) and unit == "patient" else frame.drop(columns="patient")
    refused(message, model.fit, X, y, unit=unit)
    assert not hasattr(model, "coef_")


@each("make", [lambda **a: ClippedDescentRegressor(**BUDGET, **a), lambda **a: DPGDRegressor(mu=1.0, **a)])
def test_private_bounds_of_records_are_refused_where_units_are_protected(make):
    """As it was found: the receipt added what they spent, as if both protected the same."""
    frame, y = problem(400)
    asked = {"mu": 1.0, "grid": np.linspace(-3, 3, 13), "levels": (0.1, 0.9)}
    of_records, of_units = private_bounds(y, **asked), private_bounds(y, **asked, unit=range(len(y)), most_per_unit=1)
    public = {"response_bounds": of_records, "response_scale": None} if "clip" not in make().get_params() else {}
    model = make(most_per_unit=2).set_params(**public, feature_bounds=dict.fromkeys("abc", of_records))
    model.set_params(feature_scale=None if public else 1.0)
    refused(r"_bounds.* must protect units as the fit does", model.fit, frame, y, unit="patient")
    assert not hasattr(model, "coef_")
    model.set_params(**dict.fromkeys(public and ["response_bounds"], of_units))
    model.set_params(feature_bounds=dict.fromkeys("abc", of_units)).fit(frame, y, unit="patient")
    assert "With this fit together" in " ".join(str(model.receipt()).split())


def test_a_search_protects_records_and_refuses_units_before_it_spends():
    search = PrivateSearch(DPGDRegressor(), [{}, {"most_per_unit": 2}], epsilon=1.0, delta=1e-6, loss_bound=4.0)
    refused("most_per_unit must be None in a search", search.plan)


@each("empty", [None, math.nan, pd.NA, pd.NaT, " ", "nan", "None", "<NA>", "NaT"])  # also as astype(str) writes them
def test_a_record_without_an_identifier_is_refused_or_left_out(empty):
    frame, y = problem(60)
    some = frame.assign(patient=[empty if k == 3 else who for k, who in enumerate(frame["patient"])])
    asked = BUDGET | {"most_per_unit": 2, "random_state": 0}
    with pytest.raises(ValueError, match="unit must have an identifier, a number or text, for each record"):
        BoostedAdaSSPRegressor(**asked).fit(some, y, unit="patient")
    model = BoostedAdaSSPRegressor(**asked, not_finite="void").fit(some, y, unit="patient")
    assert model.receipt().data()["units"] == 60
    same = units.identified(["007", 7, 7.0, " b", "b "], 2, 5, void=False)
    assert same.unit.count == 2
    assert math.isfinite(model.coef_.sum())
