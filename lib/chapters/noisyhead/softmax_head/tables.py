"""The tables of the page on a softmax head."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from chapters.noisyhead.softmax_head import readings
from chapters.noisyhead.softmax_head.names import (
    BEST,
    CLIPPED,
    EXACT,
    HEADS,
    ISOTROPIC,
    NO_DATA,
    NON_PRIVATE,
    PRINTED,
    PRIVATE,
    SOFTMAX,
    WARM,
    WHITENED,
    ZERO,
)
from chapters.noisyhead.softmax_head.readings import ROUTES, Value, title, told
from companion.judging.prose import compact, measured, percent, plain, with_errors
from companion.judging.tables import Tables, pick, select

COLUMNS = {
    PRIVATE: "private, from zero",
    WARM: "private, from no data",
    WHITENED: "private, whitened",
    NON_PRIVATE: "not private",
    NO_DATA: "no data",
    BEST: "best",
}
ACCOUNTS = {EXACT: "exact noise", PRINTED: "the printed noise"}
SMALL = 1e-6  # the unit of what poison does


def show_ends(errors: pd.DataFrame) -> pd.DataFrame:
    """Private heads between their four ends at the largest ε: every covariance and N."""
    exact = errors[~errors["method"].isin([PRIVATE]) | ((errors["bound"] == CLIPPED) & (errors["account"] == EXACT))]
    rows, case = [], readings.largest(errors)
    for name in readings.covariances(errors):
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
    found = readings.prices(errors)
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
    rows = {}
    for route in ROUTES:
        plan = readings.steps_of(choices, SOFTMAX, route)
        row = {"$c$": compact(plan["clip_norm"]), "$T$": f"{plan['steps']:.0f}", r"$\eta T$": compact(plan["time"])}
        row |= {"noise": compact(plan["noise"])}
        row |= {title(n): told(readings.private(errors, SOFTMAX, n, route)) for n in readings.covariances(errors)}
        rows[f"{route[0]}, {ACCOUNTS[route[1]]}"] = row
    return pd.DataFrame(rows).T.rename_axis("way")


def show_lessons(tables: Tables) -> pd.DataFrame:
    """The linear head's lessons, for either head, at the largest N and ε."""
    errors, hard = tables["test-error"], readings.hardest(tables["test-error"])

    def both(read: Callable[..., Value], *where: Any) -> list[str]:
        return [measured(*read(errors, head, *where)) for head in HEADS]

    def warm(errors: pd.DataFrame, head: str) -> Value:
        return readings.ratio(readings.private(errors, head, hard), readings.other(errors, head, hard, WARM))

    def poisoned(_: pd.DataFrame, head: str) -> Value:
        row = select(tables["poison"], head=head).sort_values("poisoned").iloc[0]
        return Value(row["rise"] / SMALL, row["standard_error"] / SMALL)

    route = CLIPPED, PRINTED
    lines = {
        "exact accounting: the printed noise multiplies the error by, isotropic": both(readings.worth, route),
        "averaging: the last iterate multiplies it by, isotropic": both(readings.averaging, ISOTROPIC),
        "averaging, unknown covariance": both(readings.averaging, hard),
        "a public start: zero multiplies it by, unknown covariance": both(warm),
        "no data over not private, isotropic": both(readings.learnable, ISOTROPIC),
        "no data over not private, unknown covariance": both(readings.learnable, hard),
        "cost of privacy: error over not private, less 1, isotropic": both(readings.cost, ISOTROPIC),
        "cost of privacy, unknown covariance": both(readings.cost, hard),
        "one poisoned prompt: rise of the error, in millionths": both(poisoned),
        "least curvature of the loss": [plain(tables["curvature"]["least"].min()), "never negative"],
    }
    return pd.DataFrame.from_dict(lines, orient="index", columns=HEADS).rename_axis("lesson")


def show_plans(choices: pd.DataFrame) -> pd.DataFrame:
    """The plans that were chosen for the average, both heads, each gradient clipped, exact noise."""
    rows = choices[choices["chosen, average"] & (choices["bound"] == CLIPPED) & (choices["account"] == EXACT)]
    shown = {
        "$N$": rows["N"].map(str),
        r"$\varepsilon$": rows["epsilon"].map(compact),
        "head": rows["head"],
        "$T$": rows["steps"].map(str),
        "$c$": rows["clip_norm"].map(compact),
        r"$\eta T$": rows["time"].map(compact),
    }
    return pd.DataFrame(shown).set_index(["$N$", r"$\varepsilon$", "head"])


def show_lengths(lengths: pd.DataFrame) -> pd.DataFrame:
    """Test errors of the matched softmax head by length, simulated and to first order, and the best linear head's."""
    shown = {
        "features": lengths["covariance"].map(title),
        "$L$": lengths["L"].map("{:.0f}".format),
        "softmax": lengths.apply(told, axis=1),
        "first order": lengths["closed_form"].map(compact),
        "best linear": lengths["best_linear"].map(compact),
    }
    return pd.DataFrame(shown).set_index(["features", "$L$"])


def show_curvature(curvature: pd.DataFrame) -> pd.DataFrame:
    """Second derivatives of the softmax head's loss along a ray from zero through the best head."""
    multiple = curvature["multiple"].map("{:g}".format).rename("$A$ over the best")
    return curvature[["least", "largest"]].map(plain).set_index(multiple)


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


def show_poison(poison: pd.DataFrame) -> pd.DataFrame:
    """How far poisoned prompts move the weights and the test error, beside the bounds."""
    rows = [
        {
            "head": row["head"],
            "prompts": f"{row['poisoned']:.0f}",
            "weights moved": measured(row["moved"], row["moved_error"]),
            "if no step expands": compact(row["push"]),
            "test error rises by, in millionths": measured(row["rise"] / SMALL, row["standard_error"] / SMALL),
            "bound": compact(row["bound"]),
        }
        for _, row in poison.iterrows()
    ]
    return pd.DataFrame(rows).set_index(["head", "prompts"])
