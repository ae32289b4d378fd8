"""What does one perturbed prompt do to NoisyHead and to ridge regression, and how much of it is rounding error?"""

import pandas as pd

from chapters.noisyhead.robustness import judge
from chapters.noisyhead.robustness.arithmetic import RANK_ONE
from chapters.noisyhead.robustness.measure import BOUNDED, LOWER, NOISYHEAD, RESPONSES, RIDGE, SMALL, SMALL_LOWER, UPPER
from companion.judging import cards, words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, course, percent, plain, span, times
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

METHODS = ("noisyhead", "ridge", "ridge-normal-equations")
EVALUATIONS = {
    "outlier first": "outlier\nfirst",
    "one product, elimination": "one\nproduct",
    "outlier last": "outlier\nlast",
    RANK_ONE: "rank-one\nupdate",
}
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


def caption_figure_4(tables: Tables) -> str:
    """What Figure 4, re-run with ridge evaluated in two ways, shows."""
    table, comparison = (select(tables[name], setting=Setting.PUBLISHED) for name in ("figure-4", "comparison"))
    ends = table.sort_values("p").groupby(["method", "c"])["displacement"].agg(["first", "last"])
    noisy, exact, by = ((ends.loc[method, "last"] / ends.loc[method, "first"]).max() for method in METHODS)
    share = (ends.loc["noisyhead"] / ends.loc["ridge"]).to_numpy().max()
    worst = select(comparison, method="noisyhead")["deviation"].abs().max()
    near = f" Their numbers for NoisyHead lie within {compact(worst)} standard errors of ours." if worst >= 0 else ""
    rounding = by > GROWS >= exact
    head = "A stronger attack moves ridge no further: what grows is rounding error"
    return (
        f"**{head if rounding else 'How far the attack moves ridge and NoisyHead'}.** Figure 4 of the paper, re-run in "
        f"the settings behind the published numbers (circles: the authors').{near} From the least to the largest $p$ "
        f"ridge's displacement is multiplied by up to {compact(by)} if it is computed by the normal equations, and by "
        f"{compact(exact)} if it is computed by rank-one updates. NoisyHead's is multiplied by {compact(noisy)}, and "
        f"is at most {times(share)} ridge's by rank-one updates. Bars: two standard errors."
    )


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
        f"**Evaluations of ridge in double precision {until}, and differ by a factor of {compact(apart.iloc[-1])} at "
        r"the largest.** Left: ridge's displacement by rank-one updates, with bars of two standard errors. At the "
        rf"largest $\alpha$ it is off its limit by {times(off)} that limit (dashed: the closed form for long prompts). "
        "Right: the same displacement by several evaluations (medians)."
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
        f"**At the longest prompts NoisyHead's displacement is {few} the bound of (5.3) after {steps[0]} steps, and "
        f"{many} after {steps[-1]}.** Bars of two standard errors. Left: two runs with noise of their own, beside the "
        "bounds of (5.3), of (A.20), and what the ball of radius $R$ gives. Right: the "
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
    left, moved = (select(upper, response=response) for response in RESPONSES)
    moved = select(moved, perturbation=SMALL).sort_values("L")["displacement"]
    caption = (
        f"**{below} of {len(rows)} displacements of ridge lie below the least that (5.3) claims.** Ridge under "
        "admissible attacks, along $L$: its mean displacement over the claimed one, with bars of two standard errors; "
        f"we count those that are below the dashed line by more than these. The lowest is "
        f"{compact(rows['ratio'].min())}, the highest {compact(rows['ratio'].max())}.{rate} The displacement itself, "
        f"with the query's response left, is there at most {compact(left['displacement'].max())}, and a bound without "
        f"$\\alpha$ and $\\mu$ keeps it below {compact(left['bound'].max())}. With that response shifted and a small "
        f"$\\mu$ it {course(*moved.iloc[[0, -1]])}."
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
        f"**With {percent(worst['fraction'])} of the prompts attacked, ridge's test error "
        f"{course(worst['before'], worst['test_error'])}.** Test error on clean prompts, bars of two standard errors. "
        "Left: the attack under which ridge has its largest error. On clipped and projected prompts the test error of "
        f"ridge regression {course(beside['before'], beside['test_error'])}. Right: the attack under which a "
        "NoisyHead that has had time to learn (*corrected*) loses most in comparison."
    )
    return Plate(figure, caption)


NAMES = {
    "noisyhead": "NoisyHead",
    "ridge": "ridge, rank-one update",
    "ridge-normal-equations": "ridge, normal equations",
}
folded = cards.folded  # the page folds its long tables


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


def show_digits(digits: pd.DataFrame) -> pd.DataFrame:
    """Relative error against fifty digits by evaluation, at the least and the largest α."""
    ends = digits[digits["alpha"].isin([digits["alpha"].min(), digits["alpha"].max()])]
    table = ends.pivot_table(index="evaluation", columns="alpha", values="median_error", sort=False)
    return _short(table.set_axis(_shifts(table.columns), axis=1))


def show_perturbations(perturbations: pd.DataFrame) -> pd.DataFrame:
    """Both sides of (5.3)'s third inequality and of (A.22)-(A.24) under (5.2), at the first and the last L."""
    rows = select(perturbations, axis="L", admissible=True)
    rows = rows[rows["L"].isin([rows["L"].min(), rows["L"].max()])]
    names = {
        "displacement": "moves by",
        "claimed": "claimed",
        "ratio": "ratio",
        "bound": "at most",
        "energy_over_N_penalty": "(A.22), energy over Nλ",
        "a23_ratio": "(A.23), left over right",
    }
    attack = rows["perturbation"] + ", y " + rows["response"].map({LEFT: "left", SHIFTED: "shifted"})
    shown = rows.assign(attack=attack, ratio=rows["displacement"] / rows["claimed"]).set_index(["L", "attack"])
    holds = shown["a24_frequency"].map(percent)
    return shown[list(names)].rename(columns=names).map(plain).assign(**{"(A.24) holds in": holds})


def _shifts(alpha: pd.Series | pd.Index) -> list[str]:
    return [f"α = {plain(value)}" for value in alpha]


def _short(table: pd.DataFrame) -> pd.DataFrame:
    return table.map(lambda value: "" if pd.isna(value) else plain(value))


def answer(tables: Tables) -> list[str]:
    """What the attack does to ridge regression and to NoisyHead, and what the page derives."""
    errors = select(tables["test-error"], setting=Setting.PUBLISHED).set_index(["method", "prompts"])["test_error"]
    ridge, head = ([compact(errors[name, on]) for on in ("clean", "attacked")] for name in ("ridge", "noisyhead"))
    fixed = tables["test-error"]["response_variance"].iloc[0]
    return [
        f"In the authors' settings the attack raises ridge regression's test error from {ridge[0]} to {ridge[1]}. "
        f"NoisyHead has {head[0]} and {head[1]}; always predicting 0 has {compact(fixed)}.",
        words.headline(judges_of(__package__)["noisyhead/figure-4"], tables),
        "We derive why ridge's change is bounded however strong the attack is, and attack many prompts at once.",
    ]
