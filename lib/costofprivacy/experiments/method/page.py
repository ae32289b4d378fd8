"""The answer and the sentences of the page that chooses a method, and what it reads of other chapters."""

from pathlib import Path

import pandas as pd
from IPython.display import Markdown

from costofprivacy.experiments.method import regression, tables_heads
from costofprivacy.experiments.method.experiment import BEST, PAPERS, PRIVATE, ZERO
from costofprivacy.experiments.method.reads import HEADS, RIVALS, TABLES
from costofprivacy.experiments.privacy.rivals.cells import winners
from costofprivacy.experiments.privacy.rivals.joined import joined
from costofprivacy.judging import claims
from costofprivacy.judging.prose import listed, percent
from costofprivacy.judging.tables import Tables, nearest, select
from costofprivacy.overview.saved import Saved
from costofprivacy.running import stamps

EXAMPLE = {"N": 4000, "epsilon": 1.0}  # the case that the answer speaks of, or the nearest that was measured
WORTH = 0.5  # the share of the response's variance that a useful predictor explains, in the tables


def example(prompts: pd.DataFrame) -> dict[str, float]:
    """The size and the budget nearest to those that the answer speaks of."""
    return {name: nearest(prompts[name], value) for name, value in EXAMPLE.items()}


def name_of(method: str) -> str:
    """A method as a sentence has it."""
    return "answering 0" if method == ZERO else method


def answer(tables: Tables) -> str:
    """What to use for prompts and for one regression, and whether it is worth using."""
    prompts, where = tables["prompts"], example(tables["prompts"])
    best, papers = winner(prompts, **where), select(prompts, choice=PAPERS)
    useful = (1 - papers["test_error"] / papers["response_variance"]).max()
    worth = "and explains" if share(best) >= WORTH else "yet explains only"
    penalty = "" if best["method"] == ZERO else " with a public penalty"
    return (
        f"For prompts at $N = {where['N']:.0f}$, $\\varepsilon = {where['epsilon']:g}$: {name_of(best['method'])} "
        f"is best{penalty}, {worth} {percent(share(best))} of the variance. At the paper's penalty nothing explains "
        f"more than {percent(useful)}; our own head explains "
        f"{tables_heads.explained(saved_of(HEADS))}. {_regression_answer(tables['regression'])}"
    )


def _regression_answer(table: pd.DataFrame) -> str:
    cells = table.groupby(["records", "rho"], sort=False)
    counts = pd.Series([name_of(private_best(rows)["method"]) for _, rows in cells]).value_counts()
    others = f"; {listed(map(str, counts.index[1:]))} in the others" if len(counts) > 1 else ""
    return f"For one regression {counts.index[0]} is best in {counts.iloc[0]} of {len(cells)} cases{others}."


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
    return Markdown(
        f"*Formula* is the closed form without clipping. *As run* is the algorithm itself with clipping, projections "
        f"and noise: mean and standard error over {checked['trials'].min()} trials. A method is called worth using if "
        f"it explains at least {percent(WORTH)} of the response's variance."
    )


def read_regression() -> Markdown:
    """How the table of the one regression is read."""
    return Markdown(
        f"The clipping constant is {regression.SMALL:g}, which cuts nearly every gradient, or {regression.LARGE:g} "
        f"(*hardly clipped*). The table shows the best choice with its excess risk and its settings. All choices stand "
        f"in the downloads."
    )


def read_rivals(errors: pd.DataFrame) -> Markdown:
    """Which method of the comparison is in front how often, and how often the best form of DP-GD is behind."""
    found = winners(errors)
    front = {
        name: sum(name in (row.least, *row.tied) for row in found.itertuples()) for name in found["least"].unique()
    }
    told = listed(f"{name} in {front[name]}" for name in sorted(front, key=lambda name: -front[name]))
    return Markdown(
        f"Of {len(found)} cases these are best, or cannot be told from the best: {told}. The best form of DP-GD is "
        f"behind in {int(found['beaten'].sum())}. Where it is behind, use the other."
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
