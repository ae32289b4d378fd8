"""The answer and the sentences of the page on a softmax head."""

import pandas as pd

from chapters.noisyhead.softmax_head import readings
from chapters.noisyhead.softmax_head.names import HEADS, ISOTROPIC, LINEAR, SOFTMAX
from chapters.noisyhead.softmax_head.readings import ROUTES, told
from companion.judging.prose import compact, percent, times
from companion.judging.tables import Tables


def answer(tables: Tables) -> list[str]:
    """The softmax head over the linear one, private and not, what two lessons are worth, and what the page does."""
    errors = tables["test-error"]
    case, names = readings.largest(errors), readings.covariances(errors)
    over, free = (
        [compact(ratio(errors, name).value) for name in (names[0], names[-1])]
        for ratio in (readings.heads, readings.heads_without_privacy)
    )
    beside = compact(readings.beside_whitened(errors, names[-1]).value)
    exact, clipped = (compact(readings.worth(errors, SOFTMAX, route).value) for route in (ROUTES[2], ROUTES[1]))
    convex = tables["curvature"]["least"].min() >= 0
    last = "Its loss shows no negative curvature." if convex else "Its loss is not convex: every iterate is paid for."
    return [
        f"At $N = {case['N']:.0f}$, $\\varepsilon = {case['epsilon']:g}$ its error is {over[0]} times the linear "
        f"head's {readings.where(names[0])}, and {free[0]} times without privacy.",
        f"{_started(readings.where(names[-1]))} it is {over[1]} times (without privacy {free[1]}), and {beside} times "
        "a whitened linear head's.",
        f"Two lessons carry over: on isotropic features, clipping each gradient divides the error by {clipped}, and "
        f"exact accounting by {exact}.",
        last,
        "You will see its error on long prompts derived, and train the head by hand.",
    ]


def _started(text: str) -> str:
    """With a capital letter, and nothing else changed."""
    return text[:1].upper() + text[1:]


def read_plans(choices: pd.DataFrame) -> str:
    """How far the plans that were tried enclose the chosen ones, in words."""
    found = readings.edges(choices)
    lost = f"at most {percent(float(found['lost'].max()))}" if found["lost"].notna().any() else "an unknown share"
    return (
        f"In {found['enclosed'].sum()} of {len(found)} choices $c\\,\\eta T$, how far clipped gradients can move "
        f"$A$, lies inside the range that we tried. The smallest $c$ is chosen in {found['smallest'].sum()}. Small $c$ "
        f"is a limit, in which every gradient counts by its direction alone. Without that $c$ the error on synthetic "
        f"prompts is {lost} above the least."
    )


def read_privacy(tables: Tables) -> str:
    """What privacy takes from either head, in words."""
    errors = tables["test-error"]
    parts = []
    for name in readings.covariances(errors):
        found = {head: readings.cost(errors, head, name) for head in HEADS}
        free = {head: readings.learnable(errors, head, name).value for head in HEADS}
        parts.append(
            f"{readings.under(name)} the private softmax head's error lies {percent(found[SOFTMAX].value)} above the "
            f"non-private one's (linear: {percent(found[LINEAR].value)}), and without data "
            f"it is {times(free[SOFTMAX])} the non-private one's (linear: {times(free[LINEAR])})"
        )
    case = readings.largest(errors)
    opening = f"At $N = {case['N']:.0f}$ and $\\varepsilon = {case['epsilon']:g}$: "
    return opening + "; ".join(parts) + "."


def read_routes(errors: pd.DataFrame) -> str:
    """What each change of the design is worth, in words."""
    literal, exact, printed, best = (readings.private(errors, SOFTMAX, ISOTROPIC, route) for route in ROUTES)
    return (
        f"Exact accounting alone takes the error from {told(literal)} to {told(exact)}, clipping each gradient alone "
        f"to {told(printed)}, both to {told(best)}."
    )
