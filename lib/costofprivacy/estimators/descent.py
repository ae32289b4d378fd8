"""Clipped gradient descent on all records, and boosted AdaSSP, as estimators; both can read a stream several times."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from costofprivacy import _validate
from costofprivacy.estimators import descent_plan, gate
from costofprivacy.estimators.gate import generator
from costofprivacy.estimators.guarantee import Guarantee
from costofprivacy.estimators.tabular import Fit, Stated, TabularRegressor, warn_of_what_is_left_out
from costofprivacy.privacy import warn_if_delta_is_large
from costofprivacy.rivals import boosting, guarded_descent, streams

Batches = Callable[[], Iterable[tuple[Any, Any]]]


class Rereadable(TabularRegressor):
    """A method that needs nothing but sums over the records, and so can read them again for each sum."""

    def fit_stream(self, read: Batches, n: int) -> "Rereadable":
        """Fit to records that need not fit into memory, which are read several times.

        Args:
            read: called for each pass; returns batches, pairs of features, shape (m, d), and responses, shape (m,).
                Each pass has the same records, in any order.
            n: their number, which is public.

        Returns:
            The estimator, fitted.

        Raises:
            ValueError: if a pass has another number of records, or a batch is not as scikit-learn wants data. Nothing
                is released then.
        """
        gate.begin(self)
        try:
            announced = _validate.whole("n", n)
        except ValueError as error:
            raise InvalidParameterError(str(error)) from error
        if not callable(read):
            raise InvalidParameterError(
                f"read must be a function that returns batches, to be read several times, got {type(read).__name__}"
            )
        warn_of_what_is_left_out(self)
        warn_if_delta_is_large(float(self.delta), announced)
        first = next((gate.table(self, X, y) for X, y in gate.pairs(read()) if gate.held(y)), None)
        if first is None:
            raise ValueError("Found array with 0 sample(s) in the stream while a minimum of 1 is required.")
        self.n_features_in_ = first[0].shape[1]
        stated, features, response = self._begun(announced)
        with np.errstate(all="ignore"):
            found = self._streamed(
                lambda: self._scaled(read(), features, response), stated, generator(self.random_state)
            )
            self._keep(found, stated, features, response)
        return self

    @abstractmethod
    def _streamed(self, read: streams.Read, stated: Stated, rng: np.random.Generator) -> Fit:
        """Coefficients from records on the stated scale that can be read again."""


class ClippedDescentRegressor(Rereadable):
    """Differentially private linear regression by noisy clipped gradient descent on all records.

    One or two stages: the first comes near with long gradients, the second clips at what is left of the residuals, and
    the answer is the mean of its iterates (`rivals.guarded_descent`).

    Guarantee: (ε, δ)-differential privacy for replacing one record by any other, and the Gaussian DP that it comes
    from; it covers all iterates.

    Assumes, for accuracy alone: features whose variances on the stated scale are alike and which are not strongly
    correlated. Where that is not so, `objective.ObjectivePerturbationRegressor` is more accurate.

    Args, Attributes, Raises, Warns: as `objective.ObjectivePerturbationRegressor`, without intervals. ``plan_`` is a
    `rivals.guarded_descent.Stages`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 3))
    >>> y = X @ [0.5, -0.5, 0.5] + 0.3 * rng.standard_normal(2000)
    >>> scales = {"feature_scale": 1.0, "response_scale": 1.0}
    >>> read = lambda: ((X[k : k + 300], y[k : k + 300]) for k in range(0, 2000, 300))
    >>> model = ClippedDescentRegressor(epsilon=2.0, delta=1e-6, expected_r2=0.9, **scales).fit_stream(read, n=2000)
    >>> print(model.coef_.round(1))
    [ 0.5 -0.5  0.5]
    """

    ALGORITHM = "clipped gradient descent on all records"

    def _release(self, x: np.ndarray, y: np.ndarray, stated: Stated, rng: np.random.Generator) -> Fit:
        return self._fitted(
            stated, lambda plan: guarded_descent.release(x, y, *plan.plans, averaged=plan.averaged, rng=rng)
        )

    def _streamed(self, read: streams.Read, stated: Stated, rng: np.random.Generator) -> Fit:
        shape = stated.n, stated.known.d
        return self._fitted(
            stated, lambda plan: streams.descend(read, *shape, *plan.plans, averaged=plan.averaged, rng=rng)
        )

    def _fitted(self, stated: Stated, descend: Callable[[guarded_descent.Stages], np.ndarray]) -> Fit:
        chosen = descent_plan.choose(stated.known, stated.n, stated.budget, stated.spectrum)
        self.plan_ = chosen.plan
        guarantee = Guarantee(stated.budget, chosen.gaussian, "costofprivacy.rivals.guarded_descent")
        return Fit(descend(chosen.plan), guarantee, chosen.expected)


class BoostedAdaSSPRegressor(Rereadable):
    """Differentially private linear regression by boosted AdaSSP: one noisy second moment, then rounds of gradients.

    Guarantee: (ε, δ)-differential privacy for replacing one record by any other, and the Gaussian DP that it comes
    from; it covers the noisy matrix and all rounds (`rivals.boosting`).

    Assumes, for accuracy alone: many records for each pair of features, since the noise of the matrix grows with d.

    Args, Attributes, Raises, Warns: as `objective.ObjectivePerturbationRegressor`, without intervals. ``plan_`` is a
    `rivals.boosting.Plan`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 3))
    >>> y = X @ [0.5, -0.5, 0.5] + 0.3 * rng.standard_normal(2000)
    >>> scales = {"feature_scale": 1.0, "response_scale": 1.0}
    >>> model = BoostedAdaSSPRegressor(epsilon=4.0, delta=1e-6, expected_r2=0.9, **scales).fit(X, y)
    >>> print(model.coef_.round(1))
    [ 0.5 -0.5  0.5]
    """

    ALGORITHM = "boosted AdaSSP"

    def _release(self, x: np.ndarray, y: np.ndarray, stated: Stated, rng: np.random.Generator) -> Fit:
        return self._fitted(stated, lambda found: boosting.releases(x, y, found.bounds, [found.plan], rng=rng)[0])

    def _streamed(self, read: streams.Read, stated: Stated, rng: np.random.Generator) -> Fit:
        return self._fitted(stated, lambda found: streams.boost(read, stated.n, found.bounds, found.plan, rng=rng))

    def _fitted(self, stated: Stated, boost: Callable[[descent_plan.ChosenBoosting], np.ndarray]) -> Fit:
        chosen = descent_plan.choose_boosting(stated.known, stated.n, stated.budget, stated.spectrum)
        self.plan_ = chosen.plan
        guarantee = Guarantee(stated.budget, chosen.plan.budget, "costofprivacy.rivals.boosting")
        return Fit(boost(chosen), guarantee, chosen.expected)
