"""The answer and the figures that re-compute Figures 2 and 3 of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.dpgd.scaling_laws.curves import PLACE, WITHIN
from costofprivacy.experiments.dpgd.scaling_laws.trends import furthest
from costofprivacy.experiments.dpgd.scaling_laws.verdicts import figure_2, figure_3
from costofprivacy.judging import words
from costofprivacy.judging.cards import tally
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import compact, listed, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

GAMMA = r"$\gamma = d/n$"
FLOOR = 1e-5  # a distance from h below this is not drawn
DRAWN_ALPHA = 4  # values of α in a panel at most


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    cost = tables["cost"]
    free = cost[cost["b"] <= cost["critical"]].groupby("gamma")["ratio"].max()
    return (
        f"Risk falls like $\\gamma^h$, $\\gamma=d/n$; weak directions lower $h$. In Figure 2 privacy is free down to "
        f"$\\rho=\\gamma^b$, $b$ from {compact(cost['critical'].min())} to {compact(cost['critical'].max())}: "
        "at constant "
        f"$\\rho$ it adds {percent(free.iloc[-1] - 1)} at the largest $\\gamma$, {percent(free.iloc[0] - 1)} "
        "at the least. "
        f"Of {len(verdicts)} claims, {tally(verdicts)}."
    )


def privacy(b: float) -> str:
    """ρ = γ^b in words of mathematics."""
    return r"$\rho = 1$" if b == 0 else r"$\rho = \sqrt{\gamma}$" if b == 0.5 else rf"$\rho = \gamma^{{{b:g}}}$"


def draw_figure_2(points: pd.DataFrame, slopes: pd.DataFrame, fits: pd.DataFrame) -> Plate:
    """The first two panels of Figure 2: the optimised risk of the constant schedule, a panel a problem."""
    alpha = points["alpha"].min()
    rows = select(points, alpha=alpha)
    problems = rows[["phi", "psi"]].drop_duplicates().itertuples(index=False)
    with figures.style():
        figure, panels = _grid(rows[["phi", "psi"]].drop_duplicates().shape[0], 2)
        for axes, (phi, psi) in zip(panels, problems):
            chosen = select(rows, phi=phi, psi=psi)
            _risks(axes, chosen, {b: privacy(b) for b in sorted(chosen["b"].unique())}, "b")
            axes.set_title(rf"$\varphi = {phi:g}$, $\psi = {psi:g}$")
        _label_ends(panels)
    found = words.headline(figure_2, {"figure-2": points, "slopes": slopes, "fits": fits})
    return Plate(
        figure,
        caption=(
            f"**Figure 2, re-computed to smaller $\\gamma$.** Risk with the best learning rate at each $\\gamma$, "
            f"$\\alpha={alpha:g}$. Dashed: $\\gamma^h$ of Theorem 4 through the last point. {found} "
            "Crosses: "
            f"{int(rows['at_cap'].sum())} points at the cap $2/\\gamma$. Solved equations: no sampling error."
        ),
        alt=_risks_alt(rows, "b", "rho is gamma to the power"),
    )


def draw_figure_3(points: pd.DataFrame, slopes: pd.DataFrame, fits: pd.DataFrame) -> Plate:
    """The first three panels of Figure 3: the optimised risk for a small, a middling and the largest α."""
    alphas = sorted(points["alpha"].unique())
    shown = sorted({alphas[0], alphas[len(alphas) // 2], alphas[-1]})
    rows = select(points, psi=points["psi"].min())
    with figures.style():
        figure, panels = _grid(len(shown), 3)
        for axes, alpha in zip(panels, shown):
            chosen = select(rows, alpha=alpha)
            _risks(axes, chosen, {phi: rf"$\varphi = {phi:g}$" for phi in sorted(chosen["phi"].unique())}, "phi")
            axes.set_title(rf"$\alpha = {alpha:g}$")
        _label_ends(panels)
    found = words.headline(figure_3, {"figure-3": points, "slopes": slopes, "fits": fits})
    shown_rows = rows[rows["alpha"].isin(shown)]
    return Plate(
        figure,
        caption=(
            f"**Figure 3, re-computed to smaller $\\gamma$.** Risk with the best learning rate, "
            f"{privacy(rows['b'].iloc[0])}"
            f", $\\psi={rows['psi'].iloc[0]:g}$. Dashed: $\\gamma^h$ through the last point. "
            f"{found} Crosses: "
            f"{int(shown_rows['at_cap'].sum())} points at the cap. Solved equations: no sampling error."
        ),
        alt=_risks_alt(shown_rows, "phi", "phi"),
    )


def _grid(count: int, columns: int) -> tuple[plt.Figure, np.ndarray]:
    """As many panels as asked for, in a few columns."""
    rows = -(-count // columns)
    figure, panels = plt.subplots(rows, min(count, columns), figsize=(7.8, 3.1 * rows), squeeze=False, sharey=True)
    for extra in panels.flat[count:]:
        extra.remove()
    return figure, panels.flat[:count]


def _label_ends(panels: np.ndarray) -> None:
    """Name the curves of panels that share an axis, once all are drawn."""
    for axes in panels:
        figures.end_labels(axes)


def _risks(axes: Axes, rows: pd.DataFrame, labels: dict[float, str], by: str) -> None:
    """Risk against γ, a curve for each value of a column, each with its claimed slope."""
    looks = figures.looks(labels)
    for value, label in labels.items():
        curve = select(rows, **{by: value}).sort_values("gamma")
        axes.plot(curve["gamma"], curve["risk"], label=label, **looks[value])
        first = curve.iloc[0]
        line = first["risk"] * (curve["gamma"] / first["gamma"]) ** first["h"]
        axes.plot(curve["gamma"], line, "--", color="0.35", lw=1, label="_claimed")
        capped = curve[curve["at_cap"]]
        axes.plot(capped["gamma"], capped["risk"], "x", color="black", ms=9, label="_capped")
    figures.log_axes(axes, GAMMA, "excess risk")


def _risks_alt(rows: pd.DataFrame, by: str, name: str) -> str:
    texts = []
    for place, curve in rows.groupby(PLACE, sort=False):
        curve = curve.sort_values("gamma", ascending=False)
        told = dict(zip(PLACE, place))
        texts.append(
            f"phi {plain(told['phi'])}, psi {plain(told['psi'])}, alpha {plain(told['alpha'])}, "
            f"{name} {plain(told[by])}: {plain(curve['risk'].iloc[0])} to {plain(curve['risk'].iloc[-1])}, "
            f"h {plain(curve['h'].iloc[0])}"
        )
    ends = f"{plain(rows['gamma'].max())} to {plain(rows['gamma'].min())}"
    return f"Optimised risk for gamma from {ends}. {'; '.join(texts)}."


def draw_slopes(points: pd.DataFrame, fits: pd.DataFrame, slopes: pd.DataFrame) -> Plate:
    """The last panels of Figures 2 and 3: slopes against α, fitted at large γ and local at the least, beside h."""
    rows = fits.merge(points[PLACE].drop_duplicates(), on=PLACE)
    kinds = rows[["b"]].drop_duplicates()["b"] if rows["b"].nunique() > 1 else rows["phi"].drop_duplicates()
    column = "b" if rows["b"].nunique() > 1 else "phi"
    with figures.style():
        figure, panels = _grid(len(kinds), 2)
        for axes, value in zip(panels, kinds):
            chosen = select(rows, **{column: value})
            ends = [chosen[["phi", "psi"]].drop_duplicates().iloc[i] for i in (0, -1)]
            _slopes(axes, chosen, slopes, ends)
            axes.set_title(privacy(value) if column == "b" else rf"$\varphi = {value:g}$")
        _label_ends(panels)
    first, last = rows[rows["window"] == 0], slopes.merge(points[PLACE].drop_duplicates(), on=PLACE)
    last = last[last["gamma"] == last["gamma"].min()]
    worst, end = furthest(first), furthest(last)
    return Plate(
        figure,
        caption=(
            f"**Slopes against the schedule's exponent.** Marks: fits down to "
            f"$\\gamma={_power(first['to_gamma'].min())}$, "
            f"a range that solvers of many equations reach; full lines: local slopes at "
            f"$\\gamma={_power(last['gamma'].min())}$; dashed: $h$. The fits miss $h$ by up to "
            f"{compact(abs(worst['distance']))}, the local slopes by up to {compact(abs(end['distance']))}. No "
            "sampling "
            "error."
        ),
        alt=(
            f"Fitted slopes {span(first['slope'])}, local slopes at the least gamma {span(last['slope'])}, exponents h "
            f"{span(last['h'])}."
        ).replace("$", ""),
    )


def _slopes(axes: Axes, fits: pd.DataFrame, slopes: pd.DataFrame, ends: list[pd.Series]) -> None:
    places = list(dict.fromkeys((float(end["phi"]), float(end["psi"])) for end in ends))
    for (phi, psi), look in zip(places, figures.looks(places).values()):
        early = select(fits, phi=phi, psi=psi, window=0).sort_values("alpha")
        end = slopes.merge(early[PLACE], on=PLACE)
        end = end[end["gamma"] == end["gamma"].min()].sort_values("alpha")
        axes.plot(early["alpha"], early["slope"], ls="", color=look["color"], marker=look["marker"], label="_fits")
        label = rf"$\varphi={phi:g}$," + "\n" + rf"$\psi={psi:g}$"
        axes.plot(end["alpha"], end["slope"], "-", color=look["color"], label=label)
        axes.plot(end["alpha"], end["h"], "--", color="0.35", lw=1, label="_h")
    axes.set(xlabel=r"$\alpha$, exponent of the schedule", ylabel="slope")


def _power(gamma: float) -> str:
    return f"10^{{{round(np.log10(gamma))}}}"


def draw_approach(slopes: pd.DataFrame, far: pd.DataFrame, settled: pd.DataFrame, points: pd.DataFrame) -> Plate:
    """How far the local slope is from h, decade by decade: solved, then continued in closed form."""
    place = points[["phi", "psi", "b"]].drop_duplicates().iloc[0]
    rows = {name: table[(table[list(place.index)] == place).all(axis=1)] for name, table in
            (("solved", slopes), ("far", far), ("settled", settled))}  # fmt: skip
    every = sorted(rows["solved"]["alpha"].unique())
    alphas = sorted({*every[: DRAWN_ALPHA - 1], every[-1]})
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.8, 4.0))
        for alpha, look in figures.looks(alphas).items():
            solved, line = (select(rows[name], alpha=alpha) for name in ("solved", "far"))
            line = line[line["gamma"] < solved["gamma"].min()].sort_values("gamma")
            axes.plot(solved["gamma"], solved["distance"].abs().clip(lower=FLOOR), ls="", **look, label="_solved")
            drawn = line[line["distance"].abs() > FLOOR]
            axes.plot(drawn["gamma"], drawn["distance"].abs(), "-", color=look["color"], label=rf"$\alpha = {alpha:g}$")
        axes.axhline(WITHIN, color="0.35", ls="--", lw=1)
        figures.log_axes(axes, GAMMA, "distance of the local slope from $h$")
        axes.set(ylim=(FLOOR, None))
        axes.invert_xaxis()
        axes.legend(loc="upper right")
    table = settled.merge(points[PLACE].drop_duplicates(), on=PLACE)
    latest = table.loc[table["settles_at"].idxmin()]
    return Plate(
        figure,
        caption=(
            f"**How small $\\gamma$ must be.** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, "
            f"{privacy(place['b'])}; marks: solved; lines: closed form. Of "
            f"{len(table)} curves {int(table['settles_at'].notna().sum())} end within {WITHIN:g} (dashed). The last "
            f"to get there needs $\\gamma={_power(latest['settles_at'])}$: $\\varphi={latest['phi']:g}$, "
            f"$\\psi={latest['psi']:g}$, $\\alpha={latest['alpha']:g}$, where $\\varphi(\\alpha+1)="
            f"{latest['phi'] * (latest['alpha'] + 1):.3g}$."
        ),
        alt=_approach_alt(rows["settled"], alphas),
    )


def _approach_alt(settled: pd.DataFrame, alphas: list[float]) -> str:
    chosen = settled[settled["alpha"].isin(alphas)]
    texts = [
        f"alpha {plain(row.alpha)} within {WITHIN:g} from gamma {plain(row.settles_at)} on, "
        f"{plain(row.distance)} at the "
        f"last solved one"
        for row in chosen.itertuples()
    ]
    return f"Distance of the local slope from h: {listed(texts)}."
