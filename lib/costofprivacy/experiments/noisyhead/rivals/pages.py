"""Figures and short tables for the page on NoisyHead's rivals."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import figures
from costofprivacy.experiments.noisyhead.rivals.experiment import DESCENT, DP_RIDGE, LAST, NOISYHEAD, ZERO
from costofprivacy.experiments.noisyhead.rivals.guarantees import PRINTED, RIGHT
from costofprivacy.experiments.noisyhead.rivals.readings import OPTIONS, PAPERS
from costofprivacy.plates import Plate
from costofprivacy.privacy import GaussianDP
from costofprivacy.settings import Setting

NEAREST = 6  # readings shown
NAMES = {NOISYHEAD: "NoisyHead", LAST: "NoisyHead, last iterate", DP_RIDGE: "DP-ridge"}


def show_table_1(comparison: pd.DataFrame) -> pd.DataFrame:
    """Table 1 as printed, the numbers behind Figure 1, ours, and the deviations from Table 1 in standard errors."""
    cell = comparison["N"].astype(str) + ", " + comparison["epsilon"].map("{:g}".format)
    named = comparison.assign(**{"N, ε": cell, "method": comparison["method"].map(NAMES)})
    by = named.set_index(["setting", "method", "N, ε"])
    published, printed = by.loc[Setting.PUBLISHED], by.loc[Setting.PRINTED]
    shown = pd.DataFrame(
        {
            "Table 1": published["excess_risk_theirs"],
            "Figure 1": published["excess_risk_figure_1"],
            "ours, published": published["excess_risk"],
        }
    ).map("{:.3g}".format)
    deviations = {"deviation": published["deviation"], "as printed": printed["deviation"]}
    return shown.replace("nan", "").assign(**{k: v.round(1) for k, v in deviations.items()}).sort_index()


def show_calibrated(table: pd.DataFrame) -> pd.DataFrame:
    """Table 1 again, both methods rightly calibrated, beside the published NoisyHead: mean ± standard error."""
    columns = {
        "DP-ridge": (DP_RIDGE, Setting.CORRECTED),
        "NoisyHead, last iterate": (LAST, Setting.CORRECTED),
        "NoisyHead, every iterate": (NOISYHEAD, Setting.CORRECTED),
        "NoisyHead, published": (NOISYHEAD, Setting.PUBLISHED),
    }
    rows = table.set_index(["method", "setting"])
    by = {name: rows.loc[[key]].set_index(["N", "epsilon"]) for name, key in columns.items()}
    risk = {
        n: t["excess_risk"].map("{:.3g}".format) + t["standard_error"].map(" ± {:.1g}".format) for n, t in by.items()
    }
    over = by["NoisyHead, published"]["excess_risk"] / by["DP-ridge"]["excess_risk"]
    return pd.DataFrame(risk).assign(**{"published NoisyHead over DP-ridge": over.map("{:.2g}".format)})


def show_options() -> pd.DataFrame:
    """What each symbol of Appendix B is taken for; readings are all combinations."""
    rows = {name: (", ".join(options), len(options)) for name, options in OPTIONS.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["taken for", "choices"])


def show_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """The text's own readings of Appendix B, then the nearest to Table 1's column of DP-ridge."""
    rows = pd.concat([readings[readings["departures"] == 0], readings.head(NEAREST)])
    shown = pd.DataFrame(
        {
            "reading": [_in_words(reading) for _, reading in rows.iterrows()],
            "power of N": rows["power"].round(2).to_numpy(),
            "least ratio": rows["least"].round(3).to_numpy(),
            "largest": rows["largest"].round(3).to_numpy(),
            "deviation": rows["deviation"].round(1).to_numpy(),
        }
    )
    return shown.set_index("reading")


def _in_words(reading: pd.Series) -> str:
    """Which G, and every choice that is not the text's."""
    others = [f"{name}: {reading[name]}" for name in OPTIONS if name != "G" and reading[name] not in PAPERS[name]]
    text = "" if others else "the text, "
    return text + ", ".join([f"G: {reading['G']}", *others])


