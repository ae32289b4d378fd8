"""Tables for readers of the page on real data of arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.real_data.figure_eight import SCHEDULES
from chapters.dpgd.real_data.verdicts_rows import fractions
from companion.judging.prose import measured, percent, plain, with_errors
from companion.judging.tables import select


def show_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """What the rows are like, by data set and n: means over the seeds, medians where rare values rule."""
    groups = rows.groupby(["data", "n"], sort=False)
    ranges = {"that vary": "live", "of variance ½ to 2": "unit_variance", "tr Σ": "trace", "median of ‖x‖²": "typical"}
    shown = pd.DataFrame(
        {
            "test rows": groups["test_rows"].first().map(int).map(str),
            "features": groups["d"].first().map(str),
            **{name: groups[column].agg(_range) for name, column in ranges.items()},
            "risk of answering 0": groups["trivial"].mean().map(plain),
            "least linear risk": groups["floor"].mean().map(plain),
        }
    )
    return shown.rename_axis(["data set", "n"])


def _range(values: pd.Series) -> str:
    low, high = plain(values.min()), plain(values.max())
    return low if low == high else f"{low} to {high}"


def show_treatments(table: pd.DataFrame) -> pd.DataFrame:
    """What becomes of the map's best place where constant pixels are treated otherwise."""
    rows = {}
    for name, group in table.groupby("treatment", sort=False):
        rows[name] = {
            "mean of ‖x‖²": _range(group["trace"]),
            "median of ‖x‖²": _range(group["typical"]),
            "best c·η̃(0)": plain(float((group["c"] * group["eta0"]).iloc[0])),
            "least risk": measured(group["risk"].mean(), group["risk"].sem()),
            "median over seeds": plain(float(group["risk"].median())),
        }
    return pd.DataFrame(rows).T.rename_axis("a pixel that is constant where it is normalised")


def show_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """By n and number of normalisation rows: how many seeds blow up, and what distinguishes them."""
    names = {
        "n": "n",
        "normalisation": "rows that normalise",
        "share": "seeds that blow up",
        "typical": "their typical error, over the others'",
        "training": "their training risk, over the others'",
        "explained": "loss in the worst 0.2 % of rows",
        "feature_out": "largest feature, median",
        "feature_in": "the others'",
        "worst": "largest risk",
        "worst_limited": "features limited",
    }
    found = fractions(table)
    shares = found["explained"].map(percent, na_action="ignore").fillna("–")
    blown = with_errors(found, "share")
    numbers = ["typical", "training", "feature_out", "feature_in", "worst", "worst_limited"]
    found = found.assign(share=blown, explained=shares, **{name: found[name].map(_or_dash) for name in numbers})
    return found[list(names)].rename(columns=names).set_index(["n", "rows that normalise"])


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else plain(value)


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error of the risk over seeds, by data set, view, n and schedule."""
    groups = table.groupby(["data", "view", "n", "schedule"], sort=False)["risk"]
    return groups.agg(risk="mean", standard_error="sem", seeds="count").reset_index()


def show_figure_8(table: pd.DataFrame) -> pd.DataFrame:
    """Mean risk with its standard error, by data set, view and n; the number of seeds; the best harmonic τ."""
    place = ["data", "view", "n"]
    found = means(table)
    told = found.assign(shown=with_errors(found, "risk"))
    wide = told.pivot(index=place, columns="schedule", values="shown")[list(SCHEDULES)]
    wide.columns = [name if name == "harmonic" else f"α = {name}" for name in SCHEDULES]
    wide["harmonic τ"] = select(table, schedule="harmonic").groupby(place)["offset"].first().map(plain)
    wide["seeds"] = found.groupby(place)["seeds"].first().map(str)
    return wide.rename_axis(["data set", "seeds and features", "n"])
