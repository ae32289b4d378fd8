"""Which method of private linear regression has the least error, and does the choice from public numbers find it?"""

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.best_method import campaign, data
from companion.judging.prose import Sentences, compact, listed, percent, plain
from companion.judging.tables import Tables
from companion.judging.vocabulary import CONSISTENT
from costofprivacy import datasets
from costofprivacy.estimators.forecasting import DESCENT, OBJECTIVE

# ---- Case by case: who is best, what was chosen, how far choice and forecast are off, and who beats the four ----

KEY = ["data", "n", "d", "epsilon"]
NEAR, NOISE, FAR = 1.1, 2.0, 1.5  # a choice is near the best: this factor, or so many standard errors; and never beyond
WITHIN = dict.fromkeys((data.ISOTROPIC, data.CORRELATED), 1.5)  # factors that forecasts are held to
OTHERWISE = 3.0  # on heavy tails and real data
WANTED = 0.9  # the share of cases in which both have to be so


def compared(cases: pd.DataFrame) -> pd.DataFrame:
    """A row for each case in which a private method beats the mean, from the table ``cases``.

    It has the key; ``best`` and ``chosen``, methods; ``ratio``, the excess error of the choice over the least;
    ``near``, whether it is within `NEAR` or `NOISE` standard errors; ``forecast``, the forecast of the choice over what
    was measured; ``forecast_new``, the same on new records, NaN for real data; ``limit``, the factor that both are held
    to; ``excess`` of the choice, ``constant``, of the mean, and ``share``, the first over the second.
    """
    found = []
    for key, rows in cases.groupby(KEY, sort=False):
        best, choice = rows.loc[rows["excess"].idxmin()], rows[rows["chosen"].astype(bool)].iloc[0]
        if not best["excess"] < best["constant"]:
            continue
        near = choice["excess"] <= NEAR * best["excess"] or choice["behind"] <= NOISE * choice["behind_error"]
        row = dict(zip(KEY, key, strict=True)) | {"best": best["method"], "chosen": choice["method"], "near": near}
        row |= {"ratio": choice["excess"] / best["excess"], "forecast": choice["forecast"] / choice["excess"]}
        row |= {"limit": WITHIN.get(key[0], OTHERWISE), "excess": choice["excess"], "constant": choice["constant"]}
        row |= {"forecast_new": choice["forecast_new"] / choice["new"]}
        found.append(row | {"share": choice["excess"] / choice["constant"]})
    return pd.DataFrame(found)


def told(found: pd.DataFrame, column: str = "forecast") -> pd.Series:
    """Whether each ``forecast``, or ``forecast_new``, of `compared` is within its factor."""
    return (found[column] <= found["limit"]) & (found[column] >= 1 / found["limit"])


def beside_the_best(rivals: pd.DataFrame) -> pd.DataFrame:
    """A row for each method that runs in a case in which some private method, of the four or another, beats the mean.

    It has the key and ``method``; ``best``, of the four; ``ratio``, the excess error of the method over that of the
    best; ``wins``, whether it is smaller than that of the best by more than `NOISE` standard errors of the paired
    difference, and smaller than that of the mean; ``clearly``, the same by `CONSISTENT` standard errors.
    """
    least = rivals[["excess", "best_excess"]].min(axis=1).groupby([rivals[name] for name in KEY]).transform("min")
    found = rivals[(least < rivals["constant"]) & rivals["excess"].notna()].reset_index(drop=True)
    helps = found["excess"] < found["constant"]
    found = found.assign(
        ratio=found["excess"] / found["best_excess"],
        wins=helps & (found["behind"] < -NOISE * found["behind_error"]),
        clearly=helps & (found["behind"] < -CONSISTENT * found["behind_error"]),
    )
    return found[[*KEY, "method", "best", "ratio", "wins", "clearly"]]


def won(rivals: pd.DataFrame) -> pd.DataFrame:
    """A row for each case that some other method wins: the one that is farthest ahead, and how many win it."""
    found = beside_the_best(rivals)
    ahead = found[found["wins"].astype(bool)]
    winners = ahead.groupby(KEY, sort=False)["method"].transform("size")
    ahead = ahead.assign(winners=winners).sort_values("ratio", kind="stable").drop_duplicates(KEY)
    return ahead.sort_index().drop(columns="wins").reset_index(drop=True)


