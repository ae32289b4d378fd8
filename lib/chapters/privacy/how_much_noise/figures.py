"""The figures of the page on noise and cost."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from chapters.privacy.how_much_noise.conversions import EXACT, PROPOSITION, RENYI, RULE
from chapters.privacy.how_much_noise.page import EXAMPLE
from chapters.privacy.how_much_noise.prompts import BEST, BOUND, EVERY, LAST, PRINTED, SHARP
from chapters.privacy.how_much_noise.regression import ZERO_RISK
from chapters.privacy.how_much_noise.verdicts import waste
from companion.judging.prose import compact, plain, span
from companion.judging.tables import nearest, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.privacy.groups import BLANK, REPLACE

STYLES: dict[str, dict[str, Any]] = {
    EXACT: {"color": figures.COLOURS[0], "marker": "o"},
    RENYI: {"color": figures.COLOURS[2], "marker": "D"},
    PROPOSITION: {"color": figures.COLOURS[3], "marker": "s"},
    RULE: {"color": figures.COLOURS[4], "marker": "^"},
}
VIEWS = {
    "printed": (PRINTED, BOUND, REPLACE),
    "every iterate,\nexactly": (EVERY, BOUND, REPLACE),
    "last iterate": (LAST, BOUND, REPLACE),
    "… and exact\nsensitivity": (LAST, SHARP, REPLACE),
    "… and add or\nremove one": (LAST, SHARP, BLANK),
}


def draw_noise(budgets: pd.DataFrame, regression: pd.DataFrame) -> Plate:
    """Left: noise over sensitivity against ε. Right: DP-GD's best excess risk against ε at one size."""
    delta, records = float(budgets["delta"].iloc[0]), nearest(regression["records"], EXAMPLE["records"])
    told, cost = select(budgets, delta=delta), select(regression, delta=delta, records=records)
    with figures.panels(2, figsize=(9.2, 4.4)) as (figure, (left, right)):
        for route in (RULE, PROPOSITION, EXACT):
            rows = select(told, route=route)
            figures.points(left, rows, "epsilon", "noise_multiplier", label=route, **STYLES[route])
        figures.log_axes(left, "$\\varepsilon$", "noise over sensitivity")
        left.set_title(f"noise, δ = {plain(delta)}")
        _draw_cost(right, cost)
        right.set_title(f"DP-GD, n/d = {records:g}")
    risks = select(cost, relation=REPLACE).pivot(index="epsilon", columns="route", values="excess_risk")
    return Plate(
        figure,
        caption=(
            f"**Noise and cost of a budget.** Left: standard deviation of a Gaussian over its sensitivity, by three "
            f"routes from $(\\varepsilon, \\delta)$. The rule (A.3) asks for {span(waste(told, RULE))} times the exact "
            f"noise. Right: the least excess risk of the deterministic equivalent over harmonic schedules, with the "
            f"noise of each route. (A.3) has {span(risks[RULE] / risks[EXACT])} times the exact calibration's risk. "
            f"Equations have no sampling error."
        ),
    )


def _draw_cost(axes: Axes, cost: pd.DataFrame) -> None:
    replaced, blank = select(cost, relation=REPLACE), select(cost, route=EXACT, relation=BLANK)
    for route, label in {RULE: "(A.3)", PROPOSITION: PROPOSITION, EXACT: "exact"}.items():
        figures.points(axes, select(replaced, route=route), "epsilon", "excess_risk", label=label, **STYLES[route])
    lines: dict[str, tuple[str, dict[str, Any]]] = {
        "exact, add\nor remove": ("excess_risk", {"fmt": "--v", "color": figures.COLOURS[9]}),
        "no privacy": ("free_risk", {"fmt": "k:", "lw": 1.5}),
        "answering 0": ("zero", {"fmt": "k--", "lw": 1}),
    }
    for label, (column, look) in lines.items():
        figures.points(axes, blank.assign(zero=ZERO_RISK), "epsilon", column, label=label, **look)
    figures.log_axes(axes, "$\\varepsilon$", "excess risk")


