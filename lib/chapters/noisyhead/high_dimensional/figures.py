"""Figures for the page on high dimension."""

import pandas as pd
from matplotlib.axes import Axes

from chapters.noisyhead.high_dimensional import asymptotics
from chapters.noisyhead.high_dimensional.sides import HALVED, PRINTED
from chapters.noisyhead.high_dimensional.verdicts import start_slopes
from companion.judging.prose import compact, compared, listed, times
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

SQUARE = r"$N$, with $D = L = \lfloor\sqrt{N}\rfloor$"
NOISYHEAD, DESCENT, ZERO = "noisyhead", "gradient-descent", "zero"
STARTS = {"random": r"$\Gamma^0$ random, as published", "zero": r"$\Gamma^0 = 0$"}
SETTINGS = (Setting.PUBLISHED, Setting.PRINTED, Setting.CORRECTED)
REGIMES = {asymptotics.LOW: "low", asymptotics.HIGH: "high"}
HIGH_PARTS = {
    asymptotics.FIGURE_2: "Figure 2's\ndescent",
    asymptotics.RATE_11: "claimed",
    asymptotics.NOISE: "noise",
    asymptotics.TRIVIAL: "answer 0",
}


def draw_figure_2(starts: pd.DataFrame, table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """The published algorithm from both starts at three ε, the authors' numbers, the closed form, and answering 0."""
    budgets = _some(starts["epsilon"].dropna())
    private = select(starts, method=NOISYHEAD)
    theirs = select(comparison, setting=Setting.PUBLISHED, method=NOISYHEAD)
    theirs = theirs[theirs["epsilon"].isin(budgets)]
    with figures.panels(2, figsize=(9.2, 3.7), sharey=True) as (figure, panels):
        for axes, (start, title) in zip(panels, STARTS.items()):
            _draw_start(axes, select(private, start=start), budgets)
            _answer_0(axes, table)
            figures.log_axes(axes, SQUARE, "excess risk")
            figures.plain_ticks(axes, starts["N"].unique(), most=4)
            axes.set_title(title)
        figures.circles(panels[0], theirs["N"], theirs["excess_risk_theirs"], "authors' numbers", (0, 0.5))
    slopes = start_slopes(starts).set_index("start")["exponent"]
    goes = {start: f"goes like $N^{{{slopes[start]:.2f}}}$" if start in slopes else "is shown" for start in STARTS}
    last = private[(private["N"] == private["N"].max()) & private["epsilon"].isin(budgets)]
    ends = last.groupby("start")["excess_risk"].agg(["min", "max"])
    over = (ends["max"] / ends["min"]).map(compact)
    return Plate(
        figure,
        r"**Figure 2 of the paper, re-run**: excess risk over $\Gamma^*$. Left: from the random start behind the "
        rf"published numbers (circles) the risk at the largest $\varepsilon$ {goes['random']}, and the budget changes "
        rf"it by a factor {over['random']} at the largest $N$. Right: from $\Gamma^0 = 0$ it {goes['zero']}, and the "
        rf"budget changes it by {over['zero']}. Lines: closed form, $\Pi_R$ idle. Bars, mostly hidden: two standard "
        "errors.",
    )


def _some(budgets: pd.Series) -> list[float]:
    """The least, a middle and the largest budget."""
    values = sorted(budgets.unique())
    return sorted({values[0], values[len(values) // 2], values[-1]})


def _draw_start(axes: Axes, rows: pd.DataFrame, budgets: list[float]) -> None:
    for epsilon, look in figures.looks(budgets).items():
        own = select(rows, epsilon=epsilon).sort_values("N")
        figures.points(axes, own, "N", "excess_risk", ls="none", label=rf"$\varepsilon$ = {epsilon:g}", **look)
        axes.plot(own["N"], own["closed_form"], color=look["color"], lw=1)


def _zero(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of answering 0, in order of N."""
    return select(table, setting=Setting.PRINTED, method=ZERO).sort_values("N")


def _answer_0(axes: Axes, table: pd.DataFrame) -> None:
    rows = _zero(table)
    axes.plot(rows["N"], rows["excess_risk"], "k--", lw=1, label="answer 0")


def draw_settings(table: pd.DataFrame) -> Plate:
    """All settings at the largest ε, with answering 0 beside."""
    budget = table["epsilon"].max()
    private = select(table, method=NOISYHEAD, epsilon=budget)
    with figures.panels(figsize=(6.8, 4.0)) as (figure, (axes,)):
        names = {setting: setting.value for setting in SETTINGS}
        figures.curves(axes, private, "N", "excess_risk", "setting", names)
        _answer_0(axes, table)
        figures.log_axes(axes, SQUARE, "excess risk")
        figures.plain_ticks(axes, table["N"].unique())
        axes.set_title(rf"$\varepsilon$ = {budget:g}")
    last = select(private, N=table["N"].max()).set_index("setting")["excess_risk"]
    best, trivial = last.min(), _zero(table)["excess_risk"].iloc[-1]
    word = compared(best, trivial, ("below", "equal to", "above"))
    told = listed([f"{compact(last[setting])} ({setting})" for setting in SETTINGS])
    return Plate(
        figure,
        r"**The three settings at the largest $\varepsilon$**; bars of two standard errors, hidden by the marks. "
        f"At $N = {table['N'].max()}$ the excess risk is {told}. Even the least is {word} that of always predicting 0, "
        f"by a factor {compact(max(best, trivial) / min(best, trivial))}.",
    )


def draw_powers(powers: pd.DataFrame) -> Plate:
    """Left: the noise part of both regimes with the rates claimed. Right: the parts of the risk in high dimension."""
    with figures.panels(2, figsize=(9.2, 4.2)) as (figure, (left, right)):
        for (regime, name), look in zip(REGIMES.items(), figures.looks(REGIMES).values()):
            noise, claim = (_part(powers, regime, quantity) for quantity in (asymptotics.BARE, asymptotics.RATE_11))
            label = f"{name}: {_power_of(noise)}"
            left.plot(noise["N"], noise["value"] / noise["value"].iloc[0], label=label, markevery=2, **look)
            label = f"{name},\nclaimed: {_power_of(claim)}"
            rate = claim["value"] / claim["value"].iloc[0]
            left.plot(claim["N"], rate, "--", color=look["color"], lw=1, label=label)
        for (quantity, label), look in zip(HIGH_PARTS.items(), figures.looks(HIGH_PARTS).values()):
            rows = _part(powers, asymptotics.HIGH, quantity)
            right.plot(rows["N"], rows["value"], label=label, markevery=2, **look)
        figures.log_axes(left, "$N$", "noise part, relative to the first $N$")
        figures.log_axes(right, "$N$", "excess risk")
        left.set_title("low and high dimension, logarithms out")
        right.set_title("high dimension, $D = L = \\sqrt{N}$")
    last = select(powers, N=powers["N"].max()).set_index(["regime", "quantity"])
    low, high = (last["exponent"][regime, asymptotics.BARE] for regime in REGIMES)
    claimed = [last["exponent"][regime, asymptotics.RATE_11] for regime in REGIMES]
    word = compared(high, low, ("faster", "as fast", "more slowly"))
    noise, trivial = (last.loc[(asymptotics.HIGH, q)] for q in (asymptotics.NOISE, asymptotics.TRIVIAL))
    return Plate(
        figure,
        "**How the noise part falls**, in closed form, for the algorithm of Theorem 4.1. Left, with its logarithms "
        f"divided out: in high dimension it falls {word}, like $N^{{{high:.2f}}}$ against $N^{{{low:.2f}}}$, where "
        f"Theorem 1.1 has $N^{{{claimed[1]:.2f}}}$ and $N^{{{claimed[0]:.2f}}}$ (dashed). Right: in high dimension the "
        f"excess risk of always predicting 0, which is all there is to gain, goes like "
        f"$N^{{{trivial['exponent']:.2f}}}$. At the largest "
        f"$N$ the noise with its logarithms is {times(noise['value'] / trivial['value'])} as large.",
    )


def _part(powers: pd.DataFrame, regime: str, quantity: str) -> pd.DataFrame:
    return select(powers, regime=regime, quantity=quantity).sort_values("N")


def _power_of(rows: pd.DataFrame) -> str:
    """The local exponent at the largest size, as a power of N."""
    return f"$N^{{{rows['exponent'].iloc[-1]:.2f}}}$".replace("-", "{-}")


def draw_progress(progress: pd.DataFrame, sides: pd.DataFrame) -> Plate:
    """Descent without noise against r in closed form and simulated, beside (4.4) at ε = ∞."""
    own = select(sides, method=DESCENT, penalty=sides["penalty"].max())
    labels = {PRINTED: "$\\lambda$ in the\nupdate", HALVED: r"$\lambda/2$"}
    with figures.panels(figsize=(6.8, 4.0)) as (figure, (axes,)):
        for (update, label), look in zip(labels.items(), figures.looks(labels).values()):
            rows = select(progress, update=update)
            axes.plot(rows["r"], rows["excess_risk"], color=look["color"], label=label)
        bound = select(progress, update=PRINTED)
        axes.plot(bound["r"], bound["bound"], color="0.35", ls=":", label="(4.4)")
        figures.points(axes, own, "r", "excess_risk", ls="none", marker="o", color="k", label="_simulated")
        figures.log_axes(axes, "$r = (1 - \\eta_0\\lambda)^{-T}$", "excess risk without noise")
        axes.set_ylim(bottom=1e-24)
    printed, halved = (select(progress, update=update).sort_values("r").iloc[-1] for update in labels)
    words = ("stays below", "meets", "leaves")
    met, other = (compared(end["excess_risk"], end["bound"], words) for end in (printed, halved))
    return Plate(
        figure,
        r"**Descent without noise against $r$**, from $\|\Gamma^0\| = R$ at $\lambda = N/D$ and the largest of the "
        "sizes, in closed form (lines) and simulated (points, bars of two standard errors), beside (4.4) at "
        rf"$\varepsilon = \infty$ with constant one. With $\lambda$ the update ends at "
        rf"{compact(printed['excess_risk'])} and {met} the bound; with $\lambda/2$ it ends at "
        f"{compact(halved['excess_risk'])} and {other} it.",
    )
