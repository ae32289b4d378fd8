"""The answer, the leading figures and short tables of the page on schedules of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.dpgd.schedules.best import CONSTANT, FLAT, FLAT_FREE
from costofprivacy.experiments.dpgd.schedules.figure_seven import HARMONIC, ISOTROPIC, OPTIMUM, UNIFORM
from costofprivacy.experiments.dpgd.schedules.verdicts import excess, figure_7, wide
from costofprivacy.judging import words
from costofprivacy.judging.prose import listed, percent, plain, times
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

BASE = "0"  # α = 0, to which the lower panels are relative
NAMES = {"0": r"$\alpha=0$", "0.5": r"$\alpha=\frac{1}{2}$", "1": r"$\alpha=1$", "2": r"$\alpha=2$",
         HARMONIC: "harmonic", OPTIMUM: "the best of all"}  # fmt: skip
SPOKEN = {"0": "alpha 0", "0.5": "alpha 1/2", "1": "alpha 1", "2": "alpha 2", HARMONIC: "harmonic",
          OPTIMUM: "the best of all"}  # fmt: skip
MODERATE = 1.0  # ρ up to which the two-parameter family is spoken of


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    gains = tables["gains"]
    worst = {family: rows["excess"].max() for family, rows in gains.groupby("family", sort=False)}
    behind = excess(wide(tables["figure-7"], UNIFORM)).max()
    return (
        "For isotropic data the best schedule is known: constant, then along an explicit curve. A tuned harmonic one "
        f"costs up to {percent(worst[HARMONIC])} more, a constant one {times(1 + worst[CONSTANT])} the risk, a flat "
        f"start with a power after it {percent(worst[FLAT_FREE])}. On a uniform spectrum harmonic has up to "
        f"{times(1 + behind)} the risk of a power of $1-t$."
    )


def draw_figure_7(figure: pd.DataFrame, optimum: pd.DataFrame) -> Plate:
    """Above: risks against n, by schedule, for both spectra. Below: the same over output perturbation's."""
    looks = figures.looks(NAMES)
    with figures.style():
        drawn, panels = plt.subplots(2, 2, figsize=(8.2, 6.4), sharex=True)
        for column, spectrum in enumerate((ISOTROPIC, UNIFORM)):
            rows = select(figure, spectrum=spectrum)
            rows = pd.concat([rows, optimum], ignore_index=True) if spectrum == ISOTROPIC else rows
            base = select(rows, schedule=BASE).set_index("n")
            for name, part in rows.groupby("schedule", sort=False):
                part = part.sort_values("n")
                _draw_schedule(panels[0, column], part, None, str(name), looks)
                _draw_schedule(panels[1, column], part, base, str(name), looks)
            panels[0, column].set(xscale="log", yscale="log", title=f"{spectrum} spectrum")
            panels[1, column].set(xscale="log", yscale="log", xlabel="$n$ (records)")
            figures.few_decades(panels[1, column])
        panels[0, 0].set(ylabel="excess risk")
        panels[1, 0].set(ylabel=r"over that of $\alpha=0$")
        drawn.legend(*panels[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    return Plate(drawn, _caption_7(figure, optimum), _alt_7(figure, optimum))


def _draw_schedule(axes: Axes, rows: pd.DataFrame, base: pd.DataFrame | None, name: str, looks: dict) -> None:
    """Lines by the equations, marks by simulation, bands of one standard deviation."""
    n = rows["n"].to_numpy()
    unit = np.ones(len(n)) if base is None else base["ode_risk"].loc[n].to_numpy()
    seen = np.ones(len(n)) if base is None else base["risk_mean"].loc[n].to_numpy()
    look = looks[name]
    axes.plot(n, rows["ode_risk"] / unit, color=look["color"], lw=1.2)
    axes.plot(n, rows["risk_mean"] / seen, ls="", ms=4, label=NAMES[name], **look)
    low, high = ((rows["risk_mean"] + sign * rows["risk_sd"]) / seen for sign in (-1, 1))
    axes.fill_between(n, np.maximum(low, (rows["risk_mean"] / seen) / 10), high, color=look["color"], alpha=0.2, lw=0)


def _caption_7(figure: pd.DataFrame, optimum: pd.DataFrame) -> str:
    run = figure[figure["trials"] > 0]
    off = (run["risk_mean"] / run["ode_risk"] - 1).abs()
    harmonic = select(figure, spectrum=ISOTROPIC, schedule=HARMONIC).set_index("n")["ode_risk"]
    best = optimum.set_index("n")["ode_risk"]
    gain = (harmonic / best).max() - 1
    return (
        f"**Figure 7, re-computed.** {words.headline(figure_7, {'figure-7': figure})} Lines: the equations, tuned. "
        f"Marks: means of {int(run['trials'].max())} runs, bands of one standard deviation; the means are off the "
        f"lines by {percent(off.median())} in the median. The best of all schedules for isotropic data saves up to "
        f"{percent(gain / (1 + gain))} of the harmonic risk."
    )


def _alt_7(figure: pd.DataFrame, optimum: pd.DataFrame) -> str:
    texts = []
    for spectrum in (ISOTROPIC, UNIFORM):
        table = wide(figure, spectrum)
        ends = listed(f"{SPOKEN[name]} {plain(table[name].iloc[0])} to {plain(table[name].iloc[-1])}" for name in table)
        texts.append(f"{spectrum}: {ends}")
    best = optimum.sort_values("n")["ode_risk"]
    first, last = figure["n"].min(), figure["n"].max()
    return (
        f"Risks of the equations from n = {first} to {last}. {'; '.join(texts)}; the best of all, isotropic, "
        f"{plain(best.iloc[0])} to {plain(best.iloc[-1])}."
    )


def draw_gains(gains: pd.DataFrame) -> Plate:
    """What two families cost against the best schedule, along n/d, by ρ."""
    looks = figures.looks(sorted(gains["rho"].unique()))
    titles = {HARMONIC: r"harmonic, $\beta/(t+\tau)$", FLAT: r"flat, then a power, $\beta\,\max(t,\tau)^{-1.1}$"}
    with figures.style():
        drawn, panels = plt.subplots(1, 2, figsize=(8.0, 3.9), sharey=True)
        for axes, (family, title) in zip(panels, titles.items()):
            for rho, rows in select(gains, family=family).groupby("rho"):
                rows = rows.sort_values("n_over_d")
                axes.plot(rows["n_over_d"], 100 * rows["excess"].clip(lower=0), label=rf"$\rho={rho:g}$", **looks[rho])
            axes.set(xscale="log", xlabel="$n/d$", title=title)
        panels[0].set(ylabel="above the least risk, %")
        figures.end_labels(panels[1])
    worst = {family: rows["excess"].max() for family, rows in gains.groupby("family", sort=False)}
    near = gains[(gains["rho"] <= MODERATE) & (gains["family"] == FLAT)]["excess"].max()
    return Plate(
        drawn,
        caption=(
            "**What a family of schedules costs against the best one**, isotropic data, tuned, by the equations. The "
            f"harmonic one costs up to {percent(worst[HARMONIC])}. A flat start before the fall, with the power 1.1, "
            f"costs up to {percent(near)} for $\\rho\\le{MODERATE:g}$ and {percent(worst[FLAT])} for all $\\rho$; with "
            f"a free power, {percent(worst[FLAT_FREE])}. No randomness."
        ),
        alt=(
            "Largest excess over the least risk: "
            + listed(f"{family} {percent(value)}" for family, value in worst.items())
            + f", over {gains['rho'].nunique()} values of rho and n/d from {plain(gains['n_over_d'].min())} to "
            f"{plain(gains['n_over_d'].max())}."
        ),
    )


def show_figure_7(figure: pd.DataFrame) -> pd.DataFrame:
    """Tuned risks at whole decades: by the equations, and the mean of the runs with its standard deviation."""
    decades = figure[np.isclose(np.log10(figure["n"]) % 1, 0)]
    rows = decades.assign(
        equations=decades["ode_risk"].map(plain),
        runs=[f"{plain(m)} ± {plain(s)}" if t else "–" for m, s, t in
              zip(decades["risk_mean"], decades["risk_sd"], decades["trials"])],
        schedule=decades["schedule"].map(lambda name: "harmonic" if name == HARMONIC else f"α = {name}"),
    )  # fmt: skip
    table = rows.pivot(index=["spectrum", "n"], columns="schedule", values=["equations", "runs"])
    return table.swaplevel(axis=1).sort_index(axis=1).rename_axis(columns=[None, None])


def show_search(search: pd.DataFrame) -> pd.DataFrame:
    """What a search without the theorem finds, beside the theorem's schedule and the best harmonic one."""
    shown = pd.DataFrame(
        {
            "spectrum": search["spectrum"],
            "n/d": search["n_over_d"].map(plain),
            "searched": search["searched"].map(plain),
            "by the theorem": search["least"].map(lambda v: "–" if pd.isna(v) else plain(v)),
            "best harmonic": search["harmonic"].map(plain),
            "harmonic over searched": (search["harmonic"] / search["searched"]).map("{:.3f}".format),
        }
    )
    return shown.set_index(["spectrum", "n/d"])


def show_limits(rates: pd.DataFrame) -> pd.DataFrame:
    """The tuned harmonic schedule as γ falls: its constants in units of their limits."""
    rows = select(rates, schedule=HARMONIC)
    rows = rows[np.isclose(np.log10(rows["gamma"]) % 2, 0)].sort_values(["path", "gamma"], ascending=[True, False])
    shown = pd.DataFrame(
        {
            "path": rows["path"].map(_path),
            "γ": rows["gamma"].map(plain),
            "2μβ": rows["descent"].map(plain),
            "τρ/γ": (rows["offset"] * rows["rho"] / rows["gamma"]).map(plain),
            "risk over its limit": (rows["risk"] / rows["least"]).map("{:.3f}".format),
        }
    )
    return shown.set_index(["path", "γ"])


def _path(name: str) -> str:
    return name.replace("rho", "ρ").replace("gamma^(1/2)", "√γ").replace("gamma^(3/4)", "γ^¾")
