"""What does one perturbed prompt do to NoisyHead and to ridge regression, and how much of it is rounding error?"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from chapters.noisyhead import agreement
from chapters.noisyhead.robustness import judge
from chapters.noisyhead.robustness.arithmetic import NORMAL_EQUATIONS, RANK_ONE
from chapters.noisyhead.robustness.measure import BOUNDED, LOWER, NOISYHEAD, RESPONSES, RIDGE, SMALL, SMALL_LOWER, UPPER
from companion.judging import cards, words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, compared, percent, plain, span, times
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described
from costofprivacy.settings import Setting

# ---- Figures ----

METHODS = {
    "noisyhead": "NoisyHead",
    "ridge": "ridge, by\nrank-one\nupdates",
    "ridge-normal-equations": "ridge, by\nnormal\nequations",
}
PARTS = {
    "all": "all together",
    "attack": "the attack alone",
    "initial weights": r"two $\Gamma^0$ alone",
    "noise": "two noises alone",
}
EVALUATIONS = {
    "outlier first": "outlier\nfirst",
    "one product, elimination": "one\nproduct",
    "outlier last": "outlier\nlast",
    RANK_ONE: "rank-one\nupdate",
}
HEADS = [
    ("noisyhead", "published", "NoisyHead,\npublished"),
    ("noisyhead", "corrected", "NoisyHead,\ncorrected"),
    ("ridge", "published", "ridge, query\nshifted too"),
    ("ridge", "printed", "ridge, query\nleft"),
]
ATTACKS = {
    UPPER: "upper end,\n$\\mu$ = 1",
    LOWER: "lower end,\n$\\mu$ = 1",
    SMALL: "upper end,\nsmall $\\mu$",
    SMALL_LOWER: "lower end,\nsmall $\\mu$",
}
TRAINED = {
    f"{RIDGE}, printed": "ridge",
    f"{BOUNDED}, printed": "ridge,\nclipped and\nprojected",
    f"{NOISYHEAD}, corrected": "NoisyHead,\ncorrected",
    f"{NOISYHEAD}, published": "NoisyHead,\npublished",
}
LEFT, SHIFTED = RESPONSES
RESPONSE_TITLES = {LEFT: "response of the query left, as in (5.1)", SHIFTED: "response of the query shifted too"}
GROWS = 1.01  # the factor from which on a displacement is said to grow
LENGTH = "$L$ (tokens in a prompt)"


def draw_figure_4(table: pd.DataFrame, comparison: pd.DataFrame) -> Plate:
    """One panel for each c: NoisyHead and ridge in both evaluations, published settings, the authors' numbers over."""
    table, comparison = (select(rows, setting=Setting.PUBLISHED) for rows in (table, comparison))
    values = table["c"].unique()
    with figures.panels(len(values), figsize=(4.6 * len(values), 3.7), sharey=True) as (figure, panels):
        for axes, c in zip(panels, values):
            figures.curves(axes, select(table, c=c), "p", "displacement", "method", METHODS)
            theirs = select(comparison, c=c)
            figures.circles(axes, theirs["p"], theirs["displacement_theirs"], "authors' numbers", (0, 0.95))
            axes.set(yscale="log", xlabel=rf"$p$ in $\alpha = {c:g}\,N^p$", ylabel="squared displacement")
    theirs = select(comparison, method="ridge-normal-equations")["displacement_theirs"]
    authors = f" The authors' ridge: {plain(theirs.iloc[0])} to {plain(theirs.iloc[-1])}." if len(theirs) else ""
    ends = table.sort_values("p").groupby(["method", "c"])["displacement"].agg(["first", "last"])
    noisy, exact, by = ((ends.loc[method, "last"] / ends.loc[method, "first"]).max() for method in METHODS)
    rounding = " What only the first show is rounding error." if by > GROWS >= exact else ""
    share = (ends.loc["noisyhead"] / ends.loc["ridge"]).to_numpy().max()
    caption = (
        "**Figure 4 of the paper, re-run** in the published settings (open circles: the authors' numbers). From the "
        f"least to the largest $p$ ridge's displacement is multiplied by up to {compact(by)} by the normal equations, "
        f"and by {compact(exact)} by rank-one updates.{rounding} NoisyHead's is multiplied by {compact(noisy)}, and is "
        f"at most {times(share)} ridge's by rank-one updates. Bars of two standard errors."
    )
    return Plate(figure, caption, described(figure) + authors)


