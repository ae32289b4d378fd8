"""What falls in Figure 2, and how much does privacy cost in high dimension?"""

import numpy as np
import pandas as pd

from chapters.noisyhead.high_dimensional import judge, measure
from chapters.noisyhead.high_dimensional.judge import start_slopes
from chapters.noisyhead.high_dimensional.measure import HALVED, PRINTED
from companion.judging import growth, words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, compared, listed, percent, plain, times
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

NOISYHEAD, DESCENT, RIDGE, ZERO = "noisyhead", "gradient-descent", "ridge", "zero"
STARTS = ("random", "zero")
REGIMES = {measure.LOW: "low", measure.HIGH: "high"}
HIGH_PARTS = {
    measure.FIGURE_2: "Figure 2's\ndescent",
    measure.RATE_11: "claimed",
    measure.NOISE: "noise",
    measure.TRIVIAL: "answer 0",
}


def caption_figure_2(tables: Tables) -> str:
    """What Figure 2, re-run from both starts, shows."""
    starts, zero = tables["starts"], select(tables["figure-2"], setting=Setting.PRINTED, method=ZERO)
    slopes = start_slopes(starts).set_index("start")["exponent"]
    goes = {start: f"goes like $N^{{{slopes[start]:.2f}}}$" if start in slopes else "is shown" for start in STARTS}
    last = select(starts, method=NOISYHEAD, N=starts["N"].max())
    ends = last.groupby("start")["excess_risk"].agg(["min", "max"])
    over, times_zero = ends["max"] / ends["min"], ends["min"] / zero.loc[zero["N"].idxmax(), "excess_risk"]
    word = compared(over["random"], over["zero"], ("less than", "as much as", "more than"))
    return (
        f"**From the random start behind the published numbers the budget matters {word} from $\\Gamma^0 = 0$.** "
        "Figure 2 of the paper, re-run: excess risk over $\\Gamma^*$, simulated (points, with bars of two standard "
        "errors, mostly hidden) and in closed form while $\\Pi_R$ is idle (lines). Left: from the random start the "
        f"risk at the largest $\\varepsilon$ {goes['random']}, and at the largest $N$ the budget changes it by a "
        f"factor of {compact(over['random'])}; circles are the authors' numbers. Right: from $\\Gamma^0 = 0$ it "
        f"{goes['zero']}, and the budget changes it by a factor of {compact(over['zero'])}. At the largest $N$ and "
        f"$\\varepsilon$ the risk is {compact(times_zero['random'])} (left) and {compact(times_zero['zero'])} times "
        "(right) that of always predicting 0."
    )


