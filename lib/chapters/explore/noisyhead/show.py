"""When does NoisyHead predict better than answering 0, and what do more prompts, budget or accounting buy?"""

from dataclasses import dataclass, replace

import altair as alt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from companion.judging.prose import compact, percent
from companion.judging.tables import Tables, nearest, pick, select
from companion.showing import explorer
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST
from costofprivacy.settings import Setting

COLUMN = {ALGORITHM: "algorithm", EVERY: "every", LAST: "last"}
ACCOUNT_LABELS = ["as printed in Algorithm 1", "every iterate, exact", "last iterate alone, exact"]
SETTING_LABELS = {str(Setting.CORRECTED): "corrected", str(Setting.PUBLISHED): "behind the published numbers"}
START_EPSILON, START_N = 1.0, 4000
PRIVATE, WITHOUT, ZERO, BEST = "NoisyHead", "without noise", "answering 0", "best linear head"
GAINED, ADDED, RECIPE = "gained by descent", "added by noise", "T of section 6.1"
LOOKS = [
    (PRIVATE, explorer.VERMILION, explorer.SOLID),
    (WITHOUT, explorer.BLUE, explorer.DASHED),
    (ZERO, explorer.GREY, explorer.DOTTED),
    (BEST, explorer.GREEN, explorer.DOTDASH),
    (RECIPE, explorer.PINK, [1, 2]),
    (explorer.GHOST, explorer.PALE, explorer.SOLID),
]
SLIGHT = 0.02  # share of what the best linear head predicts that is next to nothing
LEAST, MOST = -8, 1  # powers of ten that the lower panel shows
KEYS = ["setting", "problem", "N"]
FACTS = ["noise_limit", "best_linear_head", "response_variance", "recipe_steps"]


@dataclass(frozen=True)
class Choice:
    """What is chosen on the page; all but the problem has a start value."""

    problem: str
    N: int = START_N
    account: str = EVERY
    epsilon: float = START_EPSILON
    setting: str = str(Setting.CORRECTED)


def start(tables: Tables) -> Choice:
    """The paper's problem at `START_N` prompts and `START_EPSILON`, or of what can be chosen the nearest."""
    N, epsilon = nearest(tables["runs"]["N"], START_N), nearest(tables["budgets"]["epsilon"], START_EPSILON)
    return Choice(problems(tables)[0], int(N), epsilon=float(epsilon))


def first(tables: Tables) -> Choice:
    """What the chart shows at first: as `start`, of the problem that can be learned, so that each control matters."""
    return replace(start(tables), problem=learnable(tables))


def curve(tables: Tables, choice: Choice) -> pd.DataFrame:
    """What the page draws for a choice: columns T, gained, without_noise, noise, caught and error, a row for each T.

    Where Algorithm 1's own calibration is no guarantee, ε > T, there is no row.
    """
    where = {"setting": choice.setting, "problem": choice.problem, "N": choice.N}
    learnt = select(tables["learnt"], **where)[["T", "gained"]]
    noise = select(tables["noise"], **where, account=choice.account)[["T", "noise"]]
    run = pick(tables["runs"], **where)
    factor = pick(tables["budgets"], epsilon=choice.epsilon, account=choice.account)["factor"]
    found = learnt.merge(noise, on="T")
    free = found["noise"] * factor
    found = found.assign(noise=np.minimum(free, run["noise_limit"]), caught=free > run["noise_limit"])
    found["without_noise"] = run["response_variance"] - found["gained"]
    found["error"] = found["without_noise"] + found["noise"]
    return found[found["T"] >= choice.epsilon] if choice.account == ALGORITHM else found


def best(tables: Tables, choice: Choice) -> pd.Series:
    """The row of `curve` with the least test error."""
    rows = curve(tables, choice)
    return rows.loc[rows["error"].idxmin()]


def problems(tables: Tables) -> list[str]:
    """The problems that can be chosen, in their order."""
    return list(tables["runs"]["problem"].unique())


