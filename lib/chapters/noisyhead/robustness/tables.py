"""The tables of the page on robustness."""

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.robustness import arithmetic as evaluations
from chapters.noisyhead.robustness.theorem import RESPONSES
from companion.judging import cards
from companion.judging.prose import percent, plain
from companion.judging.tables import select

METHODS = {
    "noisyhead": "NoisyHead",
    "ridge": "ridge, rank-one update",
    "ridge-normal-equations": "ridge, normal equations",
}


folded = cards.folded  # the page folds its long tables


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method, for the page."""
    return agreement.deviations(comparison).rename(index=METHODS)


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
    shown = _short(wide.reindex(columns=["clean", "attacked"]).assign(**beside)).rename(index=METHODS)
    return shown.rename_axis(None, axis=1)


def show_arithmetic(arithmetic: pd.DataFrame, comparison: pd.DataFrame) -> pd.DataFrame:
    """Ridge's displacement by evaluation at the α of the first c, the authors' numbers in the last row."""
    theirs = _their_ridge(comparison)
    rows = arithmetic.pivot_table(index="evaluation", columns="alpha", values="displacement", sort=False)
    if theirs.empty:
        return _short(rows.set_axis(_shifts(rows.columns), axis=1))
    table = rows[theirs["alpha"].to_numpy()].set_axis([f"p = {p:g}" for p in theirs["p"]], axis=1)
    table.loc["the authors' numbers"] = theirs["displacement_theirs"].to_numpy()
    return _short(table)


def show_nearest(arithmetic: pd.DataFrame, comparison: pd.DataFrame) -> pd.DataFrame:
    """The authors' ridge at each p, the evaluation of the normal equations nearest in ratio, and their whole range."""
    ours = arithmetic[arithmetic["evaluation"].isin(evaluations.NORMAL_EQUATIONS)].dropna(subset=["displacement"])
    table = _their_ridge(comparison).set_index("p")[["alpha", "displacement_theirs"]]
    for p, (alpha, number) in table.iterrows():
        means = select(ours, alpha=alpha).set_index("evaluation")["displacement"]
        nearest = np.log(means / number).abs().idxmin()
        table.loc[p, ["nearest", "its mean"]] = nearest, means[nearest]
        table.loc[p, ["least", "largest"]] = means.min(), means.max()
    table = table.drop(columns="alpha").rename(columns={"displacement_theirs": "the authors'"})
    return table.map(lambda value: value if isinstance(value, str) else plain(value))


def _their_ridge(comparison: pd.DataFrame) -> pd.DataFrame:
    return select(comparison, method="ridge-normal-equations", setting="published")


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
