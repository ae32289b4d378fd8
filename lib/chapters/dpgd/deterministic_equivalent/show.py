"""Does the risk of private gradient descent follow the paper's equations, how fast, and where do these come from?"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from chapters.dpgd.deterministic_equivalent.displays import SCHEDULES
from chapters.dpgd.deterministic_equivalent.judge import trends_fall
from chapters.dpgd.deterministic_equivalent.measure import KINK
from companion import _fits
from companion.judging import words
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import compared, listed, measured, percent, plain, with_errors
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

# ---- Figure 1, how fast the risk closes in on the equations, and the diffusion ----

PAST = (1.0, 1.1)  # where the released iterate is drawn
CUT = 5  # the lower edge of a band is drawn no lower than this part of the mean: a log axis has no place for 0
NAMES = {"constant": "constant", "square root": "square root", KINK: "constant\nat $2/\\gamma$"}
CURED = "at $2/\\gamma$, with\nthe mean cap"
APART = 2.0  # factor between the first points and the reference lines above and below
DRIFTS = ("derived", "printed")
QUANTITIES = {"risk": "in the risk", "resolvents": "in all quadratics of (C.2)"}


def draw_figure_1(table: pd.DataFrame) -> Plate:
    """The four panels: bands of one standard deviation around the mean, and R(t)."""
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.4, 4.1), sharex=True, sharey=True)
        for axes, ((alpha, spectrum), rows) in zip(panels.flat, table.groupby(["alpha", "spectrum"])):
            _draw_panel(axes, rows)
            axes.set(yscale="log", title=f"{SCHEDULES[alpha]} schedule, {spectrum} spectrum")
        for axes in panels[:, 0]:
            axes.set_ylabel("excess risk")
        for axes in panels[-1]:
            axes.set_xlabel("$t$ (past 1: released)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    released, judge = [], judges_of(__package__)["dpgd/figure-1"]
    for (alpha, spectrum), rows in select(table, t=1).groupby(["alpha", "spectrum"]):
        found = listed(f"{measured(r.risk_mean, r.risk_sd)} for d = {r.d}" for r in rows.itertuples())
        predicted = rows.loc[rows["d"].idxmax(), "ode_risk"]
        released.append(f"{SCHEDULES[alpha]} schedule, {spectrum} spectrum {found}, predicted {predicted:.3g}")
    return Plate(
        figure,
        f"**Figure 1, re-run.** Excess risk along Algorithm 1, mean and standard deviation over "
        f"{table['trials'].max()} runs, beside the solution $R(t)$ of (4.7). "
        f"{words.headline(judge, {'figure-1': table})} Past $t = 1$: what is released.",
        f"{described(figure)} Released, mean and standard deviation: {'; '.join(released)}.",
    )


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    dimensions = sorted(rows["d"].unique())
    places = np.linspace(*PAST, len(dimensions) + 2)[1:-1]
    for (d, look), place in zip(figures.looks(dimensions).items(), places):
        part = select(rows, d=d)
        before, released = part[part["t"] < 1].iloc[::2], select(part, t=1)
        low, high = before["risk_mean"] - before["risk_sd"], before["risk_mean"] + before["risk_sd"]
        floor = before["risk_mean"] / CUT
        axes.fill_between(before["t"], np.maximum(low, floor), high, color=look["color"], alpha=0.25, lw=0)
        axes.plot(before["t"], before["risk_mean"], color=look["color"], lw=1.2, label=f"$d = {d}$")
        axes.errorbar([place], released["risk_mean"], released["risk_sd"], **look, capsize=2, ms=3.5, lw=1.2)
    axes.plot(before["t"], before["ode_risk"], "k--", lw=1.2, label="$R(t)$")
    axes.hlines(released["ode_risk"].iloc[0], *PAST, color="k", lw=1.5, zorder=1, label="level of (4.23)")


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Left: the supremum of the deviation of a run. Right: of the deviation of the mean. Both against n."""
    chosen = select(rates, spectrum=rates["spectrum"].iloc[0]).sort_values("n")
    runs, means = (
        {name: select(chosen, quantity=quantity, schedule=schedule) for schedule, name in NAMES.items()}
        for quantity in ("path", "bias")
    )
    means[CURED] = select(chosen, quantity="bias, cap smoothed")
    with figures.panels(2, figsize=(7.8, 4.0)) as (figure, (left, right)):
        _draw_falls(left, runs, -0.5, "$n^{-1/2}$")
        _draw_falls(right, means, -1.0, "$n^{-1}$")
        left.set(ylabel=r"largest $|\mathcal{R}(\theta) - R(t)|$", title="a run")
        right.set(ylabel="largest bias", title="the mean of many runs")
    parts = []
    for place, series in (("Left, the largest deviation along a run", runs), ("Right, that of the mean", means)):
        powers = (f"{_power(power(rows)[0])} ({' '.join(name.split())})" for name, rows in series.items())
        parts.append(f"{place}: over all sizes it goes like {listed(powers)}.")
    every = [*runs.values(), *means.values()]
    (slowest, error), bound = max(power(rows) for rows in every), bound_power(every[0])
    texts = ("All fall faster than", "Not all fall faster than", "Not all fall as fast as")
    return Plate(
        figure,
        "**Distance from the equations** against $n$ at $d = \\gamma n$, isotropic spectrum; bars of two standard "
        f"errors. {' '.join(parts)} {compared(slowest, bound, texts, error)} the claimed bound (dotted), which goes "
        f"like {_power(bound)} here.",
    )


