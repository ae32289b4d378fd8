"""What a figure says to those who hear the page."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from costofprivacy.showing.spoken import described, spoken
from tests.each import each


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


def test_a_curve_whose_ends_are_told_alike_neither_falls_nor_rises() -> None:
    figure, axes = plt.subplots()
    axes.plot([1, 2], [0.99702, 0.99698], label="risk")
    axes.set(ylabel="part")
    assert described(figure) == "part: risk at 0.997."


def test_lines_across_the_panel_have_no_span() -> None:
    figure, axes = plt.subplots()
    axes.axhline(2.0, label="limit")
    axes.axvline(3.0, label="end")
    axes.set(xlabel="$n$", ylabel="noise")
    assert described(figure) == "noise: limit at 2; end where n is 3."


def test_lines_up_a_panel_are_told_by_their_place() -> None:
    figure, axes = plt.subplots()
    axes.axvline(0.5, label="answering 0")
    axes.set(xlabel="risk", ylabel="schedule")
    assert described(figure) == "schedule: answering 0 where risk is 0.5."


def test_marks_at_named_heights_are_told_one_by_one() -> None:
    figure, axes = plt.subplots()
    axes.plot([0.2, 156, 90], [0.2, -0.8, -0.8], "o", label="even")
    axes.set_yticks([0, -1], ["constant", r"$\alpha = 1$"])
    axes.set(xlabel="risk", ylabel="schedule")
    assert described(figure) == "risk: even 0.2 (constant), 156 (α = 1), 90 (α = 1)."


def test_ends_that_are_written_alike_are_one_value() -> None:
    figure, axes = plt.subplots()
    axes.plot([1, 2], [1, 1 + 1e-12], label="growth")
    axes.set(ylabel="distance")
    assert described(figure) == "distance: growth at 1."


@pytest.mark.slow
def test_panels_share_the_labels_of_their_axes() -> None:
    figure, panels = plt.subplots(2, 2, sharex=True, sharey=True)
    for axes, name in zip(panels.flat, ("one", "two", "", "")):
        axes.plot([0, 1], [0, 3], label="risk")
        axes.set_title(name)
    panels[1, 0].set(xlabel="$t$", ylabel="risk")
    over = "for t from 0 to 1"
    assert described(figure) == (
        f"one {over}: risk rises from 0 to 3. two {over}: risk rises from 0 to 3. "
        f"risk {over}: risk rises from 0 to 3. risk {over}: risk rises from 0 to 3."
    )


def test_a_curve_that_runs_to_the_left_is_told_to_the_right() -> None:
    figure, axes = plt.subplots()
    axes.plot([2, 1], [5, 3], label="risk")
    axes.set(xlabel="$t$", ylabel="level")
    assert described(figure) == "level for t from 1 to 2: risk rises from 3 to 5."


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


@each(
    ("text", "said"),
    [
        (r"$\tilde\eta(0)$", "η(0)"),
        (r"$\mathrm{tr}\,\Sigma$", "tr Σ"),
        ("two\nlines", "two lines"),
        (r"$N^{-1}$", "N^-1"),
        (r"$\frac{1}{2}$", "1/2"),
        (r"$\Gamma^*$ at $L = \lfloor\sqrt{N}\rfloor$", "Γ* at L = ⌊root of N⌋"),
        (r"$\langle w, x\rangle/\|w\|$", "⟨ w, x⟩/‖w‖"),
        (r"$\mathbb{E}[X^\top X]$", "E[X^T X]"),
        (r"$\log^2n$", "log^2n"),
    ],
)
def test_labels_lose_their_mathematical_dress(text: str, said: str) -> None:
    assert spoken(text) == said


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


def test_marks_in_no_order_are_told_by_their_range() -> None:
    figure, axes = plt.subplots()
    axes.plot([3, 1, 2], [0.4, 0.2, 0.3], "o", label="seeds")
    axes.set(ylabel="risk")
    assert described(figure) == "risk: seeds from 0.2 to 0.4."


def test_colours_and_the_abscissa_of_panels_above_have_names() -> None:
    figure, (above, below) = plt.subplots(2, 1, sharex=True)
    drawn = above.imshow([[1.0, 2.0]])
    above.set(ylabel="$c$")
    below.plot([0, 1], [1, 2], label="rows")
    below.set(xlabel=r"$\eta$")
    figure.colorbar(drawn, ax=above, label="risk")
    assert described(figure) == (
        "c against η: colours from 1 to 2. c for η from 0 to 1: rows rises from 1 to 2. Colours: risk."
    )
