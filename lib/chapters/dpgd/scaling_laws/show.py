"""How much does more data buy when some directions of the features are weak, and when is privacy free?"""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.dpgd.scaling_laws.judge import furthest, least, log_power, peak, smallest
from chapters.dpgd.scaling_laws.measure import PLACE, WITHIN
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, compared, listed, percent, plain
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate

# ---- Figures 2 and 3 recomputed, and how small γ must be for their slopes ----

GAMMA = r"$\gamma = d/n$"
FLOOR = 1e-5  # a distance from h below this is not drawn
NEAR = 0.05  # a distance from h that the eye does not see in a slope
FALLING = ("falls", "stays", "grows")
SOLVED = "The equations are solved, so there is no sampling error."


def privacy(b: float) -> str:
    """ρ = γ^b in words of mathematics."""
    return r"$\rho = 1$" if b == 0 else r"$\rho = \sqrt{\gamma}$" if b == 0.5 else rf"$\rho = \gamma^{{{b:g}}}$"


def with_claim(points: pd.DataFrame) -> pd.DataFrame:
    """The risks of curves with γ^h through the point of least γ, ``claimed``, in order of b and γ."""
    rows = points.sort_values(["b", "gamma"])
    least = rows.groupby(PLACE)[["gamma", "risk"]].transform("first")
    return rows.assign(claimed=least["risk"] * (rows["gamma"] / least["gamma"]) ** rows["h"])


def caption_figure_2(tables: Tables) -> str:
    """What the risks of the constant schedule in Figure 2 show."""
    points = tables["figure-2"]
    rows = select(points, alpha=points["alpha"].min())
    return (
        f"**{_follows(tables, 'figure-2')}.** Figure 2 of the paper, recomputed to smaller $\\gamma$: the risk with "
        f"the best learning rate at each $\\gamma$, for $\\alpha={rows['alpha'].iloc[0]:g}$. Dashed: $\\gamma^h$ of "
        f"Theorem 4 through the last point. {words.headline(judges_of(__package__)['dpgd/figure-2'], tables)} "
        f"{'Crosses: points at the cap. ' if rows['at_cap'].any() else ''}{SOLVED}"
    )


def caption_figure_3(tables: Tables) -> str:
    """What the risks and slopes of Figure 3 show."""
    rows = tables["figure-3"]
    return (
        f"**{_follows(tables, 'figure-3')}.** Figure 3 of the paper, recomputed to smaller $\\gamma$: the risk with "
        f"the best learning rate, {privacy(rows['b'].iloc[0])}, $\\psi={rows['psi'].min():g}$. Dashed: $\\gamma^h$. "
        "Last panel: points are slopes fitted at the largest $\\gamma$, full lines local slopes at the smallest, "
        f"dashed lines $h$. {words.headline(judges_of(__package__)['dpgd/figure-3'], tables)} {SOLVED}"
    )


def _follows(tables: Tables, figure: str) -> str:
    """Whether the slopes of a figure's curves come near h at the least γ."""
    last = smallest(tables["slopes"].merge(tables[figure][PLACE].drop_duplicates(), on=PLACE))
    away = abs(furthest(last)["distance"])
    if away < NEAR:
        return "As $\\gamma$ falls, every curve takes nearly the slope that Theorem 4 predicts"
    return f"At the smallest $\\gamma$ a slope still differs from that of Theorem 4 by {compact(away)}"


def number(figure: str) -> str:
    """What the paper calls a figure: ``Figure 10`` for ``figure-10``."""
    return figure.replace("-", " ").capitalize()


