"""The rendered book: chapters executed under a preset, staged as pages, rendered to ``_build/html``."""

import filecmp
import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from companion.build import (
    claim_pages,
    edition,
    explorers,
    filling,
    freshness,
    glossary,
    notebooks,
    pictures,
    real_data,
    reference,
    repository,
    responsive,
    search_index,
)
from companion.build.environment import environment
from companion.build.errors import BookError
from companion.build.execute import write_log
from companion.build.output import temporary
from companion.build.parameters import PAPER, resolve_preset
from companion.build.project import Project, chapters, place
from companion.build.scripts import STATIC, write_scripts
from companion.build.tree import Say, TreePlan, bring_up_to_date, copy_place, prune
from companion.judging import addresses
from companion.running import _source, stamps
from companion.showing import plates

GENERATED = {
    "_notation.md": ("{package}.symbols", "notation"),
    "_errata.md": ("companion.judging.errata", "page"),
    "errata.json": ("companion.judging.errata", "data"),
    "_changes.md": ("companion.judging.history", "page"),
}
COSTS = "costs"  # in book/: what `make bench` measured
INCLUDED = ("CHANGELOG.md", ".github/SECURITY.md")  # beside book/, included by pages
OURS = {"_build", ".venv", ".git"}
RENDER = "companion.build.rendering"
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
NO_REFERENCE = "# {name}\n\nThis edition of the book leaves the reference out. `make pages` renders the book with it.\n"
CODE = "code.json"  # in _build: what the library's files import, and their digests
RENDERED = "rendered.json"  # beside what Sphinx keeps: what it was made with


def build(project: Project, preset: str, say: Say, warn: Say) -> Path:
    """Make the book under a preset, doing again only what changed.

    A chapter on real data keeps its committed page, with a note, where a data set is missing.

    Args:
        project: the book.
        preset: ``paper`` or the name of a file in ``book/presets/``.
        say: told each executed chapter and the rendering, in one line.
        warn: told each output on the error stream, in one line.

    Returns:
        The first page of ``_build/html``.

    Raises:
        RequestError: the preset does not exist or is inadmissible; nothing was executed.
        BookError: a chapter or the rendering failed; the pages are as they were.
    """
    folder = project.build / preset
    tree = folder / "executed"
    parameters = resolve_preset(project, preset, chapters(project))
    prune(project, tree)
    _copy_claims(project, tree)
    missing = {
        name: sets for name, sets in real_data.missing(project, parameters).items() if _is_committed(project, name)
    }
    if missing:
        say(
            f"shown as committed, because data sets are missing (`make data` downloads them): {real_data.told(missing)}"
        )
    for name in missing:
        copy_place(place(project.book, name), place(tree, name))
    plan = {name: values for name, values in parameters.items() if name not in missing}
    with environment({} if preset == PAPER else {plates.WIDE_ONLY: "1"}), _source.remembered(project.build / CODE):
        bring_up_to_date(project, TreePlan(tree, plan, small=preset != PAPER), say, warn)
        stage(project, preset, tree, folder / "pages", missing)
    render(project, preset, folder / "pages", say)
    return project.build / "html" / "index.html"


def render_committed(project: Project, say: Say, warn: Say) -> Path:
    """Render the chapters as they are committed, at the papers' scale; nothing is executed.

    Args:
        project: the book.
        say: told the rendering, in one line.
        warn: told which pages are not what their sources would give now, in one line.

    Returns:
        The first page of ``_build/html``.

    Raises:
        BookError: a chapter was never executed, or the rendering failed; the pages are as they were.
    """
    parameters = resolve_preset(project, PAPER, chapters(project))
    with _source.remembered(project.build / CODE):
        expected = {
            name: freshness.inputs(project, name, values, project.book, real=True)
            for name, values in parameters.items()
        }
    reasons = {name: freshness.why_stale(place(project.book, name), found) for name, found in expected.items()}
    never = [name for name, reason in reasons.items() if reason == freshness.NEVER]
    if never:
        raise BookError(
            f"never executed, so there is no page to render: {', '.join(never)} (`make refresh` executes them)"
        )
    stale = [name for name, reason in reasons.items() if reason]
    if stale:
        missing = real_data.missing(project, {name: parameters[name] for name in stale})
        without = [name for name in missing if real_data.needed(project, name, parameters[name])]
        remedy = "`make data`, then `make refresh`" if without else "`make refresh`"
        warn(f"older than their sources ({remedy} updates them): {', '.join(stale)}")
    pages = project.build / PAPER / "pages"
    stage(project, PAPER, project.book, pages)
    render(project, PAPER, pages, say)
    return project.build / "html" / "index.html"


