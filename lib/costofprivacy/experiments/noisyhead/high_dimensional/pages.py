"""Figures and short tables for the page on high dimension."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import figures, growth
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics, axes, verdicts_bounds
from costofprivacy.experiments.noisyhead.high_dimensional.sides import HALVED, PRINTED
from costofprivacy.plates import Plate
from costofprivacy.settings import Setting

SQUARE = r"$N$, with $D = L = \lfloor\sqrt{N}\rfloor$"


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method, for the page."""
    return agreement.deviations(comparison)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) lost or predicted, at the largest N for the least and the largest ε, in parts per million."""
    rows = table[(table["N"] == table["N"].max()) & (table["method"] != "zero")]
    rows = rows[rows["epsilon"].isna() | rows["epsilon"].isin([table["epsilon"].min(), table["epsilon"].max()])]
    rows = rows[(rows["method"] != "ridge") | (rows["setting"] == "printed")]
    variance = rows["response_variance"]
    share = 1e6 * (1 - rows["test_error"] / variance)
    names = rows["method"].where(rows["method"] != "ridge", "reference Γ*")
    labels = names + np.where(rows["epsilon"].isna(), "", ", ε = " + rows["epsilon"].astype(str))
    best = pd.DataFrame(
        {
            "setting": ["any"],
            "head": ["best linear head"],
            "ppm": [1e6 * (1 - (rows["best_linear_head"] / variance).iloc[0])],
            "standard error": [0.0],
        }
    )
    shown = pd.DataFrame(
        {
            "setting": rows["setting"].where(rows["method"] != "ridge", "any"),
            "head": labels,
            "ppm": share,
            "standard error": 1e6 * rows["standard_error"] / variance,
        }
    )
    return pd.concat([shown, best]).set_index(["setting", "head"]).map(lambda v: f"{v:.3g}")


def draw_figure_2(table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """Left: the published setting beside the authors' numbers. Right: the printed and corrected settings, and Γ = 0."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.8, 4.1))
        looks = figures.looks(sorted(table["epsilon"].dropna().unique()))
        mine = table[table["setting"] == Setting.PUBLISHED]
        _by_budget(left, mine, looks)
        plain = mine[mine["method"] == "gradient-descent"]
        figures.points(left, plain, "N", "excess_risk", color="0.2", marker="x", ls=":", label="no noise")
        theirs = comparison[(comparison["setting"] == Setting.PUBLISHED) & (comparison["method"] == "noisyhead")]
        left.plot(theirs["N"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10, label="authors'")
        left.set_title("settings behind the published numbers")
        for setting, line in ((Setting.PRINTED, "-"), (Setting.CORRECTED, "--")):
            _by_budget(right, table[table["setting"] == setting], looks, ls=line, labelled=setting == Setting.PRINTED)
        zero = table[(table["method"] == "zero") & (table["setting"] == Setting.PRINTED)]
        figures.points(right, zero, "N", "excess_risk", color="0.2", marker="*", ls=":", label=r"$\Gamma = 0$")
        right.set_title("from $\\Gamma^0 = 0$: printed (solid), corrected (dashed)")
        for axes in (left, right):
            figures.log_axes(axes, SQUARE, "excess risk")
            figures.plain_ticks(axes, table["N"].unique())
            axes.legend(fontsize=7, ncols=2)
        return Plate(
            figure,
            caption=(
                r"**Figure 2 of the paper, re-run.** Excess risk over $\Gamma^*$ against the number of training "
                r"prompts, $D = L = \lfloor\sqrt N\rfloor$. Left: in the settings behind the published numbers, "
                r"which are laid over as open circles; at the larger $\varepsilon$ the curve without noise is "
                r"the same but for what $\Pi_R$ takes off $\Gamma^0$. Right: as printed (solid) and corrected "
                r"(dashed) from $\Gamma^0 = 0$, with the excess risk of always answering 0. Bars of two "
                "standard errors over the trials."
            ),
            alt=(
                "Left: excess risk falling with N, four of five budgets on one curve with the noiseless one, "
                "the authors' points on the curves. Right: from a zero start the curves fall several times as "
                "steeply, all far above the zero predictor."
            ),
        )


def _by_budget(axes: Axes, rows: pd.DataFrame, looks: dict, ls: str = "-", labelled: bool = True) -> None:
    for epsilon, g in rows[rows["method"] == "noisyhead"].groupby("epsilon"):
        label = f"ε = {epsilon:g}" if labelled else None
        figures.points(axes, g, "N", "excess_risk", ls=ls, label=label, **looks[epsilon])


def draw_starts(starts: pd.DataFrame) -> Plate:
    """The published algorithm from both starts at each ε, with the closed form where Π_R is idle."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        private = starts[starts["method"] == "noisyhead"]
        looks = figures.looks(sorted(private["epsilon"].unique()))
        for axes, start in zip(panels, ("random", "zero"), strict=True):
            for epsilon, g in private[private["start"] == start].groupby("epsilon"):
                figures.points(axes, g, "N", "excess_risk", ls="none", label=f"ε = {epsilon:g}", **looks[epsilon])
                axes.plot(g["N"], g["closed_form"], color=looks[epsilon]["color"], lw=1)
            figures.log_axes(axes, SQUARE, "excess risk")
            figures.plain_ticks(axes, starts["N"].unique())
        panels[0].set_title(r"$\Gamma^0$ random, entries $N(0, 0.1^2)$")
        panels[1].set_title(r"$\Gamma^0 = 0$")
        panels[1].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**The same algorithm from two starts.** The published setting from the random $\Gamma^0$ "
                r"behind the published numbers (left) and from $\Gamma^0 = 0$ (right); lines: the closed form, "
                r"which supposes $\Pi_R$ idle and so lies above the points where $\Pi_R$ holds them back. With "
                "the random start the budget hardly matters once it is not tiny; from 0 the risk is all noise "
                "and falls steeply. Bars of two standard errors."
            ),
            alt=(
                "Left panel: excess risks from a random start, nearly the same for most budgets. Right panel: "
                "from zero, five parallel steep lines, one for each budget."
            ),
        )


def draw_powers(powers: pd.DataFrame) -> Plate:
    """Local exponents in N of the parts of the risk and of the claimed rates, both regimes."""
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.4), sharey=True)
        names = powers["quantity"].unique()
        looks = figures.looks(names)
        titles = {asymptotics.LOW: "low dimension, $D$ fixed", asymptotics.HIGH: "high dimension, $D = L$"}
        for axes, (regime, rows) in zip(panels, powers.groupby("regime", sort=False)):
            for name, g in rows.groupby("quantity", sort=False):
                claimed = name == asymptotics.RATE_11
                look = {"color": "0.35", "ls": "--", "lw": 1} if claimed else looks[name]
                axes.plot(g["N"], g["exponent"], label=name, **look)
            axes.set(xscale="log", xlabel="$N$", title=titles[str(regime)])
            axes.legend(
                fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 0.1 if regime == asymptotics.HIGH else 0.5)
            )
        panels[0].set_ylabel("local exponent in $N$")
        return Plate(
            figure,
            caption=(
                "**Local exponents in $N$** of the parts of the excess risk, in closed form, for the algorithm "
                r"of Theorem 4.1 ($\eta_0$ near the end of its interval; $T$ as in Theorem 4.2(i), left, and "
                'for $r = N$, right). "Logarithms out" divides the noise part by its own logarithms. In high '
                "dimension the noise falls faster than in low dimension, and no faster than the excess risk of "
                "answering 0."
            ),
            alt=(
                "Two panels of local exponents against N. Low dimension: the noise part without logarithms at "
                "minus two and a half, as claimed. High dimension: noise and zero predictor at minus four, the "
                "claim at minus two, Figure 2's descent at minus one half."
            ),
        )


def draw_progress(progress: pd.DataFrame, sides: pd.DataFrame) -> Plate:
    """Descent without noise against r in closed form and simulated, beside (4.4) at ε = ∞."""
    with figures.style():
        figure, axes = plt.subplots()
        labels = {PRINTED: r"penalty $\lambda$ in the update", HALVED: r"penalty $\lambda/2$"}
        for (update, rows), ls in zip(progress.groupby("update"), ("-", "--")):
            axes.plot(rows["r"], rows["excess_risk"], ls, label=labels[str(update)])
        axes.plot(progress["r"], progress["bound"], color="0.35", ls=":", label=r"(4.4) at $\varepsilon = \infty$")
        penalty = sides["penalty"].max()
        own = sides[(sides["method"] == "gradient-descent") & (sides["penalty"] == penalty)]
        figures.points(axes, own, "r", "excess_risk", ls="none", marker="o", color="k", label="simulated")
        figures.log_axes(axes, "$r = (1 - \\eta_0\\lambda)^{-T}$", "excess risk without noise")
        axes.set_ylim(bottom=1e-20)
        axes.legend()
        return Plate(
            figure,
            caption=(
                r"**Descent without noise against $r$**, from $\|\Gamma^0\| = R$ at $\lambda = N/D$ and the "
                "largest of the sizes, in closed form and simulated (bars of two standard errors), beside "
                r"(4.4) at $\varepsilon = \infty$ with constant one. The published update rests at "
                r"ridge($2\lambda$) and leaves the bound; with $\lambda/2$ it does not."
            ),
            alt=(
                "Log-log plot against r: the bound falls like one over r, the update with lambda falls fast "
                "and then stays level, crossing the bound; the update with half of lambda keeps falling."
            ),
        )


def show_reference(reference: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) that Γ* predicts by penalty, for the page."""
    shown = reference[["penalty", "share_predicted", "best_linear_head"]].map("{:.3g}".format)
    return shown.set_index("penalty")


def show_narrow(narrow: pd.DataFrame) -> pd.DataFrame:
    """What no step removes by N and part, in units of (4.4), for the page."""
    names = {"minimiser": "ridge(2λ), over (4.4)", "projection": "bias of Π_G, over (4.4)"}
    seen = narrow["floor"] > 2 * narrow["standard_error"]
    ratio = (narrow["floor"] / narrow["bound_44"]).map("{:.1e}".format).where(seen, "not seen")
    size = (10.0 ** np.log10(narrow["N"]).round()).map("{:.0e}".format)
    shown = pd.DataFrame({"N": size, "part": narrow["part"].map(names), "ratio": ratio})
    return shown.pivot(index="N", columns="part", values="ratio").fillna("not simulated")


def show_lemmas(lemmas: pd.DataFrame) -> pd.DataFrame:
    """The constant that each lemma needs by size, for the page."""
    return lemmas.pivot_table(index=["N", "L", "D"], columns="lemma", values="constant", sort=False).round(2)


def show_tail(tail: pd.DataFrame) -> pd.DataFrame:
    """The constants at N = 1 far in the tail, for the page."""
    return tail.set_index("D").round(2)


def show_sides(sides: pd.DataFrame) -> pd.DataFrame:
    """The largest left over right side of (4.4) by N, for the page."""
    found = verdicts_bounds.largest_ratios(sides).set_index("N")[["left"]]
    return found.rename(columns={"left": "left over right of (4.4), at most"}).map("{:.2g}".format)


def show_regimes(regimes: pd.DataFrame) -> pd.DataFrame:
    """The power of each axis' size by which the cost outgrows Theorem 1.1's rate and (4.4), the larger of both ε."""
    rows = {}
    for axis, own in regimes.groupby("axis", sort=False):
        of = {name: own[own["budget"] == name] for name in (axes.FIXED, axes.LARGEST)}
        sides = {"Theorem 1.1": ("error_gap", "rate_11")} if axis in axes.PATHS else {}
        sides |= {"(4.4)": ("risk_printed", "bound_44"), "(4.4), λ/2 in the update": ("risk_halved", "bound_44")}
        powers = {name: max(growth.power(o, "size", *pair) for o in of.values()) for name, pair in sides.items()}
        rows[axis] = powers | {"λ ≳ G²": "yes" if verdicts_bounds.comparable(own).iloc[-1] else "no"}
    names = ["Theorem 1.1", "(4.4)", "(4.4), λ/2 in the update", "λ ≳ G²"]
    return pd.DataFrame(rows).T[names].map(_power).rename_axis("what grows")


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """The power of each size that is left in the ratio of left to right of (A.18) and (A.19), for the page."""
    mended = steps.assign(right=steps["right"] * steps["response_variance"] ** 2, step="(A.19), ν⁵")
    every = pd.concat([steps, mended[steps["step"] == axes.NOISE_STEP]])
    powers = {(step, axis): growth.power(own, "size") for (step, axis), own in every.groupby(["step", "axis"])}
    return pd.Series(powers).unstack(level=0).map(_power).rename_axis("what grows")


def _power(value: object) -> str:
    return "" if pd.isna(value) else f"{round(value, 2) + 0.0:.2f}" if isinstance(value, float) else str(value)


def show_sums(tails: pd.DataFrame) -> pd.DataFrame:
    """Probability of a sum of features over the printed tail, for the page."""
    shown = tails.assign(L=tails["L"].map("{:g}".format).replace("inf", "∞"))
    table = shown.pivot_table(index=["L", "t"], columns="D", values="over_printed", sort=False)
    return table.map("{:.3g}".format)


def show_radii(starts: pd.DataFrame) -> pd.DataFrame:
    """‖Γ⁰‖ against R, and NoisyHead over plain descent at the largest ε, by N."""
    rows = starts[starts["start"] == "random"]
    private = rows[rows["epsilon"] == rows["epsilon"].max()].set_index("N")
    plain = rows[rows["method"] == "gradient-descent"].set_index("N")
    ratio = private["excess_risk"] / plain["excess_risk"]
    shortened = np.minimum(1, (private["radius"] / private["start_norm"]) ** 2)
    names = {"start_norm": "‖Γ⁰‖ (root mean square)", "radius": "R"}
    shown = private[list(names)].rename(columns=names)
    return shown.assign(**{"min(1, R²/‖Γ⁰‖²)": shortened, "NoisyHead / no noise": ratio}).round(3)
