"""Which method should I use, at equal privacy and equal data?"""

import bisect
import functools
import html
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes

from chapters.method import measure
from chapters.method.measure import BEST as BEST_PENALTY
from chapters.method.measure import PAPERS, ZERO
from chapters.method.reads import CAMPAIGN, HEADS, TABLES
from chapters.noisyhead.a_head_that_works import measure as head_measure
from chapters.noisyhead.a_head_that_works import show as head_show
from chapters.overview.saved import Saved
from companion.judging import claims
from companion.judging.prose import compact, percent, plain, span, with_errors
from companion.judging.tables import Tables, nearest, select
from companion.judging.vocabulary import CONSISTENT
from companion.running import stamps
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.estimators import calculator
from costofprivacy.estimators import prompt_calculator as heads
from costofprivacy.estimators.calculator import USELESS
from costofprivacy.estimators.forecasting import CHOICE
from costofprivacy.estimators.prompts import ANY, ISOTROPIC
from costofprivacy.privacy import ApproximateDP, GaussianDP

# ---- Calculator: forecasts with a script, and as a table and a figure without ----

STATIC = "../_static"  # from the page
_answer = functools.partial(calculator.answer, delta=calculator.DELTA, by=calculator.approximate)
START = {"n": 1000, "d": 10, "value": 1.0, "delta": calculator.DELTA, "r2": 0.5}
PROMPTS = {"N": 1000, "L": 31, "D": 5, "condition": 10.0}  # of the calculator for prompts
BUDGETS = {"epsilon": "ε, at the δ below", "rho": "ρ of zCDP (μ²/2)", "mu": "μ of Gaussian DP (ρ in DP-GD)"}
TASKS = {ANY: "nothing", ISOTROPIC: "they are isotropic"}
_WHOLE, _REAL = 'type="number" step="1" inputmode="numeric"', 'type="number" min="0" step="any" inputmode="decimal"'
Asked = dict[
    str, tuple[str, str | dict[str, str]]
]  # by name: a label; an input's attributes or the options to choose from
_BUDGET: Asked = {
    "budget": ("Privacy budget stated as", BUDGETS),
    "value": ("Value of the budget, 0.0001 to 10000", _REAL),
    "delta": ("δ, at most 0.1", f'max="0.1" {_REAL}'),
}
QUESTIONS: Asked = {
    "n": (f"Number of records, n, at least {calculator.RECORDS[0]:g}(d + 1)", f'min="6" {_WHOLE}'),
    "d": ("Number of features, d, 1 to 1000", f'min="1" max="1000" {_WHOLE}'),
    **_BUDGET,
    "r2": ("R² that you expect without privacy, between 0 and 1", f'max="1" {_REAL}'),
}
PROMPT_QUESTIONS: Asked = {
    "N": (f"Number of prompts, N, at least {heads.LEAST_PROMPTS}D", f'min="100" {_WHOLE}'),
    "L": (f"Labelled tokens of a prompt, L, from D to {heads.LENGTHS[-1]:g}D", f'min="5" {_WHOLE}'),
    "D": ("Number of features, D, 2 to 20", f'min="2" max="20" {_WHOLE}'),
    "condition": (f"Condition number of the features, κ, 1 to {heads.CONDITIONS[-1]:g}", _REAL),
    "tasks": ("What is known of the tasks", TASKS),
    **_BUDGET,
}
SIZES = (100, 300, 1000, 3000, 10_000, 100_000)
FEATURES, EPSILONS, EXPECTED = (3, 10, 30), (0.3, 1.0, 3.0), 0.5  # of the table
CURVES = (0.1, 0.3, 1.0, 3.0)  # ε of the figure
SCARCE = (0.05, 0.1, 0.3)  # ε at which prompts can be too few
DRAWN = tuple(round(10**k) for k in np.arange(1.75, 6.01, 0.25))  # n of the figure


