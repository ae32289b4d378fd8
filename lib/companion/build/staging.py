"""Pages laid out for Sphinx: configuration, prose with its values, executed chapters, and a page for their claims.

Nobody writes the pages of claims: they are made from an executed chapter, its saved findings and the register, wherever
the table of contents names one below its chapter. What ``{{ key }}`` stands for in the prose of other pages is computed
from what the chapters saved, by a module of the page's name in the book's ``overview``.
"""

import filecmp
import html
import importlib
import json
import os
import pkgutil
import re
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from companion import __version__, of_chapters
from companion.build import freshness, notebooks, pictures, repository
from companion.build.execute import temporary
from companion.build.parameters import PAPER
from companion.build.project import BookError, Project, chapters, module_name, place, rewrite, toc_entries
from companion.judging import cards
from companion.judging.claims import load_yaml, read_findings, read_papers, read_register
from companion.judging.judges import judges_of
from companion.running import _source, stamps
from companion.showing import WIDE_ONLY

GENERATED = {
    "_notation.md": ("{package}.symbols", "notation"),
    "_names.md": ("{package}.symbols", "names"),
    "_errata.md": ("companion.judging.errata", "page"),
    "errata.json": ("companion.judging.errata", "data"),
    "_changes.md": ("companion.judging.errata", "changes_page"),
}
INCLUDED = ("CHANGELOG.md", ".github/SECURITY.md")  # beside book/, included by pages
NOTE = """```{{admonition}} Executed with the *{preset}* preset
:class: note
Sizes and numbers of trials are smaller than in the papers: this page gives a first impression. The published page is
executed at the papers' own scale; `make book PRESET=paper` makes it.
```"""
MISSING_NOTE = """```{{admonition}} Committed results, because real data are missing here
:class: note
This page needs {sets}, which could not be found in the data folder, so it was not executed. It shows the committed
results, at the papers' own scale. `make data` downloads the data; after that, `make book` executes the page.
```"""
REFERENCE = "book/reference/"
NO_REFERENCE = "\nThis edition leaves out modules and functions. `make pages` renders the book with them.\n"
CLAIMS_OPENING = """# {title}{chapter}

{judged}: {tally}. Click on a claim to see the paper's own words, the criterion by which it passes, the evidence and the
numbers. [The ledger]({up}ledger.ipynb) lists the claims of all chapters and says what each verdict means."""
VALUE = re.compile(r"\{\{ ([\w./-]+) \}\}")
SAVED = (".csv", ".json", ".yml")  # what chapters leave for others, and the claims
FIGURES = "figures"  # the folder beside a page for those that are drawn for it
FIGURE = """```{{figure}} {path}
:name: {name}
:alt: {alt}

{caption}
```"""


def stage(
    project: Project, preset: str, tree: Path, pages: Path, missing: freshness.Missing = MappingProxyType({})
) -> None:
    """Lay out what rendering needs: configuration, prose, static files, scripts, chapters and their claims.

    Another edition than that at the papers' scale says so at the top of each page with results, has of the library's
    reference the packages alone, and its pictures are larger files. A file that is there with the same content already
    stays as it is, so that Sphinx knows what changed; what else the folder held goes.

    Args:
        project, preset, tree, pages: ``tree`` has the executed chapters, ``pages`` is the folder to fill.
        missing: the chapters that are shown as committed, with the data sets that are missing for them.
    """
    with temporary(project) as folder:
        _lay_out(project, preset, tree, folder, missing)
        replace_changed(folder, pages)


def replace_changed(source: Path, target: Path) -> None:
    """Make a folder hold what another holds; files of the same content are not touched."""
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    for path in list(target.rglob("*")):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()
    for name in wanted:
        old = target / name
        if not old.is_file() or not filecmp.cmp(source / name, old, shallow=False):
            old.parent.mkdir(parents=True, exist_ok=True)
            (source / name).replace(old)