def draw_powers(powers: pd.DataFrame) -> Plate:
    """Left: the noise part of both regimes with the rates claimed. Right: the parts of the risk in high dimension."""
    with figures.panels(2, figsize=(9.2, 4.2)) as (figure, (left, right)):
        for (regime, name), look in zip(REGIMES.items(), figures.looks(REGIMES).values()):
            noise, claim = (_part(powers, regime, quantity) for quantity in (measure.BARE, measure.RATE_11))
            label = f"{name}: {_power_of(noise)}"
            left.plot(noise["N"], noise["value"] / noise["value"].iloc[0], label=label, markevery=2, **look)
            label = f"{name},\nclaimed: {_power_of(claim)}"
            rate = claim["value"] / claim["value"].iloc[0]
            left.plot(claim["N"], rate, "--", color=look["color"], lw=1, label=label)
        for (quantity, label), look in zip(HIGH_PARTS.items(), figures.looks(HIGH_PARTS).values()):
            rows = _part(powers, measure.HIGH, quantity)
            right.plot(rows["N"], rows["value"], label=label, markevery=2, **look)
        figures.log_axes(left, "$N$", "noise part, relative to the first $N$")
        figures.log_axes(right, "$N$", "excess risk")
        left.set_title("low and high dimension, logarithms out")
        right.set_title("high dimension, $D = L = \\sqrt{N}$")
    last = select(powers, N=powers["N"].max()).set_index(["regime", "quantity"])
    low, high = (last["exponent"][regime, measure.BARE] for regime in REGIMES)
    claimed = [last["exponent"][regime, measure.RATE_11] for regime in REGIMES]
    word = compared(high, low, ("faster than", "as fast as", "more slowly than"))
    said = compared(claimed[1], claimed[0], ("faster", "as fast", "more slowly"))
    noise, trivial = (last.loc[(measure.HIGH, q)] for q in (measure.NOISE, measure.TRIVIAL))
    return Plate(
        figure,
        f"**In high dimension the noise part falls {word} in low dimension; Theorem 1.1 has it fall {said}.** Closed "
        "forms for the algorithm of Theorem 4.1. Left, with logarithms divided out: in high dimension the noise part "
        f"goes like $N^{{{high:.2f}}}$, and in low dimension like $N^{{{low:.2f}}}$, where Theorem 1.1 has "
        f"$N^{{{claimed[1]:.2f}}}$ and $N^{{{claimed[0]:.2f}}}$ (dashed). Right: in high dimension the excess risk of "
        f"always predicting 0, which is all there is to gain, goes like $N^{{{trivial['exponent']:.2f}}}$. At the "
        f"largest $N$ the noise with its logarithms is {times(noise['value'] / trivial['value'])} as large.",
    )


def _part(powers: pd.DataFrame, regime: str, quantity: str) -> pd.DataFrame:
    return select(powers, regime=regime, quantity=quantity).sort_values("N")