def show_other_column(table: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's column of Table 1 beside what two readings give NoisyHead."""
    given = table[["noise_risk", "limit_of_R"]].min(axis=1)
    wide = table.assign(given=given).pivot_table(
        index=["N", "epsilon", "excess_risk_theirs"], columns="reading", values="given", sort=False
    )
    return wide.map("{:.3g}".format).reset_index("excess_risk_theirs").rename(columns={"excess_risk_theirs": "Table 1"})


def show_sensitivity(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """CG/(λN), and all else as multiples of it, at the first and the last N."""
    ends = sensitivity[sensitivity["N"].isin([sensitivity["N"].min(), sensitivity["N"].max()])].set_index(
        ["N", "setting"]
    )
    names = ["bound", "coarse", "constructed", "largest_found", "flipped", "typical", "drawn", "removed", "unclipped"]
    multiples = ends[names].div(ends["printed"], axis=0).map("{:.4f}".format)
    return ends[["printed"]].map("{:.3g}".format).rename(columns={"printed": "CG/(λN)"}).join(multiples).T


def show_privacy(privacy: pd.DataFrame) -> pd.DataFrame:
    """What each calibration spends at the first N."""
    rows = privacy[privacy["N"] == privacy["N"].min()].set_index(["epsilon", "calibration"])
    return pd.DataFrame(
        {
            "noise / printed noise": rows["noise_std"]
            / rows["noise_std"].xs(PRINTED, level="calibration").reindex(rows.index, level="epsilon"),
            "ε spent at the claimed δ": rows["epsilon_spent"],
            "δ spent / δ claimed": rows["delta_spent"] / rows["delta"],
        }
    ).map("{:.4g}".format)


def show_audit(audit: pd.DataFrame) -> pd.DataFrame:
    """What releases alone show."""
    names = {
        "epsilon": "ε claimed",
        "epsilon_spent": "ε spent, exact",
        "epsilon_found": "ε found, at least",
        "hits_first": "hits",
        "hits_second": "hits, neighbour",
        "releases": "releases",
    }
    return audit.set_index(["calibration"])[list(names)].rename(columns=names).round(3)


def show_ladder(ladder: pd.DataFrame) -> pd.DataFrame:
    """From DP-ridge to NoisyHead, one change a row."""
    shown = ladder.set_index("stage")[["noise_std", "noise_risk", "factor", "limit_of_R"]]
    return shown.map("{:.3g}".format).replace({"nan": "", "inf": ""})


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test error at the largest N and ε, and the share of Var(y) that is predicted."""
    rows = table[(table["N"] == table["N"].max()) & table["epsilon"].isin([table["epsilon"].max(), np.nan])]
    label = np.where(rows["epsilon"].isna(), rows["method"], rows["method"] + " (" + rows["setting"] + ")")
    shown = rows.assign(label=label).drop_duplicates("label", keep="last").set_index("label")
    errors = shown["test_error"].rename({"zero": "Γ = 0", "ridge": "reference Γ*"})
    errors["best linear head"] = rows["best_linear_head"].iloc[0]
    predicted = 1 - errors / rows["response_variance"].iloc[0]
    spread = shown["standard_error"].rename({"zero": "Γ = 0", "ridge": "reference Γ*"})
    columns = {"test error": errors, "standard error": spread, "share of Var(y) predicted": predicted}
    return pd.DataFrame(columns).loc[errors.index].round(5)


def draw_table_1(table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """Left: the published setting beside Table 1 and Figure 1. Right: both methods rightly calibrated, and Γ = 0."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.6))
        epsilon = table["epsilon"].min()
        asked = [(NOISYHEAD, Setting.PUBLISHED), (DP_RIDGE, Setting.PUBLISHED)]
        best = [(NOISYHEAD, Setting.CORRECTED), (LAST, Setting.CORRECTED), (DP_RIDGE, Setting.CORRECTED)]
        looks = figures.looks([*asked, *best, ZERO])
        for axes, names in ((left, asked), (right, best)):
            for method, setting in names:
                rows = table[(table["method"] == method) & (table["setting"] == setting)]
                rows = rows[rows["epsilon"] == epsilon]
                figures.points(axes, rows, "N", "excess_risk", label=NAMES[method], **looks[method, setting])
        figures.points(right, table[table["method"] == ZERO], "N", "excess_risk", label="Γ = 0", **looks[ZERO])
        _overlay(left, comparison[comparison["epsilon"] == epsilon])
        for axes, title in ((left, "as published"), (right, "both rightly calibrated")):
            figures.log_axes(axes, "$N$ (training prompts)", "excess risk")
            figures.plain_ticks(axes, table["N"].unique())
            axes.set_title(f"{title}, ε = {epsilon:g}")
        left.legend(fontsize=8)
        right.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 0.1))
        return Plate(
            figure,
            caption=(
                r"**Table 1, re-run**, at the smallest $\varepsilon$. Left: both methods in the settings behind "
                "the published numbers, with the numbers of Table 1 (open circles) and, for NoisyHead, those "
                "behind Figure 1 (crosses). Right: both methods rightly calibrated to the same "
                r"$(\varepsilon,\delta)$, beside the head that always answers 0. Bars of two standard errors "
                "over the trials, mostly hidden by the marks."
            ),
            alt=(
                "Left: NoisyHead far above DP-ridge, Figure 1's numbers on our curve of NoisyHead, Table 1's "
                "well below it, Table 1's DP-ridge steeper than ours. Right: NoisyHead accounted for its last "
                "iterate close to DP-ridge, all above the zero predictor."
            ),
        )


