"""Which learning rate schedule should one use, and how much does it matter?"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.dpgd.schedules.judge import excess, wide
from chapters.dpgd.schedules.measure import (
    ALONG_NOISE,
    CONSTANT,
    DEGREE,
    FAR,
    FLAT,
    FLAT_FREE,
    HARMONIC,
    INITIAL_RISK,
    ISOTROPIC,
    OPTIMUM,
    UNIFORM,
)
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, percent, plain, times
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate

# ---- Figures ----

BASE = "0"  # α = 0, to which the lower panels are relative
NAMES = {"0": r"$\alpha=0$", "0.5": r"$\alpha=\frac{1}{2}$", "1": r"$\alpha=1$", "2": r"$\alpha=2$",
         HARMONIC: "harmonic", OPTIMUM: "the best of all"}  # fmt: skip
LOOKS = figures.looks(NAMES)
MODERATE = 1.0  # ρ up to which the two-parameter family is spoken of
FAMILIES = {HARMONIC: r"harmonic, $\beta/(t+\tau)$", FLAT: r"flat, then a power, $\beta\,\max(t,\tau)^{-1.1}$"}
PATHS = {"rho = 1": r"$\rho=1$", "rho = gamma^(1/2)": r"$\rho=\sqrt{\gamma}$"}
FIRST = next(iter(PATHS))
CLIPS = {"following": "c follows the risk", "fixed": "best constant c", "proportional": r"best $c\leq10\zeta$"}
LEVEL: dict[str, Any] = {"color": "0.35", "ls": "--", "lw": 1}


def draw_figure_7(figure: pd.DataFrame, optimum: pd.DataFrame) -> Plate:
    """Above: risks against n, by schedule, for both spectra. Below: the same over output perturbation's."""
    risks = ["ode_risk", "risk_mean", "risk_sd"]
    with figures.style():
        drawn, panels = plt.subplots(2, 2, figsize=(8.2, 6.4), sharex=True)
        for (above, below), spectrum in zip(panels.T, (ISOTROPIC, UNIFORM), strict=True):
            rows = select(figure, spectrum=spectrum)
            rows = pd.concat([rows, optimum], ignore_index=True) if spectrum == ISOTROPIC else rows
            base = select(rows, schedule=BASE).set_index("n")[["ode_risk", "risk_mean", "risk_mean"]]
            base.columns = risks  # a deviation is relative to the mean
            for name, part in rows.groupby("schedule", sort=False):
                part = part.sort_values("n").set_index("n")[risks]
                _draw_schedule(above, part, str(name))
                _draw_schedule(below, part / base, str(name))
            above.set(xscale="log", yscale="log", title=f"{spectrum} spectrum")
            below.set(xscale="log", yscale="log", xlabel="$n$ (records)")
            figures.few_decades(below)
        panels[0, 0].set(ylabel="excess risk")
        panels[1, 0].set(ylabel=r"over that of $\alpha=0$")
        drawn.legend(*panels[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    run = figure[figure["trials"] > 0]
    off = (run["risk_mean"] / run["ode_risk"] - 1).abs()
    harmonic = select(figure, spectrum=ISOTROPIC, schedule=HARMONIC).set_index("n")["ode_risk"]
    gain = (harmonic / optimum.set_index("n")["ode_risk"]).max() - 1
    headline = words.headline(judges_of(__package__)["dpgd/figure-7"], {"figure-7": figure})
    return Plate(
        drawn,
        f"**Figure 7, re-computed.** {headline} Lines: the equations, tuned. "
        f"Marks: means of {int(run['trials'].max())} runs, bands of one standard deviation. The means differ from "
        f"the lines by {percent(off.median())} in the median. The best of all schedules for isotropic data saves "
        f"up to {percent(gain / (1 + gain))} of the harmonic risk.",
    )


def _draw_schedule(axes: Axes, rows: pd.DataFrame, name: str) -> None:
    """Lines by the equations, marks by simulation, bands of one standard deviation; the index of rows is n."""
    mean, colour = rows["risk_mean"], LOOKS[name]["color"]
    axes.plot(rows.index, rows["ode_risk"], color=colour, lw=1.2)
    axes.plot(rows.index, mean, ls="", ms=4, label=NAMES[name], **LOOKS[name])
    low, high = np.maximum(mean - rows["risk_sd"], mean / 10), mean + rows["risk_sd"]
    axes.fill_between(rows.index, low, high, color=colour, alpha=0.2, lw=0)


def draw_gains(gains: pd.DataFrame) -> Plate:
    """What two families cost against the best schedule, along n/d, by ρ."""
    rows = gains.assign(percents=100 * gains["excess"].clip(lower=0))
    named = {rho: rf"$\rho={rho:g}$" for rho in sorted(gains["rho"].unique())}
    with figures.panels(2, ends=False, figsize=(8.0, 3.9), sharey=True) as (drawn, panels):
        for axes, (family, title) in zip(panels, FAMILIES.items(), strict=True):
            figures.curves(axes, select(rows, family=family), "n_over_d", "percents", "rho", named)
            axes.set(xscale="log", xlabel="$n/d$", title=title)
        panels[0].set(ylabel="above the least risk, %")
        figures.end_labels(panels[1])
    worst = gains.groupby("family")["excess"].max()
    near = gains[(gains["rho"] <= MODERATE) & (gains["family"] == FLAT)]["excess"].max()
    return Plate(
        drawn,
        "**What a family of schedules costs against the best one**, isotropic data, tuned, by the equations. The "
        f"harmonic one costs up to {percent(worst[HARMONIC])}. A flat start before the fall, with the power 1.1, "
        f"costs up to {percent(near)} for $\\rho\\le{MODERATE:g}$ and {percent(worst[FLAT])} for all $\\rho$; with "
        f"a free power, {percent(worst[FLAT_FREE])}. No randomness.",
    )


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Tuned risks over the least constant's order, along γ, by schedule."""
    rates = rates.assign(over=rates["risk"] / rates["least"]).sort_values("inverse")
    with figures.panels(2, figsize=(8.0, 3.9)) as (drawn, panels):
        for axes, (path, title) in zip(panels, PATHS.items(), strict=True):
            for name in ("0", "0.5", "2", HARMONIC):
                rows = select(rates, path=path, schedule=name)
                axes.plot(rows["inverse"], rows["over"], label=NAMES[name], **LOOKS[name])
            axes.axhline(1, **LEVEL)
            figures.log_axes(axes, r"$1/\gamma=n/d$", "risk over its least order" if axes is panels[0] else "")
            axes.set_title(title)
            figures.few_decades(axes)
    end = select(rates, path=FIRST, gamma=rates["gamma"].min()).set_index("schedule")["over"]
    return Plate(
        drawn,
        "**Risks of tuned schedules on isotropic data, as multiples of the least order** "
        r"$4b_1/a^2+27b_2/a^2$, as data grow. At the smallest $\gamma$ of the left panel the harmonic schedule is "
        f"at {compact(end[HARMONIC])}, output perturbation at {compact(end[BASE])}. No randomness.",
    )


def draw_theorem(theorem: pd.DataFrame, rates: pd.DataFrame) -> Plate:
    """Theorem 2's bound and the risk at its own constants, and the tuned harmonic schedule's, along γ at ρ = 1."""
    own = select(theorem, axis=FIRST).sort_values("size")
    own = own[own["size"] <= rates["inverse"].max()]
    tuned = select(rates, path=FIRST, schedule=HARMONIC).sort_values("inverse")
    drawings = {
        "the bound": (own["size"], own["bound"]),
        "its constants": (own["size"], own["risk"]),
        "tuned": (tuned["inverse"], tuned["risk"]),
    }
    with figures.panels(figsize=(6.6, 3.9)) as (drawn, (axes,)):
        for label, look in figures.looks(drawings).items():
            axes.plot(*drawings[label], label=label, **look)
        axes.axhline(INITIAL_RISK, **LEVEL)
        figures.log_axes(axes, r"$1/\gamma=n/d$", "excess risk")
    useful = own[own["bound"] < INITIAL_RISK]
    says = f"from $\\gamma$ = {compact(useful['gamma'].max())} on" if len(useful) else "nowhere here"
    last, least = own.iloc[-1], tuned["risk"].iloc[-1]
    return Plate(
        drawn,
        "**Theorem 2 at its own constants**, $\\rho=1$. Its bound is below the risk of always answering 0 (dashed) "
        f"{says}. "
        f"At the smallest $\\gamma$ it is {times(last['bound'] / least)} the tuned risk; run with its constants, "
        f"the schedule has {times(last['risk'] / least)} the tuned risk there. No randomness.",
    )


def draw_small_noise(small: pd.DataFrame) -> Plate:
    """Risks over ζ²(γ + γ²/ρ²) as ζ falls, at two aspect ratios, by how the clip is chosen."""
    over = small.assign(**{name: small[name] / small["order"] for name in CLIPS})
    with figures.panels(2, ends=False, figsize=(8.0, 3.9), sharey=True) as (drawn, panels):
        for axes, axis in zip(panels, (ALONG_NOISE, FAR), strict=True):
            rows = select(over, axis=axis)
            for name, look in figures.looks(CLIPS).items():
                figures.points(axes, rows, "size", name, label=CLIPS[name], **look)
            left = r"risk over $\zeta^2(\gamma+\gamma^2/\rho^2)$" if axis == ALONG_NOISE else ""
            figures.log_axes(axes, r"$1/\zeta$", left)
            axes.set_title(rf"$\gamma={rows['gamma'].iloc[0]:g}$")
        figures.end_labels(panels[1])
    near, far = (pick(over, axis=axis, size=select(over, axis=axis)["size"].max()) for axis in (ALONG_NOISE, FAR))
    return Plate(
        drawn,
        "**Vanishing label noise**, $\\rho=1$, each time with the best schedule. At the least $\\zeta$ of the left "
        f"panel the risk is {times(near['following'])} the conjectured order where the clip follows "
        f"the risk, and {times(near['fixed'])} with the best constant clip. On the right the clip "
        f"that follows ends at {times(far['following'])} the order. No randomness.",
    )


def show_figure_7(figure: pd.DataFrame) -> pd.DataFrame:
    """Tuned risks at whole decades: by the equations, and the mean of the runs with its standard deviation."""
    decades = _whole_decades(figure, "n")
    runs = [f"{plain(row.risk_mean)} ± {plain(row.risk_sd)}" if row.trials else "–" for row in decades.itertuples()]
    names = decades["schedule"].map(lambda name: "harmonic" if name == HARMONIC else f"α = {name}")
    rows = decades.assign(equations=decades["ode_risk"].map(plain), runs=runs, schedule=names)
    table = rows.pivot(index=["spectrum", "n"], columns="schedule", values=["equations", "runs"])
    return table.swaplevel(axis=1).sort_index(axis=1).rename_axis(columns=[None, None])


def _whole_decades(table: pd.DataFrame, column: str, every: int = 1) -> pd.DataFrame:
    return table[np.isclose(np.log10(table[column]) % every, 0)]


def show_search(search: pd.DataFrame) -> pd.DataFrame:
    """What a search without the theorem finds, beside the theorem's schedule and the best harmonic one."""
    columns = {
        "spectrum": search["spectrum"],
        "n/d": search["n_over_d"],
        "searched": search["searched"],
        "by the theorem": search["least"],
        "best harmonic": search["harmonic"],
        "harmonic over searched": (search["harmonic"] / search["searched"]).map("{:.3f}".format),
    }
    return _shown(columns, 2)


def show_limits(rates: pd.DataFrame) -> pd.DataFrame:
    """The tuned harmonic schedule as γ falls: its constants in units of their limits."""
    rows = _whole_decades(select(rates, schedule=HARMONIC), "gamma", every=2)
    rows = rows.sort_values(["path", "gamma"], ascending=[True, False])
    columns = {
        "path": rows["path"].replace({"rho": "ρ", r"gamma\^\(1/2\)": "√γ", r"gamma\^\(3/4\)": "γ^¾"}, regex=True),
        "γ": rows["gamma"],
        "2μβ": rows["descent"],
        "τρ/γ": rows["offset"] * rows["rho"] / rows["gamma"],
        "risk over its limit": (rows["risk"] / rows["least"]).map("{:.3f}".format),
    }
    return _shown(columns, 2)


def show_decay(decay: pd.DataFrame) -> pd.DataFrame:
    """Where (5.16) breaks: exponents as large as (5.14) admits, with strict privacy."""
    rows = select(decay, axis=DEGREE).sort_values("size")
    columns = {
        "γ": rows["gamma"],
        "α": rows["alpha"],
        "condition (5.14)": rows["condition"],
        "αγ/ρ": rows["privacy"],
        "risk": rows["left"],
        "bound (5.16)": rows["right"],
        "risk over bound": rows["left"] / rows["right"],
    }
    return _shown(columns)


def show_constants(constants: pd.DataFrame) -> pd.DataFrame:
    """What the proofs print, and what is needed there."""
    places = constants["constant"].str.replace("alpha", "α").str.replace("sqrt(pi e)", "√(πe)", regex=False)
    return _shown({"place": places, "printed": constants["printed"], "needed": constants["needed"]})


def _shown(columns: dict[str, pd.Series], index: int = 1) -> pd.DataFrame:
    table = pd.DataFrame(columns).map(
        lambda value: value if isinstance(value, str) else plain(value), na_action="ignore"
    )
    return table.fillna("–").set_index(list(columns)[:index])


def answer(tables: Tables) -> list[str]:
    """What the chapter found, and what its page shows."""
    worst = tables["gains"].groupby("family")["excess"].max()
    behind = excess(wide(tables["figure-7"], UNIFORM)).max()
    return [
        "For isotropic data we know the best schedule: it is constant at first and then falls like $1/t$, along an "
        "explicit curve.",
        f"Tuned harmonic schedules have up to {percent(worst[HARMONIC])} more risk, and constant ones up to "
        f"{times(1 + worst[CONSTANT])} the risk.",
        f"A constant start with a power of time after it costs at most {percent(worst[FLAT_FREE])}. On a uniform "
        f"spectrum harmonic schedules have up to {times(1 + behind)} the risk of polynomial ones.",
        "We derive the best schedule from what one step contracts and what noise it needs, follow it in a run by hand, "
        "and judge the paper's claims.",
    ]