def caption_panels(tables: Tables) -> str:
    """Figures 10 to 13: whether the smallest of the exponents peaks where it would without privacy."""
    free: list[str] = []
    costly: list[str] = []
    for name, rows in tables["panels"].groupby("figure", sort=False):
        at, without = peak(rows, "e2", "e3"), peak(rows, "e2")
        (free if abs(at - without) < 1e-9 else costly).append(f"{number(name)} (at $a$ = {compact(at)})")
    told = [f"free in {listed(free)}"] * bool(free) + [f"costly in {listed(costly)}"] * bool(costly)
    return (
        f"**Privacy is {' and '.join(told)}.** Figures 10 to 13 of the paper, recomputed. Star: where the smallest "
        "exponent is largest, so that the risk is least. Privacy is free where that is the crossing of $e_1$ and "
        "$e_2$. All four draw (E.42), the case $\\varphi(\\alpha+1)<2$. Closed form."
    )


def draw_approach(slopes: pd.DataFrame, far: pd.DataFrame, settled: pd.DataFrame, points: pd.DataFrame) -> Plate:
    """How far the local slope is from h, decade by decade: solved, then continued in closed form."""
    place = points[["phi", "psi", "b"]].iloc[0]
    solved, continued = (select(table, **place) for table in (slopes, far))
    continued = continued[continued["distance"].abs() > FLOOR].sort_values("gamma")
    every = sorted(solved["alpha"].unique())
    alphas = sorted({*every[:3], every[-1]})
    with figures.panels(ends=False, figsize=(6.8, 4.0)) as (figure, (axes,)):
        for alpha, look in figures.looks(alphas).items():
            marks, line = select(solved, alpha=alpha), select(continued, alpha=alpha)
            line = line[line["gamma"] < marks["gamma"].min()]
            axes.plot(marks["gamma"], marks["distance"].abs().clip(lower=FLOOR), ls="", **look, label="_solved")
            axes.plot(line["gamma"], line["distance"].abs(), "-", color=look["color"], label=rf"$\alpha = {alpha:g}$")
        axes.axhline(WITHIN, color="0.35", ls="--", lw=1)
        figures.log_axes(axes, GAMMA, "distance of the local slope from $h$")
        axes.set(ylim=(FLOOR, None))
        axes.invert_xaxis()
        axes.legend(loc="upper right")
        for marks, alpha in zip(axes.lines[::2], alphas):
            marks.set_label(rf"solved, $\alpha = {alpha:g}$")  # after the legend, which has no marks
    table = settled.merge(points[PLACE].drop_duplicates(), on=PLACE)
    latest = least(table, "settles_at")
    ends, slowest = int(table["settles_at"].notna().sum()), round(np.log10(latest["settles_at"]))
    head = "All slopes come near $h$" if ends == len(table) else f"{ends} of {len(table)} slopes come near $h$"
    return Plate(
        figure,
        f"**{head}, the slowest only at $\\gamma=10^{{{slowest}}}$.** Drawn are curves with "
        f"$\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, {privacy(place['b'])}; marks: solved; lines: closed "
        f"form. Of {len(table)} curves {ends} end within {WITHIN:g} (dashed). The slowest one has "
        f"$\\varphi={latest['phi']:g}$, $\\psi={latest['psi']:g}$, $\\alpha={latest['alpha']:g}$, where "
        f"$\\varphi(\\alpha+1)={latest['phi'] * (latest['alpha'] + 1):.3g}$.",
    )


# ---- When privacy is free, Figures 10 to 13, and the logarithm of (6.6) ----