def draw_parts(parts: pd.DataFrame, test_error: pd.DataFrame) -> Plate:
    """Left: NoisyHead's displacement and its parts by setting. Right: test errors beside answering 0."""
    settings = list(parts["setting"].unique())
    with figures.panels(2, ends=False, figsize=(9.2, 4.2)) as (figure, (left, right)):
        shifts = np.linspace(-0.24, 0.24, len(PARTS))
        for (part, label), look, shift in zip(PARTS.items(), figures.looks(PARTS).values(), shifts):
            rows = parts[(parts["part"] == part) & (parts["displacement"] > 0)]
            at = rows["setting"].map(settings.index) + shift
            _draw_marks(left, at, rows["displacement"], rows, label=label, **look)
        left.set(yscale="log", ylabel="squared displacement of NoisyHead")
        left.set_xticks(range(len(settings)), settings)
        left.legend(loc="upper right")
        _draw_test_errors(right, test_error)
    shares = select(parts, part="attack")["share"]
    errors = test_error.set_index(["setting", "method", "prompts"])["test_error"]
    before, after = (errors["corrected", "noisyhead", prompts] for prompts in ("clean", "attacked"))
    ridge = errors["published", "ridge", "attacked"]
    word = compared(ridge, before, ("lower than", "the same as", "higher than"))
    caption = (
        "**What moves NoisyHead, and how well it predicts.** Left: its displacement, and how much of it each single "
        f"difference between the two runs causes. The attack's share is at most {percent(shares.max())}; the rest is "
        "there without any attack. Right: test error on clean prompts. With enough steps to learn (*corrected*), "
        f"NoisyHead's is {compact(before)} before the attack and {compact(after)} after it. That of ridge regression "
        f"after the attack is {compact(ridge)}, {word} NoisyHead's without one. Bars of two standard errors."
    )
    return Plate(figure, caption)


def _draw_test_errors(axes: Axes, test_error: pd.DataFrame) -> None:
    chosen = [(method, setting) for method, setting, _ in HEADS]
    names = {"clean": "before", "attacked": "after the attack"}
    for (prompts, label), look, shift in zip(names.items(), figures.looks(names).values(), (-0.1, 0.1)):
        rows = select(test_error, prompts=prompts).set_index(["method", "setting"]).loc[chosen]
        _draw_marks(axes, np.arange(len(chosen)) + shift, rows["test_error"], rows, label=label, **look)
    axes.axhline(test_error["response_variance"].iloc[0], color="k", ls="--", lw=1, label="answering 0")
    axes.axhline(test_error["best_linear_head"].iloc[0], color="k", ls=":", lw=1.5, label="best linear head")
    axes.set(ylabel="test error", ylim=(-0.03, 1.55))
    axes.set_xticks(range(len(chosen)), [label for *_, label in HEADS])
    axes.legend(loc="upper right", ncols=2)


def _draw_marks(axes: Axes, at: ArrayLike, values: pd.Series, rows: pd.DataFrame, **look: Any) -> None:
    axes.errorbar(at, values, 2 * rows["standard_error"], ls="", capsize=2, **look)


