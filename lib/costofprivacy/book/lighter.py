"""A rendered book without what its pages never use.

The theme brings icons, source maps and translations for everybody's pages, and has each page load the index of the
search that only its search page needs, which has each name of the library twice. Source listings mark each name and
each comma, in the colour of plain text, and each line of a text by itself. The notebooks to take away repeat each
picture of their page, and all that its controls show.
"""

import json
import re
import shutil
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

from fontTools import subset
from fontTools.ttLib import TTFont

STATIC, SOURCES, TAKEN, SEARCH = "_static", "_modules", "_sources", "search.html"
UNUSED = ("locales", "webpack-macros.html", "sbt-webpack-macros.html")  # of the static files
MAP = re.compile(r"\n?(?://[#@] sourceMappingURL=\S+|/\*[#@] sourceMappingURL=[^*]*\*/)\s*$")
INDEX = re.compile(r'\s*<script\b[^>]*\bsrc="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"[^>]*></script>')
KEPT = re.compile(r"(<(pre|script|style|textarea|svg)\b.*?</\2>)", re.DOTALL)
BLANKS = re.compile(r"\s*\n\s*")
CODE = re.compile(r'(<code [^>]*>)<span class="pre">([^<]*)</span>(</code>)')
SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
TOLD = re.compile(
    r'(<a class="(?:reference internal|headerlink)" href="[^"]*") title="(?:costofpri|Link to this)[^"]*"'
)
MARKED = re.compile(r'<span class="(\w+)">([^<]*)</span>')  # in a listing
BESIDE = re.compile(r"(</b>(?:\s|<i></i>)*)?<b class=(\w+)>")  # the beginning of a mark, right behind another or not
MARK = re.compile(  # of a signature; none has a rule of its own
    r'<span class="(?:pre|n|o|p|w|sig-return(?:-icon|-typehint)?)">([^<]*(?:<a [^>]*>[^<]*</a>[^<]*)*)</span>'
)
CELL = re.compile(r"(<t[dh]\b[^>]*>)<p>((?:(?!</?p\b).)*)</p>(</t[dh]>)", re.DOTALL)
ARROW = re.compile(r'(?<=aria-hidden="true">)<path d="[^"]*"></path>')
COMMENT = re.compile(r"<!--(?!\[).*?-->", re.DOTALL)
STYLE_COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)  # a licence begins with /*!
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
NEGATED = re.compile(r":not\([^()]*(?:\([^()]*\))?[^()]*\)")
WORD = re.compile(r"-?[A-Za-z_][\w-]*")
APART = re.compile(r",(?![^()]*\))")

ICONS, FONTS = "scripts/fontawesome.js", "vendor/fontawesome/webfonts"
ICON = re.compile(r'"?([\w-]+)"?:\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?')
NAMED = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_STYLE = re.compile(r"((?:\.fa-[\w-]+(?:::?before)?,?)+)\{(?:--fa:|content:)[^{}]*\}")
PRIVATE = re.compile(r"\\(f[0-9a-f]{3}|e[0-9a-f]{3})|([\ue000-\uf8ff])", re.IGNORECASE)
WOFF2 = re.compile(r'url\([^)]*\.woff2[^)]*\)\s*format\(["\']?woff2["\']?\),\s*')

COLOUR = re.compile(r'^html\[data-theme="(\w+)"\] \.highlight(?: \.(\w+))? \{([^}]*)\}', re.MULTILINE)
NUMBER = re.compile(r'<span class="linenos">\s*\d+</span>')
DOT = '<span class="o">.</span>'  # an operator, but nobody reads it as one
LINE = "<i></i>"  # the stylesheet counts them
CLAIMS = "-claims"  # ends the names of the pages of claims
MADE = "This page is made from book/claims.yml and the chapter's verdicts.json whenever the book is rendered.\n"
PICTURE, HTML, SCRIPTED = "image/svg+xml", "text/html", "<script"
INDEX_FILE = "searchindex.js"
BACK = re.compile(r'<a class="viewcode-back" href="([^"#]*)#([^"]*)">[^<]*</a>\n?')
ID = re.compile(r'\bid="([^"]+)"')


def lighten(html: Path) -> None:
    """Leave out of a rendered book, in place, what its pages never use.

    Args:
        html: the folder of the pages.
    """
    drop_files(html / STATIC)
    neutral = plain_marks(html / STATIC / "pygments.css")
    alike = same_looks(html / STATIC / "pygments.css")
    for page in _pages(html):
        text = page.read_text("utf-8")
        lighter = squeezed(text if page == html / SEARCH else INDEX.sub("", text), neutral)
        if SOURCES in page.relative_to(html).parts:
            lighter = marked_once(NUMBER.sub(LINE, lighter), alike)
        if lighter != text:
            page.write_text(lighter, "utf-8")
    name_once(html / INDEX_FILE)
    mend_ways_back(html)
    keep_icons(html)
    keep_rules(html)
    for made in (html / TAKEN).rglob(f"*{CLAIMS}.md"):
        made.write_text(MADE, "utf-8")
    for notebook in (html / TAKEN).rglob("*.ipynb"):
        notebook.write_text(to_take_away(notebook.read_text("utf-8")), "utf-8")


