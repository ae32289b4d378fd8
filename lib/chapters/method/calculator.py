"""The calculator of the page that chooses a method, and the same forecasts as a table and a figure without scripts."""

import html
import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from companion.judging.prose import compact, percent
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.estimators import calculator
from costofprivacy.estimators.calculator import USELESS
from costofprivacy.estimators.forecasting import MOST_FEATURES, choice

STATIC = "../_static"  # from the page
START = {"n": 1000, "d": 10, "value": 1.0, "delta": calculator.DELTA, "r2": 0.5}
BUDGETS = {
    "epsilon": "ε, at the δ below",
    "rho": "ρ of zero-concentrated DP",
    "mu": "μ of Gaussian DP",
}
QUESTIONS = {
    "n": ("Number of records, n", 'type="number" min="6" step="1" inputmode="numeric"'),
    "d": ("Number of features, d", 'type="number" min="1" max="1000" step="1" inputmode="numeric"'),
    "budget": ("Privacy budget stated as", ""),
    "value": ("Value of the budget", 'type="number" min="0" step="any" inputmode="decimal"'),
    "delta": ("δ", 'type="number" min="0" max="0.1" step="any" inputmode="decimal"'),
    "r2": ("R² that you expect without privacy", 'type="number" min="0" max="1" step="any" inputmode="decimal"'),
}
LABEL = "Calculator: the numbers of your data and the budget, and the method to use with its expected error"
SIZES = (100, 300, 1000, 3000, 10_000, 100_000)
FEATURES, EPSILONS, EXPECTED = (3, 10, 30), (0.3, 1.0, 3.0), 0.5  # of the table
CURVES = (0.1, 0.3, 1.0, 3.0)  # ε of the figure
DRAWN = tuple(round(10**k) for k in np.arange(1.75, 6.01, 0.25))  # n of the figure


@dataclass(frozen=True)
class Calculator:
    """The controls, what is said of them, and the table of forecasts, as a page shows them."""

    def _repr_html_(self) -> str:
        return (
            f'<link rel="stylesheet" href="{STATIC}/calculator.css">\n'
            f'<div class="calculator" role="group" aria-label="{html.escape(LABEL)}" hidden>\n'
            f'<div class="calculator-questions">\n{"".join(map(_question, QUESTIONS))}</div>\n'
            '<p class="calculator-fault" role="alert"></p>\n<div class="calculator-answer">\n'
            '<p class="calculator-told" role="status"></p>\n<p class="calculator-budget"></p>\n'
            '<p class="calculator-warning"></p>\n<table><thead><tr><th scope="col">method</th>'
            '<th scope="col">expected R²</th><th scope="col">range</th></tr></thead>'
            '<tbody class="calculator-methods"></tbody></table>\n'
            '<div class="highlight"><pre class="calculator-code" tabindex="0"></pre></div>\n</div>\n'
            f'<script type="application/json">{data()}</script>\n</div>\n'
            f'<script src="{STATIC}/calculator.js"></script>'
        )

    def __repr__(self) -> str:
        return "calculator"


def data() -> str:
    """What the page's script knows: the table of forecasts and the words of `estimators.calculator`, as JSON."""
    words = {
        "short": calculator.SHORT,
        "choice": choice(1),
        "many": choice(MOST_FEATURES + 1),
        "most": MOST_FEATURES,
        "code": calculator.CODE.replace("{{", "{").replace("}}", "}"),
        "useless": USELESS,
        "records": calculator.RECORDS[0],
        "features": calculator.COEFFICIENTS[-1] - 1,
    }
    told = json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'{{"table":{calculator.source()},"words":{told}}}'


def _question(name: str) -> str:
    """A control with its label."""
    label, kind = QUESTIONS[name]
    place = f'id="calculator-{name}" name="{name}" autocomplete="off"'
    if name == "budget":
        options = "".join(f'<option value="{key}">{html.escape(words)}</option>' for key, words in BUDGETS.items())
        control = f"<select {place}>{options}</select>"
    else:
        control = f'<input {place} {kind} value="{calculator.literal(START[name])}">'
    return f'<div><label for="calculator-{name}">{html.escape(label)}</label>{control}</div>\n'


