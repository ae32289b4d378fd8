"""Can Figure 1 be reproduced, and how fast does the cost of privacy fall in low dimension?"""

import numpy as np
import pandas as pd

from chapters.noisyhead.low_dimensional import measure
from chapters.noisyhead.low_dimensional.judge import first_beyond, slopes
from companion.judging import growth, words
from companion.judging.judges import judges_of
from companion.judging.prose import along, compact, compared, span
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

SQUARE = r"$N$, with $L = \lfloor\sqrt{N}\rfloor$"
BARS = "Bars: two standard errors over the trials."


def caption_figure_1(tables: Tables) -> str:
    """What Figure 1, re-run, shows."""
    table, comparison = tables["figure-1"], tables["comparison"]
    mine, theirs = (select(rows, method="noisyhead", setting=Setting.PUBLISHED) for rows in (table, comparison))
    low, high = mine["epsilon"].min(), mine["epsilon"].max()
    ends = [select(mine, epsilon=epsilon).sort_values("N") for epsilon in (low, high)]
    zero = select(table, method="zero", N=table["N"].max())["excess_risk"].iloc[0]
    worst = theirs["deviation"].abs().max()
    near = f" The authors' numbers (circles) lie within {compact(worst)} standard errors of ours." if worst >= 0 else ""
    others = select(table[table["epsilon"] == high], method="noisyhead")["excess_risk"]
    head = "The risk falls as $N$ grows" + (
        ", but always predicting 0 is better still" if (others > zero).all() else ""
    )
    return (
        f"**{head}.** Left: Figure 1 of the paper, re-run in the settings behind the published numbers, for $N$ of "
        f"{span(table['N'])}. The excess risk over $\\Gamma^*$ {along(ends[0], 'excess_risk')} at "
        f"$\\varepsilon = {low:g}$ and {along(ends[1], 'excess_risk')} at $\\varepsilon = {high:g}$.{near} Right: at "
        f"the largest $N$ that is {compact(ends[1]['excess_risk'].iloc[-1] / zero)} times the excess risk of always "
        f"predicting 0. {BARS}"
    )


def draw_exponents(exponents: pd.DataFrame, noise: pd.DataFrame) -> Plate:
    """Local exponent of the noise part in N, with the slopes fitted to the simulation."""
    claimed, fits = select(exponents, algorithm=measure.CLAIMED).sort_values("N"), slopes(noise)
    fits = fits[fits["setting"] != Setting.PRINTED]
    fits = fits.loc[fits.groupby("setting", sort=False)["sizes"].idxmax()]
    names = [name for name in exponents["algorithm"].unique() if name != measure.CLAIMED]
    labels = {name: name.replace(", ", ",\n").replace("Π_G", r"$\Pi_G$") for name in names}
    with figures.panels() as (figure, (axes,)):
        for name, look in figures.looks(names).items():
            rows = select(exponents, algorithm=name).sort_values("N")
            axes.plot(rows["N"], rows["exponent"], label=labels[name], markevery=4, **look)
        for _, best in fits.iterrows():
            middle = np.sqrt(float(noise["N"].min()) * float(noise["N"].max()))
            axes.errorbar(middle, best["exponent"], 2 * best["standard_error"], fmt="k+", ms=12, capsize=3)
        axes.plot(claimed["N"], claimed["exponent"], "--", color="0.35", lw=1, label="claimed")
        axes.set(xscale="log", xlabel=SQUARE, ylabel="local exponent of the noise part")
    at = {N: select(exponents, N=N).set_index("algorithm")["exponent"] for N in exponents["N"].agg(["min", "max"])}
    first, last = at.values()
    word = compared(first["published"], first[measure.CLAIMED], ("faster than", "just as", "more slowly than"))
    ends = ", ".join(f"{compact(last[name])} ({name.replace('Π_G', 'projection')})" for name in names)
    fitted = " and ".join(
        f"{compact(fit['exponent'])} ± {compact(fit['standard_error'])} "
        f"({fit['setting']}, $\\varepsilon = {fit['epsilon']:g}$)"
        for _, fit in fits.iterrows()
    )
    simulated = f" Fitted to the simulation (crosses, bars of two standard errors) it is {fitted}." if fitted else ""
    return Plate(
        figure,
        f"**At $N$ = {compact(min(at))} the noise part falls {word} Theorem 1.1 states.** Local exponent of the noise "
        f"part in $N$, in closed form. At the largest $N$ the theorem has {compact(last[measure.CLAIMED])} (dashed), "
        f"and the exponent is {ends}.{simulated}",
    )


