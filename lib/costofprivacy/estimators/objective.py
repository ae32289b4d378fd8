"""Objective perturbation with a pilot as an estimator: the method with narrow intervals, for a table in memory."""

import numpy as np

from costofprivacy.estimators import expected, forecasting, gate, piloted_plan
from costofprivacy.estimators.guarantee import Guarantee
from costofprivacy.estimators.tabular import Fit, Stated, TabularRegressor
from costofprivacy.rivals import piloted_perturbation, sandwich

PROOF = "costofprivacy.rivals.piloted_perturbation"


class ObjectivePerturbationRegressor(TabularRegressor):
    r"""Differentially private linear regression by objective perturbation, with a short noisy descent as its pilot.

    The pilot is a few steps of clipped gradient descent on all records; the answer is the minimum of the clipped loss
    plus a random linear term, pulled towards the pilot's end (`rivals.piloted_perturbation`). Features with very
    different variances, or correlated ones, cost it less accuracy than they cost a descent.

    Guarantee: (ε, δ)-differential privacy of all that is released (``coef_`` and ``intercept_``; with
    ``interval_share`` also ``covariance_`` and ``centre_``) for replacing one record by any other, with ``unit`` all
    records of one unit, whether or not anything stated below about the data is true. A record that is not finite is
    refused, which is not covered, or is void, which is: see ``not_finite``. Nothing else on the fitted estimator
    depends on the data.

    Assumes, for accuracy alone: features of mean 0 and variance 1 and a response of variance 1 *on the stated scale*.
    Nothing is ever standardised by the data.

    Args:
        epsilon, delta: ε in [10⁻⁸, 10⁶] and δ in [10⁻³⁰⁰, 1), far below 1/n. There is no default budget.
        feature_bounds, response_bounds: public (low, high), to which values are clipped; of features also one for each,
            or a dictionary of pairs by name.
        feature_center, feature_scale, response_center, response_scale: public means and standard deviations, of
            features one, one for each, or by name. What is left out follows from the bounds.
        expected_r2: public, in (0, 1): the share of the response's variance that the features are expected to explain.
        plan_for: public: "real", "textbook" or "heavy-tailed", the kind of data (`estimators.expected`).
        aim: "new records" or "least squares" on the same records: what the plan is for.
        spectrum: public: d eigenvalues of the scaled features' second moment, their sum, or None.
        fit_intercept: whether there is an intercept.
        most_per_unit: k, how many records of a unit are used at most, with ``unit`` in ``fit`` (`estimators.units`).
        interval_share: in [0, 0.9]: the share v of the noise's budget that buys intervals (`piloted_perturbation`).
        not_finite: what happens to a record with NaN or an infinity (`estimators.gate`): "refuse" or "void".
        noise: "fast". "secure" (`privacy.secure`) is refused: rounding the noise changes the objective, for which the
            guarantee is not proved. `ClippedDescentRegressor` and `BoostedAdaSSPRegressor` have it.
        random_state: None for a release; a number repeats the run and is a demonstration, of which ``fit`` warns.

    Attributes:
        ``coef_``, ``intercept_``: in the units of the data; shape (d,), and a number.
        ``guarantee_``: what is promised, a `guarantee.Guarantee`.
        ``plan_``: clip norms, penalty and noise, a `rivals.piloted_perturbation.Plan`.
        ``expected_r2_``, ``expected_r2_range_``: forecast of R² on new records, and a range for 90 % of fits.
        ``covariance_``, ``centre_``: of coefficients and intercept, shape (d + 1, d + 1) and (d + 1,), with
            ``interval_share``. The centre is ``coef_`` without the pull of the penalty.
        ``n_records_``: how many were read, void ones included; in one pass over a stream it may be fewer than were
            announced; with ``unit``, the places of all units, filled or not. ``n_features_in_``, ``feature_names_in_``:
            as in scikit-learn.
        ``receipt_``: what `receipt` tells. ``used_``: the arguments as the fit used them, which `predict` goes by.

    Raises:
        ValueError: in ``fit``, for data or arguments outside their range, as scikit-learn does. The message never
            quotes a value of the data.

    Warns:
        PrivacyWarning: in ``fit``, if ``random_state`` is a number, ``delta`` is 0.1/n or more or ε above 20.
            ScaleWarning: if no scale is stated. FewRecordsWarning: if n is below 50.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 3))
    >>> y = X @ [0.5, -0.5, 0.5] + 0.3 * rng.standard_normal(2000)
    >>> scales = {"feature_scale": 1.0, "response_scale": 1.0}
    >>> model = ObjectivePerturbationRegressor(epsilon=1.0, delta=1e-6, expected_r2=0.9, **scales).fit(X, y)
    >>> print(model.coef_.round(1))
    [ 0.5 -0.5  0.5]
    """

    ALGORITHM, INEXACT = "objective perturbation with a pilot", gate.OBJECTIVE_ROUNDED
    INTERVALS = True

    def _promised(self, stated: Stated) -> Guarantee:
        return stated.promise(None, PROOF)

    def _release(self, x: np.ndarray, y: np.ndarray, stated: Stated, rng: np.random.Generator) -> Fit:
        budget = stated.of_record(gaussian=False)
        asked = (stated.known, stated.n, budget, stated.spectrum, float(self.interval_share))
        chosen = piloted_plan.choose(*asked)
        self.plan_ = plan = chosen.plan
        guarantee = stated.promise(None, PROOF)
        added = plan.added
        x, y = piloted_perturbation.weighted(x, y, added.feature_bound)  # for both releases, which leave them so
        found = piloted_perturbation.release(x, y, plan, rng=rng)
        if plan.after is None:
            return Fit(found.theta, guarantee, chosen.expected)
        bounds = added.feature_bound, added.clip_norm
        shorter = expected.feature_bound(x.shape[1], forecasting.MOMENTS)
        moments = sandwich.release(x, y, found.theta, *bounds, plan.after, shorter, most=stated.most, rng=rng)
        centre = found.theta + moments.solve(added.penalty * (found.theta - found.centre))
        return Fit(found.theta, guarantee, chosen.expected, moments.covariance(added.noise_std), centre)