def explore(tables: Tables) -> explorer.Explorer:
    """The page's explorer."""
    here = first(tables)
    rows, run = curve(tables, here), pick(tables["runs"], setting=here.setting, problem=here.problem, N=here.N)
    low, high, gained = rows["error"].min(), rows["error"].max(), rows["gained"].max()
    overtaken = rows.loc[rows["noise"] > rows["gained"], "T"]
    turn = f"from {overtaken.iloc[0]:,.0f} steps on noise adds more" if len(overtaken) else "noise never adds as much"
    values = (
        f"The test error lies between {low:.3f} and {high:.3f}, where answering 0 has {run['response_variance']:.3g} "
        f"and the best linear head {run['best_linear_head']:.3f}. Descent gains up to {gained:.2g}, and {turn}."
    )
    longest = int(tables["learnt"]["T"].max())
    base, before = _base(tables, longest), _base(tables, longest, explorer.BEFORE)
    panels = alt.vconcat(_upper(base, before, longest), _lower(base, before, longest), spacing=24)
    return explorer.Explorer(
        panels.resolve_scale(color="independent", strokeDash="independent"),
        controls(tables),
        "figure-explore-noisyhead",
        "Test error of NoisyHead against its number of steps, with controls for the problem, the budget and accounting",
        "Two panels against the number of steps. Above: the test error of NoisyHead, with and without noise, beside "
        "answering 0 and the best linear head. Below: what descent gains and what noise adds.",
        f"**NoisyHead at the start values.** {values} With scripts allowed, controls stand in this figure's place.",
        f"Two panels against the number of steps. {values}",
    )


def answer(tables: Tables) -> list[str]:
    """What it takes to predict, from the start values to the most prompts."""
    here, largest = start(tables), int(tables["runs"]["N"].max())
    problem, variance = learnable(tables), tables["runs"].set_index(KEYS)["response_variance"]
    predicted = replace(here, problem=problem), replace(here, problem=problem, N=largest)
    few, many = (1 - best(tables, c)["error"] / variance[c.setting, c.problem, c.N] for c in predicted)
    noiseless = curve(tables, here)["gained"].max() / variance[here.setting, here.problem, here.N]
    return [
        f"With ${_tex(here.problem)}$ and $N = {_many(here.N)}$, descent predicts only {percent(noiseless)} of the "
        f"response, even without noise.",
        f"With ${_tex(problem)}$ the private head predicts {percent(few)}, and {percent(many)} at "
        f"$N = {_many(largest)}$. That is at $\\varepsilon = {here.epsilon:g}$ with exact accounting.",
    ]


def learnable(tables: Tables) -> str:
    """The problem that is predicted best from the most prompts."""
    here, largest = start(tables), int(tables["runs"]["N"].max())
    return min(problems(tables), key=lambda name: best(tables, replace(here, problem=name, N=largest))["error"])


def controls(tables: Tables) -> tuple[explorer.Control, ...]:
    """What can be chosen: lists for what has a name, sliders for numbers."""
    names, sizes = problems(tables), [int(N) for N in tables["runs"]["N"].unique()]
    budgets = [float(epsilon) for epsilon in tables["budgets"]["epsilon"].unique()]
    here = first(tables)
    settings, words = list(SETTING_LABELS), list(SETTING_LABELS.values())
    return (
        explorer.slider("epsilon", "Budget ε", budgets, here.epsilon, [f"{epsilon:g}" for epsilon in budgets]),
        explorer.slider("N", "Training prompts N", sizes, here.N, [f"{N:,}" for N in sizes]),
        explorer.picker("problem", "Problem and penalty", names, here.problem),
        explorer.picker("account", "Accounting", list(COLUMN.values()), COLUMN[EVERY], ACCOUNT_LABELS),
        explorer.picker("setting", "Setting", settings, str(Setting.CORRECTED), words),
    )


