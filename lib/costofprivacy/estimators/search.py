r"""A private search over settings: cross-validation whose cost is stated, and paid.

`PrivateSearch` fits an estimator of this package, or a pipeline that ends in one, with each of some public settings,
scores it with noise, and releases the best. `costofprivacy.estimators.search_plans` says what each part may spend, with
the proofs; this module runs the plan and checks that no fit spent more than it was given.

**The score is private too.** It is the mean of clipped losses min((y − ŷ)², B) with Gaussian noise
(`search_plans.private_mean_loss`). Scikit-learn's own searches are not private (`costofprivacy.estimators.spending`).

**Nothing that a run says leaves the search.** A random number of runs must stay secret, and what a run warns of may
depend on its records. So there is one warning for each public doubt, before anything is drawn, and none afterwards:
warnings, floating-point errors, logging and what Python prints are off while the runs are made. Two searches in
threads of one process wait for each other, since these switches belong to the process: what other threads log or print
meanwhile is lost too, and a thread that turns warnings on may see those of a step of somebody else. What this package
warns of is silent in runs whatever the switches are. How long a search takes is not protected, nor what a step of
somebody else does besides, such as writing files.

**Which estimators.** ``accounting="gaussian"`` needs fits that are Gaussian DP: `DPGDRegressor`,
`ClippedDescentRegressor`, `BoostedAdaSSPRegressor`, and `PrivateLinearRegression` with method "descent", "boosted" or
"one pass". Objective perturbation, which its default method "auto" may choose, is proved (ε, δ)-DP alone, so that its
fits are added with ``accounting="approximate"``. That leaves each fit much less.
"""

import contextlib
import copy
import io
import logging
import math
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.estimators import cells, gate, search_plans
from costofprivacy.estimators.account import Charged, charge, paid
from costofprivacy.estimators.gate import generator
from costofprivacy.estimators.guarantee import Guarantee as Promise
from costofprivacy.estimators.guarantee import Receipt
from costofprivacy.estimators.schema import SchemaTransformer
from costofprivacy.estimators.search_plans import SearchPlan, private_mean_loss
from costofprivacy.estimators.spending import RECORD, Guarantee, promised, relation
from costofprivacy.estimators.tabular import TabularRegressor, warn_of_what_is_left_out
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyWarning, records

ALL, RANDOM = "all", "random"
GAUSSIAN, APPROXIMATE = "gaussian", "approximate"
RESERVED = ("mu", "epsilon", "delta", "noise", "random_state")  # the search sets them
LEARNS = (
    "the guarantee does not cover what {} may learn from the records before the private fit. Use steps that learn "
    "nothing, such as the transformer of a Schema"
)
_ALONE = threading.RLock()  # of one search: what it switches off belongs to the process
_SPENT = 1 + 1e-9  # a fit that is calibrated to its budget meets it to rounding