def overall(rivals: pd.DataFrame) -> pd.DataFrame:
    """A row for each case: the choice from public numbers beside the best of all methods, the four and the others.

    It has the key; ``best``, of all methods; ``chosen``; ``ratio``, the excess error of the choice over the least; and
    ``near``, whether the choice is within `NEAR` or within `NOISE` standard errors of the paired difference.
    """
    found = []
    for key, rows in rivals.groupby(KEY, sort=False):
        row = rows.loc[rows["excess"].idxmin()]
        other = row["excess"] < row["best_excess"]
        least = row["excess"] if other else row["best_excess"]
        if not least < row["constant"]:
            continue
        lead, error = (row[f"{'lead' if other else 'choice_behind'}{end}"] for end in ("", "_error"))
        near = row["choice_excess"] <= NEAR * least or lead <= NOISE * error
        told = dict(zip(KEY, key, strict=True)) | {"best": row["method"] if other else row["best"]}
        found.append(told | {"chosen": row["choice"], "ratio": row["choice_excess"] / least, "near": bool(near)})
    return pd.DataFrame(found, columns=[*KEY, "best", "chosen", "ratio", "near"])


def caption_choices(tables: Tables) -> str:
    """How near the best the choice comes, and the forecast what was measured."""
    found = compared(tables["cases"])
    near, within = percent(found["near"].mean()), percent(told(found).mean())
    return (
        f"**In {near} of {len(found)} cases the method that is chosen from public numbers is within 10 % or two "
        "standard errors of the best.** Left: its excess error over the least of the four, at most "
        f"{compact(found['ratio'].max())} (dashed: {FAR:g}). Cases in which the choice is the best one are left out. "
        f"Right: the forecast of the excess error over what was measured. {within} are within their factor (dashed: "
        f"1.5, for Gaussian data; dotted: {OTHERWISE:g}, elsewhere)."
    )


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
    found = compared(cases)
    rows = []
    for name, own in found.groupby("data", sort=False):
        best = own["best"].value_counts()
        row = {"data": name, "cases": len(own)}
        row |= {f"best: {short}": int(best.get(method, 0)) for method, short in SHORT.items()}
        row |= {"choice near the best": percent(own["near"].mean())}
        rows.append(row | {"largest ratio": plain(own["ratio"].max())})
    return pd.DataFrame(rows).set_index("data")


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


def show_others(rivals: pd.DataFrame) -> pd.DataFrame:
    """By method: how often it beats the best of the four, and its excess error over that of the best."""
    found = beside_the_best(rivals)
    rows = []
    for name in rivals["method"].unique():
        own = found[found["method"] == name]
        row = {"method": name, "cases": len(own), "beats the best of the four": int(own["wins"].sum())}
        row |= {CLEARLY: int(own["clearly"].sum())}
        row |= {"median ratio": _ratio(own["ratio"].median()), "least ratio": _ratio(own["ratio"].min())}
        rows.append(row)
    return pd.DataFrame(rows).set_index("method")


def _ratio(value: float) -> str:
    """A ratio of excess errors; what diverged is cut."""
    return "–" if pd.isna(value) else f"over {MOST:,.0f}" if value > MOST else plain(value)


APART = 4.0  # standard errors by which a case that is measured again may differ
LEAST_SQUARES = "least squares"
GAUSSIAN, HEAVY, REAL = (data.ISOTROPIC, data.CORRELATED), (data.HEAVY,), tuple(campaign.REAL)
NEARLY = 0.9  # the share of coefficients from which on nearly all have an interval
P = 0.001  # the least probability of a coverage of 88 % that is no contradiction


def answer(tables: Tables) -> list[str]:
    """Who is best, whether the choice finds it, and what forecasts and intervals are worth."""
    found, every = compared(tables["cases"]), overall(tables["rivals"])
    first = found["best"].value_counts()
    others = tables["rivals"]["method"].nunique()
    second = f", {first.index[1]} in {int(first.iloc[1])}" if len(first) > 1 else ""
    return [
        f"Of our four methods {first.index[0]} is best in {int(first.iloc[0])} of {len(found)} cases{second}. The "
        f"choice is near the best of them in {percent(found['near'].mean())}, and more than {FAR:g} times "
        f"behind in {_times(found) or 'none'}.",
        f"Among all {others + len(campaign.NAMES)} methods it is near the best in {percent(every['near'].mean())} of "
        f"{len(every)} cases, and as far behind in {_times(every)}.",
        f"Forecasts are within a factor of 1.5 in {percent(_within(found, GAUSSIAN))} of the Gaussian cases, within "
        f"3 in {percent(_within(found, REAL))} of the real, {percent(_within(found, HEAVY))} of the heavy-tailed ones.",
    ]


def _times(found: pd.DataFrame) -> int:
    return int((found["ratio"] > FAR).sum())


def read_overall(rivals: pd.DataFrame) -> Markdown:
    """The choice beside the best of all methods."""
    every = overall(rivals)
    worst, real = every.loc[every["ratio"].idxmax()], every[every["data"].isin(REAL)]
    some = f" Of the {len(real)} cases with real data it is near the best in {int(real['near'].sum())}."
    return Markdown(
        "Against the best of all methods together, the choice from public numbers is within 10 % or two standard "
        f"errors of it in {percent(every['near'].mean())} of {len(every)} cases.{some if len(real) else ''} It is "
        f"more than {FAR:g} times behind in {_times(every)}. The worst is {worst['data']}, $n$ = {worst['n']:,}, $d$ "
        f"= {worst['d']}, $\\varepsilon$ = {worst['epsilon']:g}: there {worst['chosen']} was chosen, and the error of "
        f"{worst['best']} is smaller by a factor of {compact(worst['ratio'])}. These errors are those of the first "
        "data sets of each case, so they differ a little from those above."
    )


