"""Figures for the page on NoisyHead's rivals."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.authors import TRIALS
from costofprivacy.experiments.noisyhead.rivals.closed_forms import CORRECTED, LAST_ITERATE, PATHS, PUBLISHED
from costofprivacy.experiments.noisyhead.rivals.experiment import DESCENT, DP_RIDGE, LAST, NOISYHEAD, ZERO
from costofprivacy.experiments.noisyhead.rivals.guarantees import PRINTED, RIGHT
from costofprivacy.experiments.noisyhead.rivals.pages import WAYS
from costofprivacy.experiments.noisyhead.rivals.verdicts import asymptotic_exponents
from costofprivacy.judging.prose import compact, compared, listed, plain, times
from costofprivacy.judging.tables import pick, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.privacy import GaussianDP
from costofprivacy.settings import Setting
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

Way = tuple[str, Setting]

PUBLISHED_WAYS: list[Way] = [(NOISYHEAD, Setting.PUBLISHED), (DP_RIDGE, Setting.PUBLISHED)]
CALIBRATED_WAYS: list[Way] = [(NOISYHEAD, Setting.CORRECTED), (LAST, Setting.CORRECTED), (DP_RIDGE, Setting.CORRECTED)]
CALIBRATED_NAMES = {NOISYHEAD: "NoisyHead,\nevery iterate", LAST: "NoisyHead,\nlast iterate", DP_RIDGE: "DP-ridge"}
LOOKS = figures.looks([*PUBLISHED_WAYS, *CALIBRATED_WAYS])
COLOUR = {name: look["color"] for name, look in figures.looks(["first", "second", "third", "fourth"]).items()}
PATH_TITLES = dict(
    zip(PATHS, [r"$L = \sqrt{N}$", r"$L = N^{1/4}$, $\lambda$ fixed", r"$L = N^{1/4}$, $\lambda\propto\sqrt{N}/L$"])
)
ALGORITHMS = {PUBLISHED: "as\npublished", CORRECTED: "corrected", LAST_ITERATE: "last\niterate"}
NO_PRIVACY = "ridge, no privacy"


def draw_table_1(table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """Left: the published setting beside Table 1 and Figure 1. Right: both methods rightly calibrated, and Γ = 0."""
    epsilon = table["epsilon"].min()
    rows, theirs = select(table, epsilon=epsilon), select(comparison, epsilon=epsilon, setting=Setting.PUBLISHED)
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.7), sharey=True)
        for method, setting in PUBLISHED_WAYS:
            own = select(rows, method=method, setting=setting)
            figures.points(left, own, "N", "excess_risk", label=WAYS[method], **LOOKS[method, setting])
        for method, setting in CALIBRATED_WAYS:
            own = select(rows, method=method, setting=setting)
            figures.points(right, own, "N", "excess_risk", label=CALIBRATED_NAMES[method], **LOOKS[method, setting])
        _overlay(left, theirs)
        for axes, title in ((left, "as published"), (right, "both rightly calibrated")):
            zero = select(table, method=ZERO)
            axes.plot(zero["N"], zero["excess_risk"], "k--", lw=1, label=r"answer 0")
            figures.log_axes(axes, "$N$ (training prompts)", "excess risk")
            figures.plain_ticks(axes, table["N"].unique())
            axes.set_title(rf"{title}, $\varepsilon$ = {epsilon:g}")
        for axes in (left, right):
            figures.end_labels(axes)
    shown = (table, theirs, float(epsilon))
    return Plate(figure, caption=_table_1_caption(*shown), alt=_table_1_alt(*shown))


def _overlay(axes: Axes, theirs: pd.DataFrame) -> None:
    """Table 1's numbers as open circles, Figure 1's as crosses."""
    if theirs.empty:
        return
    marks = [
        axes.plot(theirs["N"], theirs["excess_risk_theirs"], "o", mfc="none", mec="black", ms=10, label="_")[0],
        axes.plot(theirs["N"], theirs["excess_risk_figure_1"], "kx", ms=9, label="_")[0],
    ]
    axes.legend(marks, ["Table 1", "the paper's Figure 1"], loc="center left")


def _table_1_caption(table: pd.DataFrame, theirs: pd.DataFrame, epsilon: float) -> str:
    risk = _risks(table, epsilon)
    over = {method: risk[method, Setting.CORRECTED] / risk[DP_RIDGE, Setting.CORRECTED] for method in (NOISYHEAD, LAST)}
    return (
        rf"**Table 1, re-run**, at $\varepsilon = {epsilon:g}$.{_agreement(theirs)} Right: at the same budget, rightly "
        f"calibrated, it has {times(over[NOISYHEAD])} the risk of DP-ridge at $N = {table['N'].max()}$ if every "
        f"iterate counts, {times(over[LAST])} if only the last does. Bars, mostly hidden: two standard errors over "
        f"{table['trials'].max()} trials."
    )


def _agreement(theirs: pd.DataFrame) -> str:
    """How far Table 1's NoisyHead and the same numbers of Figure 1 are from ours, in words."""
    own = select(theirs, method=NOISYHEAD)
    if own.empty:
        return ""
    off = (own["excess_risk"] / own["excess_risk_theirs"]).agg(["min", "max"])
    error = own["standard_error"] * math.sqrt(1 + own["trials"].max() / TRIALS)
    near = ((own["excess_risk"] - own["excess_risk_figure_1"]).abs() <= CONSISTENT * error).sum()
    return (
        f" Left: in the published settings NoisyHead has {compact(off['min'])} to "
        f"{times(off['max'])} the risk that Table 1 prints (circles), and agrees with {near} of {len(own)} numbers "
        "behind the paper's own Figure 1 (crosses)."
    )


