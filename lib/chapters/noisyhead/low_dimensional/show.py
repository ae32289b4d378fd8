"""Can Figure 1 be reproduced, and how fast does the cost of privacy fall in low dimension?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.noisyhead import agreement
from chapters.noisyhead.low_dimensional import measure
from chapters.noisyhead.low_dimensional.judge import slopes
from companion.judging import growth, words
from companion.judging.judges import judges_of
from companion.judging.prose import along, compact, compared, span
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

SQUARE = r"$N$, with $L = \lfloor\sqrt{N}\rfloor$"
PROMPTS = "$N$ (training prompts)"
BARS = "Bars: two standard errors over the trials."
PRIVATE = {setting: ("noisyhead", setting) for setting in Setting}
ZERO, DESCENT, RIDGE = ((method, Setting.PUBLISHED) for method in ("zero", "gradient-descent", "ridge"))
CURVES = {  # by method and setting
    PRIVATE[Setting.PRINTED]: "printed",
    PRIVATE[Setting.PUBLISHED]: "published",
    PRIVATE[Setting.CORRECTED]: "corrected",
    ZERO: "answering 0",
    DESCENT: "no noise",
    RIDGE: r"reference $\Gamma^*$",
}


def at_budget(table: pd.DataFrame, method: str, setting: Setting, epsilon: float) -> pd.DataFrame:
    """The rows of a method in a setting, at one ε where it has one, in order of N."""
    rows = select(table, method=method, setting=setting)
    return rows[(rows["epsilon"] == epsilon) | rows["epsilon"].isna()].sort_values("N")


def caption_figure_1(tables: Tables) -> str:
    """What Figure 1, re-run, shows."""
    table, comparison = tables["figure-1"], tables["comparison"]
    mine, theirs = (select(rows, method="noisyhead", setting=Setting.PUBLISHED) for rows in (table, comparison))
    low, high = mine["epsilon"].min(), mine["epsilon"].max()
    ends = [at_budget(table, *PRIVATE[Setting.PUBLISHED], epsilon) for epsilon in (low, high)]
    zero, worst = at_budget(table, *ZERO, high)["excess_risk"].iloc[-1], theirs["deviation"].abs().max()
    near = (
        ""
        if np.isnan(worst)
        else f" The authors' numbers (circles) lie within {compact(worst)} standard errors of ours."
    )
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


def _draw_curves(axes: Axes, table: pd.DataFrame, column: str, keys: list[tuple[str, Setting]]) -> None:
    """Methods and settings against N, at the largest ε where they have one."""
    epsilon, looks = table["epsilon"].max(), figures.looks(CURVES)
    for key in keys:
        figures.points(axes, at_budget(table, *key, epsilon), "N", column, label=CURVES[key], **looks[key])


def draw_test_error(table: pd.DataFrame) -> Plate:
    """Left: test error at the largest ε beside Γ = 0 and the best linear head. Right: share of Var(y) predicted."""
    sizes, epsilon = table.drop_duplicates("N").sort_values("N"), table["epsilon"].max()
    variance = table["response_variance"]
    share, error = 100 * (1 - table["test_error"] / variance), 100 * table["standard_error"] / variance
    shares = table.assign(share=share, standard_error=error)
    with figures.panels(2, figsize=(9.2, 4.0)) as (figure, (left, right)):
        _draw_curves(left, table, "test_error", list(CURVES)[:3])
        left.plot(sizes["N"], sizes["response_variance"], "k--", lw=1, label="answering 0")
        left.plot(sizes["N"], sizes["best_linear_head"], "k:", lw=1.5, label="best linear\nhead")
        _draw_curves(right, shares, "share", [PRIVATE[Setting.CORRECTED], RIDGE])
        right.axhline(0, color="k", ls="--", lw=1, label="answering 0")
        figures.log_axes(left, PROMPTS, "test error")
        figures.few_decades(left)
        right.set(xscale="log", xlabel=PROMPTS, ylabel="share of Var(y) predicted, %")
        for axes in (left, right):
            figures.plain_ticks(axes, table["N"].unique())
        left.set_title(rf"$\varepsilon = {epsilon:g}$")
        right.set_title("enlarged: corrected, and the reference")
    published, printed = (at_budget(table, *PRIVATE[s], epsilon) for s in (Setting.PUBLISHED, Setting.PRINTED))
    predicted = [at_budget(shares, *key, epsilon)["share"].iloc[-1] for key in (PRIVATE[Setting.CORRECTED], RIDGE)]
    last = published.iloc[-1]
    return Plate(
        figure,
        f"**Test error** at $\\varepsilon = {epsilon:g}$, in closed form over a fresh prompt. Left: as published it "
        f"{along(published, 'test_error')}, as printed it {along(printed, 'test_error')}. "
        f"Always predicting 0 has test error {compact(last['response_variance'])}, the best linear head "
        f"{compact(last['best_linear_head'])} at the largest $N$. Right: the corrected algorithm comes to predict "
        f"{compact(predicted[0])} % of the response's variance, its reference $\\Gamma^*$ {compact(predicted[1])} %. "
        f"{BARS}",
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
    last = select(exponents, N=exponents["N"].max()).set_index("algorithm")["exponent"]
    ends = ", ".join(f"{compact(last[name])} ({name.replace('Π_G', 'projection')})" for name in names)
    fitted = " and ".join(
        f"{compact(fit['exponent'])} ± {compact(fit['standard_error'])} "
        f"({fit['setting']}, $\\varepsilon = {fit['epsilon']:g}$)"
        for _, fit in fits.iterrows()
    )
    simulated = f" Fitted to the simulation (crosses, bars of two standard errors) it is {fitted}." if fitted else ""
    return Plate(
        figure,
        "**The local exponent of the noise part in $N$**, in closed form. At the largest $N$ Theorem 1.1 states "
        f"{compact(last[measure.CLAIMED])} (dashed), and it is {ends}.{simulated}",
    )


def draw_floors(floors: pd.DataFrame) -> Plate:
    """What is left without any noise, against the bound (4.3) at ε = ∞."""
    labels = {"minimiser": "descent rests\nat $\\Gamma_{2\\lambda}$", "projection": "$\\Pi_G$\nshortens $Z$"}
    seen = floors[floors["floor"] > 2 * floors["standard_error"]].sort_values("N")
    rest, bias = select(floors, part="minimiser").sort_values("N"), select(seen, part="projection")
    with figures.panels() as (figure, (axes,)):
        figures.curves(axes, seen, "N", "floor", "part", labels)
        axes.plot(rest["N"], rest["bound"], "k--", lw=1, label="(4.3),\n$\\varepsilon = \\infty$")
        figures.log_axes(axes, SQUARE, "excess risk without noise")
        axes.set_ylim(bottom=1e-20)
    crossed = rest.loc[rest["bound"] < rest["floor"], "N"].min()
    below = "" if np.isnan(crossed) else f" From $N$ = {compact(crossed)} on the bound lies below what descent leaves."
    biased = along(bias, "floor") if len(bias) else "is not seen"
    return Plate(
        figure,
        "**Excess risk without any noise**, in the population, and the right side of (4.3) at "
        r"$\varepsilon = \infty$ with constant one: another constant shifts the dashed line. What descent leaves at "
        f"$\\Gamma_{{2\\lambda}}$ {along(rest, 'floor')}. The bias of $\\Pi_G$ {biased}, where always predicting 0 has "
        f"{compact(rest['zero_risk'].iloc[-1])}.{below} The bias is simulated (bars: two standard errors; points not "
        "distinguishable from 0 are left out).",
    )


# ---- Short tables ----


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers, in combined standard errors, by setting and method."""
    return agreement.deviations(comparison).rename(index={"noisyhead": "NoisyHead", "gradient-descent": "no noise"})


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


