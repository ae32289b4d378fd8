"""The committed chapters: fresh, clean, and made as the machinery expects."""

import dataclasses
import importlib
import re
import sys
from pathlib import Path

import pytest
import yaml
from nbformat import NotebookNode
from nbval.plugin import find_comment_markers, find_metadata_tags

from companion.build import freshness, notebooks, parameters, staging
from companion.build.parameters import PAPER, WORKERS
from companion.build.project import Project, chapters, is_plain, place
from companion.build.staging import GENERATED
from companion.judging import cards

PROJECT = Project(Path(__file__).parents[2])
HAS_CONTENTS = (PROJECT.root / "_toc.yml").is_file()
NAMES = chapters(PROJECT) if HAS_CONTENTS else ()
MACHINE = re.compile(r"/home/|/root/|/Users/|/tmp/|/work/|site-packages|_build/|[A-Z]:\\\\|\bat 0x[0-9a-f]{4,}")

pytestmark = pytest.mark.skipif(not HAS_CONTENTS, reason="the book has no table of contents yet")
each_chapter = pytest.mark.parametrize("name", NAMES)
reference_only = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="committed outputs belong to the reference environment, Python 3.11"
)


def notebook(name: str) -> NotebookNode:
    return notebooks.read(place(PROJECT.book, name).notebook)


def judging(name: str) -> list[NotebookNode]:
    return [cell for cell in notebooks.code_cells(notebook(name)) if ".judge(" in cell.source]


def is_checked(cell: NotebookNode) -> bool:
    return ("check", True) in {*find_comment_markers(cell.source), *find_metadata_tags(cell.metadata)}


def plain(value: object) -> object:
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def texts(name: str) -> list[str]:
    outputs = [output for cell in notebooks.code_cells(notebook(name)) for output in cell.outputs]
    data = [text for output in outputs for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return [str(text) for text in data] + [output.text for output in outputs if "text" in output]


def entries(node: object) -> list[str]:
    if isinstance(node, dict):
        own = [value for key, value in node.items() if key in ("root", "file")]
        return own + [entry for value in node.values() for entry in entries(value)]
    return [entry for item in node for entry in entries(item)] if isinstance(node, list) else []


def test_every_page_of_the_contents_exists() -> None:
    named = entries(yaml.safe_load((PROJECT.root / "_toc.yml").read_text("utf-8")))
    made = {f"book/{cards.page_of(name)}" for name in staging.chapters_with_claims(PROJECT)}
    files = {page: [PROJECT.root / f"{page}{suffix}" for suffix in ("", ".md", ".ipynb")] for page in named}
    missing = [page for page in named if page not in made and not any(path.is_file() for path in files[page])]
    assert missing == []
    assert NAMES


@reference_only
@each_chapter
def test_a_committed_chapter_is_fresh(name: str) -> None:
    values = parameters.resolve_preset(PROJECT, PAPER, (name,))[name]
    expected = freshness.inputs(PROJECT, name, values, PROJECT.book, real=True)
    reason = freshness.why_stale(place(PROJECT.book, name), expected)
    assert reason == "", f"{name} is stale ({reason}): run `make refresh`"


@each_chapter
def test_a_committed_chapter_shows_no_trace_of_its_run(name: str) -> None:
    committed = notebook(name)
    assert notebooks.scrubbed(committed) == committed
    assert list(notebooks.stderr_lines(committed)) == []
    assert [found.group() for text in texts(name) for found in MACHINE.finditer(text)] == []


@each_chapter
def test_no_formula_has_both_lines_and_a_tag(name: str) -> None:
    """Sphinx puts a formula of several lines into ``split``, where MathJax refuses ``\\tag``."""
    displays = [
        formula
        for cell in notebook(name).cells
        if cell.cell_type == "markdown"
        for formula in re.findall(r"\$\$(.+?)\$\$", cell.source, re.S)
    ]
    assert [formula for formula in displays if r"\\" in formula and r"\tag" in formula] == []


@each_chapter
def test_every_cell_of_a_committed_chapter_was_executed(name: str) -> None:
    unrun = [cell.source for cell in notebooks.code_cells(notebook(name)) if cell.execution_count is None]
    assert unrun == []


@each_chapter
def test_the_parameters_are_those_of_the_experiment(name: str) -> None:
    values = notebooks.defaults(notebook(name))
    if is_plain(PROJECT, name):
        return  # what it assigns, the code that it shows checks
    experiment = parameters.experiment_class(PROJECT, name)
    known = {field.name for field in dataclasses.fields(experiment)}
    assert set(values) - {WORKERS} == known - {WORKERS}
    if known:
        default = experiment()
        assert {key: values[key] for key in known} == {key: plain(getattr(default, key)) for key in known}


@each_chapter
def test_verdict_cells_are_checked_by_nbval(name: str) -> None:
    cells = judging(name)
    assert [cell.source for cell in cells if not is_checked(cell)] == []
    assert [cell.source for cell in cells if not cell.outputs] == []


@each_chapter
def test_a_chapter_that_judges_has_verdicts(name: str) -> None:
    assert bool(judging(name)) == place(PROJECT.book, name).verdicts.is_file()


@pytest.mark.parametrize("preset", sorted(path.stem for path in (PROJECT.book / "presets").glob("*.yml")))
def test_a_preset_is_admissible(preset: str) -> None:
    assert set(parameters.resolve_preset(PROJECT, preset, NAMES)) == set(NAMES)


def test_verdicts_belong_to_chapters_of_the_contents() -> None:
    known = {place(PROJECT.book, name).verdicts for name in NAMES}
    assert set(PROJECT.book.rglob("verdicts.json")) - known == set()


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_text_is_what_the_library_makes_now(name: str) -> None:
    module, function = GENERATED[name]
    text = getattr(importlib.import_module(module.format(package=PROJECT.package)), function)(PROJECT.book)
    assert (PROJECT.book / name).read_text("utf-8") == text.rstrip() + "\n"
