"""Figures and short tables for the page on robustness."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy import figures
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.robustness import arithmetic as evaluations
from costofprivacy.experiments.noisyhead.robustness.theorem import LOWER, RESPONSES, SMALL, SMALL_LOWER, UPPER
from costofprivacy.findings import select
from costofprivacy.plates import Plate

METHODS = {
    "noisyhead": "NoisyHead",
    "ridge": "ridge, rank-one update",
    "ridge-normal-equations": "ridge, normal equations",
}
PARTS = {
    "all": "all together",
    "attack": "the attack alone",
    "initial weights": "two Γ⁰ alone",
    "noise": "two noises alone",
}
SHOWN = ("outlier first", "one product, elimination", "chunks of products", "outlier last", evaluations.RANK_ONE)
LENGTH = "$L$ (tokens in a prompt)"


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method, for the page."""
    return agreement.deviations(comparison)


def show_conditions(conditions: pd.DataFrame) -> pd.DataFrame:
    """What Theorem 5.1 asks of Figure 4, for the page."""
    names = {
        "penalty_over_least": "λ / (C²/L)",
        "over_upper_end": "α²μ⁴ / upper end of (5.2)",
        "over_lower_end": "α²μ² / lower end",
        "lower_over_upper_end": "lower / upper end at μ = 1",
        "probability": "1 − 5κ",
        "claimed_for_noisyhead": "N L⁻² log²(NL/κ)",
        "claimed_for_ridge": "α²μ²/(Nλ)",
    }
    return _short(conditions[list(names)].rename(columns=names).T.set_axis(_shifts(conditions["alpha"]), axis=1))


