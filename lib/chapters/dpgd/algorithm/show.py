"""Why can the steps of Algorithm 1 be trusted, what does its release spend, and is its noise placed well?"""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from chapters.dpgd.algorithm.measure import BOUNDS, DESCENT, ZERO
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, compared, listed, percent, plain, span, with_errors
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

EVEN, LAST, OURS = "uniform", "all in the last step", "as (4.2)"
NAMED = {"placement": {"even": EVEN}}  # the text's word for the tables'


def answer(tables: Tables) -> list[str]:
    """What the page finds, derives and runs."""
    factors = placement_factors(tables["placement"])
    return [
        words.headline(judges_of(__package__)["dpgd/proposition-4.1"], tables),
        "Six steps derive it: no step expands a distance, so the noise of all later steps hides a record.",
        f"With the same privacy, all noise in the last step multiplies the risk of (4.2) by {span(factors[LAST])} in "
        "our runs for $\\Sigma = I$.",
    ]


def placement_factors(placement: pd.DataFrame) -> pd.DataFrame:
    """The released risk by schedule and placement of the noise, over that with (4.2)."""
    risks = placement.pivot(index="schedule", columns="placement", values="excess_risk")
    return risks.div(risks[OURS], axis=0).loc[placement["schedule"].unique()]


# ---- Figures: the noise, the steps, what conversions of privacy give away ----

ROUTES = {"proposition_a3": ("Proposition A.3", "-"), "renyi": ("best by way of Rényi", "--")}


def draw_noise(noise: pd.DataFrame, placement: pd.DataFrame) -> Plate:
    """Left: share of the noise added by time t. Right: released risks by placement of the noise."""
    placement = placement.replace(NAMED)
    with figures.panels(2, ends=False, figsize=(7.8, 3.5)) as (figure, (left, right)):
        for (name, rows), look in zip(noise.groupby("schedule", sort=False), figures.looks(range(9)).values()):
            left.plot(rows["t"].iloc[:-1], rows["share"].iloc[:-1], color=look["color"], label=name)
            left.plot(rows["t"].iloc[-1], rows["share"].iloc[-2], clip_on=False, **look)
        left.set(xlabel="$t = k/n$", ylabel="share of the noise added so far", xlim=(0, 1), ylim=(-0.02, 1.02))
        left.set_title("where (4.2) puts the noise")
        left.legend(loc="lower right", bbox_to_anchor=(1, 0.02), handlelength=1.2)
        heights = {name: -float(i) for i, name in enumerate(placement["schedule"].unique())}
        shifts = {OURS: 0.2, EVEN: 0.0, LAST: -0.2}
        for (name, shift), look in zip(shifts.items(), figures.looks(shifts).values()):
            rows = select(placement, placement=name)
            y = rows["schedule"].map(heights) + shift
            right.errorbar(rows["excess_risk"], y, xerr=2 * rows["standard_error"], ls="", label=name, **look)
        right.axvline(placement["zero_risk"].max(), color="0.35", ls=":", lw=1.2, label="answering 0")
        right.set(xscale="log", xlabel="released excess risk", ylabel="schedule", title="noise of one $\\rho$, placed")
        right.set_yticks(list(heights.values()), list(heights))
        right.grid(axis="y", visible=False)
        right.legend(loc="center right", handlelength=1.2)
    schedules = noise.groupby("schedule", sort=False)
    half, last = (
        listed(f"{percent(part(rows))} ({name})" for name, rows in schedules)
        for part in (
            lambda rows: rows.loc[(rows["t"] - 0.5).abs().idxmin(), "share"],
            lambda rows: round(1 - rows["share"].iloc[-2], 6),
        )
    )
    factors, others = placement_factors(placement), placement[placement["placement"] != OURS]
    least = others.loc[(others["above"] / others["above_error"]).idxmin()]
    none = "With these schedules and $\\Sigma = I$ no other placement of the noise is better"
    texts = ("With one of these schedules another placement of the noise is better", none, none)
    return Plate(
        figure,
        f"**{compared(least['above'], 0.0, texts, least['above_error'])} than (4.2).** Left: the share of the noise "
        f"that (4.2) has added by time $t$, marks before the last step. That step adds {last}. Right: the mean risk "
        f"of {placement['trials'].min()} releases, $\\Sigma = I$, bars of two standard errors. Uniform placement "
        f"multiplies the risk of (4.2) by {span(factors[EVEN])}, noise in the last step only by {span(factors[LAST])}.",
        f"{described(figure)} By half of the run the share is {half}.",
    )


