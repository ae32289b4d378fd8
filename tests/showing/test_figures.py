from collections.abc import Iterator
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.text import Annotation, Text

from costofprivacy.showing import figures

TABLE = pd.DataFrame({"N": [400.0, 100.0, 200.0], "risk": [1.0, 4.0, 2.0], "standard_error": [0.1, 0.5, 0.3]})


@pytest.fixture
def axes() -> Iterator[Axes]:
    figure, made = plt.subplots()
    yield made
    plt.close(figure)


def test_the_style_holds_inside_only() -> None:
    before = plt.rcParams["figure.figsize"], plt.rcParams["axes.spines.top"]
    with figures.style():
        assert plt.rcParams["figure.figsize"] == [7.2, 4.2]
        assert plt.rcParams["savefig.facecolor"] == "none"
        assert not plt.rcParams["axes.spines.top"]
    assert (plt.rcParams["figure.figsize"], plt.rcParams["axes.spines.top"]) == before


def test_looks_differ_in_colour_and_in_mark() -> None:
    looks = figures.looks(range(10))
    assert list(looks) == list(range(10))
    assert len({look["color"] for look in looks.values()}) == 10
    assert len({look["marker"] for look in looks.values()}) == 10


def test_a_key_looks_the_same_whatever_follows_it() -> None:
    assert figures.looks("ab")["a"] == figures.looks("a")["a"]


def test_points_are_drawn_in_order_with_two_standard_errors(axes: Axes) -> None:
    figures.points(axes, TABLE, "N", "risk", label="ours")
    (container,) = axes.containers
    line, _, (bars,) = container
    np.testing.assert_array_equal(line.get_xydata(), [[100, 4], [200, 2], [400, 1]])
    spans = [segment[:, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(spans, [[3.0, 5.0], [1.4, 2.6], [0.8, 1.2]])
    assert container.get_label() == "ours"


def test_a_point_without_error_has_no_bar(axes: Axes) -> None:
    figures.points(axes, TABLE.assign(standard_error=[0.1, np.nan, 0.3]), "N", "risk")
    bars = axes.containers[0][2][0]
    drawn = [segment for segment in bars.get_segments() if np.isfinite(segment).all() and len(segment)]
    assert [segment[0, 0] for segment in drawn] == [200, 400]


def test_points_without_errors_have_no_bars(axes: Axes) -> None:
    figures.points(axes, TABLE.drop(columns="standard_error"), "N", "risk")
    assert axes.containers[0].has_yerr is False


@pytest.mark.parametrize("exponent", [-2.5, 0.0, 1.0])
def test_a_slope_goes_through_its_first_point(axes: Axes, exponent: float) -> None:
    figures.slope(axes, np.array([100, 200, 1000]), 7.0, exponent, "claimed")
    x, y = axes.lines[0].get_data()
    assert y[0] == 7.0
    np.testing.assert_allclose(np.log(y / y[0]), exponent * np.log(x / x[0]), atol=1e-12)
    assert axes.lines[0].get_linestyle() == "--"
    assert axes.lines[0].get_label() == "claimed"


def test_log_axes(axes: Axes) -> None:
    figures.log_axes(axes, "N", "excess risk")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("N", "excess risk")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([3000, 1000, 2000.5], ["1000", "2000.5", "3000"]),
        (range(1, 7), ["1", "3", "5"]),
        (range(1000, 4001, 500), ["1000", "2000", "3000", "4000"]),
        ([5], ["5"]),
    ],
)
def test_ticks_are_written_out(axes: Axes, values: list[float], words: list[str]) -> None:
    axes.set_xscale("log")
    figures.plain_ticks(axes, np.array(values))
    assert [label.get_text() for label in axes.get_xticklabels()] == words
    assert len(axes.get_xticks(minor=True)) == 0


def test_few_decades_are_written_out(axes: Axes) -> None:
    axes.plot([1, 2], [0.3, 6])
    figures.log_axes(axes, "N", "risk")
    figures.few_decades(axes)
    axes.figure.canvas.draw()
    low, high = axes.get_ylim()
    written = {text.get_text() for text in axes.get_yticklabels() if low <= text.get_position()[1] <= high}
    assert written == {"0.5", "1", "2", "5"}
    assert not any(text.get_text() for text in axes.get_yticklabels(minor=True))


@given(st.integers(1, 60), st.integers(1, 9))
@settings(derandomize=True, deadline=None, max_examples=20)
def test_there_are_never_too_many_ticks(count: int, most: int) -> None:
    figure, axes = plt.subplots()
    figures.plain_ticks(axes, np.arange(1, count + 1), most)
    assert 1 <= len(axes.get_xticks()) <= most
    plt.close(figure)