@dataclass(frozen=True)
class Calculator:
    """The controls, what is said of them, and the table of forecasts, as a page shows them: of records or prompts."""

    kind: str = "records"

    def _repr_html_(self) -> str:
        prompts = self.kind == "prompts"
        label = f"Calculator: the numbers of your {self.kind} and the budget, and what to use with its expected error"
        header = ("head", "test error", "above the best", "range") if prompts else ("method", "expected R²", "range")
        columns = "".join(f'<th scope="col">{name}</th>' for name in header)
        questions = (PROMPT_QUESTIONS if prompts else QUESTIONS).items()
        controls = "".join(_question("prompts-" if prompts else "", name, *asked) for name, asked in questions)
        return (
            f'<link rel="stylesheet" href="{STATIC}/calculator.css">\n'
            f'<div class="calculator" data-kind="{self.kind}" role="group" aria-label="{label}" hidden>\n'
            f'<div class="calculator-questions">\n{controls}</div>\n'
            '<p class="calculator-fault" role="alert"></p>\n<div class="calculator-answer">\n'
            '<p class="calculator-told" role="status"></p>\n<p class="calculator-budget"></p>\n'
            f'<p class="calculator-warning"></p>\n<table><thead><tr>{columns}</tr></thead>'
            '<tbody class="calculator-methods"></tbody></table>\n'
            '<div class="highlight"><pre class="calculator-code" tabindex="0"></pre></div>\n</div>\n'
            f'<script type="application/json">{prompt_data() if prompts else data()}</script>\n</div>\n'
            f'<script src="{STATIC}/calculator.js"></script>'
        )

    def __repr__(self) -> str:
        return "calculator"


def data() -> str:
    """What the page's script knows: the table of forecasts and the words of `estimators.calculator`, as JSON."""
    words = {
        "record": "record",
        "short": calculator.SHORT,
        "choice": CHOICE,
        "code": _unbraced(calculator.CODE),
        "useless": USELESS,
        "records": calculator.RECORDS[0],
        "features": calculator.COEFFICIENTS[-1] - 1,
    }
    return _json(calculator.source(), words)


def prompt_data() -> str:
    """The same of `estimators.prompt_calculator`."""
    words = {
        "record": "prompt",
        **{"private": heads.PRIVATE, "covariance": heads.COVARIANCE, "none": heads.NO_DATA, "best": heads.BEST},
        **{"zero": heads.ZERO, "isotropic": ISOTROPIC},
        "code": {name: _unbraced(code) for name, code in heads.CODE.items()},
        **{"shortest": heads.SHORTEST, "longest": heads.LENGTHS[-1], "fewest": heads.LEAST_PROMPTS},
        "most": heads.MOST_PROMPTS,
        "dimensions": (min(heads.DIMENSIONS), max(heads.DIMENSIONS)),
        "conditions": (heads.CONDITIONS[0], heads.CONDITIONS[-1]),
    }
    return _json(calculator.source(heads.FILE), words)


def _unbraced(code: str) -> str:
    return code.replace("{{", "{").replace("}}", "}")


def _json(table: str, words: dict[str, Any]) -> str:
    told = json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'{{"table":{table},"words":{told}}}'


def _question(prefix: str, name: str, label: str, kind: str | dict[str, str]) -> str:
    place = f'id="calculator-{prefix}{name}" name="{name}" autocomplete="off"'
    if isinstance(kind, dict):
        options = "".join(f'<option value="{key}">{html.escape(words)}</option>' for key, words in kind.items())
        control = f"<select {place}>{options}</select>"
    else:
        control = f'<input {place} {kind} value="{calculator.literal((START | PROMPTS)[name])}">'
    return f'<div><label for="calculator-{prefix}{name}">{html.escape(label)}</label>{control}</div>\n'


def show_forecasts() -> pd.DataFrame:
    """The largest expected R² by n, d and ε, with the method where it is not the most frequent one."""
    most = usual()
    rows = []
    for d in FEATURES:
        for n in SIZES:
            row: dict[str, Any] = {"$d$": d, "$n$": n}
            for epsilon in EPSILONS:
                best = _answer(n, d, epsilon=epsilon, expected_r2=EXPECTED)
                other = "" if best.method == most else f", {best.method.partition(' (')[0]}"
                row[rf"$\varepsilon = {epsilon:g}$"] = f"{_r2(best.r2)}{other}" if best.useful else "0"
            rows.append(row | {"no privacy": _r2(best.without_privacy)})
    return pd.DataFrame(rows).set_index(["$d$", "$n$"])


