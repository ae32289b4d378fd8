"""How much does more data buy when some directions of the features are weak, and when is privacy free?"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chapters.dpgd.scaling_laws.judge import furthest, least, log_power, smallest
from chapters.dpgd.scaling_laws.measure import PANELS, PLACE, WITHIN
from companion.judging import words
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import compact, listed, percent, plain, span
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

# ---- Figures 2 and 3 recomputed, and how small γ must be for their slopes ----

GAMMA = r"$\gamma = d/n$"
FLOOR = 1e-5  # a distance from h below this is not drawn


def privacy(b: float) -> str:
    """ρ = γ^b in words of mathematics."""
    return r"$\rho = 1$" if b == 0 else r"$\rho = \sqrt{\gamma}$" if b == 0.5 else rf"$\rho = \gamma^{{{b:g}}}$"


def _spectrum(phi: float) -> str:
    return rf"$\varphi = {phi:g}$"


def draw_figure_2(points: pd.DataFrame, slopes: pd.DataFrame, fits: pd.DataFrame) -> Plate:
    """The first two panels of Figure 2: the optimised risk of the constant schedule, a panel a problem."""
    alpha = points["alpha"].min()
    rows = select(points, alpha=alpha)
    problems = list(rows.groupby(["phi", "psi"], sort=False))
    with _grid(len(problems), 2) as (figure, panels):
        for axes, ((phi, psi), chosen) in zip(panels, problems):
            _risks(axes, chosen, "b", privacy)
            axes.set_title(rf"$\varphi = {phi:g}$, $\psi = {psi:g}$")
    found = words.headline(
        judges_of(__package__)["dpgd/figure-2"], {"figure-2": points, "slopes": slopes, "fits": fits}
    )
    return Plate(
        figure,
        f"**Figure 2, recomputed to smaller $\\gamma$.** Risk with the best learning rate at each $\\gamma$, "
        f"$\\alpha={alpha:g}$. Dashed: $\\gamma^h$ of Theorem 4 through the last point. {found} Crosses: "
        f"{int(rows['at_cap'].sum())} points at the cap $2/\\gamma$. Solved equations: no sampling error.",
    )


def draw_figure_3(points: pd.DataFrame, slopes: pd.DataFrame, fits: pd.DataFrame) -> Plate:
    """The first three panels of Figure 3: the optimised risk for a small, a middling and the largest α."""
    alphas = sorted(points["alpha"].unique())
    shown = sorted({alphas[0], alphas[len(alphas) // 2], alphas[-1]})
    rows = select(points, psi=points["psi"].min())
    rows = rows[rows["alpha"].isin(shown)]
    with _grid(len(shown), 3) as (figure, panels):
        for axes, alpha in zip(panels, shown):
            _risks(axes, select(rows, alpha=alpha), "phi", _spectrum)
            axes.set_title(rf"$\alpha = {alpha:g}$")
    found = words.headline(
        judges_of(__package__)["dpgd/figure-3"], {"figure-3": points, "slopes": slopes, "fits": fits}
    )
    return Plate(
        figure,
        f"**Figure 3, recomputed to smaller $\\gamma$.** Risk with the best learning rate, "
        f"{privacy(rows['b'].iloc[0])}, $\\psi={rows['psi'].iloc[0]:g}$. Dashed: $\\gamma^h$ through the last point. "
        f"{found} Crosses: {int(rows['at_cap'].sum())} points at the cap. Solved equations: no sampling error.",
    )


@contextmanager
def _grid(count: int, columns: int) -> Iterator[tuple[Figure, list[Axes]]]:
    """As many panels as asked for, in a few columns, whose curves are named once all are drawn."""
    rows = -(-count // columns)
    with figures.style():
        figure, panels = plt.subplots(rows, min(count, columns), figsize=(7.8, 3.1 * rows), squeeze=False, sharey=True)
        for extra in panels.flat[count:]:
            extra.remove()
        yield figure, list(panels.flat[:count])
        for axes in panels.flat[:count]:
            figures.end_labels(axes)


def _risks(axes: Axes, rows: pd.DataFrame, by: str, name: Callable[[float], str]) -> None:
    """Risk against γ, a curve for each value of a column, each with its claimed slope."""
    values = sorted(rows[by].unique())
    for value, look in zip(values, figures.looks(values).values()):
        curve = select(rows, **{by: value}).sort_values("gamma")
        axes.plot(curve["gamma"], curve["risk"], label=name(value), **look)
        first = curve.iloc[0]
        line = first["risk"] * (curve["gamma"] / first["gamma"]) ** first["h"]
        axes.plot(curve["gamma"], line, "--", color="0.35", lw=1, label="_claimed")
        capped = curve[curve["at_cap"]]
        axes.plot(capped["gamma"], capped["risk"], "x", color="black", ms=9, label="_capped")
    figures.log_axes(axes, GAMMA, "excess risk")


def draw_slopes(points: pd.DataFrame, fits: pd.DataFrame, slopes: pd.DataFrame) -> Plate:
    """The last panels of Figures 2 and 3: slopes against α, fitted at large γ and local at the least, beside h."""
    places = points[PLACE].drop_duplicates()
    early = select(fits.merge(places, on=PLACE), window=0)
    last = smallest(slopes.merge(places, on=PLACE))
    column, name = ("b", privacy) if early["b"].nunique() > 1 else ("phi", _spectrum)
    with _grid(early[column].nunique(), 2) as (figure, panels):
        for axes, value in zip(panels, early[column].unique()):
            _slopes(axes, select(early, **{column: value}), last)
            axes.set_title(name(value))
    worst, end = furthest(early), furthest(last)
    told = f"Fitted slopes are {span(early['slope'])}, exponents h {span(last['h'])}."
    return Plate(
        figure,
        f"**Slopes against the schedule's exponent.** Marks: fits down to $\\gamma={_power(early['to_gamma'].min())}$, "
        f"a range that solvers of many equations reach; full lines: local slopes at "
        f"$\\gamma={_power(last['gamma'].min())}$; dashed: $h$. The fits miss $h$ by up to "
        f"{compact(abs(worst['distance']))}, the local slopes by up to {compact(abs(end['distance']))}. No sampling "
        "error.",
        f"{described(figure)} {told}",
    )


def _slopes(axes: Axes, early: pd.DataFrame, last: pd.DataFrame) -> None:
    problems = list(dict.fromkeys(zip(early["phi"], early["psi"])))
    places = list(dict.fromkeys((problems[0], problems[-1])))
    for (phi, psi), look in zip(places, figures.looks(places).values()):
        fitted = select(early, phi=phi, psi=psi).sort_values("alpha")
        end = last.merge(fitted[PLACE], on=PLACE).sort_values("alpha")
        axes.plot(fitted["alpha"], fitted["slope"], ls="", label="_fits", **look)
        label = rf"$\varphi={phi:g}$," + "\n" + rf"$\psi={psi:g}$"
        axes.plot(end["alpha"], end["slope"], "-", color=look["color"], label=label)
        axes.plot(end["alpha"], end["h"], "--", color="0.35", lw=1, label="_h")
    axes.set(xlabel=r"$\alpha$, exponent of the schedule", ylabel="slope")


def _power(gamma: float) -> str:
    return f"10^{{{round(np.log10(gamma))}}}"


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
    return Plate(
        figure,
        f"**How small $\\gamma$ must be.** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, "
        f"{privacy(place['b'])}; marks: solved; lines: closed form. Of {len(table)} curves "
        f"{int(table['settles_at'].notna().sum())} end within {WITHIN:g} (dashed). The slowest "
        f"one needs $\\gamma={_power(latest['settles_at'])}$: $\\varphi={latest['phi']:g}$, "
        f"$\\psi={latest['psi']:g}$, $\\alpha={latest['alpha']:g}$, where $\\varphi(\\alpha+1)="
        f"{latest['phi'] * (latest['alpha'] + 1):.3g}$.",
    )


# ---- When privacy is free, Figures 10 to 13, and the logarithm of (6.6) ----

TERMS = {"e1": "$e_1$: start", "e2": "$e_2$: sampling", "e3": "$e_3$: privacy"}


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
    return Plate(
        figure,
        f"**What privacy costs.** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$; best learning rate with and "
        f"without privacy. {' '.join(costs)} Solved equations: no sampling error.",
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
        "**Where privacy is free: below the lines.** A larger $b$ is a stricter requirement. Over all spectra and "
        f"targets shown the critical $b$ goes from {compact(critical['critical'].min())} to "
        f"{compact(critical['critical'].max())}. At the steepest spectrum, $\\psi=0$, it is "
        f"{compact(select(steepest, psi=0)['critical'].iloc[0])} with the best schedule.{''.join(kept)} Closed form.",
    )


def _lines(axes: Axes, rows: pd.DataFrame, by: str, values: list[float], name: str) -> None:
    for value, look in figures.looks(values).items():
        line = select(rows, **{by: value}).sort_values("phi")
        text = r"\infty" if value == math.inf else f"{value:g}"
        axes.plot(line["phi"], line["critical"], color=look["color"], label=f"${name}={text}$")
    axes.set(xlabel=r"$\varphi$, exponent of the spectrum", ylim=(0, 0.52))


def draw_panels(panels: pd.DataFrame) -> Plate:
    """Figures 10 to 13: the three exponents along a, with the peak of the smallest."""
    free, peaks = [], []
    with figures.style():
        figure, grid = plt.subplots(2, 2, figsize=(7.8, 6.2), squeeze=False)
        for axes, name in zip(grid.flat, PANELS):
            rows = select(panels, figure=name)
            for term, look in figures.looks(TERMS).items():
                axes.plot(rows["a"], rows[term], color=look["color"], label=TERMS[str(term)])
            peak, crossing = (rows.loc[rows[terms].min(axis=1).idxmax()] for terms in (list(TERMS), ["e1", "e2"]))
            height, number = peak[list(TERMS)].min(), f"Figure {name.split('-')[1]}"
            axes.plot(peak["a"], height, "k*", ms=11, label="_peak")
            title = rf"{number}: $\kappa_1={peak['kappa1']:g}$, $\alpha={peak['alpha']:g}$, $b={peak['b']:g}$"
            axes.set(xlabel="$a$ in $v=\\gamma^a$", ylabel="exponent", ylim=(-0.6, 2.0), title=title)
            figures.end_labels(axes)
            free.append(f"{number} {'free' if abs(peak['a'] - crossing['a']) < 1e-9 else 'costly'}")
            peaks.append(f"{plain(height)} at a = {plain(peak['a'])} ({number})")
    return Plate(
        figure,
        "**Figures 10 to 13, recomputed.** Star: where the smallest exponent is largest. Privacy is free where that "
        f"is the crossing of $e_1$ and $e_2$: {listed(free)}. All four draw (E.42), the case $\\varphi(\\alpha+1)<2$. "
        "Closed form.",
        f"{described(figure)} The smallest exponent is largest, {listed(peaks)}.",
    )


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
        f"**The logarithm of (6.6).** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, "
        f"$\\alpha={place['alpha']:g}$, $b={place['b']:g}$, so $\\varphi(\\alpha+1)=2$. At $v=\\gamma^a$ the risk "
        f"contains the logarithm to the power {compact(log_power(rows, 'power'))}, at the best $v$, which is no power "
        f"of $\\gamma$, to the power {compact(log_power(rows, 'best'))} (dashed: 1 and {compact(claims['best'])}). The "
        f"best risk ends {compact(gain)} times lower. Closed form.",
    )


# ---- Short tables ----

CASES = {1: "privacy free, (6.4)", 2: "privacy costs, (6.5)", 3: "free, φ(α+1) ≥ 2", 4: "costs, (6.6)"}


def show_decades(slopes: pd.DataFrame, points: pd.DataFrame, psi: float) -> pd.DataFrame:
    """The distance of the local slope from h, a row a curve, a column a decade of γ, three digits after the point."""
    rows = select(slopes.merge(points[PLACE].drop_duplicates(), on=PLACE), psi=psi)
    table = rows.pivot_table(index=["phi", "b", "alpha"], columns="gamma", values="distance", sort=True)
    table = table[sorted(table.columns, reverse=True)]
    capped = rows.pivot_table(index=["phi", "b", "alpha"], columns="gamma", values="at_cap", aggfunc="max")
    shown = table.map("{:+.3f}".format).where(~capped[table.columns].astype(bool), table.map("{:+.3f} cap".format))
    shown = shown.map(lambda text: text.replace("-", "−")).rename(columns=plain)
    return _named(shown, ["φ", "b", "α"], "γ")


def show_settled(settled: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """For each curve h, the distance of the local slope at the least solved γ, and the γ where it settles."""
    rows = settled.merge(points[PLACE].drop_duplicates(), on=PLACE)
    rows = rows.assign(cell=rows["settles_at"].map(plain))
    table = rows.pivot_table(index="alpha", columns=["phi", "psi"], values="cell", aggfunc="first")
    table.columns = [f"φ = {phi:g}, ψ = {psi:g}" for phi, psi in table.columns]
    table.index = pd.Index([f"{alpha:g}" for alpha in table.index], name="α")
    return table


def show_starts(starts: pd.DataFrame) -> pd.DataFrame:
    """Local slopes at the largest and the least γ for several risks of the start, R(0)."""
    found = []
    for place, rows in starts.groupby([*PLACE, "initial_risk"], sort=False):
        rows = rows.sort_values("gamma")
        risk, gamma = rows["risk"].to_numpy(), rows["gamma"].to_numpy()
        first, last = (math.log(risk[k + 1] / risk[k]) / math.log(gamma[k + 1] / gamma[k]) for k in (-2, 0))
        found.append((*place, first, last, rows["h"].iloc[0]))
    decades = ["first decade", "last decade"]
    curves = pd.DataFrame(found, columns=[*PLACE, "R(0)", *decades, "h"]).groupby(PLACE, sort=False)
    low, high = (curves[[*decades, "h"]].agg(end).map("{:.3f}".format) for end in ("min", "max"))
    return _named((low[decades] + " to " + high[decades]).assign(h=low["h"]), ["φ", "ψ", "α", "b"], "")


def show_theorem(powers: pd.DataFrame) -> pd.DataFrame:
    """The risk at v = γ^a over γ^h along γ, c = 1, a row a curve."""
    table = powers.pivot_table(index=["case", *PLACE], columns="gamma", values="ratio")
    table = table[sorted(table.columns, reverse=True)].map(plain).rename(columns=plain)
    return _named(table.rename(index=CASES, level="case"), ["case", "φ", "ψ", "α", "b"], "γ")


def show_clips(clips: pd.DataFrame) -> pd.DataFrame:
    """The best risk over γ^h by clipping constant at the largest and the least γ."""
    ends = clips[clips["gamma"].isin([clips["gamma"].min(), clips["gamma"].max()])]
    table = ends.pivot_table(index=["case", "gamma"], columns="clip", values="ratio", sort=False)
    table = table.rename(index=CASES, level="case").rename(index=plain, level="gamma")
    return table.rename(columns={"growing": "γ^(−1/4)"}).map(plain).rename_axis(index=["case", "γ"], columns="c")


def show_check(check: pd.DataFrame) -> pd.DataFrame:
    """How far the optimised risks are from LSODA on the same equations, and what its neighbours would gain."""
    apart, better = (check["lsoda"] / check["risk"] - 1).abs(), check["risk"] / check["lsoda_least"] - 1
    rows = check.assign(apart=apart, better=better)
    table = rows.groupby("gamma", sort=False).agg(
        curves=("apart", "size"), apart=("apart", "max"), better=("better", "max")
    )
    names = {"apart": "largest relative difference", "better": "largest gain at a neighbouring rate"}
    shown = table.rename(index=plain).rename_axis("γ").rename(columns=names)
    return shown.assign(**{name: shown[name].map(plain) for name in names.values()})


def _named(table: pd.DataFrame, names: list[str], columns: str) -> pd.DataFrame:
    index = [tuple(v if isinstance(v, str) else plain(v) for v in place) for place in table.index]
    table.index = pd.MultiIndex.from_tuples(index, names=names)
    return table.rename_axis(columns=columns or None)


def answer(tables: Tables) -> list[str]:
    """What the page opens with, a line each."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    cost = tables["cost"]
    free = cost[cost["b"] <= cost["critical"]].groupby("gamma")["ratio"].max()
    return [
        "The risk falls like $\\gamma^h$, where $\\gamma = d/n$. Weak directions make the exponent $h$ smaller.",
        "In the limit of Figure 2 privacy is free for $\\rho = \\gamma^b$ up to $b$ = "
        f"{compact(cost['critical'].min())} to {compact(cost['critical'].max())}. A constant $\\rho$ still adds "
        f"{percent(free.iloc[-1] - 1)} to the risk at the largest $\\gamma$.",
        "You see $h$ derived from the balance of three errors, and measure it over five decades of $\\gamma$.",
        f"Of {len(verdicts)} claims, {tally(verdicts)}.",
    ]
