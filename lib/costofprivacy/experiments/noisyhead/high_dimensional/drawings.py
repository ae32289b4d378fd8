"""Figures for the page on high dimension."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics
from costofprivacy.experiments.noisyhead.high_dimensional.sides import HALVED, PRINTED
from costofprivacy.experiments.noisyhead.high_dimensional.verdicts import start_slopes
from costofprivacy.judging.prose import compact, compared, listed, plain, times
from costofprivacy.judging.tables import pick, select
from costofprivacy.settings import Setting
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

SQUARE = r"$N$, with $D = L = \lfloor\sqrt{N}\rfloor$"
NOISYHEAD, DESCENT, ZERO = "noisyhead", "gradient-descent", "zero"
STARTS = {"random": r"$\Gamma^0$ random, as published", "zero": r"$\Gamma^0 = 0$"}
HIGH_PARTS = {
    asymptotics.FIGURE_2: "Figure 2's\ndescent",
    asymptotics.RATE_11: "claimed",
    asymptotics.NOISE: "noise",
    asymptotics.TRIVIAL: "answer 0",
}


def draw_figure_2(starts: pd.DataFrame, table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """The published algorithm from both starts at three ε, the authors' numbers, the closed form, and answering 0."""
    budgets = _some(starts["epsilon"].dropna())
    private = starts[(starts["method"] == NOISYHEAD) & starts["epsilon"].isin(budgets)]
    theirs = select(comparison, setting=Setting.PUBLISHED, method=NOISYHEAD)
    theirs = theirs[theirs["epsilon"].isin(budgets)]
    zero = select(table, setting=Setting.PRINTED, method=ZERO).sort_values("N")
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.7), sharey=True)
        for axes, (start, title) in zip(panels, STARTS.items()):
            _draw_start(axes, select(private, start=start), budgets)
            axes.plot(zero["N"], zero["excess_risk"], "k--", lw=1, label="answer 0")
            figures.log_axes(axes, SQUARE, "excess risk")
            figures.plain_ticks(axes, starts["N"].unique(), most=4)
            axes.set_title(title)
        figures.circles(panels[0], theirs["N"], theirs["excess_risk_theirs"], "authors' numbers", (0, 0.5))
        for axes in panels:
            figures.end_labels(axes)
    return Plate(figure, caption=_figure_2_caption(starts, private), alt=_figure_2_alt(private, zero))


