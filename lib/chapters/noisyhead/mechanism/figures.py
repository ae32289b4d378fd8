"""Figures for the page on Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2."""

import math

import numpy as np
import pandas as pd

from chapters.noisyhead.mechanism.accounting import CLAIMED, EVERY, LAST
from companion import _fits
from companion.judging.prose import compact, percent, plain
from companion.judging.tables import pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.noisyhead import pretraining

VIEWS = {CLAIMED: "claimed", EVERY: "every\niterate", LAST: "last\niterate"}


def draw_composition(table: pd.DataFrame) -> Plate:
    """ε spent against T in three views, and the noise multiplier that each would ask for."""
    columns = {
        "epsilon": r"$\varepsilon$ spent with the noise of Algorithm 1",
        "noise_multiplier": "noise multiplier needed for the budget",
    }
    with figures.panels(2, figsize=(9.2, 3.9)) as (figure, panels):
        for axes, (column, label) in zip(panels, columns.items(), strict=True):
            figures.curves(axes, table, "T", column, "accounting", VIEWS)
            figures.log_axes(axes, "$T$ (steps)", label)
    own = {label.replace("\n", " "): select(table, accounting=name).sort_values("T") for name, label in VIEWS.items()}
    spent = ", ".join(f"{compact(rows['epsilon'].iloc[-1])} ({name})" for name, rows in own.items())
    asked = ", ".join(f"{_last_power(rows)} ({name})" for name, rows in own.items())
    return Plate(
        figure,
        f"**Three accountings of the same algorithm.** Left: with the noise that Algorithm 1 adds, the "
        f"$\\varepsilon$ spent after $T = {table['T'].max()}$ steps is {spent}. Right: the noise multiplier "
        f"(standard deviation over sensitivity) that a step needs for the budget; in the end it goes like $T^a$ "
        f"with $a$ = {asked}. Exact computations, no simulation.",
    )


def _last_power(rows: pd.DataFrame) -> str:
    """The local power of T in the noise multiplier at the last T, in words."""
    if len(rows) < 2:
        return "no number"
    return f"{_fits.local_exponents(rows['T'].to_numpy(), rows['noise_multiplier'].to_numpy())[-1]:.2f}"


def draw_reach(sensitivity: pd.DataFrame) -> Plate:
    """What one prompt can add to the gradient, in the plane of Γ and a normal, with the worst pair of neighbours."""
    told = pick(sensitivity, setting="published", N=sensitivity["N"].iloc[0])
    A, B = pretraining.reach(told["weight_bound"], told["clip_norm"], told["feature_bound"])
    angle, worst = np.linspace(-np.pi / 2, np.pi / 2, 100), pretraining.widest_angle(A, B)
    edge = (A * np.cos(angle) + B) * np.exp(1j * angle)
    tip = (A * math.cos(worst) + B) * np.exp(1j * worst)
    disc = (A + B) * np.exp(1j * np.linspace(0, 2 * np.pi, 100))
    with figures.panels(ends=False, figsize=(5.2, 4.6)) as (figure, (axes,)):
        axes.fill(edge.real, edge.imag, alpha=0.25, label="reach of one prompt, forward half")
        axes.plot([tip.real] * 2, [tip.imag, -tip.imag], "o-", color="C1", label="worst pair of neighbours")
        axes.plot(disc.real, disc.imag, "--", color="0.35", lw=1, label="ball of radius $G(C + RG)$ of (A.1)")
        axes.plot(0, 0, "k+")
        axes.set(aspect="equal", xlabel=r"component along $\Gamma$", ylabel=r"component across $\Gamma$")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    chord, width = 2 * tip.imag, 2 * (A + B)
    return Plate(
        figure,
        r"**What one prompt can add to the gradient**, in the plane of $\Gamma$ and a normal to it, in the "
        f"published setting at $N = {told['N']}$. The bound (A.1) allows for the whole disc, {compact(width)} "
        f"across. The worst pair of neighbours, the vertical chord, is {compact(chord)} apart: "
        f"{percent(chord / width)} of that. Exact, no simulation.",
        # A region of the plane has no course.
        alt=f"One prompt reaches up to {plain(A + B)} along Γ and {plain(tip.imag)} across it. The worst pair of "
        f"neighbours is {plain(chord)} apart, {percent(chord / width)} of the width {plain(width)} of the ball "
        "that the bound allows for.",
    )


def draw_single_steps(table: pd.DataFrame) -> Plate:
    """δ spent over δ claimed against ε/T."""
    rows = table.assign(ratio=table["delta_spent"] / table["delta"])
    steps = sorted(rows["T"].unique())
    with figures.panels() as (figure, (axes,)):
        figures.curves(axes, rows, "epsilon_per_step", "ratio", "T", {T: f"$T = {T}$" for T in steps})
        axes.axhline(1, color="0.35", ls="--", lw=1, zorder=2.2)  # over the curves
        axes.axvline(1, color="0.35", ls=":", lw=1, zorder=2.2)
        figures.log_axes(axes, r"$\varepsilon/T$", r"$\delta$ spent / $\delta$ claimed")
        axes.set_ylim(1e-10, 1e6)
        axes.annotate(r"$\varepsilon = T$", (1, 1e5), (4, 0), textcoords="offset points", fontsize=figures.LETTERS)
    inside = rows.loc[rows["epsilon_per_step"] <= 1, "ratio"].max()
    broken = rows[rows["ratio"] > 1].groupby("T")["epsilon_per_step"].min()
    beyond = ", ".join(f"$T = {T}$ at $\\varepsilon/T$ = {compact(at)}" for T, at in broken.items())
    first = f"Beyond it is first exceeded for {beyond}." if beyond else "Beyond it is not exceeded either."
    return Plate(
        figure,
        r"**How far the calibration carries**: $\delta$ truly spent at the claimed $\varepsilon$, over the claimed "
        r"$\delta$, for few steps; all iterates released, or the last without contraction. Up to $\varepsilon = T$ "
        f"(dotted) at most {compact(inside)} of the claimed $\\delta$ is spent. {first} Exact, no simulation.",
    )