def draw_conversions(conversions: pd.DataFrame) -> Plate:
    """ε over what is truly spent, against ρ, for each δ."""
    some = conversions[conversions["exact"] > 0]
    looks = figures.looks(some["delta"].unique())
    with figures.panels(ends=False, figsize=(6.2, 3.8)) as (figure, (axes,)):
        for delta, rows in some.groupby("delta", sort=False):
            for column, (name, line) in ROUTES.items():
                label = f"{name}, δ = {plain(delta)}"
                axes.plot(rows["rho"], rows[column] / rows["exact"], line, label=label, **looks[delta])
        keys = [Line2D([], [], **looks[delta], label=f"δ = {plain(delta)}") for delta in some["delta"].unique()]
        keys += [Line2D([], [], color="0.2", ls=line, label=name) for name, line in ROUTES.values()]
        figures.log_axes(axes, r"$\rho$", r"$\varepsilon$ claimed / $\varepsilon$ spent")
        axes.axhline(1, color="0.35", ls=":", lw=1)
        axes.legend(handles=keys)
    return Plate(
        figure,
        f"**Proposition A.3 claims {_overstated(some, 'proposition_a3', most=False)} the privacy loss that is "
        r"spent.** The $\varepsilon$ claimed over the $\varepsilon$ that the release truly spends as $\rho$-Gaussian "
        f"DP. Proposition A.3 claims {_overstated(some, 'proposition_a3')}, the best known of zCDP "
        rf"{_overstated(some, 'renyi')}. Exact computations, where any $\varepsilon$ is spent at that $\delta$.",
    )


def _overstated(rows: pd.DataFrame, column: str, *, most: bool = True) -> str:
    """By what factor a route overstates ε, and where most."""
    ratio = rows[column] / rows["exact"]
    where = rows.loc[ratio.idxmax()]
    at = f" as much, most at ρ = {where['rho']:g}, δ = {plain(where['delta'])}" if most else ""
    return f"{span(ratio)} times{at}"


# ---- Rates ----

AXES = {
    "gamma": ("gamma", r"$\gamma$, at $\rho = 1$"),
    "both": ("gamma", r"$\gamma = \rho^2$"),
    "rho": ("rho", r"$\rho$, at $\gamma = 0.01$"),
}


def draw_rates(rates: pd.DataFrame) -> Plate:
    """The risk against γ + γ²/ρ², a panel for each covariance: (1.4) says below a line of slope one."""
    grid = select(rates, axis="gamma")
    spectra = dict(iter(grid.groupby("spectrum", sort=False)))
    labels = {rho: rf"$\rho = {rho:g}$" for rho in sorted(grid["rho"].unique())}
    with figures.panels(len(spectra), ends=False, figsize=(7.6, 4.2), sharey=True) as (figure, panels):
        for axes, (name, rows) in zip(panels, spectra.items()):
            figures.curves(axes, rows, "rate_1.4", "excess_risk", "rho", labels, ls="")
            ends = np.array([rows["rate_1.4"].min(), rows["rate_1.4"].max()])
            axes.plot(ends, derived_multiple(rows) * ends, "k-", lw=1, label="derived multiple of (1.4)")
            axes.axhline(rows["zero_risk"].max(), color="0.35", ls=":", lw=1.5, label="answering 0")
            figures.log_axes(axes, r"$\gamma + \gamma^2/\rho^2$", "")
            axes.set_title(name)
        panels[0].set_ylabel("released excess risk")
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    judge = judges_of(__package__)["dpgd/equation-1.4"]
    multiples = listed(f"{compact(derived_multiple(rows))} ({name})" for name, rows in spectra.items())
    return Plate(
        figure,
        f"**{words.headline(judge, {'rates': rates}).rstrip('.')}.** The rate (1.4) and Algorithm 1: mean risk of "
        f"{grid['runs'].min()} runs for several $\\gamma$ and $\\rho$, bars of two standard errors. (1.4) claims that "
        f"the marks stay below a line of slope one. Drawn is the line with the multiple derived here, {multiples}.",
    )


