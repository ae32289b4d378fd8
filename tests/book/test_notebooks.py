import pytest
from nbformat.v4 import new_output

from companion.build import notebooks
from companion.build.project import BookError
from tests.each import each

from .conftest import chapter

SOURCE = """N = [1000, 1500]  # prompts, ε
epsilon: list[float] = [
    0.2,  # small
    1.0,
]  # budgets
a = 1; b = "x"
"""


def test_values_are_replaced_where_they_stand_and_unchanged_ones_stay_as_they_are_written() -> None:
    values = {"N": [5], "epsilon": [0.5], "a": 2, "b": "y"}
    expected = 'N = [5]  # prompts, ε\nepsilon: list[float] = [0.5]  # budgets\na = 2; b = "y"\n'
    assert notebooks.with_values(SOURCE, values) == expected
    same = {"N": [1000, 1500], "epsilon": [0.2, 1.0], "a": 1, "b": "x"}
    assert notebooks.with_values(SOURCE, same) == SOURCE
    assert notebooks.defaults(chapter(SOURCE)) == same


@pytest.mark.parametrize("value", [float("inf"), -1e-5, None, True, [[1], ["a'\"b"]], {"k": 1.5}])
def test_a_replaced_value_is_the_value(value: object) -> None:
    scope: dict[str, object] = {}
    exec(notebooks.with_values("x = 0  # zero", {"x": value}), scope)
    assert scope["x"] == value


@each("source", ["x = 1 + y", "import os", "a, b = 1, 2", "x: int", "f(1)", "x += 1"])
def test_the_one_parameters_cell_holds_literals_only(source: str) -> None:
    notebook = chapter(source, "y = 1")
    with pytest.raises(BookError, match="may contain only 'name = literal'"):
        notebooks.defaults(notebook)
    notebook.cells[2].metadata["tags"] = ["parameters"]
    with pytest.raises(BookError, match="one cell"):
        notebooks.parameters_cell(notebook)


def test_with_parameters_keeps_outputs_and_leaves_the_original() -> None:
    notebook = chapter("x = 1", "x")
    notebook.cells[2].outputs = [new_output("stream", text="1")]
    changed = notebooks.with_parameters(notebook, {"x": 2})
    assert changed.cells[1].source == "x = 2"
    assert changed.cells[2].outputs == notebook.cells[2].outputs
    assert notebook.cells[1].source == "x = 1"


def test_scrubbing_leaves_no_trace_of_the_run() -> None:
    notebook = chapter("x = 1", "x")
    notebook.metadata["papermill"] = {"input_path": "runs/page.ipynb"}
    notebook.metadata["widgets"] = {}
    notebook.metadata["language_info"] = {"name": "python", "version": "3.11.4"}
    cell = notebook.cells[2]
    cell.metadata |= {"papermill": {"duration": 1}, "execution": {}, "tags": ["injected-parameters", "keep"]}
    cell.execution_count = 7
    cell.outputs = [new_output("execute_result", {"text/plain": "1"}, execution_count=7)]
    clean = notebooks.scrubbed(notebook)
    assert set(clean.metadata) == {"kernelspec", "language_info"}
    assert clean.metadata["language_info"] == {"name": "python"}
    assert clean.cells[2].metadata == {"tags": ["keep"]}
    assert clean.cells[2].execution_count == clean.cells[2].outputs[0].execution_count == 1
    assert notebooks.scrubbed(clean) == clean


def test_stderr_is_reported_by_cell() -> None:
    notebook = chapter("x = 1", "x")
    notebook.cells[2].outputs = [new_output("stream", name="stderr", text="Warning: odd\nmore")]
    assert list(notebooks.stderr_lines(notebook)) == ["cell 2 wrote to stderr: Warning: odd"]


def test_readers_see_no_machinery_and_each_picture_with_its_words() -> None:
    words = {"name": "a-rates", "caption": "It falls.", "alt": "From 2 to 1."}
    notebook = chapter("x = 1", "# NBVAL_CHECK_OUTPUT\nchapter.judge()", "chapter.show()")
    picture = new_output("execute_result", {"image/svg+xml": "<svg/>"}, metadata={"plate": words})
    notebook.cells[3].outputs = [picture]
    parameters, judged, shown = notebooks.for_readers(notebook).cells[1:]
    assert parameters.metadata["tags"] == ["parameters", "remove-cell"]
    assert judged.source == "chapter.judge()"
    assert judged.metadata["tags"] == ["hide-input"]
    assert "mystnb" not in judged.metadata
    expected = {"figure": {"caption": "It falls.", "name": "a-rates"}, "image": {"alt": "From 2 to 1."}}
    assert shown.metadata["mystnb"] == expected
    assert "mystnb" not in notebook.cells[3].metadata
