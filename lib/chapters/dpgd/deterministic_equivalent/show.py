"""Does the risk of private gradient descent follow the paper's equations, how fast, and where do these come from?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from chapters.dpgd.deterministic_equivalent.displays import SCHEDULES
from chapters.dpgd.deterministic_equivalent.judge import trends_fall
from chapters.dpgd.deterministic_equivalent.measure import KINK
from companion import _fits
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compared, listed, percent, plain, with_errors
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate

# ---- Figure 1, how fast the risk closes in on the equations, and the diffusion ----

NAMES = {"constant": "constant", "square root": "square root", KINK: "constant\nat $2/\\gamma$"}
CURED = "at $2/\\gamma$, with\nthe mean cap"
APART = 2.0  # factor between the first points and the reference lines above and below
DRIFTS = ("derived", "printed")
QUANTITIES = {"risk": "in the risk", "resolvents": "in all quadratics of (C.2)"}


def caption_figure_1(tables: Tables) -> str:
    """What the runs of Figure 1 show."""
    table = tables["figure-1"]
    judge = judges_of(__package__)["dpgd/figure-1"]
    return (
        f"**{words.headline(judge, tables).rstrip('.')}.** Figure 1 of the paper, re-run: excess risk along Algorithm "
        f"1, mean and one standard deviation (cut at a fifth of the mean) over {table['trials'].max()} runs, beside "
        "$R(t)$ of (4.7). Past $t = 1$: what is released, in the colour of its $d$, and the level of (4.23)."
    )


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
    slowest, error = max(power(rows) for rows in every)
    ends = np.log(every[0].sort_values("n").iloc[[0, -1]][["bound", "n"]])
    bound = float(np.diff(ends["bound"])[0] / np.diff(ends["n"])[0])  # the power of n of log²n/√n from end to end
    texts = (
        "All distances fall faster than",
        "Not all distances fall faster than",
        "Not all distances fall as fast as",
    )
    return Plate(
        figure,
        f"**{compared(slowest, bound, texts, error)} the claimed bound.** Distance from the equations against $n$ at "
        f"$d = \\gamma n$, isotropic spectrum; bars of two standard errors. {' '.join(parts)} The bound (dotted) "
        f"goes like {_power(bound)} over all sizes, and more steeply over the last two, which decide the verdict.",
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
        f"**With the drift as derived the distance falls {word} as printed.** Algorithm 1 and homogenised DP-GD: "
        f"their largest distance over a grid of times, mean over {table['trials'].min()} pairs of independent paths "
        "with bars of two standard errors. Left in the risk, right in all quadratics of (C.2). Between the last two "
        f"sizes the distance in the risk goes like {told}.",
    )


def _drifts(table: pd.DataFrame, quantity: str) -> dict[str, pd.DataFrame]:
    return {drift: select(table, quantity=f"{quantity}, {drift} drift").sort_values("n") for drift in DRIFTS}


# ---- Where the equations stop working ----

SPREAD, LONE = "spread", "one coordinate"  # where θ* lies
PANELS = {SPREAD: r"$\theta^*$ spread out", LONE: r"$\theta^*$ on one coordinate"}


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
        f"**Features of another law change the risk by up to {percent(last['relative_gap'].abs().max())}.** "
        "Covariance $I$: the mean risk over that of $R(t)$, averaged over time, minus 1; bars of two standard errors. "
        f"At $d = {last['d'].iloc[0]}$ the gaps, with $\\theta^*$ spread out / on one coordinate, are {found}. The "
        f"equation averaged over the scale of elliptical features (black) predicts {told}; there hollow marks are "
        "those of one coordinate.",
    )


def _draw_gaps(axes: Axes, part: pd.DataFrame, looks: dict, **more: str) -> None:
    for law, rows in part.groupby("law", sort=False):
        figures.points(axes, rows, "d", "relative_gap", label=str(law), ls="", **looks[law] | more)


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


def answer(tables: Tables) -> list[str]:
    """What the page opens with, a line each."""
    judges = judges_of(__package__)
    rows = select(tables["figure-1"], t=1).set_index(["spectrum", "alpha", "d"])
    away = rows["risk_mean"] - rows["ode_risk"]  # below, with the spread: root mean square, over the prediction
    stray, off = (distance / rows["ode_risk"] for distance in (np.hypot(away, rows["risk_sd"]), away.abs()))
    strays = stray.groupby("d").max()
    runs = listed(f"{percent(share)} in dimension {d}" for d, share in strays.iloc[[0, -1]].drop_duplicates().items())
    mean = percent(off.xs(strays.index[-1], level="d").max())
    return [
        f"The risk that one run releases typically differs from its prediction by {runs}; there the mean of "
        f"{rows['trials'].max()} runs is off by {mean} at most.",
        words.headline(judges["dpgd/theorem-1-path"], tables),
        "You see the differential equation derived from one step of the algorithm, and run both by hand.",
    ]