def _lay_out(project: Project, preset: str, tree: Path, pages: Path, missing: freshness.Missing) -> None:
    configuration = [project.root / name for name in ("_config.yml", "_toc.yml", *INCLUDED)]
    results = {place(project.book, name).results for name in chapters(project)}
    files = (path for path in project.book.rglob("*") if path.is_file() and path.suffix != ".ipynb")
    files = (path for path in files if ".ipynb_checkpoints" not in path.parts)
    prose = [path for path in files if not results.intersection(path.parents)]
    for path in [*filter(Path.is_file, configuration), *prose]:
        target = pages / path.relative_to(project.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    note = "" if preset == PAPER else NOTE.format(preset=preset)
    with_claims = chapters_with_claims(project)
    for name in chapters(project):
        executed = notebooks.for_readers(notebooks.read(place(tree, name).notebook))
        staged = place(pages / "book", name)
        own = MISSING_NOTE.format(sets=" and ".join(missing[name])) if name in missing else note
        if own:
            first = next(cell for cell in executed.cells if cell.cell_type == "markdown")
            first.source = notebooks.with_note(first.source, own)
        notebooks.write(executed, staged.notebook)
        shutil.copytree(place(tree, name).results, staged.results, dirs_exist_ok=True)
        staged.stamp.unlink(missing_ok=True)
        if name in with_claims:
            text = claims_page(project, tree, name)
            claimed = pages / "book" / f"{cards.page_of(name)}.md"
            claimed.write_text(notebooks.with_note(text, own) if own else text, "utf-8")
    write_generated(project, tree, pages / "book")
    fill(project, tree, pages / "book", project.build / preset / "filled")
    for name in filled_pages(project) if note else ():
        page = pages / "book" / f"{name}.md"
        page.write_text(notebooks.with_note(page.read_text("utf-8"), note), "utf-8")
    link_explorers(pages)
    write_scripts(project, pages)
    repository.write_addresses(project.root, pages / "_config.yml")
    if preset == PAPER:
        pictures.shrink_all(pages)
        return
    for entry in reference_pages(project):
        page = pages / f"{entry}.md"
        page.write_text(page.read_text("utf-8").partition("\n## ")[0] + NO_REFERENCE, "utf-8")


def write_generated(project: Project, tree: Path, folder: Path) -> set[str]:
    """Write the texts that are made from executed chapters, each where a page of the folder includes it."""
    pages = "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("*.md")) if path.name not in GENERATED)
    written = {name for name in GENERATED if name in pages}
    for name in written:
        module, function = GENERATED[name]
        text = getattr(importlib.import_module(module.format(package=project.package)), function)(tree)
        (folder / name).write_text(text.rstrip() + "\n", "utf-8")
    return written


def chapters_with_claims(project: Project) -> list[str]:
    """The chapters that have a page of claims, as the table of contents says."""
    named = set(toc_entries(project))
    return [name for name in chapters(project) if f"book/{cards.page_of(name)}" in named]


def claims_page(project: Project, tree: Path, name: str) -> str:
    """The page of one chapter's claims, as Markdown: those of which it has saved a finding, in the register's order."""
    executed = notebooks.read(place(tree, name).notebook)
    found = read_findings(place(tree, name).results)
    own = [claim for claim in read_register(project.claims).values() if claim.id in found]
    papers, judges = read_papers(project.claims), judges_of(module_name(project, name))
    drawn = cards.drawn_from(cell.source for cell in notebooks.code_cells(executed))
    captions = notebooks.captions(executed)
    titles = {figure: cards.title_of(captions.get(cards.figure_label(name, figure), "")) for figure in drawn}
    shown = []
    for claim in own:
        arxiv = papers[claim.paper]["arxiv"]
        shown.append(cards.card(claim, found[claim.id], arxiv, judges.get(claim.id), drawn, titles))
    chapter, count = notebooks.title(executed), "one claim" if len(own) == 1 else f"{len(own)} claims"
    opening = CLAIMS_OPENING.format(
        title=cards.CLAIMS_TITLE,
        chapter=chapter,
        judged=f"The chapter [{chapter}]({name.split('/')[-1]}.ipynb) judges {count}",
        tally=cards.tally(found[claim.id].verdict for claim in own),
        up="../" * name.count("/"),
    )
    return "\n\n".join([opening, *shown]) + "\n"


def filled_pages(project: Project) -> dict[str, str]:
    """The module of the page's name that fills each page with places, by the page's path below ``book/``."""
    package = f"{project.package}.overview"
    if find_spec(package) is None:
        return {}
    pages = [path for where in ("*.md", "*/*.md") for path in sorted(project.book.glob(where))]
    modules = {
        path.relative_to(project.book).with_suffix("").as_posix(): f"{package}.{path.stem.replace('-', '_')}"
        for path in pages
        if VALUE.search(path.read_text("utf-8"))
    }
    return {name: module for name, module in modules.items() if find_spec(module)}


def values_of(project: Project, module: str, tree: Path) -> Mapping[str, Any]:
    """What fills the places of a page: texts and figures by key."""
    saved = importlib.import_module(f"{project.package}.overview.saved").Saved(tree)
    return importlib.import_module(module).values(saved)


def fill(project: Project, tree: Path, folder: Path, kept: Path) -> None:
    """Fill the staged pages of a folder, in place; their figures lie in a folder beside each.

    What fills a page is kept in a folder of its own, and computed again where its code, the look of figures, the
    repository's address or anything that the chapters saved is another than it was then.
    """
    saved = [path for path in sorted(tree.rglob("*")) if path.suffix in SAVED and path.name != stamps.STAMP]
    files = [(path.name, stamps.file_digest(path)) for path in (project.requirements, *saved)]
    common = [__version__, repository.address(project.root), os.environ.get(WIDE_ONLY), freshness.style(project), files]
    for name, module in filled_pages(project).items():
        page, own = folder / f"{name}.md", kept / name
        made_from = stamps.json_digest([common, _source.digest([module])])
        if stamps.read(own).get("made_from") != made_from:
            _compute(values_of(project, module, tree), name, own, made_from)
        if (own / FIGURES).is_dir():
            shutil.copytree(own / FIGURES, page.parent / FIGURES, dirs_exist_ok=True)
        page.write_text(filled(page.read_text("utf-8"), stamps.read(own)["texts"], name), "utf-8")


def _compute(values: Mapping[str, Any], name: str, folder: Path, made_from: str) -> None:
    """Draw the figures among what fills a page into a folder; last, its stamp holds all texts."""
    from companion.showing import plates  # plotting takes a second to import

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    texts = dict(values)
    for key, plate in ((key, value) for key, value in values.items() if isinstance(value, plates.Plate)):
        figure, alt = f"{name.replace('/', '-')}-{key}".replace("_", "-"), " ".join(plate.alt.split())
        plates.save(plate, folder / FIGURES, figure)
        texts[key] = FIGURE.format(path=f"{FIGURES}/{figure}.svg", name=figure, alt=alt, caption=plate.caption)
    content = {"made_from": made_from, "texts": texts}
    (folder / stamps.STAMP).write_text(json.dumps(content), "utf-8")


def filled(text: str, texts: Mapping[str, str], name: str) -> str:
    """A page's text with its places filled; a `BookError` where one has no text."""
    missing = sorted(set(VALUE.findall(text)) - set(texts))
    if missing:
        raise BookError(f"the page {name} has placeholders without a value: {', '.join(missing)}")
    return VALUE.sub(lambda found: texts[found[1]], text)


def write_reference(project: Project) -> None:
    """Write each page of the library's reference that the table of contents names, but the index, written by hand."""
    for entry in reference_pages(project):
        path = project.root / f"{entry}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(reference_page(project.library, entry.removeprefix(REFERENCE)), "utf-8")


def reference_pages(project: Project) -> list[str]:
    """The pages of the reference that are made from the library, as the table of contents names them."""
    return [entry for entry in toc_entries(project) if entry.startswith(REFERENCE) and entry != f"{REFERENCE}index"]


def reference_page(library: str, name: str) -> str:
    """The page of one package of the library for autodoc: its own words, then its modules, as these name them first."""
    whole = f"{library}.{name}"
    package = importlib.import_module(whole)
    modules = pkgutil.iter_modules(package.__path__)
    public = [module.name for module in modules if not module.name.startswith("_") and not module.ispkg]
    named = [getattr(package, each, None) for each in re.findall(r"`(\w+)`", package.__doc__ or "")]
    first = [getattr(each, "__module__", "").rpartition(".")[2] for each in named]
    public.sort(key=lambda module: first.index(module) if module in first else len(first))

    def automodule(module: str, *options: str) -> str:
        return "\n".join(["```{eval-rst}", f".. automodule:: {module}", *(f"   {each}" for each in options), "```"])

    parts = [f"# {name}", automodule(whole)]
    for module in public:
        parts += [f"## `{module}`", automodule(f"{whole}.{module}", ":members:", ":member-order: bysource")]
    return "\n\n".join(parts) + "\n"


# A link to an explorer in some state, [Explore DP-GD](../explore/dpgd.ipynb#rho=0.3), is HTML in staged pages: MyST
# would look for a place of that name.
STATIC = "_static"  # in book/
EXPLORER = "explorer"
MODULE = f"companion.showing.{EXPLORER}"  # makes the script of the explorers, from an installed library
TERMS, DEFINITIONS = "terms.yml", "hover-data.js"
PAPERS = ("noisyhead", "dpgd")
INLINE = re.compile(
    r"\[(?P<words>[^\]\n]+)\]\((?P<page>(?:[\w./-]*/)?explore/[\w-]+)\.ipynb#(?P<state>[^)\s=]+=[^)\s]*)\)"
)
MARKDOWN = "text/markdown"


def write_scripts(project: Project, pages: Path) -> None:
    """Write what staged pages load into the folder of their static files: definitions, and the explorers."""
    static = pages / "book" / STATIC
    static.mkdir(parents=True, exist_ok=True)
    (static / DEFINITIONS).write_text(definitions(project.book), "utf-8")
    script = f"{EXPLORER}.js"
    if not any(f"{STATIC}/{script}" in page.read_text("utf-8") for page in sorted(pages.rglob("*.ipynb"))):
        return
    folder = Path(str(getattr(find_spec(MODULE), "origin", ""))).parent
    sources = [project.requirements, *sorted(folder.glob(f"{EXPLORER}.*"))]
    kept = project.build / EXPLORER / f"{stamps.json_digest([stamps.file_digest(path) for path in sources])}.js"
    if not kept.is_file():  # putting it together takes seconds
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.with_suffix(".new").write_text(importlib.import_module(MODULE).script(), "utf-8")
        kept.with_suffix(".new").replace(kept)
    shutil.copyfile(kept, static / script)


def definitions(book: Path) -> str:
    """What pages say of symbols and of the words in ``terms.yml`` at a pointer, as a script for ``hover.js``."""
    path = book / TERMS
    terms = load_yaml(path.read_text("utf-8")) if path.is_file() else {}
    letters = {name: entry for name, entry in terms.items() if "tex" in entry}
    content = {"symbols": symbols(letters), "terms": words({k: v for k, v in terms.items() if k not in letters})}
    return f"globalThis.DEFINED = {json.dumps(content, ensure_ascii=False, separators=(',', ':'))};\n"


def symbols(letters: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Each symbol of each paper: its TeX, whose it is, what it means and in which unit; ``letters`` say it in full."""
    found = {
        (tex, paper): {"tex": tex, "paper": paper, "meaning": symbol.meaning, "unit": symbol.unit}
        for symbol in of_chapters("symbols").SYMBOLS
        for paper in PAPERS
        if (tex := getattr(symbol, paper))
    }
    for entry in letters.values():
        for paper in (paper for paper in PAPERS if paper in entry):
            found[entry["tex"], paper] = {"tex": entry["tex"], "paper": paper, "meaning": entry[paper], "unit": ""}
    return list(found.values())


def words(terms: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """Each form of each word with its definition, longer ones before those that they contain."""
    forms = [
        {"word": form, "meaning": entry["meaning"], "term": term}
        for term, entry in terms.items()
        for form in (term, *entry.get("also", ()))
    ]
    return sorted(forms, key=lambda form: (-len(form["word"]), form["word"]))


def link_explorers(pages: Path) -> None:
    """Turn the links to explorers with a state into HTML, in all staged pages, in place."""
    rewrite(sorted(pages.rglob("*.md")), linked)
    for path in sorted(pages.rglob("*.ipynb")):
        if not INLINE.search(path.read_text("utf-8")):
            continue
        notebook = notebooks.read(path)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = linked(cell.source)
            for output in cell.get("outputs", []):
                if MARKDOWN in output.get("data", {}):
                    output.data[MARKDOWN] = linked(output.data[MARKDOWN])
        notebooks.write(notebook, path)


def linked(markdown: str) -> str:
    """A text in which links to explorers with a state are HTML.

    >>> linked("See [ρ = 0.3](../explore/dpgd.ipynb#rho=0.3).")
    'See <a href="../explore/dpgd.html#rho=0.3">ρ = 0.3</a>.'
    """

    def anchor(link: re.Match[str]) -> str:
        return f'<a href="{link["page"]}.html#{html.escape(link["state"])}">{link["words"]}</a>'

    return INLINE.sub(anchor, markdown)
