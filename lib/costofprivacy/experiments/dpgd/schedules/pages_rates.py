"""Figures and tables on rates, Theorem 2's constants and vanishing label noise, for the page on schedules."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd

from costofprivacy.experiments.dpgd.schedules.figure_seven import HARMONIC, INITIAL_RISK
from costofprivacy.experiments.dpgd.schedules.orders import DEGREE
from costofprivacy.experiments.dpgd.schedules.pages import NAMES, SPOKEN
from costofprivacy.experiments.dpgd.schedules.small_noise import ALONG_NOISE, FAR
from costofprivacy.judging.prose import compact, listed, plain, times
from costofprivacy.judging.tables import select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

DRAWN = ("0", "0.5", "2", HARMONIC)
PANELS = {"rho = 1": r"$\rho=1$", "rho = gamma^(1/2)": r"$\rho=\sqrt{\gamma}$"}
CLIPS = {"following": "c follows the risk", "fixed": "best constant c", "proportional": r"best $c\leq10\zeta$"}


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Tuned risks over the least constant's order, along γ, by schedule."""
    looks = figures.looks(NAMES)
    with figures.style():
        drawn, panels = plt.subplots(1, 2, figsize=(8.0, 3.9))
        for axes, (path, title) in zip(panels, PANELS.items()):
            for name in DRAWN:
                rows = select(rates, path=path, schedule=name).sort_values("inverse")
                axes.plot(rows["inverse"], rows["risk"] / rows["least"], label=NAMES[name], **looks[name])
            axes.axhline(1, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, r"$1/\gamma=n/d$", "risk over its least order" if axes is panels[0] else "")
            axes.set_title(title)
            figures.few_decades(axes)
            figures.end_labels(axes)
    first = next(iter(PANELS))
    end = select(rates, path=first, gamma=rates["gamma"].min()).set_index("schedule")
    share = (end["risk"] / end["least"]).loc[list(DRAWN)]
    return Plate(
        drawn,
        caption=(
            "**How far schedules are from the least risk as data grow**, isotropic, tuned, in units of "
            r"$4b_1/a^2+27b_2/a^2$. At the smallest $\gamma$ of the left panel the harmonic schedule is at "
            f"{compact(share[HARMONIC])}, output perturbation at {compact(share['0'])}. No randomness."
        ),
        alt=f"At gamma = {plain(rates['gamma'].min())} and rho = 1: "
        + listed(f"{SPOKEN[name]} {plain(value)}" for name, value in share.items())
        + " times the least order.",
    )


def draw_theorem(theorem: pd.DataFrame, rates: pd.DataFrame) -> Plate:
    """Theorem 2's bound and the risk at its own constants, and the tuned harmonic schedule's, along γ at ρ = 1."""
    path = next(iter(PANELS))
    own = select(theorem, axis=path).sort_values("size")
    own = own[own["size"] <= rates["inverse"].max()]
    tuned = select(rates, path=path, schedule=HARMONIC).sort_values("inverse")
    looks = figures.looks(("bound", "own", "tuned"))
    with figures.style():
        drawn, axes = plt.subplots(figsize=(6.6, 3.9))
        axes.plot(own["size"], own["bound"], label="the bound", **looks["bound"])
        axes.plot(own["size"], own["risk"], label="its constants", **looks["own"])
        axes.plot(tuned["inverse"], tuned["risk"], label="tuned", **looks["tuned"])
        axes.axhline(INITIAL_RISK, color="0.35", ls="--", lw=1)
        figures.log_axes(axes, r"$1/\gamma=n/d$", "excess risk")
        figures.end_labels(axes)
    useful = own[own["bound"] < INITIAL_RISK]
    says = f"from $\\gamma$ = {compact(useful['gamma'].max())} on" if len(useful) else "nowhere here"
    last = own.iloc[-1]
    ratio = last["bound"] / tuned.iloc[-1]["risk"]
    return Plate(
        drawn,
        caption=(
            "**Theorem 2 at its own constants**, $\\rho=1$. Its bound is below the risk of doing nothing (dashed) "
            f"{says}. "
            f"At the smallest $\\gamma$ it is {times(ratio)} the tuned risk; run with its constants, the schedule has "
            f"{times(last['risk'] / tuned.iloc[-1]['risk'])} the tuned risk there. No randomness."
        ),
        alt=(
            f"From gamma = {plain(own['gamma'].max())} to {plain(own['gamma'].min())}: bound "
            f"{plain(own['bound'].iloc[0])} to {plain(last['bound'])}, risk at its constants "
            f"{plain(own['risk'].iloc[0])} to {plain(last['risk'])}, tuned risk {plain(tuned['risk'].iloc[0])} to "
            f"{plain(tuned['risk'].iloc[-1])}."
        ),
    )


