"""What a figure says to those who hear the page."""

import matplotlib.pyplot as plt
import numpy as np

from companion.showing.spoken import described


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
