"""What is left of DP-GD's start, what do sampling and private noise add, and what does the release cost?"""

import math
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import pandas as pd
from IPython.display import Markdown

from chapters.explore.dpgd.measure import CONSTANT, INITIAL_RISK, ISOTROPIC, POWER, ROOT, SCHEDULES, UNIFORM
from companion.judging.prose import compact, percent
from companion.judging.tables import Tables, nearest, pick
from companion.showing import explorer

TOTAL, START, SAMPLING, PRIVATE = "excess risk", "left of the start", "sampling", "private noise"
LAST, ZERO = "last step's noise", "answering 0"
COLUMNS = {"start": START, "sampling": SAMPLING, "private": PRIVATE, "last": LAST}  # the parts of what is released
ALONG = list(COLUMNS)[:-1]  # those that there are along the way
SPECTRUM_LABELS = {ISOTROPIC: "isotropic", UNIFORM: "uniform on [0, 2]", POWER: "power law, φ = ½"}
SCHEDULE_LABELS = ["constant", "square root of 1 − t", "harmonic, 1/(1 + 10 t)"]
NUMBERS = ("gamma", "rho", "clip", "learning_rate")
ENCODED = 1000  # parts of a factor of ten in which the page's own data are written: 0.1 %
LEAST, MOST = -4, 1  # powers of ten that the upper panel shows
LOOKS = [
    (TOTAL, explorer.VERMILION, explorer.SOLID),
    (START, explorer.BLUE, explorer.DASHED),
    (SAMPLING, explorer.GREEN, explorer.DOTDASH),
    (PRIVATE, explorer.PINK, [3, 2]),
    (LAST, explorer.GREY, explorer.SOLID),
    (ZERO, explorer.GREY, explorer.DOTTED),
    (explorer.GHOST, explorer.PALE, explorer.SOLID),
]


@dataclass(frozen=True)
class Choice:
    """What is chosen on the page; Figure 1's numbers by default."""

    spectrum: str = ISOTROPIC
    gamma: float = 0.1
    rho: float = 1.0
    clip: float = 1.0
    schedule: str = CONSTANT
    learning_rate: float = 3.0


def start(tables: Tables) -> Choice:
    """Figure 1's numbers, or of what can be chosen the nearest."""
    wanted, runs = Choice(), tables["runs"]
    near: dict[str, Any] = {name: nearest(runs[name], getattr(wanted, name)) for name in NUMBERS}
    return replace(wanted, **near)


def released(tables: Tables, choice: Choice) -> pd.Series:
    """The row of ``runs`` of a choice."""
    return pick(tables["runs"], **vars(choice))


def shares(tables: Tables, choice: Choice) -> dict[str, float]:
    """What the released excess risk is made of, as shares by part."""
    run = released(tables, choice)
    end = pick(tables["paths"], run=run["run"], t=1.0)
    parts = [*(float(end[name]) for name in ALONG), float(run["last_step"])]
    return {name: value / run["excess_risk"] for name, value in zip(COLUMNS.values(), parts)}


def explore(tables: Tables) -> explorer.Explorer:
    """The page's explorer."""
    here, rows, times = start(tables), data(tables), [float(t) for t in tables["paths"]["t"].unique()]
    now, before = chosen(rows, times), chosen(rows, times, explorer.BEFORE)
    run = released(tables, here)
    made = ", ".join(f"{name} {percent(share)}" for name, share in shares(tables, here).items() if share > 0)
    values = (
        f"The excess risk falls from {INITIAL_RISK:g}, that of answering 0, to {compact(run['before_release'])}. The "
        f"last step's noise lifts it to {compact(run['excess_risk'])}. That is made of: {made}."
    )
    panels = alt.vconcat(_upper(now, before), _lower(now), spacing=24)
    return explorer.Explorer(
        panels.resolve_scale(color="independent", strokeDash="independent"),
        controls(tables),
        "figure-explore-dpgd",
        "Excess risk of DP-GD over time and its parts, with controls for spectrum, aspect ratio, privacy and schedule",
        "Above: the excess risk of DP-GD against time, with what is left of the start, what sampling adds and what "
        "private noise adds, and the released parameter as a point at the end. Below: the shares of these parts in the "
        "risk of the released parameter.",
        f"**DP-GD at the start values.** {values} With scripts allowed, controls stand in this figure's place.",
        f"Excess risk against time, and a bar of its parts at the release. {values}",
    )


