"""Figures and short tables for the page on low dimension."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy import figures, growth
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.low_dimensional import limits
from costofprivacy.experiments.noisyhead.low_dimensional.verdicts import slopes, theorem_11_low
from costofprivacy.findings import Tables, compact, pick, select
from costofprivacy.plates import Plate
from costofprivacy.prose import compared
from costofprivacy.settings import Setting

SQUARE = r"$N$, with $L = \lfloor\sqrt{N}\rfloor$"


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    table = tables["test-error"]
    rows = select(table, N=table["N"].max(), epsilon=table["epsilon"].max(), method="noisyhead")
    head, fixed = pick(rows, setting=Setting.PUBLISHED), rows["response_variance"].iloc[0]
    word = compared(head["test_error"], fixed, ("less than", "as much as", "more than"), head["standard_error"])
    return (
        f"{theorem_11_low(tables).headline} What is trained in the published settings is a poor predictor: at "
        f"$N = {head['N']:.0f}$, $\\varepsilon = {head['epsilon']:g}$ the test error is {compact(head['test_error'])}, "
        f"{word} always answering 0 ({compact(fixed)}). The best linear head has {compact(head['best_linear_head'])}."
    )


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method, for the page."""
    return agreement.deviations(comparison)


def show_conditions(conditions: pd.DataFrame) -> pd.DataFrame:
    """The conditions of the theorems at the first and the last N, for the page."""
    ends = conditions[conditions["N"].isin([conditions["N"].min(), conditions["N"].max()])]
    names = {
        "probability": "1 − 4κ",
        "eta0_over_limit": "η₀ / limit",
        "D_squared": "D²",
        "log_N": "log N",
        "log_NL": "log NL",
    }
    return ends.set_index(["N", "setting"])[list(names)].rename(columns=names).round(2)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test error at the largest N and ε: NoisyHead by setting, its reference, Γ = 0, the best linear head."""
    rows = table[table["N"] == table["N"].max()]
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == rows["epsilon"].max())]
    private = rows[rows["method"] == "noisyhead"]
    shown = dict(zip("NoisyHead, " + private["setting"], private["test_error"]))
    shown["gradient descent"] = _of(rows, "gradient-descent")
    shown["reference Γ*"] = _of(rows, "ridge")
    shown["Γ = 0"] = _of(rows, "zero")
    shown["best linear head"] = rows["best_linear_head"].iloc[0]
    errors = pd.Series(shown)
    predicted = 1 - errors / rows["response_variance"].iloc[0]
    return pd.DataFrame({"test error": errors, "share of Var(y) predicted": predicted}).round(5)


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """The power of each size in left/right of the proof's steps, for the page."""
    names = {"N": "along N", "L": "along L", "D": "along N, D² = log NL"}
    rows = {step: growth.powers(g, {"N": "N", "L": "L", "D": "N"}) for step, g in steps.groupby("step", sort=False)}
    return pd.DataFrame(rows).T.rename(columns=names).rename_axis("power of left/right").round(2)


def show_floor_axes(axes: pd.DataFrame) -> pd.DataFrame:
    """The first and the last size of each axis of the floors, for the page."""
    ends = axes.groupby("axis", sort=False).nth([0, -1]).set_index(["axis", "N", "L"])
    names = {"feature_bound": "G", "floor": "left by the projection", "minimiser": "left by the resting point"}
    names |= {"bound": "(4.3) at ε = ∞", "zero_risk": "answering 0"}
    return ends.rename(columns=names).map("{:.2g}".format)


def _of(rows: pd.DataFrame, method: str) -> float:
    return rows.loc[(rows["method"] == method) & (rows["setting"] == "published"), "test_error"].iloc[0]


