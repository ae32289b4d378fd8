"""Public bounds of a record, and records clipped to them: what every method but TukeyEM asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate


@dataclass(frozen=True)
class Bounds:
    """What is public of one record.

    Args:
        features: B in (0, ∞), bound on ‖x‖. response: Y in (0, ∞), bound on |y|.

    Raises:
        ValueError: if a bound is not positive and finite.
    """

    features: float
    response: float

    def __post_init__(self) -> None:
        _validate.finite_positive("features", self.features)
        _validate.finite_positive("response", self.response)

    def clip(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Features shortened to norm B and responses clipped to [−Y, Y]; each record by itself, so it costs nothing.

        Args:
            x: shape (n, d). y: shape (n,).

        Returns:
            The same shapes.

        >>> x, y = Bounds(5.0, 1.0).clip(np.array([[6.0, 8.0], [0.0, 0.0]]), np.array([-2.0, 0.5]))
        >>> print(x.tolist(), y.tolist())
        [[3.0, 4.0], [0.0, 0.0]] [-1.0, 0.5]
        """
        norm = np.linalg.norm(x, axis=1, keepdims=True)
        return x * (self.features / np.maximum(norm, self.features)), np.clip(y, -self.response, self.response)
