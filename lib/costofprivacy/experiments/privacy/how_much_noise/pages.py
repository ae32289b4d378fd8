"""The answer and the figures of the page on noise and cost."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes

from costofprivacy.experiments.privacy.how_much_noise.conversions import EXACT, PROPOSITION, RENYI, RULE
from costofprivacy.experiments.privacy.how_much_noise.prompts import BEST, BOUND, EVERY, LAST, PRINTED, SHARP
from costofprivacy.experiments.privacy.how_much_noise.regression import ZERO_RISK
from costofprivacy.experiments.privacy.how_much_noise.verdicts import waste
from costofprivacy.judging.prose import compact, percent, plain, span, times
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.privacy.groups import BLANK, REPLACE
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

EXAMPLE = {"epsilon": 1.0, "records": 1000}  # what the answer speaks of, or the nearest that was measured
STYLES: dict[str, dict[str, Any]] = {
    EXACT: {"color": figures.COLOURS[0], "marker": "o"},
    RENYI: {"color": figures.COLOURS[2], "marker": "D"},
    PROPOSITION: {"color": figures.COLOURS[3], "marker": "s"},
    RULE: {"color": figures.COLOURS[4], "marker": "^"},
}


def nearest(values: pd.Series, wanted: float) -> float:
    """The value of a column that is nearest on a logarithmic scale."""
    return values.iloc[int(np.abs(np.log(values.to_numpy(dtype=float) / wanted)).argmin())]


def example(tables: Tables) -> dict[str, float]:
    """The budget and the size that the answer speaks of."""
    table = tables["regression"]
    delta = {"delta": float(tables["budgets"]["delta"].iloc[0])}
    return {name: nearest(table[name], value) for name, value in EXAMPLE.items()} | delta


def answer(tables: Tables) -> str:
    """The noise and the cost at one budget, and what the printed formulas waste there."""
    where = example(tables)
    budget = {name: where[name] for name in ("epsilon", "delta")}
    exact, rule = (pick(tables["budgets"], route=route, **budget) for route in (EXACT, RULE))
    risk, printed = (pick(tables["regression"], route=r, relation=REPLACE, **where) for r in (EXACT, RULE))
    steps = tables["composition"].query("epsilon == @budget['epsilon'] and T >= 10")
    worst = span(steps["printed"] / steps["least"])
    over = printed["excess_risk"] / risk["excess_risk"]
    return (
        f"For $\\varepsilon = {budget['epsilon']:g}$, $\\delta = $ {compact(budget['delta'])}: Gaussian noise of "
        f"{compact(exact['noise_multiplier'])} times the sensitivity. DP-GD's rule (A.3) asks for "
        f"{compact(rule['noise_over_exact'])} times that, and for {compact(over)} "
        f"times the risk at {risk['records']:.0f} records a feature. NoisyHead's formula asks for {worst} times the "
        f"least noise from ten steps on."
    )


def draw_noise(budgets: pd.DataFrame, regression: pd.DataFrame) -> Plate:
    """Left: noise over sensitivity against ε. Right: DP-GD's best excess risk against ε at one size."""
    delta, records = float(budgets["delta"].iloc[0]), nearest(regression["records"], EXAMPLE["records"])
    told, cost = select(budgets, delta=delta), select(regression, delta=delta, records=records)
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4))
        for route in (RULE, PROPOSITION, EXACT):
            rows = select(told, route=route).sort_values("epsilon")
            left.plot(rows["epsilon"], rows["noise_multiplier"], label=route, **STYLES[route])
        figures.log_axes(left, "$\\varepsilon$", "noise over sensitivity")
        left.set_title(f"noise, δ = {plain(delta)}")
        figures.end_labels(left)
        _draw_cost(right, cost)
        right.set_title(f"DP-GD, n/d = {records:g}")
    ratio = waste(told, RULE)
    ends = cost[cost["epsilon"].isin([cost["epsilon"].min(), cost["epsilon"].max()])]
    exact = select(ends, route=EXACT, relation=REPLACE).sort_values("epsilon")["excess_risk"]
    over = _over(cost, RULE)
    return Plate(
        figure,
        caption=(
            f"**Noise and cost of a budget.** Left: standard deviation of a Gaussian over its sensitivity, by three "
            f"routes from $(\\varepsilon, \\delta)$. The rule (A.3) asks for {span(ratio)} times the exact noise. "
            f"Right: "
            f"the least excess risk of the deterministic equivalent over harmonic schedules, with the noise of each "
            f"route. (A.3) has {span(over)} times the exact calibration's risk. Equations have no sampling error."
        ),
        alt=(
            f"Noise falls as epsilon grows; the rule A.3 needs {plain(ratio.min())} to {plain(ratio.max())} times the "
            f"exact noise. The excess risk falls from {plain(exact.iloc[0])} to {plain(exact.iloc[-1])} with the exact "
            f"calibration; answering 0 has {plain(ZERO_RISK)}."
        ),
    )


