import json
from io import BytesIO
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

from costofprivacy.book import lighter
from tests.trees import write_tree

PYGMENTS = """html[data-theme="light"] .highlight { background: #fff; color: #080808 }
html[data-theme="light"] .highlight .n { color: #080808 } /* Name */
html[data-theme="light"] .highlight .k { color: #123456 } /* Keyword.Namespace */
html[data-theme="light"] .highlight .p { color: #080808 } /* Punctuation */
html[data-theme="dark"] .highlight { background: #000; color: #F8F8F2 }
html[data-theme="dark"] .highlight .n { color: #F8F8F2 } /* Name */
html[data-theme="dark"] .highlight .k { color: #654321 } /* Keyword */
html[data-theme="dark"] .highlight .p { color: #FFFFFF } /* Punctuation */
"""
PAGE = """<html><head>
    <script src="../_static/searchtools.js"></script>
    <script src="../searchindex.js?v=1"></script>
  <script src="../_static/doctools.js"></script>
</head><body>
   <p class="used">a
      b <i class="fas fa-file-alt"></i></p>
<!-- a comment --><pre>
<span class="n">x</span><span class="o">.</span><span class="n">y</span>

  <span class="k">if</span></pre></body></html>
"""
ICONS = (
    'var a={"house":[512,512,[],"f015","M1"],file:[384,512,[128196,"file-alt"],"f15b","M2"],'
    '"sun":[512,512,[],"f185",["","M3"]]};\n//# sourceMappingURL=fontawesome.js.map'
)
STYLE = (
    '@font-face{src:url(../a.woff2) format("woff2"),url(../a.ttf) format("truetype")}'
    '.fa-house{--fa:"\\f015"}.fa-file-alt,.fa-file{--fa:"\\f15b"}.used,.unused{color:red}.unused .used{color:blue}'
    "@media print{.unused{color:red}.used:not(.unused){color:red}}/* of .unused */p{color:red}"
)


