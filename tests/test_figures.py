from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

from costofprivacy import figures

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
        assert plt.rcParams["savefig.facecolor"] == "white"
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


@given(st.integers(1, 60), st.integers(1, 9))
@settings(derandomize=True, deadline=None, max_examples=20)
def test_there_are_never_too_many_ticks(count: int, most: int) -> None:
    figure, axes = plt.subplots()
    figures.plain_ticks(axes, np.arange(1, count + 1), most)
    assert 1 <= len(axes.get_xticks()) <= most
    plt.close(figure)


def test_the_colours_are_seaborn_s_for_every_eye() -> None:
    assert list(figures.COLOURS) == [colour.lower() for colour in seaborn.color_palette("colorblind").as_hex()]