def show_forecasts() -> pd.DataFrame:
    """The largest expected R² by n, d and ε, with the method where it is not the most frequent one."""
    most = usual()
    rows = []
    for d in FEATURES:
        for n in SIZES:
            told = {epsilon: calculator.answer(n, d, epsilon=epsilon, expected_r2=EXPECTED) for epsilon in EPSILONS}
            cells = {rf"$\varepsilon = {epsilon:g}$": _cell(said, most) for epsilon, said in told.items()}
            rows.append({"$d$": d, "$n$": n} | cells | {"no privacy": _r2(told[EPSILONS[0]].without_privacy)})
    return pd.DataFrame(rows).set_index(["$d$", "$n$"])


def usual() -> str:
    """The method that is best in most cases of the table of forecasts."""
    return str(pd.Series(winners()).value_counts().index[0])


def winners() -> list[str]:
    """The best method of each case of the table of forecasts in which one is expected to beat the mean."""
    asked = ((n, d, epsilon) for d in FEATURES for n in SIZES for epsilon in EPSILONS)
    told = [calculator.answer(n, d, epsilon=epsilon, expected_r2=EXPECTED) for n, d, epsilon in asked]
    return [said.method for said in told if said.useful]


def _cell(said: calculator.Answer, most: str) -> str:
    if not said.useful:
        return "0"
    return _r2(said.r2) + ("" if said.method == most else f", {said.method.partition(' (')[0]}")


def _r2(value: float) -> str:
    return f"{max(value, 0.0):.2f}"


def draw_forecasts() -> Plate:
    """Left: R² of every method against n at ε = 1. Right: that of the best method, by ε."""
    d, epsilon = int(START["d"]), float(START["value"])
    least = calculator.RECORDS[0] * (d + 1)
    sizes = [n for n in DRAWN if n >= least]
    here = {n: calculator.answer(n, d, epsilon=epsilon, expected_r2=EXPECTED) for n in sizes}
    methods = pd.concat([said.methods.reset_index().assign(n=n) for n, said in here.items()], ignore_index=True)
    best = pd.DataFrame(
        [
            {"epsilon": f"ε = {each:g}", "n": n, "r2": calculator.answer(n, d, epsilon=each, expected_r2=EXPECTED).r2}
            for each in CURVES
            for n in sizes
        ]
    )
    plain = pd.DataFrame({"n": sizes, "r2": [max(said.without_privacy, 0.0) for said in here.values()]})
    with figures.panels(2, figsize=(9.2, 4.4)) as (figure, (left, right)):
        _draw(left, methods, "method", plain, f"every method, ε = {epsilon:g}")
        _draw(right, best, "epsilon", plain, "the best method")
    said = here[min(sizes, key=lambda n: abs(n - START["n"]))]
    return Plate(
        figure,
        caption=(
            f"**Expected R² on new records against the number of records**, for $d = {d}$ features of which the best "
            f"linear prediction explains {percent(EXPECTED)} of the variance, at $\\delta$ = "
            f"{compact(calculator.DELTA)}. Left: each method at $\\varepsilon = {epsilon:g}$. Right: the method "
            f"with the largest expected R², for four budgets. The dotted line is least squares without privacy. These "
            f"are forecasts from public numbers; at $n = {START['n']:.0f}$ the range of the best one is "
            f"{_r2(said.low)} to {_r2(said.high)}."
        ),
    )


def _draw(axes: Axes, table: pd.DataFrame, by: str, plain: pd.DataFrame, title: str) -> None:
    figures.points(axes, plain, "n", "r2", fmt="k:", lw=1.5, label="no privacy")
    figures.curves(axes, table, "n", "r2", by, {name: name for name in dict.fromkeys(table[by])}, ms=4)
    axes.set(xscale="log", xlabel="$n$ (records)", ylabel="expected $R^2$", title=title)