def show_slopes(noise: pd.DataFrame) -> pd.DataFrame:
    """Fitted power of N in the noise part by setting and ε, at the ε with the most sizes first."""
    shown = slopes(noise).sort_values(["setting", "epsilon"])
    names = {
        "exponent": "power of $N$",
        "standard_error": "standard error",
        "without_logs": r"power without $\log^{10}(NL)$",
        "sizes": "sizes",
    }
    rows = shown.set_index(["setting", "epsilon"]).rename_axis(index=["setting", r"$\varepsilon$"])
    return rows[list(names)].rename(columns=names).map(compact)


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """The power of each size in left over right of the proof's steps."""
    names = {"N": "along $N$", "L": "along $L$", "D": r"along $N$, $D^2 = \log NL$"}
    rows = {step: growth.powers(g, {"N": "N", "L": "L", "D": "N"}) for step, g in steps.groupby("step", sort=False)}
    shown = pd.DataFrame(rows).T.rename(columns=names, index={"CG + RG²": r"$\mathcal{C}G + RG^2$"})
    return shown.map("{:.2f}".format).rename_axis(columns="power of left over right")


def show_floor_axes(axes: pd.DataFrame) -> pd.DataFrame:
    """The first and the last size of each axis of the floors."""
    ends = axes.groupby("axis", sort=False).nth([0, -1])
    names = {
        "feature_bound": "$G$",
        "floor": "left by the projection",
        "minimiser": "left by the resting point",
        "bound": r"(4.3) at $\varepsilon = \infty$",
        "zero_risk": "answering 0",
    }
    shown = ends[list(names)].rename(columns=names).map(compact)
    shown.index = pd.Index([f"$N$ = {compact(row['N'])}, $L$ = {compact(row['L'])}" for _, row in ends.iterrows()])
    return shown


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
    """What becomes of the rate, how good the heads are, and what the reader will see."""
    table = tables["test-error"]
    rows = select(table, N=table["N"].max(), epsilon=table["epsilon"].max(), method="noisyhead")
    head, fixed = pick(rows, setting=Setting.PUBLISHED), rows["response_variance"].iloc[0]
    word = compared(head["test_error"], fixed, ("better than", "no better than", "worse than"), head["standard_error"])
    return [
        words.headline(judges_of(__package__)["noisyhead/theorem-1.1-low"], tables),
        f"In the settings behind Figure 1, at $N = {head['N']:.0f}$ and $\\varepsilon = {head['epsilon']:g}$, the "
        f"private head has test error {compact(head['test_error'])}, which is {word} always predicting 0 "
        f"({compact(fixed)}).",
        f"The best linear head has {compact(head['best_linear_head'])}.",
        "We derive the noise part of the risk as a geometric sum, which falls like $N^{-5/2}$ up to logarithms.",
        "We run Algorithm 1 by hand, and judge Figure 1, both theorems and three steps of their proof.",
    ]
