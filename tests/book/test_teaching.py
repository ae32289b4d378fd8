"""Pages that teach: each derives its central quantity, runs it by hand and asks; code of tutorials and figures runs."""

import ast
import contextlib
import importlib
import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest

from chapters.your_data import show
from companion.build import notebooks
from companion.build.project import LEDGER, chapters, is_plain
from companion.judging.prose import DIFFERENT
from companion.running.stamps import read_table
from companion.showing import live
from costofprivacy.estimators import PrivateLinearRegression, Schema, boolean, number
from tests.each import each

from .conftest import OURS, committed_page

NO_LESSON = {LEDGER, "method", "explore/noisyhead", "explore/dpgd"}  # a calculator, toys, an index
NAMES = [name for name in chapters(OURS) if name not in NO_LESSON and not is_plain(OURS, name)]
BY_HAND, EXERCISES = "## One run, by hand", "## Exercises"
SOLUTION = re.compile(r"~~~python\n(?P<code>.*?)~~~\n+~~~text\n(?P<said>.*?)~~~", re.DOTALL)

each_chapter = each("name", NAMES)


def part(name: str, heading: str) -> list[nbformat.NotebookNode]:
    """The cells of a section, from its heading to the next one of its kind."""
    found: list[nbformat.NotebookNode] = []
    inside = False
    for cell in committed_page(name).cells:
        if cell.cell_type == "markdown" and re.search(r"^## ", cell.source, re.MULTILINE):
            inside = bool(re.search(rf"^{heading}", cell.source, re.MULTILINE))
        if inside:
            found.append(cell)
    assert found, f"{name} has no section {heading!r}"
    return found


def by_hand(name: str) -> list[nbformat.NotebookNode]:
    """The cells whose code the reader sees and changes."""
    code = [cell for cell in part(name, BY_HAND) if cell.cell_type == "code"]
    return [cell for cell in code if {"shown-input", "figure-first"} & {*notebooks.tags(cell)} == {"shown-input"}]


@each_chapter
def test_its_number_is_that_of_the_chapters_table(name: str) -> None:
    told = [cell for cell in part(name, BY_HAND) if cell.cell_type == "code" and "chapter.relate(" in cell.source]
    assert told
    for cell in told:
        said = "".join(output.get("data", {}).get("text/markdown", "") for output in cell.outputs)
        assert said.startswith("By hand: ")
        assert DIFFERENT not in said


def solved(source: str, code: str) -> int:
    """The solutions in a text, each of which prints what it says after some code."""
    known: dict[str, Any] = {}
    solutions = list(SOLUTION.finditer(source))
    if solutions:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, known)
    for solution in solutions:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(solution["code"], known)
        assert said.getvalue() == solution["said"]
    return len(solutions)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:.*non-interactive:UserWarning")
def test_there_are_two_exercises_whose_solutions_say_what_they_print(name: str) -> None:
    source = "\n\n".join(cell.source for cell in part(name, EXERCISES))
    assert len(re.findall(r"^\*\*Exercise \d\.\*\*", source, re.MULTILINE)) >= 2
    assert len(re.findall(r"^`{3,}\{dropdown\} Solution", source, re.MULTILINE)) >= 2
    solved(source, "\n".join(cell.source for cell in by_hand(name)))


@pytest.mark.filterwarnings("ignore:.*non-interactive:UserWarning")
def test_the_solutions_for_readers_new_to_privacy_say_what_they_print() -> None:
    page = committed_page("privacy/from-scratch")
    code = [cell.source for cell in notebooks.code_cells(page) if cell.id == "parameters" or "def " in cell.source]
    assert solved(page.cells[-1].source, "\n".join(code)) == 4


def used(cells: list[nbformat.NotebookNode], how: type[ast.expr_context]) -> set[str]:
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell.source))]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, how)}