def show_parts(parts: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's displacement and what makes it, for the page."""
    table = parts.set_index(["setting", "part"])
    measured = [f"{m:.3g} ± {e:.1g}" for m, e in zip(table["displacement"], table["standard_error"])]
    beside = _short(table[["share", "closed_form", "bound"]].rename(columns={"closed_form": "closed form"}))
    beside.insert(0, "displacement", measured)
    return beside


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test errors before and after the attack, Var(y) and the best linear head beside."""
    wide = table.pivot_table(index=["setting", "method"], columns="prompts", values="test_error", sort=False)
    first = table.iloc[0]
    beside = {"answering 0": first["response_variance"], "best linear head": first["best_linear_head"]}
    return _short(wide.reindex(columns=["clean", "attacked"]).assign(**beside))


def show_arithmetic(arithmetic: pd.DataFrame, comparison: pd.DataFrame) -> pd.DataFrame:
    """Ridge's displacement by evaluation at the α of the first c, the authors' numbers in the last row."""
    theirs = _their_ridge(comparison)
    rows = arithmetic.pivot_table(index="evaluation", columns="alpha", values="displacement", sort=False)
    if theirs.empty:
        return rows.round(4)
    table = rows[theirs["alpha"].to_numpy()].set_axis([f"p = {p:g}" for p in theirs["p"]], axis=1)
    table.loc["the authors' numbers"] = theirs["displacement_theirs"].to_numpy()
    return table.round(4)


def show_nearest(arithmetic: pd.DataFrame, comparison: pd.DataFrame) -> pd.DataFrame:
    """The authors' ridge at each p, the evaluation of the normal equations nearest in ratio, and their whole range."""
    ours = arithmetic[arithmetic["evaluation"].isin(evaluations.NORMAL_EQUATIONS)].dropna(subset=["displacement"])
    table = _their_ridge(comparison).set_index("p")[["alpha", "displacement_theirs"]]
    for p, (alpha, number) in table.iterrows():
        means = select(ours, alpha=alpha).set_index("evaluation")["displacement"]
        nearest = np.log(means / number).abs().idxmin()
        table.loc[p, ["nearest", "its mean"]] = nearest, means[nearest]
        table.loc[p, ["least", "largest"]] = means.min(), means.max()
    return table.drop(columns="alpha").rename(columns={"displacement_theirs": "the authors'"}).round(4)


def _their_ridge(comparison: pd.DataFrame) -> pd.DataFrame:
    return select(comparison, method="ridge-normal-equations", setting="published")


def show_digits(digits: pd.DataFrame) -> pd.DataFrame:
    """Relative error against fifty digits by evaluation, at the least and the largest α."""
    ends = digits[digits["alpha"].isin([digits["alpha"].min(), digits["alpha"].max()])]
    table = ends.pivot_table(index="evaluation", columns="alpha", values="median_error", sort=False)
    return _short(table.set_axis(_shifts(table.columns), axis=1))


def show_perturbations(perturbations: pd.DataFrame, condition: str = "admissible") -> pd.DataFrame:
    """Both sides of (5.3)'s third inequality and of (A.22)-(A.24) at the first and the last L, for the page.

    Args:
        condition: the column that says which perturbations to show: ``admissible``, ``admissible_amended``.
    """
    rows = select(perturbations, axis="L", **{condition: True})
    rows = rows[rows["L"].isin([rows["L"].min(), rows["L"].max()])]
    short = rows["response"].map(dict(zip(RESPONSES, ("left", "shifted"))))
    names = {
        "displacement": "moves by",
        "claimed": "claimed",
        "ratio": "ratio",
        "bound": "at most",
        "energy_over_N_penalty": "‖Z_bad‖²/(Nλ)",
        "a23_ratio": "(A.23)",
        "a24_frequency": "(A.24)",
    }
    labelled = rows.assign(attack=rows["perturbation"] + ", y " + short, ratio=rows["displacement"] / rows["claimed"])
    return labelled.set_index(["L", "attack"])[list(names)].rename(columns=names).map("{:.2g}".format)


def show_sizes(sizes: pd.DataFrame) -> pd.DataFrame:
    """Left over right of each claim at the first and the last size of each axis, in closed form, for the page."""
    ends = sizes.groupby(["claim", "axis"], sort=False)["ratio"].agg(first="first", last="last")
    return ends.map("{:.2g}".format)


def _shifts(alpha: pd.Series | pd.Index) -> list[str]:
    return [f"α = {value:.1e}" for value in alpha]


def _short(table: pd.DataFrame) -> pd.DataFrame:
    """Three digits, nothing where nothing is known."""
    return table.map(lambda v: "" if pd.isna(v) else f"{v:.3g}")


def draw_figure_4(table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """One panel for each c: NoisyHead and ridge in both evaluations, published settings, the authors' numbers over."""
    with figures.style():
        values = table["c"].unique()
        figure, panels = plt.subplots(1, len(values), figsize=(4.6 * len(values), 4.4), sharey=True, squeeze=False)
        for axes, c in zip(panels[0], values):
            for method, look in figures.looks(METHODS).items():
                rows = select(table, c=c, setting="published", method=method)
                figures.points(axes, rows, "p", "displacement", label=METHODS[str(method)], **look)
            theirs = select(comparison, c=c, setting="published")
            if len(theirs):
                style = {"mfc": "none", "mec": "black", "ms": 10, "label": "authors'"}
                axes.plot(theirs["p"], theirs["displacement_theirs"], "o", **style)
            axes.set(yscale="log", xlabel=rf"$p$ in $\alpha = {c:g}N^p$", title=f"c = {c:g}")
        panels[0][0].set_ylabel("squared displacement on a clean prompt")
        panels[0][0].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**Figure 4 of the paper, re-run** in the settings behind the published numbers (open circles, "
                "where there are any). What the attack can do to NoisyHead is bounded for every $p$, since the "
                "responses are clipped; what it can do to ridge has a limit, which the rank-one updates "
                "follow. Growth that the normal equations show and the rank-one updates do not is rounding "
                "error of double precision. Bars of two standard errors over the trials."
            ),
            alt=(
                "Two panels of squared displacement against p. NoisyHead: a flat line. Ridge by rank-one "
                "update: a flat line above it. Ridge by normal equations: rising with p through the authors' "
                "points."
            ),
        )


def draw_parts(parts: pd.DataFrame, test_error: pd.DataFrame) -> Plate:
    """Left: NoisyHead's displacement and its parts by setting. Right: test errors beside answering 0."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2))
        settings = list(parts["setting"].unique())
        for (part, label), look, shift in zip(
            PARTS.items(), figures.looks(PARTS).values(), np.linspace(-0.24, 0.24, 4)
        ):
            rows = parts[(parts["part"] == part) & (parts["displacement"] > 0)]
            at = rows["setting"].map(settings.index) + shift
            left.errorbar(at, rows["displacement"], 2 * rows["standard_error"], ls="", capsize=2, label=label, **look)
        left.set(yscale="log", ylabel="squared displacement", xlabel="setting", xticks=range(len(settings)))
        left.set_xticklabels(settings)
        left.legend(fontsize=8)
        _draw_test_errors(right, test_error)
        return Plate(
            figure,
            caption=(
                r"**What moves NoisyHead, and what it is worth.** Left: the displacement at the least $\alpha$ "
                "and what a single difference between the two runs makes of it; a part that is nought in a "
                r"setting has no mark. The attack's part alone has a bound that knows no $\alpha$; the other "
                "parts are there without any attack. Right: test error on clean prompts before and after the "
                "attack, beside answering 0 (dashed) and the best linear head (dotted); the printed setting of "
                "NoisyHead is left to the table. Bars of two standard errors."
            ),
            alt=(
                "Left: squared displacements by setting, the attack alone far below the rest. Right: test "
                "errors; NoisyHead as published beside the line of answering 0, the corrected one and ridge "
                "well below it."
            ),
        )


def _draw_test_errors(axes: plt.Axes, test_error: pd.DataFrame) -> None:
    chosen = [("noisyhead", "published"), ("noisyhead", "corrected"), ("ridge", "published"), ("ridge", "printed")]
    ticks = ["NoisyHead,\npublished", "NoisyHead,\ncorrected", "ridge,\n$y_{L+1}$ shifted", "ridge,\n$y_{L+1}$ left"]
    for (prompts, look), shift in zip(figures.looks(("clean", "attacked")).items(), (-0.1, 0.1)):
        rows = select(test_error, prompts=prompts).set_index(["method", "setting"]).loc[chosen]
        at = np.arange(len(chosen)) + shift
        axes.errorbar(at, rows["test_error"], 2 * rows["standard_error"], ls="", capsize=2, label=str(prompts), **look)
    axes.axhline(test_error["response_variance"].iloc[0], color="k", ls="--", lw=1, label="answering 0")
    axes.axhline(test_error["best_linear_head"].iloc[0], color="k", ls=":", lw=1.5, label="best linear head")
    axes.set(ylabel="test error", xlabel="method and setting", xticks=range(len(chosen)), ylim=(-0.03, 1.4))
    axes.set_xticklabels(ticks, fontsize=8)
    axes.legend(fontsize=8)


def draw_growth(growth: pd.DataFrame, arithmetic: pd.DataFrame, table: pd.DataFrame) -> Plate:
    """Left: ridge's displacement against α with its limits. Right: what evaluations in double precision make of it."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        for response, look in figures.looks(RESPONSES).items():
            rows = select(growth, response=response)
            figures.points(left, rows, "alpha", "displacement", label=rf"$y_{{L+1}}$ {response}", **look)
            left.axhline(rows["limit_closed_form"].iloc[0], color=look["color"], ls="--", lw=1)
        for name, look in figures.looks(SHOWN).items():
            rows = arithmetic[(arithmetic["evaluation"] == name) & (arithmetic["median"] > 0)].sort_values("alpha")
            right.plot(rows["alpha"], rows["median"], label=str(name), **look)
        titles = "computed by rank-one updates", "normal equations (medians)"
        for axes, title in zip((left, right), titles):
            axes.axvspan(table["alpha"].min(), table["alpha"].max(), color="0.85", zorder=0, label="Figure 4's α")
            figures.log_axes(axes, r"$\alpha$", "")
            axes.set_title(title)
            axes.legend(fontsize=8)
        left.set_ylabel("squared displacement of ridge")
        right.set_ylim(1e-6, 1e2)
        return Plate(
            figure,
            caption=(
                r"**Ridge's displacement over many decades of $\alpha$.** Left, by rank-one updates, both "
                "readings of the attack, bars of two standard errors: it tends to a limit; dashed, the closed "
                "form for long prompts; grey, Figure 4's range. Right: medians over the data sets of the same "
                "displacement by several evaluations of the normal equations, all in double precision. Where "
                "these part company, rounding decides."
            ),
            alt=(
                "Left: two curves rising to a plateau that meets dashed lines. Right: evaluations that agree "
                "with the rank-one update until the grey range and scatter from there on."
            ),
        )


def draw_heads(heads: pd.DataFrame) -> Plate:
    """NoisyHead's displacement along L beside the bounds of (5.3), (A.20) and ours."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2))
        along = select(heads, axis="L").sort_values("L")
        steps = sorted(along["T"].unique())
        for T, look in figures.looks(steps).items():
            own, same = (select(along, noise=noise, T=T) for noise in ("independent", "common"))
            figures.points(left, own, "L", "displacement", label=f"measured, T = {T}", **look)
            figures.points(right, same, "L", "displacement", label=f"measured, T = {T}", **look)
            right.plot(same["L"], same["bound_amended"], ls="--", color=look["color"], label=f"its bound, T = {T}")
        bounds = {"bound_theorem": "(5.3), constant 1", "bound_ball": "(A.20)", "bound_amended": "4R²E‖Z‖²/D²"}
        for (column, label), line in zip(bounds.items(), ("k--", "k:", "k-")):
            left.plot(own["L"], own[column], line, lw=1, label=label)
        titles = "two runs, each with its own noise", "the attack alone: common noise"
        for axes, title in zip((left, right), titles):
            figures.log_axes(axes, LENGTH, "squared displacement of NoisyHead")
            axes.set_title(title)
            axes.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**NoisyHead's displacement along $L$**, bars of two standard errors. Left: two runs with "
                "noise of their own, for each number of steps, beside the bounds of (5.3) and (A.20) and, "
                "solid, what the ball of radius $R$ gives. The more steps, the more of the ball the noise "
                "fills; a displacement along the solid line leaves (5.3) behind by a factor that grows like "
                r"$L$. Right: the attack alone, on common noise, and its bound, which knows neither $\alpha$ "
                r"nor $\mu$ (dashed)."
            ),
            alt=(
                "Left: two measured curves, one falling steeply below the dashed bound, one shallowly, "
                "parallel to and below the solid bound. Right: measured curves far below dashed bounds."
            ),
        )


def draw_ridge(perturbations: pd.DataFrame) -> Plate:
    """Left: ridge's displacement over its claimed lower bound. Right: the displacement itself, both along L."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 5.0))
        cases = [(name, response) for response in RESPONSES for name in (UPPER, LOWER, SMALL, SMALL_LOWER)]
        for (name, response), look in zip(cases, figures.looks(cases).values()):
            rows = select(perturbations, axis="L", admissible=True, perturbation=name, response=response)
            values = rows[["displacement", "standard_error"]]
            figures.points(left, values.div(rows["claimed"], axis=0).join(rows["L"]), "L", "displacement", **look)
            label = rf"{name}; $y_{{L+1}}$ {response}"
            figures.points(right, rows, "L", "displacement", label=label, **look)
        left.axhline(1, color="k", ls="--", lw=1)
        figures.log_axes(left, LENGTH, r"displacement / $(\alpha^2\mu^2/(N\lambda))$")
        figures.log_axes(right, LENGTH, "squared displacement of ridge")
        figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
        return Plate(
            figure,
            caption=(
                "**Ridge under admissible perturbations, along $L$**, bars of two standard errors. Left: mean "
                "displacement over the lower bound that (5.3) claims; it should lie above the dashed line. "
                "Right: the displacement itself. With $y_{L+1}$ left as it is, as (5.1) has it, it is bounded "
                r"whatever the attacker does; with $y_{L+1}$ shifted too and a small $\mu$ it grows with $L$ "
                "without limit."
            ),
            alt=(
                "Left: ratios of displacement to the claimed bound, nearly all far below one, falling with L "
                "at the upper end. Right: displacements, flat and small but for one curve that rises with L."
            ),
        )