def draw_cost(cost: pd.DataFrame) -> Plate:
    """What privacy costs against γ: free and costly, at the least and the largest α of one problem."""
    place = cost[["phi", "psi"]].iloc[-1]
    rows = select(cost, **place)
    alphas = sorted({rows["alpha"].min(), rows["alpha"].max()})
    panels_of = sorted(rows["b"].unique())
    with figures.panels(len(panels_of), figsize=(7.8, 3.5)) as (figure, panels):
        for axes, b in zip(panels, panels_of):
            for alpha, look in figures.looks(alphas).items():
                curve = select(rows, b=b, alpha=alpha).sort_values("gamma")
                axes.plot(curve["gamma"], curve["ratio"], label=rf"$\alpha={alpha:g}$", **look)
            figures.log_axes(axes, GAMMA, "risk over that without privacy" if axes is panels[0] else "")
            axes.set_title(privacy(b))
            if select(rows, b=b)["ratio"].max() < 10:
                axes.set(yscale="linear", ylim=(0.95, None))
    costs = []
    for b in panels_of:
        curves, demand = select(rows, b=b), f"At {privacy(b)}"
        start, end = select(curves, gamma=curves["gamma"].max())["ratio"].max(), smallest(curves)["ratio"].max()
        if end >= start:
            factor = f"{compact(start)} to {compact(end)}"
            costs.append(f"{demand} the factor by which privacy raises the risk grows from {factor}.")
        else:
            first, last = percent(start - 1), percent(end - 1)
            costs.append(f"{demand} privacy adds up to {first} at the largest $\\gamma$ and {last} at the smallest.")
    grows = select(rows, b=panels_of[-1]).groupby("gamma")["ratio"].max()
    head = f"At {privacy(panels_of[-1])} the cost of privacy {compared(grows.iloc[0], grows.iloc[-1], FALLING)}"
    return Plate(
        figure,
        f"**{head} as data become plentiful.** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, "
        f"$\\gamma\\le{rows['gamma'].max():g}$; best learning rates. {' '.join(costs)} {SOLVED}",
    )


def draw_critical(critical: pd.DataFrame) -> Plate:
    """The critical b against φ: left by schedule, right by target."""
    left, right = select(critical, psi=0.0), select(critical, alpha=math.inf)
    with figures.panels(2, figsize=(7.8, 3.7), sharey=True) as (figure, panels):
        _lines(panels[0], left, "alpha", [a for a in (0.0, 2.0, 10.0, math.inf) if a in set(left["alpha"])], r"\alpha")
        _lines(panels[1], right, "psi", sorted(right["psi"].unique()), r"\psi")
        panels[0].set(title=r"schedules, $\psi = 0$", ylabel="critical $b$ in $\\rho=\\gamma^b$")
        panels[1].set(title=r"targets, $\alpha \to \infty$")
    steepest = select(right, phi=right["phi"].max())
    negative = steepest[steepest["psi"] < 0]
    kept = [f" With $\\psi={row.psi:g}$ it is {compact(row.critical)}." for row in negative.head(1).itertuples()]
    return Plate(
        figure,
        "**Privacy is free below the lines: weak directions of the features lower the threshold.** A larger $b$ is a "
        "stricter requirement. Over all spectra and targets shown the critical $b$ goes from "
        f"{compact(critical['critical'].min())} to {compact(critical['critical'].max())}. At the steepest spectrum, "
        f"$\\psi=0$, it is {compact(select(steepest, psi=0)['critical'].iloc[0])} with the best "
        f"schedule.{''.join(kept)} Closed form.",
    )


def _lines(axes: Axes, rows: pd.DataFrame, by: str, values: list[float], name: str) -> None:
    for value, look in figures.looks(values).items():
        line = select(rows, **{by: value}).sort_values("phi")
        text = r"\infty" if value == math.inf else f"{value:g}"
        axes.plot(line["phi"], line["critical"], color=look["color"], label=f"${name}={text}$")
    axes.set(xlabel=r"$\varphi$, exponent of the spectrum", ylim=(0, 0.52))


