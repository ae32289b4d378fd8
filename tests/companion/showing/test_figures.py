from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from companion import showing
from companion.showing import figures, plates
from companion.showing.plates import Plate
from companion.showing.spoken import described

TABLE = pd.DataFrame({"N": [400.0, 100.0, 200.0], "risk": [1.0, 4.0, 2.0], "standard_error": [0.1, 0.5, 0.3]})


@pytest.fixture
def axes() -> Iterator[Axes]:
    figure, made = plt.subplots()
    yield made
    plt.close(figure)


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


def test_a_slope_goes_through_its_first_point(axes: Axes) -> None:
    exponent = -2.5
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


def test_labels_stand_at_the_ends_of_their_curves_without_overlap() -> None:
    figure, axes = plt.subplots(figsize=(5, 3.1), layout="constrained")
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


# -------------------------------------------------------------------------------------------------------------- plates


def two_panels() -> Plate:
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        left.plot([1, 2], [3, 4], label="risk")
        right.plot([1, 2], [5, 6])
        left.set(xlabel="$N$", ylabel="risk")
        left.plot([1, 2], [4, 3], label="bound")
        figure.legend(*left.get_legend_handles_labels(), ncols=6)
        return Plate(figure, "Risk falls to 3.", "Risk 4 at N = 2.")


@pytest.mark.parametrize("words", [{"caption": " "}, {"alt": ""}])
def test_a_plate_must_have_its_words(words: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must say something"):
        Plate(plt.figure(), **{"caption": "a", "alt": "b"} | words)


@pytest.mark.slow
def test_a_plate_is_saved_in_two_forms_the_same_bits_each_time(tmp_path: Path) -> None:
    first, second = (plates.save(two_panels(), tmp_path / name, "rates") for name in ("a", "b"))
    assert first == second == (tmp_path / "a" / "rates.svg").read_text("utf-8")
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"rates.svg", "rates.narrow.svg"}
    assert (tmp_path / "a" / "rates.narrow.svg").read_bytes() == (tmp_path / "b" / "rates.narrow.svg").read_bytes()
    assert plt.get_fignums() == []
    assert not any(word in first for word in ("<dc:date>", "Matplotlib v", "#ffffff", "#FFFFFF"))


def test_a_plate_for_a_first_look_has_the_wide_form_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(showing.WIDE_ONLY, "1")
    plates.save(two_panels(), tmp_path, "rates")
    assert [path.name for path in tmp_path.iterdir()] == ["rates.svg"]
    assert plt.get_fignums() == []


def test_a_narrow_form_stacks_its_panels_and_labels_each() -> None:
    figure = two_panels().figure
    figure.axes[1].set_ylabel("risk", visible=False)  # as seaborn does beside a panel with the same axis
    plates.stack(figure)
    figure.canvas.draw()
    assert [legend._ncols for legend in figure.legends] == [plates.NARROW_COLUMNS]
    upper, lower = (axes.get_position() for axes in figure.axes)
    assert lower.y1 < upper.y0
    assert figure.get_size_inches().tolist() == [plates.NARROW_WIDTH, 2 * plates.NARROW_HEIGHT]
    assert [axes.get_ylabel() for axes in figure.axes] == ["risk", "risk"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["$N$", "$N$"]
    assert all(axes.yaxis.get_tick_params()["labelleft"] for axes in figure.axes)
    assert all(axes.yaxis.label.get_visible() for axes in figure.axes)
    plt.close(figure)


def test_a_panel_with_many_names_keeps_its_height_in_the_narrow_form() -> None:
    figure, _ = plt.subplots(2, 2, figsize=(9.2, 11.0))
    plates.stack(figure)
    assert figure.get_size_inches().tolist() == [plates.NARROW_WIDTH, 4 * 5.5]
    plt.close(figure)


def test_a_drawing_brings_its_own_narrow_form(tmp_path: Path) -> None:
    wide, narrow = plt.figure(figsize=(9, 3)), plt.figure(figsize=(4, 6))
    plates.save(Plate(wide, "caption", "alt", narrow), tmp_path, "idea")
    assert 'width="288pt"' in (tmp_path / "idea.narrow.svg").read_text("utf-8")
    assert 'width="648pt"' in (tmp_path / "idea.svg").read_text("utf-8")
    assert plt.get_fignums() == []


def test_a_picture_carries_its_words_beside_the_graphics() -> None:
    words = {"name": "a-rates", "caption": "c", "alt": "d"}
    data, metadata = plates.Picture("<svg/>", words)._repr_mimebundle_()
    assert data == {"image/svg+xml": "<svg/>", "text/plain": "<Picture a-rates>"}
    assert metadata == {"plate": words}


# ----------------------------------------------------------------------- what a figure says to those who hear the page


def test_curves_are_told_from_their_first_to_their_last_point() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.errorbar([1, 10], [0.5, 0.02], yerr=[0.1, 0.01], label=r"$\varepsilon = 1$")
    left.plot([1, 10], [0.30004, 0.3], label="answering 0")
    left.plot([1, 10], [5, 6], label="_unnamed")
    left.set(title="Risk", xlabel="$N$", ylabel="excess risk")
    right.plot([1, np.nan, 3], [1, 2, np.nan], "o", label="one point")
    right.set(ylabel="ratio")
    assert described(figure) == (
        "Risk, excess risk for N from 1 to 10: answering 0 at 0.3; ε = 1 falls from 0.5 to 0.02. ratio: one point at 1."
    )


def test_a_turn_between_the_ends_is_told() -> None:
    figure, axes = plt.subplots()
    axes.plot([1, 80, 480], [0.5, 0.1, 0.3], label="risk")
    axes.plot([1, 80, 480], [0.5, 0.7, 0.5], label="noise")
    axes.set(ylabel="part")
    assert described(figure) == "part: risk falls from 0.5 to 0.3, least 0.1 at 80; noise at 0.5, largest 0.7 at 80."


def test_marks_at_named_places_are_told_one_by_one() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([0.1, 1.1], [5.0, 3.0], "o", label="before")
    left.axhline(4.0, label="limit")
    left.set_xticks([0, 1], ["ours", "$\\Gamma^*$"])
    left.set(ylabel="error")
    right.errorbar([5.0, 3.0], [0, 1], xerr=[1.0, 1.0], fmt="o")
    right.set_yticks([0, 1], ["ours", "theirs"])
    right.set(xlabel="share")
    assert described(figure) == "error: before 5 (ours), 3 (Γ*); limit at 4. share: 3 (theirs), 5 (ours)."


def test_maps_are_told_by_their_colours_and_their_bars_left_out() -> None:
    figure, axes = plt.subplots()
    drawn = axes.imshow([[0.1, np.nan], [0.4, 0.2]])
    axes.set(title="MNIST")
    figure.colorbar(drawn)
    assert described(figure) == "MNIST: colours from 0.1 to 0.4."


def test_curves_are_told_from_the_left_to_the_right() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([3, 1], [5, 7], label="falling back")
    left.set(title="Forth", xlabel="$n$", ylabel="risk")
    right.plot([1, 3], [7, 5], label="turned round")
    right.set(title="Back", xlabel="$n$")
    right.invert_xaxis()
    assert described(figure) == (
        "Forth, risk for n from 1 to 3: falling back falls from 7 to 5. "
        "Back, risk for n from 3 to 1: turned round rises from 5 to 7."
    )
