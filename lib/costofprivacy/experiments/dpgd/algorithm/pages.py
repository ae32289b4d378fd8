"""The answer, figures and short tables for the page on Algorithm 1 of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from costofprivacy.experiments.dpgd.algorithm.verdicts import proposition_41
from costofprivacy.judging import words
from costofprivacy.judging.cards import tally
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import compared, listed, measured, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

EVEN, LAST, OURS = "even", "all in the last step", "as (4.2)"
ROUTES = {"proposition_a3": ("Proposition A.3", "-"), "renyi": ("best by way of Rényi", "--")}


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    factors = placement_factors(tables["placement"])
    return (
        f"{words.headline(proposition_41, tables)} At equal privacy, even noise multiplies the released risk by "
        f"{span(factors[EVEN])}, all noise in the last step by {span(factors[LAST])}. Of "
        f"{len(verdicts)} claims, {tally(verdicts)}."
    )


def placement_factors(placement: pd.DataFrame) -> pd.DataFrame:
    """The released risk by schedule and placement of the noise, over that with (4.2)."""
    risks = placement.pivot(index="schedule", columns="placement", values="excess_risk")
    return risks.div(risks[OURS], axis=0).loc[placement["schedule"].unique()]


def draw_noise(noise: pd.DataFrame, placement: pd.DataFrame) -> Plate:
    """Left: share of the noise added by time t. Right: released risks by placement of the noise."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(7.8, 3.5))
        for (name, rows), look in zip(noise.groupby("schedule", sort=False), figures.looks(range(9)).values()):
            left.plot(rows["t"].iloc[:-1], rows["share"].iloc[:-1], color=look["color"], label=name)
            left.plot(rows["t"].iloc[-1], rows["share"].iloc[-2], clip_on=False, **look)
        left.set(xlabel="$t = k/n$", ylabel=r"share of $\sum_j\sigma_j^2$ so far", xlim=(0, 1), ylim=(-0.02, 1.02))
        left.set_title("where (4.2) puts the noise")
        left.legend(loc="lower right", bbox_to_anchor=(1, 0.02), handlelength=1.2)
        _draw_placements(right, placement)
    return Plate(figure, _noise_caption(noise, placement), _noise_alt(noise, placement))


def _draw_placements(axes: Axes, placement: pd.DataFrame) -> None:
    heights = {name: -float(i) for i, name in enumerate(placement["schedule"].unique())}
    shifts = {OURS: 0.2, EVEN: 0.0, LAST: -0.2}
    for (name, shift), look in zip(shifts.items(), figures.looks(shifts).values()):
        rows = select(placement, placement=name)
        y = rows["schedule"].map(heights) + shift
        axes.errorbar(rows["excess_risk"], y, xerr=2 * rows["standard_error"], ls="", label=name, **look)
    axes.axvline(placement["zero_risk"].max(), color="0.35", ls=":", lw=1.2, label="answering 0")
    axes.set(xscale="log", xlabel="released excess risk", ylabel="schedule", title="noise of one $\\rho$, placed")
    axes.set_yticks(list(heights.values()), list(heights))
    axes.grid(axis="y", visible=False)
    axes.legend(loc="center right", handlelength=1.2)


def _noise_caption(noise: pd.DataFrame, placement: pd.DataFrame) -> str:
    factors, others = placement_factors(placement), placement[placement["placement"] != OURS]
    least = others.loc[(others["above"] / others["above_error"]).idxmin()]
    texts = ("A placement that is better was found", "No placement is better", "No placement is better")
    kept = 1 - noise.groupby("schedule", sort=False)["share"].agg(lambda share: share.iloc[-2])
    told = listed(f"{percent(round(share, 6))} ({name})" for name, share in kept.items())
    return (
        "**Where the noise belongs.** Left: the share of the noise that (4.2) has added by time $t$, marks before the "
        f"last step. That step adds {told}. Right: the mean risk of {placement['trials'].min()} releases, bars of two "
        f"standard errors. Over that with (4.2), it is {span(factors[EVEN])} with even noise and {span(factors[LAST])} "
        f"with all noise in the last step. {compared(least['above'], 0.0, texts, least['above_error'])}."
    )


def _noise_alt(noise: pd.DataFrame, placement: pd.DataFrame) -> str:
    half = [
        f"{name} {percent(rows.loc[(rows['t'] - 0.5).abs().idxmin(), 'share'])}"
        for name, rows in noise.groupby("schedule", sort=False)
    ]
    risks = [
        f"{name}: "
        + listed(f"{plain(r.excess_risk)} {r.placement}" for r in select(placement, schedule=name).itertuples())
        for name in placement["schedule"].unique()
    ]
    return f"Left: share of the noise by half of the run: {listed(half)}. Right: released risk, {'; '.join(risks)}."