def draw_figure_1(table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """Left: the published setting beside the authors' numbers. Right: all settings at the largest ε, and Γ = 0."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
        private = table[table["method"] == "noisyhead"]
        mine = private[private["setting"] == "published"]
        for (epsilon, rows), look in zip(mine.groupby("epsilon"), figures.looks(mine["epsilon"].unique()).values()):
            figures.points(left, rows, "N", "excess_risk", label=f"ε = {epsilon:g}", **look)
        theirs = comparison[(comparison["setting"] == "published") & (comparison["method"] == "noisyhead")]
        left.plot(theirs["N"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10, label="authors'")
        _draw_settings(right, table, private["epsilon"].max())
        for axes in (left, right):
            figures.log_axes(axes, "$N$ (training prompts)", "excess risk")
            figures.plain_ticks(axes, table["N"].unique())
        left.set_title("settings behind the published numbers")
        left.legend(ncols=2)
        return Plate(
            figure,
            caption=(
                r"**Figure 1 of the paper, re-run.** Excess risk over $\Gamma^*$ against the number of training "
                "prompts. Left: in the settings behind the published numbers, which are laid over as open "
                r"circles. Right: all settings at the largest $\varepsilon$, with the excess risk of always "
                "answering 0 and of gradient descent without noise. Bars of two standard errors over the "
                "trials."
            ),
            alt=(
                "Left: excess risk falling with N for five values of epsilon, with the authors' points on the "
                "curves, the curve for the smallest epsilon first rising. Right: NoisyHead in three settings, "
                "all above the line of the zero predictor."
            ),
        )


def _draw_settings(axes: plt.Axes, table: pd.DataFrame, epsilon: float) -> None:
    names = [("noisyhead", s) for s in Setting] + [("zero", Setting.PUBLISHED), ("gradient-descent", Setting.PUBLISHED)]
    for (method, setting), look in zip(names, figures.looks(names).values()):
        rows = table[(table["method"] == method) & (table["setting"] == setting)]
        rows = rows[(rows["epsilon"] == epsilon) | rows["epsilon"].isna()]
        label = {"noisyhead": f"NoisyHead, {setting}", "zero": "Γ = 0", "gradient-descent": "gradient descent"}[method]
        figures.points(axes, rows, "N", "excess_risk", label=label, **look)
    axes.set_title(f"all settings, ε = {epsilon:g}")
    axes.legend(fontsize=8)


def draw_test_error(table: pd.DataFrame) -> Plate:
    """Left: test error at the largest ε beside Γ = 0 and the best linear head. Right: share of Var(y) predicted."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2))
        epsilon, sizes = table["epsilon"].max(), table.drop_duplicates("N").sort_values("N")
        names = [*(("noisyhead", s) for s in Setting), ("ridge", Setting.PUBLISHED)]
        for (method, setting), look in zip(names, figures.looks(names).values()):
            rows = table[(table["method"] == method) & (table["setting"] == setting)]
            rows = rows[(rows["epsilon"] == epsilon) | rows["epsilon"].isna()]
            label = f"NoisyHead, {setting}" if method == "noisyhead" else "its reference Γ*"
            figures.points(left, rows, "N", "test_error", label=label, **look)
            if method == "ridge" or setting == Setting.CORRECTED:
                figures.points(right, _percent_predicted(rows), "N", "share", label=label, **look)
        left.plot(sizes["N"], sizes["response_variance"], "k--", lw=1, label="Γ = 0")
        left.plot(sizes["N"], sizes["best_linear_head"], "k:", lw=1.5, label="best linear head")
        right.axhline(0, color="k", ls="--", lw=1, label="Γ = 0")
        figures.log_axes(left, "$N$ (training prompts)", "test error")
        right.set(xscale="log", xlabel="$N$ (training prompts)", ylabel="share of Var(y) predicted, %")
        for axes in (left, right):
            figures.plain_ticks(axes, table["N"].unique())
            axes.legend(fontsize=8)
        left.set_title(f"ε = {epsilon:g}")
        right.set_title("enlarged: the reference and the corrected algorithm")
        return Plate(
            figure,
            caption=(
                r"**Test error** at the largest $\varepsilon$, in closed form over a fresh prompt; bars of two "
                "standard errors over the trials. Left: the dashed line is the trivial predictor, the dotted "
                "one the best linear head. Right, enlarged: the percentage of the response's variance that the "
                r"reference $\Gamma^*$ and the corrected algorithm predict."
            ),
            alt=(
                "Left: test error against N, NoisyHead as printed and published above the trivial predictor, "
                "the best linear head far below. Right: the reference and the corrected algorithm predict less "
                "than one per cent of the variance."
            ),
        )


def _percent_predicted(rows: pd.DataFrame) -> pd.DataFrame:
    variance = rows["response_variance"]
    share, error = 100 * (1 - rows["test_error"] / variance), 100 * rows["standard_error"] / variance
    return rows.assign(share=share, standard_error=error)


def draw_exponents(exponents: pd.DataFrame, noise: pd.DataFrame) -> Plate:
    """Local exponent of the noise part in N, with the slopes fitted to the simulation."""
    with figures.style():
        figure, axes = plt.subplots()
        curves = exponents[exponents["algorithm"] != limits.CLAIMED]
        for (name, rows), look in zip(
            curves.groupby("algorithm", sort=False), figures.looks(curves["algorithm"].unique()).values()
        ):
            axes.plot(rows["N"], rows["exponent"], label=name, markevery=3, **look)
        fitted = slopes(noise)
        for setting, rows in fitted[fitted["setting"] != "printed"].groupby("setting", sort=False):
            best = rows.loc[rows["sizes"].idxmax()]
            middle = np.sqrt(float(noise["N"].min()) * float(noise["N"].max()))
            label = f"simulated, {setting}, ε = {best['epsilon']:g}"
            axes.errorbar(middle, best["exponent"], 2 * best["standard_error"], fmt="k+", ms=12, capsize=3, label=label)
        claimed = exponents[exponents["algorithm"] == limits.CLAIMED]
        axes.plot(claimed["N"], claimed["exponent"], "--", color="0.35", lw=1, label="claimed, Theorem 1.1")
        axes.set(xscale="log", xlabel=SQUARE, ylabel="local exponent of the noise part")
        axes.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**The local exponent of the noise part in $N$**, in closed form, with the slopes fitted to "
                "the simulation (crosses, bars of two standard errors) and the power that Theorem 1.1 states. "
                "The logarithms recede slowly."
            ),
            alt=(
                "Local exponents against N up to ten to the thirty: published and corrected tending to minus "
                "two and a half, the version with an idle projection to minus two."
            ),
        )


