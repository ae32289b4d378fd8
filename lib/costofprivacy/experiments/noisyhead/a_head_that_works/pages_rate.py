"""What the page on a private head that works reads from the rate, and from the descent without its noise."""

from __future__ import annotations

import pandas as pd
from IPython.display import Markdown

from costofprivacy.experiments.noisyhead.a_head_that_works import findings, floor, words
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import NON_PRIVATE
from costofprivacy.judging.prose import compact, listed, measured, percent, plain
from costofprivacy.judging.tables import Tables, pick, select

NEAR = 2.0  # a rate with two fitted constants that misses by more predicts nothing


def show_rate(rate: pd.DataFrame) -> pd.DataFrame:
    """The fitted constants and the largest miss, by covariance and method."""
    rows = []
    for (covariance, method), part in rate.groupby(["covariance", "method"], sort=False):
        miss = findings.rate_miss(rate, method, covariance)
        told = {"features": words.title(covariance), "head": words.METHODS[method], "$a$": plain(part["a"].iloc[0])}
        rows.append(told | {"$b$": plain(part["b"].iloc[0]), "largest factor between fit and measurement": plain(miss)})
    return pd.DataFrame(rows).set_index("features")


def read_rate(rate: pd.DataFrame) -> Markdown:
    """Whether the rate predicts each method, by the largest miss over the covariances, and how excesses end."""
    misses = {
        method: max(findings.rate_miss(rate, method, name) for name in rate["covariance"].unique())
        for method in dict.fromkeys(rate["method"])
    }
    told = [
        f"{words.METHODS[m]}: {'yes' if miss <= NEAR else 'no'} (within a factor {plain(miss)})"
        for m, miss in misses.items()
    ]
    ends = words.sentences(_ends(rate, name) for name in dict.fromkeys(rate["covariance"]))
    return Markdown(f"Does it predict the excess to a factor {NEAR:g}? {words.started(listed(told))}. {ends}")


def _ends(rate: pd.DataFrame, covariance: str) -> str:
    """By what factor the last step in N changes the excess, private and not."""
    rows = select(rate, covariance=covariance, epsilon=rate["epsilon"].max())
    before, last = sorted(rows["N"].unique())[-2:]
    factors = {
        method: float(pick(rows, method=method, N=last)["excess"] / pick(rows, method=method, N=before)["excess"])
        for method in (PRIVATE, NON_PRIVATE)
    }
    return (
        f"{words.where(covariance)}, from $N = {before}$ to ${last}$ at $\\varepsilon = {rows['epsilon'].iloc[0]:g}$, "
        f"the private head's excess changes by a factor {compact(factors[PRIVATE])}, that of least squares by "
        f"{compact(factors[NON_PRIVATE])}"
    )


def show_floor(quiet: pd.DataFrame) -> pd.DataFrame:
    """The excess over the best head: as it is, without noise, and without clipping either."""
    excess = quiet["test_error"] - quiet["best"]
    names = {
        "features": quiet["covariance"].map(words.title),
        "head": quiet["method"].map(words.METHODS),
        "$\\varepsilon$": quiet["epsilon"].map("{:g}".format),
        "way": quiet["way"].map(words.WAYS),
    }
    text = [measured(v, e) for v, e in zip(excess, quiet["standard_error"], strict=True)]
    wide = pd.DataFrame(names).assign(text=text, free=[plain(v) for v in quiet["non_private"] - quiet["best"]])
    index = ["features", "head", "$\\varepsilon$", "free"]
    table = wide.pivot(index=index, columns="way", values="text")[list(words.WAYS.values())]
    order = wide[index].drop_duplicates()
    table = table.loc[pd.MultiIndex.from_frame(order)].reset_index("free")
    return table.rename(columns={"free": words.METHODS[NON_PRIVATE]}).rename_axis(columns=None)


def read_floor(tables: Tables) -> Markdown:
    """How much of the private head's excess is no noise, and whether more budget ever makes it worse."""
    quiet = select(tables["floor"], method=PRIVATE, epsilon=tables["floor"]["epsilon"].max())
    told = []
    for name, rows in quiet.groupby("covariance", sort=False):
        excess = (rows.set_index("way")["test_error"] - rows["best"].iloc[0]).to_dict()
        told.append(
            f"{words.where(str(name))}, {percent(excess[floor.QUIET] / excess[floor.NOISY])} of the excess is left "
            f"without noise, {percent(excess[floor.FREE] / excess[floor.NOISY])} without clipping either"
        )
    size = f"$N = {quiet['N'].iloc[0]}$, $\\varepsilon = {quiet['epsilon'].iloc[0]:g}$"
    return Markdown(f"This is at {size}. {words.sentences(told)} {_dearer(tables)}")


def _steps(errors: pd.DataFrame) -> int:
    """Pairs of neighbouring ε in the main table."""
    rows = select(errors, method=PRIVATE)
    return len(rows) - len(rows[["covariance", "N"]].drop_duplicates())


def _dearer(tables: Tables) -> str:
    """Whether more budget makes the private head worse, and what the same plans do without noise."""
    found = findings.dearer(tables["test-error"])
    if not len(found):
        return "Nowhere in the main table does more budget make the private head worse beyond doubt."
    row = found.loc[(found["more_error"] / found["error"]).idxmax()]
    quiet = select(tables["floor"], method=PRIVATE, way=floor.QUIET, covariance=row["covariance"])
    errors = quiet.set_index("epsilon")["test_error"]
    same = ", ".join(f"{compact(errors[e])} by the plan of $\\varepsilon = {e:g}$" for e in errors.index)
    return (
        f"More budget is not always better: from one $\\varepsilon$ of the main table to the next the error grows "
        f"beyond doubt in {len(found)} of {_steps(tables['test-error'])} cases, {words.where(row['covariance'])} and "
        f"$N = {row['N']}$ from {row['error']:.4g} at $\\varepsilon = {row['epsilon']:g}$ to {row['more_error']:.4g} "
        f"at ${row['more_epsilon']:g}$. Without noise, at the largest $N$: {same}."
    )