def drop_files(static: Path) -> None:
    """Remove source maps, what names them, and what is there for other languages and for other builders."""
    for name in UNUSED:
        path = static / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in [*static.rglob("*.js.map"), *static.rglob("*.css.map")]:
        path.unlink()
    for path in [*static.rglob("*.js"), *static.rglob("*.css")]:
        text = path.read_text("utf-8")
        if (shorter := MAP.sub("", text)) != text:
            path.write_text(shorter, "utf-8")


def plain_marks(styles: Path) -> set[str]:
    """The classes of code that a stylesheet of Pygments sets like the text around them, by day and by night."""
    if not styles.is_file():
        return set()
    rules = [(theme, name, rule.strip().rstrip(";")) for theme, name, rule in COLOUR.findall(styles.read_text("utf-8"))]
    ground = {theme: _colour(rule) for theme, name, rule in rules if not name}
    coloured = {name for theme, name, rule in rules if name and rule != f"color: {ground.get(theme)}"}
    return {name for _, name, _ in rules if name} - coloured


def same_looks(styles: Path) -> dict[str, str]:
    """The classes of code, each with the shortest that a stylesheet of Pygments sets like it, by day and by night."""
    looks: dict[str, list[tuple[str, str]]] = {}
    for theme, name, rule in COLOUR.findall(styles.read_text("utf-8")) if styles.is_file() else ():
        if name:
            looks.setdefault(name, []).append((theme, rule.strip()))
    shortest: dict[tuple[tuple[str, str], ...], str] = {}
    ordered = sorted(looks, key=lambda name: (len(name), name))
    return {name: shortest.setdefault(tuple(sorted(looks[name])), name) for name in ordered}


def marked_once(listing: str, alike: dict[str, str]) -> str:
    """A listing in which words that look alike have one mark, if only blanks and ends of lines are between them.

    Args:
        listing: HTML. alike: the classes of marks, each with the one that stands for it.
    """
    here = ""

    def beginning(found: re.Match[str]) -> str:
        nonlocal here
        before, here = here, found[2]
        return found[1].removeprefix("</b>") if found[1] and before == here else found.group()

    # The stylesheet has these elements no bolder.
    short = MARKED.sub(lambda found: f"<b class={alike.get(found[1], found[1])}>{found[2]}</b>", listing)
    return BESIDE.sub(beginning, short)


def squeezed(page: str, neutral: set[str] = frozenset()) -> str:  # type: ignore[assignment]
    """A page without indentation, but where blanks count, and without marks in its code that change nothing.

    A cell of a table, a name in code and a signature hold their words alone; an arrow that folds is drawn once and
    shown again where it recurs.

    Args:
        page: HTML. neutral: the classes of such marks.
    """
    marks = re.compile(rf'<span class="(?:{"|".join(sorted(neutral))})">([^<]*)</span>') if neutral else None
    parts = KEPT.split(page)
    for at, part in enumerate(parts):
        if at % 3 == 0:
            words = BLANKS.sub("\n", COMMENT.sub("", part))
            words = CODE.sub(r"\1\2\3", CELL.sub(r"\1\2\3", words))
            words = TOLD.sub(r"\1", words)
            parts[at] = SIGNATURE.sub(lambda found: unmarked(found.group()), words)
        elif at % 3 == 1 and marks and parts[at + 1] == "pre":
            parts[at] = marks.sub(r"\1", part).replace(DOT, ".")
    return once("".join(part for at, part in enumerate(parts) if at % 3 != 2))


def unmarked(signature: str) -> str:
    """A signature without the marks that change nothing, one in another or not."""
    while (shorter := MARK.sub(r"\1", signature)) != signature:
        signature = shorter
    return signature


def once(page: str) -> str:
    """A page in which each arrow that folds is drawn once: the others refer to its shape."""
    for number, shape in enumerate(dict.fromkeys(ARROW.findall(page))):
        first, _, rest = page.partition(shape)
        named, used = shape.replace("<path ", f'<path id="arrow-{number}" '), f'<use href="#arrow-{number}"></use>'
        page = f"{first}{named}{rest.replace(shape, used)}"
    return page


