"""The answer, the figure and the tables of the page that chooses a method."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes

from costofprivacy.experiments.method import heads, regression
from costofprivacy.experiments.method.experiment import BEST, HEAD, LINEAR, OPEN, PAPERS, PRIVATE, RIDGE, ZERO
from costofprivacy.experiments.method.reads import HEADS, RIVALS, TABLES
from costofprivacy.experiments.privacy.rivals import pages as rivals
from costofprivacy.experiments.privacy.rivals.joined import joined
from costofprivacy.judging import claims
from costofprivacy.judging.prose import compact, listed, percent, span
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.overview.saved import Saved
from costofprivacy.running import stamps
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

EXAMPLE = {"N": 4000, "epsilon": 1.0}  # the case that the answer speaks of, or the nearest that was measured
WORTH = 0.5  # the share of the response's variance that a useful predictor explains, in the tables


def example(prompts: pd.DataFrame) -> dict[str, float]:
    """The size and the budget nearest to those that the answer speaks of."""
    return {name: _nearest(prompts[name], value) for name, value in EXAMPLE.items()}


def _nearest(values: pd.Series, wanted: float) -> float:
    return values.iloc[int(np.abs(np.log(values.to_numpy(dtype=float) / wanted)).argmin())]


def name_of(method: str) -> str:
    """A method as a sentence has it."""
    return "answering 0" if method == ZERO else method


def answer(tables: Tables) -> str:
    """What to use for prompts and for one regression, and whether it is worth using."""
    prompts, where = tables["prompts"], example(tables["prompts"])
    best, papers = winner(prompts, **where), select(prompts, choice=PAPERS)
    useful = (1 - papers["test_error"] / papers["response_variance"]).max()
    worth = "and explains" if _share(best) >= WORTH else "yet explains only"
    penalty = "" if best["method"] == ZERO else " with a public penalty"
    return (
        f"For prompts at $N = {where['N']:.0f}$, $\\varepsilon = {where['epsilon']:g}$: {name_of(best['method'])} "
        f"is best{penalty}, {worth} {percent(_share(best))} of the variance. At the paper's penalty nothing explains "
        f"more than {percent(useful)}; our own head explains "
        f"{heads.explained(saved_of(HEADS))}. {_regression_answer(tables['regression'])}"
    )


def _regression_answer(table: pd.DataFrame) -> str:
    best = pd.Series(
        [name_of(_private_best(rows)["method"]) for _, rows in table.groupby(["records", "rho"], sort=False)]
    )
    counts = best.value_counts()
    others = f"; {listed(map(str, counts.index[1:]))} in the others" if len(counts) > 1 else ""
    return f"For one regression {counts.index[0]} is best in {counts.iloc[0]} of {len(best)} cases{others}."


def winner(prompts: pd.DataFrame, **where: float) -> pd.Series:
    """The private method with the least test error at a size and a budget, always answering 0 among the choices."""
    rows = select(prompts, choice=BEST, **where)
    return rows.loc[rows.loc[rows["method"].isin((*PRIVATE, ZERO)), "test_error"].idxmin()]


def _private_best(rows: pd.DataFrame) -> pd.Series:
    allowed = rows[rows["method"] != regression.LEAST_SQUARES]
    return allowed.loc[allowed["excess_risk"].idxmin()]


def _share(row: pd.Series) -> float:
    return 1 - row["test_error"] / row["response_variance"]


def draw_methods(prompts: pd.DataFrame, one: pd.DataFrame) -> Plate:
    """Left: prompts, test error against N. Right: one regression, half the test error against records a feature."""
    epsilon, rho = example(prompts)["epsilon"], one["rho"].max()
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.4))
        _draw_prompts(left, prompts[prompts["epsilon"] == epsilon])
        _draw_regression(right, one[one["rho"] == rho])
        left.set_title(f"many small regressions in prompts, ε = {epsilon:g}")
        right.set_title(f"one regression, ρ = {rho:g}")
    last = {n: pick(prompts, N=prompts["N"].max(), epsilon=epsilon, method=n, choice=BEST) for n in (*PRIVATE, LINEAR)}
    first = {n: pick(prompts, N=prompts["N"].min(), epsilon=epsilon, method=n, choice=BEST) for n in PRIVATE}
    ends = ", ".join(f"{n} from {compact(first[n]['test_error'])} to {compact(last[n]['test_error'])}" for n in PRIVATE)
    papers, zero = select(prompts, choice=PAPERS, epsilon=epsilon)["test_error"], prompts["response_variance"].max()
    regressed = select(one, rho=rho, records=one["records"].max()).set_index("method")["half_test_error"]
    return Plate(
        figure,
        caption=(
            f"**Equal privacy, equal data.** Left: test error of heads for prompts at $\\varepsilon = {epsilon:g}$, "
            f"each method at its best penalty. At the paper's penalty, rightly calibrated, all have {span(papers)} "
            f"(crosses); answering 0 has {compact(zero)}. Right: half the test error of one pass over one data set, "
            f"each schedule at its best learning rate. Closed forms and equations have no sampling error. The first "
            f"table below runs the algorithms."
        ),
        alt=(
            f"Left, N from {prompts['N'].min()} to {prompts['N'].max()}: {ends}; best linear head "
            f"{compact(last[LINEAR]['test_error'])}. Right, at {one['records'].max()} records a feature: "
            + ", ".join(f"{name} {compact(value)}" for name, value in regressed.items())
            + "."
        ),
    )


def _draw_prompts(axes: Axes, prompts: pd.DataFrame) -> None:
    looks = figures.looks([RIDGE, HEAD, OPEN])
    best = prompts[prompts["choice"] == BEST]
    for name, look in looks.items():
        rows = best[best["method"] == name].sort_values("N")
        axes.plot(rows["N"], rows["test_error"], label=str(name).replace(", ", ",\n"), **look)
    papers = prompts[prompts["choice"] == PAPERS]
    axes.plot(papers["N"], papers["test_error"], "x", color="0.35", label="all, at the\npaper's λ")
    _draw_ends(axes, best, "N", "test_error", LINEAR)
    figures.log_axes(axes, "$N$ (training prompts)", "test error")
    figures.end_labels(axes)


def _draw_regression(axes: Axes, table: pd.DataFrame) -> None:
    for name, look in figures.looks(regression.WAYS).items():
        rows = table[table["method"] == name].sort_values("records")
        axes.plot(rows["records"], rows["half_test_error"], label=_short(str(name)), **look)
    renamed = table.rename(columns={"half_test_error": "error"})
    _draw_ends(axes, renamed, "records", "error", regression.LEAST_SQUARES)
    axes.set_ylim(top=2 * table["half_response_variance"].max())
    figures.log_axes(axes, "$n/d$ (records a feature)", "half the test error")
    figures.end_labels(axes)


def _short(name: str) -> str:
    """A method's name for the end of its curve."""
    return name.removeprefix("DP-GD, ").replace(", ", ",\n").replace("noise at", "noise\nat")