def _table_1_alt(table: pd.DataFrame, theirs: pd.DataFrame, epsilon: float) -> str:
    risk, N = _risks(table, epsilon), table["N"].max()
    printed = select(theirs, N=N).set_index("method")
    said = {
        m: f" (Table 1: {plain(printed.loc[m, 'excess_risk_theirs'])})" if m in printed.index else ""
        for m in (NOISYHEAD, DP_RIDGE)
    }
    left = [f"{WAYS[m]} {plain(risk[m, s])}{said[m]}" for m, s in PUBLISHED_WAYS]
    names = {NOISYHEAD: "NoisyHead for every iterate", LAST: "NoisyHead for its last iterate", DP_RIDGE: "DP-ridge"}
    right = [f"{names[m]} {plain(risk[m, s])}" for m, s in CALIBRATED_WAYS]
    return (
        f"Excess risk at N = {N}, ε = {epsilon:g}. As published: {listed(left)}. Rightly calibrated: {listed(right)}. "
        f"Answering 0: {plain(risk[ZERO, Setting.PUBLISHED])}."
    )


def _risks(table: pd.DataFrame, epsilon: float) -> pd.Series:
    """Excess risk at the largest N by method and setting."""
    rows = table[(table["N"] == table["N"].max()) & (table["epsilon"].isna() | (table["epsilon"] == epsilon))]
    return rows.set_index(["method", "setting"])["excess_risk"]


def draw_privacy(privacy: pd.DataFrame, audit: pd.DataFrame) -> Plate:
    """δ(ε) of one release with the printed and with the right noise, the claims, and what the audits found."""
    rows = select(privacy, N=privacy["N"].min())
    budgets = sorted(rows["epsilon"].unique())[:2]
    with figures.style():
        figure, panels = plt.subplots(1, len(budgets), figsize=(9.2, 3.8), squeeze=False, sharey=True)
        for axes, epsilon in zip(panels[0], budgets):
            _draw_budget(axes, select(rows, epsilon=epsilon), select(audit, epsilon=epsilon), epsilon)
        panels[0][0].legend(loc="upper right")
    return Plate(figure, caption=_privacy_caption(rows, audit, budgets), alt=_privacy_alt(rows, audit, budgets))


def _draw_budget(axes: Axes, rows: pd.DataFrame, audit: pd.DataFrame, epsilon: float) -> None:
    grid, delta = np.linspace(0, 3 * epsilon, 120), rows["delta"].iloc[0]
    for name, label, mark, colour in (
        (PRINTED, "noise as printed", ">", COLOUR["second"]),
        (RIGHT, "right noise", "<", COLOUR["first"]),
    ):
        row = pick(rows, calibration=name)
        curve = GaussianDP(row["distance"] / row["noise_std"]).delta(grid)
        axes.plot(grid, curve, label=label, color=colour)
        found = select(audit, calibration=name)["epsilon_found"]
        axes.plot(found, [delta] * len(found), mark, color=colour, mfc="none", ms=9, label=f"audit, {label}")
    axes.plot(epsilon, delta, "k*", ms=12, label="the claim")
    axes.set(yscale="log", xlabel=r"$\varepsilon$", ylabel=r"$\delta$ spent", ylim=(delta / 1e3, 1))
    axes.set_title(rf"claimed $\varepsilon$ = {epsilon:g}, $\delta$ = {plain(delta)}")


