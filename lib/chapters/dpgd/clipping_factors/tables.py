"""Short tables for the page on the reduction factors of arXiv:2505.16329v2."""

import pandas as pd

from companion.judging.prose import plain, with_errors
from companion.judging.tables import select


def show_definition(definition: pd.DataFrame) -> pd.DataFrame:
    """Simulated factors with their standard errors, and the closed form, for the page."""
    shown = definition.assign(simulated=with_errors(definition, "value")).rename(columns={"direction": "error in"})
    index = ["law", "spectrum", "error in"]
    table = shown.pivot(index=index, columns="quantity", values="simulated")
    table = table.loc[list(map(tuple, shown[index].drop_duplicates().to_numpy()))]
    closed = definition.drop_duplicates("quantity").set_index("quantity")["closed_form"]
    table.loc[("closed form", "", "")] = closed.map(plain)
    names = {"mu": "μ", "nu": "ν", "share whole": "share left whole"}
    return table.rename(columns=names).rename_axis(columns=None)


def show_landmarks(landmarks: pd.DataFrame) -> pd.DataFrame:
    """Landmarks to ten digits: agreement is what they show."""
    return landmarks.set_index("landmark").map("{:.10f}".format)


def show_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """Both ratios of (B.15) over all risks, between the best constants, at the middle ζ."""
    middle = sorted(bounds["label_noise"].unique())[bounds["label_noise"].nunique() // 2]
    columns = {
        "mu_sharp": "best constant, μ",
        "mu_low": "least μ/c'",
        "mu_high": "largest μ/c'",
        "nu_sharp": "best constant, ν",
        "nu_low": "least ν/c'²",
        "nu_high": "largest ν/c'²",
    }
    rows = select(bounds, label_noise=middle).assign(share=lambda r: r["clip"] / r["label_noise"])
    shown = rows.sort_values("share").set_index("share").rename_axis("c/ζ")[list(columns)].rename(columns=columns)
    return shown.map("{:.4g}".format).rename(index=plain)
