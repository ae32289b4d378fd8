"""A page to play with: an Altair chart with native controls, and the figure that stands there where scripts are off.

The state of the controls stands in the page's address (``#rho=0.3&gamma=0.1``), so that others can link to it. What was
chosen before the last change stays as a pale line. The chart's data lie in the page. The script that draws it, Vega
with `explorer.js`, comes with the book: it is written into the staged pages when the book is built (`script`), and
loaded by the pages that show an `Explorer` alone. Text takes the page's colour and the background is the page's, so
one chart serves light and dark.
"""

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from companion.showing.plates import Picture

Layers = alt.LayerChart | alt.FacetChart  # what Altair says that layers are
SCRIPT = "explorer.js"  # below the book's static files
STATIC = "../../_static"  # from a page in a folder of the book
VEGA_LITE = "v6.4"
PANEL = 300  # pixels of a panel's width where nothing tells more: fits a phone
TOLD = "told"  # the layer, and its field, that hold the sentence below the controls
BEFORE = "_before"  # ends the names of what was chosen before the last change; nothing until something changes
GHOST = "last setting"  # the series that is drawn of it
GHOSTLY = "ghost"  # the parameter that says whether there is one
MOST_TICKS = 12  # marks along a slider
# Each is at least 3 : 1 against the light and against the dark page, and has a dash of its own.
BLUE, VERMILION, GREEN, PINK, GREY = "#3a87c8", "#d9600a", "#029e73", "#c468b1", "#808080"
PALE = VERMILION + "66"  # of the ghost, which may not compete with what is chosen
SOLID, DASHED, DOTTED, DOTDASH = [1, 0], [6, 3], [2, 3], [8, 3, 2, 3]
_FEW = 6  # powers of ten that an axis names one by one
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SPELT = {"λ": "lambda", "√": "sqrt-", "ε": "epsilon", "ρ": "rho"}  # in an address
_INK, _PAPER = "currentColor", "#333333"  # on the page, and in a picture
_QUIET = {"aria": False}  # the sentence and the description tell what is drawn
_TEXT = {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}
_LINES = {"gridColor": _INK, "gridOpacity": 0.12, "domainColor": _INK, "tickColor": _INK}
_TITLES = {"color": _INK, "subtitleColor": _INK, "fontSize": 14, "subtitleFontSize": 12}
LOOK: dict[str, Any] = {
    "font": "sans-serif",
    "axis": _TEXT | _LINES | _QUIET,
    "legend": {"labelColor": _INK, "labelFontSize": 12, "labelLimit": 280, "padding": 0} | _QUIET,
    "title": _TITLES | {"anchor": "start", "frame": "group"} | _QUIET,
    "mark": _QUIET,
    "view": {"stroke": None, "continuousWidth": PANEL},
}