def _privacy_caption(rows: pd.DataFrame, audit: pd.DataFrame, budgets: list[float]) -> str:
    spent = [
        f"{compact(pick(rows, epsilon=e, calibration=PRINTED)['epsilon_spent'])} where {e:g} is claimed"
        for e in budgets
    ]
    proofs = select(audit, calibration=PRINTED)
    refuted = ((proofs["epsilon_found"] > proofs["epsilon"]) | (proofs["mu_found"] > proofs["mu"])).sum()
    return (
        r"**What one release of DP-ridge spends**: $\delta$ against $\varepsilon$ on the worst neighbours constructed "
        rf"here, $N = {rows['N'].iloc[0]}$; exact curves. A mechanism that keeps its claim has its curve on or below "
        rf"the star. The printed noise spends $\varepsilon$ = {listed(spent)}. Triangles are lower bounds on "
        rf"$\varepsilon$ from releases alone, at confidence {audit['confidence'].min():g}: for the printed noise "
        f"they and the audits' bounds on $\\mu$ refute {refuted} of {len(proofs)} claims."
    )


def _privacy_alt(rows: pd.DataFrame, audit: pd.DataFrame, budgets: list[float]) -> str:
    parts = []
    for epsilon in budgets:
        spent = select(rows, epsilon=epsilon).set_index("calibration")["epsilon_spent"]
        text = f"claimed ε = {epsilon:g}: the printed noise spends {plain(spent[PRINTED])}"
        found = select(audit, epsilon=epsilon, calibration=PRINTED)["epsilon_found"]
        text += f", of which the audit proves {plain(found.iloc[0])}" if len(found) else ""
        parts.append(f"{text}; the right noise spends {plain(spent[RIGHT])}")
    return f"ε spent at δ = {plain(rows['delta'].iloc[0])}. For " + ". For ".join(parts) + "."


def draw_steps(steps: pd.DataFrame, table: pd.DataFrame) -> Plate:
    """Excess risk against the share of T that is run, for three accountings; descent alone; DP-ridge."""
    N, epsilon = steps["N"].max(), steps["epsilon"].max()
    rows = steps[(steps["N"] == N) & (steps["epsilon"].isna() | (steps["epsilon"] == epsilon))]
    curves = {
        "NoisyHead,\nas published": (NOISYHEAD, Setting.PUBLISHED),
        "NoisyHead,\nevery iterate": (NOISYHEAD, Setting.CORRECTED),
        "NoisyHead,\nlast iterate": (LAST, Setting.CORRECTED),
        "no noise": (DESCENT, Setting.PUBLISHED),
    }
    ridge = pick(table, N=N, epsilon=epsilon, method=DP_RIDGE, setting=Setting.CORRECTED)["excess_risk"]
    own = {name: select(rows, method=method, setting=s).sort_values("share") for name, (method, s) in curves.items()}
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 4.2))
        for (name, curve), look in zip(own.items(), figures.looks(own).values()):
            figures.points(axes, curve, "share", "excess_risk", label=name, **look)
        axes.plot(rows["share"].agg(["min", "max"]), [ridge] * 2, "k--", lw=1.2, label="DP-ridge")
        figures.log_axes(axes, "steps, as a share of the paper's $T$", "excess risk")
        axes.set_title(rf"$N$ = {N}, $\varepsilon$ = {epsilon:g}")
        figures.plain_ticks(axes, rows["share"].unique(), most=6)
        figures.end_labels(axes)
    ends = {name.replace("\n", " "): curve["excess_risk"].iloc[[0, -1]] for name, curve in own.items()}
    return Plate(figure, caption=_steps_caption(ends, ridge), alt=_steps_alt(ends, ridge, rows["share"]))


def _steps_caption(ends: dict[str, pd.Series], ridge: float) -> str:
    published, last, bias = ends["NoisyHead, as published"], ends["NoisyHead, last iterate"], ends["no noise"]
    word = compared(published.iloc[0], published.iloc[1], ("raise", "do not change", "lower"))
    return (
        "**Excess risk against the number of steps**, at the same budget for every point. More steps "
        f"{word} the risk of the published NoisyHead, from {compact(published.iloc[0])} to "
        f"{compact(published.iloc[1])}. Without noise {compact(bias.iloc[1])} remains: all that early stopping leaves. "
        f"Accounted for its last iterate alone, NoisyHead ends at {times(last.iloc[1] / ridge)} the risk of DP-ridge. "
        "Bars of two standard errors, mostly hidden by the marks."
    )


def _steps_alt(ends: dict[str, pd.Series], ridge: float, shares: pd.Series) -> str:
    said = [f"{name} from {plain(pair.iloc[0])} to {plain(pair.iloc[1])}" for name, pair in ends.items()]
    return (
        f"Excess risk as the steps go from {shares.min():g} to {shares.max():g} times T: {listed(said)}. "
        f"DP-ridge: {plain(ridge)}."
    )