def answer(tables: Tables) -> list[str]:
    """What is released with a constant schedule, with the square root, and without privacy."""
    here = start(tables)
    root, free = replace(here, schedule=ROOT), replace(here, rho=math.inf)
    constant, along = shares(tables, here), shares(tables, root)
    return [
        f"Near the numbers of Figure 1 the released excess risk is {_risk(tables, here)}, and "
        f"{percent(constant[LAST])} of it is the last step's noise.",
        f"With a square root schedule it is {_risk(tables, root)}, and {percent(along[PRIVATE])} of that is private "
        f"noise on the way.",
        f"Without privacy it is {_risk(tables, free)}. Always answering 0 has {INITIAL_RISK:g}.",
    ]


def _risk(tables: Tables, choice: Choice) -> str:
    return compact(released(tables, choice)["excess_risk"])


def controls(tables: Tables) -> tuple[explorer.Control, ...]:
    """What can be chosen: lists for what has a name, sliders for numbers."""
    first = start(tables)

    def numbers(name: str, column: str, label: str) -> explorer.Control:
        values = [_plain(v) for v in sorted(tables["runs"][column].unique())]
        labels = ["∞, no privacy" if isinstance(v, str) else f"{v:g}" for v in values]
        return explorer.slider(name, label, values, getattr(first, column), labels)

    return (
        numbers("rho", "rho", "Privacy ρ of the paper (= μ)"),
        numbers("gamma", "gamma", "Aspect ratio γ = d/n"),
        numbers("clip", "clip", "Clipping constant c"),
        numbers("rate", "learning_rate", "Learning rate at t = 0"),
        explorer.picker("schedule", "Schedule", list(SCHEDULES), CONSTANT, SCHEDULE_LABELS),
        explorer.picker("spectrum", "Spectrum", list(SPECTRUM_LABELS), ISOTROPIC, list(SPECTRUM_LABELS.values())),
    )


def _plain(value: float) -> float | str:
    """A number of the page's data: JSON has no infinity."""
    return "inf" if math.isinf(value) else float(value)


def data(tables: Tables) -> alt.InlineData:
    """A row for each run: what was chosen, what belongs to it, and the three parts along the way."""
    paths, rows = dict(list(tables["paths"].groupby("run"))), []
    for run in tables["runs"].to_dict("records"):
        row = {"spectrum": run["spectrum"], "schedule": run["schedule"]}
        row |= {name: _plain(run[name]) for name in ("gamma", "rho", "clip")} | {"rate": run["learning_rate"]}
        row |= {"last": run["last_step"], "after": run["excess_risk"], "error": run["test_error"]}
        row |= {"variance": run["response_variance"]}
        for name in ALONG:  # as parts of a factor of ten they have half the characters of four digits
            parts = paths[run["run"]][name].to_numpy()
            row[name] = [round(ENCODED * math.log10(v)) if v > 0 else None for v in parts]
        rows.append(row)
    return alt.InlineData(values=rows)


def chosen(rows: alt.InlineData, times: list[float], when: str = "") -> alt.Chart:
    """Of what is chosen, or was before: t, the three parts and their sum; what belongs to the run in each row."""
    names = ("spectrum", "gamma", "rho", "clip", "schedule", "rate")
    decoded = {name: f"datum.{name} == null ? 0 : pow(10, datum.{name} / {ENCODED})" for name in ALONG}
    return (
        alt.Chart(rows)
        .transform_filter(explorer.chosen(names, when))
        .transform_calculate(t=str(times))
        .transform_flatten(["t", *ALONG])
        .transform_calculate(**decoded)
        .transform_calculate(total="datum.start + datum.sampling + datum.private")
    )


