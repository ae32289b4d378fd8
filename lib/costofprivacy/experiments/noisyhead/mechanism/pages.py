"""Figures and short tables for the page on Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy import figures
from costofprivacy.experiments.noisyhead.mechanism import minimisers
from costofprivacy.findings import pick
from costofprivacy.noisyhead import opposed
from costofprivacy.plates import Plate


def show_sensitivity(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """The bound, and the shares of it that are exact, found at random and built, at the first and the last N."""
    ends = sensitivity[sensitivity["N"].isin([sensitivity["N"].min(), sensitivity["N"].max()])].set_index(
        ["N", "setting"]
    )
    shares = ends[["exact", "largest_found", "constructed"]].div(ends["bound"], axis=0)
    return ends[["bound"]].join(shares).round(4)


def show_noise(noise: pd.DataFrame) -> pd.DataFrame:
    """Noise of one step at the first and the last N, for the page."""
    ends = noise[noise["N"].isin([noise["N"].min(), noise["N"].max()])]
    shown = pd.DataFrame(
        {
            "T": ends["T"],
            "printed / exact": ends["printed_std"] / ends["exact_std"],
            "step norm / R": ends["step_norm"] / ends["weight_bound"],
            "ε, every": ends["epsilon_every"],
            "ε, last": ends["epsilon_last"],
        }
    )
    return shown.set_index([ends["N"], ends["setting"]]).round(3)


def show_minimisers(table: pd.DataFrame) -> pd.DataFrame:
    """Where descent rests, at the first and the last N, for the page."""
    wide = table.pivot(index="check", columns="N", values="value").loc[list(minimisers.CHECKS)]
    return wide.iloc[:, [0, -1]].map("{:.2g}".format)


def show_noise_law(law: pd.DataFrame) -> pd.DataFrame:
    """The noise's variance against the sensitivity and its square, for the page."""
    names = {
        "feature_bound": "G",
        "sensitivity": "sensitivity",
        "variance": "variance of the noise",
        "variance_over_sensitivity": "variance / sensitivity",
        "variance_over_square": "variance / sensitivity²",
    }
    return law[list(names)].rename(columns=names).map("{:.3g}".format).set_index("G")


def draw_reach(sensitivity: pd.DataFrame) -> Plate:
    """What one prompt can add to the gradient, in the plane of Γ and a normal, with the worst pair of neighbours."""
    told = pick(sensitivity, setting="published", N=sensitivity["N"].iloc[0])
    A, B = opposed.reach(told["weight_bound"], told["clip_norm"], told["feature_bound"])
    angle, worst = np.linspace(-np.pi / 2, np.pi / 2, 400), opposed.widest_angle(A, B)
    edge = (A * np.cos(angle) + B) * np.exp(1j * angle)
    tip = (A * math.cos(worst) + B) * np.exp(1j * worst)
    disc = (A + B) * np.exp(1j * np.linspace(0, 2 * np.pi, 400))
    with figures.style():
        figure, axes = plt.subplots(figsize=(5.2, 4.6))
        axes.fill(edge.real, edge.imag, alpha=0.25, label="reach of one prompt, forward half")
        axes.plot([tip.real] * 2, [tip.imag, -tip.imag], "o-", color="C1", label="worst pair of neighbours")
        axes.plot(disc.real, disc.imag, "--", color="0.35", lw=1, label="ball of radius G(C + RG) of (A.1)")
        axes.plot(0, 0, "k+")
        axes.set(aspect="equal", xlabel=r"component along $\Gamma$", ylabel=r"component across $\Gamma$")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**What one prompt can add to the gradient**, in the plane of $\Gamma$ and a normal to it, at "
                "the published setting's $C$, $G$, $R$ for the first $N$. The bound (A.1) allows for the whole "
                "disc; the worst pair of neighbours is the vertical chord."
            ),
            alt=(
                "A shaded limacon-shaped region right of the origin inside a dashed circle, with a vertical "
                "chord joining its widest points."
            ),
        )


def draw_composition(table: pd.DataFrame) -> Plate:
    """ε spent against T in three views, and the noise multiplier that each would ask for."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2))
        for (name, rows), look in zip(
            table.groupby("accounting", sort=False), figures.looks(table["accounting"].unique()).values()
        ):
            left.plot(rows["T"], rows["epsilon"], label=name, **look)
            right.plot(rows["T"], rows["noise_multiplier"], label=name, **look)
        figures.log_axes(left, "$T$ (steps)", "ε spent with the noise of Algorithm 1")
        figures.log_axes(right, "$T$ (steps)", "noise multiplier needed for the budget")
        left.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**Three accountings of the same algorithm.** Left: the $\varepsilon$ truly spent, at the "
                r"given $\delta$, with the noise that Algorithm 1 adds for the claimed budget. Right: the noise "
                "multiplier (standard deviation over sensitivity) of one step that each accounting asks for to "
                r"meet the budget: proportional to $T$ up to a logarithm, to $\sqrt T$, and bounded. The "
                "contraction is that of the published setting at the first $N$. Exact computations, no "
                "simulation."
            ),
            alt=(
                "Left: epsilon spent against T, flat for the claim, falling for exact composition and faster "
                "for the last iterate. Right: noise multiplier against T, rising linearly, as a square root, "
                "and flat."
            ),
        )


def draw_single_steps(table: pd.DataFrame) -> Plate:
    """δ spent over δ claimed against ε/T."""
    with figures.style():
        figure, axes = plt.subplots()
        for (T, rows), look in zip(table.groupby("T"), figures.looks(table["T"].unique()).values()):
            axes.plot(rows["epsilon_per_step"], rows["delta_spent"] / rows["delta"], label=f"T = {T}", **look)
        axes.axhline(1, color="0.35", ls="--", lw=1, label="claimed")
        axes.axvline(1, color="0.35", ls=":", lw=1, label="ε = T: the calibration's range")
        figures.log_axes(axes, "$\\varepsilon/T$", "δ spent / δ claimed")
        axes.set_ylim(1e-10, 1e6)
        axes.legend()
        return Plate(
            figure,
            caption=(
                r"**Where the calibration breaks.** $\delta$ truly spent at the claimed $\varepsilon$, over the "
                r"claimed $\delta$, for few steps; all iterates released, or the last without contraction. Left "
                r"of the dotted line, $\varepsilon \le T$, the theorem is safe by orders of magnitude; far to "
                "the right it fails."
            ),
            alt=(
                "Ratio of delta spent to delta claimed against epsilon over T: far below one for epsilon below "
                "T, above one for large epsilon."
            ),
        )
