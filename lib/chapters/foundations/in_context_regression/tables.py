"""Short tables for the page on in-context regression."""

import pandas as pd

from companion.judging.prose import plain

BLOCKS = {"W^PV": "v, in the values", "W^KQ": "u, in keys and queries"}


def best_penalty(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the best penalty for each shape."""
    return table.loc[table.groupby(["D", "L"])["test_error"].idxmin()]


def show_identities(identities: pd.DataFrame) -> pd.DataFrame:
    """The largest difference of each identity over all shapes, for the page."""
    worst = identities.groupby("identity", sort=False)["relative_difference"].max()
    return worst.map(plain).to_frame("largest relative difference")


def show_dropped_terms(dropped: pd.DataFrame) -> pd.DataFrame:
    """Means of the products over all shapes, and their sizes in standard errors, for the page."""
    means = dropped.groupby("product", sort=False)["mean"].agg(["min", "max"])
    return means.set_axis(["least mean", "largest mean"], axis=1).join(_scores(dropped)).map(plain)


def show_tuned(table: pd.DataFrame) -> pd.DataFrame:
    """Test error with the best penalty for each shape beside the best linear head, for the page."""
    names = {
        "penalty": "best λ",
        "test_error": "test error",
        "standard_error": "standard error",
        "best": "best linear head",
    }
    return best_penalty(table).set_index(["D", "L"])[list(names)].rename(columns=names).map(plain)


def show_zero_blocks(zero: pd.DataFrame) -> pd.DataFrame:
    """The slope of the loss at zero blocks over all shapes, in standard errors, for the page."""
    return _scores(zero).rename(index=BLOCKS).map(plain).rename_axis("slope along")


def _scores(means: pd.DataFrame) -> pd.DataFrame:
    """The range of the means of each product, in standard errors."""
    scores = (means["mean"] / means["standard_error"]).groupby(means["product"], sort=False).agg(["min", "max"])
    return scores.set_axis(["least, in standard errors", "largest"], axis=1)
