"""The answer and the sentences of the page that chooses a method, and what it reads of other chapters."""

import math
from itertools import pairwise
from pathlib import Path

import pandas as pd
from IPython.display import Markdown

from chapters.method import calculator, one_delta, regression, tables_heads, winning
from chapters.method.experiment import BEST, PAPERS, PRIVATE, ZERO
from chapters.method.one_delta import DELTA
from chapters.method.reads import CAMPAIGN, HEADS, RIVALS, TABLES
from chapters.overview.saved import Saved
from chapters.privacy.rivals.cells import short, winners
from chapters.privacy.rivals.joined import joined
from chapters.privacy.rivals.methods import LEAST_SQUARES
from companion.judging import claims
from companion.judging.prose import compact, listed, percent
from companion.judging.tables import Tables, nearest, pick, select
from companion.judging.vocabulary import CONSISTENT
from companion.running import stamps
from costofprivacy.privacy import GaussianDP

EXAMPLE = {"N": 4000, "epsilon": 1.0}  # the case that the answer speaks of, or the nearest that was measured
RECORDS = {"n": 10_000, "d": 50, "epsilon": 1.0}  # one regression, for which the page shows how to read its table
NEAR = 4.0  # up to this factor of n/d a case is near
FAR = "are further away than the table goes."
BEHIND = "†"
WORTH = 0.5  # the share of the response's variance that a useful predictor explains, in the tables


def example(prompts: pd.DataFrame) -> dict[str, float]:
    """The size and the budget nearest to those that the answer speaks of."""
    return {name: nearest(prompts[name], value) for name, value in EXAMPLE.items()}


def name_of(method: str) -> str:
    """A method as a sentence has it."""
    return "answering 0" if method == ZERO else method


def answer(tables: Tables) -> list[str]:
    """What to use for one regression and for prompts, and where a head that uses no data is better."""
    found = winning.measured(saved_of(CAMPAIGN)["cases"]) if winning.is_measured() else winning.forecast()
    return [
        found.words,
        *tables_heads.opening(saved_of(HEADS), one_delta.HEADS),
        f"All budgets are at $\\delta$ = {compact(DELTA)}.",
    ]


def read_papers(prompts: pd.DataFrame, delta: float) -> Markdown:
    """What the paper's clipping bounds and its penalty are worth."""
    where = example(prompts)
    best, papers = winner(prompts, **where), select(prompts, choice=PAPERS)
    useful = (1 - papers["test_error"] / papers["response_variance"]).max()
    worth = "and explains" if share(best) >= WORTH else "but explains only"
    penalty = "" if best["method"] == ZERO else " with a public penalty"
    return Markdown(
        f"With the paper's clipping bounds, at $N = {where['N']:.0f}$ and "
        f"$\\varepsilon = {one_delta.shown(where['epsilon'], delta)}$, {name_of(best['method'])} is best{penalty}, "
        f"{worth} {percent(share(best))} of the variance. With the paper's penalty no head explains more than "
        f"{percent(useful)}. {one_delta.explained(where['epsilon'], delta)}"
    )


def _regression_answer(table: pd.DataFrame) -> str:
    """Which form of DP-GD is most often best."""
    cells = table.groupby(["records", "rho"], sort=False)
    counts = pd.Series([name_of(private_best(rows)["method"]) for _, rows in cells]).value_counts()
    others = f"; {listed(f'*{name}*' for name in counts.index[1:])} in the others" if len(counts) > 1 else ""
    return f"Among the forms of DP-GD, *{counts.index[0]}* is best in {counts.iloc[0]} of {len(cells)} cases{others}."


def in_front(found: pd.DataFrame) -> dict[str, int]:
    """In how many cases each method is best or cannot be told from the best, of those that are best somewhere."""
    return {name: sum(name in (row.least, *row.tied) for row in found.itertuples()) for name in found["least"].unique()}


def winner(prompts: pd.DataFrame, **where: float) -> pd.Series:
    """The private method with the least test error at a size and a budget, always answering 0 among the choices."""
    rows = select(prompts, choice=BEST, **where)
    return rows.loc[rows.loc[rows["method"].isin((*PRIVATE, ZERO)), "test_error"].idxmin()]


def private_best(rows: pd.DataFrame) -> pd.Series:
    """The private choice with the least risk for one regression."""
    return rows.loc[rows.loc[rows["method"] != regression.LEAST_SQUARES, "excess_risk"].idxmin()]


def share(row: pd.Series) -> float:
    """The share of the response's variance that a method explains."""
    return 1 - row["test_error"] / row["response_variance"]


def read_prompts(checked: pd.DataFrame) -> Markdown:
    """How the table of prompts is read."""
    least, most = checked["trials"].min(), checked["trials"].max()
    trials = f"{least}" if least == most else f"{least} to {most}"
    return Markdown(
        f"The column *formula* is the closed form, without clipping. The column *as run* is the algorithm itself, with "
        f"clipping, projections and noise: the mean and its standard error over {trials} trials. We call a method "
        f"worth using if it explains at least {percent(WORTH)} of the response's variance."
    )


def read_forecasts() -> Markdown:
    """How the table of forecasts is read."""
    usual = calculator.usual()
    return Markdown(
        f"Each cell is the largest expected $R^2$ on new records at $\\delta$ = {compact(DELTA)}, where the best "
        f"linear prediction has {calculator.EXPECTED:g}. It belongs to {usual} unless another method is named. A cell "
        f"with 0 says that no private method is expected to be better than predicting the mean; you would need more "
        f"records, fewer features or a larger budget. The last column is least squares without privacy."
    )