def usual() -> str:
    """The method that is best in most cases of the table of forecasts in which one is expected to beat the mean."""
    asked = ((n, d, epsilon) for d in FEATURES for n in SIZES for epsilon in EPSILONS)
    told = [_answer(n, d, epsilon=epsilon, expected_r2=EXPECTED) for n, d, epsilon in asked]
    return str(pd.Series([said.method for said in told if said.useful]).value_counts().index[0])


def _r2(value: float) -> str:
    return f"{max(value, 0.0):.2f}"


def draw_forecasts() -> Plate:
    """Left: R² of every method against n at ε = 1. Right: that of the best method, by ε."""
    d, epsilon = int(START["d"]), float(START["value"])
    least = calculator.RECORDS[0] * (d + 1)
    sizes = [n for n in DRAWN if n >= least]
    here = {n: _answer(n, d, epsilon=epsilon, expected_r2=EXPECTED) for n in sizes}
    methods = pd.concat([said.methods.reset_index().assign(n=n) for n, said in here.items()], ignore_index=True)
    asked = [(each, n) for each in CURVES for n in sizes]
    r2 = [_answer(n, d, epsilon=each, expected_r2=EXPECTED).r2 for each, n in asked]
    best = pd.DataFrame({"epsilon": [f"ε = {each:g}" for each, _ in asked], "n": [n for _, n in asked], "r2": r2})
    plain = pd.DataFrame({"n": sizes, "r2": [max(said.without_privacy, 0.0) for said in here.values()]})
    with figures.panels(2, figsize=(9.2, 4.4)) as (figure, (left, right)):
        _draw(left, methods, "method", plain, f"every method, ε = {epsilon:g}")
        _draw(right, best, "epsilon", plain, "the best method")
    said = here[min(sizes, key=lambda n: abs(n - START["n"]))]
    return Plate(
        figure,
        f"**With $n = {START['n']:.0f}$ records the best private method is expected to explain {percent(said.r2)} "
        f"of the variance, least squares without privacy {percent(said.without_privacy)}.** Expected R² on new "
        f"records for $d = {d}$ features of which the best linear prediction explains {percent(EXPECTED)}, at "
        f"$\\delta$ = {compact(calculator.DELTA)}. Left: each method at $\\varepsilon = {epsilon:g}$. Right: the "
        "method with the largest expected R², for four budgets. The dotted line is least squares without privacy. "
        "These are forecasts from public numbers.",
    )


def _draw(axes: Axes, table: pd.DataFrame, by: str, plain: pd.DataFrame, title: str) -> None:
    figures.points(axes, plain, "n", "r2", fmt="k:", lw=1.5, label="no privacy")
    figures.curves(axes, table, "n", "r2", by, {name: name for name in dict.fromkeys(table[by])}, ms=4)
    axes.set(xscale="log", xlabel="$n$ (records)", ylabel="expected $R^2$", title=title)


# ---- One δ for the whole page: budgets that were measured at another one, restated ----

DELTA = calculator.DELTA  # of the page
PROMPTS_DELTA, HEADS_DELTA = measure.Experiment.delta, head_measure.Experiment.delta


def restated(epsilon: float, delta: float) -> float:
    """ε at `DELTA` of what was calibrated as a Gaussian mechanism to (ε, δ): the same noise, hence the same μ.

    It holds for objective perturbation, too, if δ > `DELTA`. That method spends a κ that does not depend on δ, and its
    ε − κ increases less, because its μ is that of a smaller budget.
    """
    return GaussianDP(ApproximateDP(epsilon, delta).to_gaussian().mu).epsilon(DELTA)


def shown(epsilon: float, delta: float) -> str:
    """`restated`, with three digits."""
    return f"{restated(epsilon, delta):.3g}"


def explained(epsilon: float, delta: float) -> str:
    """How a measured budget and the page's belong together, in a sentence."""
    return (
        f"All tables of this page state $\\varepsilon$ at $\\delta$ = {compact(DELTA)}. Both chapters on prompts were "
        f"measured at $\\delta$ = {compact(delta)}, where the noise of $\\varepsilon = {epsilon:g}$ is the noise of "
        f"$\\varepsilon = {shown(epsilon, delta)}$ at the page's $\\delta$."
    )


# ---- Heads: what is shown of the chapter on a private head that works ----

