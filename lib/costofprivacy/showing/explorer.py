"""A page to play with: an Altair chart with native controls, and the figure that stands there where scripts are off.

The chart's data lie in the page. The script that draws it, Vega with `explorer.js`, comes with the book: it is written
into the staged pages when the book is built (`script`), and loaded by the pages that show an `Explorer` alone. Text
takes the page's colour and the background is the page's, so one chart serves light and dark.
"""

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import altair as alt
import pandas as pd
import vl_convert

from costofprivacy.showing.plates import Picture

Layers = alt.LayerChart | alt.FacetChart  # what Altair says that layers are
SCRIPT = "explorer.js"  # below the book's static files
STATIC = "../../_static"  # from a page in a folder of the book
VEGA_LITE = "v6.4"
PANEL = 300  # pixels of a panel's width where nothing tells more: fits a phone
TOLD = "told"  # the layer, and its field, that hold the sentence below the controls
# Each is at least 3 : 1 against the light and against the dark page, and has a dash of its own.
BLUE, VERMILION, GREEN, PINK, GREY = "#3a87c8", "#d9600a", "#029e73", "#c468b1", "#808080"
SOLID, DASHED, DOTTED, DOTDASH = [1, 0], [6, 3], [2, 3], [8, 3, 2, 3]
_FEW = 6  # powers of ten that an axis names one by one
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
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
class Explorer:
    """A chart with controls, as a page shows it.

    Args:
        chart: panels below each other, one of whose layers is `telling`.
        name: of the figure that it takes the place of.
        label: what it is, for those who hear the page. description: what it shows, likewise.
        caption: of that figure, which shows the start values. alt: the same for the ear.
    """

    chart: alt.VConcatChart
    name: str
    label: str
    description: str
    caption: str
    alt: str

    @property
    def spec(self) -> dict[str, Any]:
        """Vega-Lite in the book's look, without the address of its schema: a page names no other host."""
        plain = {key: value for key, value in self.chart.to_dict().items() if key != "$schema"}
        return plain | {"description": self.description, "background": "transparent", "config": LOOK}

    def show(self) -> Picture:
        """The chart at its start values, as a picture without controls and with its words."""
        dark_on_light = json.loads(json.dumps(self.spec).replace(_INK, _PAPER))
        svg = vl_convert.vegalite_to_svg(dark_on_light, vl_version=VEGA_LITE)
        return Picture(svg, {"name": self.name, "caption": self.caption, "alt": self.alt})

    def _repr_html_(self) -> str:
        data = json.dumps(self.spec, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        return (
            f'<link rel="stylesheet" href="{STATIC}/explorer.css">\n'
            f'<div class="explorer" role="group" aria-label="{html.escape(self.label)}" '
            f'data-instead="{html.escape(self.name)}" hidden>\n'
            '<div class="explorer-controls"></div>\n<p class="explorer-told" role="status"></p>\n'
            f'<div class="explorer-chart"></div>\n<script type="application/json">{data}</script>\n</div>\n'
            f'<script src="{STATIC}/{SCRIPT}"></script>'
        )

    def __repr__(self) -> str:
        return self.label


def script() -> str:
    """The script of all explorers: Vega, Vega-Lite, Vega-Embed and what connects them with the page.

    It is no module, which browsers refuse to load from a file. A function of its own keeps its names from those of the
    page's other scripts.
    """
    own = files("costofprivacy.showing").joinpath(SCRIPT).read_text("utf-8")
    return f"(() => {{\n'use strict';\n{vl_convert.javascript_bundle(own, VEGA_LITE)}\n}})();\n"


def picker(name: str, label: str, options: Sequence[Any], start: Any, labels: Sequence[str] = ()) -> alt.Parameter:
    """A list to choose from.

    Args:
        name: by which the chart knows what is chosen. label: before the list. options: what can be chosen.
        start: one of them. labels: shown in the place of the options.

    Raises:
        ValueError: if ``start`` is not among the options.
    """
    if start not in options:
        raise ValueError(f"start must be among {list(options)}, got {start!r}")
    shown = list(labels) or [str(option) for option in options]
    return alt.param(name=name, value=start, bind=alt.binding_select(options=list(options), labels=shown, name=label))


def slider(name: str, label: str, options: Sequence[float], start: float) -> alt.Parameter:
    """A slider over evenly spaced numbers, ``start`` among them; names as for `picker`.

    Raises:
        ValueError: if ``start`` is not among the options.
    """
    if start not in options:
        raise ValueError(f"start must be among {list(options)}, got {start!r}")
    step = float(f"{options[1] - options[0]:.9g}") if len(options) > 1 else 1.0
    bind = alt.binding_range(min=options[0], max=options[-1], step=step, name=label)
    return alt.param(name=name, value=start, bind=bind)


def table(data: pd.DataFrame) -> alt.InlineData:
    """A table as the page's own data, as small as CSV."""
    text = data.to_csv(index=False, lineterminator="\n")
    return alt.InlineData(values=text, format=alt.CsvDataFormat(type="csv"))


def scales(looks: Iterable[tuple[str, str, list[int]]]) -> tuple[alt.Color, alt.StrokeDash]:
    """Colour and dash of each series, with one legend above the panel; looks: (series, colour, dash)."""
    names, colours, dashes = zip(*looks)
    legend = alt.Legend(title=None, orient="top", columns=2, symbolSize=500, symbolStrokeWidth=2.5)
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