def _base(tables: Tables, longest: int, when: str = "") -> alt.Chart:
    """The rows of what is chosen, or was before, with the noise at the chosen budget."""
    noise = tables["noise"].pivot(index=[*KEYS, "T"], columns="account", values="noise").rename(columns=COLUMN)
    runs, asked = tables["runs"], tables["runs"]["recipe_steps"]
    runs = runs.assign(recipe_steps=asked.where(asked.le(longest), 0))
    rows = tables["learnt"].merge(noise.reset_index(), on=[*KEYS, "T"]).merge(runs, on=KEYS)
    rows = rows.assign(**{name: [f"{v:.4g}" for v in rows[name]] for name in (*COLUMN.values(), "best_linear_head")})
    factors = tables["budgets"].pivot(index="epsilon", columns="account", values="factor").rename(columns=COLUMN)
    step = float(factors.index[0])
    factors = factors.add_prefix("factor_").assign(place=np.arange(1, len(factors) + 1))
    fields = [f"factor_{name}" for name in COLUMN.values()]
    known = alt.LookupData(explorer.table(factors[["place", *fields]]), key="place", fields=fields)
    account, epsilon = f"account{when}", f"epsilon{when}"
    free = f"toNumber(datum[{account}]) * toNumber(datum['factor_' + {account}])"
    return (
        alt.Chart(explorer.table(rows[[*KEYS, "T", "gained", *COLUMN.values(), *FACTS]]))
        .transform_filter(explorer.chosen(KEYS, when))
        .transform_filter(f"{account} != '{COLUMN[ALGORITHM]}' || datum.T >= {epsilon}")
        .transform_calculate(place=f"round({epsilon} / {step!r})")
        .transform_lookup(lookup="place", from_=known)
        .transform_calculate(free=free, variance="toNumber(datum.response_variance)")
        .transform_calculate(noise="min(datum.free, datum.noise_limit)", without_noise="datum.variance - datum.gained")
        .transform_calculate(error="datum.without_noise + datum.noise")
    )


def _steps(field: str, longest: int) -> alt.X:
    axis = alt.Axis(values=[10**k for k in range(len(str(longest)))], format=",", title="steps T", grid=True)
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", domain=[1, longest], nice=False), axis=axis)


def _upper(base: alt.Chart, before: alt.Chart, longest: int) -> explorer.Layers:
    colour, dash = explorer.scales(LOOKS)
    axis = alt.Axis(title="test error", values=[0, 0.25, 0.5, 0.75, 1, 1.25, 1.5], format=".2~f")

    def error(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[0, axis.values[-1]]), axis=axis)

    def line(series: str, field: str, width: float, rows: alt.Chart = base) -> alt.Chart:
        named = rows.transform_calculate(series=f"'{series}'").mark_line(clip=True, strokeWidth=width)
        return named.encode(_steps("T", longest), error(field), colour, dash)

    def level(series: str, field: str) -> alt.Chart:
        named = base.transform_aggregate(level=f"max({field})").transform_calculate(series=f"'{series}'")
        return named.mark_rule(strokeWidth=2).encode(error("level"), colour, dash)

    asked = base.transform_aggregate(level="max(recipe_steps)").transform_filter("datum.level > 0")
    stop = asked.transform_calculate(series=f"'{RECIPE}'").mark_rule(strokeWidth=2)
    layers = (
        line(explorer.GHOST, "error", 3, before),
        level(ZERO, "variance"),
        level(BEST, "best_linear_head"),
        stop.encode(_steps("level", longest), colour, dash),
        line(WITHOUT, "without_noise", 2),
        line(PRIVATE, "error", 3),
        explorer.telling(base.transform_aggregate(best="argmin(error)"), _sentence()),
    )
    return alt.layer(*layers, height=230, title="Test error")


def _lower(base: alt.Chart, before: alt.Chart, longest: int) -> explorer.Layers:
    colour, dash = explorer.scales(
        [(ADDED, explorer.VERMILION, explorer.SOLID), (GAINED, explorer.BLUE, explorer.DASHED)]
    )

    def line(series: str, field: str, width: float) -> alt.Chart:
        named = base.transform_calculate(series=f"'{series}'").transform_filter(f"datum.{field} > 0")
        drawn = named.mark_line(clip=True, strokeWidth=width)
        return drawn.encode(_steps("T", longest), explorer.powers(field, LEAST, MOST, "test error"), colour, dash)

    time, noise = _steps("T", longest), explorer.powers("noise", LEAST, MOST, "test error")
    ghost = before.transform_filter("datum.noise > 0").mark_line(clip=True, strokeWidth=3, color=explorer.PALE)
    caught = base.transform_filter("datum.free > datum.noise_limit")
    crosses = caught.mark_point(shape="cross", size=60, clip=True, color="currentColor", filled=True)
    title = alt.TitleParams(
        "What descent gains and noise adds", subtitle="crosses: the projection holds the noise back"
    )
    lines = (ghost.encode(time, noise), line(GAINED, "gained", 2), line(ADDED, "noise", 3))
    return alt.layer(*lines, crosses.encode(time, noise), height=170, title=title)