def font() -> bytes:
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "a", "b"])
    builder.setupCharacterMap({0xF015: "a", 0xF15B: "b"})
    builder.setupGlyf({name: TTGlyphPen(None).glyph() for name in (".notdef", "a", "b")})
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", "a", "b"), (500, 0)))
    builder.setupHorizontalHeader()
    builder.setupNameTable({})
    builder.setupOS2()
    builder.setupPost()
    written = BytesIO()
    builder.save(written)
    return written.getvalue()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small rendered book, made lighter."""
    html = tmp_path_factory.mktemp("html")
    outputs = [
        {"data": {"image/svg+xml": "<svg/>", "text/plain": "ε"}},
        {"data": {"text/html": ["<div>", "<script>x</script></div>"], "text/plain": "controls"}},
        {"data": {"text/html": "<table></table>"}},
    ]
    notebook = {"cells": [{"outputs": outputs}, {"source": "a"}]}
    files = {
        "book/page.html": PAGE,
        "search.html": PAGE,
        "_modules/part/one.html": '<a class="viewcode-back" href="../../book/reference.html#part.two.f">[docs]</a>\n'
        '<a class="viewcode-back" href="../../book/reference.html#part.two.gone">[docs]</a>\n'
        '<a class="viewcode-back" href="../../book/reference.html#part.one.g">[docs]</a>\n'
        '<pre><span class="linenos"> 12</span>a <span class="k">if</span></pre>',
        "searchindex.js": 'Search.setIndex({"objects":{"a":[["b"]]},"indexentries":{"b (a)":[["x"]]},"terms":{"ε":1}})',
        "book/reference.html": '<dt id="part.one.f"></dt><dt id="part.one.g"></dt>',
        "_sources/book/page.ipynb": json.dumps(notebook),
        "_static/pygments.css": PYGMENTS,
        "_static/styles/theme.css": STYLE + "\n/*# sourceMappingURL=theme.css.map */",
        "_static/styles/theme.css.map": "{}",
        "_static/scripts/fontawesome.js": ICONS,
        "_static/scripts/theme.js": "show('fa-sun')",
        "_static/locales/de/a.mo": "",
        "_static/webpack-macros.html": "",
        "_static/vendor/fontawesome/webfonts/a.woff2": "",
    }
    write_tree(html, files)
    (html / "_static/vendor/fontawesome/webfonts/a.ttf").write_bytes(font())
    lighter.lighten(html)
    return html


def test_the_index_of_the_search_is_loaded_by_its_page_alone(site: Path) -> None:
    assert "search" not in (site / "book/page.html").read_text()
    assert "doctools.js" in (site / "book/page.html").read_text()
    assert (site / "search.html").read_text().count("search") == 2


def test_blanks_stay_where_they_count_and_marks_where_they_colour(site: Path) -> None:
    text = (site / "book/page.html").read_text()
    assert '<p class="used">a\nb <i' in text
    assert '<pre>\nx.y\n\n  <span class="k">if</span></pre>' in text
    assert "comment" not in text


def test_a_mark_is_plain_only_if_it_is_so_by_day_and_by_night(tmp_path: Path) -> None:
    (tmp_path / "pygments.css").write_text(PYGMENTS)
    assert lighter.plain_marks(tmp_path / "pygments.css") == {"n"}
    assert lighter.plain_marks(tmp_path / "none.css") == set()


def test_nothing_is_left_that_no_page_loads(site: Path) -> None:
    files = {path.name for path in site.rglob("*") if path.is_file()}
    assert not files & {"theme.css.map", "a.mo", "webpack-macros.html", "a.woff2"}
    assert not any("sourceMappingURL" in path.read_text("utf-8") for path in site.rglob("*.[cj]s*"))


def test_icons_that_a_page_or_a_script_names_stay_under_any_of_their_names(site: Path) -> None:
    text = (site / "_static/scripts/fontawesome.js").read_text()
    assert ('"house"' in text, "file:[" in text, '"sun"' in text) == (False, True, True)
    style = (site / "_static/styles/theme.css").read_text()
    assert "fa-house" not in style
    assert 'src:url(../a.ttf) format("truetype")' in style


def test_the_font_keeps_the_letters_that_a_stylesheet_names(site: Path) -> None:
    kept = TTFont(site / "_static/vendor/fontawesome/webfonts/a.ttf")
    assert set(kept.getBestCmap()) == {0xF15B}


def test_rules_about_classes_that_nobody_names_go(site: Path) -> None:
    style = (site / "_static/styles/theme.css").read_text()
    assert ".used{color:red}" in style
    assert ".unused{" not in style
    assert ".unused .used" not in style
    assert "@media print{.used:not(.unused){color:red}}p{color:red}" in style


def test_a_rule_is_kept_for_what_it_may_be_about() -> None:
    styles = ":is(.a,.b) .c,.d{x:y}@keyframes e{from{x:y}50%{x:z}}.a\\:b{x:y}@import url(a);.gone{x:y}"
    assert lighter.with_rules_for(styles, {"a", "b", "c"}) == (
        ":is(.a,.b) .c{x:y}@keyframes e{from{x:y}50%{x:z}}.a\\:b{x:y}@import url(a);"
    )


def test_ways_back_lead_to_where_the_reference_has_the_name_or_are_gone(site: Path) -> None:
    text = (site / "_modules/part/one.html").read_text()
    assert [address.partition('"')[0] for address in text.split("reference.html#")[1:]] == ["part.one.f", "part.one.g"]


def test_the_lines_of_a_listing_are_marked_for_the_stylesheet_to_count(site: Path) -> None:
    assert "<pre><i></i>a <b class=k>if</b></pre>" in (site / "_modules/part/one.html").read_text()


def test_what_looks_alike_has_one_mark_over_lines_and_blanks() -> None:
    def mark(name: str, word: str) -> str:
        return f'<span class="{name}">{word}</span>'

    text = f"<i></i>{mark('sa', 'r')}{mark('sd', 'a')}\n<i></i>{mark('sd', 'b')} x {mark('s', 'c')}{mark('k', 'if')}"
    alike = {"sa": "s", "sd": "s", "s": "s"}
    assert lighter.marked_once(text, alike) == (
        "<i></i><b class=s>ra\n<i></i>b</b> x <b class=s>c</b><b class=k>if</b>"
    )


def test_marks_look_alike_only_if_they_do_so_by_day_and_by_night(tmp_path: Path) -> None:
    rule = 'html[data-theme="{}"] .highlight .{} {{ color: {} }}\n'
    told = [("light", "sd", "red"), ("light", "s", "red"), ("light", "si", "red"), ("light", "k", "blue")]
    told += [("dark", "s", "pink"), ("dark", "sd", "pink"), ("dark", "si", "white"), ("dark", "k", "pink")]
    (tmp_path / "pygments.css").write_text("".join(rule.format(*each) for each in told))
    assert lighter.same_looks(tmp_path / "pygments.css") == {"sd": "s", "s": "s", "si": "si", "k": "k"}
    assert lighter.same_looks(tmp_path / "none.css") == {}


def test_a_signature_has_its_words_and_links_alone() -> None:
    returned = (
        '<span class="sig-return-typehint"><a href="#F"><span class="pre">F</span></a><span class="p">]</span></span>'
    )
    page = f'<dt class="sig a"><span class="sig-return"><span class="sig-return-icon">→</span> {returned}</span></dt>'
    assert lighter.squeezed(page) == '<dt class="sig a">→ <a href="#F">F</a>]</dt>'


def test_the_index_has_each_name_once(site: Path) -> None:
    text = (site / "searchindex.js").read_text("utf-8")
    assert text == 'Search.setIndex({"objects":{"a":[["b"]]},"indexentries":{},"terms":{"ε":1}})'


def test_a_notebook_to_take_away_has_all_but_pictures_and_controls(site: Path) -> None:
    cells = json.loads((site / "_sources/book/page.ipynb").read_text("utf-8"))["cells"]
    kept = [{"text/plain": "ε"}, {"text/plain": "controls"}, {"text/html": "<table></table>"}]
    assert cells == [{"outputs": [{"data": data} for data in kept]}, {"source": "a"}]


def test_cells_and_names_hold_their_words_alone() -> None:
    page = '<td class="a"><p>One <b>word</b>.</p></td><td><p>a</p><p>b</p></td>'
    page += '<code class="c"><span class="pre">x</span></code>'
    lighter_page = '<td class="a">One <b>word</b>.</td><td><p>a</p><p>b</p></td><code class="c">x</code>'
    assert lighter.squeezed(page) == lighter_page


def test_an_arrow_is_drawn_once() -> None:
    arrow = '<svg aria-hidden="true"><path d="M1 2Z"></path></svg>'
    shown = arrow.replace("<path ", '<path id="arrow-0" ')
    used = '<svg aria-hidden="true"><use href="#arrow-0"></use></svg>'
    assert lighter.squeezed(f"{arrow}<p>{arrow}</p>{arrow}") == f"{shown}<p>{used}</p>{used}"
