"""The opening lines and the checked statements of the page on the best method."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.best_method import beside, campaign, data
from chapters.privacy.best_method import cases as judged
from companion.judging.prose import compact, listed, percent
from companion.judging.sentences import Check, Sentences, checked
from companion.judging.tables import Tables
from costofprivacy.estimators.forecasting import DESCENT, MOST_FEATURES, OBJECTIVE

APART = 4.0  # standard errors by which a case that is measured again may differ
LEAST_SQUARES = "least squares"
GAUSSIAN, HEAVY, REAL = (data.ISOTROPIC, data.CORRELATED), (data.HEAVY,), tuple(campaign.REAL)
NEARLY = 0.9  # the share of coefficients from which on nearly all have an interval
P = 0.001  # the least probability of a coverage of 88 % that is no contradiction


def answer(tables: Tables) -> list[str]:
    """Who is best, whether the choice finds it, and what forecasts and intervals are worth."""
    found, every = judged.compared(tables["cases"]), beside.overall(tables["rivals"])
    first = found["best"].value_counts()
    others = tables["rivals"]["method"].nunique()
    second = f", {first.index[1]} in {int(first.iloc[1])}" if len(first) > 1 else ""
    return [
        f"Of our four methods {first.index[0]} is best in {int(first.iloc[0])} of {len(found)} cases{second}. The "
        f"choice is near the best of them in {percent(found['near'].mean())}, and more than {judged.FAR:g} times "
        f"behind in {_times(found)}.",
        f"Among all {others + len(campaign.NAMES)} methods it is near the best in {percent(every['near'].mean())} of "
        f"{len(every)} cases, and as far behind in {_times(every)}.",
        f"Forecasts are within a factor of 1.5 in {percent(_within(found, GAUSSIAN))} of the Gaussian cases, within "
        f"3 in {percent(_within(found, REAL))} of the real, {percent(_within(found, HEAVY))} of the heavy-tailed ones.",
        "You will see why a descent is averaged.",
    ]


def _times(found: pd.DataFrame) -> int:
    """In how many cases the choice is more than `judged.FAR` times behind."""
    return int((found["ratio"] > judged.FAR).sum())


def read_overall(rivals: pd.DataFrame) -> Markdown:
    """The choice beside the best of all methods."""
    every = beside.overall(rivals)
    worst, real = every.loc[every["ratio"].idxmax()], every[every["data"].isin(REAL)]
    some = (
        f" Of the {len(real)} cases with real data it is near the best in {int(real['near'].sum())}."
        if len(real)
        else ""
    )
    return Markdown(
        f"Against the best of all methods together, the choice from public numbers is within 10 % or two standard "
        f"errors of it in {percent(every['near'].mean())} of {len(every)} cases.{some} It is more "
        f"than {judged.FAR:g} times behind in {_times(every)}. The worst is {worst['data']}, "
        f"$n$ = {worst['n']:,}, $d$ = {worst['d']}, $\\varepsilon$ = {worst['epsilon']:g}: there "
        f"{worst['chosen']} was chosen, and the error of {worst['best']} is smaller by a factor of "
        f"{compact(worst['ratio'])}. These errors are those of the first data sets of each case, so they differ a "
        "little from those above."
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
    found = judged.compared(cases)
    wrong = found[~judged.told(found)]
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
    """Why descent is not chosen for many features, and when that and the constants of forecasts were decided."""
    many = cases[cases["d"] > MOST_FEATURES].pivot_table(index=judged.KEY, columns="method", values="excess")
    ratios = many[DESCENT] / many[OBJECTIVE]
    return Markdown(
        f"The method with the least forecast is chosen, but clipped descent only for at most {MOST_FEATURES} features. "
        f"On MNIST, which has more, its excess error is up to {compact(ratios.max())} times that of objective "
        f"perturbation, and smaller in {int((ratios < 1).sum())} of {len(ratios)} cases. We added this rule when we "
        "had seen such cases, before descent had stages, so MNIST is no test of it. A descent whose steps are too long "
        "for strongly correlated features shortens them, as its own noisy gradients show that they are too long "
        "([how](../reference/rivals.md)); without that it would diverge. It got its second stage after an earlier "
        "comparison, in which a method with a shrinking clip and one that averages its iterates were often ahead. "
        "Which stages are tried was settled on the made data and on California housing, with other seeds."
    )


def read_others(rivals: pd.DataFrame) -> Markdown:
    """How often another method beats the best of the four, and by how much."""
    found, ahead = beside.compared(rivals), beside.won(rivals)
    cases, seeds = len(found.drop_duplicates(judged.KEY)), sorted(rivals["trials"].unique())
    several = " or ".join(str(int(seed)) for seed in seeds)
    measured = f"The comparison has the first {several} data sets of each case. {_absent(rivals)}".strip()
    if ahead.empty:
        return Markdown(f"In none of {cases} cases does another method beat the best of the four. {measured}")
    counts = found[found["wins"].astype(bool)]["method"].value_counts()
    top = ahead.loc[ahead["ratio"].idxmin()]
    return Markdown(
        f"In {len(ahead)} of {cases} cases at least one other method beats the best of the four by more than two "
        f"standard errors of the difference. Most often that is {counts.index[0]}, in {int(counts.iloc[0])} cases. The "
        f"largest gain is that of {top['method']} at {top['data']}, $n$ = {top['n']:,}, $d$ = {top['d']} and "
        f"$\\varepsilon$ = {top['epsilon']:g}. Its excess error is {compact(top['ratio'])} times that of "
        f"{top['best']}. {measured} The table has all cases of this kind."
    )


def _absent(rivals: pd.DataFrame) -> str:
    """Which methods cannot run where, and why."""
    absent = rivals[rivals["excess"].isna()].groupby(["method", "reason"], sort=False)
    told = [f"{method} cannot run in {len(rows)} cases, because there are {why}." for (method, why), rows in absent]
    return " ".join(told)


def origin(tables: Tables) -> Markdown:
    """How often each case was measured."""
    cases, intervals = tables["cases"], tables["intervals"]
    seeds = sorted(cases["trials"].unique())
    return Markdown(
        f"The campaign has {len(cases.groupby(judged.KEY))} cases, each with "
        f"{' or '.join(str(int(seed)) for seed in seeds)} data sets (the smaller number above 10,000 records and for "
        f"MNIST), and {len(intervals)} settings of intervals with {int(intervals['trials'].iloc[0])} data sets each. "
        "`make -f tests/maintain.mk campaign` measures it anew. What is committed was measured by the code with the "
        f"digest `{cases['digest'].iloc[0]}`."
    )


def statements(tables: Tables) -> Sentences:
    """What the campaign shows, in sentences that are the same at every preset."""
    checks: tuple[Check, ...] = (
        (
            lambda told: judged.compared(told["cases"])["near"].mean() >= judged.WANTED,
            "The choice from public numbers is near the best of the four methods in at least 90 % of the cases.",
            "The choice from public numbers is near the best of the four methods in fewer than 90 % of the cases.",
        ),
        (
            lambda told: bool((judged.compared(told["cases"])["ratio"] <= judged.FAR).all()),
            "It is never more than 1.5 times behind.",
            "In some cases it is more than 1.5 times behind.",
        ),
        (
            lambda told: beside.overall(told["rivals"])["near"].mean() >= judged.WANTED,
            "It is near the best of all methods, the others included, in at least 90 % of the cases.",
            "It is near the best of all methods, the others included, in fewer than 90 % of the cases.",
        ),
        (
            lambda told: bool((beside.overall(told["rivals"])["ratio"] <= judged.FAR).all()),
            "It is never more than 1.5 times behind the best of all methods.",
            "In some cases it is more than 1.5 times behind the best of all methods.",
        ),
        (
            _forecast(GAUSSIAN),
            "On Gaussian data forecasts are within a factor of 1.5 in at least 90 % of the cases.",
            "On Gaussian data forecasts are within a factor of 1.5 in fewer than 90 % of the cases.",
        ),
        (
            _forecast(GAUSSIAN, "forecast_new"),
            "On new records of Gaussian data they are within a factor of 1.5 in at least 90 % of the cases.",
            "On new records of Gaussian data they are within a factor of 1.5 in fewer than 90 % of the cases.",
        ),
        (
            _forecast(REAL),
            "On real data they are within a factor of 3 in at least 90 % of the cases.",
            "On real data they are within a factor of 3 in fewer than 90 % of the cases.",
        ),
        (
            _forecast(HEAVY),
            "On heavy tails they are within a factor of 3 in at least 90 % of the cases.",
            "On heavy tails they are within a factor of 3 in fewer than 90 % of the cases.",
        ),
        (
            _forecast(HEAVY, "forecast_new"),
            "On new records of heavy tails they are within a factor of 3 in at least 90 % of the cases.",
            "On new records of heavy tails they are within a factor of 3 in fewer than 90 % of the cases.",
        ),
        (
            lambda told: bool((_intended(told)["p"].dropna() >= P).all()),
            "No setting contradicts that 90 % intervals cover the method's own limit with 88 % or more.",
            "Some setting contradicts that 90 % intervals cover the method's own limit with 88 % or more.",
        ),
        (
            lambda told: bool((_least_squares(told)["p"].dropna() >= P).all()),
            "On real data they also cover least squares.",
            "On real data they do not cover least squares.",
        ),
        (
            lambda told: bool((_whole(told)["width"] <= judged.FAR).all()),
            "Where nearly all coefficients have one, the median width is at most 1.5 times that of an oracle.",
            "Even where nearly all coefficients have one, the median width can be more than 1.5 times an oracle's.",
        ),
        (
            agrees,
            "What was measured again agrees with the campaign.",
            "What was measured again differs from the campaign.",
        ),
    )
    return checked(tables, checks)


def _intended(tables: Tables) -> pd.DataFrame:
    """Settings whose target is that of the method."""
    return tables["intervals"][tables["intervals"]["target"] != LEAST_SQUARES]


def _least_squares(tables: Tables) -> pd.DataFrame:
    return tables["intervals"][tables["intervals"]["target"] == LEAST_SQUARES]


def _whole(tables: Tables) -> pd.DataFrame:
    """Settings in which nearly all coefficients have an interval."""
    return tables["intervals"][tables["intervals"]["valid"] >= NEARLY]


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
    key = [*judged.KEY, "method"]
    both = tables["again"].merge(tables["cases"], on=key, suffixes=("", "_then"))
    error = (both["excess_error"] ** 2 + both["excess_error_then"] ** 2) ** 0.5
    return bool(len(both) and ((both["excess"] - both["excess_then"]).abs() <= APART * error).all())


def _within(found: pd.DataFrame, some: tuple[str, ...], column: str = "forecast") -> float:
    """The share of the cases with some data in which a forecast is within its factor."""
    return float(judged.told(found[found["data"].isin(some)], column).mean())


def _forecast(some: tuple[str, ...], column: str = "forecast") -> Callable[[Tables], bool]:
    return lambda tables: _within(judged.compared(tables["cases"]), some, column) >= judged.WANTED


def largest(cases: pd.DataFrame) -> Markdown:
    """The case in which the choice is farthest behind, in words."""
    found = judged.compared(cases)
    worst = found.loc[found["ratio"].idxmax()]
    return Markdown(
        f"In the worst case ({worst['data']}, $n$ = {worst['n']:,}, $d$ = {worst['d']}, $\\varepsilon$ = "
        f"{worst['epsilon']:g}) {worst['chosen']} was chosen, and the error of {worst['best']} is smaller by a factor "
        f"of {compact(worst['ratio'])}."
    )
