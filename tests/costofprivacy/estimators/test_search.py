"""A private search: what it may spend against other accountants, what a record moves, and what is released."""

import math
import traceback
import warnings

import dp_accounting
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from costofprivacy.estimators import DPGDRegressor, ObjectivePerturbationRegressor, PrivateLinearRegression
from costofprivacy.estimators.account import AccountError
from costofprivacy.estimators.private_bounds import private_bounds
from costofprivacy.estimators.schema import Schema, number
from costofprivacy.estimators.search import PrivateSearch
from costofprivacy.estimators.search_plans import all_settings, private_mean_loss, random_number
from costofprivacy.estimators.spending import compose
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyProfile, selection
from tests.costofprivacy.estimators import conformance
from tests.each import each, refused

BUDGET = ApproximateDP(2.0, 1e-5)


# accounting


@pytest.mark.parametrize(("k", "folds", "share"), [(5, 1, 0.0), (3, 4, 0.5)])
def test_all_settings_spend_what_dp_accounting_says_of_their_events(k, folds, share):
    """One record's view: in a run with a test share it meets a fit or a score, with folds F − 1 fits and a score."""
    plan = all_settings(BUDGET, k, folds, share)
    fits, scores = (k * (folds - 1), k) if folds > 1 else (k, 0)
    events = [plan.fit.mu] * fits + [plan.score.mu] * scores + ([plan.refit.mu] if plan.refit else [])
    accountant = dp_accounting.pld.PLDAccountant(
        neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE, value_discretization_interval=1e-3
    )
    for mu in events:
        accountant.compose(dp_accounting.GaussianDpEvent(2 / mu))  # its sensitivity for a replacement is 2
    assert accountant.get_epsilon(BUDGET.delta) == pytest.approx(BUDGET.epsilon, rel=5e-3)
    assert plan.gaussian.epsilon(BUDGET.delta) == pytest.approx(BUDGET.epsilon)
    assert (plan.refit is None) == (share == 0)
    assert "together (1.001, 1e-06)-DP" in all_settings(ApproximateDP(1.00004, 1e-6), 2).sentence


@pytest.mark.parametrize("folds", [1, 4])
def test_budgets_that_are_not_gaussian_are_added(folds):
    plan = all_settings(BUDGET, 3, folds, 0.4, gaussian=False)
    runs = 3 * folds
    assert runs * plan.fit.epsilon + plan.refit.epsilon == pytest.approx(BUDGET.epsilon)
    assert runs * plan.fit.delta + plan.refit.delta == pytest.approx(BUDGET.delta)
    assert plan.score.epsilon(plan.fit.delta) == pytest.approx(plan.fit.epsilon)
    assert plan.gaussian is None


def renyi_oracle(mu, m, delta):
    """Theorem 2 of Papernot and Steinke for η = 1, both orders searched, and the conversion by hand."""

    def at(order):
        def bound(log_other):
            other = math.exp(log_other)
            return 2 * (1 - 1 / other) * other * mu**2 / 2 + 2 * math.log(m) / other

        extra = minimize_scalar(bound, bounds=(0, 15), method="bounded").fun
        divergence = order * mu**2 / 2 + min(extra, bound(0.0)) + math.log(m) / (order - 1)
        return divergence + math.log1p(-1 / order) - math.log(delta * order) / (order - 1)

    return minimize_scalar(lambda log: at(1 + math.exp(log)), bounds=(-4, 8), method="bounded").fun


@each("m", [1.0, 30.0, 1000.0])
@each("epsilon", [0.3, 8.0])
def test_a_random_number_of_runs_meets_its_budget(m, epsilon):
    plan = random_number(ApproximateDP(epsilon, 1e-5), 10, m)
    assert renyi_oracle(plan.fit.mu, m, 1e-5) == pytest.approx(epsilon, rel=2e-3)
    assert selection.random_stopping_epsilon(plan.fit, m, 1e-5) <= epsilon
    assert selection.random_stopping_attack(plan.fit, m, 1e-5) <= epsilon
    assert plan.fit == plan.score


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: all_settings(BUDGET, 0), "settings must be"),
        (lambda: PrivateSearch("ridge", [{}], epsilon=1.0, delta=1e-6, loss_bound=1.0).plan(), "estimator must be"),
        (
            lambda: PrivateSearch(DPGDRegressor, [{}], epsilon=1.0, delta=1e-6, loss_bound=1.0).plan(),
            "estimator must be",
        ),
        (lambda: all_settings(BUDGET, 3, folds=5), "refit_share must be"),
        (lambda: all_settings(BUDGET, 3, refit_share=1.0), "refit_share must be"),
        (lambda: random_number(BUDGET, 3, 0.5), "mean_runs must be at least 1"),
        (lambda: random_number(ApproximateDP(1e-4, 1e-5), 3), "epsilon must be larger"),
    ],
)
def test_plans_refuse_what_makes_no_sense(wrong, words):
    refused(words, wrong)