def draw_growth(growth: pd.DataFrame, arithmetic: pd.DataFrame, table: pd.DataFrame) -> Plate:
    """Left: ridge's displacement against α with its limits. Right: what evaluations in double precision make of it."""
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (figure, (left, right)):
        names = {LEFT: "query left", SHIFTED: "query\nshifted"}
        for (response, name), look in zip(names.items(), figures.looks(names).values()):
            rows = select(growth, response=response)
            figures.points(left, rows, "alpha", "displacement", label=name, markevery=2, **look)
            left.axhline(rows["limit_closed_form"].iloc[0], color=look["color"], ls="--", lw=1)
        for (name, label), look in zip(EVALUATIONS.items(), figures.looks(EVALUATIONS).values()):
            rows = arithmetic[(arithmetic["evaluation"] == name) & (arithmetic["median"] > 0)].sort_values("alpha")
            right.plot(rows["alpha"], rows["median"], label=label, markevery=2, **look)
        for axes, title in ((left, "by rank-one updates"), (right, "by normal equations (medians)")):
            axes.axvspan(table["alpha"].min(), table["alpha"].max(), color="0.85", zorder=0)
            figures.log_axes(axes, r"$\alpha$ (grey: Figure 4)", "squared displacement of ridge")
            axes.set_title(title)
        right.set_ylim(1e-6, 1e2)
    last = select(growth, alpha=growth["alpha"].max())
    off = (last["displacement"] / last["limit"] - 1).abs().max()
    rows = arithmetic[arithmetic["evaluation"].isin(EVALUATIONS) & (arithmetic["median"] > 0)]
    medians = rows.groupby("alpha")["median"]
    apart = medians.max() / medians.min()
    agree = apart[apart < 1.01].index
    until = f"agree within 1 % up to $\\alpha$ = {compact(agree.max())}" if len(agree) else "never agree"
    caption = (
        r"**Ridge's displacement over many decades of $\alpha$.** Left, by rank-one updates, bars of two standard "
        f"errors: at the largest $\\alpha$ it is off its limit by {times(off)} that limit (dashed: the closed form for "
        "long prompts). Right: the same displacement by several evaluations in double precision. They "
        f"{until}, and differ by a factor {compact(apart.iloc[-1])} at the largest."
    )
    return Plate(figure, caption)


def draw_heads(heads: pd.DataFrame) -> Plate:
    """NoisyHead's displacement along L beside the bounds of (5.3), (A.20) and ours."""
    along = select(heads, axis="L").sort_values("L")
    steps = sorted(along["T"].unique())
    own = select(along, noise="independent", T=steps[-1])
    with figures.panels(2, figsize=(9.2, 4.0)) as (figure, (left, right)):
        for T, look in figures.looks(steps).items():
            two, same = (select(along, noise=noise, T=T) for noise in ("independent", "common"))
            figures.points(left, two, "L", "displacement", label=f"$T$ = {T}", **look)
            figures.points(right, same, "L", "displacement", label=f"$T$ = {T}", **look)
            right.plot(same["L"], same["bound_amended"], ls="--", color=look["color"], label=f"bound,\n$T$ = {T}")
        left.plot(own["L"], own["bound_theorem"], "k--", lw=1, label="(5.3)")
        left.plot(own["L"], own["bound_ball"], "k:", lw=1, label="(A.20)")
        left.plot(own["L"], own["bound_amended"], "k-", lw=1, label="the ball")
        for axes, title in ((left, "two runs, each with its own noise"), (right, "the attack alone: common noise")):
            figures.log_axes(axes, LENGTH, "squared displacement of NoisyHead")
            axes.set_title(title)
    last = along[along["L"] == along["L"].max()]
    ends = [pick(last, T=T, noise="independent") for T in (steps[0], steps[-1])]
    few, many = (times(row["displacement"] / row["bound_theorem"]) for row in ends)
    same = select(along, noise="common")
    attack = (same["displacement"] / same["bound_amended"]).max()
    caption = (
        "**NoisyHead's displacement along $L$**, bars of two standard errors. Left: two runs with noise of their own, "
        "beside the bounds of (5.3), of (A.20), and what the ball of radius $R$ gives. At the longest prompts the "
        f"displacement is {few} the bound of (5.3) after {steps[0]} steps and {many} after {steps[-1]}. Right: the "
        f"attack alone stays below {percent(attack)} of its bound (dashed), which knows neither $\\alpha$ nor $\\mu$."
    )
    return Plate(figure, caption)