@each_chapter
def test_it_changes_no_name_that_a_later_cell_reads(name: str) -> None:
    shown, code = by_hand(name), notebooks.code_cells(committed_page(name))
    own = {cell.source for cell in part(name, BY_HAND)}
    after = [cell for cell in code[code.index(shown[-1]) + 1 :] if cell.source not in own]
    read = {found for cell in after for found in used([cell], ast.Load) - used([cell], ast.Store)}
    assert not used(shown, ast.Store) & read


# the tutorial and its examples

TUTORIAL, EXAMPLES = "your-data", ("examples/categories", "examples/heavy-tails", "examples/streams")
WIDTH = 79  # letters of code in a line, at which nothing is cut on a laptop
RECORDS = 2000


@each("name", (TUTORIAL, *EXAMPLES))
def test_no_interval_that_is_shown_is_empty(name: str) -> None:
    said = "".join(
        output.get("text", "") for cell in notebooks.code_cells(committed_page(name)) for output in cell.outputs
    )
    assert not re.search(r"(coef|coefficient).*\n(.*\n)*?\S+.* NaN +NaN", said)


def blocks(name: str) -> list[str]:
    """The blocks of Python in a page's text."""
    prose = "\n".join(cell.source for cell in committed_page(name).cells if cell.cell_type == "markdown")
    return re.findall(r"^```python\n(.*?)^```", prose, re.DOTALL | re.MULTILINE)


def code(name: str, words: str) -> str:
    """The one cell of code, or block in the text, that has these words."""
    cells = [cell.source for cell in notebooks.code_cells(committed_page(name))]
    (found,) = [text for text in [*blocks(name), *cells] if words in text]
    return found


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A survey, also as a file in the current folder."""
    table = show.draw(RECORDS, rng=np.random.default_rng(1))
    table.to_csv(tmp_path / "people.csv", index=False, date_format="%d/%m/%Y")
    monkeypatch.chdir(tmp_path)
    return table


@pytest.mark.filterwarnings("ignore:there are no intervals for:costofprivacy.estimators.tabular.NoIntervalWarning")
def test_the_script_for_an_untidy_file_needs_nothing_else(
    people: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    untidy = pd.read_csv("people.csv", dtype=str)
    untidy.loc[:49, "age"], untidy.loc[50:99, "region"], untidy.loc[100:149, "pressure"] = "999", "nroth", ""
    patient = pd.Series(np.arange(10 * RECORDS) // 4).where(np.arange(10 * RECORDS) > 40, "")  # ten have no identifier
    pd.concat([untidy] * 10).assign(patient=patient.to_numpy()).to_csv("people.csv", index=False)
    exec(blocks(TUTORIAL)[0], values := {})
    printed = capsys.readouterr().out
    assert f"fitted to {10 * len(people)} records of 7 features" in printed
    report = values["schema"].read_report(values["people"])
    assert report["unreadable"].sum() == 0 < report["empty"].sum()
    assert report.loc["age", "outside"] == 500
    assert set(values["people"]["region"]) == {*show.REGIONS, show.ABROAD}  # the misspelt ones are repaired
    assert "Columns of the table, as they were stated (6)" in printed
    assert "Software: python" in printed
    sure = values["schema"].coefficients(values["model"].intervals(1 - 1e-6)).set_index("feature").loc["age"]
    assert sure["low"] < show.EFFECTS["age"] < sure["high"]  # the script has no seed, as a release has none
    exec(blocks(TUTORIAL)[1], values)
    assert "to the records of 4990 units (column 'patient')" in capsys.readouterr().out
    assert max(map(len, blocks(TUTORIAL)[0].splitlines())) < WIDTH


def test_the_code_for_a_stream_of_patients_leaves_four_records_of_each(people: pd.DataFrame) -> None:
    columns = {"age": number(18, 90, typical=50, std=16), "bmi": number(15, 50, typical=27, std=5)}
    schema = Schema(columns, response={"pressure": number(80, 200, typical=125, std=15)})
    people["patient"] = np.arange(len(people)) // 6
    people.to_csv("people.csv", index=False)
    values = {"PrivateLinearRegression": PrivateLinearRegression, "schema": schema, "np": np}
    exec(code(TUTORIAL, "epsilon = 1.0  #"), values)
    exec(code("examples/streams", "defaultdict").replace("1_000_000", f"{len(people)}"), values)
    kept = [~np.isnan(y) for _, y in values["batches"]()]  # type: ignore[operator]
    assert np.bincount(people["patient"], np.concatenate(kept)).max() == 4
    assert "a stream that must hold at most 4 records" in str(values["streamed"].receipt()).replace("\n  ", " ")  # type: ignore[attr-defined]


def test_the_code_for_a_german_file_reads_it(people: pd.DataFrame) -> None:
    people.assign(bmi="27,5", smoker="JA").to_csv("people.csv", sep=";", index=False)
    values: dict[str, Any] = {"pd": pd}
    exec(code("examples/categories", 'sep=";"'), values)
    told = {"bmi": number(15, 50), "smoker": boolean()}
    report = Schema(told).read_report(values["people"][list(told)])
    assert (report["read"] == len(people)).all()


def test_an_interval_of_a_prediction_behind_a_schema_is_as_the_page_says(people: pd.DataFrame) -> None:
    columns = {"age": number(18, 90, typical=50, std=16), "bmi": number(15, 50, typical=27, std=5)}
    schema = Schema(columns, response={"pressure": number(80, 200, typical=125, std=15)})
    asked = {"epsilon": 1.0, "delta": 1e-6, "interval_share": 0.3, "random_state": 0} | schema.public()
    X, y = schema.read(people)
    values = {"model": PrivateLinearRegression(**asked).fit(X, y), "schema": schema, "new": people[:7]}
    read, told = code("examples/categories", "predict_interval(reader").splitlines()
    exec(read, values)
    low, high = eval(told, values).T
    answers = values["model"].predict(X[:7])  # type: ignore[attr-defined]
    assert ((low < answers) & (answers < high)).all()


DRAWN = "chapter.show("


def cells() -> list[tuple[str, str]]:
    """Each cell in sight that draws, with its chapter's name."""
    return [
        (name, cell.source)
        for name in chapters(OURS)
        for cell in notebooks.code_cells(notebooks.read(OURS.book / f"{name}.ipynb"))
        if notebooks.SHOWN in notebooks.tags(cell) and DRAWN in cell.source
    ]