# the noisy score


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e308, -3.0, 5e-324])
def test_one_loss_moves_the_mean_by_its_sensitivity(wrong):
    rng, n, bound = np.random.default_rng(0), 1000, 2.5
    losses = rng.uniform(0, 3, n)
    for other in (0.0, 1e9):
        one, two = losses.copy(), losses.copy()
        one[3], two[3] = wrong, other
        a, b = (private_mean_loss(x, bound, GaussianDP(1.0), rng=np.random.default_rng(1)) for x in (one, two))
        assert abs(a - b) <= bound / n * (1 + 1e-9)
        assert math.isfinite(a)


def test_the_noise_of_a_score_is_what_its_budget_asks_for():
    n, bound, mu, trials = 400, 3.0, 0.7, 1000
    rng = np.random.default_rng(0)
    losses = np.full(n, 1.2)
    found = np.array([private_mean_loss(losses, bound, GaussianDP(mu), rng=rng) for _ in range(trials)])
    std = bound / (n * mu)
    assert abs(found.mean() - 1.2) < 4 * std / math.sqrt(trials)
    assert abs(found.std() / std - 1) < 4 / math.sqrt(2 * trials)
    assert abs(found.std() / (2 * std) - 1) > 0.3


# the search


class Constant(RegressorMixin, BaseEstimator):
    """Predicts its parameter, and remembers what it was fitted on and with which ρ."""

    seen: list = []  # noqa: RUF012

    def __init__(self, value=0.0, mu=None, epsilon=None, delta=None, factor=1.0, random_state=None):
        self.value, self.mu, self.epsilon, self.delta = value, mu, epsilon, delta
        self.factor, self.random_state = factor, random_state

    def fit(self, X, y):
        mu = self.mu if self.mu is not None else ApproximateDP(self.epsilon, self.delta).to_gaussian().mu
        claimed = ApproximateDP(self.epsilon or 1.0, self.delta or 1e-6)
        spent = GaussianDP(mu * self.factor)
        self.profile_ = PrivacyProfile(claimed, spent, spent, "replace one record")
        Constant.seen.append((self.value, self.mu, self.epsilon, np.asarray(X)[:, 0].astype(int)))
        return self

    def predict(self, X):
        return np.full(len(X), float(self.value))


class Promise:
    """What the estimators of tables promise."""

    neighbours = "replace one record by any other; the number of records is public"

    def __init__(self, claimed, gaussian):
        self.claimed, self.gaussian = claimed, gaussian


class Approximate(Constant):
    """Takes ε and δ alone; Gaussian DP where ``gaussian`` says so."""

    def __init__(self, value=0.0, epsilon=None, delta=None, gaussian=False, random_state=None):
        super().__init__(value, None, epsilon, delta, 1.0, random_state)
        self.gaussian = gaussian

    def fit(self, X, y):
        super().fit(X, y)
        claimed = ApproximateDP(self.epsilon, self.delta)
        self.guarantee_ = Promise(claimed, claimed.to_gaussian() if self.gaussian else None)
        return self


SETTINGS = [{"value": value} for value in (0.0, 1.0, 2.0)]
X, Y = np.arange(40.0)[:, None], np.full(40, 1.9)


def searching(estimator=None, **asked):
    Constant.seen.clear()
    base = {"epsilon": 2.0, "delta": 1e-5, "loss_bound": 4.0, "random_state": 0}
    return PrivateSearch(estimator or Constant(), SETTINGS, **base | asked)


def test_a_test_share_parts_the_records_and_each_run_pays():
    search = searching(epsilon=500.0).fit(X, Y)
    assert search.best_setting_ == {"value": 2.0}
    assert search.scores_.round(1).tolist() == pytest.approx([3.6, 0.8, 0.0], abs=0.11)
    assert [value for value, *_ in Constant.seen] == [0, 1, 2]
    assert {mu for _, mu, *_ in Constant.seen} == {search.plan().fit.mu}
    rows = [set(fitted.tolist()) for *_, fitted in Constant.seen]
    assert rows[0] == rows[1] == rows[2]
    assert len(rows[0]) == 30
    assert search.predict(X).tolist() == [2.0] * 40
    assert search.profile_ == search.plan()


def test_folds_meet_each_record_as_often_as_the_plan_says():
    search = searching(folds=4).fit(X, Y)
    plan, rows = search.plan(), np.zeros(40)
    fits = [fitted for _, mu, _, fitted in Constant.seen if mu == plan.fit.mu]
    assert len(fits) == 12
    for fitted in fits:
        rows[fitted] += 1
    assert (rows == 3 * 3).all()  # k (F − 1)
    last = Constant.seen[-1]
    assert (last[1], len(last[3])) == (plan.refit.mu, 40)
    spent = math.sqrt(9 * plan.fit.mu**2 + 3 * plan.score.mu**2 + plan.refit.mu**2)
    assert spent == pytest.approx(plan.gaussian.mu)