def _draw_ends(axes: Axes, table: pd.DataFrame, x: str, y: str, floor: str) -> None:
    """What nothing learned gives, and what is possible without privacy."""
    zero = table[table["method"] == ZERO].sort_values(x)
    least = table[table["method"] == floor].sort_values(x)
    axes.plot(zero[x], zero[y], "k--", lw=1, label="answering 0")
    axes.plot(least[x], least[y], "k:", lw=1.5, label=_short(floor))


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


def show_prompts(prompts: pd.DataFrame, checked: pd.DataFrame) -> pd.DataFrame:
    """What to use at each size and budget: the method, its penalty, its error and what it explains."""
    rows = []
    for (N, epsilon), _ in prompts.groupby(["N", "epsilon"], sort=False):
        best = winner(prompts, N=N, epsilon=epsilon)
        run = select(checked, N=N, epsilon=epsilon, method=best["method"])
        rows.append(
            {
                "$N$": N,
                r"$\varepsilon$": f"{epsilon:g}",
                "use": name_of(best["method"]),
                r"penalty $\lambda$": _knob(best["penalty"]),
                "test error, formula": compact(best["test_error"]),
                "as run": " ± ".join(map(compact, run[["test_error", "standard_error"]].iloc[0])) if len(run) else "",
                "variance explained": percent(_share(best)),
                "worth using": "yes" if _share(best) >= WORTH else "no",
            }
        )
    return pd.DataFrame(rows).set_index(["$N$", r"$\varepsilon$"])


def show_regression(table: pd.DataFrame) -> pd.DataFrame:
    """What to use for one regression by records a feature and ρ: its excess risk and its settings."""
    rows = []
    for (records, rho), group in table.groupby(["records", "rho"], sort=False):
        best, risks = _private_best(group), group.set_index("method")["excess_risk"]
        rows.append(
            {
                "$n/d$": records,
                r"$\rho$": f"{rho:g}",
                "use": name_of(best["method"]),
                "excess risk": compact(best["excess_risk"]),
                "answering 0": compact(risks[ZERO]),
                "least squares, no privacy": compact(risks[regression.LEAST_SQUARES]),
                "clip $c$": _knob(best["clip"]),
                r"first rate $\tilde\eta(0)$": _knob(best["rate"]),
                r"$\tau$": _knob(best["offset"]),
            }
        )
    return pd.DataFrame(rows).set_index(["$n/d$", r"$\rho$"])


def _knob(value: float) -> str:
    """A setting of the chosen method; nothing where it has none."""
    return "" if np.isnan(value) else compact(value)


def rivals_errors() -> pd.DataFrame:
    """What the chapter on rivals saved, diffprivlib's rows among it; in a tree that has not come to it, the book's."""
    return joined(saved_of(RIVALS))


def saved_of(chapter: str) -> dict[str, pd.DataFrame]:
    """The tables of another chapter that this page reads, of this tree where it has them already, else the book's."""
    tree = claims.find_register(Path.cwd()).parent
    ready = all((tree / chapter / f"{name}.csv").is_file() for name in TABLES[chapter])
    saved = Saved(tree if ready else stamps.find_root(Path.cwd()) / "book")
    return {name: saved.table(chapter, name) for name in TABLES[chapter]}


def read_rivals(errors: pd.DataFrame) -> Markdown:
    """Which method of the comparison is in front how often, and how often the best form of DP-GD is behind."""
    found = rivals.winners(errors)
    front = {
        name: sum(name in (row.least, *row.tied) for row in found.itertuples()) for name in found["least"].unique()
    }
    told = listed(f"{name} in {front[name]}" for name in sorted(front, key=lambda name: -front[name]))
    return Markdown(
        f"Of {len(found)} cases these are best, or cannot be told from the best: {told}. The best form of DP-GD is "
        f"behind in {int(found['beaten'].sum())}. Where it is behind, use the other."
    )


def show_rivals(errors: pd.DataFrame) -> pd.DataFrame:
    """What to use for one regression by data, ε and n/d, and the best form of DP-GD beside it."""
    shown = rivals.show_winners(errors).reset_index().drop(columns=["n", "not told from it"])
    return shown.rename(columns={"least error": "use"}).set_index(["data", "ε", "n/d"])