def draw_floors(floors: pd.DataFrame) -> Plate:
    """What is left without any noise, against the bound (4.3) at ε = ∞."""
    with figures.style():
        figure, axes = plt.subplots()
        labels = {"minimiser": r"descent rests at $\Gamma_{2\lambda}$", "projection": r"$\Pi_G$ shortens $Z$"}
        for (part, rows), look in zip(floors.groupby("part", sort=False), figures.looks(labels).values()):
            seen = rows[rows["floor"] > 2 * rows["standard_error"]]
            figures.points(axes, seen, "N", "floor", label=labels[str(part)], **look)
        bound = floors[floors["part"] == "minimiser"]
        axes.plot(bound["N"], bound["bound"], "k--", lw=1, label="right side of (4.3) at ε = ∞, constant 1")
        figures.log_axes(axes, SQUARE, "excess risk without noise")
        axes.set_ylim(bottom=1e-20)
        axes.legend()
        return Plate(
            figure,
            caption=(
                "**Excess risk without any noise**, in the population, against the right side of (4.3) at "
                r"$\varepsilon = \infty$ with constant one. Another constant shifts the dashed line and changes "
                r"only where it crosses. The bias of $\Pi_G$ is simulated (two standard errors; points not "
                "distinguishable from 0 are left out); it tends to the excess risk of answering 0."
            ),
            alt=(
                "Excess risk without noise against N: a flat line for the wrong fixed point, a rising line for "
                "the projection bias, and a dashed bound falling through both."
            ),
        )