def _power_of(rows: pd.DataFrame) -> str:
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
    largest = judge.largest_ratios(sides)["left"].max()
    return Plate(
        figure,
        f"**With $\\lambda$ in the update descent {met} the bound (4.4); with $\\lambda/2$ it {other} it.** Excess "
        r"risk without noise against $r$, from $\|\Gamma^0\| = R$ at $\lambda = N/D$ and the largest of the sizes, in "
        r"closed form (lines) and simulated (points, bars of two standard errors), beside (4.4) at "
        rf"$\varepsilon = \infty$ with constant one. With $\lambda$ the update ends at "
        rf"{compact(printed['excess_risk'])}, with $\lambda/2$ at {compact(halved['excess_risk'])}. Over all "
        f"simulated runs the left side is at most {compact(largest)} times (4.4).",
    )


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) predicted at the largest N and ε, in parts per million."""
    rows = table[(table["N"] == table["N"].max()) & (table["method"] != ZERO)]
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == table["epsilon"].max())]
    rows = rows[(rows["method"] != RIDGE) | (rows["setting"] == Setting.PRINTED)]
    names = {NOISYHEAD: "NoisyHead", DESCENT: "gradient descent", RIDGE: "reference Γ*"}
    shown = pd.DataFrame(
        {
            "setting": rows["setting"].where(rows["method"] != RIDGE, "any"),
            "head": rows["method"].map(names),
            "predicted, parts per million": (1e6 * (1 - rows["test_error"] / rows["response_variance"])).map(plain),
            "standard error": (1e6 * rows["standard_error"] / rows["response_variance"]).map(plain),
        }
    )
    best = 1e6 * (1 - (rows["best_linear_head"] / rows["response_variance"]).iloc[0])
    shown.loc[-1] = ["any", "best linear head", plain(best), plain(0.0)]
    return shown.set_index(["setting", "head"])


def show_narrow(narrow: pd.DataFrame) -> pd.DataFrame:
    """What no step removes by N and part, in units of (4.4)."""
    names = {"minimiser": "ridge(2λ), over (4.4)", "projection": "bias of Π_G, over (4.4)"}
    seen = narrow["floor"] > 2 * narrow["standard_error"]
    ratio = (narrow["floor"] / narrow["bound_44"]).map(plain).where(seen, "not seen")
    size = 10.0 ** np.log10(narrow["N"]).round()
    shown = pd.DataFrame({"N": size, "part": narrow["part"].map(names), "ratio": ratio})
    wide = shown.pivot(index="N", columns="part", values="ratio").fillna("not simulated")
    return wide.rename(index=plain).rename_axis(columns=None)


def show_lemmas(lemmas: pd.DataFrame) -> pd.DataFrame:
    """The constant that each lemma needs by size."""
    return lemmas.pivot_table(index=["N", "L", "D"], columns="lemma", values="constant", sort=False).round(2)


def show_regimes(regimes: pd.DataFrame) -> pd.DataFrame:
    """The power of each axis' size by which the cost outgrows Theorem 1.1's rate and (4.4), the larger of both ε."""
    rows = {}
    for axis, own in regimes.groupby("axis", sort=False):
        of = [select(own, budget=name) for name in (measure.FIXED, measure.LARGEST)]
        sides = {"Theorem 1.1": ("error_gap", "rate_11")} if axis in measure.PATHS else {}
        sides |= {"(4.4)": ("risk_printed", "bound_44"), "(4.4), λ/2 in the update": ("risk_halved", "bound_44")}
        powers = {name: max(growth.power(o, "size", *pair) for o in of) for name, pair in sides.items()}
        rows[axis] = powers | {"λ ≳ G²": "yes" if judge.comparable(own).iloc[-1] else "no"}
    names = ["Theorem 1.1", "(4.4)", "(4.4), λ/2 in the update", "λ ≳ G²"]
    return pd.DataFrame(rows).T[names].map(_power).rename_axis("what grows")


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """The power of each size that is left in the ratio of left to right of (A.18) and (A.19)."""
    mended = steps.assign(right=steps["right"] * steps["response_variance"] ** 2, step="(A.19), ν⁵")
    every = pd.concat([steps, mended[steps["step"] == measure.NOISE_STEP]])
    powers = {(step, axis): growth.power(own, "size") for (step, axis), own in every.groupby(["step", "axis"])}
    return pd.Series(powers).unstack(level=0).map(_power).rename_axis("what grows")


def _power(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if pd.isna(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def show_radii(starts: pd.DataFrame) -> pd.DataFrame:
    """‖Γ⁰‖ against R, and NoisyHead over plain descent at the largest ε, by N."""
    rows = select(starts, start="random")
    private = select(rows, epsilon=rows["epsilon"].max()).set_index("N")
    descent = select(rows, method="gradient-descent").set_index("N")
    ratio = private["excess_risk"] / descent["excess_risk"]
    shortened = np.minimum(1, (private["radius"] / private["start_norm"]) ** 2)
    names = {"start_norm": "‖Γ⁰‖ (root mean square)", "radius": "R"}
    shown = private[list(names)].rename(columns=names)
    return shown.assign(**{"min(1, R²/‖Γ⁰‖²)": shortened, "NoisyHead / no noise": ratio}).map(plain)


def answer(tables: Tables) -> list[str]:
    """What falls in the figure, what that says of the cost of privacy, and what is derived."""
    slopes = start_slopes(tables["starts"]).set_index("start")["exponent"]
    names = {"random": "from the random start", "zero": "from zero"}
    powers = [f"{name} like $N^{{{slopes[start]:.2f}}}$" for start, name in names.items() if start in slopes]
    trained = select(tables["test-error"], method="noisyhead")
    predicted = (1 - trained["test_error"] / trained["response_variance"]).max()
    figure_2, theorem_11 = (judges_of(__package__)[f"noisyhead/{claim}"] for claim in ("figure-2", "theorem-1.1-high"))
    return [
        " ".join([words.headline(figure_2, tables), *([f"The risk falls {listed(powers)}."] if powers else [])]),
        f"{words.headline(theorem_11, tables)} Heads explain {percent(predicted)} of Var(y).",
        "We derive three parts of the risk (of the start, the noise and the descent), and run both starts by hand.",
    ]
