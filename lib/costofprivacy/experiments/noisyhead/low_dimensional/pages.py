"""The answer and the figures of the page on low dimension."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.low_dimensional import limits
from costofprivacy.experiments.noisyhead.low_dimensional.verdicts import slopes, theorem_11_low
from costofprivacy.judging import words
from costofprivacy.judging.prose import along, compact, compared, plain, span
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.settings import Setting
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

SQUARE = r"$N$, with $L = \lfloor\sqrt{N}\rfloor$"
PROMPTS = "$N$ (training prompts)"
BARS = "Bars: two standard errors over the trials."
CURVES = {  # by method and setting
    ("noisyhead", Setting.PRINTED): "printed",
    ("noisyhead", Setting.PUBLISHED): "published",
    ("noisyhead", Setting.CORRECTED): "corrected",
    ("zero", Setting.PUBLISHED): "answering 0",
    ("gradient-descent", Setting.PUBLISHED): "no noise",
    ("ridge", Setting.PUBLISHED): r"reference $\Gamma^*$",
}


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    table = tables["test-error"]
    rows = select(table, N=table["N"].max(), epsilon=table["epsilon"].max(), method="noisyhead")
    head, fixed = pick(rows, setting=Setting.PUBLISHED), rows["response_variance"].iloc[0]
    word = compared(head["test_error"], fixed, ("less than", "as much as", "more than"), head["standard_error"])
    return (
        f"{words.headline(theorem_11_low, tables)} In the settings behind Figure 1 the test error at "
        f"$N = {head['N']:.0f}$, $\\varepsilon = {head['epsilon']:g}$ is {compact(head['test_error'])}, {word} always "
        f"answering 0 has ({compact(fixed)}). The best linear head has {compact(head['best_linear_head'])}."
    )


def at_budget(table: pd.DataFrame, method: str, setting: Setting, epsilon: float) -> pd.DataFrame:
    """The rows of a method in a setting, at one ε where it has one, in order of N."""
    rows = select(table, method=method, setting=setting)
    return rows[(rows["epsilon"] == epsilon) | rows["epsilon"].isna()].sort_values("N")


def draw_figure_1(table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """Left: the published setting beside the authors' numbers. Right: all settings at the largest ε, and Γ = 0."""
    mine = select(table, method="noisyhead", setting=Setting.PUBLISHED)
    theirs = select(comparison, method="noisyhead", setting=Setting.PUBLISHED)
    budgets = sorted(mine["epsilon"].unique())
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.9))
        for epsilon, look in figures.looks(budgets).items():
            rows = select(mine, epsilon=epsilon)
            figures.points(left, rows, "N", "excess_risk", label=rf"$\varepsilon = {epsilon:g}$", **look)
        left.plot(theirs["N"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10)
        _draw_curves(right, table, "excess_risk", [key for key in CURVES if key[0] != "ridge"])
        for axes in (left, right):
            figures.log_axes(axes, PROMPTS, "excess risk")
            figures.plain_ticks(axes, table["N"].unique())
            figures.end_labels(axes)
        left.set_title("published settings (circles: authors')")
        right.set_title(rf"all settings, $\varepsilon = {budgets[-1]:g}$")
    return Plate(figure, *_words_on_figure_1(table, theirs))


def _words_on_figure_1(table: pd.DataFrame, theirs: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_figure_1`."""
    private = select(table, method="noisyhead")
    low, high = private["epsilon"].min(), private["epsilon"].max()
    ends = {epsilon: at_budget(table, "noisyhead", Setting.PUBLISHED, epsilon) for epsilon in (low, high)}
    best, zero = ends[high].iloc[-1], at_budget(table, "zero", Setting.PUBLISHED, high).iloc[-1]
    worst = theirs["deviation"].abs().max()
    near = "" if np.isnan(worst) else f" The authors' numbers lie within {compact(worst)} standard errors of ours."
    factor = compact(best["excess_risk"] / zero["excess_risk"])
    told = ", ".join(
        f"{along(at_budget(table, 'noisyhead', setting, high), 'excess_risk', plain)} ({setting})"
        for setting in Setting
    )
    caption = (
        f"**Figure 1 of the paper, re-run**: excess risk over $\\Gamma^*$ for $N$ of {span(table['N'])}. Left, in the "
        f"settings behind the published numbers, it {along(ends[low], 'excess_risk')} at $\\varepsilon = {low:g}$ and "
        f"{along(ends[high], 'excess_risk')} at $\\varepsilon = {high:g}$.{near} Right: at the largest $N$ that is "
        f"{factor} times the excess risk of always answering 0. {BARS}"
    )
    alt = (
        f"For N of {span(table['N'])}. At epsilon {low:g} the excess risk {along(ends[low], 'excess_risk', plain)} in "
        f"the published settings. At epsilon {high:g} it {told}. Answering 0 has {plain(zero['excess_risk'])}."
    )
    return caption, alt


def _draw_curves(axes: Axes, table: pd.DataFrame, column: str, keys: list[tuple[str, Setting]]) -> None:
    """Methods and settings against N, at the largest ε where they have one."""
    epsilon, looks = table["epsilon"].max(), figures.looks(CURVES)
    for method, setting in keys:
        rows = at_budget(table, method, setting, epsilon)
        figures.points(axes, rows, "N", column, label=CURVES[method, setting], **looks[method, setting])


def draw_test_error(table: pd.DataFrame) -> Plate:
    """Left: test error at the largest ε beside Γ = 0 and the best linear head. Right: share of Var(y) predicted."""
    sizes, shares, keys = table.drop_duplicates("N").sort_values("N"), _percent_predicted(table), list(CURVES)
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.0))
        _draw_curves(left, table, "test_error", keys[:3])
        left.plot(sizes["N"], sizes["response_variance"], "k--", lw=1, label="answering 0")
        left.plot(sizes["N"], sizes["best_linear_head"], "k:", lw=1.5, label="best linear\nhead")
        _draw_curves(right, shares, "share", [keys[2], keys[-1]])
        right.axhline(0, color="k", ls="--", lw=1, label="answering 0")
        figures.log_axes(left, PROMPTS, "test error")
        figures.few_decades(left)
        right.set(xscale="log", xlabel=PROMPTS, ylabel="share of Var(y) predicted, %")
        for axes in (left, right):
            figures.plain_ticks(axes, table["N"].unique())
            figures.end_labels(axes)
        left.set_title(rf"$\varepsilon = {table['epsilon'].max():g}$")
        right.set_title("enlarged: corrected, and the reference")
    return Plate(figure, *_words_on_test_error(table, shares))


def _percent_predicted(table: pd.DataFrame) -> pd.DataFrame:
    variance = table["response_variance"]
    share, error = 100 * (1 - table["test_error"] / variance), 100 * table["standard_error"] / variance
    return table.assign(share=share, standard_error=error)


def _words_on_test_error(table: pd.DataFrame, shares: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_test_error`."""
    epsilon = table["epsilon"].max()
    told = {setting: at_budget(table, "noisyhead", setting, epsilon) for setting in Setting}
    last = told[Setting.PUBLISHED].iloc[-1]
    corrected, reference = (
        at_budget(shares, *key, epsilon)["share"].iloc[-1]
        for key in (("noisyhead", Setting.CORRECTED), ("ridge", Setting.PUBLISHED))
    )
    zero, best = last["response_variance"], last["best_linear_head"]
    caption = (
        f"**Test error** at $\\varepsilon = {epsilon:g}$, in closed form over a fresh prompt. Left: as published it "
        f"{along(told[Setting.PUBLISHED], 'test_error')}, as printed it {along(told[Setting.PRINTED], 'test_error')}. "
        f"Always answering 0 has {compact(zero)}, the best linear head {compact(best)} at the largest $N$. Right: the "
        f"corrected algorithm comes to predict {compact(corrected)} % of the response's variance, its reference "
        f"$\\Gamma^*$ {compact(reference)} %. {BARS}"
    )
    curves = ", ".join(f"{setting} {along(rows, 'test_error', plain)}" for setting, rows in told.items())
    alt = (
        f"Test error for N of {span(table['N'])}: {curves}, answering 0 has {plain(zero)}, the best linear head ends "
        f"at {plain(best)}. The reference predicts {plain(reference)} per cent of the variance."
    )
    return caption, alt


def draw_exponents(exponents: pd.DataFrame, noise: pd.DataFrame) -> Plate:
    """Local exponent of the noise part in N, with the slopes fitted to the simulation."""
    curves = {str(name): rows.sort_values("N") for name, rows in exponents.groupby("algorithm", sort=False)}
    claimed, fits = curves.pop(limits.CLAIMED), _best_fits(noise)
    with figures.style():
        figure, axes = plt.subplots()
        for (name, rows), look in zip(curves.items(), figures.looks(curves).values(), strict=True):
            label = name.replace(", ", ",\n").replace("Π_G", r"$\Pi_G$")
            axes.plot(rows["N"], rows["exponent"], label=label, markevery=4, **look)
        for _, best in fits.iterrows():
            middle = np.sqrt(float(noise["N"].min()) * float(noise["N"].max()))
            axes.errorbar(middle, best["exponent"], 2 * best["standard_error"], fmt="k+", ms=12, capsize=3)
        axes.plot(claimed["N"], claimed["exponent"], "--", color="0.35", lw=1, label="claimed")
        axes.set(xscale="log", xlabel=SQUARE, ylabel="local exponent of the noise part")
        figures.end_labels(axes)
    told = {name.replace("Π_G", "projection"): rows for name, rows in curves.items()}
    return Plate(figure, *_words_on_exponents(told, claimed, fits))


def _words_on_exponents(told: dict[str, pd.DataFrame], claimed: pd.DataFrame, fits: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_exponents`."""
    ends = ", ".join(f"{compact(rows['exponent'].iloc[-1])} ({name})" for name, rows in told.items())
    fitted = " and ".join(
        f"{compact(fit['exponent'])} ± {compact(fit['standard_error'])} "
        f"({fit['setting']}, $\\varepsilon = {fit['epsilon']:g}$)"
        for _, fit in fits.iterrows()
    )
    simulated = f" Fitted to the simulation (crosses, bars of two standard errors) it is {fitted}." if fitted else ""
    caption = (
        "**The local exponent of the noise part in $N$**, in closed form. At the largest $N$ Theorem 1.1 states "
        f"{compact(claimed['exponent'].iloc[-1])} (dashed), and it is {ends}.{simulated}"
    )
    curves = "; ".join(f"{name} {along(rows, 'exponent', plain)}" for name, rows in told.items())
    first, last = (plain(claimed["N"].iloc[place]) for place in (0, -1))
    return caption, f"Exponents for N from {first} to {last}: {curves}."


def _best_fits(noise: pd.DataFrame) -> pd.DataFrame:
    """The fitted slopes of the published and the corrected setting, at the ε with the most sizes."""
    fitted = slopes(noise)
    fitted = fitted[fitted["setting"] != Setting.PRINTED]
    return fitted.loc[fitted.groupby("setting", sort=False)["sizes"].idxmax()]


def draw_floors(floors: pd.DataFrame) -> Plate:
    """What is left without any noise, against the bound (4.3) at ε = ∞."""
    labels = {"minimiser": "descent rests\nat $\\Gamma_{2\\lambda}$", "projection": "$\\Pi_G$\nshortens $Z$"}
    seen = floors[floors["floor"] > 2 * floors["standard_error"]].sort_values("N")
    rest = select(floors, part="minimiser").sort_values("N")
    with figures.style():
        figure, axes = plt.subplots()
        for (part, label), look in zip(labels.items(), figures.looks(labels).values(), strict=True):
            figures.points(axes, select(seen, part=part), "N", "floor", label=label, **look)
        axes.plot(rest["N"], rest["bound"], "k--", lw=1, label="(4.3),\n$\\varepsilon = \\infty$")
        figures.log_axes(axes, SQUARE, "excess risk without noise")
        axes.set_ylim(bottom=1e-20)
        figures.end_labels(axes)
    return Plate(figure, *_words_on_floors(rest, select(seen, part="projection")))


def _words_on_floors(rest: pd.DataFrame, bias: pd.DataFrame) -> tuple[str, str]:
    """Caption and alternative text of `draw_floors`."""
    crossed = rest.loc[rest["bound"] < rest["floor"], "N"].min()
    below = "" if np.isnan(crossed) else f" From $N$ = {compact(crossed)} on the bound lies below what descent leaves."
    biased, heard = (along(bias, "floor", tell) if len(bias) else "is not seen" for tell in (compact, plain))
    caption = (
        "**Excess risk without any noise**, in the population, and the right side of (4.3) at "
        r"$\varepsilon = \infty$ with constant one: another constant shifts the dashed line. What descent leaves at "
        f"$\\Gamma_{{2\\lambda}}$ {along(rest, 'floor')}. The bias of $\\Pi_G$ {biased}, where answering 0 has "
        f"{compact(rest['zero_risk'].iloc[-1])}.{below} The bias is simulated (bars: two standard errors; points not "
        "distinguishable from 0 are left out)."
    )
    alt = (
        f"For N from {plain(rest['N'].iloc[0])} to {plain(rest['N'].iloc[-1])}: what descent leaves "
        f"{along(rest, 'floor', plain)}, the bound {along(rest, 'bound', plain)}. The bias of the projection {heard}."
    )
    return caption, alt