def to_take_away(notebook: str) -> str:
    """A notebook without its vector pictures and its controls: they stand on the page, and a run makes them anew.

    Its code, its words, its tables and the descriptions of its pictures stay.
    """
    content = json.loads(notebook)
    for cell in content["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop(PICTURE, None)
            if SCRIPTED in "".join(data.get(HTML, "")):
                del data[HTML]
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def name_once(index: Path) -> None:
    """Leave the index's entries out of what the search page loads: each is a name that it has among its objects, too.

    Args:
        index: the script with the index of the search; nothing where there is none.
    """
    if not index.is_file():
        return
    opening, _, rest = index.read_text("utf-8").partition("(")
    content = json.loads(rest.rstrip().removesuffix(";").removesuffix(")")) | {"indexentries": {}}
    index.write_text(f"{opening}({json.dumps(content, ensure_ascii=False, separators=(',', ':'))})", "utf-8")


def mend_ways_back(html: Path) -> None:
    """Lead each source listing back to where the reference has a name; take away a way back to nowhere.

    Of a module whose names several modules of the reference show, Sphinx looks for all at the first of them.
    """
    sources = html / SOURCES
    anchors: dict[Path, set[str]] = {}
    for page in _pages(sources):
        module = page.relative_to(sources).with_suffix("").as_posix().replace("/", ".")

        def mended(found: re.Match[str], page: Path = page, module: str = module) -> str:
            target = (page.parent / unquote(found[1])).resolve()
            if target not in anchors:
                anchors[target] = set(ID.findall(target.read_text("utf-8"))) if target.is_file() else set()
            parts = unescape(found[2]).split(".")
            tails = (".".join(parts[at:]) for at in range(1, len(parts)))
            for name in (unescape(found[2]), *(f"{module}.{tail}" for tail in tails)):
                if name in anchors[target]:
                    return found.group().replace(f"#{found[2]}", f"#{name}")
            return ""

        text = page.read_text("utf-8")
        if (better := BACK.sub(mended, text)) != text:
            page.write_text(better, "utf-8")


def keep_icons(html: Path) -> None:
    """Keep those icons of Font Awesome that a page, a script or a stylesheet names."""
    static = html / STATIC
    script = static / ICONS
    scripts = [path for path in static.rglob("*.js") if path != script and "mathjax" not in path.parts]
    texts = [path.read_text("utf-8") for path in [*_pages(html), *scripts]]
    used = {name for text in texts for name in NAMED.findall(text)}
    if script.is_file():
        script.write_text(ICON.sub(lambda icon: icon.group() if _names(icon) & used else "", _text(script)), "utf-8")
    styles = [path for path in static.rglob("*.css") if "mathjax" not in path.parts]
    for path in styles:
        text = _text(path)
        kept = ICON_STYLE.sub(lambda rule: rule.group() if set(NAMED.findall(rule[1])) & used else "", text)
        if (static / FONTS).is_dir():
            kept = WOFF2.sub("", kept)
        if kept != text:
            path.write_text(kept, "utf-8")
    letters = {int(code, 16) if code else ord(own) for path in styles for code, own in PRIVATE.findall(_text(path))}
    for font in sorted((static / FONTS).glob("*.ttf")):
        font.write_bytes(font_with(font.read_bytes(), letters))
        font.with_suffix(".woff2").unlink(missing_ok=True)


def keep_rules(html: Path) -> None:
    """Keep those rules of the theme's stylesheets that can be about something in a page.

    A rule about a class that no page and no script names is about nothing.
    """
    static = html / STATIC
    scripts = [path for path in static.rglob("*.js") if "mathjax" not in path.parts]
    used = {word for path in [*_pages(html), *scripts] for word in WORD.findall(_text(path))}
    for path in static.rglob("*.css"):
        text = _text(path)
        if (kept := with_rules_for(text, used)) != text:
            path.write_text(kept, "utf-8")


def with_rules_for(styles: str, used: set[str]) -> str:
    """A stylesheet without the selectors that name a class which is not among the used words.

    Args:
        styles: CSS. used: all words that pages and scripts have.
    """

    def kept(rule: re.Match[str]) -> str:
        head, sep, selectors = rule[1].rpartition(";") if ";" in rule[1] else ("", "", rule[1])
        if selectors.lstrip().startswith("@") or "\\" in selectors:
            return rule.group()
        each = APART.split(selectors)
        live = [one for one in each if set(CLASS.findall(NEGATED.sub("", one))) <= used]
        if len(live) == len(each):
            return rule.group()
        return f"{head}{sep}{','.join(live)}{{{rule[2]}}}" if live else head + sep

    return RULE.sub(kept, STYLE_COMMENT.sub("", styles))


def font_with(font: bytes, letters: set[int]) -> bytes:
    """A font with some letters alone, as far as it has them."""
    options = subset.Options(drop_tables=["+FFTM"], hinting=False, recalc_timestamp=False)
    loaded = TTFont(BytesIO(font), recalcTimestamp=False)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=letters)
    chosen.subset(loaded)
    written = BytesIO()
    loaded.save(written)
    return written.getvalue()


def _names(icon: re.Match[str]) -> set[str]:
    """The name of an icon, and its other names."""
    return {icon[1], *re.findall(r'"([^"]*)"', icon[2])}


def _colour(rule: str) -> str:
    found = re.search(r"(?<!-)color: ([^;]+)", rule)
    return found[1].strip() if found else ""


def _pages(html: Path) -> Iterator[Path]:
    """The pages of a folder, but for what lies among the static files."""
    yield from (path for path in sorted(html.rglob("*.html")) if STATIC not in path.relative_to(html).parts)


def _text(path: Path) -> str:
    return path.read_text("utf-8")
