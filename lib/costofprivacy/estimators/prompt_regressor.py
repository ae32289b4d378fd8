"""What every estimator of prompts does: its checks of data, how it forgets, answers and is scored."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from costofprivacy.estimators import gate, guarantee
from costofprivacy.estimators.budget import DELTAS, EPSILONS, approximate
from costofprivacy.privacy import ApproximateDP, PrivacyProfile, records

AUTO = "auto"
FAR = 1e100  # no scaled value is beyond, so that no square overflows


class PromptRegressor(RegressorMixin, BaseEstimator):
    """An estimator that learns one matrix from prompts; a subclass has ``fit`` and ``_answer``.

    Args:
        epsilon, delta, not_finite, random_state: parameters that every subclass has; `estimators.gate` says what the
            last two mean.

    Attributes:
        ``Gamma_``: what is released, shape (D, D). ``n_features_in_``: D. ``used_``: a copy of the arguments as the
            fit used them, which `predict` goes by. ``guarantee_``: what is promised.
            ``receipt_``: what `receipt` tells, made by the fit and frozen.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [Interval(Real, *EPSILONS, closed="both"), None],
        "delta": [Interval(Real, *DELTAS, closed="left"), None],
        "not_finite": [StrOptions(set(gate.RULES))],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }

    Gamma_: np.ndarray
    profile_: PrivacyProfile
    guarantee_: guarantee.Guarantee
    receipt_: guarantee.Receipt
    used_: Any
    n_features_in_: int
    n_prompts_: int
    epsilon: float | None
    delta: float | None
    not_finite: str
    random_state: int | None

    def predict(self, X: Any, y: Any) -> np.ndarray:
        """The response to each prompt's query, shape (N,).

        Args:
            X: features, shape (N, L + 1, D); any L.
            y: responses of the labelled tokens, shape (N, L), or with a last column, which no answer depends on.

        A prompt that is not finite is refused, or answered by 0, as ``not_finite`` says.
        """
        check_is_fitted(self, "Gamma_")
        used = self.used_
        X = gate.prompts(used, X)
        N, tokens, D = X.shape
        if self.n_features_in_ != D:
            name = type(self).__name__
            raise ValueError(f"X has {D} features, but {name} is expecting {self.n_features_in_} features.")
        labelled = gate.responses(used, y, N, (tokens - 1, tokens))[:, : tokens - 1]
        with np.errstate(all="ignore"):
            return self._answer(*used._allowed(X, np.column_stack([labelled, np.zeros(N)])))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predicted responses to the queries.

        Args:
            X: features, shape (N, L + 1, D). y: responses, shape (N, L + 1). sample_weight: shape (N,), or None.
        """
        predicted = self.predict(X, y)
        wanted = gate.responses(self.used_, y, len(predicted), (np.shape(X)[1],))[:, -1]
        return float(r2_score(wanted, predicted, sample_weight=sample_weight))

    def receipt(self) -> guarantee.Receipt:
        """What was released under which guarantee, in words (``str``) and as JSON (``.json()``)."""
        check_is_fitted(self, "Gamma_")
        return replace(self.receipt_)

    @property
    def _budget(self) -> ApproximateDP:
        """What the user lets a fit spend."""
        return approximate(self.epsilon, self.delta)

    def _validate_params(self) -> None:
        """As scikit-learn does; a budget must be stated besides."""
        super()._validate_params()
        approximate(self.epsilon, self.delta)

    def _begin(self, X: Any, y: Any) -> tuple[np.ndarray, ...]:
        """Check the arguments, forget an earlier fit and check the data: whatever fails leaves nothing released."""
        gate.begin(self, stacklevel=4)
        X = gate.prompts(self, X)
        y = gate.responses(self, y, len(X), (X.shape[1],))
        self.used_ = clone(self)
        return self._allowed(X, y)

    def _released(self, Gamma: np.ndarray, prompts: int, algorithm: str, proof: str) -> None:
        """The last step of a fit: what it releases, and the receipt."""
        self.Gamma_, self.n_prompts_, self.n_features_in_ = Gamma, prompts, len(Gamma)
        profile = self.profile_
        self.guarantee_ = guarantee.Guarantee(profile.claimed, profile.last_iterate, proof, guarantee.PROMPT)
        own = set(self._parameter_constraints) - set(PromptRegressor._parameter_constraints)
        self.receipt_ = guarantee.issue(self, tuple(sorted(own)), algorithm, prompts)

    def _allowed(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """Prompts as they are where all are finite, else with 0 for each that is not."""
        return records.voided(X, y) if self.not_finite == gate.VOID else (X, y)

    def __sklearn_tags__(self) -> Any:
        """With ``not_finite="void"`` data may hold NaN, and cells that are no numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = tags.input_tags.string = self.not_finite == gate.VOID
        return tags

    def _answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The answers to checked prompts, a response of 0 in the place of the query's: shape (N,)."""
        raise NotImplementedError


def scaled(values: np.ndarray, scale: float) -> np.ndarray:
    """Values over a public scale, cut at ±`FAR`: a map of single values, which costs no privacy."""
    with np.errstate(all="ignore"):
        return np.clip(values / float(scale), -FAR, FAR)