def read_new(cases: pd.DataFrame) -> Markdown:
    """The choice beside least squares on new records of heavy tails."""
    own = cases[cases["chosen"].astype(bool) & (cases["data"] == data.HEAVY)]
    better = own[own["new"] < own["plain_new"]]
    if better.empty:
        return Markdown("On new records of heavy-tailed data no choice predicts better than least squares do.")
    return Markdown(
        f"On new records of heavy-tailed data the private choice predicts better than least squares without privacy in "
        f"{len(better)} of {len(own)} cases. At best its error is "
        f"{compact((better['new'] / better['plain_new']).min())} times theirs, both over that of the true "
        "coefficients. The clipping that privacy requires makes a fit robust. Plans that clip more would predict new "
        "records better still, and be farther from least squares."
    )


def read_forecasts(cases: pd.DataFrame) -> Markdown:
    """Where the forecasts fail."""
    found = compared(cases)
    wrong = found[~told(found)]
    by_data = wrong["data"].value_counts()
    named = ", ".join(f"{name} ({count})" for name, count in by_data.items())
    low = wrong[wrong["forecast"] < 1]
    if low.empty:
        return Markdown(f"Forecasts miss their factor in {len(wrong)} of {len(found)} cases.")
    return Markdown(
        f"Forecasts miss their factor in {len(wrong)} of {len(found)} cases: {named}. In {len(low)} of these they are "
        f"too hopeful. There is little to lose in those {len(low)}: the excess error is at most "
        f"{compact(low['share'].median())} times that of always predicting the mean in half of them, and at most "
        f"{compact(low['share'].max())} times in all."
    )


def rule(cases: pd.DataFrame) -> Markdown:
    """How descent fares with many features, and when the constants of forecasts were decided."""
    many = cases[cases["data"] == datasets.MNIST].pivot_table(index=KEY, columns="method", values="excess")
    ratios = many[DESCENT] / many[OBJECTIVE]
    return Markdown(
        f"The method with the least forecast is chosen. On MNIST, which has the most features, the excess error of "
        f"clipped descent is up to {compact(ratios.max())} times that of objective perturbation, and smaller in "
        f"{int((ratios < 1).sum())} of {len(ratios)} cases. A descent whose steps are too long for strongly correlated "
        "features shortens them, as its own noisy gradients show that ([how](../reference/rivals.md)); without this it "
        "would diverge. It got its second stage after an earlier comparison, in which a method with a shrinking clip "
        "and one that averages its iterates were often ahead. "
        "Which stages are tried was settled on the made data and on California housing, with other seeds."
    )


def read_others(rivals: pd.DataFrame) -> Markdown:
    """How often another method beats the best of the four, and by how much."""
    found, ahead = beside_the_best(rivals), won(rivals)
    cases, seeds = len(found.drop_duplicates(KEY)), sorted(rivals["trials"].unique())
    several = " or ".join(str(int(seed)) for seed in seeds)
    absent = "".join(
        f" {method} cannot run in {len(rows)} cases, because there are {why}."
        for (method, why), rows in rivals[rivals["excess"].isna()].groupby(["method", "reason"], sort=False)
    )
    measured = f"The comparison has the first {several} data sets of each case.{absent}"
    if ahead.empty:
        return Markdown(f"In none of {cases} cases does another method beat the best of the four. {measured}")
    counts = found[found["wins"].astype(bool)]["method"].value_counts()
    top = ahead.loc[ahead["ratio"].idxmin()]
    return Markdown(
        f"In {len(ahead)} of {cases} cases at least one other method beats the best of the four by more than two "
        f"standard errors of the difference. Most often that is {counts.index[0]}, in {int(counts.iloc[0])} cases. The "
        f"largest of these gains is that of {top['method']} at {top['data']}, $n$ = {top['n']:,}, $d$ = {top['d']} and "
        f"$\\varepsilon$ = {top['epsilon']:g}. Its excess error is {compact(top['ratio'])} times that of "
        f"{top['best']}. {measured}"
    )


def origin(tables: Tables) -> Markdown:
    """How often each case was measured."""
    cases, intervals = tables["cases"], tables["intervals"]
    seeds = sorted(cases["trials"].unique())
    return Markdown(
        f"The campaign has {len(cases.groupby(KEY))} cases, each with {' or '.join(str(int(seed)) for seed in seeds)} "
        f"data sets (the smaller number above 10,000 records and for MNIST), and {len(intervals)} settings of "
        f"intervals with {int(intervals['trials'].iloc[0])} data sets each. `make -f tests/maintain.mk campaign` "
        f"measures it anew. What is committed was measured by the code with the digest `{cases['digest'].iloc[0]}`."
    )


