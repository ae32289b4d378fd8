"""Which method should I use, at equal privacy and equal data?"""

import bisect
import functools
import html
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes

from chapters.method import measure
from chapters.method.measure import BEST as BEST_PENALTY
from chapters.method.measure import PAPERS, ZERO
from chapters.method.reads import CAMPAIGN, HEADS, RIVALS, TABLES
from chapters.noisyhead.a_head_that_works import measure as head_measure
from chapters.noisyhead.a_head_that_works import show as head_show
from chapters.overview.saved import Saved
from chapters.privacy.rivals.measure import LEAST_SQUARES
from chapters.privacy.rivals.show import NARROW_SPACE, joined, short, show_winners, winners
from companion.judging import claims
from companion.judging.prose import compact, listed, percent, plain, span, with_errors
from companion.judging.tables import Tables, nearest, pick, select
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


def opening(saved: Mapping[str, pd.DataFrame], delta: float) -> list[str]:
    """What to use for prompts whose covariance is unknown, and for isotropic ones, where no data may be best.

    ``saved`` are tables of the chapter on a private head, and ``delta`` is the δ at which they were measured.
    """
    steps = largest(saved["ladder"])
    where = f"$N = {int(steps['N'].iloc[0])}$, $\\varepsilon = {shown(steps['epsilon'].iloc[0], delta)}$"
    lines = []
    unknown = [str(name) for name in steps["covariance"].unique() if name != head_measure.ISOTROPIC]
    if unknown:
        private = 1 - min(_least(steps, unknown[0])[1], 1.0)
        none = 1 - float(pick(steps, covariance=unknown[0], rung=head_measure.NO_DATA)["test_error"])
        condition = unknown[0].removeprefix(head_measure.UNKNOWN)
        lines.append(
            "*Prompts*, each its own small regression: train a *head* that predicts new ones "
            f"(`PrivateHeadRegressor`). If features vary {condition} times more in some unknown directions than "
            f"others, it explains {percent(private)} of the variance ({where}); one without data {percent(none)}."
        )
    learned = _least(steps, head_measure.ISOTROPIC)[1]
    public = float(pick(steps, covariance=head_measure.ISOTROPIC, rung=head_measure.NO_DATA)["test_error"])
    better, than = ("better", "against") if public < learned else ("not better", "but")
    lines.append(
        f"*Isotropic prompts*, whose features vary equally: a head without data is {better}: its test error is "
        f"{plain(public)}, {than} {plain(learned)}."
    )
    return lines


def _least(steps: pd.DataFrame, covariance: str) -> tuple[str, float]:
    errors = select(steps, covariance=covariance).set_index("rung")["test_error"]
    learning = errors[[rung for rung in SHOWN if rung in head_measure.RUNGS and rung != head_measure.COVARIANCE]]
    return str(learning.idxmin()), float(learning.min())


def read_heads(saved: Mapping[str, pd.DataFrame], delta: float) -> Markdown:
    """What to use, from the same table, and when the covariance alone."""
    steps = largest(saved["ladder"])
    size = f"$N = {steps['N'].iloc[0]}$, $\\varepsilon = {shown(steps['epsilon'].iloc[0], delta)}$"
    rows, alone = [], 0
    for name, part in steps.groupby("covariance", sort=False):
        errors = part.set_index("rung")["test_error"]
        least, _ = _least(steps, str(name))
        smaller = ", which is smaller" if errors[head_measure.NO_DATA] < errors[least] else ""
        rows.append(
            f"*{SHOWN[least]}* {head_show.readings_where(str(name))} "
            f"({plain(errors[least])}; without data {plain(errors[head_measure.NO_DATA])}{smaller})"
        )
        alone += int(errors[head_measure.COVARIANCE] < errors[least])
    misled = head_show.readings_misled({"tasks": saved["tasks"]})
    worst = misled.loc[misled["factor"].idxmax()]
    lines = "\n".join(f"- {row}" for row in rows)
    return Markdown(
        f"At {size}, these have the smallest test error among the methods that learn from responses:\n\n{lines}\n\n"
        f"The head that is computed from the covariance alone has a smaller error in {alone} of {len(rows)} cases, but "
        f"it assumes that tasks are isotropic. If they are not, its error is up to {compact(worst['factor'])} times "
        "that of the private head. `PrivateHeadRegressor` trains the whitened descent on your own prompts; with "
        '`tasks="isotropic"` it uses the covariance alone.'
    )


