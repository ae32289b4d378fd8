"""What every estimator of prompts does: its checks of data, how it forgets, answers and is scored."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array, check_is_fitted

AUTO = "auto"
FAR = 1e100  # no scaled value is beyond, so that no square overflows


class PromptRegressor(RegressorMixin, BaseEstimator):
    """An estimator that learns one matrix from prompts; a subclass has ``fit`` and ``_answer``.

    Attributes:
        ``Gamma_``: what is released, shape (D, D). ``n_features_in_``: D.
    """

    Gamma_: np.ndarray
    n_features_in_: int

    def predict(self, X: Any, y: Any) -> np.ndarray:
        """The response to each prompt's query, shape (N,).

        Args:
            X: features, shape (N, L + 1, D); any L.
            y: responses of the labelled tokens, shape (N, L), or with a last column, which is not looked at.
        """
        check_is_fitted(self, "Gamma_")
        X = features(X)
        N, tokens, D = X.shape
        if self.n_features_in_ != D:
            name = type(self).__name__
            raise ValueError(f"X has {D} features, but {name} is expecting {self.n_features_in_} features.")
        return self._answer(X, responses(y, N, (tokens - 1, tokens), unseen=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predicted responses to the queries.

        Args:
            X: features, shape (N, L + 1, D). y: responses, shape (N, L + 1). sample_weight: shape (N,), or None.
        """
        predicted = self.predict(X, y)
        wanted = responses(y, len(predicted), (np.shape(X)[1],))[:, -1]
        return float(r2_score(wanted, predicted, sample_weight=sample_weight))

    def _begin(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Check the arguments, forget an earlier fit and check the data: whatever fails leaves nothing released."""
        self._validate_params()
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        X = features(X)
        return X, responses(y, len(X), (X.shape[1],))

    def _answer(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The answers to checked prompts, a response of 0 in the place of the query's: shape (N,)."""
        raise NotImplementedError


def features(X: Any) -> np.ndarray:
    """Prompts as numbers, shape (N, L + 1, D), finite, with at least one labelled token."""
    array = check_array(X, dtype=np.float64, allow_nd=True, ensure_min_features=0, input_name="X")
    if array.ndim != 3 or array.shape[1] < 2 or array.shape[2] < 1:
        raise ValueError(f"X must have shape (N, L + 1, D) with L and D at least 1, got {array.shape}.")
    return array


def responses(y: Any, N: int, columns: tuple[int, ...], unseen: bool = False) -> np.ndarray:
    """Responses as numbers, finite, a row for each prompt; with ``unseen`` a last column of 0 for the query."""
    array = check_array(y, dtype=np.float64, ensure_min_features=0, input_name="y")
    if len(array) != N or array.shape[1] not in columns:
        widths = " or ".join(map(str, columns))
        raise ValueError(f"y must have shape ({N}, {widths}) to go with X, got {array.shape}.")
    if not unseen:
        return array
    labelled = array[:, : min(columns)]
    return np.column_stack([labelled, np.zeros(N)])


def scaled(values: np.ndarray, scale: float) -> np.ndarray:
    """Values over a public scale, cut at ±`FAR`: a map of single values, which costs no privacy."""
    with np.errstate(over="ignore"):
        return np.clip(values / float(scale), -FAR, FAR)
