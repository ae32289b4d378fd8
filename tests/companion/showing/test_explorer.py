import json
import re
from dataclasses import replace

import altair as alt
import pandas as pd

from companion.showing import explorer
from companion.showing.explorer import Explorer
from tests.each import each, refused

TABLE = pd.DataFrame({"which": ["a", "a", "b", "b"], "x": [0, 1, 0, 1], "y": [1.0, 1e-4, 0.5, 2.0]})


def panel() -> Explorer:
    colour, dash = explorer.scales([("one", explorer.BLUE, explorer.DASHED)])
    base = alt.Chart(explorer.table(TABLE)).transform_filter("datum.which == which").transform_calculate(series="'one'")
    line = base.mark_line().encode(alt.X("x:Q"), explorer.powers("y", -4, 1, "risk"), colour, dash)
    told = explorer.telling(base.transform_aggregate(most="max(y)"), "'at most ' + datum.most + ' < 1 & \\'2\\''")
    pick = explorer.picker("which", "Which one", ["a", "b"], "a", ["the first", "the second"])
    return Explorer(
        alt.vconcat(alt.layer(line, told)),
        (pick,),
        "fig-it",
        'A "label"',
        "What it shows",
        "A caption",
        "An alternative",
    )


def test_the_page_names_no_other_host_and_holds_the_whole_chart() -> None:
    html = panel()._repr_html_()
    assert "http" not in html
    assert 'aria-label="A &quot;label&quot;" data-instead="fig-it" hidden' in html
    inside = re.search(r'<script type="application/json">(.*?)</script>', html, re.S)
    assert inside is not None
    known = json.loads(inside.group(1))
    spec = known["spec"]
    assert spec == panel().spec
    (control,) = known["controls"]
    assert (control["name"], control["label"], control["start"]) == ("which", "Which one", 0)
    assert (control["options"], control["labels"]) == (["a", "b"], ["the first", "the second"])
    assert spec["description"] == "What it shows"
    assert "which,x,y\na,0,1.0\n" in json.dumps(spec).encode().decode("unicode_escape")


def test_a_closing_tag_in_the_data_does_not_end_the_script() -> None:
    chart = panel().chart.properties(title="</script><b>")
    html = replace(panel(), chart=chart)._repr_html_()
    assert html.count("</script>") == 2
    assert "<\\/script><b>" in html


def test_a_picker_starts_at_one_of_its_options() -> None:
    assert '<option value="1" selected>2</option>' in explorer.picker("n", "N", [1, 2], 2).html
    refused(r"^start must be among \[1, 2\], got 3$", explorer.picker, "n", "N", [1, 2], 3)
    refused(r"^start must be among \[0.1, 0.2\], got 0.15$", explorer.slider, "n", "N", [0.1, 0.2], 0.15)


def test_options_that_an_address_cannot_tell_apart_are_refused() -> None:
    refused(r"^options must differ in an address", explorer.picker, "n", "N", ["a b", "A, b"], "a b")


def test_a_link_sets_what_can_be_chosen_alone() -> None:
    controls = (
        explorer.slider("rho", "ρ", [0.3, "inf"], 0.3),
        explorer.picker("s", "S", ["square root"], "square root"),
    )
    assert explorer.address(controls, rho=float("inf"), s="square root") == "#rho=inf&s=square-root"
    assert explorer.set_link("this & that", controls, rho=0.3) == '<a href="#rho=0.3">this &amp; that</a>'
    for wrong in ({"rho": 0.4}, {"gamma": 0.3}):
        refused("cannot be chosen", explorer.address, controls, **wrong)


@each("colour", [explorer.BLUE, explorer.VERMILION, explorer.GREEN, explorer.PINK, explorer.GREY])
@each("page", ["#ffffff", "#121212"])
def test_every_colour_stands_out_from_either_page(colour: str, page: str) -> None:
    """WCAG's contrast of graphics, 3 : 1."""

    def luminance(code: str) -> float:
        channels = [int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(colour), luminance(page)))
    assert (high + 0.05) / (low + 0.05) >= 3
