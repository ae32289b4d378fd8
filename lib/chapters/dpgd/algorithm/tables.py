"""Short tables for the page on Algorithm 1 of arXiv:2505.16329v2."""

from collections.abc import Mapping

import pandas as pd

from chapters.dpgd.algorithm.models import ISOTROPIC
from companion.judging.prose import plain, with_errors
from companion.judging.tables import select


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """What was found of each property of a step, for the page."""
    names = {"check": "property", "worst": "largest found", "bound": "allowed", "pairs": "pairs tried"}
    said = steps["check"].str.replace("C_clip", "clipping bound")
    rows = steps.assign(check=said, worst=steps["worst"].map(plain), bound=steps["bound"].map(plain))
    return rows.rename(columns=names).set_index("property")


def show_sensitivity(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """How far one record moves a step, in units of ηC_clip, for the page."""
    columns = {"bound": "bound", "largest_found": "largest found", "constructed": "constructed"}
    return _named(sensitivity.set_index("relation"), columns).rename_axis("neighbours").map(plain)


def show_schedules(schedules: pd.DataFrame) -> pd.DataFrame:
    """What (4.1) and (4.2) give for each schedule, for the page."""
    columns = {
        "rho_recomputed": "ρ recomputed",
        "share_last": "share of noise in the last step",
        "least_total": "least other total",
        "least_tail": "least other, any step on",
        "last_step_total": "all in the last step, total",
        "rho_every": "ρ if all iterates are released",
    }
    return _named(schedules.set_index("schedule"), columns).T.map(plain).rename_axis(columns=None)


def show_outputs(outputs: pd.DataFrame) -> pd.DataFrame:
    """What neighbouring outputs spend, as a share of αρ²/2, by schedule and replaced record."""
    wide = outputs.pivot_table(index=["schedule", "others"], columns="k", values="renyi_share", sort=False)
    shown = wide.map(lambda value: f"{max(value, 0):.3f}").rename(columns=lambda k: f"record {k}")
    return shown.rename_axis(columns=None)


def show_tightness(tightness: pd.DataFrame) -> pd.DataFrame:
    """How much of ρ neighbours reach, by placement of the noise, with the share of the noise that is left."""
    columns = {
        "step": "step that attains (4.1)",
        "noise_left": "noise still to come there",
        "reached_silent": "reached, others silent",
        "reached_found": "most found",
    }
    rows = tightness.assign(privacy=tightness["rho"].map("ρ = {:g}".format))
    return _named(rows.set_index(["schedule", "placement", "privacy"]), columns).map(plain)


def show_placement(placement: pd.DataFrame) -> pd.DataFrame:
    """Risks by schedule and placement of the noise, with their standard errors."""
    wide = placement.assign(text=with_errors(placement, "excess_risk")).pivot(
        index="schedule", columns="placement", values="text"
    )
    return wide.loc[placement["schedule"].unique(), placement["placement"].unique()].rename_axis(columns=None)


def show_disputed(disputed: pd.DataFrame) -> pd.DataFrame:
    """Predicted and simulated risks by covariance and placement of the noise."""
    rows = disputed.assign(predicted=disputed["predicted"].map(plain), simulated=with_errors(disputed, "excess_risk"))
    return rows.set_index(["covariance", "placement"])[["predicted", "simulated"]]


def show_conversions(conversions: pd.DataFrame) -> pd.DataFrame:
    """ε by four routes at the middle δ, for the page."""
    middle = sorted(conversions["delta"].unique())[conversions["delta"].nunique() // 2]
    columns = {
        "proposition_a3": "Proposition A.3",
        "equation_a3": "(A.3)",
        "renyi": "by way of Rényi",
        "exact": "exact",
    }
    rows = select(conversions, delta=middle).set_index("rho").rename_axis("ρ")
    met = rows["condition"].map({True: "met", False: "not met"})
    return _named(rows, columns).map(plain).assign(**{"condition of (A.3)": met})


def show_along_gamma(rates: pd.DataFrame) -> pd.DataFrame:
    """Mean risk with its standard error, and its share of the limit, by γ, covariance and ρ."""
    rows = select(rates, axis="gamma")
    shares = (rows["excess_risk"] / rows["limit"]).map(" ({:.2f})".format)
    wide = rows.assign(text=with_errors(rows, "excess_risk") + shares, rho=rows["rho"].map("ρ = {:g}".format))
    wide = wide.rename(columns={"spectrum": "covariance", "gamma": "γ"})
    shown = wide.pivot(index=["covariance", "γ"], columns="rho", values="text").rename_axis(columns=None)
    return shown.sort_index(ascending=False).loc[list(rows["spectrum"].unique())]


def show_along_n(rates: pd.DataFrame) -> pd.DataFrame:
    """Mean risk with its standard error for Σ = I, by n and way of clipping, beside (1.2) to (1.4)."""
    rows = select(rates, axis="n", spectrum=ISOTROPIC)
    told = rows.assign(text=with_errors(rows, "excess_risk"))
    wide = told.pivot(index=["n", "d"], columns="algorithm", values="text")
    bounds = rows.drop_duplicates("n").set_index(["n", "d"])[["rate_1.2", "rate_1.3", "rate_1.4"]]
    return wide.join(bounds.rename(columns=lambda name: f"({name.removeprefix('rate_')})").map(plain))


def show_translation(translation: pd.DataFrame) -> pd.DataFrame:
    """ε at δ = 1/n², and its square over ρ² log n, by n."""
    shown = translation.map(plain).set_index("n")
    return shown.rename(columns={"epsilon": "ε at δ = 1/n²", "ratio": "ε² / (ρ² log n)"})


def _named(table: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Some columns of a table, under the names that readers know."""
    return table[list(columns)].rename(columns=columns)
