"""The tables of the page on a softmax head."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from costofprivacy.experiments.noisyhead.softmax_head import readings
from costofprivacy.experiments.noisyhead.softmax_head.names import (
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
from costofprivacy.experiments.noisyhead.softmax_head.pages import title, where
from costofprivacy.experiments.noisyhead.softmax_head.readings import ROUTES, Value
from costofprivacy.judging.prose import compact, measured, percent, plain, times
from costofprivacy.judging.tables import Tables, pick, select

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
LESSONS = (
    "exact accounting: the printed noise multiplies the error by, isotropic",
    "averaging: the last iterate multiplies it by, isotropic",
    "averaging, unknown covariance",
    "a public start: zero multiplies it by, unknown covariance",
    "no data over not private, isotropic",
    "no data over not private, unknown covariance",
    "cost of privacy: error over not private, less 1, isotropic",
    "cost of privacy, unknown covariance",
    "one poisoned prompt: rise of the error, in millionths",
    "least curvature of the loss",
)


def told(row: pd.Series) -> str:
    """A test error with its standard error."""
    return measured(row["test_error"], row["standard_error"])


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
    return pd.DataFrame(rows).assign(**{"answering 0": zero}).set_index(["features", "$N$", "head"])


def show_prices(errors: pd.DataFrame) -> pd.DataFrame:
    """The softmax head's price of privacy over the linear head's, everywhere."""
    found = readings.prices(errors)
    shown = found.assign(
        features=found["covariance"].map(title),
        size=found["N"].map(str),
        budget=found["epsilon"].map(lambda e: f"$\\varepsilon = {e:g}$"),
        price=[measured(price, error) for price, error in zip(found["price"], found["error"])],
    )
    table = shown.pivot(index=["features", "size"], columns="budget", values="price")
    return table.rename_axis(index=["features", "$N$"], columns=None)


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
    curvature = tables["curvature"]["least"]

    def both(read: Callable[[str], Value]) -> list[str]:
        return [measured(*read(head)) for head in HEADS]

    def warm(head: str) -> Value:
        return readings.ratio(readings.private(errors, head, hard), readings.other(errors, head, hard, WARM))

    def poisoned(head: str) -> Value:
        rows = select(tables["poison"], head=head).sort_values("poisoned")
        return Value(rows["rise"].iloc[0] / SMALL, rows["standard_error"].iloc[0] / SMALL)

    lines = [
        both(lambda head: readings.worth(errors, head, (CLIPPED, PRINTED))),
        both(lambda head: readings.averaging(errors, head, ISOTROPIC)),
        both(lambda head: readings.averaging(errors, head, hard)),
        both(warm),
        both(lambda head: readings.learnable(errors, head, ISOTROPIC)),
        both(lambda head: readings.learnable(errors, head, hard)),
        both(lambda head: readings.cost(errors, head, ISOTROPIC)),
        both(lambda head: readings.cost(errors, head, hard)),
        both(poisoned),
        [plain(curvature.min()), "never negative"],
    ]
    return pd.DataFrame(lines, index=pd.Index(LESSONS, name="lesson"), columns=pd.Index(HEADS))


def show_plans(choices: pd.DataFrame) -> pd.DataFrame:
    """The plans that were chosen for the average, both heads, each gradient clipped, exact noise."""
    rows = choices[choices["chosen, average"] & (choices["bound"] == CLIPPED) & (choices["account"] == EXACT)]
    table = pd.DataFrame(
        {
            "$N$": rows["N"].map(str),
            r"$\varepsilon$": rows["epsilon"].map(compact),
            "head": rows["head"],
            "$T$": rows["steps"].map(str),
            "$c$": rows["clip_norm"].map(compact),
            r"$\eta T$": rows["time"].map(compact),
        }
    )
    return table.set_index(["$N$", r"$\varepsilon$", "head"])


def read_plans(choices: pd.DataFrame) -> str:
    """How far the plans that were tried enclose the chosen ones, in words."""
    found = readings.edges(choices)
    lost = f"at most {percent(float(found['lost'].max()))}" if found["lost"].notna().any() else "an unknown share"
    return (
        f"In {found['enclosed'].sum()} of {len(found)} choices $c\\,\\eta T$, how far cut gradients can carry, lies "
        f"inside the range that was tried. The smallest $c$ is chosen in {found['smallest'].sum()}. Small $c$ is a "
        f"limit, in which every gradient counts by its direction alone: without that $c$ the error on synthetic "
        f"prompts is {lost} above the least."
    )


def show_lengths(lengths: pd.DataFrame) -> pd.DataFrame:
    """Test errors of the matched softmax head by length, simulated and to first order, and the best linear head's."""
    rows = [
        {
            "features": title(row["covariance"]),
            "$L$": f"{row['L']:.0f}",
            "softmax": measured(row["test_error"], row["standard_error"]),
            "first order": compact(row["closed_form"]),
            "best linear": compact(row["best_linear"]),
        }
        for _, row in lengths.iterrows()
    ]
    return pd.DataFrame(rows).set_index(["features", "$L$"])


def show_curvature(curvature: pd.DataFrame) -> pd.DataFrame:
    """Second derivatives of the softmax head's loss along a ray from zero through the best head."""
    rows = {
        f"{row['multiple']:g}": {"least": plain(row["least"]), "largest": plain(row["largest"])}
        for _, row in curvature.iterrows()
    }
    return pd.DataFrame(rows).T.rename_axis("$A$ over the best")


def show_audit(audit: pd.DataFrame) -> pd.DataFrame:
    """What the audits found beside the claim, and the least deficit of noise that they would have found."""
    rows = [
        {
            "head": row["head"],
            "mechanism": row["fault"],
            "steps": f"{row['steps']:.0f}",
            r"$\varepsilon$ claimed": compact(row["epsilon"]),
            r"$\varepsilon$ found, at least": compact(row["epsilon_found"]),
            r"$\mu$ claimed": compact(row["mu"]),
            r"$\mu$ found, at least": compact(row["mu_found"]),
            "would find noise too small by": percent(row["least_deficit"]),
        }
        for _, row in audit.iterrows()
    ]
    return pd.DataFrame(rows).set_index(["head", "mechanism"])


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


def read_privacy(tables: Tables) -> str:
    """What privacy takes from either head, in words."""
    errors = tables["test-error"]
    parts = []
    for name in readings.covariances(errors):
        found = {head: readings.cost(errors, head, name) for head in HEADS}
        free = {head: readings.learnable(errors, head, name).value for head in HEADS}
        parts.append(
            f"{where(name)} the private softmax head's error lies {percent(found[SOFTMAX].value)} above the "
            f"non-private one's (linear: {percent(found[LINEAR].value)}), and without data "
            f"it is {times(free[SOFTMAX])} the non-private one's (linear: {times(free[LINEAR])})"
        )
    case = readings.largest(errors)
    opening = f"At $N = {case['N']:.0f}$ and $\\varepsilon = {case['epsilon']:g}$: "
    return opening + "; ".join(parts) + "."


def read_routes(errors: pd.DataFrame) -> str:
    """What each change of the design is worth, in words."""
    literal, exact, printed, best = (readings.private(errors, SOFTMAX, ISOTROPIC, route) for route in ROUTES)
    return (
        f"Exact accounting alone takes the error from {told(literal)} to {told(exact)}, clipping each gradient alone "
        f"to {told(printed)}, both to {told(best)}."
    )
