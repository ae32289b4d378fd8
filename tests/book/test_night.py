import re
from xml.etree import ElementTree

import pytest

from costofprivacy.book import night

PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="9pt"><path style="fill:none;stroke:#000000"/>'
    '<path style="fill: #0173b2"/><path stroke="#56b4e9"/><text>a</text></svg>'
)


@pytest.mark.parametrize("colour", ["#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#00517d"])
def test_a_colour_is_told_from_the_page_at_night_and_keeps_its_hue(colour: str) -> None:
    turned = night.turned(colour)
    assert night.contrast(turned, night.PAGE) >= night.LEAST_CONTRAST
    order = [sorted(range(3), key=lambda at: parts[at]) for parts in (night._parts(colour), night._parts(turned))]
    assert order[0] == order[1]


def test_greys_change_places() -> None:
    assert night.contrast(night.turned("#000000"), night.PAGE) > 12
    assert night.contrast(night.turned("#ffffff"), night.PAGE) < 1.2
    assert night.turned("#e6e6e6") < night.turned("#808080") < night.turned("#333333")


def test_contrast_is_that_of_the_guidelines() -> None:
    assert night.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert night.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_a_picture_has_a_rule_for_each_colour_that_changes_and_stays_what_it_was() -> None:
    dark = night.with_night(PICTURE)
    ElementTree.fromstring(dark)
    assert '[style*="stroke:#000000"]{stroke:var(--000000,#000000)!important}' in dark
    assert '[style*="fill: #0173b2"]{fill:var(--0173b2,#0173b2)!important}' in dark
    assert "--000000:#ebebeb;" in dark
    assert "--56b4e9" not in dark  # light enough
    assert re.sub(r"<style>.*?</style>", "", dark).replace(' id="night"', "") == PICTURE
    assert night.with_night(dark) == dark
    assert night.with_night("no picture") == "no picture"


def test_a_scale_of_colours_stays() -> None:
    cells = "".join(f'<path style="fill:#44{n:02x}90"/>' for n in range(10, 40))
    assert "fill:#440a90" not in night.with_night(f"<svg>{cells}</svg>").split("</style>")[0]


def test_a_class_has_its_rule_too() -> None:
    dark = night.with_night('<svg><style>.a{fill:none;stroke:#000000}</style><path class="a"/></svg>')
    assert ".a{stroke:var(--000000,#000000)!important}" in dark
    assert "[style*=" not in dark
