"""What does one noisy update reveal of a prompt, what do many spend together, and where do they lead without noise?"""

import math

import numpy as np
import pandas as pd

from chapters.noisyhead.mechanism.measure import CHECKS, CLAIMED, EVERY, LAST
from companion import _fits
from companion.judging.judges import judges_of
from companion.judging.prose import compact, percent, plain
from companion.judging.tables import Tables, pick, select
from companion.judging.words import headline
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.noisyhead import pretraining
from costofprivacy.settings import Setting

VIEWS = {CLAIMED: "claimed", EVERY: "every iterate", LAST: "last iterate"}


def caption_composition(tables: Tables) -> str:
    """What three accountings say of the same noise, and how much noise each needs."""
    table, spent, powers = tables["composition"], {}, []
    for name, words in VIEWS.items():
        rows = select(table, accounting=name).sort_values("T")
        spent[name], power = compact(rows["epsilon"].iloc[-1]), "no number"
        if len(rows) > 1:
            power = f"{_fits.local_exponents(rows['T'].to_numpy(), rows['noise_multiplier'].to_numpy())[-1]:.2f}"
        powers.append(f"{power} ({words})")
    return (
        f"**After $T = {table['T'].max()}$ steps Algorithm 1 has spent $\\varepsilon$ = {spent[EVERY]} if every "
        f"iterate is released, and {spent[LAST]} if only the last one is.** Left: the $\\varepsilon$ spent with the "
        f"noise that Algorithm 1 adds, where {spent[CLAIMED]} is claimed. Right: the noise multiplier (standard "
        "deviation over sensitivity) that a step needs for the budget; in the end it goes like $T^a$ with $a$ = "
        f"{', '.join(powers)}. Exact computations, no simulation."
    )


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
        f"**The worst pair of neighbours is {percent(chord / width)} as far apart as the bound (A.1) allows.** What "
        r"one prompt can add to the gradient, in the plane of $\Gamma$ and a normal to it, in the published setting at "
        f"$N = {told['N']}$. The bound allows for the whole disc, {compact(width)} across; the worst pair, the "
        f"vertical chord, is {compact(chord)} apart. Exact, no simulation.",
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
    head = "is exceeded" if beyond else "holds"
    return Plate(
        figure,
        rf"**Beyond $\varepsilon = T$ the claimed $\delta$ {head}.** The $\delta$ truly spent at the claimed "
        r"$\varepsilon$, over the claimed $\delta$, for few steps; all iterates released, or the last without "
        r"contraction. Up to $\varepsilon = T$ "
        f"(dotted) at most {compact(inside)} of the claimed $\\delta$ is spent. {first} Exact, no simulation.",
    )


def show_noise(noise: pd.DataFrame) -> pd.DataFrame:
    """Noise of one step at the first and the last N."""
    ends = noise[noise["N"].isin([noise["N"].min(), noise["N"].max()])]
    ends = ends.set_index(["N", "setting"]).rename_axis(index=["$N$", "setting"])
    columns = {
        "$T$": ends["T"].map(str),
        "printed over exact": (ends["printed_std"] / ends["exact_std"]).map(compact),
        "step over $R$": (ends["step_norm"] / ends["weight_bound"]).map(compact),
        r"$\varepsilon$, every iterate": ends["epsilon_every"].map(compact),
        r"$\varepsilon$, last iterate": ends["epsilon_last"].map(compact),
    }
    return pd.DataFrame(columns)


def show_minimisers(table: pd.DataFrame) -> pd.DataFrame:
    """Where descent rests, at the first and the last N."""
    wide = table.pivot(index="check", columns="N", values="value").loc[list(CHECKS)]
    shown = wide.iloc[:, [0, -1]].map(compact)
    typeset = {"ridge(2λ)": r"$\Gamma_{2\lambda}$", "ridge(λ)": r"$\Gamma_\lambda$", "λ/2": r"$\lambda/2$"}
    for name, symbol in typeset.items():
        shown.index = shown.index.str.replace(name, symbol, regex=False)
    return shown.rename(columns="$N$ = {}".format).rename_axis(index=None, columns=None)


def answer(tables: Tables) -> list[str]:
    """The guarantee and what it could cost, the sensitivity of a step, and where the updates lead."""
    judges, sensitivity = judges_of(__package__), tables["sensitivity"]
    row = pick(sensitivity, N=sensitivity["N"].max(), setting=Setting.PRINTED)
    claims = ("theorem-3.2", "section-1.2-accounting")
    return [
        " ".join(headline(judges[f"noisyhead/{claim}"], tables) for claim in claims),
        f"We derive the exact sensitivity of one step. At $N = {row['N']:.0f}$, in the printed setting, it is "
        f"{percent(row['exact'] / row['bound'])} of the bound (A.1).",
        "Without noise, the update leads to the ridge solution for $2\\lambda$ instead of $\\lambda$.",
    ]
