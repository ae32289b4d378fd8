"""Objective perturbation with a pilot as an estimator: the method with narrow intervals, for a table in memory."""

import numpy as np

from costofprivacy.estimators import expected, forecasting, piloted_plan
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
    records of one unit, whether or not anything stated about the data is true. A record that is not finite is refused,
    which is not covered, or is void, which is: see ``not_finite``. Nothing else on the fitted estimator depends on the
    data.

    Assumes, for accuracy alone: features of mean 0 and variance 1 and a response of variance 1 *on the stated scale*.
    Nothing is ever standardised by the data.

    Args, Attributes, Raises, Warns: as `automatic.PrivateLinearRegression`, without ``method``; ``plan_`` is a
    `rivals.piloted_perturbation.Plan`. ``interval_share`` is the share of the noise's budget, v there, that buys what
    `intervals` need. ``noise="secure"`` is refused.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 3))
    >>> y = X @ [0.5, -0.5, 0.5] + 0.3 * rng.standard_normal(2000)
    >>> scales = {"feature_scale": 1.0, "response_scale": 1.0}
    >>> model = ObjectivePerturbationRegressor(epsilon=1.0, delta=1e-6, expected_r2=0.9, **scales).fit(X, y)
    >>> print(model.coef_.round(1))
    [ 0.5 -0.5  0.5]
    """

    ALGORITHM = "objective perturbation with a pilot"
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
        moments = sandwich.release(x, y, found.theta, *bounds, plan.after, shorter, rng=rng)
        centre = found.theta + moments.solve(added.penalty * (found.theta - found.centre))
        return Fit(found.theta, guarantee, chosen.expected, moments.covariance(added.noise_std), centre)

    def _noise_of_intervals(self, stated: Stated) -> float:
        budget = stated.of_record(gaussian=False)
        return forecasting.promises(stated.known, stated.n, budget, stated.spectrum, float(self.interval_share))[
            0
        ].noise