def _some(budgets: pd.Series) -> list[float]:
    """The least, a middle and the largest budget."""
    values = sorted(budgets.unique())
    return sorted({values[0], values[len(values) // 2], values[-1]})


def _draw_start(axes: Axes, rows: pd.DataFrame, budgets: list[float]) -> None:
    for epsilon, look in figures.looks(budgets).items():
        own = select(rows, epsilon=epsilon).sort_values("N")
        figures.points(axes, own, "N", "excess_risk", ls="none", label=rf"$\varepsilon$ = {epsilon:g}", **look)
        axes.plot(own["N"], own["closed_form"], color=look["color"], lw=1)


def _figure_2_caption(starts: pd.DataFrame, private: pd.DataFrame) -> str:
    slopes = start_slopes(starts).set_index("start")["exponent"]
    goes = {start: f"goes like $N^{{{slopes[start]:.2f}}}$" if start in slopes else "is shown" for start in STARTS}
    over = {start: compact(ends.max() / ends.min()) for start, ends in _ends(private).items()}
    return (
        r"**Figure 2 of the paper, re-run**: excess risk over $\Gamma^*$. Left: from the random start behind the "
        rf"published numbers (circles) the risk at the largest $\varepsilon$ {goes['random']}, and the budget changes "
        rf"it by a factor {over['random']} at the largest $N$. Right: from $\Gamma^0 = 0$ it {goes['zero']}, and the "
        rf"budget changes it by {over['zero']}. Lines: closed form, $\Pi_R$ idle. Bars, mostly hidden: two standard "
        "errors."
    )


def _ends(private: pd.DataFrame) -> dict[str, pd.Series]:
    """Excess risk at the largest N by ε, for each start."""
    last = select(private, N=private["N"].max())
    return {start: select(last, start=start).set_index("epsilon")["excess_risk"] for start in STARTS}


def _figure_2_alt(private: pd.DataFrame, zero: pd.DataFrame) -> str:
    said = []
    for start, words in (("random", "from the random start"), ("zero", "from zero")):
        ends = _ends(private)[start]
        said.append(f"{words} " + listed([f"{plain(risk)} at ε = {epsilon:g}" for epsilon, risk in ends.items()]))
    trivial = plain(zero["excess_risk"].iloc[-1])
    return f"Excess risk at N = {private['N'].max()}: {'; '.join(said)}. Answering 0: {trivial}."


def draw_settings(table: pd.DataFrame) -> Plate:
    """All settings at the largest ε, with answering 0 beside."""
    budget = table["epsilon"].max()
    names = {Setting.PUBLISHED: "published", Setting.PRINTED: "printed", Setting.CORRECTED: "corrected"}
    zero = select(table, setting=Setting.PRINTED, method=ZERO).sort_values("N")
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.8, 4.0))
        for setting, look in figures.looks(names).items():
            rows = select(table, setting=setting, method=NOISYHEAD, epsilon=budget)
            figures.points(axes, rows, "N", "excess_risk", label=names[Setting(str(setting))], **look)
        axes.plot(zero["N"], zero["excess_risk"], "k--", lw=1, label="answer 0")
        figures.log_axes(axes, SQUARE, "excess risk")
        figures.plain_ticks(axes, table["N"].unique())
        axes.set_title(rf"$\varepsilon$ = {budget:g}")
        figures.end_labels(axes)
    last = select(table, N=table["N"].max(), method=NOISYHEAD, epsilon=budget).set_index("setting")["excess_risk"]
    trivial = zero["excess_risk"].iloc[-1]
    best = last.min()
    word = compared(best, trivial, ("below", "equal to", "above"))
    told = listed([f"{compact(last[setting])} ({setting})" for setting in names])
    heard = listed([f"{setting} {plain(last[setting])}" for setting in names])
    return Plate(
        figure,
        caption=(
            r"**The three settings at the largest $\varepsilon$**; bars of two standard errors, hidden by the marks. "
            f"At $N = {table['N'].max()}$ the excess risk is {told}. Even the least is {word} that of answering 0, by "
            f"a factor {compact(max(best, trivial) / min(best, trivial))}."
        ),
        alt=f"Excess risk at N = {table['N'].max()}, ε = {budget:g}: {heard}. Answering 0: {plain(trivial)}.",
    )


def draw_powers(powers: pd.DataFrame) -> Plate:
    """Left: the noise part of both regimes with the rates claimed. Right: the parts of the risk in high dimension."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2))
        titles = {asymptotics.LOW: "low", asymptotics.HIGH: "high"}
        for (regime, name), look in zip(titles.items(), figures.looks(titles).values()):
            noise, claim = (
                select(powers, regime=regime, quantity=quantity).sort_values("N")
                for quantity in (asymptotics.BARE, asymptotics.RATE_11)
            )
            relative = noise["value"] / noise["value"].iloc[0]
            left.plot(noise["N"], relative, label=f"{name}: {_power_of(noise)}", markevery=2, **look)
            rate = claim["value"] / claim["value"].iloc[0]
            label = f"{name},\nclaimed: {_power_of(claim)}"
            left.plot(claim["N"], rate, "--", color=look["color"], lw=1, label=label)
        for (quantity, label), look in zip(HIGH_PARTS.items(), figures.looks(HIGH_PARTS).values()):
            rows = select(powers, regime=asymptotics.HIGH, quantity=quantity).sort_values("N")
            right.plot(rows["N"], rows["value"], label=label, markevery=2, **look)
        figures.log_axes(left, "$N$", "noise part, relative to the first $N$")
        figures.log_axes(right, "$N$", "excess risk")
        left.set_title("low and high dimension, logarithms out")
        right.set_title("high dimension, $D = L = \\sqrt{N}$")
        for axes in (left, right):
            figures.end_labels(axes)
    return Plate(figure, caption=_powers_caption(powers), alt=_powers_alt(powers))


def _power_of(rows: pd.DataFrame) -> str:
    """The local exponent at the largest size, as a power of N."""
    return f"$N^{{{rows['exponent'].iloc[-1]:.2f}}}$".replace("-", "{-}")


def _last(powers: pd.DataFrame, regime: str, quantity: str) -> pd.Series:
    return pick(powers, regime=regime, quantity=quantity, N=powers["N"].max())


def _powers_caption(powers: pd.DataFrame) -> str:
    low, high = (_last(powers, r, asymptotics.BARE)["exponent"] for r in (asymptotics.LOW, asymptotics.HIGH))
    claimed = [_last(powers, r, asymptotics.RATE_11)["exponent"] for r in (asymptotics.LOW, asymptotics.HIGH)]
    word = compared(high, low, ("faster", "as fast", "more slowly"))
    noise, trivial = (_last(powers, asymptotics.HIGH, q) for q in (asymptotics.NOISE, asymptotics.TRIVIAL))
    over = noise["value"] / trivial["value"]
    return (
        "**How the noise part falls**, in closed form, for the algorithm of Theorem 4.1. Left, with its logarithms "
        f"divided out: in high dimension it falls {word}, like $N^{{{high:.2f}}}$ against $N^{{{low:.2f}}}$, where "
        f"Theorem 1.1 has $N^{{{claimed[1]:.2f}}}$ and $N^{{{claimed[0]:.2f}}}$ (dashed). Right: in high dimension the "
        f"whole that is at stake, the excess risk of answering 0, goes like $N^{{{trivial['exponent']:.2f}}}$. "
        f"At the largest $N$ the noise with its logarithms is {times(over)} as large."
    )


def _powers_alt(powers: pd.DataFrame) -> str:
    said = [
        f"{label.replace(chr(10), ' ')} {plain(_last(powers, asymptotics.HIGH, quantity)['value'])}, local power "
        f"{plain(_last(powers, asymptotics.HIGH, quantity)['exponent'])}"
        for quantity, label in HIGH_PARTS.items()
    ]
    low, high = (_last(powers, r, asymptotics.BARE)["exponent"] for r in (asymptotics.LOW, asymptotics.HIGH))
    return (
        f"Powers of N that the noise follows, logarithms out: {plain(low)} in low and {plain(high)} in high dimension. "
        f"In high dimension at N = {plain(powers['N'].max())}: {'; '.join(said)}."
    )


def draw_progress(progress: pd.DataFrame, sides: pd.DataFrame) -> Plate:
    """Descent without noise against r in closed form and simulated, beside (4.4) at ε = ∞."""
    own = select(sides, method=DESCENT, penalty=sides["penalty"].max())
    labels = {PRINTED: "$\\lambda$ in the\nupdate", HALVED: r"$\lambda/2$"}
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.8, 4.0))
        for (update, label), look in zip(labels.items(), figures.looks(labels).values()):
            rows = select(progress, update=update)
            axes.plot(rows["r"], rows["excess_risk"], color=look["color"], label=label)
        bound = select(progress, update=PRINTED)
        axes.plot(bound["r"], bound["bound"], color="0.35", ls=":", label="(4.4)")
        figures.points(axes, own, "r", "excess_risk", ls="none", marker="o", color="k", label="_simulated")
        figures.log_axes(axes, "$r = (1 - \\eta_0\\lambda)^{-T}$", "excess risk without noise")
        axes.set_ylim(bottom=1e-24)
        figures.end_labels(axes)
    ends = {update: select(progress, update=update).sort_values("r").iloc[-1] for update in labels}
    return Plate(figure, caption=_progress_caption(ends), alt=_progress_alt(ends))


def _progress_caption(ends: dict[str, pd.Series]) -> str:
    words = ("stays below", "meets", "leaves")
    printed, halved = (compared(ends[u]["excess_risk"], ends[u]["bound"], words) for u in (PRINTED, HALVED))
    return (
        r"**Descent without noise against $r$**, from $\|\Gamma^0\| = R$ at $\lambda = N/D$ and the largest of the "
        "sizes, in closed form (lines) and simulated (points, bars of two standard errors), beside (4.4) at "
        rf"$\varepsilon = \infty$ with constant one. With $\lambda$ the update ends at "
        rf"{compact(ends[PRINTED]['excess_risk'])} and {printed} the bound; with $\lambda/2$ it ends at "
        f"{compact(ends[HALVED]['excess_risk'])} and {halved} it."
    )


def _progress_alt(ends: dict[str, pd.Series]) -> str:
    return (
        f"Excess risk without noise at r = {plain(ends[PRINTED]['r'])}: with λ in the update "
        f"{plain(ends[PRINTED]['excess_risk'])}, with λ/2 {plain(ends[HALVED]['excess_risk'])}. The bound (4.4): "
        f"{plain(ends[PRINTED]['bound'])}."
    )
