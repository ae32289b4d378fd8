"""One softmax attention head, trained privately on the same task: what changes, and what carries over?"""

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from chapters.noisyhead.softmax_head import judge
from chapters.noisyhead.softmax_head.judge import ACCOUNTS, ROUTES, Value, title, told
from chapters.noisyhead.softmax_head.measure import (
    BEST,
    CLIPPED,
    EXACT,
    HEADS,
    ISOTROPIC,
    LINEAR,
    NO_DATA,
    NON_PRIVATE,
    PRINTED,
    PRIVATE,
    SOFTMAX,
    WARM,
    WHITENED,
    ZERO,
)
from companion.judging.prose import compact, listed, measured, percent, plain, times, with_errors
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate


def caption_heads(tables: Tables) -> str:
    """How the two heads compare."""
    errors = tables["test-error"]
    ratios = [
        f"{compact(judge.heads(errors, name).value)} times the linear head's {judge.where(name)} (without privacy "
        f"{compact(judge.heads_without_privacy(errors, name).value)} times)"
        for name in judge.covariances(errors)
    ]
    return (
        f"**At the largest budget the private softmax head's test error is {listed(ratios)}.** Test error against "
        f"$\\varepsilon$ at $N = {errors['N'].max()}$, of both heads trained by the same private descent (solid) and "
        "without privacy (dashed). Predicting 0 has error 1. Bars: two standard errors over the trials."
    )


def draw_theory(temperatures: pd.DataFrame, dimensions: pd.DataFrame) -> Plate:
    """Left: L times the error against κ. Right: the softmax head's error over the linear head's, by dimension."""
    with figures.panels(2, figsize=(9.2, 3.8)) as (drawing, (left, right)):
        simulated, closed = figures.looks(["simulated", "closed"]).values()
        figures.points(left, temperatures, "kappa", "scaled", label="simulated", ls="", **simulated)
        left.plot(temperatures["kappa"], temperatures["closed_form"], color=closed["color"], label="closed\nform")
        figures.log_axes(left, r"$\kappa$ (inverse temperature)", r"$L\cdot$ test error")
        figures.plain_ticks(left, temperatures["kappa"].unique())
        right.plot(
            dimensions["D"], dimensions["ratio"], color=closed["color"], marker="o", label="softmax\nover linear"
        )
        right.axhline(math.e, color="k", ls="--", lw=1)
        right.axhline(1, color="0.6", lw=1)
        figures.log_axes(right, "$D$ (dimension)", "tokens needed, over linear")
        figures.plain_ticks(right, dimensions["D"].unique())
        for axes in (left, right):
            figures.few_decades(axes)
    best = temperatures.loc[temperatures["scaled"].idxmin()]
    wide = dimensions.iloc[-1]
    better = dimensions.loc[dimensions["ratio"] < 1, "D"]
    caption = (
        f"**A softmax head that is known without data needs {compact(wide['ratio'])} times the tokens of the best "
        f"linear one at $D = {wide['D']:.0f}$.** Left: $L$ times the test error of the head $A = \\kappa I$, "
        f"$D = {best['D']:.0f}$, $L = {best['L']:.0f}$; of those tried $\\kappa = {best['kappa']:g}$ is best. Bars: "
        "two standard errors. Right: how many times the tokens of the best linear head the best softmax head needs, in "
        "the limit of long prompts: "
        f"{'fewer up to $D = ' + str(better.max()) + '$, ' if len(better) else ''}and $e$ times in the limit (dashed)."
    )
    return Plate(drawing, caption)


COLUMNS = {
    PRIVATE: "private, from zero",
    WARM: "private, from no data",
    WHITENED: "private, whitened",
    NON_PRIVATE: "not private",
    NO_DATA: "no data",
    BEST: "best",
}
SMALL = 1e-6  # the unit of what poison does


