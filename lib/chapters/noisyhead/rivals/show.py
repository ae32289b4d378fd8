"""What else does the same budget buy? Is private ridge regression private, and can Table 1 be reproduced?"""

import math

import numpy as np
import pandas as pd

from chapters.noisyhead.authors import TRIALS
from chapters.noisyhead.rivals.judge import asymptotic_exponents
from chapters.noisyhead.rivals.measure import (
    DESCENT,
    DP_RIDGE,
    EXPERIMENT_LAST,
    NOISYHEAD,
    OPTIONS,
    PAPERS,
    PATHS,
    PRINTED,
    RIGHT,
    SOLUTION,
    ZERO,
)
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, compared, listed, percent, plain, times
from companion.judging.tables import Tables, pick, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described
from costofprivacy.privacy import GaussianDP
from costofprivacy.settings import Setting

COLOURS = {RIGHT: figures.COLOURS[0], PRINTED: figures.COLOURS[1]}
NO_PRIVACY = "ridge, no privacy"


def caption_table_1(tables: Tables) -> str:
    """What Table 1, re-run, shows."""
    table, comparison = tables["table-1"], tables["comparison"]
    epsilon, N = table["epsilon"].min(), table["N"].max()
    theirs = select(comparison, epsilon=epsilon, setting=Setting.PUBLISHED)
    rows = select(table, epsilon=epsilon, N=N)
    risk = select(rows, setting=Setting.CORRECTED).set_index("method")["excess_risk"]
    every, last = (risk[method] / risk[DP_RIDGE] for method in (NOISYHEAD, EXPERIMENT_LAST))
    head = "Private ridge regression has less excess risk than NoisyHead, rightly calibrated or not"
    if not min(every, last) > 1:
        head = "With the right noise, private ridge regression does not have less excess risk than NoisyHead"
    return (
        rf"**{head}.** Table 1 at $\varepsilon = {epsilon:g}$, re-run.{_agreement(theirs)} Right: at the same budget, "
        f"rightly calibrated, NoisyHead has {times(every)} the risk of DP-ridge at $N = {N}$ if every iterate is "
        f"accounted for, {times(last)} if only the last one is. Bars, mostly hidden: two standard errors over "
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


def draw_privacy(privacy: pd.DataFrame, audit: pd.DataFrame) -> Plate:
    """δ(ε) of one release with the printed and with the right noise, the claims, and what the audits found."""
    rows = select(privacy, N=privacy["N"].min())
    budgets = sorted(rows["epsilon"].unique())[:2]
    with figures.panels(len(budgets), ends=False, figsize=(9.2, 3.8), sharey=True) as (figure, panels):
        for axes, epsilon in zip(panels, budgets):
            own, grid = select(rows, epsilon=epsilon), np.linspace(0, 3 * epsilon, 120)
            delta = own["delta"].iloc[0]
            for name, label, mark in ((PRINTED, "noise as printed", ">"), (RIGHT, "right noise", "<")):
                row, colour = pick(own, calibration=name), COLOURS[name]
                curve = GaussianDP(row["distance"] / row["noise_std"]).delta(grid)
                axes.plot(grid, curve, label=label, color=colour)
                found = select(audit, epsilon=epsilon, calibration=name)["epsilon_found"]
                axes.plot(found, [delta] * len(found), mark, color=colour, mfc="none", ms=9, label=f"audit, {label}")
            axes.plot(epsilon, delta, "k*", ms=12, label="the claim")
            axes.set(yscale="log", xlabel=r"$\varepsilon$", ylabel=r"$\delta$ spent", ylim=(delta / 1e3, 1))
            axes.set_title(rf"claimed $\varepsilon$ = {epsilon:g}, $\delta$ = {plain(delta)}")
        panels[0].legend(loc="upper right")
    spent = {e: pick(rows, epsilon=e, calibration=PRINTED)["epsilon_spent"] for e in budgets}
    told, heard = (listed([f"{tell(spent[e])} where {e:g} is claimed" for e in budgets]) for tell in (compact, plain))
    proofs = select(audit, calibration=PRINTED)
    word = "more than" if all(spent[e] > e for e in budgets) else "no more than"
    refuted = ((proofs["epsilon_found"] > proofs["epsilon"]) | (proofs["mu_found"] > proofs["mu"])).sum()
    proven = listed(map(plain, proofs["epsilon_found"]))
    return Plate(
        figure,
        rf"**The printed noise of DP-ridge spends {word} it claims.** $\delta$ against $\varepsilon$ of one release, "
        f"on the worst neighbours constructed here, $N = {rows['N'].iloc[0]}$; exact curves. A mechanism that keeps "
        rf"its claim has its curve on or below the star. The printed noise spends $\varepsilon$ = {told}. Triangles "
        rf"are lower bounds on $\varepsilon$ from releases alone, at confidence {audit['confidence'].min():g}: for "
        f"the printed noise they and the audits' bounds on $\\mu$ refute {refuted} of {len(proofs)} claims.",
        alt=f"{described(figure)} The printed noise spends an ε of {heard}; its audits prove {proven}.",
    )


def draw_steps(steps: pd.DataFrame, table: pd.DataFrame) -> Plate:
    """Excess risk against the share of T that is run, for three accountings; descent alone; DP-ridge."""
    N, epsilon = steps["N"].max(), steps["epsilon"].max()
    rows = steps[(steps["N"] == N) & (steps["epsilon"].isna() | (steps["epsilon"] == epsilon))]
    curves = {
        (NOISYHEAD, Setting.PUBLISHED): "NoisyHead,\nas published",
        (NOISYHEAD, Setting.CORRECTED): "NoisyHead,\nevery iterate",
        (EXPERIMENT_LAST, Setting.CORRECTED): "NoisyHead,\nlast iterate",
        (DESCENT, Setting.PUBLISHED): "no noise",
    }
    ridge = pick(table, N=N, epsilon=epsilon, method=DP_RIDGE, setting=Setting.CORRECTED)["excess_risk"]
    own = {way: select(rows, method=way[0], setting=way[1]).sort_values("share") for way in curves}
    with figures.panels(figsize=(6.6, 4.2)) as (figure, (axes,)):
        for (way, curve), look in zip(own.items(), figures.looks(own).values()):
            figures.points(axes, curve, "share", "excess_risk", label=curves[way], **look)
        axes.plot(rows["share"].agg(["min", "max"]), [ridge] * 2, "k--", lw=1.2, label="DP-ridge")
        figures.log_axes(axes, "steps, as a share of the paper's $T$", "excess risk")
        axes.set_title(rf"$N$ = {N}, $\varepsilon$ = {epsilon:g}")
        figures.plain_ticks(axes, rows["share"].unique(), most=6)
    first, end = own[NOISYHEAD, Setting.PUBLISHED]["excess_risk"].iloc[[0, -1]]
    last, bias = (
        own[way]["excess_risk"].iloc[-1] for way in ((EXPERIMENT_LAST, Setting.CORRECTED), (DESCENT, Setting.PUBLISHED))
    )
    word = compared(first, end, ("raise", "do not change", "lower"))
    return Plate(
        figure,
        f"**More steps {word} the risk of the published NoisyHead.** It goes from {compact(first)} to {compact(end)}, "
        f"at the same budget for every number of steps. Without noise {compact(bias)} remains, which is all that early "
        "stopping leaves. Accounted for its last iterate alone, NoisyHead "
        f"ends at {times(last / ridge)} the risk of DP-ridge. Bars of two standard errors, mostly hidden by the marks.",
    )


def draw_penalties(penalties: pd.DataFrame, paper: float) -> Plate:
    """Test error against λ, with the paper's λ and the trivial predictor."""
    names = list(penalties["method"].unique())
    variance, (N, epsilon) = penalties["response_variance"].iloc[0], penalties[["N", "epsilon"]].iloc[0]
    with figures.panels(ends=False, figsize=(6.8, 4.3)) as (figure, (axes,)):
        for name, look in figures.looks(names).items():
            rows = select(penalties, method=name)
            axes.plot(rows["penalty"], rows["test_error"], label=name, markevery=6, **look)
        axes.axhline(variance, color="k", ls="--", lw=1, label="answer 0")
        axes.axvline(paper, color="k", ls=":", lw=1.2, label=r"the paper's $\lambda$")
        axes.set(xscale="log", xlabel=r"$\lambda$", ylabel="test error", ylim=(0, 1.6 * variance))
        axes.set_title(rf"$N$ = {N:.0f}, $\varepsilon$ = {epsilon:g}")
        figure.legend(*axes.get_legend_handles_labels(), ncols=3, loc="outside lower center", frameon=False)
    least = [rows.loc[rows["test_error"].idxmin()] for _, rows in penalties.groupby("method", sort=False)]
    best = min((row for row in least if row["method"] != NO_PRIVACY), key=lambda row: row["test_error"])
    heard = [f"{row['method']} {plain(row['test_error'])} at λ = {plain(row['penalty'])}" for row in least]
    return Plate(
        figure,
        f"**The best that either private method reaches is a test error of {compact(best['test_error'])}, where "
        f"answering 0 has {compact(variance)}.** {best['method']} has it, at $\\lambda$ = {compact(best['penalty'])}. "
        r"Test errors are in closed form, both methods rightly calibrated. A small $\lambda$ costs noise of variance "
        r"$\lambda^{-2}$ or more; a large one shrinks the head itself to 0.",
        alt=f"{described(figure)} Least test errors: {listed(heard)}.",
    )


NEAREST = 6  # readings shown
WAYS = {NOISYHEAD: "NoisyHead", EXPERIMENT_LAST: "NoisyHead, last iterate", DP_RIDGE: "DP-ridge"}
ALONE = {SOLUTION: "ridge without noise", DESCENT: "descent without noise", ZERO: "answer 0", "ridge": "reference Γ*"}
MOVES = {
    "bound": "bound derived below",
    "coarse": "its simpler form",
    "constructed": "worst neighbours, constructed",
    "largest_found": "worst of a random search",
    "flipped": "one response flipped, other prompts 0",
    "typical": "one response flipped, drawn prompts",
    "drawn": "drawn prompts replaced by drawn ones",
    "removed": "one prompt left out",
    "unclipped": "one response flipped, without clipping",
}
IN_WORDS = {
    path: path.replace("N, with", "N grows,")
    .replace("D, with", "D grows,")
    .replace("N^(1/2)", "√N")
    .replace("N^(1/4)", "∜N")
    for path in PATHS
}


def show_table_1(comparison: pd.DataFrame) -> pd.DataFrame:
    """Table 1 as printed, the numbers behind Figure 1, ours, and the deviations from Table 1 in standard errors."""
    cell = comparison["N"].astype(str) + ", " + comparison["epsilon"].map("{:g}".format)
    rows = comparison.assign(method=comparison["method"].map(WAYS), **{"N, ε": cell}).set_index(["method", "N, ε"])
    published, printed = (select(rows, setting=setting) for setting in (Setting.PUBLISHED, Setting.PRINTED))
    numbers = {
        "Table 1": published["excess_risk_theirs"],
        "Figure 1": published["excess_risk_figure_1"],
        "ours, as published": published["excess_risk"],
        "Table 1 is off by (standard errors)": published["deviation"],
        "off by, ours as printed": printed["deviation"],
    }
    return pd.DataFrame(numbers).map(_number).sort_index()


def show_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """The text's own readings of Appendix B, then the nearest to Table 1's column of DP-ridge."""
    rows = pd.concat([select(readings, departures=0), readings.head(NEAREST)])

    def number(option: str) -> float | None:
        try:
            return float(option)
        except ValueError:
            return None

    def taken(symbol: str, saved: object) -> str:  # a table keeps an option's name, or the number that it stands for
        return next((o for o in OPTIONS[symbol] if o == str(saved) or number(o) == saved), str(saved))

    def in_words(reading: pd.Series) -> str:  # which G, and every choice that is not the text's
        chosen = {symbol: taken(symbol, reading[symbol]) for symbol in OPTIONS if symbol != "G"}
        others = [f"{symbol}: {option}" for symbol, option in chosen.items() if option not in PAPERS[symbol]]
        return ("" if others else "the text, ") + ", ".join([f"G: {reading['G']}", *others])

    shown = {
        "reading": [_typeset(in_words(reading)) for _, reading in rows.iterrows()],
        "power of N": rows["power"].map("{:.2f}".format).to_numpy(),
        "predicted over printed, least": rows["least"].map(plain).to_numpy(),
        "largest": rows["largest"].map(plain).to_numpy(),
        "off by, at most (standard errors)": rows["deviation"].map(plain).to_numpy(),
    }
    return pd.DataFrame(shown).set_index("reading")


def _typeset(text: str) -> str:
    return text.replace("1e-5", plain(1e-5)).replace("1e-2", plain(1e-2))


def show_sensitivity(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """CG/(λN), and all else as multiples of it, at the first and the last N."""
    ends = sensitivity[sensitivity["N"].isin([sensitivity["N"].min(), sensitivity["N"].max()])]
    ends = ends.set_index(["N", "setting"])
    multiples = ends[list(MOVES)].div(ends["printed"], axis=0).rename(columns=MOVES)
    shown = ends[["printed"]].rename(columns={"printed": "claimed, 𝒞G/(λN)"}).join(multiples)
    return shown.map(plain).T.rename_axis("largest move, as a multiple of the claimed")


def show_ladder(ladder: pd.DataFrame) -> pd.DataFrame:
    """From DP-ridge to NoisyHead, one change a row."""
    names = {
        "noise_std": "noise of an entry",
        "noise_risk": "excess risk",
        "factor": "times the row above",
        "limit_of_R": "most that the projection lets pass",
    }
    return ladder.set_index("stage")[list(names)].rename(columns=names).map(_number).rename_axis("what is run")


def show_exponents(powers: pd.DataFrame) -> pd.DataFrame:
    """The power of the growing size in NoisyHead's noise over DP-ridge's, by path and algorithm."""
    shown = asymptotic_exponents(powers).unstack("algorithm").rename(index=IN_WORDS)
    shown = shown.map(lambda power: f"{round(power, 2) + 0.0:.2f}".replace("-", "−"))
    return shown.rename_axis(index="path", columns=None)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test error at the largest N and ε, and the share of Var(y) that is predicted."""
    rows = select(table, N=table["N"].max())
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == rows["epsilon"].max())]
    private = rows["method"].map(WAYS) + ", " + rows["setting"].astype(str)
    label = private.where(rows["epsilon"].notna(), rows["method"].map(ALONE))
    shown = rows.assign(label=label).drop_duplicates("label", keep="last").set_index("label")
    variance, best = rows["response_variance"].iloc[0], rows["best_linear_head"].iloc[0]
    errors = shown["test_error"].map("{:.5f}".format) + " ± " + shown["standard_error"].map(plain)
    predicted = (1 - shown["test_error"] / variance).map(percent)
    told = pd.DataFrame({"test error": errors, "share of the variance predicted": predicted})
    told.loc["best linear head"] = [f"{best:.5f}", percent(1 - best / variance)]
    return told.rename_axis(f"N = {rows['N'].iloc[0]}, ε = {rows['epsilon'].max():g}")


def _number(value: float) -> str:
    return "" if pd.isna(value) or abs(value) == float("inf") else plain(value)


def answer(tables: Tables) -> list[str]:
    """What the printed noise spends, which method wins, and what the page derives, runs and judges."""
    table = tables["table-1"]
    cell = {"N": table["N"].max(), "epsilon": table["epsilon"].max(), "setting": Setting.CORRECTED}
    last, ridge = (pick(table, **cell, method=method)["excess_risk"] for method in (EXPERIMENT_LAST, DP_RIDGE))
    judges = judges_of(__package__)
    return [
        *(words.headline(judges[f"noisyhead/{claim}"], tables) for claim in ("appendix-b-privacy", "table-1-order")),
        "If only its last iterate is accounted for, NoisyHead has "
        f"{compact(last / ridge)} times the excess risk of private ridge regression.",
    ]