def draw_ridge(perturbations: pd.DataFrame) -> Plate:
    """Ridge's displacement over its claimed lower bound along L, for the attacks that (5.2) admits."""
    rows = select(perturbations, axis="L", admissible=True)
    rows = rows[rows["perturbation"].isin(ATTACKS)]
    claimed = rows["claimed"]
    rows = rows.assign(ratio=rows["displacement"] / claimed, standard_error=rows["standard_error"] / claimed)
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (figure, panels):
        for axes, response in zip(panels, RESPONSES):
            own = select(rows, response=response)
            figures.curves(axes, own, "L", "ratio", "perturbation", ATTACKS)
            axes.axhline(1, color="k", ls="--", lw=1, label="as claimed")
            figures.log_axes(axes, LENGTH, "displacement over the least claimed")
            axes.set_title(RESPONSE_TITLES[response])
    below = (rows["ratio"] + 2 * rows["standard_error"] < 1).sum()
    upper = rows[rows["perturbation"].isin([UPPER, SMALL])]
    powers = judge.rates_fitted(upper, "ratio", "standard_error", by=["perturbation", "response"])["power"]
    rate = f" At the upper end of (5.2) the ratio goes like $L$ to a power of {span(powers)}." if len(powers) else ""
    caption = (
        "**Ridge under admissible attacks, along $L$**: its mean displacement over the least that (5.3) claims, which "
        f"should lie above the dashed line. {below} of {len(rows)} lie below it by more than two standard errors "
        f"(bars), the lowest at {compact(rows['ratio'].min())}, the highest at {compact(rows['ratio'].max())}.{rate}"
    )
    return Plate(figure, caption)


def draw_divergence(perturbations: pd.DataFrame) -> Plate:
    """Ridge's displacement itself along L, at the upper end of (5.2)."""
    curves = {
        (SMALL, SHIFTED): "shifted,\nsmall $\\mu$",
        (UPPER, SHIFTED): "shifted,\n$\\mu$ = 1",
        (UPPER, LEFT): "left, $\\mu$ = 1",
        (SMALL, LEFT): "left, small $\\mu$",
    }
    along = select(perturbations, axis="L", admissible=True)
    with figures.panels(figsize=(6.8, 4.0)) as (figure, [axes]):
        for ((name, response), label), look in zip(curves.items(), figures.looks(curves).values()):
            rows = select(along, perturbation=name, response=response).sort_values("L")
            if len(rows):
                figures.points(axes, rows, "L", "displacement", label=label, **look)
            if (name, response) == (SMALL, SHIFTED) and len(rows):
                figures.slope(axes, rows["L"].to_numpy(), rows["displacement"].iloc[0], 1.0, r"$\propto L$")
        figures.log_axes(axes, LENGTH, "squared displacement of ridge")
    rows = along[along["perturbation"].isin([UPPER, SMALL])]
    left, moved = select(rows, response=LEFT), select(rows, response=SHIFTED, perturbation=SMALL)
    powers = judge.rates_fitted(moved, "displacement", "standard_error")["power"]
    rate = f" like $L^{{{powers.iloc[0]:.2f}}}$" if len(powers) else ""
    word = "grows" if len(powers) and powers.iloc[0] > 0 else "goes"
    caption = (
        "**Can ridge diverge?** Its displacement itself at the upper end of (5.2), bars of two standard errors. With "
        "the query's response left as it is, as (5.1) has it, it is at most "
        f"{compact(left['displacement'].max())}, and a bound without $\\alpha$ and $\\mu$ keeps it below "
        f"{compact(left['bound'].max())}. With that response shifted too and a small $\\mu$ it {word}{rate}, to "
        f"{compact(moved['displacement'].max())}."
    )
    return Plate(figure, caption)