def draw_floors(floors: pd.DataFrame) -> Plate:
    """What is left without any noise, against the bound (4.3) at ε = ∞."""
    labels = {"minimiser": "descent rests\nat $\\Gamma_{2\\lambda}$", "projection": "$\\Pi_G$\nshortens $Z$"}
    seen = floors[floors["floor"] > 2 * floors["standard_error"]].sort_values("N")
    rest, bias = select(floors, part="minimiser").sort_values("N"), select(seen, part="projection")
    gap = select(floors[floors["test_error_gap"] > 2 * floors["gap_error"]], part="projection").sort_values("N")
    with figures.panels() as (figure, (axes,)):
        figures.curves(axes, seen, "N", "floor", "part", labels)
        axes.plot(gap["N"], gap["test_error_gap"], "k:", label="test-error gap\nof $\\Pi_G$")
        axes.plot(rest["N"], rest["bound"], "k--", lw=1, label="(4.3),\n$\\varepsilon = \\infty$")
        figures.log_axes(axes, SQUARE, "what remains without noise")
        axes.set_ylim(bottom=1e-20)
    crossed = rest.loc[rest["bound"] < rest["floor"], "N"].min()
    biased = along(bias, "floor") if len(bias) else "is not seen"
    title = "Without any noise an excess risk remains" + ("" if np.isnan(crossed) else ", and the bound falls below it")
    return Plate(
        figure,
        f"**{title}.** Excess risk in the population, and the right side of (4.3) at $\\varepsilon = \\infty$ with "
        f"constant one: another constant shifts the dashed line. What descent leaves at "
        f"$\\Gamma_{{2\\lambda}}$ {along(rest, 'floor')}. The bias of $\\Pi_G$ {biased}, where always predicting 0 has "
        f"{compact(rest['zero_risk'].iloc[-1])}; its gap in test error exceeds the bound from $N$ = "
        f"{compact(first_beyond(floors, 'test_error_gap'))} on. Both are simulated (points at 0 are left out).",
    )


def show_conditions(conditions: pd.DataFrame) -> pd.DataFrame:
    """The conditions of the theorems at the first and the last N."""
    ends = conditions[conditions["N"].isin([conditions["N"].min(), conditions["N"].max()])]
    names = {
        "probability": r"$1 - 4\kappa$",
        "eta0_over_limit": r"$\eta_0$ over its limit",
        "D_squared": "$D^2$",
        "log_N": r"$\log N$",
        "log_NL": r"$\log NL$",
    }
    shown = ends.set_index(["N", "setting"]).rename_axis(index=["$N$", "setting"])
    return shown[list(names)].rename(columns=names).map(compact)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test error at the largest N and ε: NoisyHead by setting, its reference, answering 0, the best linear head."""
    rows = table[table["N"] == table["N"].max()]
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == rows["epsilon"].max())]
    private = rows[rows["method"] == "noisyhead"]
    shown = dict(zip("NoisyHead, " + private["setting"], private["test_error"], strict=True))
    others = {"gradient-descent": "descent without noise", "ridge": r"reference $\Gamma^*$", "zero": "answering 0"}
    for method, name in others.items():
        shown[name] = select(rows, method=method, setting=Setting.PUBLISHED)["test_error"].iloc[0]
    shown["best linear head"] = rows["best_linear_head"].iloc[0]
    errors = pd.Series(shown)
    predicted = 100 * (1 - errors / rows["response_variance"].iloc[0])
    told = {"test error": errors.map("{:.4f}".format), "share of the variance predicted, %": predicted.map(compact)}
    return pd.DataFrame(told)


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """The power of each size in left over right of the proof's steps."""
    names = {"N": "along $N$", "L": "along $L$", "D": r"along $N$, $D^2 = \log NL$"}
    rows = {step: growth.powers(g, {"N": "N", "L": "L", "D": "N"}) for step, g in steps.groupby("step", sort=False)}
    shown = pd.DataFrame(rows).T.rename(columns=names, index={"CG + RG²": r"$\mathcal{C}G + RG^2$"})
    return shown.map("{:.2f}".format).rename_axis(columns="power of left over right")


def show_common_weight(table: pd.DataFrame) -> pd.DataFrame:
    """What privacy of a prompt costs where all prompts share w, beside both rates of Section 1.1."""
    names = {
        "label_noise": r"label noise $\tau$",
        "cost": "cost, measured",
        "standard_error": "standard error",
        "upper": "closed form",
        "lower": "no private release below",
        "claimed": "rate of Theorem 1.1",
        "expected": "rate that is expected",
    }
    sizes, noise = table["N"].map(compact), table["label_noise"].replace(measure.SMALL, "$L^{-1/2}$")
    rows = table.assign(N=sizes).set_index("N").rename_axis("$N$")
    shown = rows[list(names)[1:]].map(lambda value: "" if pd.isna(value) else compact(value))
    return shown.assign(label_noise=noise.to_numpy())[list(names)].rename(columns=names)


def answer(tables: Tables) -> list[str]:
    """What becomes of the rate, how good the heads are, and what is derived."""
    table = tables["test-error"]
    rows = select(table, N=table["N"].max(), epsilon=table["epsilon"].max(), method="noisyhead")
    head, fixed = pick(rows, setting=Setting.PUBLISHED), rows["response_variance"].iloc[0]
    word = compared(head["test_error"], fixed, ("better than", "no better than", "worse than"), head["standard_error"])
    return [
        f"In the settings behind Figure 1 (features are unit vectors), at $N = {head['N']:.0f}$ and $\\varepsilon = "
        f"{head['epsilon']:g}$, the private head has test error {compact(head['test_error'])}, which is {word} always "
        f"predicting 0 ({compact(fixed)}). The best linear head has {compact(head['best_linear_head'])}. At the "
        "$\\kappa = 1$ of these settings [the theorems promise nothing](#step-noisyhead-section-6-1-hyperparameters).",
        words.headline(judges_of(__package__)["noisyhead/theorem-1.1-low"], tables) + " [Why](#floor-without-noise)",
        "We derive the noise part of the risk, which falls like $N^{-5/2}$ up to logarithms, and run it by hand.",
    ]