def _labels(axes: Axes) -> dict[str, tuple[float, float]]:
    """Bottom and top of each label in shares of the panel, as it is drawn."""
    axes.figure.canvas.draw()
    extents = {text.get_text(): Text.get_window_extent(text) for text in axes.texts}  # without leaders
    boxes = {name: extent.transformed(axes.transAxes.inverted()) for name, extent in extents.items()}
    return {name: (box.y0, box.y1) for name, box in boxes.items()}


@pytest.mark.parametrize("height", [3.1, 6.0])
def test_labels_stand_at_the_ends_of_their_curves_without_overlap(height: float) -> None:
    figure, axes = plt.subplots(figsize=(5, height), layout="constrained")
    for name, end in {"far": 1e-3, "near": 1.0, "nearer": 1.01, "nearest": 1.02}.items():
        axes.plot([1, 10, 100], [1, 1, end], label=name)
    axes.plot([1, 2], [1, 2])
    figures.log_axes(axes, "N", "risk")
    figures.end_labels(axes)
    spans = _labels(axes)
    plt.close(figure)
    assert list(spans) == ["far", "near", "nearer", "nearest"]  # the curve without a label has none
    ordered = list(spans.values())
    assert all(below[1] <= above[0] for below, above in pairwise(ordered))
    end = axes.transAxes.inverted().transform(axes.transData.transform((100, 1e-3)))[1]
    assert np.mean(spans["far"]) == pytest.approx(end, abs=0.01)


def test_a_leader_joins_a_label_that_had_to_move_to_the_end_of_its_curve(axes: Axes) -> None:
    for name, end in {"one": 1.0, "another": 1.0}.items():
        axes.plot([0, 1], [0, end], label=name)
    figures.end_labels(axes)
    end = axes.transAxes.inverted().transform(axes.transData.transform((1, 1)))
    for label in axes.texts:
        assert isinstance(label, Annotation)
        assert label.arrow_patch is not None
        assert label.xy == pytest.approx(end)


def test_a_label_at_the_end_of_its_curve_has_no_leader(axes: Axes) -> None:
    axes.plot([0, 1], [0, 1], label="up")
    axes.plot([0, 1], [1, 0], label="down")
    axes.set(ylim=(-1, 2))
    figures.end_labels(axes)
    assert [label.arrow_patch for label in axes.texts if isinstance(label, Annotation)] == [None, None]


def test_a_label_has_its_curve_s_colour_and_follows_its_last_finite_point(axes: Axes) -> None:
    axes.plot([1, 2, 3], [0, 4, np.nan], color="#c80000", label="broken")
    axes.errorbar([1, 2, 3], [0, 1, 2], 0.1, label="with bars")
    axes.axhline(10, color="k", label="level")
    axes.plot([], [], label="empty")
    figures.end_labels(axes)
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    assert colours["broken"] == pytest.approx((figures.INK * 200 / 255, 0, 0))
    spans = _labels(axes)
    low, high = axes.get_ylim()
    for name, end in {"broken": 4, "with bars": 2, "level": 10}.items():
        assert np.mean(spans[name]) == pytest.approx((end - low) / (high - low), abs=0.02)


def test_numbers_of_others_are_circles_with_a_legend_of_their_own(axes: Axes) -> None:
    axes.plot([1, 2], [3, 4], label="ours")
    none = pd.Series(dtype=float)
    figures.circles(axes, none, none, "theirs", (0, 0.5))
    assert axes.get_legend() is None
    figures.circles(axes, pd.Series([1.0, 2.0]), pd.Series([3.0, 5.0]), "theirs", (0, 0.5))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["theirs"]
    figures.end_labels(axes)
    assert [text.get_text() for text in axes.texts] == ["ours"]


def test_labels_stay_within_the_panel(axes: Axes) -> None:
    for i in range(5):
        axes.plot([0, 1], [0, 1], label=f"curve {i}" + "\nin two lines" * (i == 2))
    figures.end_labels(axes)
    spans = sorted(_labels(axes).values())
    assert all(below[1] <= above[0] for below, above in pairwise(spans))
    assert spans[0][0] >= 0
    assert spans[-1][1] <= 1


def test_the_colours_are_seaborn_s_for_every_eye() -> None:
    assert list(figures.COLOURS) == [colour.lower() for colour in seaborn.color_palette("colorblind").as_hex()]