def draw_powers(powers: pd.DataFrame) -> Plate:
    """NoisyHead's noise part over DP-ridge's, along three paths to infinity."""
    paths = list(dict.fromkeys(powers["path"]))[:3]
    with figures.style():
        figure, panels = plt.subplots(1, 3, figsize=(9.2, 3.6), sharey=True)
        for axes, path in zip(panels, paths):
            rows = select(powers, path=path)
            for (name, label), look in zip(ALGORITHMS.items(), figures.looks(ALGORITHMS).values()):
                own = select(rows, algorithm=name)
                axes.plot(own["size"], own["over_ridge"], label=label, markevery=6, **look)
            axes.axhline(1, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, "$N$", "noise part over DP-ridge's")
            axes.set_title(PATH_TITLES[path])
        for axes in panels:
            figures.end_labels(axes)
        for axes in panels[1:]:
            axes.set_ylabel("")
    exponents = asymptotic_exponents(powers)
    return Plate(figure, caption=_powers_caption(exponents), alt=_powers_alt(powers, paths))


def _powers_caption(exponents: pd.Series) -> str:
    own, fixed, chosen = (exponents[path, PUBLISHED] for path in list(PATHS)[:3])
    corrected = exponents.unstack("algorithm")[[CORRECTED, LAST_ITERATE]].abs().to_numpy().max()
    return (
        "**NoisyHead's noise part over DP-ridge's** (dashed), both in closed form, along three ways to infinity. As "
        rf"published, the ratio grows like $N^{{{fixed:.2f}}}$ for short prompts at a fixed $\lambda$ (middle), "
        rf"like $N^{{{own:.2f}}}$ at $L = \sqrt N$ (left), and like $N^{{{chosen:.2f}}}$ once $\lambda$ grows like "
        r"$\sqrt N/L$ (right), logarithms taken out. Corrected, with $R = \mathcal{C}/(2\sqrt\lambda)$, no power "
        f"exceeds {corrected:.2f}."
    )


def _powers_alt(powers: pd.DataFrame, paths: list[str]) -> str:
    largest = powers["size"].max()
    names = {PUBLISHED: "as published", CORRECTED: "corrected", LAST_ITERATE: "last iterate"}
    titles = dict(zip(paths, ["L = √N", "L the fourth root of N, λ fixed", "the same L, λ growing like √N/L"]))
    parts = [
        f"{title}: "
        + listed(
            [f"{names[a]} {plain(pick(powers, path=p, algorithm=a, size=largest)['over_ridge'])}" for a in ALGORITHMS]
        )
        for p, title in titles.items()
    ]
    return f"NoisyHead's noise part over DP-ridge's at N = {plain(largest)}. " + "; ".join(parts) + "."


def draw_penalties(penalties: pd.DataFrame, paper: float) -> Plate:
    """Test error against λ, with the paper's λ and the trivial predictor."""
    names = list(dict.fromkeys(penalties["method"]))
    variance, (N, epsilon) = penalties["response_variance"].iloc[0], penalties[["N", "epsilon"]].iloc[0]
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.8, 3.8))
        for name, look in zip(names, figures.looks(names).values()):
            rows = select(penalties, method=name)
            axes.plot(rows["penalty"], rows["test_error"], label=name, markevery=6, **look)
        axes.axhline(variance, color="k", ls="--", lw=1, label="answer 0")
        axes.axvline(paper, color="k", ls=":", lw=1.2, label=r"the paper's $\lambda$")
        axes.set(xscale="log", xlabel=r"$\lambda$", ylabel="test error", ylim=(0, 1.6 * variance))
        axes.set_title(rf"$N$ = {N:.0f}, $\varepsilon$ = {epsilon:g}")
        axes.legend(loc="lower right")
    best = {name: rows.loc[rows["test_error"].idxmin()] for name, rows in penalties.groupby("method", sort=False)}
    said = [f"{name} {plain(row['test_error'])} at λ = {plain(row['penalty'])}" for name, row in best.items()]
    private = min((row for name, row in best.items() if name != NO_PRIVACY), key=lambda row: row["test_error"])
    return Plate(
        figure,
        caption=(
            r"**Test error against the penalty $\lambda$**, in closed form, both methods rightly calibrated. The best "
            f"that either private method reaches is {compact(private['test_error'])} at $\\lambda$ = "
            f"{compact(private['penalty'])} ({private['method']}), where answering 0 has {compact(variance)}. A small "
            r"$\lambda$ costs noise of variance $\lambda^{-2}$ or more; a large one shrinks the head itself to 0."
        ),
        alt=f"Least test errors: {listed(said)}. Answering 0: {plain(variance)}. The paper has λ = {paper:g}.",
    )