def derived_multiple(rows: pd.DataFrame) -> float:
    """The largest ratio of the derived limit to γ + γ²/ρ²."""
    return float((rows["limit"] / rows["rate_1.4"]).max())


def draw_lower_bounds(bounds: pd.DataFrame) -> Plate:
    """The smaller risk of two private predictors over (1.2) and (1.5): along γ, along both, and along ρ."""
    looks = figures.looks(BOUNDS)
    with figures.panels(len(AXES), ends=False, figsize=(8.0, 3.6), sharey=True) as (figure, panels):
        for axes, (axis, (across, label)) in zip(panels, AXES.items()):
            for claim in BOUNDS:
                rows, look = select(bounds, axis=axis, claim=claim), looks[claim]
                axes.plot(rows[across], rows["ratio"], color=look["color"], lw=1, label=f"over {claim}")
                for name, filled in ((DESCENT, look["color"]), (ZERO, "none")):
                    best = select(rows, predictor=name)
                    axes.plot(best[across], best["ratio"], ls="", mfc=filled, **look)
            figures.log_axes(axes, label, "")
            axes.invert_xaxis()
        panels[0].set_ylabel("smaller risk / bound")
        keys = [Line2D([], [], label=f"over {claim}", **look) for claim, look in looks.items()]
        keys.append(Line2D([], [], label=ZERO, color="0.35", marker="o", ls="", mfc="none"))
        figure.legend(handles=keys, ncols=3, loc="outside lower center")
    ends = []
    for axis, (across, label) in AXES.items():
        rows = select(bounds, axis=axis, claim=BOUNDS[-1])
        ends.append(f"{compact(float(rows.loc[rows[across].idxmin(), 'ratio']))} ({label})")
    judge = judges_of(__package__)["dpgd/equation-1.5"]
    return Plate(
        figure,
        f"**{words.headline(judge, {'lower-bounds': bounds}).rstrip('.')}.** The smaller risk over (1.2) and "
        r"(1.5), hidden constant one, $\Sigma = I$, exact limits. Filled is Algorithm 1, hollow answering 0. At the "
        f"far ends the ratio to (1.5) is {listed(ends)}.",
    )


def show_schedules(schedules: pd.DataFrame) -> pd.DataFrame:
    """What (4.1) and (4.2) give for each schedule, for the page."""
    columns = {
        "rho_recomputed": "ρ recomputed",
        "share_last": "share of noise in the last step",
        "least_total": "least other total",
        "least_tail": "least other, any step on",
        "last_step_total": "all in the last step, total",
        "rho_every": "ρ if all iterates are released",
    }
    chosen = schedules.set_index("schedule")[list(columns)].rename(columns=columns)
    return chosen.T.map(plain).rename_axis(columns=None)


def show_outputs(outputs: pd.DataFrame) -> pd.DataFrame:
    """What neighbouring outputs spend, as a share of αρ²/2, by schedule and replaced record."""
    wide = outputs.pivot_table(index=["schedule", "others"], columns="k", values="renyi_share", sort=False)
    shown = wide.map(lambda value: f"{max(value, 0):.3f}").rename(columns=lambda k: f"record {k}")
    return shown.rename_axis(columns=None)


def show_tightness(tightness: pd.DataFrame) -> pd.DataFrame:
    """How much of ρ neighbours reach, by placement of the noise, with the share of the noise that is left."""
    columns = {
        "step": "step that attains (4.1)",
        "noise_left": "noise still to come there",
        "reached_silent": "reached, others silent",
        "reached_found": "most found",
    }
    rows = tightness.replace(NAMED).assign(privacy=tightness["rho"].map("ρ = {:g}".format))
    return rows.set_index(["schedule", "placement", "privacy"])[list(columns)].rename(columns=columns).map(plain)


def show_disputed(disputed: pd.DataFrame) -> pd.DataFrame:
    """Predicted and simulated risks by covariance and placement of the noise."""
    simulated = with_errors(disputed, "excess_risk")
    rows = disputed.replace(NAMED).assign(predicted=disputed["predicted"].map(plain), simulated=simulated)
    return rows.set_index(["covariance", "placement"])[["predicted", "simulated"]]
