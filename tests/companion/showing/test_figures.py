from collections.abc import Iterator
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from companion.showing import figures

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


@pytest.mark.parametrize("exponent", [-2.5, 0.0, 1.0])
def test_a_slope_goes_through_its_first_point(axes: Axes, exponent: float) -> None:
    figures.slope(axes, np.array([100, 200, 1000]), 7.0, exponent, "claimed")
    x, y = axes.lines[0].get_data()
    assert y[0] == 7.0
    np.testing.assert_allclose(np.log(y / y[0]), exponent * np.log(x / x[0]), atol=1e-12)
    assert axes.lines[0].get_linestyle() == "--"
    assert axes.lines[0].get_label() == "claimed"


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
