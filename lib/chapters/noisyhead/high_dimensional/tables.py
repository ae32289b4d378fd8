"""Short tables for the page on high dimension."""

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.high_dimensional import axes, verdicts_bounds
from chapters.noisyhead.high_dimensional.verdicts import start_slopes
from companion.judging import growth
from companion.judging.prose import percent, plain
from companion.judging.tables import select
from costofprivacy.settings import Setting

METHODS = {
    "noisyhead": "NoisyHead",
    "gradient-descent": "gradient descent",
    "ridge": "reference Γ*",
    "zero": "answering 0",
}


def show_deviations(comparison: pd.DataFrame) -> pd.DataFrame:
    """Size of the deviations from the published numbers by setting and method."""
    return agreement.deviations(comparison).rename(index=METHODS)


def show_slopes(starts: pd.DataFrame) -> pd.DataFrame:
    """The power of N that the risk follows from each start."""
    names = {"exponent": "power of N", "standard_error": "standard error"}
    return start_slopes(starts).set_index("start").rename(columns=names).map(plain)


def show_test_error(table: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) lost or predicted, at the largest N for the least and the largest ε, in parts per million."""
    rows = table[(table["N"] == table["N"].max()) & (table["method"] != "zero")]
    rows = rows[rows["epsilon"].isna() | rows["epsilon"].isin([table["epsilon"].min(), table["epsilon"].max()])]
    rows = rows[(rows["method"] != "ridge") | (rows["setting"] == Setting.PRINTED)]
    variance, budget = rows["response_variance"], rows["epsilon"].map(", ε = {:g}".format)
    shown = pd.DataFrame(
        {
            "setting": rows["setting"].where(rows["method"] != "ridge", "any"),
            "head": rows["method"].map(METHODS) + budget.where(rows["epsilon"].notna(), ""),
            "predicted, parts per million": (1e6 * (1 - rows["test_error"] / variance)).map(plain),
            "standard error": (1e6 * rows["standard_error"] / variance).map(plain),
        }
    )
    best = 1e6 * (1 - (rows["best_linear_head"] / variance).iloc[0])
    shown.loc[-1] = ["any", "best linear head", plain(best), plain(0.0)]
    return shown.set_index(["setting", "head"])


def show_exponents(powers: pd.DataFrame) -> pd.DataFrame:
    """The local exponent in N of each part at the largest N, by regime."""
    last = select(powers, N=powers["N"].max())
    wide = last.pivot_table(index="quantity", columns="regime", values="exponent", sort=False)
    shown = wide.rename(columns={"low": "low dimension", "high": "high dimension"}).map(_power)
    return shown.rename_axis(index=f"power at N = {plain(powers['N'].max())}", columns=None)


def show_reference(reference: pd.DataFrame) -> pd.DataFrame:
    """Share of Var(y) that Γ* predicts by penalty."""
    names = {"penalty": "λ", "share_predicted": "predicted by Γ*", "best_linear_head": "by the best linear head"}
    return reference[list(names)].rename(columns=names).set_index("λ").rename(index=plain).map(percent)


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


def show_tail(tail: pd.DataFrame) -> pd.DataFrame:
    """The constants at N = 1 far in the tail."""
    names = {"constant_A3": "needed by the form of A.3", "constant_A2_form": "by the form of A.2"}
    return tail.set_index("D").rename(columns=names).map(plain)


def show_sides(sides: pd.DataFrame) -> pd.DataFrame:
    """The largest left over right side of (4.4) by N."""
    found = verdicts_bounds.largest_ratios(sides).set_index("N")["left"]
    return found.map(plain).to_frame("left over right of (4.4), at most")


def show_regimes(regimes: pd.DataFrame) -> pd.DataFrame:
    """The power of each axis' size by which the cost outgrows Theorem 1.1's rate and (4.4), the larger of both ε."""
    rows = {}
    for axis, own in regimes.groupby("axis", sort=False):
        of = [select(own, budget=name) for name in (axes.FIXED, axes.LARGEST)]
        sides = {"Theorem 1.1": ("error_gap", "rate_11")} if axis in axes.PATHS else {}
        sides |= {"(4.4)": ("risk_printed", "bound_44"), "(4.4), λ/2 in the update": ("risk_halved", "bound_44")}
        powers = {name: max(growth.power(o, "size", *pair) for o in of) for name, pair in sides.items()}
        rows[axis] = powers | {"λ ≳ G²": "yes" if verdicts_bounds.comparable(own).iloc[-1] else "no"}
    names = ["Theorem 1.1", "(4.4)", "(4.4), λ/2 in the update", "λ ≳ G²"]
    return pd.DataFrame(rows).T[names].map(_power).rename_axis("what grows")


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """The power of each size that is left in the ratio of left to right of (A.18) and (A.19)."""
    mended = steps.assign(right=steps["right"] * steps["response_variance"] ** 2, step="(A.19), ν⁵")
    every = pd.concat([steps, mended[steps["step"] == axes.NOISE_STEP]])
    powers = {(step, axis): growth.power(own, "size") for (step, axis), own in every.groupby(["step", "axis"])}
    return pd.Series(powers).unstack(level=0).map(_power).rename_axis("what grows")


def _power(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if pd.isna(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def show_sums(tails: pd.DataFrame) -> pd.DataFrame:
    """Probability of a sum of features over the printed tail."""
    shown = tails.assign(L=tails["L"].map("{:g}".format).replace("inf", "∞"))
    return shown.pivot_table(index=["L", "t"], columns="D", values="over_printed", sort=False).map(plain)


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