def show_ends(errors: pd.DataFrame) -> pd.DataFrame:
    """Private heads between their four ends at the largest ε: every covariance and N."""
    exact = errors[~errors["method"].isin([PRIVATE]) | ((errors["bound"] == CLIPPED) & (errors["account"] == EXACT))]
    rows, case = [], judge.largest(errors)
    for name in judge.covariances(errors):
        for N in sorted(errors["N"].unique()):
            for head in HEADS:
                part = select(exact, covariance=name, N=N, head=head)
                part = part[part["epsilon"].isna() | (part["epsilon"] == case["epsilon"])]
                known = set(part["method"])
                row = {words: told(pick(part, method=m)) if m in known else "–" for m, words in COLUMNS.items()}
                rows.append({"features": title(name), "$N$": f"{N}", "head": head} | row)
    zero = compact(errors.loc[errors["method"] == ZERO, "test_error"].max())
    return pd.DataFrame(rows).assign(**{"predicting 0": zero}).set_index(["features", "$N$", "head"])


def show_prices(errors: pd.DataFrame) -> pd.DataFrame:
    """The softmax head's price of privacy over the linear head's, everywhere."""
    found = judge.prices(errors)
    shown = {
        "features": found["covariance"].map(title),
        "$N$": found["N"].map(str),
        "budget": found["epsilon"].map("$\\varepsilon = {:g}$".format),
        "price": with_errors(found, "price", "error"),
    }
    table = pd.DataFrame(shown).pivot(index=["features", "$N$"], columns="budget", values="price")
    return table.rename_axis(columns=None)