def _upper(base: alt.Chart, before: alt.Chart) -> explorer.Layers:
    colour, dash = explorer.scales(LOOKS)
    axis = alt.Axis(title="time t (share of the records read)", values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    time = alt.X("t:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)
    end = base.transform_filter("datum.t == 1")

    def risk(field: str) -> alt.Y:
        return explorer.powers(field, LEAST, MOST, TOTAL)

    def line(series: str, field: str, width: float, rows: alt.Chart = base) -> alt.Chart:
        named = rows.transform_filter(f"datum.{field} > 0").transform_calculate(series=f'"{series}"')
        return named.mark_line(clip=True, strokeWidth=width).encode(time, risk(field), colour, dash)

    def released_point(rows: alt.Chart, paint: str) -> alt.Chart:
        seen = rows.transform_filter(f"datum.t == 1 && datum.after < {10.0**MOST}")
        return seen.mark_point(filled=True, size=110, color=paint, opacity=1).encode(time, risk("after"))

    zero = base.transform_filter("datum.t == 0").transform_calculate(series=f'"{ZERO}"')
    rise = end.mark_rule(strokeWidth=3, color=explorer.GREY, clip=True).encode(time, risk("total"), alt.Y2("after:Q"))
    layers = (
        line(explorer.GHOST, "total", 3, before),
        released_point(before, explorer.PALE),
        zero.mark_rule(strokeWidth=2).encode(risk("total"), colour, dash),
        *(line(COLUMNS[name], name, 2) for name in ALONG),
        line(TOTAL, "total", 3),
        rise,
        released_point(base, explorer.VERMILION),
        explorer.telling(end, _sentence()),
    )
    title = alt.TitleParams(
        "Excess risk over time", subtitle=["point: the released parameter,", "after the last step's noise"]
    )
    return alt.layer(*layers, height=280, title=title)


def _lower(base: alt.Chart) -> alt.Chart:
    looks = {name: colour for name, colour, _ in LOOKS if name in COLUMNS.values()}
    folded = base.transform_filter("datum.t == 1").transform_fold(list(COLUMNS), ["part", "risk"])
    words = ", ".join(f'{key}: "{value}"' for key, value in COLUMNS.items())
    named = folded.transform_calculate(place=f"indexof({list(COLUMNS)}, datum.part)", name=f"({{{words}}})[datum.part]")
    axis = alt.Axis(format="%", title="share of the released excess risk")
    key = alt.Legend(title=None, orient="bottom", columns=2)
    return (
        named.mark_bar(height=26)
        .encode(
            alt.X("risk:Q", stack="normalize", axis=axis),
            alt.Color("name:N", scale=alt.Scale(domain=list(looks), range=list(looks.values())), legend=key),
            alt.Order("place:Q"),
        )
        .properties(height=34, title="What it is made of")
    )


def _sentence() -> str:
    """Vega's expression of the sentence: the released risk, its largest part, and what it is held against."""
    largest = "max(datum.start, datum.sampling, datum.private, datum.last)"
    part = " : ".join(f'datum.{name} == {largest} ? "{word}"' for name, word in COLUMNS.items())
    risk, error = (f"({v} < 100 ? format({v}, '.3~g') : format({v}, ',.0f'))" for v in ("datum.after", "datum.error"))
    return (
        f"'Released: excess risk ' + {risk} + ', test error ' + {error} + '. "
        "Answering 0 has test error ' + format(datum.variance, '.3~g') + '. The largest part of the excess risk is: '"
        f" + ({part} : '') + ', ' + format({largest} / datum.after, '.0%') + '.'"
    )


def try_these(tables: Tables) -> Markdown:
    """Three things to try, with what comes of them; a link sets the controls."""
    choices = controls(tables)
    runs, here = tables["runs"], start(tables)
    first, second = released(tables, here), released(tables, replace(here, schedule=ROOT))
    least = float(runs["rho"].min())
    free, strict = (released(tables, replace(here, rho=rho)) for rho in (math.inf, least))
    tried = runs[(runs["rho"] == here.rho) & (runs["spectrum"] == here.spectrum)].sort_values("excess_risk")
    found = [tried[tried["gamma"] == gamma].iloc[0] for gamma in sorted({runs["gamma"].max(), runs["gamma"].min()})]
    told = []
    for run in found:
        of = {"gamma": run["gamma"], "clip": run["clip"], "rate": run["learning_rate"], "schedule": run["schedule"]}
        schedule = explorer.set_link(f"the {run['schedule']} schedule", choices, **of)
        told.append(
            f"At $\\gamma = {run['gamma']:g}$ it is {schedule} from $\\tilde\\eta(0) = {run['learning_rate']:g}$ with "
            f"$c = {run['clip']:g}$, which releases {run['excess_risk']:.3g}"
        )
    items = [
        f"**Leave everything as it is,** near the numbers of the paper's Figure 1. The risk falls to "
        f"{first['before_release']:.3g}. The noise of the last step lifts it to {first['excess_risk']:.3g}. "
        f"A constant schedule has all its private noise there, {shares(tables, here)[LAST]:.0%} of what is released. "
        f"With {explorer.set_link('the square root', choices, schedule=ROOT)} the noise comes on the way, "
        f"and {second['excess_risk']:.3g} is released.",
        f"**Take privacy away** with {explorer.set_link('ρ = ∞', choices, rho=math.inf)}: {free['excess_risk']:.3g} "
        f"is released. With {explorer.set_link(f'ρ = {least:g}', choices, rho=least)} it is "
        f"{strict['excess_risk']:.3g}, where answering 0 has {INITIAL_RISK:g}.",
        f"**Look for the best** at $\\rho = {here.rho:g}$ with the isotropic spectrum. {'. '.join(told)}.",
    ]
    return Markdown("\n".join(f"{k}. {item}" for k, item in enumerate(items, start=1)))