# ---- The method for one regression that is in front most often ----


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
RECORDS = {"n": 10_000, "d": 50, "epsilon": 1.0}  # one regression, for which the page shows how to read its table
NEAR = 4.0  # up to this factor of n/d a case is near
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
    found, (*first, last) = measured(saved_of(CAMPAIGN)["cases"]), opening(saved_of(HEADS), HEADS_DELTA)
    return [
        f"*Tabular data*: `PrivateLinearRegression` chooses the method from public numbers. In {found['cases']} "
        f"[measured cases]({CAMPAIGN}.ipynb) where a private method beats the mean it chooses {found['method']} "
        f"{found['chosen']} times. This method is best in {found['best']}, and not "
        f"significantly worse than the best in {found['front'] - found['best']} more.",
        *first,
        f"{last} All budgets are at $\\delta$ = {compact(DELTA)}.",
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


def in_front(found: pd.DataFrame) -> dict[str, int]:
    """In how many cases each method is best or cannot be told from the best, of those that are best somewhere."""
    return {name: sum(name in (row.least, *row.tied) for row in found.itertuples()) for name in found["least"].unique()}


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


def read_regression(table: pd.DataFrame) -> Markdown:
    """How the table of the one regression is read, and which form of DP-GD is most often best."""
    private = table[table["method"] != measure.LEAST_SQUARES]
    best = private.loc[private.groupby(["records", "rho"], sort=False)["excess_risk"].idxmin(), "method"]
    counts = best.map(name_of).value_counts()
    others = f"; {listed(f'*{name}*' for name in counts.index[1:])} in the others" if len(counts) > 1 else ""
    budgets = listed(
        f"$\\varepsilon = {GaussianDP(rho).epsilon(DELTA):.2g}$ for $\\mu = {rho:g}$" for rho in table["rho"].unique()
    )
    return Markdown(
        "The table *regression* among the downloads has every form of DP-GD with its excess risk and its settings, "
        "the best one for each number of records per feature. The clipping constant is "
        f"{measure.SMALL:g}, which clips nearly every gradient, or {measure.LARGE:g} (*hardly clipped*). At "
        f"$\\delta$ = {compact(DELTA)}, the budget is {budgets}. "
        f"Among the forms of DP-GD, *{counts.index[0]}* is best in {counts.iloc[0]} of {len(best)} cases{others}."
    )


def read_rivals(errors: pd.DataFrame) -> Markdown:
    """Which method of the comparison is in front how often, how often DP-GD is behind, and what an example shows."""
    found = winners(errors)
    front = in_front(found)
    told = listed(f"{name} in {front[name]}" for name in sorted(front, key=lambda name: -front[name]))
    starred = "".join(f"\n\n{each}" for each in _starred(errors, found))
    return Markdown(
        f"In {len(found)} cases we counted how often each method is best or cannot be told from the best: {told}. In "
        f"{int(found['beaten'].sum())} cases (marked {BEHIND}) the best form of DP-GD is significantly worse than "
        f"the best method; there, use the method in the table.{starred}\n\n{_nearest_cases(found)}"
    )


def worse_with_more(found: pd.DataFrame) -> pd.DataFrame:
    """The cases whose least error is larger than at a smaller ε, beyond doubt; ``before`` is that ε."""
    rows = []
    for _, same in found.sort_values("epsilon").groupby(["problem", "n"], sort=False):
        for one, more in pairwise(same.itertuples()):
            if more.lost - one.lost > CONSISTENT * math.hypot(one.lost_error, more.lost_error):
                rows.append(more._asdict() | {"before": one.epsilon})
    return pd.DataFrame(rows, columns=[*found.columns, "before"])


def _starred(errors: pd.DataFrame, found: pd.DataFrame) -> Iterator[str]:
    """Why a larger budget may have a larger error, with the best of the settings that were tried beside it."""
    for row in worse_with_more(found).itertuples():
        where = {"problem": row.problem, "n": row.n, "epsilon": row.epsilon}
        other = float(select(errors, **where, method=row.least)["lost"].min())
        plainly = float(pick(errors, **where, method=LEAST_SQUARES)["lost"])
        yield (
            f"At $n/d = {row.n / row.d:.3g}$ on {short(row.problem)} data, {row.least} has a larger error at "
            f"$\\varepsilon = {row.epsilon:g}$ than at $\\varepsilon = {row.before:g}$ (the star in the table). The "
            f"settings are public and assume features that vary equally in all directions, and a larger "
            f"$\\varepsilon$ permits a smaller penalty. These features vary in few directions, so a small penalty "
            f"overfits: least squares without privacy loses {percent(plainly)}. Another setting that the chapter tried "
            f"loses {percent(other)}, but nobody could have chosen it without the data."
        )


def _nearest_cases(found: pd.DataFrame) -> str:
    """How to read the table for data of one's own: the cases that are nearest to an example."""
    n, d, epsilon = (RECORDS[name] for name in ("n", "d", "epsilon"))
    ratio = found["n"] / found["d"]
    near = found[(found["epsilon"] == nearest(found["epsilon"], epsilon)) & (ratio / (n / d)).between(1 / NEAR, NEAR)]
    example = (
        f"**An example.** You have $n = {n}$ records of $d = {d}$ features, and $\\varepsilon = {epsilon:g}$. That is "
        f"{n / d:.0f} records per feature. The nearest cases are"
    )
    if near.empty:
        return f"{example} further away than the table goes."
    cases = (f"*{row.least}* for {short(row.problem)} data ($n/d = {row.n / row.d:.0f}$)" for row in near.itertuples())
    front, everywhere = in_front(near), in_front(found)
    name = max(front, key=lambda method: (front[method], everywhere[method]))
    return (
        f"{example} best solved by {listed(cases)}. "
        f"If you do not know which of these your data resemble, the safest of the forms *in this table* is *{name}*: "
        f"best, or not significantly worse, in {front[name]} of these {len(near)}. Use `PrivateLinearRegression` all "
        f"the same: it has better forms, and [chooses between them]({CAMPAIGN}.ipynb) from public numbers."
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


def caption_methods(tables: Tables) -> str:
    """How the methods compare for prompts and for one regression."""
    prompts = tables["prompts"]
    where = example(prompts)
    best, papers = winner(prompts, **where), select(prompts, epsilon=where["epsilon"], choice=PAPERS)
    zero = prompts["response_variance"].max()
    return (
        f"**With the best public penalty, {name_of(best['method'])} has the least test error of the private heads, "
        f"{compact(best['test_error'])} at $N = {where['N']:.0f}$ and $\\varepsilon = "
        f"{shown(where['epsilon'], PROMPTS_DELTA)}$.** Left: heads for prompts, each method with its best penalty. "
        "With the paper's penalty and correctly calibrated noise, all have a test error of "
        f"{span(papers['test_error'])} (crosses); always predicting 0 has {compact(zero)}. Right: half the test error "
        f"of one pass over one data set at $\\mu = {tables['regression']['rho'].max():g}$, each schedule with its best "
        "learning rate. The curves are closed forms and solutions of equations, without sampling error. The table of "
        "heads above shows the errors of the algorithms themselves."
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


def show_rivals(errors: pd.DataFrame) -> pd.DataFrame:
    """What to use for one regression by data, ε and n/d, and the best form of DP-GD beside it.

    A star marks a case with a larger error than at a smaller ε, and a dagger one in which DP-GD is significantly worse:
    `page.read_rivals` says why.
    """
    shown = show_winners(errors).reset_index()
    for row in worse_with_more(winners(errors)).itertuples():
        same = (shown["data"] == short(row.problem)) & (shown["n"] == row.n) & (shown["ε"] == f"{row.epsilon:g}")
        shown.loc[same, "lost, %"] += f"{NARROW_SPACE}*"
    behind = shown["behind"] == "yes"
    shown["its loss, %"] += behind.map({True: f"{NARROW_SPACE}{BEHIND}", False: ""})
    shown = shown.drop(columns=["n", "not told from it", "behind"])
    return shown.rename(columns={"least error": "use"}).set_index(["data", "ε", "n/d"])