def _draw_falls(axes: Axes, series: dict[str, pd.DataFrame], exponent: float, name: str) -> None:
    """Deviations along n between the shape of the claimed bound above them and a power of n below."""
    looks = figures.looks([*NAMES.values(), CURED])
    for label, rows in series.items():
        figures.points(axes, rows.assign(value=rows["value"].abs()), "n", "value", label=label, **looks[label])
    first, starts = next(iter(series.values())), [abs(rows["value"].iloc[0]) for rows in series.values()]
    _draw_bound(axes, first, APART * max(starts))
    figures.slope(axes, first["n"].to_numpy(), min(starts) / APART, exponent, name)
    figures.log_axes(axes, "$n$ (records)", "")
    figures.plain_ticks(axes, first["n"].unique(), most=3)


def _draw_bound(axes: Axes, rows: pd.DataFrame, start: float) -> None:
    shape = start * rows["bound"] / rows["bound"].iloc[0]
    axes.plot(rows["n"], shape, ":", color="0.35", lw=1.5, label="claimed:\n$\\log^2n/\\sqrt{n}$")


def _power(exponent: float) -> str:
    return f"$n^{{{exponent:.2f}}}$"


def power(rows: pd.DataFrame) -> tuple[float, float]:
    """The power of n of a deviation over all sizes, with its standard error."""
    return _fits.power_law(rows["n"], rows["value"].abs(), rows["standard_error"])


def bound_power(rows: pd.DataFrame) -> float:
    """The power of n of log²n/√n between the first and the last size."""
    ends = rows.sort_values("n").iloc[[0, -1]]
    return float(np.diff(np.log(ends["bound"]))[0] / np.diff(np.log(ends["n"]))[0])