def statements(tables: Tables) -> Sentences:
    """What the campaign shows, in sentences that are the same at every preset."""
    found, every, intervals = compared(tables["cases"]), overall(tables["rivals"]), tables["intervals"]
    own = intervals["target"] != LEAST_SQUARES
    whole = intervals[intervals["valid"] >= NEARLY]

    def in_most(share: float, sentence: str) -> str:
        return f"{sentence} in {'at least' if share >= WANTED else 'fewer than'} 90 % of the cases."

    def behind(ratio: pd.Series, of: str) -> str:
        return f"{'It is never' if (ratio <= FAR).all() else 'In some cases it is'} more than 1.5 times behind{of}."

    no, some = "No setting contradicts", "Some setting contradicts"
    narrow = "Where nearly all coefficients have one, the median width is at most 1.5 times that of an oracle"
    wide = "Even where nearly all coefficients have one, the median width can be more than 1.5 times an oracle's"
    covered = (intervals.loc[own, "p"].dropna() >= P).all()
    squares = (intervals.loc[~own, "p"].dropna() >= P).all()
    return Sentences(
        (
            in_most(found["near"].mean(), "The choice from public numbers is near the best of the four methods"),
            behind(found["ratio"], ""),
            in_most(every["near"].mean(), "It is near the best of all methods, the others included,"),
            behind(every["ratio"], " the best of all methods"),
            in_most(_within(found, GAUSSIAN), "On Gaussian data forecasts are within a factor of 1.5"),
            in_most(
                _within(found, GAUSSIAN, "forecast_new"),
                "On new records of Gaussian data they are within a factor of 1.5",
            ),
            in_most(_within(found, REAL), "On real data they are within a factor of 3"),
            in_most(_within(found, HEAVY), "On heavy tails they are within a factor of 3"),
            in_most(
                _within(found, HEAVY, "forecast_new"), "On new records of heavy tails they are within a factor of 3"
            ),
            f"{no if covered else some} that 90 % intervals cover the method's own limit with 88 % or more.",
            f"On real data they {'also' if squares else 'do not'} cover least squares.",
            f"{narrow if (whole['width'] <= FAR).all() else wide}.",
            f"What was measured again {'agrees with' if agrees(tables) else 'differs from'} the campaign.",
        )
    )


def read_intervals(intervals: pd.DataFrame) -> Markdown:
    """What intervals are worth where they exist, and where there are none."""
    whole, rare = intervals[intervals["valid"] >= NEARLY], intervals[intervals["valid"] < NEARLY]
    told = (
        f"Where nearly all coefficients have an interval, its median width is between {compact(whole['width'].min())} "
        f"and {compact(whole['width'].max())} times that of an oracle who knows the sampling law."
    )
    real = whole["data"].isin(REAL)
    if real.any() and whole[real]["width"].min() > whole[~real]["width"].max():
        told += " For real data they are wider, because their second moments are summed over shorter records."
    if rare.empty:
        return Markdown(told)
    sizes, most = listed(sorted({f"{n:,}" for n in rare["n"]})), rare["valid"].max()
    some = f"at most {percent(most)} of the coefficients have one" if most else "no coefficient has one"
    return Markdown(
        f"{told} With {sizes} records {some}: the noise of the moments is too large, or an interval would say more "
        "about what is assumed of other coefficients than about the data."
    )


def agrees(tables: Tables) -> bool:
    """Whether every mean that was measured again is within `APART` standard errors of the campaign's."""
    key = [*KEY, "method"]
    both = tables["again"].merge(tables["cases"], on=key, suffixes=("", "_then"))
    error = (both["excess_error"] ** 2 + both["excess_error_then"] ** 2) ** 0.5
    return bool(len(both) and ((both["excess"] - both["excess_then"]).abs() <= APART * error).all())


def _within(found: pd.DataFrame, some: tuple[str, ...], column: str = "forecast") -> float:
    return float(told(found[found["data"].isin(some)], column).mean())


def largest(cases: pd.DataFrame) -> Markdown:
    """The case in which the choice is farthest behind, in words."""
    found = compared(cases)
    worst = found.loc[found["ratio"].idxmax()]
    return Markdown(
        f"In the worst case ({worst['data']}, $n$ = {worst['n']:,}, $d$ = {worst['d']}, $\\varepsilon$ = "
        f"{worst['epsilon']:g}) {worst['chosen']} was chosen, and the error of {worst['best']} is smaller by a factor "
        f"of {compact(worst['ratio'])}."
    )
