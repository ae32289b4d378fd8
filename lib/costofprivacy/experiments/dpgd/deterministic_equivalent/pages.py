"""Figures and short tables for the page on the deterministic equivalent of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import _fits, figures
from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.experiments.dpgd.deterministic_equivalent.rates import KINK
from costofprivacy.experiments.dpgd.deterministic_equivalent.regime import SCHEDULES
from costofprivacy.plates import Plate

PAST = (1.0, 1.1)  # where the released iterate is drawn
SHORT = {"constant": "constant", "square root": "square root", KINK: r"constant, $2/\gamma$"}


def draw_figure_1(table: pd.DataFrame) -> Plate:
    """The four panels: bands of one standard deviation around the mean, and R(t)."""
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.6, 5.1), sharex=True, sharey=True)
        for axes, ((alpha, spectrum), rows) in zip(panels.flat, table.groupby(["alpha", "spectrum"])):
            _draw_panel(axes, rows)
            axes.set_title(f"{SCHEDULES[alpha]} schedule, {spectrum} spectrum", fontsize=10)
        for axes in panels[:, 0]:
            axes.set(yscale="log", ylabel="excess risk")
        for axes in panels.flat:
            axes.set_xlabel("$t$ (past 1: released)")
        panels[0, 0].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**Figure 1, re-run.** Excess risk of Algorithm 1: mean and band of one standard deviation "
                "over the trials (its lower edge is drawn no lower than a fifth of the mean, as a logarithmic "
                "axis has no place for 0), and the solution $R(t)$ of (4.7) at the largest $d$ (dashed). Past "
                "$t = 1$ the released iterate, with bars of one standard deviation, and the level $R(1) + "
                r"2c^2\tilde\eta^2(1)\gamma^2/\rho^2$ (short line): with a constant schedule all private noise "
                "arrives in the last step. The bands close around $R(t)$ as $d$ grows."
            ),
            alt=(
                "Four panels of excess risk against time on a log scale: bands for three dimensions that "
                "narrow around a dashed curve, and points with bars beyond time one."
            ),
        )


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    dimensions = sorted(rows["d"].unique())
    places = np.linspace(*PAST, len(dimensions) + 2)[1:-1]
    for (d, look), place in zip(figures.looks(dimensions).items(), places):
        part = rows[rows["d"] == d]
        before = part[part["t"] < 1]
        low, high = before["risk_mean"] - before["risk_sd"], before["risk_mean"] + before["risk_sd"]
        floor = before["risk_mean"] / 5  # a band that reaches 0 has no place on a log axis
        axes.fill_between(before["t"], np.maximum(low, floor), high, color=look["color"], alpha=0.25, lw=0)
        axes.plot(before["t"], before["risk_mean"], color=look["color"], lw=1.2, label=f"$d = {d}$")
        released = part[part["t"] == 1]
        axes.errorbar([place], released["risk_mean"], released["risk_sd"], **look, capsize=2, ms=3.5, lw=1.2)
    largest = rows[rows["d"] == dimensions[-1]]
    before = largest[largest["t"] < 1]
    axes.plot(before["t"], before["ode_risk"], "k--", lw=1.2, label=f"$R(t)$, $d = {dimensions[-1]}$")
    level = largest.loc[largest["t"] == 1, "ode_risk"].iloc[0]
    axes.hlines(level, *PAST, color="C3", lw=1.5, zorder=1, label="level of (4.23)")


def show_released(table: pd.DataFrame) -> pd.DataFrame:
    """The released iterate at the largest d, for the page."""
    rows = table[(table["t"] == 1) & (table["d"] == table["d"].max())]
    wide = pd.DataFrame(
        {
            "schedule": rows["alpha"].map(SCHEDULES),
            "spectrum": rows["spectrum"],
            "excess risk": [f"{m:.4f} ± {e:.4f}" for m, e in zip(rows["risk_mean"], rows["standard_error"])],
            "predicted, (4.23)": rows["ode_risk"].map("{:.4f}".format),
            "test error": rows["test_error"].map("{:.3f}".format),
            "answering 0": rows["response_variance"].map("{:.3f}".format),
        }
    )
    return wide.set_index(["schedule", "spectrum"])


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Left: the supremum of the deviation of a run. Right: of the deviation of the mean. Both against n."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
        chosen = rates[rates["spectrum"] == rates["spectrum"].iloc[0]]
        looks = figures.looks(SHORT)
        for schedule, label in SHORT.items():
            rows = chosen[chosen["schedule"] == schedule]
            figures.points(left, rows[rows["quantity"] == "path"], "n", "value", label=label, **looks[schedule])
            bias = rows[rows["quantity"] == "bias"].assign(value=lambda r: r["value"].abs())
            figures.points(right, bias, "n", "value", label=label, **looks[schedule])
        cured = chosen[chosen["quantity"] == "bias, cap smoothed"].assign(value=lambda r: r["value"].abs())
        open_mark = {**looks[KINK], "mfc": "white", "ls": ":"}
        figures.points(right, cured, "n", "value", label=r"constant, $2/\gamma$, cap smoothed", **open_mark)
        _reference_slopes(left, chosen, "path", (-0.5,))
        _reference_slopes(right, chosen, "bias", (-0.5, -1.0))
        for axes, label in ((left, r"mean of $\sup_t|\mathcal{R}(\theta)-R(t)|$"), (right, "sup of the mean's bias")):
            figures.log_axes(axes, "$n$ (samples)", label)
            figures.plain_ticks(axes, chosen["n"].unique())
            axes.legend(fontsize=7)
        return Plate(
            figure,
            caption=(
                r"**Distance from the deterministic equivalent** against $n$, isotropic spectrum, $d = \gamma "
                "n$; bars of two standard errors. Left: the mean over the runs of the supremum over all steps. "
                r"For the schedules of Figure 1 it runs along the dashed slope; for $\tilde\eta = 2/\gamma$ it "
                "starts flatter and bends towards it. Right: the supremum over a grid of times of the bias of "
                r"the mean. For $\tilde\eta = 2/\gamma$, where the cap has its kink, it is far larger and falls "
                "more slowly than for the schedules of Figure 1; with the mean cap of the text (open) it falls "
                "like theirs. Dotted: the shape of the theorem's bound. The exponents stand in the table "
                "below."
            ),
            alt=(
                "Two log-log panels. Left: three falling lines, two along a dashed one, the third above them "
                "and flatter at first. Right: two steep lines, one far above them and flatter, and an "
                "open-marked steep one."
            ),
        )


def _reference_slopes(axes: Axes, rates: pd.DataFrame, quantity: str, slopes: tuple[float, ...]) -> None:
    """Dashed lines of the exponents through the first of the constant schedule's points, and the shape of (4.9)."""
    sizes = np.sort(rates["n"].unique())
    rows = rates[(rates["quantity"] == quantity) & (rates["schedule"] == "constant")].sort_values("n")
    start = rows["value"].abs().iloc[0]
    for exponent in slopes:
        figures.slope(axes, sizes, start / 1.6, exponent, f"slope {exponent:g}".replace("-", "−"))
    bound = rows["bound"] / rows["bound"].iloc[0]
    axes.plot(rows["n"], 1.6 * start * bound, ":", color="0.35", lw=1, label=r"shape of $\log^2n/\sqrt{n}$")