def _overlay(axes: Axes, comparison: pd.DataFrame) -> None:
    """Table 1's numbers as open circles, Figure 1's as crosses."""
    theirs = comparison[comparison["setting"] == Setting.PUBLISHED]
    if theirs.empty:
        return
    axes.plot(theirs["N"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10, label="Table 1")
    axes.plot(theirs["N"], theirs["excess_risk_figure_1"], "kx", ms=9, label="numbers of Figure 1")


def draw_privacy(privacy: pd.DataFrame, audit: pd.DataFrame) -> Plate:
    """δ(ε) of one release with the printed and with the right noise, the claims, and what the audits found."""
    budgets = sorted(privacy["epsilon"].unique())[:2]
    with figures.style():
        figure, panels = plt.subplots(1, len(budgets), figsize=(9.2, 4.2), squeeze=False)
        for axes, epsilon in zip(panels[0], budgets):
            rows = privacy[(privacy["N"] == privacy["N"].min()) & (privacy["epsilon"] == epsilon)]
            grid, delta = np.linspace(0, 3 * epsilon, 300), rows["delta"].iloc[0]
            for (_, row), look in zip(rows.iterrows(), figures.looks(rows["calibration"]).values()):
                curve = GaussianDP(row["distance"] / row["noise_std"]).delta(grid)
                axes.plot(grid, curve, label=f"noise {row['calibration']}", color=look["color"])
            axes.plot(epsilon, delta, "k*", ms=12, label="claimed (ε, δ)")
            for name, mark in ((PRINTED, ">"), (RIGHT, "<")):
                found = audit.loc[(audit["calibration"] == name) & (audit["epsilon"] == epsilon), "epsilon_found"]
                axes.plot(found, [delta] * len(found), f"k{mark}", mfc="none", ms=9, label=f"audit, noise {name}")
            axes.set(
                yscale="log", xlabel="ε", ylabel="δ spent", ylim=(delta / 1e3, 1), title=f"claimed ε = {epsilon:g}"
            )
        panels[0][0].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**What one release of DP-ridge spends**, $\delta$ against $\varepsilon$, on the constructed "
                "neighbours, at the first $N$; exact curves. The star is the claim: a mechanism that keeps it "
                r"has its curve on or below the star. Triangles: lower bounds on $\varepsilon$ from releases "
                r"alone, at the confidence of the parameters and the claimed $\delta$; one to the right of the "
                "star refutes the claim, one to its left refutes nothing."
            ),
            alt=(
                "Two panels with falling curves of delta against epsilon: the one for the printed noise passes "
                "far above the claimed point, the one for the right noise through it; the audit of the printed "
                "noise lies right of the claim."
            ),
        )


def draw_steps(steps: pd.DataFrame, table: pd.DataFrame) -> Plate:
    """Excess risk against the share of T that is run, for three accountings; descent alone; DP-ridge."""
    N, epsilon = steps["N"].max(), steps["epsilon"].max()
    rows = steps[(steps["N"] == N) & (steps["epsilon"].isna() | (steps["epsilon"] == epsilon))]
    curves = {
        "NoisyHead, published": (NOISYHEAD, Setting.PUBLISHED),
        "NoisyHead, corrected, every iterate": (NOISYHEAD, Setting.CORRECTED),
        "NoisyHead, corrected, last iterate": (LAST, Setting.CORRECTED),
        "descent without noise, published": (DESCENT, Setting.PUBLISHED),
    }
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.4, 5.2))
        for (name, (method, setting)), look in zip(curves.items(), figures.looks(curves).values()):
            own = rows[(rows["method"] == method) & (rows["setting"] == setting)]
            figures.points(axes, own, "share", "excess_risk", label=name, **look)
        ridge = table[(table["N"] == N) & (table["epsilon"] == epsilon) & (table["method"] == DP_RIDGE)]
        for setting, line in ((Setting.PUBLISHED, "k:"), (Setting.CORRECTED, "k--")):
            level = ridge.loc[ridge["setting"] == setting, "excess_risk"].iloc[0]
            axes.plot(rows["share"].agg(["min", "max"]), [level] * 2, line, lw=1.2, label=f"DP-ridge, {setting}")
        figures.log_axes(axes, "steps, as a share of the paper's $T$", f"excess risk at N = {N}, ε = {epsilon:g}")
        figures.plain_ticks(axes, rows["share"].unique(), most=6)
        axes.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return Plate(
            figure,
            caption=(
                "**Excess risk against the number of steps**, at the same budget for every point (largest $N$ "
                r"and $\varepsilon$; bars of two standard errors, mostly hidden by the marks). The bias of "
                "stopping at $T$ is the curve without noise. As published, the variance of a step's noise "
                r"grows like $T^2\log T$ (basic composition), exactly composed like $T$: where these curves lie "
                "above the one without noise and rise, fewer steps do better. Accounted for the last iterate "
                "alone the noise part tends, as $T$ grows, to that of DP-ridge with the bound `coarse` "
                "(dashed: DP-ridge with the right noise)."
            ),
            alt=(
                "Excess risk against the share of T: the published NoisyHead rises steeply, the corrected one "
                "more slowly, the one accounted for its last iterate is flat near the dashed line of DP-ridge, "
                "and descent without noise is flat below everything."
            ),
        )


