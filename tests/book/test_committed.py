"""The committed chapters: fresh, clean, and in the shape of a page that answers first (DESIGN.md, *A page*)."""

import dataclasses
import importlib
import re
import sys

import pytest
from nbformat import NotebookNode
from nbval.plugin import find_comment_markers, find_metadata_tags

from companion.build import freshness, notebooks, parameters
from companion.build.build import CODE
from companion.build.parameters import PAPER, WORKERS
from companion.build.project import LEDGER, chapters, is_plain, place
from companion.build.staging import GENERATED
from companion.judging.claims import read_register
from companion.judging.findings import word_count
from companion.running import _source
from tests.each import each

from .conftest import OURS, committed_page, of_preset

NAMES = chapters(OURS)
MEASURED = [name for name in NAMES if not is_plain(OURS, name)]
CLAIMS = [claim for claim in read_register(OURS.claims).values() if not claim.pending]
JUDGING = sorted({claim.chapter for claim in CLAIMS})
MACHINE = re.compile(r"/home/|/root/|/Users/|/tmp/|/work/|site-packages|_build/|[A-Z]:\\\\|\bat 0x[0-9a-f]{4,}")
MOST_WORDS_BEFORE_A_FIGURE = 150

each_chapter = each("name", NAMES)
each_measured = each("name", [name for name in MEASURED if name != LEDGER])


def code_of(name: str) -> list[NotebookNode]:
    return notebooks.code_cells(committed_page(name))


def is_checked(cell: NotebookNode) -> bool:
    return ("check", True) in {*find_comment_markers(cell.source), *find_metadata_tags(cell.metadata)}


def plain(value: object) -> object:
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def texts(name: str) -> list[str]:
    outputs = [output for cell in code_of(name) for output in cell.outputs]
    data = [text for output in outputs for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return [str(text) for text in data] + [output.text for output in outputs if "text" in output]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="committed outputs belong to the reference, Python 3.11")
def test_every_committed_chapter_is_fresh() -> None:
    values = of_preset(PAPER)
    with _source.remembered(OURS.build / CODE):
        now = {name: freshness.inputs(OURS, name, values[name], OURS.book, real=True) for name in NAMES}
    reasons = {name: freshness.why_stale(place(OURS.book, name), expected) for name, expected in now.items()}
    assert {name: reason for name, reason in reasons.items() if reason} == {}, "run `make refresh`"


@each_chapter
def test_a_committed_chapter_was_executed_and_shows_no_trace_of_its_run(name: str) -> None:
    committed = committed_page(name)
    assert [cell.source for cell in code_of(name) if cell.execution_count is None] == []
    assert notebooks.scrubbed(committed) == committed
    assert list(notebooks.stderr_lines(committed)) == []
    assert [found.group() for text in texts(name) for found in MACHINE.finditer(text)] == []


@each_chapter
def test_no_formula_has_both_lines_and_a_tag(name: str) -> None:
    """Sphinx puts a formula of several lines into ``split``, where MathJax refuses ``\\tag``."""
    prose = [cell.source for cell in committed_page(name).cells if cell.cell_type == "markdown"]
    displays = [formula for text in prose for formula in re.findall(r"\$\$(.+?)\$\$", text, re.S)]
    assert [formula for formula in displays if r"\\" in formula and r"\tag" in formula] == []


@each("name", MEASURED)
def test_the_parameters_are_those_of_the_experiment(name: str) -> None:
    values, experiment = notebooks.defaults(committed_page(name)), parameters.experiment_class(OURS, name)
    known = {field.name for field in dataclasses.fields(experiment)}
    assert set(values) - {WORKERS} == known - {WORKERS}
    if known:
        default = experiment()
        assert {key: values[key] for key in known} == {key: plain(getattr(default, key)) for key in known}


@each_chapter
def test_a_chapter_that_judges_has_verdicts_whose_cells_nbval_compares(name: str) -> None:
    judging = [cell for cell in code_of(name) if ".judge(" in cell.source]
    assert bool(judging) == place(OURS.book, name).verdicts.is_file()
    assert [cell.source for cell in judging if not is_checked(cell) or not cell.outputs] == []


@each_chapter
def test_each_figure_that_a_cell_draws_by_itself_is_committed(name: str) -> None:
    """A run that loses what Matplotlib shows at a cell's end leaves its caption without a figure."""
    named = [(cell.metadata["mystnb"]["figure"]["name"], cell) for cell in code_of(name) if "mystnb" in cell.metadata]
    drawn = {label for label, cell in named if any("image/svg+xml" in each.get("data", {}) for each in cell.outputs)}
    assert {label for label, _ in named} == drawn


@each_chapter
def test_nbval_compares_words_and_rounded_numbers_alone(name: str) -> None:
    """A coordinate of a picture and a table's last digit depend on the processor: only marked cells are compared."""
    for cell in code_of(name):
        drawn = any("image/svg+xml" in output.get("data", {}) for output in cell.outputs)
        if is_checked(cell):
            assert not drawn, cell.source
            said = "".join(output.get("text", "") for output in cell.outputs)
            assert not re.search(r"\d\.\d{7}|\.0*[1-9]\d{5}", said), said
        else:
            ignored = "nbval-ignore-output" in notebooks.tags(cell)
            assert ignored or not cell.outputs, f"this cell needs a tag of nbval: {cell.source}"


@pytest.mark.parametrize("preset", sorted(path.stem for path in (OURS.book / "presets").glob("*.yml")))
def test_a_preset_is_admissible(preset: str) -> None:
    assert set(of_preset(preset)) == set(NAMES)


def test_verdicts_belong_to_chapters_of_the_contents() -> None:
    assert {*OURS.book.rglob("verdicts.json")} <= {place(OURS.book, name).verdicts for name in NAMES}


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_text_is_what_the_library_makes_now(name: str) -> None:
    module, function = GENERATED[name]
    text = getattr(importlib.import_module(module.format(package=OURS.package)), function)(OURS.book)
    assert (OURS.book / name).read_text("utf-8") == text.rstrip() + "\n"


# the shape of a page


def markdown_of(cell: NotebookNode) -> str:
    """What a reader sees of a cell's prose: its source, or the Markdown that it printed."""
    if cell.cell_type == "markdown":
        return cell.source
    return "\n".join(output.get("data", {}).get("text/markdown", "") for output in cell.outputs)


def place_of(name: str, call: str) -> int:
    """The first cell that makes a call."""
    cells = enumerate(committed_page(name).cells)
    return next(i for i, cell in cells if cell.cell_type == "code" and call in cell.source)


@each_measured
def test_a_chapter_opens_with_its_question_its_answer_and_a_figure(name: str) -> None:
    opening, figure = place_of(name, ".opening()"), place_of(name, ".show(")
    assert opening < figure
    before = " ".join(markdown_of(cell) for cell in committed_page(name).cells[:figure])
    assert word_count(before) <= MOST_WORDS_BEFORE_A_FIGURE


@each("name", JUDGING)
def test_a_judging_chapter_leads_with_two_to_four_cards_after_its_figure(name: str) -> None:
    leading = place_of(name, ".leading(")
    assert leading == place_of(name, ".show(") + 1
    claimed = sum(claim.chapter == name for claim in CLAIMS)
    assert min(2, claimed) <= len(re.findall(r'"[\w.-]+"', committed_page(name).cells[leading].source)) <= 4
    assert place_of(name, ".judge()") > leading


@each_measured
def test_a_chapter_shows_its_parameters_and_what_can_be_taken_away(name: str) -> None:
    assert place_of(name, ".closing()") > 0