def drawing(name: str, code: str) -> tuple[np.ndarray, str]:
    """The picture that a cell draws of the committed tables, in pixels, and its caption."""
    shown: list[Any] = []
    names = {
        "tables": {path.stem: read_table(path) for path in (OURS.book / name).glob("*.csv")},
        "show": importlib.import_module(f"chapters.{name.replace('/', '.').replace('-', '_')}.show"),
        "chapter": SimpleNamespace(show=lambda *given: shown.extend(given)),
    }
    exec(code, names)
    _, drawn, caption = shown
    drawn.figure.set_dpi(30)
    drawn.figure.canvas.draw()
    pixels = np.asarray(drawn.figure.canvas.buffer_rgba()).copy()
    plt.close("all")
    return pixels, caption


@pytest.mark.parametrize(
    ("name", "code"),
    [pytest.param(*cell, marks=pytest.mark.slow if n else (), id=f"{cell[0]}-{n}") for n, cell in enumerate(cells())],
)
def test_a_figure_of_the_paper_changes_with_its_code(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "look", lambda: None)
    assert len(code.splitlines()) <= 30
    pixels, caption = drawing(name, code)
    assert caption.startswith("**")
    changed = code.replace('"log"', '"linear"') if '"log"' in code else re.sub(r'label=r?"', r"\g<0>my ", code)
    assert not np.array_equal(drawing(name, changed)[0], pixels)