def test_a_replaced_record_moves_the_scores_by_all_of_the_budget_and_no_more():
    """Predictors that read nothing, and a record whose loss goes from 0 to B for each: the sensitivity is attained."""
    trials, moved = 120, Y.copy()
    moved[7] = 1e9
    asked = {"test_share": 0.999, "loss_bound": 1e-3}
    ours = [{"value": 1.9}] * 3
    found = []
    for y in (Y, moved):
        searches = [searching(**asked | {"random_state": seed}).set_params(settings=ours) for seed in range(trials)]
        found.append(np.array([search.fit(X, y).scores_ for search in searches]))
    scored = [abs(a - b).max() > 0 for a, b in zip(*found)]  # all but one of the 40 records score
    shift = np.array(found[1] - found[0])[scored].mean(axis=0)
    noise = np.concatenate(found[0] - found[0].mean(axis=0)).std()
    total = math.sqrt(3) * shift.mean() / noise
    assert total == pytest.approx(searching().plan().gaussian.mu, rel=0.1)


def test_a_random_number_of_runs_releases_the_best_alone():
    search = searching(strategy="random", mean_runs=30.0, epsilon=50.0).fit(X, Y)
    runs = len(Constant.seen)
    assert search.best_setting_ == {"value": 2.0}
    assert search.scores_.shape == (1,)
    assert runs > 3
    lengths = []
    for seed in range(80):
        searching(strategy="random", mean_runs=4.0, random_state=seed).fit(X, Y)
        lengths.append(len(Constant.seen))
    assert abs(np.mean(lengths) - 4) < 4 * math.sqrt(12 / 80)
    learnt = {name for name in vars(search) if name.endswith("_")}
    assert learnt == {f"{name}_" for name in ("best_estimator", "best_setting", "scores", "profile", "receipt")}


def test_fits_that_are_not_gaussian_are_given_a_share_of_epsilon_and_delta():
    with pytest.raises(RuntimeError, match="need accounting='approximate'"):
        searching(Approximate()).fit(X, Y)
    search = searching(Approximate(), accounting="approximate", refit_share=0.5).fit(X, Y)
    assert [epsilon for _, _, epsilon, _ in Constant.seen] == pytest.approx([1 / 3] * 3 + [1.0])
    assert search.profile_.gaussian is None


@each(("epsilon", "strategy"), [(1e-3, "all"), (50.0, "all"), (0.5, "random"), (50.0, "random")])
def test_gaussian_fits_may_be_asked_for_by_epsilon_and_delta(epsilon, strategy):
    search = searching(Approximate(gaussian=True), epsilon=epsilon, strategy=strategy).fit(X, Y)
    plan = search.profile_
    told = [asked for _, _, asked, _ in Constant.seen]
    assert ApproximateDP(told[0], 1e-5).to_gaussian().mu == pytest.approx(plan.fit.mu, rel=1e-8)
    assert compose(search, GaussianDP(0.1), delta=1e-4).claimed.epsilon > 0


def test_a_fit_that_spends_more_than_it_was_given_is_not_released():
    with pytest.raises(RuntimeError, match="Constant must spend at most"):
        searching(Constant(factor=1.001)).fit(X, Y)
    searching(Constant(factor=0.9)).fit(X, Y)


AUTOMATIC, GRID = PrivateLinearRegression(response_bounds=(0, 4)), [{"expected_r2": share} for share in (0.3, 0.6)]
PIPED = make_pipeline(Schema({"a": number(0, 40)}).transformer(), AUTOMATIC)


@pytest.mark.parametrize(
    ("estimator", "settings", "words"),
    [
        (AUTOMATIC, GRID, "PrivateLinearRegression with method='auto', which may choose objective perturbation"),
        (ObjectivePerturbationRegressor(), GRID, r"ObjectivePerturbationRegressor, for which \(ε, δ\) alone is proved"),
        (PrivateLinearRegression("descent"), [*GRID, {"method": "objective"}], "with method='objective'"),
        (PIPED, [{"privatelinearregression__expected_r2": 0.3}], "with method='auto'"),
        (PIPED, [{"privatelinearregression": ObjectivePerturbationRegressor()}], "ObjectivePerturbationRegressor"),
    ],
)
def test_fits_that_may_not_be_gaussian_are_refused_by_the_plan(estimator, settings, words):
    asked = {"epsilon": 1.0, "delta": 1e-6, "loss_bound": 4.0}
    search = PrivateSearch(estimator, settings, **asked)
    for call in (search.plan, lambda: search.fit(X, Y)):
        refused(rf"^accounting='gaussian' needs .*{words}.* Use method='descent'", call)
    assert PrivateSearch(estimator, settings, accounting="approximate", **asked).plan().gaussian is None