class PrivateSearch(Charged, MetaEstimatorMixin, gate.Scored, BaseEstimator):
    r"""The best of some public settings of a private estimator, within one stated budget.

    Guarantee: the released model, its setting and the released scores are together (ε, δ)-DP for replacing one record
    (`search_plans` has the proofs), if the estimator keeps what its own profile says. ``profile_`` states the total and
    what each part spent. A fit that is refused for its data is not covered, as in the estimators: choose
    ``not_finite="void"``.

    *The price.* ``strategy="all"`` divides μ² among all fits; a search over k settings with F folds leaves each fit
    μ/√(kF), before the share of the refit. ``strategy="random"`` costs about as much as two or three runs, whatever the
    number of settings, releases the best run alone, and may miss the best setting. A setting from public data, from
    a deterministic equivalent or from theory costs nothing.

    Args:
        estimator: an estimator of this package, or a pipeline with one. The search sets its ``mu``, or ``epsilon`` and
            ``delta``, and its ``random_state``, and draws with its ``noise``. Its fits must be Gaussian DP with
            ``accounting="gaussian"``, the default: the module says which are.
        settings: a list of mappings from parameter names to values, or scikit-learn's ``ParameterGrid``; public.
        epsilon, delta: the total, ε in [10⁻⁸, 10⁶] and δ in [10⁻³⁰⁰, 1), well below 1/n.
        loss_bound: B in [10⁻¹⁵⁰, 10¹⁵⁰], public: squared errors are clipped to it. The noise of a score is B/(mμ) for
            m scored records, so B should be a few times the error that is expected.
        strategy: "all" or "random".
        accounting: "gaussian" for an estimator whose fits are Gaussian DP; "approximate" for another, such as objective
            perturbation: ε and δ are added, with the strategy "all".
        folds: number of folds with the strategy "all"; 1 stands for a test share.
        test_share: in (0, 1), of the records that score, where there are no folds.
        refit_share: of μ² for a last fit of the best setting on all records; None for 0 without folds and ½ with them.
        mean_runs: the expected number of runs with the strategy "random"; None for three times the settings.
        random_state: None to release; a number makes a demonstration that can be repeated, and no release.

    Attributes:
        ``best_estimator_``, ``best_setting_``: what was chosen; the model was fitted on all records after a refit, and
            on those that did not score without one.
        ``scores_``: the noisy mean loss of each setting with the strategy "all" (all are paid for); of the best run
            alone with "random".
        ``profile_``: the total and its parts, a `search_plans.SearchPlan`. `receipt` puts it into words. The model's
            own receipt, and `spending.compose` of the model, state the total too.

    Raises:
        ValueError: in ``fit`` and `plan`, for arguments outside their range, for an estimator around a private one that
            is no pipeline, and for an estimator of this package whose fits are not, or not always, Gaussian DP where
            they must be. RuntimeError: in ``fit``, if a fit of another estimator spent more than it was given.

    Warns:
        PrivacyWarning: in ``fit``, if ``random_state`` is a number, ``delta`` is 0.1/n or more, ε above 20, or a step
            before the private fit learns from the records. ScaleWarning: as the estimator would, once. All come before
            the first run, and none from a run.
    """

    ALLOWED: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [gate.EPSILON],
        "delta": [gate.DELTA],
        "loss_bound": [_validate.within(records.NEAR, records.FAR)],
        "strategy": [_validate.among((ALL, RANDOM))],
        "accounting": [_validate.among((GAUSSIAN, APPROXIMATE))],
        "folds": [_validate.integer(1)],
        "test_share": [_validate.PROBABILITY],
        "refit_share": [_validate.BELOW_ONE, None],
        "mean_runs": [_validate.Range("finite and at least 1", lambda v: 1 <= v < math.inf), None],
        "random_state": [_validate.integer(0), None],
    }

    def __init__(
        self,
        estimator: Any,
        settings: Any,
        *,
        epsilon: float,
        delta: float,
        loss_bound: float,
        strategy: str = ALL,
        accounting: str = GAUSSIAN,
        folds: int = 1,
        test_share: float = 0.25,
        refit_share: float | None = None,
        mean_runs: float | None = None,
        random_state: int | None = None,
    ) -> None:
        gate.keep_arguments(self, locals())

    def plan(self) -> SearchPlan:
        """What the search will spend, from its arguments alone.

        Raises:
            ValueError: as ``fit`` does for arguments.
        """
        settings, budget = self._settings(), ApproximateDP(float(self.epsilon), float(self.delta))
        prefix = _private_part(self.estimator)
        known = self.estimator.get_params()
        if any({**known, **setting}.get(prefix + "most_per_unit") is not None for setting in settings):
            raise InvalidParameterError(
                "most_per_unit must be None in a search, which protects single records: its folds would divide the "
                "records of a unit"
            )
        if self.accounting == GAUSSIAN:
            self._refuse_fits_that_are_not_gaussian(settings)
        if self.strategy == RANDOM:
            if self.folds != 1 or self.refit_share or self.accounting != GAUSSIAN:
                raise InvalidParameterError(
                    "strategy='random' needs folds=1, refit_share=None and accounting='gaussian': for others no bound "
                    f"is proved here, got {self.folds=}, {self.refit_share=}, {self.accounting=}"
                )
            return search_plans.random_number(budget, len(settings), self.mean_runs)
        share = (0.5 if self.folds > 1 else 0.0) if self.refit_share is None else float(self.refit_share)
        gaussian = self.accounting == GAUSSIAN
        return search_plans.all_settings(budget, len(settings), int(self.folds), share, gaussian)

    def fit(self, X: Any, y: Any) -> "PrivateSearch":
        """Run the plan.

        Args:
            X: features, as the estimator takes them, n records: a data frame, an array or a list. y: shape (n,).

        Returns:
            The search, fitted.
        """
        with _ALONE:
            gate.begin(self)
            X = _table(X)
            plan, n = self.plan(), len(X)
            gate.warn_of_use(plan.claimed, n)
            targets, rng = records.numbers("y", y, (n,)), generator(self.random_state, self._noise)
            _validate.whole("the number of records", n, at_least=max(2, int(self.folds)))
            order = rng.permutation(n)  # does not depend on the data
            held_out = order[: min(max(round(self.test_share * n), 1), n - 1)]
            parts = list(np.array_split(order, self.folds)) if self.folds > 1 else [held_out]  # that score
            for doubt in self._doubts(X, plan):
                warnings.warn(doubt, stacklevel=2)
            charge(type(self).__name__, lambda: plan)
            with _silent(), paid():
                if plan.mean_runs is None:
                    found = self._all(X, targets, plan, parts, rng)
                else:
                    found = self._random(X, targets, plan, parts, rng)
            done = copy.copy(self)
            setting, done.best_estimator_, done.scores_ = found
            done.best_setting_ = copy.deepcopy(setting)
            done.profile_ = plan
            private = _private_of(done.best_estimator_, _private_part(done.best_estimator_))
            private.search_ = plan
            done.receipt_ = done._issue(private, plan, n)
            gate.trained_on(self, X)
            self.__dict__.update(vars(done))  # at once: an interrupted search has a receipt, or released nothing
        return self

    def receipt(self) -> Receipt:
        """What the whole search released under which guarantee, in words (``str``) and as JSON (``.json()``)."""
        check_is_fitted(self, "receipt_")
        return replace(self.receipt_)

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the released model, shape (n,).

        Args:
            X: features, as the estimator takes them.
        """
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    @property
    def _noise(self) -> str:
        """The estimator's, with which all of its settings are fitted and scored."""
        return str(self.estimator.get_params().get(_private_part(self.estimator) + "noise", gate.FAST))

    def _all(self, X: Any, y: np.ndarray, plan: SearchPlan, parts: list[np.ndarray], rng: np.random.Generator) -> Any:
        """Every setting, each with its own fits and one noisy score."""
        runs = [self._run(X, y, setting, plan, parts, rng) for setting in self._settings()]
        scores = np.array([score for _, score in runs])
        best = int(np.argmin(scores))
        setting, model = self._settings()[best], runs[best][0]
        if plan.refit is not None:
            model = self._fitted(X, y, setting, plan.refit, rng)
        return setting, model, scores

    def _random(
        self, X: Any, y: np.ndarray, plan: SearchPlan, parts: list[np.ndarray], rng: np.random.Generator
    ) -> Any:
        """A geometric number of runs; the number and all but the best are forgotten."""
        settings, best = self._settings(), None
        for _ in range(int(rng.geometric(1 / float(plan.mean_runs or 1.0)))):
            setting = settings[int(rng.integers(len(settings)))]
            model, score = self._run(X, y, setting, plan, parts, rng)
            if best is None or score < best[2][0]:
                best = setting, model, np.array([score])
        return best

    def _run(
        self,
        X: Any,
        y: np.ndarray,
        setting: dict[str, Any],
        plan: SearchPlan,
        parts: list[np.ndarray],
        rng: np.random.Generator,
    ) -> tuple[Any, float]:
        """A model for each part, fitted on all others; the last model, and one noisy score of all parts together."""
        losses, model = [], None
        for part in parts:
            rest = np.setdiff1d(np.arange(len(y)), part)
            model = self._fitted(_chosen(X, rest), y[rest], setting, plan.fit, rng)
            predicted = np.asarray(model.predict(_chosen(X, part)), dtype=float)
            with np.errstate(over="ignore", invalid="ignore"):
                losses.append((y[part] - predicted) ** 2)
        return model, private_mean_loss(np.concatenate(losses), float(self.loss_bound), plan.score, rng=rng)

    def _fitted(
        self, X: Any, y: np.ndarray, setting: dict[str, Any], asked: Guarantee, rng: np.random.Generator
    ) -> Any:
        """A clone with a setting and a budget, fitted and found to have kept it."""
        seed = None if self.random_state is None else int(rng.integers(2**31))
        model = self._asked(setting, asked, seed)
        with paid(fits=1):
            model.fit(X, y)
        private = _private_of(model, _private_part(model))
        if not _kept(private, asked):
            raise RuntimeError(
                f"{type(private).__name__} must spend at most {asked}, to {RECORD}, got {promised(private)}; "
                "fits that are not Gaussian DP need accounting='approximate'"
            )
        return model

    def _asked(self, setting: dict[str, Any], asked: Guarantee, seed: int | None) -> Any:
        """A clone with a setting and a budget; μ is less by 10⁻⁹ where rounding may cost it, by way of ε and δ."""
        prefix, model = _private_part(self.estimator), clone(self.estimator)
        has = model.get_params()
        if isinstance(asked, ApproximateDP):
            told: dict[str, Any] = {"mu": None, "epsilon": asked.epsilon, "delta": asked.delta}
        elif prefix + "mu" in has:
            told = {"mu": asked.mu, "epsilon": None, "delta": None}
        else:
            told = {"epsilon": GaussianDP(asked.mu / _SPENT).epsilon(float(self.delta)), "delta": float(self.delta)}
        told = {prefix + name: value for name, value in (told | {"noise": self._noise}).items() if prefix + name in has}
        return model.set_params(**setting, **told, **{prefix + "random_state": seed})

    def _settings(self) -> Sequence[dict[str, Any]]:
        """The settings, each of which the estimator takes."""
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "get_params"):
            raise InvalidParameterError(f"estimator must be an estimator of this library, got {self.estimator!r}")
        known = self.estimator.get_params()
        _private_part(self.estimator)
        sized = isinstance(self.settings, (Sequence, ParameterGrid)) and not isinstance(self.settings, (str, bytes))
        if not sized or not len(self.settings):
            raise InvalidParameterError(
                f"settings must be a non-empty list of mappings, got {_validate.quoted(self.settings)}"
            )
        for setting in self.settings:
            if not isinstance(setting, Mapping) or not set(setting) <= set(known):
                raise InvalidParameterError(f"each of settings must map the estimator's parameters, got {setting!r}")
            if {name.rpartition("__")[2] for name in setting} & set(RESERVED):
                raise InvalidParameterError(f"settings must leave {', '.join(RESERVED)} to the search, got {setting!r}")
        return [dict(setting) for setting in self.settings]

    def _refuse_fits_that_are_not_gaussian(self, settings: Sequence[dict[str, Any]]) -> None:
        """Refuse an estimator of this package that would be found out only after a fit had spent something."""
        # here: they take long to import
        from costofprivacy.estimators.automatic import AUTO, PrivateLinearRegression
        from costofprivacy.estimators.objective import ObjectivePerturbationRegressor

        prefix = _private_part(self.estimator)
        private = _private_of(self.estimator, prefix)
        for setting in settings:
            part = setting.get(prefix.removesuffix("__"), private) if prefix else private
            if isinstance(part, ObjectivePerturbationRegressor):
                how = ""
            elif isinstance(part, PrivateLinearRegression):
                method = setting.get(prefix + "method", part.method)
                if method not in (AUTO, "objective"):
                    continue
                how = f" with method={method!r}" + ", which may choose objective perturbation" * (method == AUTO)
            else:
                continue
            raise InvalidParameterError(
                f"accounting='gaussian' needs fits that are Gaussian DP, got {type(part).__name__}{how}, for which "
                "(ε, δ) alone is proved. Use method='descent', 'boosted' or 'one pass' of PrivateLinearRegression, or "
                "DPGDRegressor; or accounting='approximate' with strategy='all', which adds ε and δ and leaves each "
                "fit much less"
            )

    def _doubts(self, X: Any, plan: SearchPlan) -> list[Any]:
        """What runs would warn of, each once, from public arguments and the types of columns alone."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for setting in self._settings():
                model = self._asked(setting, plan.fit, None)
                private = _private_of(model, _private_part(model))
                gate.refuse_inexact(private)
                if hasattr(private, "ALLOWED"):  # what is refused is refused before it is drawn
                    private._check_arguments()
                if isinstance(private, TabularRegressor):
                    warn_of_what_is_left_out(private)
                table = None if isinstance(X, (list, tuple)) else _chosen(X, np.arange(0))  # names, types and shape
                for step in model[:-1] if isinstance(model, Pipeline) else ():
                    reads = isinstance(step, SchemaTransformer) and table is not None
                    table = step.fit(table).transform(table) if reads else None
                if isinstance(private, gate.TableRegressor) and table is not None:
                    gate.rows(private, table, reset=True, least=0)
                    private._feature_scale()
                if learning := ", ".join(_learning(model)):
                    warnings.warn(LEARNS.format(learning), PrivacyWarning, stacklevel=1)
        return list({(each.category, str(each.message)): each.message for each in caught}.values())

    def _issue(self, private: Any, plan: SearchPlan, n: int) -> Receipt:
        """The receipt of the search: that of its model, but for what is promised, released and public."""
        told, learning = getattr(private, "receipt_", None), ", ".join(_learning(self.best_estimator_))
        self._fits = getattr(self, "_fits", 0) + 1
        proof = ", ".join(["costofprivacy.estimators.search_plans", *([told.guarantee.proof] if told else [])])
        stated = {name: getattr(self, name) for name in ("strategy", "folds", "test_share", "loss_bound")}
        return Receipt(
            f"{type(self).__name__} of {type(private).__name__}",
            Promise(plan.claimed, plan.gaussian, proof),
            ("best_estimator_", "best_setting_", "scores_"),
            {"settings": self._settings()} | stated | ({} if told is None else told.public),
            n,
            getattr(private, "n_features_in_", 0),
            self.random_state is not None,
            told.not_finite if told else "as the estimator treats them",
            algorithm=told.algorithm if told else "",
            fit=self._fits,
            found=told.found if told else (),
            sampler=told.sampler if told else "",
            search=". But ".join(filter(None, [plan.sentence, learning and LEARNS.format(learning)])),
        )


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Nothing that Python warns of, prints or logs inside is seen, and floating-point errors are no news."""
    nowhere, logged = io.StringIO(), logging.root.manager.disable
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        logging.disable(sys.maxsize)
        try:
            yield
        finally:
            logging.disable(logged)