def stage(
    project: Project, preset: str, tree: Path, pages: Path, missing: real_data.Missing = MappingProxyType({})
) -> None:
    """Lay out what rendering needs: configuration, prose, static files, scripts, chapters and their claims.

    Another edition than that at the papers' scale has no reference of the library, and its pictures are larger files.

    Args:
        project: the book.
        preset: its name; any but ``paper`` is named at the top of each page with results.
        tree: the executed chapters.
        pages: the folder to fill. A file that is there with the same content already stays as it is, so that Sphinx
            knows what changed; what else the folder held goes.
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


def _lay_out(project: Project, preset: str, tree: Path, pages: Path, missing: real_data.Missing) -> None:
    """Fill an empty folder with what rendering needs."""
    for path in [*_configured_files(project), *_prose(project)]:
        _copy(path, pages / path.relative_to(project.root))
    note = "" if preset == PAPER else NOTE.format(preset=preset)
    with_claims = claim_pages.generated(project)
    for name in chapters(project):
        executed = notebooks.for_readers(notebooks.read(place(tree, name).notebook))
        target = place(pages / "book", name)
        own = MISSING_NOTE.format(sets=" and ".join(missing[name])) if name in missing else note
        notebooks.write(notebooks.annotated(executed, own) if own else executed, target.notebook)
        shutil.copytree(place(tree, name).results, target.results, dirs_exist_ok=True)
        target.stamp.unlink(missing_ok=True)
        if name in with_claims:
            text = claim_pages.page(project, tree, name)
            claimed = pages / "book" / f"{addresses.page_of(name)}.md"
            claimed.write_text(notebooks.with_note(text, own) if own else text, "utf-8")
    write_generated(project, tree, pages / "book")
    filling.fill(project, tree, pages / "book")
    for name in filling.filled_pages(project) if note else ():
        page = pages / "book" / f"{name}.md"
        page.write_text(notebooks.with_note(page.read_text("utf-8"), note), "utf-8")
    explorers.embed(pages)
    write_scripts(project, pages)
    defined = pages / "book" / STATIC / glossary.SCRIPT
    defined.parent.mkdir(parents=True, exist_ok=True)
    defined.write_text(glossary.script(project.book), "utf-8")
    repository.write(project.root, pages / "_config.yml")
    if preset == PAPER:
        pictures.lighten(pages)
        return
    for entry in reference.generated(project):
        (pages / f"{entry}.md").write_text(NO_REFERENCE.format(name=entry.rpartition("/")[2]), "utf-8")


def write_generated(project: Project, tree: Path, folder: Path) -> set[str]:
    """Write the texts that the library makes for pages, each where a page of the folder includes it.

    Args:
        project: the book.
        tree: the executed chapters whose verdicts are told.
        folder: the folder of the pages.

    Returns:
        The names of the files that were written.
    """
    pages = "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("*.md")) if path.name not in GENERATED)
    written = {name for name in GENERATED if name in pages}
    for name in written:
        module, function = GENERATED[name]
        text = getattr(importlib.import_module(module.format(package=project.package)), function)(tree)
        (folder / name).write_text(text.rstrip() + "\n", "utf-8")
    return written


def render(project: Project, preset: str, pages: Path, say: Say) -> None:
    """Render staged pages into ``_build/html``, unless they are what it shows already.

    Sphinx keeps what it has read beside the staged pages, and reads and writes anew what changed. It begins from
    scratch where the configuration, the table of contents or the book's machinery is another, and after a rendering
    that did not end well.

    Raises:
        BookError: Sphinx warned; ``_build/html`` is as it was.
    """
    html, record = project.build / "html", project.build / "html.json"
    content = {"preset": preset, "digest": _pages_digest(project, pages)}
    if (html / "index.html").is_file() and _json(record) == content:
        edition.write(html, edition.name(project))
        return
    say(f"rendering {pages}")
    kept = pages.with_name("sphinx")
    made_with = _machinery_digest(project, pages)
    if _json(kept / RENDERED) != made_with:
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True, exist_ok=True)
    (kept / RENDERED).unlink(missing_ok=True)
    command = [sys.executable, "-m", RENDER, "build", "-W", "--keep-going"]
    done = subprocess.run(
        [*command, "--path-output", str(kept.resolve()), str(pages.resolve())],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    log = write_log(project, "render", done.stdout)
    if done.returncode:
        raise BookError(f"the pages could not be rendered: {_first_warning(done.stdout)} (see {log})")
    (kept / RENDERED).write_text(json.dumps(made_with), "utf-8")
    with temporary(project) as folder:
        made = folder / "html"
        shutil.copytree(kept / "_build" / "html", made)
        responsive.widen(made, pages)
        search_index.index(made)
        edition.write(made, edition.name(project))
        record.unlink(missing_ok=True)
        if html.exists():
            html.rename(folder / "earlier")
        made.rename(html)
        record.write_text(json.dumps(content) + "\n", "utf-8")


def _is_committed(project: Project, name: str) -> bool:
    """Whether a chapter was ever executed in place."""
    committed = place(project.book, name)
    return committed.stamp.is_file() and committed.notebook.is_file()


def _copy_claims(project: Project, tree: Path) -> None:
    """Put the list of claims, the dictionary and what the chapters cost beside the verdicts, as in ``book/``."""
    tree.mkdir(parents=True, exist_ok=True)
    for path in (project.claims, project.dictionary):
        if path.is_file():
            shutil.copyfile(path, tree / path.name)
    if (project.book / COSTS).is_dir():
        shutil.copytree(project.book / COSTS, tree / COSTS, dirs_exist_ok=True)


def _configured_files(project: Project) -> list[Path]:
    """The configuration, and each existing file or folder that it names outside ``book/``."""
    config = project.root / "_config.yml"
    named = _strings(yaml.safe_load(config.read_text("utf-8"))) if config.is_file() else []
    paths = [project.root / text for text in named if text and "\n" not in text and len(text) < 200]
    own = [config, project.root / "_toc.yml", *(project.root / name for name in INCLUDED)]
    return [*own, *(path for path in paths if _is_ours_to_copy(project, path))]


def _is_ours_to_copy(project: Project, path: Path) -> bool:
    """Whether a path exists below the root, outside ``book/`` and outside what is made."""
    if not path.exists() or not path.resolve().is_relative_to(project.root.resolve()):
        return False
    parts = path.resolve().relative_to(project.root.resolve()).parts
    return bool(parts) and parts[0] not in OURS | {"book", "lib", "tests"}


def _prose(project: Project) -> list[Path]:
    """Every file below ``book/`` that belongs to no chapter and is no notebook."""
    results = {place(project.book, name).results for name in chapters(project)}
    return [
        path
        for path in project.book.rglob("*")
        if path.is_file()
        and path.suffix != ".ipynb"
        and not results.intersection(path.parents)
        and ".ipynb_checkpoints" not in path.parts
    ]


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, making the folders above it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.is_file():
        shutil.copyfile(source, target)


def _strings(node: Any) -> list[str]:
    """Every string in a piece of YAML, keys left out."""
    if isinstance(node, dict):
        return [text for value in node.values() for text in _strings(value)]
    if isinstance(node, list):
        return [text for value in node for text in _strings(value)]
    return [node] if isinstance(node, str) else []


def _pages_digest(project: Project, pages: Path) -> str:
    """The digest of all that a rendering depends on."""
    machinery = sorted(Path(__file__).parent.glob("*.py"))
    files = [*sorted(path for path in pages.rglob("*") if path.is_file()), *machinery, project.requirements]
    return stamps.json_digest([(path.name, str(path), stamps.file_digest(path)) for path in files])


def _machinery_digest(project: Project, pages: Path) -> str:
    """The digest of all that a rendering depends on beside the single pages."""
    machinery = [*sorted(Path(__file__).parent.glob("*.py")), project.requirements, *sorted(pages.glob("*.yml"))]
    return stamps.json_digest([str(pages.resolve()), *(stamps.file_digest(path) for path in machinery)])


def _json(path: Path) -> Any:
    """The content of a JSON file; ``None`` where there is none."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _first_warning(output: str) -> str:
    """The line of Sphinx's output that says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "WARNING" in line or "ERROR" in line or "Error" in line]
    return (telling or lines or ["no output"])[0]
