from pathlib import Path

import pytest

from companion.build import rendering
from tests.trees import write_tree


@pytest.fixture
def html(tmp_path: Path) -> Path:
    """A rendered page with two figures, of which one has a stacked form among the staged pages."""
    files = {
        "html/_images/abc.svg": "<svg>wide</svg>",
        "html/_images/whole.svg": "<svg>whole</svg>\n",
        "html/_images/def.svg": "<svg>other</svg>",
        "html/book/page.html": '<p><img alt="a" src="../_images/abc.svg" /><img src="../_images/def.svg"/></p>',
        "pages/book/page/rates.svg": "<svg>wide</svg>\n",
        "pages/book/page/rates.narrow.svg": "<svg>narrow</svg>\n",
        "pages/book/page/whole.svg": "<svg>whole</svg>\n",
        "pages/book/page/whole.narrow.svg": "<svg>stacked</svg>\n",
        "pages/book/page/alone.narrow.svg": "<svg>alone</svg>\n",
    }
    write_tree(tmp_path, files)
    rendering.offer_stacked(tmp_path / "html", tmp_path / "pages")
    return tmp_path / "html"


def test_a_narrow_screen_is_offered_the_stacked_form(html: Path) -> None:
    text = (html / "book" / "page.html").read_text("utf-8")
    assert (
        '<picture><source media="(max-width: 600px)" srcset="../_images/abc.narrow.svg">'
        '<img alt="a" src="../_images/abc.svg" /></picture>' in text
    )
    assert (html / "_images" / "abc.narrow.svg").read_text("utf-8") == "<svg>narrow</svg>\n"


def test_the_end_of_a_file_tells_no_figures_apart(html: Path) -> None:
    assert (html / "_images" / "whole.narrow.svg").read_text("utf-8") == "<svg>stacked</svg>\n"


def test_a_figure_without_a_stacked_form_stays(html: Path) -> None:
    assert '</picture><img src="../_images/def.svg"/>' in (html / "book" / "page.html").read_text("utf-8")