def draw_powers(powers: pd.DataFrame) -> Plate:
    """NoisyHead's noise part over DP-ridge's, along three paths to infinity."""
    with figures.style():
        figure, panels = plt.subplots(1, 3, figsize=(9.8, 4.2), sharey=True)
        for axes, path in zip(panels, list(dict.fromkeys(powers["path"]))[:3]):
            rows = powers[powers["path"] == path]
            names = rows["algorithm"].unique()
            for (name, own), look in zip(rows.groupby("algorithm", sort=False), figures.looks(names).values()):
                axes.plot(own["size"], own["over_ridge"], label=name, markevery=3, **look)
            axes.axhline(1, color="0.35", ls="--", lw=1, label="DP-ridge")
            figures.log_axes(axes, path, "noise part over DP-ridge's" if axes is panels[0] else "")
        panels[0].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**NoisyHead's noise part over DP-ridge's**, both in closed form, along three paths to "
                r"infinity. Left, $L = \sqrt N$: logarithms, or a constant that tends to one. Middle, $L = "
                r"N^{1/4}$ at fixed $\lambda$: with the $R$ of (4.1) the ratio is a power of $N$; with $R = "
                r"C/(2\sqrt\lambda)$ it is not. Right, the same $L$ and a $\lambda$ that grows like $\sqrt "
                "N/L$: logarithms again, with either $R$."
            ),
            alt=(
                "Three panels of ratios against N up to ten to the thirty. Left and right: published NoisyHead "
                "rising more and more slowly, corrected nearly flat, last iterate falling to one. Middle: "
                "published NoisyHead rising like a power, the others flat."
            ),
        )


def draw_penalties(penalties: pd.DataFrame, paper: float) -> Plate:
    """Test error against λ, with the paper's λ and the trivial predictor."""
    with figures.style():
        figure, axes = plt.subplots()
        names = penalties["method"].unique()
        for (name, rows), look in zip(penalties.groupby("method", sort=False), figures.looks(names).values()):
            axes.plot(rows["penalty"], rows["test_error"], label=name, markevery=4, **look)
        variance = penalties["response_variance"].iloc[0]
        axes.axhline(variance, color="k", ls="--", lw=1, label="Γ = 0")
        axes.axvline(paper, color="k", ls=":", lw=1.2, label="the paper's λ")
        N, epsilon = penalties["N"].iloc[0], penalties["epsilon"].iloc[0]
        axes.set(xscale="log", xlabel="λ", ylabel=f"test error at N = {N}, ε = {epsilon:g}", ylim=(0, 1.6 * variance))
        axes.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**Test error against the penalty**, in closed form at the largest $N$ and $\varepsilon$, both "
                "methods rightly calibrated; dashed, the head that always answers 0. A method's distance from "
                r"the curve without privacy is what privacy costs at that $\lambda$: noise of variance "
                r"$\lambda^{-2}$ or more, while a large $\lambda$ shrinks the head itself to 0. So privacy is "
                "cheap where there is little to predict with, and the least of each curve is the best that the "
                "method can do at this $N$."
            ),
            alt=(
                "Test error against lambda: the curve without privacy rises from near zero to one; DP-ridge "
                "and NoisyHead dip a little below one at a small lambda and explode to the left of it."
            ),
        )
