import pandas as pd
import pytest

from costofprivacy.experiments.noisyhead.softmax_head import figures, page, readings
from costofprivacy.experiments.noisyhead.softmax_head.names import (
    CLIPPED,
    EXACT,
    ISOTROPIC,
    LAST,
    LINEAR,
    NON_PRIVATE,
    SOFTMAX,
    WHITENED,
)
from costofprivacy.judging.prose import compact
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("noisyhead/softmax-head")
ERRORS, CHOICES = TABLES["test-error"], TABLES["choices"]


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    worse = change(ERRORS, "test_error", lambda r: 3 * r["test_error"], ERRORS["head"] == SOFTMAX)
    ratio = readings.heads(ERRORS, ISOTROPIC).value
    assert f"{compact(ratio)} times" in found
    assert f"{compact(3 * ratio)} times" in opening_of(page)(TABLES | {"test-error": worse})


def test_the_answer_has_the_whitened_head() -> None:
    unknown = readings.hardest(ERRORS)
    ratio = readings.beside_whitened(ERRORS, unknown).value
    assert f"{compact(ratio)} times a whitened linear head's" in opening_of(page)(TABLES)
    worse = change(ERRORS, "test_error", lambda r: 5 * r["test_error"], ERRORS["method"] == WHITENED)
    assert f"{compact(ratio / 5)} times a whitened linear head's" in opening_of(page)(TABLES | {"test-error": worse})


def test_averaging_is_told_at_the_largest_size_and_budget() -> None:
    """What happens at other sizes, budgets and covariances is another line."""
    hard = readings.hardest(ERRORS)
    before = readings.averaging(ERRORS, SOFTMAX, hard)
    here = (ERRORS["N"] == ERRORS["N"].max()) & (ERRORS["epsilon"] == ERRORS["epsilon"].max())
    here &= ERRORS["covariance"] == hard
    elsewhere = change(ERRORS, "test_error", lambda r: 9.0, ~here & (ERRORS["method"] == LAST))
    assert readings.averaging(elsewhere, SOFTMAX, hard) == before
    doubled = change(ERRORS, "test_error", lambda r: 2 * r["test_error"], here & (ERRORS["method"] == LAST))
    assert readings.averaging(doubled, SOFTMAX, hard).value == pytest.approx(2 * before.value)


def test_what_is_said_of_plans_follows_the_grid() -> None:
    found = readings.edges(CHOICES)
    assert found["enclosed"].all()
    assert found["lost"].max() < 0.05
    said = page.read_plans(CHOICES)
    assert f"In {len(found)} of {len(found)} choices" in said
    chosen = CHOICES[CHOICES["chosen, average"]]
    reach = (CHOICES["clip_norm"] * CHOICES["time"]).round(6)
    narrow = CHOICES[reach <= (chosen["clip_norm"] * chosen["time"]).round(6).loc[found_index(chosen)].max()]
    assert f"In {len(found)} of" not in page.read_plans(narrow)


def found_index(chosen: pd.DataFrame) -> pd.Index:
    return chosen[(chosen["bound"] == CLIPPED) & (chosen["account"] == EXACT)].index


def test_the_answer_says_what_the_curvature_shows() -> None:
    flat = change(TABLES["curvature"], "least", lambda r: 0.1)
    assert "not convex" in opening_of(page)(TABLES)
    assert "not convex" not in opening_of(page)(TABLES | {"curvature": flat})


def test_captions_follow_their_tables() -> None:
    free = (ERRORS["head"] == LINEAR) & (ERRORS["method"] == NON_PRIVATE)
    changed = change(ERRORS, "test_error", lambda r: r["test_error"] / 7, free)
    assert figures.draw_heads(changed).caption != figures.draw_heads(ERRORS).caption
    wide = change(TABLES["dimensions"], "ratio", lambda r: 5 + r["ratio"])
    caption = figures.draw_theory(TABLES["temperatures"], wide).caption
    assert "fewer up to" not in caption
    assert "fewer up to $D = 4$" in figures.draw_theory(TABLES["temperatures"], TABLES["dimensions"]).caption


def test_sentences_follow_their_tables() -> None:
    before = page.read_privacy(TABLES), page.read_routes(ERRORS)
    doubled = change(ERRORS, "test_error", lambda r: 2 * r["test_error"], ERRORS["account"] == "exact")
    after = page.read_privacy(TABLES | {"test-error": doubled}), page.read_routes(doubled)
    assert all(a != b for a, b in zip(before, after))


def test_every_curve_lies_within_its_panel() -> None:
    for axes in figures.draw_heads(ERRORS).figure.axes:
        low, high = axes.get_ylim()
        drawn = [float(y) for line in axes.lines for y in line.get_ydata()]
        assert low <= min(drawn) <= max(drawn) <= high