def _sentence() -> str:
    """Vega's expression of the sentence: the best number of steps, its test error, and what that is worth."""
    share = "(1 - datum.best.error / datum.best.variance)"
    predicted = f"format(100 * {share}, {share} < 0.1 ? '.2f' : '.1f')"
    worth = (
        f"({share} > 0.0001 ? ' It predicts ' + {predicted} + ' % of the response.' : {share} > 0 ? ' It predicts "
        "less than 0.01 % of the response.' : ' No number of steps does better than answering 0.')"
    )
    return (
        "'With ' + format(N, ',') + ' prompts at ε = ' + format(epsilon, '.1f') + ' the best number of steps is '"
        " + format(datum.best.T, ',') + ': test error ' + format(datum.best.error, '.4f') + ', of which noise makes '"
        " + (datum.best.noise < 0.0001 ? 'less than 0.0001' : format(datum.best.noise, '.4f')) + '.'"
        f" + {worth} + ' Answering 0 has ' + format(datum.best.variance, '.3~f') + ', the best linear head '"
        " + format(datum.best.best_linear_head, '.3f') + '.'"
    )


def try_these(tables: Tables) -> Markdown:
    """Three things to try, with what comes of them; a link sets the controls."""
    choices = controls(tables)
    here, largest = start(tables), int(tables["runs"]["N"].max())
    run = pick(tables["runs"], setting=here.setting, problem=here.problem, N=here.N)
    zero, head = run["response_variance"], run["best_linear_head"]
    noiseless = curve(tables, here)["without_noise"].min()
    easiest = learnable(tables)
    few, many = (best(tables, replace(here, problem=easiest, N=N))["error"] for N in (here.N, largest))

    def least(problem: str, account: str) -> pd.Series:
        return best(tables, replace(here, problem=problem, account=account))

    telling = max(problems(tables), key=lambda name: least(name, ALGORITHM)["error"] - least(name, LAST)["error"])
    reached = [
        (f"{row['error']:.3f} after {row['T']:,.0f} steps", name)
        for row, name in ((least(telling, account), name) for account, name in COLUMN.items())
    ]
    printed, every, last = (explorer.set_link(words, choices, problem=telling, account=name) for words, name in reached)
    paper = explorer.set_link("Choose the paper's penalty", choices, problem=here.problem)
    more = explorer.set_link(f"N = {largest:,}", choices, problem=easiest, N=largest)
    slight = zero - noiseless < SLIGHT * (zero - head)
    cause = "So the penalty alone keeps this head from predicting" if slight else "It predicts"
    items = [
        f"**{paper}.** The problem then has ${_tex(here.problem)}$. Without noise descent reaches a test error of "
        f"{noiseless:.4f}, and answering 0 has {compact(zero)}. {cause}: the best linear head has {compact(head)}.",
        f"**Add prompts.** Choose ${_tex(easiest)}$ again. The least test error goes from {few:.3f} "
        f"at $N = {_many(here.N)}$ to {many:.3f} at {more}, with every iterate released.",
        f"**Change the accounting.** Choose ${_tex(telling)}$ at $N = {_many(here.N)}$. As printed, the least test "
        f"error is {printed}. Exact accounting makes that {every}, where every iterate is "
        f"released, and {last}, where only the last is.",
    ]
    return Markdown("\n".join(f"{k}. {item}" for k, item in enumerate(items, start=1)))


def _many(count: int) -> str:
    return f"{count:,}".replace(",", "{,}")


def _tex(problem: str) -> str:
    return problem.replace("λ", r"\lambda").replace("√N", r"\lfloor\sqrt N\rfloor").replace(", ", r",\ ")