def _over(cost: pd.DataFrame, route: str) -> pd.Series:
    """The excess risk of a route over that of the exact calibration, by ε, for a replaced record."""
    risks = select(cost, relation=REPLACE).pivot(index="epsilon", columns="route", values="excess_risk")
    return risks[route] / risks[EXACT]


def _draw_cost(axes: Axes, cost: pd.DataFrame) -> None:
    shown = {(RULE, REPLACE): "(A.3)", (PROPOSITION, REPLACE): PROPOSITION, (EXACT, REPLACE): "exact"}
    for (route, relation), label in shown.items():
        rows = select(cost, route=route, relation=relation).sort_values("epsilon")
        axes.plot(rows["epsilon"], rows["excess_risk"], label=label, **STYLES[route])
    blank = select(cost, route=EXACT, relation=BLANK).sort_values("epsilon")
    axes.plot(blank["epsilon"], blank["excess_risk"], "--v", color=figures.COLOURS[9], label="exact, add\nor remove")
    axes.plot(blank["epsilon"], blank["free_risk"], "k:", lw=1.5, label="no privacy")
    axes.plot(blank["epsilon"], np.full(len(blank), ZERO_RISK), "k--", lw=1, label="answering 0")
    figures.log_axes(axes, "$\\varepsilon$", "excess risk")
    figures.end_labels(axes)


def draw_curves(curves: pd.DataFrame) -> Plate:
    """ε against ρ: exact, by Rényi divergences, by Proposition A.3 and by (A.3), over the exact one below."""
    delta = float(curves["delta"].iloc[0])
    rows = select(curves, delta=delta)
    exact, over = select(rows, route=EXACT).set_index("rho")["epsilon"], {}
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0))
        for route in (RULE, PROPOSITION, RENYI, EXACT):
            line = select(rows, route=route).set_index("rho")["epsilon"]
            look = STYLES[route] | {"marker": "", "label": route}
            left.plot(line.index, line, **look)
            over[route] = (line / exact).dropna()
            right.plot(over[route].index, over[route], **look)
        figures.log_axes(left, "$\\rho$", "$\\varepsilon$")
        figures.log_axes(right, "$\\rho$", "$\\varepsilon$ over the exact one")
        figures.few_decades(right)
        left.set_title(f"δ = {plain(delta)}")
        figures.end_labels(left)
        figures.end_labels(right)
    return Plate(
        figure,
        caption=(
            f"**From $\\rho$ to $\\varepsilon$.** The same noise by four accounts. $\\rho^2/2$-zCDP by way of Rényi "
            f"divergences gives {span(over[RENYI])} times the $\\varepsilon$ of $\\rho$-Gaussian privacy, which is "
            f"exact. "
            f"Proposition A.3 gives {span(over[PROPOSITION])} times, and (A.3) {span(over[RULE])} times. Closed forms "
            f"have no error."
        ),
        alt=(
            f"Epsilon rises with rho from {plain(exact.iloc[0])} at {plain(exact.index[0])} to {plain(exact.iloc[-1])} "
            f"at "
            f"{plain(exact.index[-1])}. Over the exact one: Rényi at most {plain(over[RENYI].max())}, Proposition A.3 "
            f"at most {plain(over[PROPOSITION].max())}, the rule at most {plain(over[RULE].max())}."
        ),
    )


VIEWS = {
    "printed": (PRINTED, BOUND, REPLACE),
    "every iterate,\nexactly": (EVERY, BOUND, REPLACE),
    "last iterate": (LAST, BOUND, REPLACE),
    "… and exact\nsensitivity": (LAST, SHARP, REPLACE),
    "… and add or\nremove one": (LAST, SHARP, BLANK),
}


