"""What the front page says follows the saved tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from chapters.overview import index
from chapters.overview.saved import Saved

BOOK = Path(__file__).parents[3] / "book"


@dataclass(frozen=True)
class Changed(Saved):
    """The committed tables, with other values in some columns."""

    changed: Mapping[str, Any]

    def table(self, chapter: str, name: str) -> pd.DataFrame:
        return super().table(chapter, name).assign(**self.changed)


def halved(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value / 2 for name, value in values.items()}


@pytest.mark.parametrize(
    ("error", "words"),
    [(0.5, "It beats always"), (1.0, "It does no better than always"), (2.0, "It does worse than always")],
)
def test_whether_the_head_learns_is_read_off_its_test_error(error: float, words: str) -> None:
    text = index.learns(Changed(BOOK, {"test_error": error, "response_variance": 1.0, "best_linear_head": 0.06}))
    assert text.startswith(words)
    assert f"{100 * error:.0f}" in text
    doubled = {"test_error": 2 * error, "response_variance": 2.0, "best_linear_head": 0.12, "standard_error": 0.0}
    assert index.learns(Changed(BOOK, doubled)) == index.learns(Changed(BOOK, halved(doubled)))
    assert "6.0 %" in text


def test_equations_that_are_far_off_are_not_said_to_predict() -> None:
    far = Changed(BOOK, {"ode_risk": 0.1, "risk_mean": 0.2, "standard_error": 0.005})
    assert index.predicts(far).startswith("Its equations miss the algorithm")