def _private_part(estimator: Any) -> str:
    """The prefix of the parameters of the one private part of an estimator: none, or "step__" in a pipeline."""
    known = set(estimator.get_params())
    found = [name.removesuffix("epsilon") for name in known if name.rpartition("__")[2] == "epsilon"]
    found = [prefix for prefix in found if {prefix + "delta", prefix + "random_state"} <= known]
    if len(found) != 1:
        raise InvalidParameterError(
            f"estimator must have one part with epsilon, delta and random_state, got {len(found)} of them"
        )
    holder = estimator
    for name in found[0].split("__")[:-1]:
        if not isinstance(holder, Pipeline):
            raise InvalidParameterError(
                f"estimator must be private itself, or a pipeline with a private step, got a {type(holder).__name__} "
                "around one: how often that fits it, and to which records, is not known"
            )
        holder = holder.named_steps[name]
    return found[0]


def _learning(model: Any) -> list[str]:
    """The steps of a pipeline before its last that may learn from records."""
    steps = model[:-1].named_steps.values() if isinstance(model, Pipeline) else ()
    return [
        type(step).__name__
        for step in steps
        if hasattr(step, "fit") and not (hasattr(step, "__sklearn_tags__") and not get_tags(step).requires_fit)
    ]


def _private_of(model: Any, prefix: str) -> Any:
    """The private part of a model, given the prefix of its parameters."""
    return model.get_params()[prefix.removesuffix("__")] if prefix else model


def _kept(fitted: Any, asked: Guarantee) -> bool:
    """Whether what a fit promises is within what it was given."""
    if relation(fitted) != RECORD:
        return False
    found = promised(fitted)
    if isinstance(asked, GaussianDP):
        return isinstance(found, GaussianDP) and found.mu <= asked.mu * _SPENT
    if isinstance(found, GaussianDP):
        return float(found.delta(asked.epsilon)) <= asked.delta * _SPENT
    return found.epsilon <= asked.epsilon * _SPENT and found.delta <= asked.delta * _SPENT


def _table(X: Any) -> Any:
    """A table of which records can be chosen: what is none, but is read as an array, becomes one."""
    found = X
    if not (isinstance(X, (list, tuple, np.ndarray)) or cells.named(X)):
        read = isinstance(X, memoryview) or hasattr(type(X), "__array__")
        found = cells.at_once(lambda: np.asarray(X)) if read else None
    if found is None or not getattr(found, "ndim", 1):
        raise ValueError(f"X must be an array, a list or a data frame, got a {type(X).__name__}")
    return found


def _chosen(X: Any, rows: np.ndarray) -> Any:
    """Some records of a table, which stays what it is: a data frame, a table of Arrow, an array or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]