def show_exponents(rates: pd.DataFrame) -> pd.DataFrame:
    """Powers of n with their standard errors, fitted over all n and between the last two, for the page.

    The last line has those of log²n/√n. A dash stands where the last two n do not resolve a power; a released bias is
    too often noise.
    """
    lines = []
    keys = ["deviation", "schedule", "spectrum"]
    chosen = rates[rates["quantity"] != "released bias"].rename(columns={"quantity": "deviation"})
    for names, rows in chosen.groupby(keys, sort=False):
        power, error = _fits.power_law(rows["n"], rows["value"].abs(), rows["standard_error"])
        last = trends.fall("", "rates", rows)
        resolved = f"{last.exponent:.3f} ± {last.error:.3f}" if last.resolved else "–"
        lines.append(dict(zip(keys, names)) | {"all n": f"{power:.3f} ± {error:.3f}", "last two n": resolved})
    for (spectrum,), rows in chosen.groupby(["spectrum"], sort=False):
        ends = rows.drop_duplicates("n").sort_values("n").iloc[[0, -2, -1]]
        powers = {"all n": _bound_power(ends.iloc[[0, 2]]), "last two n": _bound_power(ends.tail(2))}
        lines.append({"deviation": "log²n/√n", "schedule": "", "spectrum": spectrum} | powers)
    return pd.DataFrame(lines).set_index(keys).unstack("spectrum", sort=False)


def _bound_power(pair: pd.DataFrame) -> str:
    """The exponent of log²n/√n between two n."""
    return f"{np.diff(np.log(pair['bound']))[0] / np.diff(np.log(pair['n']))[0]:.3f}"