@each(
    ("asked", "words"),
    [
        ({"strategy": "random", "folds": 3}, "strategy='random' needs"),
        ({"strategy": "random", "accounting": "approximate"}, "strategy='random' needs"),
        ({"loss_bound": math.inf}, "loss_bound must be"),
        ({"strategy": "random", "mean_runs": math.inf}, "mean_runs must be"),
        ({"folds": 50}, "number of records"),
        ({"random_state": np.random.default_rng(0)}, "random_state must be None"),
        ({"settings": []}, "non-empty list"),
        ({"settings": [{"velocity": 1}]}, "must map the estimator's parameters"),
        ({"settings": [{"mu": 1.0}]}, "must leave mu"),
        ({"estimator": make_pipeline(Constant(), Constant())}, "one part"),
        ({"table": {"a": Y}}, "X must be an array, a list or a data frame, got a dict"),
        ({"table": np.array(5.0)}, "X must be an array, a list or a data frame, got a ndarray"),
    ],
)
def test_arguments_outside_their_range_are_refused_before_anything_is_fitted(asked, words):
    search = searching().set_params(**{name: value for name, value in asked.items() if name != "table"})
    refused(words, search.fit, asked.get("table", X), Y)
    assert not Constant.seen
    assert not hasattr(search, "best_estimator_")


class Lazy:
    """An array for NumPy alone."""

    def __array__(self, dtype=None, copy=None):
        return X


@each("table", [memoryview(X), Lazy(), np.ma.masked_array(X), X.tolist()])
def test_a_table_of_any_kind_and_a_grid_are_searched_as_arrays_and_lists_are(table):
    found, told = searching().fit(X, Y), searching().set_params(settings=ParameterGrid({"value": [0.0, 1.0, 2.0]}))
    np.testing.assert_array_equal(told.fit(table, Y).scores_, found.scores_)


def test_hostile_responses_leave_a_finite_release():
    schema = Schema({"a": number(0, 1)})
    model = make_pipeline(
        schema.transformer(), DPGDRegressor(feature_bounds=schema.feature_bounds(), not_finite="void")
    )
    table = [[value] for value in np.linspace(0, 1, 50)]
    y = [1.0] * 46 + [math.nan, math.inf, conformance.SECRET, 1e308]
    search = PrivateSearch(model, [{}], epsilon=5.0, delta=1e-4, loss_bound=1.0, random_state=0).fit(table, y)
    assert np.isfinite(search.scores_).all()
    assert np.isfinite(search.predict(table)).all()
    with pytest.raises(ValueError, match="y must") as caught:
        search.fit(table, [[conformance.SECRET], [1, 2]])
    assert conformance.SECRET not in "".join(traceback.format_exception(caught.value))
    search = PrivateSearch(DPGDRegressor(), [{}], epsilon=8.0, delta=1e-6, loss_bound=4.0, random_state=0)
    cells = np.array([[conformance.SECRET], *[[1.0]] * 19], dtype=object)
    with pytest.raises((ValueError, TypeError)) as caught:
        search.fit(cells, np.ones(20))
    assert conformance.SECRET not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.filterwarnings("default")
@each("check", [conformance.check_a_generator_is_refused, conformance.check_warnings])
def test_the_conformance_suite_s_rules_for_seeds_hold_for_a_search(check):
    check(PrivateSearch(DPGDRegressor(), [{}], epsilon=8.0, delta=1e-6, loss_bound=4.0))


def test_runs_warn_of_nothing_and_release_nothing_beside_their_fits(recwarn):
    """Each run warned where another thread turned warnings on, and what a step released was not counted."""
    x, asked = np.zeros((60, 1)), {"epsilon": 8.0, "delta": 1e-6, "loss_bound": 4.0}
    loud = FunctionTransformer(lambda x: warnings.simplefilter("always") or x)  # as another thread would
    PrivateSearch(make_pipeline(loud, PrivateLinearRegression("descent")), [{}, {}], **asked).fit(x, x[:, 0])
    assert len(recwarn) == len({str(each.message) for each in recwarn}) > 0
    greedy = FunctionTransformer(lambda x: np.clip(x, *private_bounds(x[:, 0], mu=5.0, grid=range(9))))
    with pytest.raises(AccountError, match="DPGDRegressor is a release of its own in a run of a search"):
        PrivateSearch(make_pipeline(greedy, DPGDRegressor()), [{}], **asked).fit(x, x[:, 0])