def draw_fractions(fractions: pd.DataFrame) -> Plate:
    """Test error against the fraction attacked, where ridge's is largest, and where NoisyHead's exceeds it most."""
    attack = ["response", "alpha"]
    rows = fractions.assign(curve=fractions["method"] + ", " + fractions["setting"])
    ridge = select(rows, method=RIDGE).set_index([*attack, "fraction"])
    noisy = select(rows, method=NOISYHEAD, setting="corrected").set_index([*attack, "fraction"])
    chosen = [ridge["test_error"].idxmax()[:2], (noisy["rise"] - ridge["rise"]).idxmax()[:2]]
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (figure, panels):
        for axes, (response, alpha) in zip(panels, chosen):
            own = select(rows, response=response, alpha=alpha)
            figures.curves(axes, own, "fraction", "test_error", "curve", TRAINED)
            axes.axhline(own["response_variance"].iloc[0], color="k", ls="--", lw=1, label="answering 0")
            figures.log_axes(axes, "fraction of the prompts attacked", "test error")
            figures.few_decades(axes)
            axes.set_title(f"$\\alpha$ = {alpha:g}, query's response {'shifted' if response == SHIFTED else 'left'}")
    ridge, bounded = select(rows, method=RIDGE), select(rows, method=BOUNDED)
    worst = ridge.loc[ridge["test_error"].idxmax()]
    beside = pick(bounded, **{name: worst[name] for name in ("response", "alpha", "fraction")})
    caption = (
        "**When a fraction of the prompts is attacked.** Test error on clean prompts, bars of two standard errors. "
        f"Left: the attack under which ridge has its largest error. With {percent(worst['fraction'])} of the prompts "
        f"attacked it goes from {compact(worst['before'])} to {compact(worst['test_error'])}, and that of ridge "
        f"regression on clipped and projected prompts from {compact(beside['before'])} to "
        f"{compact(beside['test_error'])}. Right: the attack under which "
        "a NoisyHead that has had time to learn (*corrected*) loses most in comparison."
    )
    return Plate(figure, caption)


# ---- Short tables ----