def read_regression(table: pd.DataFrame) -> Markdown:
    """How the table of the one regression is read."""
    budgets = listed(
        f"$\\varepsilon = {GaussianDP(rho).epsilon(DELTA):.2g}$ for $\\mu = {rho:g}$" for rho in table["rho"].unique()
    )
    return Markdown(
        f"Each row shows the best form of DP-GD with its excess risk and its settings. The clipping constant is "
        f"{regression.SMALL:g}, which clips nearly every gradient, or {regression.LARGE:g} (*hardly clipped*). At "
        f"$\\delta$ = {compact(DELTA)}, the budget is {budgets}. "
        f"{_regression_answer(table)} The downloads have all choices."
    )


def read_rivals(errors: pd.DataFrame) -> Markdown:
    """Which method of the comparison is in front how often, how often DP-GD is behind, and what an example shows."""
    found = winners(errors)
    front = in_front(found)
    told = listed(f"{name} in {front[name]}" for name in sorted(front, key=lambda name: -front[name]))
    return Markdown(
        f"In {len(found)} cases we counted how often each method is best or cannot be told from the best: {told}. In "
        f"{int(found['beaten'].sum())} cases (marked {BEHIND}) the best form of DP-GD is significantly worse than "
        f"the best method; there, use the method in the table.{_starred(errors, found)}\n\n{_nearest_cases(found)}"
    )


def worse_with_more(found: pd.DataFrame) -> pd.DataFrame:
    """The cases whose least error is larger than at a smaller ε, beyond doubt; ``before`` is that ε."""
    rows = []
    for _, same in found.sort_values("epsilon").groupby(["problem", "n"], sort=False):
        for one, more in pairwise(same.itertuples()):
            if more.lost - one.lost > CONSISTENT * math.hypot(one.lost_error, more.lost_error):
                rows.append(more._asdict() | {"before": one.epsilon})
    return pd.DataFrame(rows, columns=[*found.columns, "before"])


def _starred(errors: pd.DataFrame, found: pd.DataFrame) -> str:
    """Why a larger budget may have a larger error, with the best of the settings that were tried beside it."""
    told = []
    for row in worse_with_more(found).itertuples():
        where = {"problem": row.problem, "n": row.n, "epsilon": row.epsilon}
        other = float(select(errors, **where, method=row.least)["lost"].min())
        plainly = float(pick(errors, **where, method=LEAST_SQUARES)["lost"])
        told.append(
            f"At $n/d = {row.n / row.d:.3g}$ on {short(row.problem)} data, {row.least} has a larger error at "
            f"$\\varepsilon = {row.epsilon:g}$ than at $\\varepsilon = {row.before:g}$ (the star in the table). The "
            f"settings are public and assume features that vary equally in all directions, and a larger "
            f"$\\varepsilon$ permits a smaller penalty. These features vary in few directions, so a small penalty "
            f"overfits: least squares without privacy loses {percent(plainly)}. Another setting that the chapter tried "
            f"loses {percent(other)}, but nobody could have chosen it without the data."
        )
    return "".join(f"\n\n{each}" for each in told)


def _nearest_cases(found: pd.DataFrame) -> str:
    """How to read the table for data of one's own: the cases that are nearest to an example."""
    n, d, epsilon = (RECORDS[name] for name in ("n", "d", "epsilon"))
    ratio = found["n"] / found["d"]
    near = found[(found["epsilon"] == nearest(found["epsilon"], epsilon)) & (ratio / (n / d)).between(1 / NEAR, NEAR)]
    cases = (f"*{row.least}* for {short(row.problem)} data ($n/d = {row.n / row.d:.0f}$)" for row in near.itertuples())
    return (
        f"**An example.** You have $n = {n}$ records of $d = {d}$ features, and $\\varepsilon = {epsilon:g}$. That is "
        f"{n / d:.0f} records per feature. The nearest cases "
        + (
            f"are best solved by {listed(cases)}. {_default(near, found)}"
            if len(near)
            else "are further away than the table goes."
        )
    )


def _default(near: pd.DataFrame, found: pd.DataFrame) -> str:
    """The safest form if one does not know which of some cases one's data resemble; all cases decide between equals."""
    front, everywhere = in_front(near), in_front(found)
    name = max(front, key=lambda method: (front[method], everywhere[method]))
    return (
        f"If you do not know which of these your data resemble, *{name}* is the safest of these forms: it is best, or "
        f"not significantly worse, in {front[name]} of these {len(near)}. `PrivateLinearRegression` has better forms, "
        f"with a pilot or a second stage, and [chooses between them]({CAMPAIGN}.ipynb) from public numbers."
    )


def rivals_errors() -> pd.DataFrame:
    """What the chapter on rivals saved, diffprivlib's rows among it; in a tree that has not come to it, the book's."""
    return joined(saved_of(RIVALS))


def saved_of(chapter: str) -> dict[str, pd.DataFrame]:
    """The tables of another chapter that this page reads, of this tree where it has them already, else the book's."""
    tree = claims.find_register(Path.cwd()).parent
    ready = all((tree / chapter / f"{name}.csv").is_file() for name in TABLES[chapter])
    saved = Saved(tree if ready else stamps.find_root(Path.cwd()) / "book")
    return {name: saved.table(chapter, name) for name in TABLES[chapter]}