@dataclass(frozen=True)
class Control:
    """What can be chosen, by list or slider: known by its name, with ``labels`` in the place of the options."""

    name: str
    label: str
    options: tuple[Any, ...]
    start: Any
    labels: tuple[str, ...]
    slides: bool

    @property
    def tokens(self) -> list[str]:
        """The options as an address spells them."""
        return [token(option) for option in self.options]

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script knows of it."""
        known = {"name": self.name, "label": self.label, "options": self.options, "labels": self.labels}
        return known | {"tokens": self.tokens, "start": self.options.index(self.start)}

    @property
    def html(self) -> str:
        """The control with its label; its value is the place of the option."""
        place = f"explorer-{html.escape(self.name)}"
        label = f'<label for="{place}">{html.escape(self.label)}</label>'
        common = f'id="{place}" name="{html.escape(self.name)}" autocomplete="off"'
        first, count = self.options.index(self.start), len(self.options)
        options = (
            f'<option value="{k}"{" selected" if k == first else ""}>{html.escape(label)}</option>'
            for k, label in enumerate(self.labels)
        )
        own = f"<select {common}>{''.join(options)}</select>"
        if self.slides:
            shown, ticks, marked = html.escape(self.labels[first]), "", ""
            if 1 < count <= MOST_TICKS:
                marks = "".join(f'<option value="{k}"></option>' for k in range(count))
                ticks, marked = f'<datalist id="{place}-ticks">{marks}</datalist>', f' list="{place}-ticks"'
            own = (
                f'<input type="range" {common} min="0" max="{count - 1}" step="1" value="{first}" '
                f'aria-valuetext="{shown}"{marked}>{ticks}'
                f'<span class="explorer-value" aria-hidden="true">{shown}</span>'
            )
        return f'<div class="explorer-control">{label}{own}</div>'


@dataclass(frozen=True)
class Explorer:
    """A chart with controls, as a page shows it: panels below each other, one of whose layers is `telling`.

    It takes the place of the figure ``name``, which shows the start values and has ``caption`` and ``alt``. Those who
    hear the page get ``label`` and ``description``.
    """

    chart: alt.VConcatChart
    controls: tuple[Control, ...]
    name: str
    label: str
    description: str
    caption: str
    alt: str

    @property
    def spec(self) -> dict[str, Any]:
        """Vega-Lite in the book's look, without the address of its schema: a page names no other host."""
        plain = {key: value for key, value in self.chart.to_dict().items() if key != "$schema"}
        now: list[dict[str, Any]] = [{"name": control.name, "value": control.start} for control in self.controls]
        before = [{"name": control.name + BEFORE, "value": None} for control in self.controls]
        look = {"background": "transparent", "config": LOOK}
        params = [*now, *before, {"name": GHOSTLY, "value": False}]
        return plain | {"params": params, "description": self.description} | look

    def show(self) -> Picture:
        """The chart at its start values, as a picture without controls and with its words."""
        dark_on_light = json.loads(json.dumps(self.spec).replace(_INK, _PAPER))
        svg = vl_convert.vegalite_to_svg(dark_on_light, vl_version=VEGA_LITE)
        return Picture(svg, {"name": self.name, "caption": self.caption, "alt": self.alt})

    def _repr_html_(self) -> str:
        known = {"controls": [control.data for control in self.controls], "spec": self.spec}
        data = json.dumps(known, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        controls = "\n".join(control.html for control in self.controls)
        return (
            f'<link rel="stylesheet" href="{STATIC}/explorer.css">\n'
            f'<div class="explorer" role="group" aria-label="{html.escape(self.label)}" '
            f'data-instead="{html.escape(self.name)}" hidden>\n'
            f'<div class="explorer-controls">\n{controls}\n</div>\n'
            '<p class="explorer-settings"></p>\n<p class="explorer-told" role="status"></p>\n'
            '<p class="explorer-link"><button type="button">Copy link</button> <span class="explorer-was"></span></p>\n'
            f'<div class="explorer-chart"></div>\n<script type="application/json">{data}</script>\n</div>\n'
            f'<script src="{STATIC}/{SCRIPT}"></script>'
        )

    def __repr__(self) -> str:
        return self.label


def token(option: Any) -> str:
    """An option as an address spells it: numbers plainly, words in small letters and with dashes.

    >>> token(1_000_000.0), token("D = 5, λ = 0.05")
    ('1000000', 'd-5-lambda-0.05')
    """
    if isinstance(option, (int, float)):
        return f"{option:.12g}"
    for letter, name in _SPELT.items():
        option = option.replace(letter, name)
    return re.sub(r"[^a-z0-9.]+", "-", option.lower()).strip("-")


def address(controls: Iterable[Control], **choice: Any) -> str:
    """The end of the page's address at which these are chosen, and of the others their start."""
    known = {control.name: control for control in controls}
    for name, option in choice.items():
        if name not in known or token(option) not in known[name].tokens:
            raise ValueError(f"{name} = {option!r} cannot be chosen, of {[(c.name, c.tokens) for c in known.values()]}")
    return "#" + "&".join(f"{name}={token(option)}" for name, option in choice.items())


def set_link(words: str, controls: Iterable[Control], **choice: Any) -> str:
    """A link, in Markdown, that chooses on its own page; arguments and errors as of `address`."""
    return f'<a href="{html.escape(address(controls, **choice))}">{html.escape(words)}</a>'


def script() -> str:
    """The script of all explorers, Vega among it, as a function of its own and no module, which no file can load."""
    own = files("companion.showing").joinpath(SCRIPT).read_text("utf-8")
    return f"(() => {{\n'use strict';\n{vl_convert.javascript_bundle(own, VEGA_LITE)}\n}})();\n"


def picker(
    name: str, label: str, options: Sequence[Any], start: Any, labels: Sequence[str] = (), *, slides: bool = False
) -> Control:
    """A list to choose from, or a slider that stops at each option, with its value beside it.

    ``labels`` are shown in the place of the options, of which ``start`` is one. A ``ValueError`` says that it is none,
    or that an address cannot tell two options apart.
    """
    if start not in options:
        raise ValueError(f"start must be among {list(options)}, got {start!r}")
    shown = tuple(labels) or tuple(map(str, options))
    made = Control(name, label, tuple(options), start, shown, slides)
    if len(set(made.tokens)) < len(options):
        raise ValueError(f"options must differ in an address, got {made.tokens}")
    return made


slider = partial(picker, slides=True)


def chosen(names: Iterable[str], when: str = "") -> str:
    """Vega's test whether a row belongs to what is chosen; with ``when = BEFORE``, to what was chosen before."""
    return " && ".join(f"datum.{name} == {name}{when}" for name in names)


def table(data: pd.DataFrame) -> alt.InlineData:
    """A table as the page's own data, as small as CSV."""
    text = data.to_csv(index=False, lineterminator="\n")
    return alt.InlineData(values=text, format=alt.CsvDataFormat(type="csv"))


def scales(looks: Iterable[tuple[str, str, list[int]]]) -> tuple[alt.Color, alt.StrokeDash]:
    """Colour and dash of each (series, colour, dash), with one legend above the panel; `GHOST` while there is one."""
    names, colours, dashes = zip(*looks)
    known = [name for name in names if name != GHOST]
    values: Any = known
    if GHOST in names:
        values = alt.ExprRef(f"{GHOSTLY} ? {json.dumps([*known, GHOST])} : {json.dumps(known)}")
    legend = alt.Legend(title=None, orient="top", columns=2, symbolSize=500, symbolStrokeWidth=2.5, values=values)
    colour = alt.Color("series:N", scale=alt.Scale(domain=list(names), range=list(colours)), legend=legend)
    dash = alt.StrokeDash("series:N", scale=alt.Scale(domain=list(names), range=list(dashes)), legend=legend)
    return colour, dash


def powers(field: str, least: int, most: int, title: str) -> alt.Y:
    """A logarithmic ordinate from 10^least to 10^most, the powers named, those below a hundredth typeset."""
    places = range(least, most + 1, 1 if most - least <= _FEW else 2)
    small = [f"10⁻{_RAISED[-k]}" for k in range(-9, -2)]
    shown = f"datum.value > 0.005 ? format(datum.value, '~g') : {small}[round(log(datum.value) / LN10) + 9]"
    axis = alt.Axis(title=title, values=[10.0**k for k in places], labelExpr=shown)
    scale = alt.Scale(type="log", domain=[10.0**least, 10.0**most], nice=False)
    return alt.Y(f"{field}:Q", scale=scale, axis=axis)


def telling(base: alt.Chart, sentence: str) -> alt.Chart:
    """The layer whose one row's sentence, a Vega expression, the page shows below the controls and reads out."""
    told = base.transform_calculate(told=sentence).mark_text(opacity=0, size=1)
    return told.encode(text=f"{TOLD}:N").properties(name=TOLD)