def draw_small_noise(small: pd.DataFrame) -> Plate:
    """Risks over ζ²(γ + γ²/ρ²) as ζ falls, at two aspect ratios, by how the clip is chosen."""
    looks = figures.looks(CLIPS)
    with figures.style():
        drawn, panels = plt.subplots(1, 2, figsize=(8.0, 3.9), sharey=True)
        for axes, axis in zip(panels, (ALONG_NOISE, FAR)):
            rows = select(small, axis=axis).sort_values("size")
            for column, label in CLIPS.items():
                axes.plot(rows["size"], rows[column] / rows["order"], label=label, **looks[column])
            left = r"risk over $\zeta^2(\gamma+\gamma^2/\rho^2)$" if axis == ALONG_NOISE else ""
            figures.log_axes(axes, r"$1/\zeta$", left)
            axes.set_title(rf"$\gamma={rows['gamma'].iloc[0]:g}$")
        figures.end_labels(panels[1])
    ends = {axis: select(small, axis=axis).sort_values("size").iloc[-1] for axis in (ALONG_NOISE, FAR)}
    told = {axis: {c: end[c] / end["order"] for c in CLIPS} for axis, end in ends.items()}
    return Plate(
        drawn,
        caption=(
            "**Vanishing label noise**, $\\rho=1$, each time with the best schedule. At the least $\\zeta$ of the left "
            f"panel the risk is {times(told[ALONG_NOISE]['following'])} the conjectured order where the clip follows "
            f"the risk, and {times(told[ALONG_NOISE]['fixed'])} with the best constant clip. On the right the clip "
            f"that follows ends at {times(told[FAR]['following'])} the order. No randomness."
        ),
        alt="; ".join(
            f"gamma = {plain(ends[axis]['gamma'])}, zeta = {plain(ends[axis]['zeta'])}: "
            + listed(f"{name} {plain(value)}" for name, value in values.items())
            for axis, values in told.items()
        )
        + ", all over the conjectured order.",
    )


def show_decay(decay: pd.DataFrame) -> pd.DataFrame:
    """Where (5.16) breaks: exponents as large as (5.14) admits, with strict privacy."""
    rows = select(decay, axis=DEGREE).sort_values("size")
    shown = pd.DataFrame(
        {
            "γ": rows["gamma"].map(plain),
            "α": rows["alpha"].map(plain),
            "condition (5.14)": rows["condition"].map(plain),
            "αγ/ρ": rows["privacy"].map(plain),
            "risk": rows["left"].map(plain),
            "bound (5.16)": rows["right"].map(plain),
            "risk over bound": (rows["left"] / rows["right"]).map(plain),
        }
    )
    return shown.set_index("γ")


def show_constants(constants: pd.DataFrame) -> pd.DataFrame:
    """What the proofs print, and what is needed there."""
    words = {"alpha": "α", "sqrt(pi e)": "√(πe)"}
    names = constants["constant"]
    for plainly, symbol in words.items():
        names = names.str.replace(plainly, symbol, regex=False)
    return pd.DataFrame(
        {"place": names, "printed": constants["printed"].map(plain), "needed": constants["needed"].map(plain)}
    ).set_index("place")