SHOWN = {
    head_measure.PRINTED: "NoisyHead, as printed",
    head_measure.TUNED: "NoisyHead, at its best",
    head_measure.RIDGE: "DP-ridge",
    head_measure.MOMENTS: "sufficient statistics (AdaSSP)",
    head_measure.BOOSTED: "boosted AdaSSP",
    head_measure.PERTURBED: "objective perturbation",
    head_measure.ONE_PASS: "one pass (DP-GD)",
    head_measure.CLIPPED: "full batches, each prompt's gradient clipped",
    head_measure.LAST_TOKEN: head_show.rung(head_measure.LAST_TOKEN),
    head_measure.PRIVATE: head_show.rung(head_measure.PRIVATE),
    head_measure.COVARIANCE: head_show.rung(head_measure.COVARIANCE),
    head_measure.NON_PRIVATE: "no privacy",
    head_measure.NO_DATA: "no data: what is public alone",
    head_measure.BEST: "best linear head",
}


def largest(steps: pd.DataFrame) -> pd.DataFrame:
    """The ladder at its largest ε."""
    return steps[steps["epsilon"] == steps["epsilon"].max()]


def show_heads(saved: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Test errors of methods for prompts, by covariance."""
    steps = largest(saved["ladder"])
    text = steps.assign(text=with_errors(steps, "test_error"))
    wide = text.pivot(index="rung", columns="covariance", values="text").loc[list(SHOWN), text["covariance"].unique()]
    return wide.rename(index=SHOWN, columns=head_show.title).rename_axis(index="method", columns=None)


def _least(steps: pd.DataFrame, covariance: str) -> tuple[str, float]:
    errors = select(steps, covariance=covariance).set_index("rung")["test_error"]
    learning = errors[[rung for rung in SHOWN if rung in head_measure.RUNGS and rung != head_measure.COVARIANCE]]
    return str(learning.idxmin()), float(learning.min())


def read_prompts_answer() -> Markdown:
    """What to use for prompts, by what is known of their covariance, and when the covariance alone."""
    saved = saved_of(HEADS)
    steps = largest(saved["ladder"])
    size = f"$N = {steps['N'].iloc[0]}$, $\\varepsilon = {shown(steps['epsilon'].iloc[0], HEADS_DELTA)}$"
    rows, alone = [], 0
    for name, part in steps.groupby("covariance", sort=False):
        errors = part.set_index("rung")["test_error"]
        least, smallest = _least(steps, str(name))
        smaller = ", which is smaller" if errors[head_measure.NO_DATA] < smallest else ""
        rows.append(
            f"- {plain(smallest)} {head_show.readings_where(str(name))}, by the method *{SHOWN[least]}*; "
            f"a head without data has {plain(errors[head_measure.NO_DATA])}{smaller}"
        )
        alone += int(errors[head_measure.COVARIANCE] < smallest)
    misled = head_show.readings_misled({"tasks": saved["tasks"]})
    unless = ", unless all features vary equally: then use a head without data" if "smaller" in rows[0] else ""
    return Markdown(
        f"**Train a head with `PrivateHeadRegressor`{unless}.** "
        f"The test errors are shares of a response's variance. At {size}, the smallest test error of a method that "
        "learns from responses is\n\n" + "\n".join(rows) + "\n\n"
        f"The head that is computed from the covariance alone has a smaller error in {alone} of {len(rows)} cases, but "
        "it assumes that tasks are isotropic, which means that all directions of the coefficients are equally likely. "
        f"If they are not, its error is up to {compact(misled['factor'].max())} times that of the private head. "
        '`PrivateHeadRegressor` uses it with `tasks="isotropic"` only.'
    )


# ---- The answers ----


def measured(cases: pd.DataFrame) -> dict[str, Any]:
    """From the table ``cases`` of the chapter that compares all methods: the one that is in front most often.

    In front is what is best, or behind by no more than the errors say, among the ``cases`` in which a method is better
    than the mean; how often it is in ``front``, ``best`` and ``chosen``.
    """
    groups = cases.groupby(["data", "n", "d", "epsilon"], sort=False)
    useful = cases[(cases["excess"] < cases["constant"]).groupby(groups.ngroup()).transform("any")]
    front = useful.loc[useful["behind"] <= CONSISTENT * useful["behind_error"], "method"].value_counts(sort=False)
    name = str(front.idxmax())
    best = useful.loc[useful.groupby(groups.ngroup())["excess"].idxmin(), "method"]
    chosen = useful["chosen"].astype(bool) & (useful["method"] == name)
    counts = {"front": int(front[name]), "cases": len(best), "best": int((best == name).sum())}
    return {"method": name} | counts | {"chosen": int(chosen.sum())}


EXAMPLE = {"N": 4000, "epsilon": 1.0}  # the case that the answer speaks of, or the nearest that was measured
WORTH = 0.5  # the share of the response's variance that a useful predictor explains, in the tables


def example(prompts: pd.DataFrame) -> dict[str, float]:
    """The size and the budget nearest to those that the answer speaks of."""
    return {name: nearest(prompts[name], value) for name, value in EXAMPLE.items()}


def name_of(method: str) -> str:
    """A method as a sentence has it."""
    return "answering 0" if method == ZERO else method


def answer(tables: Tables) -> list[str]:
    """What to use for one regression, and where the page answers for prompts."""
    found = measured(saved_of(CAMPAIGN)["cases"])
    return [
        f"`PrivateLinearRegression` chooses the method from public numbers. In {found['cases']} "
        f"[measured cases]({CAMPAIGN}.ipynb) where a private method beats the mean it chooses {found['method']} "
        f"{found['chosen']} times. This method is best in {found['best']}, and not "
        f"significantly worse than the best in {found['front'] - found['best']} more.",
        "If your data are prompts, each its own small regression, go to [the second part](#method-for-prompts). "
        f"The page states all budgets $\\varepsilon$ at $\\delta$ = {compact(DELTA)}.",
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
        f"$\\varepsilon = {shown(where['epsilon'], delta)}$, {name_of(best['method'])} is best{penalty}, "
        f"{worth} {percent(share(best))} of the variance. With the paper's penalty no head explains more than "
        f"{percent(useful)}. {explained(where['epsilon'], delta)}"
    )


def winner(prompts: pd.DataFrame, **where: float) -> pd.Series:
    """The private method with the least test error at a size and a budget, always answering 0 among the choices."""
    rows = select(prompts, choice=BEST_PENALTY, **where)
    return rows.loc[rows.loc[rows["method"].isin((*measure.PRIVATE, ZERO)), "test_error"].idxmin()]


def share(row: pd.Series) -> float:
    """The share of the response's variance that a method explains."""
    return 1 - row["test_error"] / row["response_variance"]


def read_prompts(checked: pd.DataFrame) -> Markdown:
    """How the table of prompts is read."""
    return Markdown(
        "The column *formula* is the closed form, without clipping. The column *as run* is the algorithm itself, with "
        f"clipping, projections and noise: the mean and its standard error over {span(checked['trials'])} trials. We "
        f"call a method worth using if it explains at least {percent(WORTH)} of the response's variance."
    )


def read_forecasts() -> Markdown:
    """How the table of forecasts is read."""
    most = usual()
    return Markdown(
        f"Each cell is the largest expected $R^2$ on new records at $\\delta$ = {compact(DELTA)}, where the best "
        f"linear prediction has {EXPECTED:g}. It belongs to {most} unless another method is named. A cell "
        f"with 0 says that no private method is expected to be better than predicting the mean; you would need more "
        f"records, fewer features or a larger budget. The last column is least squares without privacy."
    )


def read_prompts_needed() -> Markdown:
    """From how many prompts on the private heads are expected to be better than the head without data, by budget."""
    where: dict[str, Any] = {name: PROMPTS[name] for name in ("L", "D", "condition")}
    least = heads.LEAST_PROMPTS * where["D"]

    def needed(epsilon: float, tasks: str) -> str:
        def learns(N: int) -> bool:
            return heads.prompts(N, **where, epsilon=epsilon, tasks=tasks).useful

        found = bisect.bisect_left(range(10**8), True, least, key=learns)
        return f"about {float(f'{found:.2g}'):.0f}" if found > least else f"{least} or fewer"

    lines = [
        f"- $\\varepsilon = {epsilon:g}$: {needed(epsilon, ANY)} (private head), "
        f"{needed(epsilon, ISOTROPIC)} (covariance alone)"
        for epsilon in SCARCE
    ]
    return Markdown(
        "**If there are too few prompts for the budget, no private head is worth its noise, and the head without data "
        f"is best.** For $L = {where['L']}$, $D = {where['D']}$, $\\kappa = {where['condition']:g}$ and $\\delta$ = "
        f"{compact(DELTA)}, a private head is expected to be better from this number of prompts on:\n\n"
        + "\n".join(lines)
        + "\n\nThe covariance alone needs fewer, but it relies on isotropic tasks."
    )


def forecast_prompts(saved: Mapping[str, pd.DataFrame], delta: float) -> pd.DataFrame:
    """The rows of the chapter on a private head that the calculator answers, with its ``forecast``.

    That chapter draws isotropic prompts from the sphere, which the calculator does not.
    """
    names = {head_measure.PRIVATE: heads.PRIVATE, head_measure.COVARIANCE: heads.COVARIANCE}
    rows = saved["test-error"]
    rows = rows[rows["method"].isin(names) & (rows["covariance"] != head_measure.ISOTROPIC)]
    D = head_measure.Experiment.D

    def told(row: pd.Series) -> float:
        condition = float(row["covariance"].removeprefix(head_measure.UNKNOWN))
        sizes = row["N"], math.isqrt(row["N"]), D
        found = heads.prompts(*sizes, epsilon=row["epsilon"], delta=delta, condition=condition).heads
        return float(found.loc[names[row["method"]], "error"])

    return rows.assign(forecast=rows.apply(told, axis=1))


def read_prompts_forecast(saved: Mapping[str, pd.DataFrame], delta: float) -> Markdown:
    """How far the forecasts are from that chapter's simulations."""
    rows = forecast_prompts(saved, delta)
    off = (rows["forecast"] / rows["test_error"] - 1).abs()
    return Markdown(
        f"The [chapter on these heads](noisyhead/a-head-that-works.ipynb) simulated {len(rows)} cases that the "
        f"calculator answers, too. The forecast differs from the simulation by {percent(off.max())} at most, and by "
        f"{percent(off.median())} in the median."
    )


def saved_of(chapter: str) -> dict[str, pd.DataFrame]:
    """The tables of another chapter that this page reads, of this tree where it has them already, else the book's."""
    tree = claims.find_register(Path.cwd()).parent
    ready = all((tree / chapter / f"{name}.csv").is_file() for name in TABLES[chapter])
    saved = Saved(tree if ready else stamps.find_root(Path.cwd()) / "book")
    return {name: saved.table(chapter, name) for name in TABLES[chapter]}


def caption_methods(tables: Tables) -> str:
    """How the methods of the paper compare for prompts."""
    prompts = tables["prompts"]
    where = example(prompts)
    best, papers = winner(prompts, **where), select(prompts, epsilon=where["epsilon"], choice=PAPERS)
    zero = prompts["response_variance"].max()
    return (
        f"**With the best public penalty, {name_of(best['method'])} has the least test error of the two private heads, "
        f"{compact(best['test_error'])} at $N = {where['N']:.0f}$ and $\\varepsilon = "
        f"{shown(where['epsilon'], PROMPTS_DELTA)}$.** Each method has its best penalty. "
        "With the paper's penalty and correctly calibrated noise, all have a test error of "
        f"{span(papers['test_error'])} (crosses); always predicting 0 has {compact(zero)}. The curves are closed "
        "forms, without sampling error."
    )


def show_prompts(prompts: pd.DataFrame, checked: pd.DataFrame, delta: float) -> pd.DataFrame:
    """What to use at each size and budget, measured at ``delta``: method, penalty, error and what it explains."""
    rows = []
    for N, epsilon in dict.fromkeys(prompts[["N", "epsilon"]].itertuples(index=False, name=None)):
        best = winner(prompts, N=N, epsilon=epsilon)
        run = select(checked, N=N, epsilon=epsilon, method=best["method"])
        rows.append(
            {
                "$N$": N,
                r"$\varepsilon$": shown(epsilon, delta),
                "use": name_of(best["method"]),
                r"penalty $\lambda$": "" if np.isnan(best["penalty"]) else compact(best["penalty"]),
                "test error, formula": compact(best["test_error"]),
                "as run": " ± ".join(map(compact, run[["test_error", "standard_error"]].iloc[0])) if len(run) else "",
                "variance explained": percent(share(best)),
                "worth using": "yes" if share(best) >= WORTH else "no",
            }
        )
    return pd.DataFrame(rows).set_index(["$N$", r"$\varepsilon$"])
