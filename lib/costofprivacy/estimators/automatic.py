"""Private linear regression by the method that is expected to have the least error, chosen without looking at data."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.onepass import Batch
from costofprivacy.estimators import account, forecasting, gate, public, units
from costofprivacy.estimators.descent import BoostedAdaSSPRegressor, ClippedDescentRegressor
from costofprivacy.estimators.expected import NEW, REAL
from costofprivacy.estimators.forecasting import BOOSTED, DESCENT, OBJECTIVE, ONE_PASS
from costofprivacy.estimators.gate import approximate, generator
from costofprivacy.estimators.guarantee import Guarantee
from costofprivacy.estimators.objective import ObjectivePerturbationRegressor
from costofprivacy.estimators.tabular import COMMON, Fit, Stated, TabularRegressor, warn_of_what_is_left_out

# ---- One pass ----

PROOF = "costofprivacy.dpgd.onepass"
ROWS = 4096  # records that are handed over at a time


class OnePass(TabularRegressor):
    """One pass of DP-GD. Guarantee, Args, Attributes: as `objective.ObjectivePerturbationRegressor`, without intervals.

    Only the last iterate is covered. `linear.DPGDRegressor` has more to choose: clip, schedule, learning rate.
    """

    ALGORITHM = "one pass of DP-GD"

    def _release(self, x: np.ndarray, y: np.ndarray, stated: Stated, rng: np.random.Generator) -> Fit:
        order = rng.permutation(len(x))
        parts = (order[start : start + ROWS] for start in range(0, len(order), ROWS))
        return self._passed(((x[rows], y[rows]) for rows in parts), stated, rng)

    def _passed(self, batches: Iterator[Batch], stated: Stated, rng: np.random.Generator) -> Fit:
        """One pass over batches on the stated scale."""
        known, n, budget = stated.known, stated.n, stated.of_record(gaussian=True)
        mu = budget.to_gaussian()
        best = public.tuned(known, n, mu.mu, None, public.HARMONIC, None)
        self.plan_ = Configuration(best.clip, best.schedule, mu.mu)
        released = onepass.release(batches, self.plan_, n, known.d, rng=rng)
        promised = forecasting.PROMISES[forecasting.ONE_PASS](known, n, budget, stated.spectrum)
        return Fit(released.theta, stated.promise(mu, PROOF), promised, records=released.records)


AUTO = "auto"
METHODS = {"objective": OBJECTIVE, "descent": DESCENT, "boosted": BOOSTED, "one pass": ONE_PASS}
CLASSES: dict[str, type[TabularRegressor]] = {
    "objective": ObjectivePerturbationRegressor,
    "descent": ClippedDescentRegressor,
    "boosted": BoostedAdaSSPRegressor,
    "one pass": OnePass,
}
WITH_INTERVALS = ("objective", "descent")  # the first that can read the records has the narrower ones
IN_MEMORY = tuple(name for name, told in METHODS.items() if told in forecasting.CHOICE)
STREAMED = ("descent", "boosted", "one pass")  # can read records that do not fit into memory


class PrivateLinearRegression(TabularRegressor):
    r"""Differentially private linear regression; the method is chosen from public numbers.

    The methods are objective perturbation with a pilot, clipped descent on all records, boosted AdaSSP, and one pass of
    DP-GD. "auto" takes the one with the least expected error on new records, or with ``aim="least squares"`` the one
    nearest to least squares on the same records (`estimators.forecasting`), given n, d, the budget and what is stated
    about the data. No data are looked at, so the choice costs no privacy.

    Guarantee: (ε, δ)-differential privacy of all that is released (``coef_`` and ``intercept_``; with
    ``interval_share`` also ``covariance_`` and ``centre_``) for replacing one record by any other, with ``unit`` all
    records of one unit, whether or not anything stated about the data is true. ``receipt()`` says so in words and as
    JSON.

    Args:
        method: "auto", "objective", "descent", "boosted" or "one pass".
        interval_share: in [0, 0.9]: the share of the budget that buys `intervals`; 0: there are none. They are known
            for objective perturbation, which "auto" takes for a table where the share is positive, and for a descent,
            which it takes for a stream. ``fit`` refuses a share that would buy nothing before it spends.
        epsilon: ε in [10⁻⁸, 10⁶]. There is no default budget: ``fit`` refuses where ε or δ is left out.
        delta: δ in [10⁻³⁰⁰, 1), far below 1/n: from 0.1/n on ``fit`` warns.
        feature_bounds: public (low, high), numbers or one for each feature, or a dictionary of pairs by feature name:
            features are clipped to them.
        feature_center, feature_scale: public: the means and standard deviations that are expected, a number, one for
            each feature, or a dictionary by name. What is left out follows from the bounds, as if features were uniform
            between them. Where bounds are wide, that is far from true and costs accuracy, so state what you know. A
            dictionary may leave features out; a centre outside its bounds is refused.
        response_bounds, response_center, response_scale: the same for the response.
        expected_r2: public, in (0, 1): the share of the response's variance that the features are expected to explain.
        plan_for: public: "real" for tables of measurements, whose columns are correlated and whose relation is only
            roughly linear; "textbook" for data that were made linear with nearly independent features; "heavy-tailed"
            for the same with noise that has long tails. Plans for real data clip less and add more noise
            (`estimators.expected`).
        aim: public: what a plan is for: "new records", on which the error is to be small, or "least squares" on these
            records, to which the fit is to be near.
        spectrum: public: the eigenvalues of the scaled features' second moment, d of them, or their sum. Left out: the
            plan is one that does well for several spectra (`estimators.expected`).
        fit_intercept: whether there is an intercept.
        most_per_unit: k, how many records of a unit are used at most. It goes with ``unit``, an argument of ``fit``:
            then the guarantee is for replacing all records of one unit, such as a patient, and the noise is that for k
            records (`estimators.units`). A stream must hold at most k records of a unit. None protects records.
        not_finite: what happens to a record with NaN or an infinity (`estimators.gate`): "refuse" or "void".
        noise: "fast", drawn in double precision by NumPy, or "secure", drawn exactly by OpenDP, so that the
            guarantee is proved for what the computer does (`privacy.secure`). It needs ``pip install opendp`` and
            chooses between "descent" and "boosted": the proofs of the other two do not hold for rounded noise.
        random_state: None seeds from the operating system. **With a number the run can be repeated, and is a
            demonstration, no release**, so ``fit`` warns.

    Attributes:
        ``method_``: the method that was used. ``plan_``: its public numbers.
        ``coef_``, ``intercept_``: in the units of the data; shape (d,), and a number.
        ``guarantee_``: what is promised, a `guarantee.Guarantee`.
        ``expected_r2_``, ``expected_r2_range_``: forecast of R² on new records, and a range for 90 % of fits.
        ``covariance_``, ``centre_``: of coefficients and intercept, shape (d + 1, d + 1) and (d + 1,), with
            ``interval_share``. The centre is ``coef_`` without the pull of the penalty.
        ``n_records_``: how many were read, void ones included; in one pass over a stream it may be fewer than were
            announced; with ``unit``, the places of all units, filled or not. ``n_features_in_``, ``feature_names_in_``:
            as in scikit-learn.
        ``receipt_``: what `receipt` tells. ``used_``: a copy of the arguments as the fit used them, which `predict`
            goes by.

    Raises:
        ValueError: in ``fit``, for data or arguments outside their range, as scikit-learn does. The message never
            quotes a value of the data.

    Warns:
        PrivacyWarning: in ``fit``, if ``random_state`` is a number, ``delta`` is 0.1/n or more or ε above 20.
            ScaleWarning: if no scale is stated. FewRecordsWarning: if n is below 50.

    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"age": rng.uniform(20, 80, 5000), "bmi": rng.normal(27, 4, 5000)})
    >>> pressure = 90 + 0.5 * people["age"] + 0.8 * people["bmi"] + rng.normal(0, 8, 5000)
    >>> bounds = {"age": (18, 90), "bmi": (15, 45)}
    >>> model = PrivateLinearRegression(epsilon=1.0, delta=1e-6, feature_bounds=bounds, response_bounds=(80, 200))
    >>> model = model.fit(people, pressure)
    >>> print(model.method_, bool(abs(model.coef_[0] - 0.5) < 0.1))
    descent True
    """

    ALLOWED: ClassVar[dict[str, list[Any]]] = {
        **TabularRegressor.ALLOWED,
        "method": [_validate.among((AUTO, *METHODS))],
    }
    INEXACT, INTERVALS = "", True  # with the methods that have them

    def __init__(
        self,
        method: str = AUTO,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        feature_bounds: Any = None,
        response_bounds: Any = None,
        feature_center: Any = None,
        feature_scale: Any = None,
        response_center: float | None = None,
        response_scale: float | None = None,
        expected_r2: float = 0.5,
        plan_for: str = REAL,
        aim: str = NEW,
        spectrum: Any = None,
        fit_intercept: bool = True,
        most_per_unit: int | None = None,
        interval_share: float = 0.0,
        not_finite: str = "refuse",
        noise: str = gate.FAST,
        random_state: int | None = None,
    ) -> None:
        gate.keep_arguments(self, locals())

    def fit_stream(self, batches: Any, n: int) -> "PrivateLinearRegression":
        """Fit to records that need not fit into memory.

        Args:
            batches: a function that returns batches and is called for each pass, each time with the same records; or
                batches that can be read once, for one pass of DP-GD. A batch is a pair of features, shape (m, d), and
                responses, shape (m,). With ``interval_share`` it must be such a function.
            n: number of records, which is public. One pass that ends early keeps its guarantee, with the noise for n;
                ``n_records_`` and the receipt then say how many were read. That is public too, because where a stream
                ends must not depend on what is in it.

        Returns:
            The estimator, fitted.

        Raises:
            ValueError: if there are more records than announced, or fewer in one that is read several times, if the
                method cannot read a stream, or a batch is not as scikit-learn wants data. Nothing is released then.
        """
        gate.begin(self)
        announced = _validate.whole("n", n)
        warn_of_what_is_left_out(self)
        gate.warn_of_use(approximate(self.epsilon, self.delta), announced)
        allowed = STREAMED if callable(batches) else ("one pass",)
        if self.method not in (AUTO, *allowed) or (self.interval_share and not callable(batches)):
            raise InvalidParameterError(
                f"a stream of this kind can be read by {', '.join(allowed)}, and intervals need a function that "
                f"returns the batches; got method={self.method!r}, interval_share={self.interval_share!r}"
            )
        source = gate.pairs(batches(), "what batches returns") if callable(batches) else gate.pairs(batches)
        first = self._first_of(source)
        stated, features, response = self._begun(announced, units.streamed(self.most_per_unit))
        self.method_ = self._chosen(stated, allowed)
        again = batches() if callable(batches) else itertools.chain([first], source)
        other = self._other()
        if self.interval_share:
            other._doubt_intervals(stated)
        account.charge(type(self).__name__, lambda: other._promised(stated))
        rng = generator(self.random_state, self.noise)
        with np.errstate(all="ignore"):
            if isinstance(other, OnePass):
                found = other._passed(self._scaled(again, features, response), stated, rng)
            else:
                found = other._streamed(lambda: self._scaled(batches(), features, response), stated, rng)
            self.plan_ = other.plan_
            self._keep(found, stated, features, response)
        return self

    def _promised(self, stated: Stated) -> Guarantee:
        self.method_ = self._chosen(stated, IN_MEMORY)
        found: Guarantee = self._other()._promised(stated)
        return found

    def _noise_of_intervals(self, stated: Stated) -> float:
        self.method_ = self._chosen(stated, IN_MEMORY)
        return float(self._other()._noise_of_intervals(stated))

    def _release(self, x: np.ndarray, y: np.ndarray, stated: Stated, rng: np.random.Generator) -> Fit:
        self.method_ = self._chosen(stated, IN_MEMORY)
        other = self._other()
        found = other._release(x, y, stated, rng)
        self.plan_ = other.plan_
        return found

    def _chosen(self, stated: Stated, allowed: Iterable[str]) -> str:
        """The method that was asked for, or the best one at the aim, as `forecasting.best_method` says."""
        if self.interval_share and self.method not in (AUTO, *WITH_INTERVALS):
            raise InvalidParameterError(
                f"interval_share must be 0 with method={self.method!r}: intervals are known for "
                f"{' and '.join(WITH_INTERVALS)}; got {self.interval_share!r}"
            )
        if self.noise == gate.SECURE:
            allowed = [name for name in allowed if not CLASSES[name].INEXACT and self.method in (AUTO, name)]
            if not allowed:
                refused = "one pass" if self.method == AUTO else self.method
                raise InvalidParameterError(gate.NOT_EXACT.format(f"method={refused!r}", CLASSES[refused].INEXACT))
        if self.method != AUTO:
            return str(self.method)
        if self.interval_share:
            return next(name for name in WITH_INTERVALS if name in allowed)
        asked = forecasting.Asked(stated.known, stated.n, stated.budget, stated.spectrum)
        return min(
            allowed, key=lambda name: forecasting.promised(METHODS[name], asked, stated.most).missed(stated.known.aim)
        )

    def _other(self) -> Any:
        """An estimator of the chosen method with the same arguments."""
        return CLASSES[self.method_](**{name: getattr(self, name) for name in COMMON})

    def _algorithm(self) -> str:
        chosen = ", chosen from public numbers" if self.method == AUTO else ""
        return f"{CLASSES[self.method_].ALGORITHM}{chosen}"

    def _why_no_intervals(self) -> str:
        if self.method_ in WITH_INTERVALS:
            return super()._why_no_intervals()
        return f"no valid ones are known for the method {self.method_!r}; set interval_share with method='auto'"