def draw_laws(laws: pd.DataFrame) -> Plate:
    """The relative gap between the mean risk and R(t) against d, for each law and both θ*."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.4), sharey=True)
        looks = figures.looks(laws["law"].unique())
        for axes, (target, part) in zip(panels, laws.groupby("target", sort=False)):
            shifts = np.geomspace(0.93, 1.07, len(looks))
            for (law, look), shift in zip(looks.items(), shifts):
                rows = part[part["law"] == law].assign(d=lambda r, s=shift: r["d"] * s)
                figures.points(axes, rows, "d", "relative_gap", label=str(law), **look)
                axes.plot(rows["d"], rows["relative_gap_averaged"], "_", color="k", ms=14)
            axes.axhline(0, color="0.35", ls="--", lw=1)
            axes.set(xscale="log", xlabel="$d$ (dimension)", title=rf"$\theta^*$: {target}")
            figures.plain_ticks(axes, laws["d"].unique())
        panels[0].set_ylabel(r"mean risk over $R(t)$, minus 1")
        figure.legend(*panels[0].get_legend_handles_labels(), fontsize=8, ncols=6, loc="outside lower center")
        return Plate(
            figure,
            caption=(
                "**The price of other features** of covariance $I$: the time average of the mean risk over "
                "that of $R(t)$, minus 1, under the square-root schedule; bars of two standard errors. With "
                r"$\theta^*$ spread out, independent coordinates with four moments cost nothing as $d$ grows; "
                r"with $\theta^*$ on one coordinate the residual is not Gaussian and the gap stays. Elliptical "
                "features keep their gap in any dimension; the equation averaged over their scale (black bars) "
                "predicts it."
            ),
            alt=(
                "Two panels of relative gaps against dimension. Left: Gaussian, sign and Student features tend "
                "to zero, elliptical ones stay above. Right: sign features stay below zero, Student features "
                "above."
            ),
        )


def show_laws(laws: pd.DataFrame) -> pd.DataFrame:
    """The gap at the largest dimension, averaged over time and at the release, for the page."""
    rows = laws[laws["d"] == laws["d"].max()]
    along = _percent(rows["relative_gap"], rows["standard_error"])
    released = _percent(rows["relative_gap_released"], rows["standard_error_released"])
    wide = rows.assign(along=along, released=released)
    return wide.pivot(index="law", columns="target", values=["along", "released"]).reindex(rows["law"].unique())


def _percent(value: pd.Series, error: pd.Series) -> list[str]:
    return [f"{100 * v:+.1f} ± {100 * e:.1f} %" for v, e in zip(value, error)]


def draw_axes(table: pd.DataFrame) -> Plate:
    """Largest bias and spread of the risk, relative to R(t), along each axis."""
    labels = {
        "d": "$d$ (dimension)",
        "c": r"$c$, at the same $\tilde\eta(0)$",
        "c, η̃(0)c fixed": r"$c$, at the same $\tilde\eta(0)c$",
        "initial rate": r"$\tilde\eta(0)$",
    }
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(9.2, 7.0), sharey=True)
        for axes, (axis, label) in zip(panels.flat, labels.items()):
            rows = table[table["axis"] == axis].assign(size=lambda r: r["relative_bias"].abs())
            spread, bias = figures.looks(("spread", "bias")).values()
            axes.plot(rows["value"], rows["relative_spread"], label="largest standard deviation", **spread)
            figures.points(axes, rows, "value", "size", label="largest bias of the mean", ls="", **bias)
            figures.log_axes(axes, label, "over $R(t)$ at its time" if axis in ("d", "c, η̃(0)c fixed") else "")
            axes.set_ylim(bottom=1e-5)
        panels[0, 0].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**The reach of the equivalent**: the largest standard deviation of the risk along the path "
                "and the largest bias of its mean, each over $R(t)$ at its time, at a grid of times; isotropic "
                "Gaussian data, bars of two standard errors. Upper left: down to a single dimension; both fall "
                "as $d$ grows. Upper right and lower left: clipping constants over several decades, at a fixed "
                "learning rate and at a fixed product with it. Lower right: learning rates through and beyond "
                r"the cap $2/\gamma$. Along these three axes, at one and the same $d$, neither gets far above "
                "what it is at the values of Figure 1."
            ),
            alt=(
                "Four log-log panels of relative spread and relative bias: both fall with dimension, and stay "
                "small along the other three axes."
            ),
        )