def draw_logarithm(logarithm: pd.DataFrame) -> Plate:
    """At φ(α + 1) = 2 where privacy costs: risk over γ^h against ln(1/γ), at v = γ^a and at the best v."""
    place = logarithm.iloc[0]
    rows = select(logarithm, **place[PLACE])
    kappa = 2 - place["phi"] - place["psi"]
    claims = {"power": 1.0, "best": kappa / (kappa + place["phi"])}
    labels = {"power": "$v=\\gamma^a$", "best": "best $v$"}
    x = np.asarray(rows["log"])
    with figures.panels(figsize=(6.2, 3.8)) as (figure, (axes,)):
        for (name, label), look in zip(labels.items(), figures.looks(labels).values()):
            axes.plot(x, rows[name], label=label, **look)
            line = rows[name].iloc[-1] * (x / x[-1]) ** claims[name]
            axes.plot(x, line, "--", color="0.35", lw=1, label="_slope")
        figures.log_axes(axes, r"$\ln(1/\gamma)$", r"risk over $\gamma^h$")
        ticks = np.array([5, 10, 20, 50, 100, 200, 500, 1000])
        figures.plain_ticks(axes, ticks[(x.min() <= ticks) & (ticks <= x.max())])
    gain = rows["power"].iloc[-1] / rows["best"].iloc[-1]
    return Plate(
        figure,
        "**A learning rate that is no power of $\\gamma$ gains part of the logarithm of (6.6).** "
        f"$\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, $\\alpha={place['alpha']:g}$, $b={place['b']:g}$, so "
        "$\\varphi(\\alpha+1)=2$. At $v=\\gamma^a$ the risk contains the logarithm to the power "
        f"{compact(log_power(rows, 'power'))}, at the best $v$, which is no power of $\\gamma$, to the power "
        f"{compact(log_power(rows, 'best'))} (dashed: 1 and {compact(claims['best'])}). The best risk ends "
        f"{compact(gain)} times lower. Closed form.",
    )


CASES = {1: "privacy free, (6.4)", 2: "privacy costs, (6.5)", 3: "free, φ(α+1) ≥ 2", 4: "costs, (6.6)"}


def show_settled(settled: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """For each curve h, the distance of the local slope at the least solved γ, and the γ where it settles."""
    rows = settled.merge(points[PLACE].drop_duplicates(), on=PLACE)
    rows = rows.assign(cell=rows["settles_at"].map(plain))
    table = rows.pivot_table(index="alpha", columns=["phi", "psi"], values="cell", aggfunc="first")
    table.columns = [f"φ = {phi:g}, ψ = {psi:g}" for phi, psi in table.columns]
    table.index = pd.Index([f"{alpha:g}" for alpha in table.index], name="α")
    return table


def show_theorem(powers: pd.DataFrame) -> pd.DataFrame:
    """The risk at v = γ^a over γ^h along γ, c = 1, a row a curve."""
    table = powers.pivot_table(index=["case", *PLACE], columns="gamma", values="ratio")
    table = table[sorted(table.columns, reverse=True)].map(plain).rename(columns=plain)
    table = table.rename(index=CASES, level="case")
    index = [tuple(v if isinstance(v, str) else plain(v) for v in place) for place in table.index]
    table.index = pd.MultiIndex.from_tuples(index, names=["case", "φ", "ψ", "α", "b"])
    return table.rename_axis(columns="γ")


def show_clips(clips: pd.DataFrame) -> pd.DataFrame:
    """The best risk over γ^h by clipping constant at the largest and the least γ."""
    ends = clips[clips["gamma"].isin([clips["gamma"].min(), clips["gamma"].max()])]
    table = ends.pivot_table(index=["case", "gamma"], columns="clip", values="ratio", sort=False)
    table = table.rename(index=CASES, level="case").rename(index=plain, level="gamma")
    return table.rename(columns={"growing": "γ^(−1/4)"}).map(plain).rename_axis(index=["case", "γ"], columns="c")


def answer(tables: Tables) -> list[str]:
    """What the page opens with, a line each."""
    cost = tables["cost"]
    worst = cost[cost["b"] <= cost["critical"]].nlargest(1, "ratio").iloc[0]
    return [
        "The risk falls like $\\gamma^h$, where $\\gamma = d/n$. Weak directions make the exponent $h$ smaller.",
        "In the limit of Figure 2 privacy is free for $\\rho = \\gamma^b$ up to $b$ = "
        f"{compact(cost['critical'].min())} to {compact(cost['critical'].max())}. Privacy "
        f"still adds up to {percent(worst['ratio'] - 1)} to the risk at $\\gamma={worst['gamma']:g}$, "
        f"{privacy(worst['b'])}, $\\varphi={worst['phi']:g}$, $\\psi={worst['psi']:g}$, $\\alpha={worst['alpha']:g}$.",
    ]
