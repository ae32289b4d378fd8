"""Clipping: which gradients are shortened, and what one record can move the sum by once they are."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle

from companion.judging.prose import compact, percent
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.dpgd.update import clipped_gradients

RECORDS = 60
CLIP = 1.0  # c
SEED = 2
TARGET, LABEL_NOISE = np.array([0.3, 0.4]), 0.9
REACH = 2.7  # of the panels, in clip norms
RADIUS_AT = 0.5  # radians: the place of the circle to which the radius is drawn
KEPT, CUT, MOVED = figures.COLOURS[0], figures.COLOURS[1], figures.COLOURS[3]


def gradients(records: int = RECORDS, clip: float = CLIP) -> tuple[np.ndarray, np.ndarray, float]:
    """Gradients of a linear regression in two dimensions at θ = 0, before and after clipping; and C_clip = c√d.

    The same ones each time: x ~ N(0, I), y = ⟨θ*, x⟩ + N(0, `LABEL_NOISE`²).
    """
    rng = np.random.default_rng(SEED)
    x = rng.standard_normal((records, 2))
    y, norm = x @ TARGET + LABEL_NOISE * rng.standard_normal(records), clip * np.sqrt(2)
    theta = np.zeros(2)
    return clipped_gradients(theta, x, y, np.inf), clipped_gradients(theta, x, y, norm), float(norm)


def plate() -> Plate:
    """Left: the cloud and the ball. Right: the sum of the clipped gradients, with any one record exchanged."""
    raw, clipped, norm = gradients()
    lengths = np.linalg.norm(raw, axis=1)
    cut, longest = lengths > norm, lengths.max() / norm
    share = percent(cut.mean())
    with figures.panels(2, ends=False, figsize=(7.8, 4.0)) as (figure, (left, right)):
        _cloud(left, raw / norm, clipped / norm, cut)
        _exchange(right, clipped[:-1].sum(axis=0) / norm)
        left.set_title(f"{cut.sum()} of {len(raw)} gradients are shortened")
        right.set_title("one record moves the sum by $2C$ at most")
    return Plate(
        figure,
        f"**Clipping limits what one record can do.** **Left**: the gradients of {len(raw)} records in two "
        f"dimensions. Those outside the ball of radius $C = c\\sqrt d$ are shortened to its surface, here {share} "
        f"of them; the longest is ${compact(longest)}\\,C$ long and leaves the frame. **Right**: the cross is the "
        f"sum of all other clipped gradients. Whatever the remaining record holds, the sum ends in the ball around "
        f"it. So replacing this record moves the sum by $2C$ at most. For the same reason no record moves its "
        f"own step of Algorithm 1 by more than $2C\\eta_k$. This is what the noise has to hide.",
        f"Left: {len(raw)} gradients as points, and a circle of radius C around 0. {cut.sum()} points lie outside; "
        f"lines lead from them to the circle, towards 0. The longest has the length {compact(longest)} C. Right: "
        f"a cross, the sum of all other records' clipped gradients, and a circle of radius C around it. Two points "
        f"at opposite places of the circle are the sums with one record and with its replacement; the double "
        f"arrow between them is 2 C long.",
    )


def _cloud(axes: Axes, raw: np.ndarray, clipped: np.ndarray, cut: np.ndarray) -> None:
    """Gradients in units of C: those inside as they are, the others with the way on which they are shortened."""
    _ball(axes, (0.0, 0.0))
    for before, after in zip(raw[cut], clipped[cut], strict=True):
        axes.plot(*np.transpose([before, after]), color=CUT, linewidth=0.8)
    axes.plot(*raw[cut].T, "o", mfc="none", mec=CUT, ms=4)
    axes.plot(*clipped[cut].T, "s", color=CUT, ms=3.5)
    axes.plot(*raw[~cut].T, "o", color=KEPT, ms=3.5)
    end = np.array([np.cos(RADIUS_AT), np.sin(RADIUS_AT)])
    axes.annotate(
        "", (end[0], end[1]), (0, 0), arrowprops={"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0}
    )
    axes.text(1.1 * end[0], 1.1 * end[1], "radius $C$", ha="left", va="center")
    inks = (KEPT, "● kept"), (CUT, "○ before, ■ after")
    for line, (colour, told) in enumerate(inks):
        ink = tuple(figures.INK * light for light in to_rgb(colour))
        paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}  # lines go on behind it
        place = 0.08 * (1 - line)
        axes.text(0, place, told, transform=axes.transAxes, color=ink, fontsize=figures.LETTERS, bbox=paper)
    _square(axes, (0.0, 0.0))


def _exchange(axes: Axes, rest: np.ndarray) -> None:
    """The sum without a record, and the two sums that are furthest apart with one, in units of C."""
    place = (float(rest[0]), float(rest[1]))
    _ball(axes, place)
    axes.plot(*place, "+", color="black", ms=9, mew=1.5)
    direction = np.array([0.8, 0.6])
    ends = (rest - direction, rest + direction)
    axes.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "<|-|>", "color": MOVED, "shrinkA": 4, "shrinkB": 4})
    for end, name, mark, side in zip(ends, ("with the\nrecord", "with its\nreplacement"), "oD", (-1, 1), strict=True):
        axes.plot(*end, mark, color=MOVED, ms=6)
        axes.text(end[0] + 0.15 * side, end[1], name, ha="right" if side < 0 else "left", va="center", color="0.2")
    axes.text(rest[0] + 0.1, rest[1] - 0.25, "$2C$", color=MOVED, ha="left", va="center")
    axes.annotate(
        "sum of the others",
        (rest[0], rest[1]),
        rest + np.array([-0.9, 1.5]),
        ha="center",
        color="0.2",
        arrowprops={"arrowstyle": "-", "color": "0.5"},
    )
    _square(axes, place)


def _ball(axes: Axes, centre: tuple[float, float]) -> None:
    axes.add_patch(Circle(centre, 1.0, facecolor=KEPT, alpha=0.12, linewidth=0))
    axes.add_patch(Circle(centre, 1.0, fill=False, edgecolor="0.3", linestyle="--", linewidth=1))


def _square(axes: Axes, centre: tuple[float, float]) -> None:
    """Equal units on both axes, without numbers: lengths are in clip norms."""
    axes.set(aspect="equal", xlim=(centre[0] - REACH, centre[0] + REACH), ylim=(centre[1] - REACH, centre[1] + REACH))
    axes.axis("off")
