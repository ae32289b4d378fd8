"""What the front page says follows the saved tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from costofprivacy.overview import index
from costofprivacy.overview.saved import Saved

BOOK = Path(__file__).parents[2] / "book"


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


def test_how_well_the_equations_predict_is_read_off_their_risk() -> None:
    text = index.predicts(Changed(BOOK, {"ode_risk": 0.1, "risk_mean": 0.11, "standard_error": 0.005}))
    assert "10.0 % above the predicted one, within 2 standard errors" in text
    assert "5.0 % below" in index.predicts(Changed(BOOK, {"ode_risk": 0.1, "risk_mean": 0.095}))


def test_equations_that_are_far_off_are_not_said_to_predict() -> None:
    far = Changed(BOOK, {"ode_risk": 0.1, "risk_mean": 0.2, "standard_error": 0.005})
    assert index.predicts(far).startswith("Its equations miss the algorithm")


def test_what_the_last_step_does_is_read_off_the_risk() -> None:
    assert "it rises from" in index.last_step(Saved(BOOK))
    assert "it stays near 0.1" in index.last_step(Changed(BOOK, {"risk_mean": 0.1}))


def test_a_line_that_lies_on_another_is_told_and_one_that_can_be_seen_is_not() -> None:
    rows = pd.DataFrame({"setting": "corrected", "test_error": [1.01, 0.98], "response_variance": 1.0})
    assert "predicts at most 2.0 %" in index.hidden(rows)
    assert index.hidden(rows.assign(test_error=[0.98, 0.8])) == ""
    assert index.hidden(rows.assign(test_error=[1.0, 1.2])) == ""


def test_each_answer_is_short_and_holds_two_numbers_at_most() -> None:
    values = index.values(Saved(BOOK))
    answers = [str(values[key]) for key in values if key.split("_")[-1] in ("learns", "private", "rate", "predicts")]
    assert len(answers) == 6
    assert [text for text in answers if len(text.split()) > 35] == []


def test_a_bar_is_told_to_the_ear_and_leaves_out_what_is_not_there() -> None:
    row = pd.Series(
        {"holds": 3, "holds, corrected": 0, "holds, narrower": 0, "fails": 1, "untestable": 0, "pending": 2}
    )
    bar = index.bar(row)
    assert "aria-label='6 claims: 3 holds, 1 does not hold, 2 pending'" in bar
    assert "flex-grow:3" in bar
    assert "corrected" not in bar
