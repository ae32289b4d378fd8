"""Notebooks as documents: their parameters cell, what must not be committed, a note at the top."""

import ast
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from companion.build.project import BookError
from companion.showing import WORDS

PARAMETERS = "parameters"
FOLDED, HIDDEN = "hide-input", "remove-cell"  # what MyST-NB calls it
SHOWN = "shown-input"  # a cell whose code is what the page is about
LEADING = "figure-first"  # of these one whose figure stands first, and its code is one click away
RUN_TAGS = {"injected-parameters", "papermill-error-cell-tag"}
RUN_METADATA = ("papermill", "execution", "ExecuteTime")
LANGUAGE_FACTS = ("name", "file_extension", "mimetype", "pygments_lexer")
WARNING = re.compile(r"^\S.*?:\d+: (\w*Warning: .*)$", re.MULTILINE)  # behind the place in the code
LONGEST_LINE = 300  # letters of a line
TITLED = re.compile(r"\A(\*\*[^*]+\*\*)[:,]?\s+(\w)")  # the title of a caption, and how its next sentence begins
WIDGET = "application/vnd.jupyter.widget-view+json"


def read(path: Path) -> NotebookNode:
    """The notebook in a file, in format 4; a `BookError` where there is no such file, or it is no notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError) as error:
        raise BookError(f"{path} cannot be read as a notebook: {error}") from error


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook, making the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The notebook's code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell."""
    return list(cell.metadata.get("tags", []))


def parameters_cell(notebook: NotebookNode) -> NotebookNode | None:
    """The one cell tagged ``parameters``, if there is one; a `BookError` where there are several."""
    tagged = [cell for cell in code_cells(notebook) if PARAMETERS in tags(cell)]
    if len(tagged) > 1:
        raise BookError(f"only one cell may be tagged {PARAMETERS!r}, got {len(tagged)}")
    return tagged[0] if tagged else None


def assignments(source: str) -> dict[str, ast.expr]:
    """The value expression of each name that a parameters cell assigns; a `BookError` where it does anything else."""
    found: dict[str, ast.expr] = {}
    for statement in ast.parse(source).body:
        node: Any = statement if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        try:
            (target,) = getattr(node, "targets", None) or [node.target]
            ast.literal_eval(node.value)
            found[target.id] = node.value
        except (AttributeError, TypeError, ValueError):
            line = ast.unparse(statement)
            raise BookError(f"a parameters cell may contain only 'name = literal', got {line!r}") from None
    return found


def defaults(notebook: NotebookNode) -> dict[str, Any]:
    """The notebook's parameters and their values; none where it has no parameters cell."""
    cell = parameters_cell(notebook)
    return literals(cell.source) if cell else {}


def literals(source: str) -> dict[str, Any]:
    """The value of each name that a parameters cell assigns; a `BookError` as of `assignments`."""
    return {name: ast.literal_eval(value) for name, value in assignments(source).items()}


def with_values(source: str, values: Mapping[str, Any]) -> str:
    """A parameters cell with other values, by name, in place: layout and comments stay, as do the same values."""
    lines = [line.encode() for line in source.split("\n")]
    expressions = assignments(source)
    for name in reversed([name for name in expressions if name in values]):
        node = expressions[name]
        if repr(ast.literal_eval(node)) == repr(values[name]):
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [before + _literal(values[name]).encode() + after]
    return b"\n".join(lines).decode()


def with_parameters(notebook: NotebookNode, values: Mapping[str, Any]) -> NotebookNode:
    """A copy of the notebook whose parameters cell holds ``values``; its outputs are kept."""
    copy = deepcopy(notebook)
    cell = parameters_cell(copy)
    if cell is not None:
        cell.source = with_values(cell.source, values)
    return copy


def _literal(value: Any) -> str:
    from papermill.translators import PythonTranslator

    if isinstance(value, tuple):
        return f"tuple({_literal(list(value))})"
    return str(PythonTranslator.translate(value))


def scrubbed(notebook: NotebookNode) -> NotebookNode:
    """A copy of an executed notebook without a trace of the run: no times, paths, versions, widgets or warnings."""
    copy = deepcopy(notebook)
    language = copy.metadata.get("language_info", {})
    copy.metadata["language_info"] = {key: language[key] for key in LANGUAGE_FACTS if key in language}
    copy.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    copy.metadata.pop("widgets", None)
    for node in (copy, *copy.cells):
        for key in RUN_METADATA:
            node.metadata.pop(key, None)
    count = 0
    for cell in copy.cells:
        kept = [tag for tag in cell.metadata.pop("tags", []) if tag not in RUN_TAGS]
        if kept:
            cell.metadata["tags"] = kept
        if "outputs" in cell:
            kept = [output for output in cell.outputs if WIDGET not in output.get("data", {})]
            cell.outputs = [output for output in kept if not _is_stderr(output)]
        if cell.get("execution_count") is not None:
            count += 1
            for numbered in (cell, *(output for output in cell.outputs if output.output_type == "execute_result")):
                numbered.execution_count = count
    return copy


def stderr_lines(notebook: NotebookNode) -> Iterator[str]:
    """A line for each warning on the error stream, or how another text begins; each after the cell's number."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if _is_stderr(output):
                text = output.text.strip()
                for line in WARNING.findall(text) or text.splitlines()[:1] or [""]:
                    yield f"cell {index} wrote to stderr: {line[:LONGEST_LINE]}"


def _is_stderr(output: NotebookNode) -> bool:
    return bool(output.output_type == "stream" and output.name == "stderr")


def with_note(source: str, note: str) -> str:
    """A Markdown text with a note after its title, or at its top where it has none."""
    title = re.search(r"^# .*$", source, flags=re.MULTILINE)
    if title is None:
        return f"{note}\n\n{source}"
    return f"{source[: title.end()]}\n\n{note}\n{source[title.end() :]}"


def title(notebook: NotebookNode) -> str:
    """The title of the notebook's page; empty where it has none."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    found = re.search(r"^# (.*)$", prose, flags=re.MULTILINE)
    return found[1].strip() if found else ""


def captions(notebook: NotebookNode) -> dict[str, str]:
    """The caption of each figure that an executed notebook shows, by the figure's label."""
    return {words["name"]: words["caption"] for cell in code_cells(notebook) for words in _figures(cell)}


def _figures(cell: NotebookNode) -> list[dict[str, str]]:
    return [output.metadata[WORDS] for output in cell.outputs if WORDS in output.get("metadata", {})]


def for_readers(notebook: NotebookNode) -> NotebookNode:
    """An executed notebook as a page shows it: code folded, `SHOWN` excepted, figures with words, no parameters."""
    copy = deepcopy(notebook)
    for cell in code_cells(copy):
        own = tags(cell)
        if SHOWN not in own or LEADING in own:
            cell.metadata["tags"] = [*own, HIDDEN if PARAMETERS in own else FOLDED]
        cell.source = re.sub(r"^# NBVAL_\w+\n?", "", cell.source, flags=re.MULTILINE)
        if figures := _figures(cell):
            caption = TITLED.sub(lambda found: f"{found[1]} {found[2].upper()}", figures[-1]["caption"], 1)
            figure = {"caption": caption, "name": figures[-1]["name"]}
            prompt = {"code_prompt_show": "The code of this figure"} if LEADING in own else {}
            cell.metadata["mystnb"] = {"figure": figure, "image": {"alt": figures[-1]["alt"]}, **prompt}
    return copy
