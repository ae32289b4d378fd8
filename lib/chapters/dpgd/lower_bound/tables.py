"""Short tables for the page on the lower bound of arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.lower_bound.attacks import ZERO
from chapters.dpgd.lower_bound.optimality import BALL, PATHS, PRIOR
from companion.judging.prose import plain, with_errors
from companion.judging.tables import select

PATH_NAMES = dict(zip(PATHS, ("ρ = 1", "ρ = √γ", "ρ = γ^¾")))


def show_factors(bounds: pd.DataFrame) -> pd.DataFrame:
    """DP-GD over the lower bound along each path, for the page."""
    rows = bounds[bounds["path"].isin(list(PATHS))]
    place = rows["spectrum"].where(rows["start"] == BALL, PRIOR)
    rows = rows.assign(column=rows["path"].map(PATH_NAMES) + ", " + place)
    table = rows.pivot(index="gamma", columns="column", values="factor").sort_index(ascending=False)
    return table[rows["column"].unique()].rename_axis(index="γ", columns=None).map(plain).rename(index=plain)


def show_chain(chain: pd.DataFrame) -> pd.DataFrame:
    """The links of (D.144) and (D.145) for output perturbation, at the most records."""
    rows = select(chain, n=chain["n"].max()).sort_values(["multiple", "rho"])
    columns = {
        "ρ": rows["rho"].map(plain),
        "learning rate over the best": rows["multiple"].map(plain),
        "score": with_errors(rows, "score", "score_error"),
        "by the first record's ratio, as printed": rows["first"].map(plain),
        "by each record's own ratio": rows["each"].map(plain),
        "by the worst pair of records": rows["most"].map(plain),
    }
    return pd.DataFrame(columns).set_index(["ρ", "learning rate over the best"])


def show_attack(attack: pd.DataFrame) -> pd.DataFrame:
    """Score on the data and on fresh records, risk and certified ρ at the most records."""
    rows = select(attack, n=attack["n"].max())
    columns = {
        "algorithm": rows["algorithm"],
        "ρ": [_spent(name, rho) for name, rho in zip(rows["algorithm"], rows["rho"])],
        "score": with_errors(rows, "score", "score_error"),
        "on fresh records": with_errors(rows, "fresh", "fresh_error"),
        "excess risk": with_errors(rows, "risk", "risk_error"),
        "certified ρ": rows["certified"].map(plain),
    }
    return pd.DataFrame(columns).set_index(["algorithm", "ρ"])


def _spent(algorithm: str, rho: float) -> str:
    """What an algorithm spends, in words."""
    if algorithm == ZERO:
        return "0"
    return "not private" if math.isinf(rho) else plain(rho)


def show_rivals(rivals: pd.DataFrame) -> pd.DataFrame:
    """Simulated and predicted risks of DP-GD and of a pilot with one averaged step."""
    columns = {
        "algorithm": rivals["algorithm"],
        "simulated risk": with_errors(rivals, "risk", "standard_error"),
        "predicted": rivals["predicted"].map(plain),
    }
    return pd.DataFrame(columns).set_index("algorithm")


def show_priors(priors: pd.DataFrame) -> pd.DataFrame:
    """κ of three priors, by dimension."""
    names = {"paper": "the paper's", "cube": "best of independent entries", "ball": "best on the ball"}
    return priors.set_index("d").rename(columns=names).map(plain).rename(index=plain)


def show_outside(outside: pd.DataFrame) -> pd.DataFrame:
    """How often the Gaussian prior of Lemma D.8 leaves the ball, at the fewest records per dimension."""
    rows = select(outside, ratio=outside["ratio"].min())
    table = rows.pivot(index="label_noise", columns="d", values="leaves").rename(columns=lambda d: f"d = {d}")
    table.insert(0, "mean squared norm", rows.groupby("label_noise")["spread"].first())
    return table.rename_axis(index="ζ", columns=None).map(plain).rename(index=plain)
