"""A prompt on its way through the linear attention head, ŷ = xᵀΓm: four small products, drawn as coloured cells."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.judging.prose import compact, percent
from companion.showing import figures
from companion.showing.plates import NARROW_WIDTH, Plate
from costofprivacy.noisyhead.best_head import best_error, best_head
from costofprivacy.noisyhead.head import predict, statistics
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.noisyhead.token_laws import sphere

MODEL = PromptModel(D=4, L=10)
SEED = 0
CELL = 0.3  # inches: the side of a cell
APART = 0.06  # inches: between an arrow and what it joins
GAP = 0.12  # inches: between the labelled tokens, the query, and the row of responses
COLOURS = "RdBu_r"
DARKEST = 1.35  # the value that would have the end of the colours, over the largest: those are too dark on a dark page
ARROW = {"arrowstyle": "-|>", "color": "0.35", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}


@dataclass(frozen=True)
class Passage:
    """One prompt and what the head makes of it.

    Args:
        prompt: with its query last. Gamma: Γ of the head, shape (D, D). context: m, the mean of y x, shape (D,).
        prediction: ŷ.
    """

    prompt: Prompts
    Gamma: np.ndarray
    context: np.ndarray
    prediction: float

    @property
    def response(self) -> float:
        """What is to be predicted."""
        return float(self.prompt.y[0, -1])

    @property
    def task(self) -> np.ndarray:
        """Γm, the head's estimate of the prompt's coefficients, shape (D,)."""
        return np.asarray(self.Gamma @ self.context)


@dataclass(frozen=True)
class Layout:
    """Where the parts stand, in inches from the lower left corner.

    Args:
        size: of the drawing. prompt, context, Gamma, task, prediction: the lower left corners of the parts.
        title: at the top, its lines.
    """

    size: tuple[float, float]
    prompt: tuple[float, float]
    context: tuple[float, float]
    Gamma: tuple[float, float]
    task: tuple[float, float]
    prediction: tuple[float, float]
    title: str


WIDE = Layout((9.2, 3.1), (0.45, 0.75), (5.0, 0.75), (5.75, 0.75), (7.4, 0.75), (8.15, 0.75), "{message}")
NARROW = Layout(
    (NARROW_WIDTH, 5.1), (0.35, 2.6), (0.35, 0.15), (1.0, 0.15), (2.55, 0.15), (3.2, 0.15), "{first}\n{second}"
)


def passage() -> Passage:
    """The same prompt each time, through the best linear head."""
    prompt = sample(MODEL, 1, rng=np.random.default_rng(SEED))
    summary = statistics(prompt)
    Gamma = best_head(sphere(MODEL.D), MODEL.L)
    return Passage(prompt, Gamma, summary.context[0], float(predict(Gamma, summary)[0]))


def plate() -> Plate:
    """The drawing, for wide and for narrow screens."""
    shown = passage()
    D, L, factor = MODEL.D, MODEL.L, float(shown.Gamma[0, 0])
    error = best_error(sphere(D), L) / MODEL.response_variance
    return Plate(
        _drawn(shown, WIDE),
        f"**Only $\\Gamma$ is learned; the rest of the head is fixed.** One prompt with $L = {L}$ labelled tokens "
        f"in dimension $D = {D}$ (red: positive, blue: negative). The head averages $y_i x_i$, multiplies the mean "
        f"$m$ by $\\Gamma$, and takes the product with the query. Here $\\Gamma$ is the best one, "
        f"${compact(factor)}\\,I$. It enlarges $m$, because the mean of $y_i x_i$ is near $w/D$. The head predicts "
        f"{compact(shown.prediction)}; the response is {compact(shown.response)}. Over many prompts this short its "
        f"squared error is {percent(error)} of the response's variance.",
        f"A prompt of {L} labelled tokens and a query, each a column of {D} cells, with the responses in a row "
        f"below. An arrow leads to the mean m of y x, a column with the entries {_listed(shown.context)}. The "
        f"matrix Γ, {compact(factor)} on the diagonal and 0 elsewhere, makes of it the column Γm with the entries "
        f"{_listed(shown.task)}. Its product with the query is the prediction {compact(shown.prediction)}; "
        f"the response is {compact(shown.response)}.",
        narrow=_drawn(shown, NARROW),
    )


def _listed(values: Sequence[float] | np.ndarray) -> str:
    return ", ".join(compact(float(value)) for value in values)


def _drawn(shown: Passage, layout: Layout) -> Figure:
    with figures.style():
        figure = plt.figure(figsize=layout.size, layout="none")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, layout.size[0]), ylim=(0, layout.size[1]))
        axes.axis("off")
        first, second = "Only $\\Gamma$ is learned;", "the rest of the head is fixed"
        title = layout.title.format(message=f"{first} {second}", first=first, second=second)
        axes.text(0.1, layout.size[1] - 0.1, title, va="top", fontsize=11)
        _prompt(axes, shown.prompt, layout.prompt)
        _column(axes, shown.context, layout.context, "$m$")
        _cells(axes, shown.Gamma, _upper(layout.Gamma), float(abs(shown.Gamma).max()))
        middle, (_, bottom) = layout.Gamma[0] + MODEL.D * CELL / 2, layout.Gamma
        axes.text(middle, _top(layout.Gamma), "$\\Gamma$", ha="center", va="bottom")
        axes.text(middle, bottom + CELL, "released,\nwith noise", ha="center", va="top", fontsize=9)
        _column(axes, shown.task, layout.task, "$\\Gamma m$")
        _through(axes, layout.context[0] + CELL, layout.Gamma[0], layout)
        _through(axes, layout.Gamma[0] + MODEL.D * CELL, layout.task[0], layout)
        _through(axes, layout.task[0] + CELL, layout.prediction[0], layout)
        x, y = layout.prediction[0], _middle(layout.Gamma)
        axes.text(x, y, f"$\\hat y = {compact(shown.prediction)}$", va="center", fontsize=11)
        axes.text(x, y - 0.25, f"($y = {compact(shown.response)}$)", va="center", fontsize=9, color="0.35")
        _averaged(axes, layout)
        _asked(axes, layout)
    return figure


def _cells(axes: Axes, values: np.ndarray, place: tuple[float, float], scale: float) -> None:
    """Coloured cells, the first row on top; ``place`` is their lower left corner."""
    rows, columns = values.shape
    x, y = (place[0] + CELL * np.arange(columns + 1), place[1] + CELL * np.arange(rows + 1))
    most = DARKEST * scale
    axes.pcolormesh(x, y, values[::-1], cmap=COLOURS, vmin=-most, vmax=most, edgecolors="0.75", linewidth=0.5)


def _prompt(axes: Axes, prompt: Prompts, place: tuple[float, float]) -> None:
    left, bottom = place
    x, y = prompt.x[0].T, prompt.y[0]
    D, L = MODEL.D, MODEL.L
    features, query = bottom + CELL + GAP, left + L * CELL + GAP
    _cells(axes, x[:, :-1], (left, features), 1.0)
    _cells(axes, y[None, :-1], place, float(abs(y).max()))
    _cells(axes, x[:, -1:], (query, features), 1.0)
    axes.text(query + CELL / 2, bottom + CELL / 2, "?", ha="center", va="center", fontsize=11)
    middle = features + D * CELL / 2
    axes.text(left - 0.08, middle, "$x_i$", ha="right", va="center")
    axes.text(left - 0.08, bottom + CELL / 2, "$y_i$", ha="right", va="center")
    above = features + D * CELL + 0.07
    axes.text(left + L * CELL / 2, above, f"{L} labelled tokens", ha="center", va="bottom")
    axes.text(query + CELL / 2, above, "query $x$", ha="center", va="bottom")


def _column(axes: Axes, values: np.ndarray, place: tuple[float, float], name: str) -> None:
    _cells(axes, values[:, None], _upper(place), float(abs(values).max()))
    axes.text(place[0] + CELL / 2, _top(place), name, ha="center", va="bottom")


def _upper(place: tuple[float, float]) -> tuple[float, float]:
    return place[0], place[1] + CELL + GAP


def _top(place: tuple[float, float]) -> float:
    return place[1] + CELL + GAP + MODEL.D * CELL + 0.07


def _middle(place: tuple[float, float]) -> float:
    return place[1] + CELL + GAP + MODEL.D * CELL / 2


def _through(axes: Axes, left: float, right: float, layout: Layout) -> None:
    height = _middle(layout.Gamma)
    axes.annotate("", (right - APART, height), (left + APART, height), arrowprops=ARROW)


def _averaged(axes: Axes, layout: Layout) -> None:
    """The arrow from the labelled tokens to their mean m: to the right, or down where m stands below them."""
    x, y = layout.prompt
    if layout.context[1] == y:
        height, left = _middle(layout.prompt), x + (MODEL.L + 1) * CELL + 2 * GAP
        right = layout.context[0] - APART
        axes.annotate("", (right, height), (left, height), arrowprops=ARROW)
        axes.text((left + right) / 2, height + 0.1, "mean of\n$y_i x_i$", ha="center", va="bottom")
        return
    middle = layout.context[0] + CELL / 2
    axes.annotate("", (middle, _top(layout.context) + 0.22), (middle, y - APART), arrowprops=ARROW)
    axes.text(middle + 0.1, y - 0.24, "mean of $y_i x_i$", va="center")


def _asked(axes: Axes, layout: Layout) -> None:
    """The query's way to the prediction: below all parts, or straight down."""
    query, y = layout.prompt[0] + MODEL.L * CELL + GAP + CELL / 2, layout.prompt[1] - APART
    goal, height = layout.prediction[0] + 0.35, _middle(layout.Gamma)
    if layout.context[1] == layout.prompt[1]:
        low = layout.prompt[1] - 0.3
        axes.plot([query, query, goal], [y, low, low], color=ARROW["color"], linewidth=ARROW["linewidth"])
        axes.annotate("", (goal, height - 0.42), (goal, low), arrowprops=ARROW)
        axes.text((query + layout.Gamma[0]) / 2, low - 0.06, "product of query and $\\Gamma m$", ha="center", va="top")
    else:
        axes.annotate("", (query, height + 0.2), (query, y), arrowprops=ARROW)
        axes.text(query - 0.08, y - 0.24, "product", ha="right", va="center")
