"""The figure of the page that chooses a method."""

import pandas as pd
from matplotlib.axes import Axes

from chapters.method import regression
from chapters.method.experiment import BEST, HEAD, LINEAR, OPEN, PAPERS, RIDGE, ZERO
from chapters.method.page import example
from companion.judging.prose import compact, span
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate


def draw_methods(prompts: pd.DataFrame, one: pd.DataFrame) -> Plate:
    """Left: prompts, test error against N. Right: one regression, half the test error against records per feature."""
    epsilon, rho, zero = example(prompts)["epsilon"], one["rho"].max(), prompts["response_variance"].max()
    told = select(prompts, epsilon=epsilon)
    papers = select(told, choice=PAPERS)
    with figures.panels(2, figsize=(9.2, 4.4)) as (figure, (left, right)):
        _draw_prompts(left, select(told, choice=BEST), papers)
        _draw_regression(right, select(one, rho=rho))
        left.set_title(f"many small regressions in prompts, ε = {epsilon:g}")
        right.set_title(f"one regression, μ = {rho:g}")
    return Plate(
        figure,
        caption=(
            f"**Methods at equal privacy, on equal data.** Left: the test error of heads for prompts at "
            f"$\\varepsilon = {epsilon:g}$, each method with its best penalty. With the paper's penalty and correctly "
            f"calibrated noise, all methods have a test error of {span(papers['test_error'])} (crosses); always "
            f"predicting 0 has {compact(zero)}. Right: half the test error of one pass over one data set, each "
            f"schedule with its best learning rate. The curves are closed forms and solutions of equations, without "
            f"sampling error. The first table below shows the errors of the algorithms themselves."
        ),
    )


def _draw_prompts(axes: Axes, best: pd.DataFrame, papers: pd.DataFrame) -> None:
    names = {name: name.replace(", ", ",\n") for name in (RIDGE, HEAD, OPEN)}
    figures.curves(axes, best, "N", "test_error", "method", names)
    figures.points(axes, papers, "N", "test_error", fmt="x", color="0.35", label="all, at the\npaper's λ")
    _draw_ends(axes, best, "N", "test_error", LINEAR)
    figures.log_axes(axes, "$N$ (training prompts)", "test error")


def _draw_regression(axes: Axes, table: pd.DataFrame) -> None:
    names = {name: _short(name) for name in regression.WAYS}
    figures.curves(axes, table, "records", "half_test_error", "method", names)
    _draw_ends(axes, table, "records", "half_test_error", regression.LEAST_SQUARES)
    axes.set_ylim(top=2 * table["half_response_variance"].max())
    figures.log_axes(axes, "$n/d$ (records per feature)", "half the test error")


def _short(name: str) -> str:
    """A method's name for the end of its curve."""
    return name.removeprefix("DP-GD, ").replace(", ", ",\n").replace("noise at", "noise\nat")


def _draw_ends(axes: Axes, table: pd.DataFrame, x: str, y: str, floor: str) -> None:
    """What nothing learned gives, and what is possible without privacy."""
    figures.points(axes, select(table, method=ZERO), x, y, fmt="k--", lw=1, label="answering 0")
    figures.points(axes, select(table, method=floor), x, y, fmt="k:", lw=1.5, label=_short(floor))
