"""What a figure says to those who hear the page."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from costofprivacy.showing.spoken import described, spoken


def test_curves_are_told_from_their_first_to_their_last_point() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.errorbar([1, 10], [0.5, 0.02], yerr=[0.1, 0.01], label=r"$\varepsilon = 1$")
    left.plot([1, 10], [0.3, 0.3], label="answering 0")
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


def test_lines_across_the_panel_have_no_span() -> None:
    figure, axes = plt.subplots()
    axes.axhline(2.0, label="limit")
    axes.set(xlabel="$n$", ylabel="noise")
    assert described(figure) == "noise: limit at 2."


def test_marks_at_named_places_are_told_one_by_one() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([0.1, 1.1], [5.0, 3.0], "o", label="before")
    left.axhline(4.0, label="limit")
    left.set_xticks([0, 1], ["ours", "$\\Gamma^*$"])
    left.set(ylabel="error")
    right.errorbar([5.0, 3.0], [0, 1], xerr=[1.0, 1.0], fmt="o")
    right.set_yticks([0, 1], ["ours", "theirs"])
    right.set(xlabel="share")
    assert described(figure) == "error: before 5 (ours), 3 (Γ^*); limit at 4. share: 3 (theirs), 5 (ours)."


def test_ticks_that_are_numbers_are_no_names() -> None:
    figure, axes = plt.subplots()
    axes.plot([1, 1e5], [5.0, 5.0001], label="risk")
    axes.set_xticks([1, 1e5], ["1", "1e+05"])
    axes.set(ylabel="error")
    assert described(figure) == "error: risk at 5."


def test_panels_share_the_first_ordinate() -> None:
    figure, panels = plt.subplots(1, 2)
    for axes, name in zip(panels, "LD", strict=True):
        axes.plot([1, 2], [5, 6], label="risk")
        axes.set(xlabel=name)
    panels[0].set(ylabel="error")
    first, second = (f"error for {name} from 1 to 2: risk rises from 5 to 6." for name in "LD")
    assert described(figure) == f"{first} {second}"


def test_maps_are_told_by_their_colours_and_their_bars_left_out() -> None:
    figure, axes = plt.subplots()
    drawn = axes.imshow([[0.1, np.nan], [0.4, 0.2]])
    axes.set(title="MNIST")
    figure.colorbar(drawn)
    assert described(figure) == "MNIST: colours from 0.1 to 0.4."


def test_bars_are_told_by_their_range() -> None:
    figure, axes = plt.subplots()
    axes.bar([1, 2], [3.0, 5.0], label="steps")
    axes.set(ylabel="count")
    assert described(figure) == "count: steps from 3 to 5."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r"$\tilde\eta(0)$", "η(0)"),
        (r"$\mathrm{tr}\,\Sigma$", "tr Σ"),
        ("two\nlines", "two lines"),
        (r"$N^{-1}$", "N^-1"),
    ],
)
def test_labels_lose_their_mathematical_dress(text: str, said: str) -> None:
    assert spoken(text) == said