def draw_homogenised(table: pd.DataFrame) -> Plate:
    """The distance of Algorithm 1 from the diffusion against n, with the drift derived and the drift printed."""
    labels = {drift: f"drift as\n{drift}" for drift in DRIFTS}
    with figures.panels(len(QUANTITIES), figsize=(7.6, 3.8)) as (figure, panels):
        for axes, (quantity, title) in zip(panels, QUANTITIES.items()):
            series = _drifts(table, quantity)
            figures.curves(axes, pd.concat(series, names=["drift"]).reset_index("drift"), "n", "value", "drift", labels)
            start = series["derived"]["value"].iloc[0]
            _draw_bound(axes, series["derived"], 2 * start)
            figures.slope(axes, series["derived"]["n"].to_numpy(), start / 1.5, -0.5, "$n^{-1/2}$")
            figures.log_axes(axes, "$n$ (records)", "largest distance")
            axes.yaxis.set_minor_formatter(NullFormatter())
            figures.plain_ticks(axes, table["n"].unique(), most=4)
            axes.set_title(title)
    risk = {drift: trends_fall(drift, "homogenised", rows) for drift, rows in _drifts(table, "risk").items()}
    told = listed(f"{_power(fall.exponent)} with the drift as {drift}" for drift, fall in risk.items())
    derived, printed = risk["derived"], risk["printed"]
    error = float(np.hypot(derived.error, printed.error))
    word = compared(derived.exponent, printed.exponent, ("faster than", "as fast as", "more slowly than"), error)
    return Plate(
        figure,
        "**Algorithm 1 and homogenised DP-GD**: their largest distance over a grid of times, mean over "
        f"{table['trials'].min()} pairs of independent paths with bars of two standard errors. Left in the risk, right "
        "in all quadratics of (C.2). Between the last two sizes the distance in the risk goes like "
        f"{told}: as derived it falls {word} as printed.",
    )


def _drifts(table: pd.DataFrame, quantity: str) -> dict[str, pd.DataFrame]:
    return {drift: select(table, quantity=f"{quantity}, {drift} drift").sort_values("n") for drift in DRIFTS}


# ---- Where the equations stop working ----

SPREAD, LONE = "spread", "one coordinate"  # where θ* lies
PANELS = {SPREAD: r"$\theta^*$ spread out", LONE: r"$\theta^*$ on one coordinate"}
AXES = {
    "c": r"$c$, at the same $\tilde\eta(0)$",
    "c, η̃(0)c fixed": r"$c$, at the same $\tilde\eta(0)c$",
    "initial rate": r"$\tilde\eta(0)$",
}


def draw_laws(laws: pd.DataFrame) -> Plate:
    """The gap between the mean risk and R(t) against d: independent coordinates for each θ*, then elliptical."""
    elliptical = laws["law"].str.startswith("elliptical")
    names = list(laws["law"].unique())
    looks = figures.looks(names)
    with figures.panels(3, ends=False, figsize=(8.0, 3.8), sharey=True) as (figure, panels):
        for axes, (target, title) in zip(panels, PANELS.items()):
            _draw_gaps(axes, select(laws[~elliptical], target=target), looks)
            axes.set_title(f"independent,\n{title}")
        for target, shift in zip(PANELS, (0.95, 1.05)):
            rows = select(laws[elliptical], target=target)
            hollow = {"mfc": "white"} if target == LONE else {}
            _draw_gaps(panels[2], rows.assign(d=rows["d"] * shift), looks, **hollow)
        for law, rows in laws[elliptical].groupby("law", sort=False):
            panels[2].plot(rows["d"], rows["relative_gap_averaged"], "k-", lw=1, label=f"{law}, averaged equation")
        panels[2].set_title("elliptical, any $\\theta^*$\n(black: averaged equation)")
        for axes in panels:
            axes.axhline(0, color="0.35", ls="--", lw=1)
            axes.set(xscale="log", xlabel="$d$ (dimension)")
            figures.plain_ticks(axes, laws["d"].unique(), most=4)
        panels[0].set_ylabel("mean risk over $R(t)$, minus 1")
        named = {text: line for axes in panels for line, text in zip(*axes.get_legend_handles_labels())}
        figure.legend([named[law] for law in names], names, ncols=3, loc="outside lower center")
        kinds = laws.loc[elliptical, "law"].nunique()
        for marks, title in zip(panels[2].containers, np.repeat(list(PANELS.values()), kinds)):
            marks.set_label(f"{marks.get_label()}, {title}")  # after the legend, which has one name for both
    last = select(laws, d=laws["d"].max())
    gaps = last.pivot(index="law", columns="target", values="relative_gap").loc[last["law"].unique()]
    found = listed(f"{percent(gap[SPREAD])} / {percent(gap[LONE])} ({law})" for law, gap in gaps.iterrows())
    averaged = select(last, target=SPREAD).dropna(subset="relative_gap_averaged")
    told = listed(f"{percent(r.relative_gap_averaged)} ({r.law})" for r in averaged.itertuples())
    return Plate(
        figure,
        "**The price of other features** of covariance $I$: the mean risk over that of $R(t)$, averaged over time, "
        f"minus 1; bars of two standard errors. At $d = {last['d'].iloc[0]}$ the gaps, with $\\theta^*$ spread out / "
        f"on one coordinate, are {found}. The equation averaged over the scale of elliptical features (black) predicts "
        f"{told}; there hollow marks are those of one coordinate.",
    )