def show_routes(errors: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """Four ways to keep a softmax head private at the largest N and ε: their plans, and their test errors."""
    rows, chosen = {}, select(choices[choices["chosen, average"]], head=SOFTMAX)
    for route in ROUTES:
        plan = pick(chosen, bound=route[0], account=route[1], **judge.largest(choices))
        row = {"$c$": compact(plan["clip_norm"]), "$T$": f"{plan['steps']:.0f}"}
        row |= {r"$\eta T$": compact(plan["time"]), "noise": compact(plan["noise"])}
        row |= {title(n): told(judge.private(errors, SOFTMAX, n, route)) for n in judge.covariances(errors)}
        rows[f"{route[0]}, {ACCOUNTS[route[1]]}"] = row
    return pd.DataFrame(rows).T.rename_axis("way")


def show_lessons(tables: Tables) -> pd.DataFrame:
    """The linear head's lessons, for either head, at the largest N and ε."""
    errors, hard = tables["test-error"], judge.covariances(tables["test-error"])[-1]

    def both(read: Callable[..., Value], *where: Any) -> list[str]:
        return [measured(*read(errors, head, *where)) for head in HEADS]

    def warm(errors: pd.DataFrame, head: str) -> Value:
        return judge.ratio(judge.private(errors, head, hard), judge.other(errors, head, hard, WARM))

    def poisoned(_: pd.DataFrame, head: str) -> Value:
        row = select(tables["poison"], head=head).sort_values("poisoned").iloc[0]
        return Value(row["rise"] / SMALL, row["standard_error"] / SMALL)

    route = CLIPPED, PRINTED
    lines = {
        "exact accounting: the printed noise multiplies the error by, isotropic": both(judge.worth, route),
        "averaging: the last iterate multiplies it by, isotropic": both(judge.averaging, ISOTROPIC),
        "averaging, unknown covariance": both(judge.averaging, hard),
        "a public start: zero multiplies it by, unknown covariance": both(warm),
        "no data over not private, isotropic": both(judge.learnable, ISOTROPIC),
        "no data over not private, unknown covariance": both(judge.learnable, hard),
        "cost of privacy: error over not private, less 1, isotropic": both(judge.cost, ISOTROPIC),
        "cost of privacy, unknown covariance": both(judge.cost, hard),
        "one poisoned prompt: rise of the error, in millionths": both(poisoned),
        "least curvature of the loss": [plain(tables["curvature"]["least"].min()), "never negative"],
    }
    return pd.DataFrame.from_dict(lines, orient="index", columns=HEADS).rename_axis("lesson")


def show_audit(audit: pd.DataFrame) -> pd.DataFrame:
    """What the audits found beside the claim, and the least deficit of noise that they would have found."""
    shown = {
        "head": audit["head"],
        "mechanism": audit["fault"],
        "steps": audit["steps"].map("{:.0f}".format),
        r"$\varepsilon$ claimed": audit["epsilon"].map(compact),
        r"$\varepsilon$ found, at least": audit["epsilon_found"].map(compact),
        r"$\mu$ claimed": audit["mu"].map(compact),
        r"$\mu$ found, at least": audit["mu_found"].map(compact),
        "would find noise too small by": audit["least_deficit"].map(percent),
    }
    return pd.DataFrame(shown).set_index(["head", "mechanism"])


def answer(tables: Tables) -> list[str]:
    """The softmax head over the linear one, private and not, what two lessons are worth, and what the page does."""
    errors = tables["test-error"]
    case, names = judge.largest(errors), judge.covariances(errors)
    over, free = (
        [compact(ratio(errors, name).value) for name in (names[0], names[-1])]
        for ratio in (judge.heads, judge.heads_without_privacy)
    )
    whitened = judge.other(errors, LINEAR, names[-1], WHITENED)
    beside = compact(judge.ratio(judge.private(errors, SOFTMAX, names[-1]), whitened).value)
    exact, clipped = (compact(judge.worth(errors, SOFTMAX, route).value) for route in (ROUTES[2], ROUTES[1]))
    convex = tables["curvature"]["least"].min() >= 0
    where = judge.where(names[-1])
    last = (
        "Its loss shows no negative curvature." if convex else "Its loss is not convex, so every iterate is paid for."
    )
    return [
        f"At $N = {case['N']:.0f}$, $\\varepsilon = {case['epsilon']:g}$ its error is {over[0]} times the linear "
        f"head's {judge.where(names[0])} (without privacy {free[0]}), {over[1]} times {where} (without privacy "
        f"{free[1]}), where it is {beside} times a whitened linear head's.",
        f"Two lessons carry over: on isotropic features, clipping each gradient divides the error by {clipped}, and "
        f"exact accounting by {exact}.",
        last,
    ]


def read_plans(choices: pd.DataFrame) -> str:
    """How far the plans that were tried enclose the chosen ones, in words."""
    found = judge.edges(choices)
    lost = f"at most {percent(float(found['lost'].max()))}" if found["lost"].notna().any() else "an unknown share"
    return (
        f"In {found['enclosed'].sum()} of {len(found)} choices $c\\,\\eta T$, how far clipped gradients can move "
        f"$A$, lies inside the range that we tried. The smallest $c$ is chosen in {found['smallest'].sum()}. Small $c$ "
        f"is a limit, in which every gradient counts by its direction alone. Without that $c$ the error on synthetic "
        f"prompts is {lost} above the least."
    )


def read_privacy(tables: Tables) -> str:
    """What privacy takes from either head, in words."""
    errors = tables["test-error"]
    parts = []
    for name in judge.covariances(errors):
        found = {head: judge.cost(errors, head, name) for head in HEADS}
        free = {head: judge.learnable(errors, head, name).value for head in HEADS}
        parts.append(
            f"{judge.under(name)} the private softmax head's error lies {percent(found[SOFTMAX].value)} above the "
            f"non-private one's (linear: {percent(found[LINEAR].value)}), and without data "
            f"it is {times(free[SOFTMAX])} the non-private one's (linear: {times(free[LINEAR])})"
        )
    case = judge.largest(errors)
    return f"At $N = {case['N']:.0f}$ and $\\varepsilon = {case['epsilon']:g}$: {'; '.join(parts)}."


def read_routes(errors: pd.DataFrame) -> str:
    """What each change of the design is worth, in words."""
    literal, exact, printed, best = (judge.private(errors, SOFTMAX, ISOTROPIC, route) for route in ROUTES)
    return (
        f"Exact accounting alone takes the error from {told(literal)} to {told(exact)}, clipping each gradient alone "
        f"to {told(printed)}, both to {told(best)}."
    )
