"""The tables of the page, for readers."""

from __future__ import annotations

import pandas as pd

from chapters.privacy.best_method import beside
from chapters.privacy.best_method import cases as judged
from companion.judging.prose import percent, plain

SHORT = {
    "objective perturbation": "objective",
    "clipped descent": "descent",
    "boosted AdaSSP": "boosted",
    "one pass (DP-GD)": "one pass",
}
CLEARLY = "by more than 4 standard errors"
MOST = 1000.0  # a larger ratio is shown as larger than this


def show_choices(cases: pd.DataFrame) -> pd.DataFrame:
    """By data: how often each method is best, and how near the choice from public numbers comes."""
    found = judged.compared(cases)
    rows = []
    for name, own in found.groupby("data", sort=False):
        best = own["best"].value_counts()
        row = {"data": name, "cases": len(own)}
        row |= {f"best: {short}": int(best.get(method, 0)) for method, short in SHORT.items()}
        row |= {"choice near the best": percent(own["near"].mean())}
        rows.append(row | {"largest ratio": plain(own["ratio"].max())})
    return pd.DataFrame(rows).set_index("data")


def show_forecasts(cases: pd.DataFrame) -> pd.DataFrame:
    """By data: the forecast of the chosen method's excess error over what was measured."""
    found = judged.compared(cases)
    found = found.assign(told=judged.told(found))
    rows = []
    for name, own in found.groupby("data", sort=False):
        quantiles = own["forecast"].quantile([0.05, 0.5, 0.95])
        row = {"data": name, "held to a factor of": plain(own["limit"].iloc[0])}
        new = "–" if own["forecast_new"].isna().all() else percent(judged.told(own, "forecast_new").mean())
        row |= {"within it": percent(own["told"].mean()), "within it, on new records": new}
        row |= {f"{label} of forecast over measured": plain(quantiles[q]) for label, q in QUANTILES.items()}
        rows.append(row)
    return pd.DataFrame(rows).set_index("data")


QUANTILES = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}


def show_intervals(intervals: pd.DataFrame) -> pd.DataFrame:
    """Coverage and width of 90 % intervals; a dash where the noise leaves none."""
    rows = []
    for number, row in enumerate(intervals.to_dict("records"), 1):
        some = pd.notna(row["coverage"])
        told = {
            "": number,
            "data": row["data"],
            "$n$": f"{row['n']:,}",
            "$d$": row["d"],
            "$\\varepsilon$": f"{row['epsilon']:g}",
        }
        told |= {"target": row["target"], "exist": percent(row["valid"])}
        told |= {"coverage, mean": percent(row["coverage"]) if some else "–"}
        told |= {"coverage, least": percent(row["least"]) if some else "–"}
        rows.append(told | {"width over oracle's": plain(row["width"]) if some else "–"})
    return pd.DataFrame(rows).set_index("")


def show_cases(cases: pd.DataFrame) -> pd.DataFrame:
    """Every case: excess error over that of the mean, by method, and which one was chosen."""
    found = judged.compared(cases).set_index(judged.KEY)
    whole = cases.assign(share=cases["excess"] / cases["constant"])
    wide = whole.pivot_table(index=judged.KEY, columns="method", values="share", sort=False)
    wide = wide.loc[wide.index.isin(found.index)].map(plain)
    wide.insert(0, "chosen", found["chosen"].reindex(wide.index))
    wide = wide.reset_index().rename(columns={"n": "$n$", "d": "$d$", "epsilon": "$\\varepsilon$"})
    return wide.assign(**{"$\\varepsilon$": wide["$\\varepsilon$"].map("{:g}".format)}).set_index("data")


def show_others(rivals: pd.DataFrame) -> pd.DataFrame:
    """By method: how often it beats the best of the four, and its excess error over that of the best."""
    found = beside.compared(rivals)
    rows = []
    for name in rivals["method"].unique():
        own = found[found["method"] == name]
        row = {"method": name, "cases": len(own), "beats the best of the four": int(own["wins"].sum())}
        row |= {CLEARLY: int(own["clearly"].sum())}
        row |= {"median ratio": _ratio(own["ratio"].median()), "least ratio": _ratio(own["ratio"].min())}
        rows.append(row)
    return pd.DataFrame(rows).set_index("method")


def show_won(rivals: pd.DataFrame) -> pd.DataFrame:
    """The cases in which another method beats the best of the four, by more than two standard errors."""
    rows = [
        {
            "data": row["data"],
            "$n$": f"{row['n']:,}",
            "$d$": row["d"],
            "$\\varepsilon$": f"{row['epsilon']:g}",
            "farthest ahead": row["method"],
            "best of the four": SHORT.get(row["best"], row["best"]),
            "ratio": _ratio(row["ratio"]),
            CLEARLY: "yes" if row["clearly"] else "no",
        }
        for row in beside.won(rivals).to_dict("records")
    ]
    columns = ["data", "$n$", "$d$", "$\\varepsilon$", "farthest ahead", "best of the four", "ratio", CLEARLY]
    return pd.DataFrame(rows, columns=columns).set_index("data")


def _ratio(value: float) -> str:
    """A ratio of excess errors; what diverged is cut."""
    return "–" if pd.isna(value) else f"over {MOST:,.0f}" if value > MOST else plain(value)