def _draw_gaps(axes: Axes, part: pd.DataFrame, looks: dict, **more: str) -> None:
    for law, rows in part.groupby("law", sort=False):
        figures.points(axes, rows, "d", "relative_gap", label=str(law), ls="", **looks[law] | more)


def draw_axes(table: pd.DataFrame) -> Plate:
    """Left above: spread and bias against d. The others: what is released beside what is predicted."""
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.4, 6.0))
        _draw_dimension(panels[0, 0], select(table, axis="d"))
        for axes, (axis, label) in zip(list(panels.flat)[1:], AXES.items()):
            _draw_released(axes, select(table, axis=axis), label)
        cap = 2 * table["n"].iloc[0] / table["d"].iloc[0]
        panels[1, 1].axvline(cap, color="0.35", lw=0.8)
        place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        panels[1, 1].annotate(r"$2/\gamma$", (cap, 0), (3, 4), **place)
        figure.legend(*panels[0, 1].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    along, others = select(table, axis="d"), table[table["axis"] != "d"]
    ends = listed(
        f"{percent(r.relative_spread)} and {percent(abs(r.relative_bias))} at $d = {r.d}$"
        for r in along.sort_values("value").iloc[[0, -1]].itertuples()
    )
    wild, worst = int(table["diverged"].sum()), (others["risk_released"] / others["ode_released"] - 1).abs().max()
    ends_well = "no run diverges" if wild == 0 else f"runs diverge at {wild} points"
    return Plate(
        figure,
        "**The reach of the equations**: square-root schedule, isotropic Gaussian data, "
        f"{table['chains'].min()} runs a point. Upper left: the largest spread of the risk along the path and the "
        f"largest bias of its mean, over $R(t)$, are {ends}. Elsewhere, at $d = {others['d'].iloc[0]}$, the mean "
        f"released risk is within {percent(worst)} of the prediction, and {ends_well}. Bars are two standard "
        "errors, for released risks at least that.",
    )


def _draw_dimension(axes: Axes, rows: pd.DataFrame) -> None:
    spread, bias = figures.looks(("spread", "bias")).values()
    sizes = rows["value"].to_numpy()
    axes.plot(sizes, rows["relative_spread"], label="spread", **spread)
    figures.points(axes, rows.assign(size=rows["relative_bias"].abs()), "value", "size", label="bias", **bias)
    figures.slope(axes, sizes, rows["relative_spread"].iloc[0] * 2, -0.5, "$d^{-1/2}$")
    figures.slope(axes, sizes, abs(rows["relative_bias"].iloc[0]) / 2, -1.0, "$d^{-1}$")
    figures.log_axes(axes, "$d$ (dimension)", "largest, over $R(t)$")
    axes.set_ylim(bottom=2e-4)
    figures.end_labels(axes)


def _draw_released(axes: Axes, rows: pd.DataFrame, label: str) -> None:
    rows = rows.sort_values("value")
    axes.plot(rows["value"], rows["ode_released"], "-", color="0.35", lw=1, label="predicted")
    # No less than the standard error of a released mean: the largest spread along the path bounds that at its end.
    found = rows.assign(standard_error=rows["relative_spread"] * rows["ode_released"] / np.sqrt(rows["chains"]))
    (look,) = figures.looks(("Algorithm 1",)).values()
    figures.points(axes, found, "value", "risk_released", label="Algorithm 1", ls="", **look)
    axes.plot(rows["value"], rows["zero_risk"], ":", color=figures.COLOURS[3], lw=1.5, label="answering 0")
    figures.log_axes(axes, label, "released excess risk")
    axes.yaxis.set_minor_formatter(NullFormatter())


# ---- Short tables ----

DEVIATIONS = {
    "path": "a run",
    "path, 99 %": "a run, 99 % quantile",
    "bias": "bias of the mean",
    "bias, cap smoothed": "bias, with the mean cap",
    "released": "the release",
}


def show_released(table: pd.DataFrame) -> pd.DataFrame:
    """The released iterate at the largest d, for the page."""
    rows = select(table, t=1, d=table["d"].max())
    columns = {
        "schedule": rows["alpha"].map(SCHEDULES),
        "spectrum": rows["spectrum"],
        "excess risk": with_errors(rows, "risk_mean"),
        "predicted, (4.23)": rows["ode_risk"].map("{:.3f}".format),
        "test error": rows["test_error"].map("{:.3f}".format),
        "test error of answering 0": rows["response_variance"].map("{:.2f}".format),
    }
    return pd.DataFrame(columns).set_index(["schedule", "spectrum"])


def show_exponents(rates: pd.DataFrame) -> pd.DataFrame:
    """Powers of n with their standard errors, fitted over all n and between the last two, for the page.

    The last line has those of log²n/√n. A dash stands where the last two n do not resolve a power; a released bias is
    too often noise.
    """
    keys = ["deviation", "schedule", "spectrum"]
    chosen = rates[rates["quantity"].isin(list(DEVIATIONS))]
    chosen = chosen.assign(deviation=chosen["quantity"].map(DEVIATIONS))
    lines = []
    for names, rows in chosen.groupby(keys, sort=False):
        last = trends_fall("", "rates", rows)
        resolved = measured(last.exponent, last.error) if last.resolved else "–"
        lines.append(dict(zip(keys, names)) | {"all n": measured(*power(rows)), "last two n": resolved})
    for spectrum, rows in chosen.groupby("spectrum", sort=False):
        ends = rows.drop_duplicates("n").sort_values("n")
        powers = {"all n": bound_power(ends), "last two n": bound_power(ends.tail(2))}
        shown = {name: f"{value:.3f}".replace("-", "−") for name, value in powers.items()}
        lines.append({"deviation": "log²n/√n", "schedule": "", "spectrum": spectrum} | shown)
    return pd.DataFrame(lines).set_index(keys).unstack("spectrum", sort=False)


def show_laws(laws: pd.DataFrame) -> pd.DataFrame:
    """The gap at the largest dimension, averaged over time and at the release, for the page."""
    rows = select(laws, d=laws["d"].max())
    shown = {
        "averaged over time": _percent(rows["relative_gap"], rows["standard_error"]),
        "at the release": _percent(rows["relative_gap_released"], rows["standard_error_released"]),
    }
    wide = rows.assign(**shown).pivot(index="law", columns="target", values=list(shown))
    return wide.reindex(rows["law"].unique())


def _percent(value: pd.Series, error: pd.Series) -> list[str]:
    return [f"{100 * v:+.1f} ± {100 * e:.1f} %".replace("-", "−") for v, e in zip(value, error)]


def show_one_step(one_step: pd.DataFrame) -> pd.DataFrame:
    """Each term of a step's mean over the derived and over the printed one, at the largest d, for the page."""
    rows = select(one_step, d=one_step["d"].max())
    ratios = {}
    for reading in ("derived", "printed"):
        terms = rows[reading]
        over = rows.assign(value=rows["value"] / terms, standard_error=rows["standard_error"] / terms.abs())
        ratios[f"over the {reading} term"] = with_errors(over, "value")
    return rows[["quadratic", "term"]].assign(**ratios).set_index(["quadratic", "term"])


def show_enclosure(enclosure: pd.DataFrame) -> pd.DataFrame:
    """R(1) between its two bounds, as printed and with η̄, for the page: the cases in which the two readings differ."""
    names = {"share_of_cap": "η̃(0)γ/2", "clip": "c"}
    index = ["spectrum", "schedule", *names.values()]
    wide = enclosure.rename(columns=names).pivot(index=index, columns="reading")
    differ = (wide["lower"]["printed"] - wide["lower"]["corrected"]).abs() > 1e-9
    chosen = wide[differ]
    table = pd.DataFrame({"R(1)": chosen["risk"]["corrected"].map(plain)})
    for reading in ("printed", "corrected"):
        bounds = zip(chosen["lower"][reading], chosen["upper"][reading])
        table[f"bounds, {reading}"] = [f"{plain(low)} to {plain(high)}" for low, high in bounds]
    return table.rename(index=lambda value: plain(value) if isinstance(value, float) else value)


def show_displays(displays: pd.DataFrame) -> pd.DataFrame:
    """Each display over what it should say, in both readings, for the page."""
    ratio = (displays["value"] / displays["derived"]).map("{:.3f}".format)
    wide = displays.assign(ratio=ratio).pivot(index=["display", "term"], columns="reading", values="ratio")
    order = displays.drop_duplicates(["display", "term"]).set_index(["display", "term"]).index
    return wide.reindex(order)[["printed", "corrected"]].fillna("–")


def show_last_step(last_step: pd.DataFrame) -> pd.DataFrame:
    """The remainder of the last step over (1 + √R)/√d, its upper percentile by dimension and risk, for the page."""
    scaled = last_step.assign(scaled=last_step["upper"] / last_step["scale"], risk=last_step["squared_norm"] / 2)
    wide = scaled.pivot(index="d", columns="risk", values="scaled").map("{:.2f}".format)
    return wide.rename(columns=lambda risk: f"risk {plain(risk)}").rename_axis(columns=None)


def show_caps(caps: pd.DataFrame) -> pd.DataFrame:
    """The largest stretch of a step under either cap, by dimension, for the page."""
    wide = caps.groupby(["d", "reading"])["stretch"].max().unstack("reading").map(plain)
    names = {"printed": "stretch under 2/‖x‖, printed", "corrected": "stretch under 2/‖x‖²"}
    return wide[list(names)].rename(columns=names).rename_axis(columns=None)


def show_integrals(diffusion: pd.DataFrame) -> pd.DataFrame:
    """The distance of the diffusion's risk from either integral, for both drifts, for the page."""
    text = with_errors(diffusion, "value")
    return diffusion.assign(text=text).pivot(index="n", columns=["drift", "integral"], values="text")


def show_sums(sums: pd.DataFrame) -> pd.DataFrame:
    """The sums at the smallest and the largest n, for the page."""
    ends = sums[sums["n"].isin([sums["n"].min(), sums["n"].max()])]
    wide = ends.pivot(index="quantity", columns="n", values="value").map(plain)
    return wide.rename(columns=lambda n: f"n = {n}").rename_axis(columns=None)


def answer(tables: Tables) -> list[str]:
    """What the page opens with, a line each."""
    judges = judges_of(__package__)
    path, verdicts = judges["dpgd/theorem-1-path"], [judge(tables).verdict for judge in judges.values()]
    powers = path(tables).quoted
    fall = words.headline(path, tables)
    if "power" in powers:
        found, bound = (_power(powers[name]) for name in ("power", "bound"))
        fall = (
            f"The largest distance between a run and the equations falls like {found}, the claimed bound like {bound}."
        )
    rows = select(tables["figure-1"], t=1).set_index(["spectrum", "alpha", "d"])
    # Root mean square distance of a released risk from its prediction, over the prediction.
    stray = np.hypot(rows["risk_mean"] - rows["ode_risk"], rows["risk_sd"]) / rows["ode_risk"]
    strays = stray.groupby("d").max()
    runs = listed(f"{percent(share)} in dimension {d}" for d, share in strays.iloc[[0, -1]].drop_duplicates().items())
    return [
        f"A released risk typically differs from its prediction by {runs}.",
        fall,
        "You see the differential equation derived from one step of the algorithm, in six steps.",
        "You run the algorithm once, solve its equation beside it, and see for which data the two part.",
        f"Of {len(verdicts)} claims, {tally(verdicts)}.",
    ]