def draw_prompts(prompts: pd.DataFrame, composition: pd.DataFrame) -> Plate:
    """Left: NoisyHead's noise over the least against T. Right: its test error against N at one ε, by account."""
    epsilon = nearest(prompts["epsilon"], EXAMPLE["epsilon"])
    told = select(composition, epsilon=epsilon).sort_values("T")
    best = select(prompts, epsilon=epsilon, choice=BEST)
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4))
        for column, label, style in (("printed", "printed", "s-"), ("least", "every iterate,\nexactly", "o-")):
            left.plot(told["T"], told[column], style, label=label)
        left.plot(told["T"], told["least_last"], "D-", label="last iterate,\nsteps shrink by 0.9")
        figures.log_axes(left, "$T$ (steps)", "noise of a step over its sensitivity")
        left.set_title(f"ε = {epsilon:g}")
        figures.end_labels(left)
        for (label, view), look in zip(VIEWS.items(), figures.looks(VIEWS).values(), strict=True):
            rows = of_view(best, view).sort_values("N")
            right.plot(rows["N"], rows["test_error"], label=label, **look)
        right.axhline(float(best["response_variance"].max()), color="k", ls="--", lw=1)
        right.set(xscale="log", xlabel="$N$ (training prompts)", ylabel="test error")
        right.set_title("each at its best public penalty")
        figures.end_labels(right)
    ratio, last = told["printed"] / told["least"], best[best["N"] == best["N"].max()]
    errors = {label.replace("\n", " "): of_view(last, view)["test_error"].iloc[0] for label, view in VIEWS.items()}
    zero, first, sharp = float(best["response_variance"].max()), errors["printed"], min(errors.values())
    return Plate(
        figure,
        caption=(
            f"**NoisyHead's noise.** Left: the printed noise of a step is {span(ratio)} times what releasing all "
            f"iterates "
            f"needs. Right: test error in closed form, where answering 0 has {compact(zero)} (dashed). At the largest "
            f"$N$ the printed noise leaves {compact(first)}, the tightest account {compact(sharp)}. Closed forms have "
            f"no "
            f"sampling error."
        ),
        alt=(
            f"Printed over least noise: {plain(ratio.min())} to {plain(ratio.max())}. Test error at N = "
            f"{best['N'].max()}: " + ", ".join(f"{name} {plain(value)}" for name, value in errors.items()) + "."
        ),
    )


def of_view(rows: pd.DataFrame, view: tuple[str, str, str]) -> pd.DataFrame:
    """The rows of one account, sensitivity and relation."""
    account, sensitivity, relation = view
    return select(rows, account=account, sensitivity=sensitivity, relation=relation)


def read_waste(tables: Tables) -> Markdown:
    """What the printed formulas waste, in a sentence each."""
    where, prompts = example(tables), tables["prompts"]
    rows = select(tables["regression"], epsilon=where["epsilon"], delta=where["delta"], relation=REPLACE)
    risks = rows.pivot(index="records", columns="route", values="excess_risk")
    at = select(prompts, epsilon=nearest(prompts["epsilon"], where["epsilon"]), choice=BEST)
    explained = 1 - at["test_error"] / at["response_variance"]
    printed, tight = explained[at["account"] == PRINTED].max(), explained.max()
    return Markdown(
        f"At $\\varepsilon = {where['epsilon']:g}$ Proposition A.3 multiplies DP-GD's risk by "
        f"{span(risks[PROPOSITION] / risks[EXACT])}, and the rule (A.3) by {span(risks[RULE] / risks[EXACT])}, "
        f"depending on "
        f"$n/d$. NoisyHead with its printed noise explains at most {percent(max(0.0, printed))} of the responses' "
        f"variance at "
        f"any of these $N$; with the tightest account {percent(tight)}."
    )


def read_relations(inclusion: pd.DataFrame, regression: pd.DataFrame) -> Markdown:
    """What the neighbouring relation costs in each algorithm."""
    ratio = inclusion["replaced"] / inclusion["left_out"]
    risks = select(regression, route=EXACT).pivot(
        index=["records", "epsilon", "delta"], columns="relation", values="excess_risk"
    )
    over = risks[REPLACE] / risks[BLANK]
    return Markdown(
        f"For DP-GD the factor in the noise is exactly 2, since clipped gradients fill a ball. It multiplies the "
        f"excess risk by "
        f"{span(over)}. For NoisyHead a replaced prompt moves a step only {span(ratio)} times as far as one that is "
        f"left blank, "
        f"so there the choice of relation costs at most {times(ratio.max())} in noise."
    )