NAMES = {
    "noisyhead": "NoisyHead",
    "ridge": "ridge, rank-one update",
    "ridge-normal-equations": "ridge, normal equations",
}
folded = cards.folded  # the page folds its long tables


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method, for the page."""
    return agreement.deviations(comparison).rename(index=NAMES)


def show_conditions(conditions: pd.DataFrame) -> pd.DataFrame:
    """What Theorem 5.1 asks of Figure 4, for the page."""
    names = {
        "penalty_over_least": "λ over its least value 𝒞²/L",
        "over_upper_end": "α²μ⁴ over the upper end of (5.2)",
        "over_lower_end": "α²μ² over the lower end",
        "lower_over_upper_end": "lower over upper end at μ = 1",
        "probability": "probability 1 − 5κ",
        "claimed_for_noisyhead": "claimed for NoisyHead, NL⁻² log²(NL/κ)",
        "claimed_for_ridge": "claimed for ridge, α²μ²/(Nλ)",
    }
    table = conditions[list(names)].rename(columns=names).T.set_axis(_shifts(conditions["alpha"]), axis=1)
    return _short(table).rename_axis("quantity")


def show_parts(parts: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's displacement and what makes it, for the page."""
    table = parts.set_index(["setting", "part"])
    measured = table["displacement"].map(plain) + " ± " + table["standard_error"].map(plain)
    beside = _short(table[["share", "closed_form", "bound"]].rename(columns={"closed_form": "closed form"}))
    return pd.DataFrame({"displacement": measured}).join(beside).rename_axis(["setting", "what differs"])


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Test errors before and after the attack, Var(y) and the best linear head beside."""
    wide = table.pivot_table(index=["setting", "method"], columns="prompts", values="test_error", sort=False)
    first = table.iloc[0]
    beside = {"answering 0": first["response_variance"], "best linear head": first["best_linear_head"]}
    shown = _short(wide.reindex(columns=["clean", "attacked"]).assign(**beside)).rename(index=NAMES)
    return shown.rename_axis(None, axis=1)


def show_arithmetic(arithmetic: pd.DataFrame, comparison: pd.DataFrame) -> pd.DataFrame:
    """Ridge's displacement by evaluation at the α of the first c, the authors' numbers in the last row."""
    theirs = select(comparison, method="ridge-normal-equations", setting="published")
    rows = arithmetic.pivot_table(index="evaluation", columns="alpha", values="displacement", sort=False)
    if theirs.empty:
        return _short(rows.set_axis(_shifts(rows.columns), axis=1))
    table = rows[theirs["alpha"].to_numpy()].set_axis([f"p = {p:g}" for p in theirs["p"]], axis=1)
    table.loc["the authors' numbers"] = theirs["displacement_theirs"].to_numpy()
    return _short(table)


def show_nearest(arithmetic: pd.DataFrame, comparison: pd.DataFrame) -> pd.DataFrame:
    """The authors' ridge at each p, the evaluation of the normal equations nearest in ratio, and their whole range."""
    ours = arithmetic[arithmetic["evaluation"].isin(NORMAL_EQUATIONS)].dropna(subset=["displacement"])
    theirs = select(comparison, method="ridge-normal-equations", setting="published")
    table = theirs.set_index("p")[["alpha", "displacement_theirs"]]
    for p, (alpha, number) in table.iterrows():
        means = select(ours, alpha=alpha).set_index("evaluation")["displacement"]
        nearest = np.log(means / number).abs().idxmin()
        table.loc[p, ["nearest", "its mean"]] = nearest, means[nearest]
        table.loc[p, ["least", "largest"]] = means.min(), means.max()
    table = table.drop(columns="alpha").rename(columns={"displacement_theirs": "the authors'"})
    return table.map(lambda value: value if isinstance(value, str) else plain(value))


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
        "energy_over_N_penalty": "(A.22), energy over Nλ",
        "a23_ratio": "(A.23), left over right",
        "a24_frequency": "(A.24) holds in",
    }
    labelled = rows.assign(attack=rows["perturbation"] + ", y " + short, ratio=rows["displacement"] / rows["claimed"])
    shown = labelled.set_index(["L", "attack"])[list(names)].rename(columns=names)
    holds = shown.pop(names["a24_frequency"]).map(percent)
    return shown.map(plain).assign(**{names["a24_frequency"]: holds})


def show_sizes(sizes: pd.DataFrame) -> pd.DataFrame:
    """Left over right of each claim at the first and the last size of each axis, in closed form, for the page."""
    ends = sizes.groupby(["claim", "axis"], sort=False)["ratio"].agg(first="first", last="last")
    shown = ends.rename(columns={"first": "at the first size", "last": "at the last"})
    return shown.map(plain).rename_axis(["claim", "along"])


def _shifts(alpha: pd.Series | pd.Index) -> list[str]:
    return [f"α = {plain(value)}" for value in alpha]


def _short(table: pd.DataFrame) -> pd.DataFrame:
    """Three digits, nothing where nothing is known."""
    return table.map(lambda value: "" if pd.isna(value) else plain(value))


def answer(tables: Tables) -> list[str]:
    """What the attack does to ridge regression and to NoisyHead, and what the page derives, runs and judges."""
    errors = select(tables["test-error"], setting=Setting.PUBLISHED).set_index(["method", "prompts"])["test_error"]
    ridge = [compact(errors["ridge", prompts]) for prompts in ("clean", "attacked")]
    fixed = tables["test-error"]["response_variance"].iloc[0]
    return [
        words.headline(judges_of(__package__)["noisyhead/figure-4"], tables),
        f"In the authors' settings NoisyHead's test error is {compact(errors['noisyhead', 'clean'])}, "
        f"where answering 0 has {compact(fixed)}.",
        f"The attack raises the test error of ridge regression from {ridge[0]} to {ridge[1]}.",
        "We derive why ridge's change is bounded however strong the attack is, and run it by hand.",
        "Then we judge both sides of Theorem 5.1, and attack many prompts at once.",
    ]