def draw_expansion(expansion: pd.DataFrame) -> Plate:
    """By how much a step stretches a distance, against η‖x‖²."""
    labels = {"bare": "rate $\\eta$", "shortened": "rate\n$\\min(\\eta, 2/\\|x\\|^2)$"}
    with figures.style():
        figure, axes = plt.subplots(figsize=(5.8, 3.4))
        axes.plot(expansion["product"], expansion["exact"], "--", color="0.35", lw=1)
        for (name, label), look in zip(labels.items(), figures.looks(labels).values()):
            axes.plot(expansion["product"], expansion[name], ls="", label=label, **look)
        axes.axvline(2, color="0.6", lw=0.8)
        axes.set(xlabel=r"$\eta\|x\|^2$", ylabel="largest growth of a distance")
        figures.end_labels(axes)
    last = expansion.loc[expansion["product"].idxmax()]
    found = {name: plain(expansion[name].max()) for name in labels}
    return Plate(
        figure,
        caption=(
            "**How far a clipped step can pull two parameters apart**, the most found among random records and "
            rf"parameters. With the rate $\eta$ it reaches {found['bare']} at $\eta\|x\|^2 = {last['product']:g}$, "
            rf"where $\max(1, |1-\eta\|x\|^2|)$ (dashed) is {plain(last['exact'])}. With the rate of Algorithm 1 it is "
            "at most "
            f"{found['shortened']}."
        ),
        alt=(
            f"Largest growth of a distance: {found['bare']} with the rate as given, {found['shortened']} with the "
            f"shortened rate, for products of rate and squared length up to {last['product']:g}."
        ),
    )


def draw_conversions(conversions: pd.DataFrame) -> Plate:
    """ε over what is truly spent, against ρ, for each δ."""
    some = conversions[conversions["exact"] > 0]
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.2, 3.8))
        looks = figures.looks(some["delta"].unique())
        for delta, rows in some.groupby("delta", sort=False):
            for column, (_, line) in ROUTES.items():
                axes.plot(rows["rho"], rows[column] / rows["exact"], line, **looks[delta])
        keys = [Line2D([], [], **looks[delta], label=f"δ = {plain(delta)}") for delta in some["delta"].unique()]
        keys += [Line2D([], [], color="0.2", ls=line, label=name) for name, line in ROUTES.values()]
        figures.log_axes(axes, r"$\rho$", r"$\varepsilon$ claimed / $\varepsilon$ spent")
        axes.axhline(1, color="0.35", ls=":", lw=1)
        axes.legend(handles=keys)
    told = {column: _overstated(some, column) for column in ROUTES}
    return Plate(
        figure,
        caption=(
            r"**What conversions give away**: the $\varepsilon$ claimed over the $\varepsilon$ that the release truly "
            rf"spends as $\rho$-Gaussian DP. Proposition A.3 claims {told['proposition_a3']}, the best known of zCDP "
            rf"{told['renyi']}. Exact computations, where any $\varepsilon$ is spent at that $\delta$."
        ),
        alt=(
            f"Ratio of epsilon claimed to epsilon spent: Proposition A.3 {told['proposition_a3']}; by way of Rényi "
            f"divergences {told['renyi']}."
        ),
    )


def _overstated(rows: pd.DataFrame, column: str) -> str:
    """By what factor a route overstates ε, and where most."""
    ratio = rows[column] / rows["exact"]
    most = rows.loc[ratio.idxmax()]
    return f"{span(ratio)} times as much, most at ρ = {most['rho']:g}, δ = {plain(most['delta'])}"


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """What was found of each property of a step, for the page."""
    names = {"check": "property", "worst": "largest found", "bound": "allowed", "pairs": "pairs tried"}
    said = steps["check"].str.replace("C_clip", "clipping bound")
    rows = steps.assign(check=said, worst=steps["worst"].map(plain), bound=steps["bound"].map(plain))
    return rows.rename(columns=names).set_index("property")


def show_sensitivity(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """How far one record moves a step, in units of ηC_clip, for the page."""
    names = {"relation": "neighbours", "bound": "bound", "largest_found": "largest found", "constructed": "constructed"}
    return sensitivity[list(names)].rename(columns=names).set_index("neighbours").map(plain)


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
    return schedules.set_index("schedule")[list(columns)].rename(columns=columns).T.map(plain).rename_axis(columns=None)


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
    rows = tightness.assign(rho=tightness["rho"].map("ρ = {:g}".format)).rename(columns={"rho": "privacy"})
    return rows.set_index(["schedule", "placement", "privacy"])[list(columns)].rename(columns=columns).map(plain)


def show_placement(placement: pd.DataFrame) -> pd.DataFrame:
    """Risks by schedule and placement of the noise, with their standard errors."""
    text = [measured(value, error) for value, error in zip(placement["excess_risk"], placement["standard_error"])]
    wide = placement.assign(text=text).pivot(index="schedule", columns="placement", values="text")
    return wide.loc[placement["schedule"].unique(), placement["placement"].unique()].rename_axis(columns=None)


def show_conversions(conversions: pd.DataFrame) -> pd.DataFrame:
    """ε by four routes at the middle δ, for the page."""
    middle = sorted(conversions["delta"].unique())[conversions["delta"].nunique() // 2]
    columns = {
        "proposition_a3": "Proposition A.3",
        "equation_a3": "(A.3)",
        "renyi": "by way of Rényi",
        "exact": "exact",
        "condition": "condition of (A.3)",
    }
    rows = conversions[conversions["delta"] == middle].rename(columns={"rho": "ρ"} | columns).set_index("ρ")
    met = rows[columns["condition"]].map({True: "met", False: "not met"})
    return rows[list(columns.values())[:-1]].map(plain).assign(**{columns["condition"]: met})