def draw_curves(curves: pd.DataFrame) -> Plate:
    """ε against ρ: exact, by Rényi divergences, by Proposition A.3 and by (A.3), over the exact one below."""
    delta = float(curves["delta"].iloc[0])
    rows = select(curves, delta=delta)
    exact = select(rows, route=EXACT).set_index("rho")["epsilon"]
    rows = rows.assign(over=rows["epsilon"] / rows["rho"].map(exact))
    with figures.panels(2, figsize=(9.2, 4.0)) as (figure, (left, right)):
        for route in (RULE, PROPOSITION, RENYI, EXACT):
            for axes, column in ((left, "epsilon"), (right, "over")):
                look = STYLES[route] | {"marker": "", "label": route}
                figures.points(axes, select(rows, route=route), "rho", column, **look)
        figures.log_axes(left, "$\\rho$", "$\\varepsilon$")
        figures.log_axes(right, "$\\rho$", "$\\varepsilon$ over the exact one")
        figures.few_decades(right)
        left.set_title(f"δ = {plain(delta)}")
    over = {route: span(select(rows, route=route)["over"]) for route in (RENYI, PROPOSITION, RULE)}
    return Plate(
        figure,
        caption=(
            f"**From $\\rho$ to $\\varepsilon$.** The same noise by four accounts. $\\rho^2/2$-zCDP by way of Rényi "
            f"divergences gives {over[RENYI]} times the $\\varepsilon$ of $\\rho$-Gaussian privacy, which is exact. "
            f"Proposition A.3 gives {over[PROPOSITION]} times, and (A.3) {over[RULE]} times. Closed forms have no "
            f"error."
        ),
    )


def draw_prompts(prompts: pd.DataFrame, composition: pd.DataFrame) -> Plate:
    """Left: NoisyHead's noise over the least against T. Right: its test error against N at one ε, by account."""
    epsilon = nearest(prompts["epsilon"], EXAMPLE["epsilon"])
    told, best = select(composition, epsilon=epsilon), select(prompts, epsilon=epsilon, choice=BEST)
    zero = float(best["response_variance"].max())
    lines = {
        "printed": "printed",
        "every iterate,\nexactly": "least",
        "last iterate,\nsteps shrink by 0.9": "least_last",
    }
    with figures.panels(2, figsize=(9.2, 4.4)) as (figure, (left, right)):
        for (label, column), marker in zip(lines.items(), "soD", strict=True):
            figures.points(left, told, "T", column, label=label, marker=marker)
        figures.log_axes(left, "$T$ (steps)", "noise of a step over its sensitivity")
        left.set_title(f"ε = {epsilon:g}")
        for (label, view), look in zip(VIEWS.items(), figures.looks(VIEWS).values(), strict=True):
            rows = of_view(best, view).sort_values("N")
            right.plot(rows["N"], rows["test_error"], label=label, **look)
        right.axhline(zero, color="k", ls="--", lw=1)
        right.set(xscale="log", xlabel="$N$ (training prompts)", ylabel="test error")
        right.set_title("each at its best public penalty")
    errors = [of_view(best[best["N"] == best["N"].max()], view)["test_error"].iloc[0] for view in VIEWS.values()]
    return Plate(
        figure,
        caption=(
            f"**NoisyHead's noise.** Left: the printed noise of a step is {span(told['printed'] / told['least'])} "
            f"times what releasing all iterates needs. Right: test error in closed form, where answering 0 has "
            f"{compact(zero)} (dashed). At the largest $N$ the printed noise leaves {compact(errors[0])}, the tightest "
            f"account {compact(min(errors))}. Closed forms have no sampling error."
        ),
    )


def of_view(rows: pd.DataFrame, view: tuple[str, str, str]) -> pd.DataFrame:
    """The rows of one account, sensitivity and relation."""
    account, sensitivity, relation = view
    return select(rows, account=account, sensitivity=sensitivity, relation=relation)
