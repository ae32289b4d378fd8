"""The committed book, and a small one in a temporary folder: a chapter, a ledger, and a package that they import."""

import fcntl
import functools
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from companion.build import freshness, notebooks, rendering, staging
from companion.build.parameters import PAPER, resolve_preset
from companion.build.project import Project, chapters, place, toc_entries

NAME = "part/first-one"  # the small book's chapter
VALUES: dict[str, dict[str, object]] = {
    NAME: {"epsilon": [0.5, 1.0], "trials": 10, "workers": -1},
    "ledger": {"rows": 5},
}
OURS = Project(Path(__file__).parents[2])
Rewrite = Callable[[str, str, str], None]
NUMBERS = itertools.count()
for variable in [name for name in os.environ if name.startswith("GIT_")]:  # set where a hook of git runs the tests
    del os.environ[variable]
# Whole pages in a browser take longer than all other tests together: `make -f tests/maintain.mk browser` runs these.
collect_ignore = [] if os.environ.get("COSTOFPRIVACY_BROWSER") else ["test_browser.py"]

INSTALLED = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

EXPERIMENT = '''"""The first experiment."""

from dataclasses import dataclass

import numpy

from {package}.tools import double


@dataclass(frozen=True)
class Experiment:
    """Two parameters."""

    epsilon: list
    trials: int = 10

    def __post_init__(self):
        if self.trials < 1:
            raise ValueError(f"trials must be at least 1, got {{self.trials}}")

    def run(self):
        return [double(value) for value in self.epsilon]
'''
LEDGER_EXPERIMENT = """from dataclasses import dataclass


@dataclass(frozen=True)
class Experiment:
    rows: int = 5
"""
FIRST = {
    "parameters": "epsilon = [0.5, 1.0]  # ε, budgets\ntrials = 10\nworkers = -1  # all cores",
    "run": """import json, os
from pathlib import Path
from {package}.part.first_one.measure import Experiment
results = Path(os.environ["COSTOFPRIVACY_RESULTS"])
results.mkdir(parents=True, exist_ok=True)
values = Experiment(epsilon, trials).run()
(results / "figure-1.csv").write_text("value\\n" + "\\n".join(map(str, values)) + "\\n")""",
    "verdict": """# NBVAL_CHECK_OUTPUT
found = [{{"name": "trials", "value": trials, "error": trials}}]
entry = {{"claim": "part/theorem-1", "verdict": "holds", "consequence": "none", "numbers": found}}
entry |= {{"should_read": "", "condition": "", "vacuous": False}}
(results / "verdicts.json").write_text(json.dumps([entry]))
print(entry["claim"], entry["verdict"])""",
}
LEDGER = """# NBVAL_CHECK_OUTPUT
import json, os
from pathlib import Path
for path in sorted(Path(os.environ["COSTOFPRIVACY_BOOK"]).rglob("verdicts.json")):
    print(*[entry["verdict"] for entry in json.loads(path.read_text())])"""
FILES = {
    "lib/{package}/__init__.py": '"""A package."""\n',
    "lib/{package}/tools.py": '"""Tools."""\n\n\ndef double(value):\n    """Twice."""\n    return 2 * value\n',
    "lib/{package}/symbols.py": "def notation(root):\n    return f\"{len(list(root.rglob('verdicts.json')))} files\"\n",
    "lib/{package}/overview/__init__.py": "",
    "lib/{package}/overview/saved.py": "class Saved:\n    def __init__(self, tree):\n        self.tree = tree\n",
    "lib/{package}/overview/index.py": "def values(saved):\n    return {'files': str(len([*saved.tree.rglob('verdicts.json')]))}\n",  # noqa: E501
    "lib/{package}/ledger/measure.py": LEDGER_EXPERIMENT,
    "lib/{package}/part/first_one/show.py": '"""What is it?"""\n',
    "lib/{package}/part/first_one/measure.py": EXPERIMENT,
    "lib/{package}/part/first_one/judge.py": '"""Verdicts."""\n\nLIMIT = 1\n',
    "_toc.yml": "root: book/index\nchapters:\n- file: book/ledger\n- file: book/part/first-one\n",
    "_config.yml": "title: A book\nsphinx: {config: {html_static_path: [book/_static]}}\n",
    "requirements.txt": "numpy==2\nsphinx==7\n",
    "book/index.md": "# A book\n\n{{ files }} files.\n\n```{include} _notation.md\n```\n",
    "book/claims.yml": "claims:\n- {id: part/theorem-1, place: one, says: so, chapter: part/first-one}\n"
    "- {id: part/theorem-2, place: two, says: thus, chapter: part/two}\n",
    "book/columns.yml": "columns: {value: A number.}\nchapters: {part/two: {columns: {word: A word.}}}\n",
    "book/costs/chapters.csv": "chapter,seconds\npart/first-one,5\n",
    "book/presets/quick.yml": "part/first-one: {trials: 2}\n",
    "book/_static/book.css": "p {}\n",
}


@functools.cache
def committed_page(name: str) -> nbformat.NotebookNode:
    """A committed chapter, which nobody may change: reading one takes a twentieth of a second."""
    return notebooks.read(place(OURS.book, name).notebook)


@functools.cache
def of_preset(name: str) -> dict[str, dict[str, object]]:
    """The parameters of all chapters of the book at a preset."""
    return resolve_preset(OURS, name, chapters(OURS))


def chapter(*cells: str) -> nbformat.NotebookNode:
    """A notebook with a title, a parameters cell (the first given) and further code cells."""
    first = new_code_cell(cells[0], metadata={"tags": ["parameters"]})
    return new_notebook(cells=[new_markdown_cell("# A title\n\nProse."), first, *map(new_code_cell, cells[1:])])


def commit(project: Project) -> None:
    """Give the small book's chapters results and stamps, as `make refresh` leaves them."""
    for name, values in VALUES.items():
        target = place(project.book, name)
        target.results.mkdir(exist_ok=True)
        target.verdicts.write_text('[{"claim": "part/theorem-1", "verdict": "holds"}]')
        (target.results / "figure-1.csv").write_text("value\n1\n")
        made_from = freshness.inputs(project, name, values, project.book)
        freshness.write(target, made_from, ["figure-1.csv", "verdicts.json"])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The small book; its package is importable here and in kernels, under a name of its own."""
    package = f"smallbook{next(NUMBERS)}"
    for name, text in FILES.items():
        path = tmp_path / name.replace("{package}", package)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(package=package) if text is EXPERIMENT else text)
    (tmp_path / "book" / "part").mkdir()
    cells = [cell.format(package=package) for cell in FIRST.values()]
    nbformat.write(chapter(*cells), tmp_path / "book/part/first-one.ipynb")
    nbformat.write(chapter("rows = 5", LEDGER), tmp_path / "book/ledger.ipynb")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    return Project(tmp_path, package, package)


@pytest.fixture
def rewrite(project: Project) -> Rewrite:
    """Replace a text in a file of the small book."""

    def replace(name: str, old: str, new: str) -> None:
        path = project.root / name.replace("{package}", project.package)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return replace


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What looks at the rendered book is slow: rendering takes a minute."""
    for item in items:
        if "rendered" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@dataclass(frozen=True)
class Tested(Project):
    """The book, rendered for the tests into a folder of its own: ``_build/html`` may be the quick edition, or older."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "build", self.root / "_build" / "tested")


TESTED = Tested(OURS.root)


def addresses() -> list[str]:
    """The pages that the book should have, known before it is rendered: its contents, and what Sphinx makes."""
    written = [entry.removesuffix(".md") for entry in toc_entries(OURS)]
    return [f"{entry}.html" for entry in sorted([*written, "py-modindex", "search"])]


@pytest.fixture(scope="session")
def rendered() -> Path:
    """The folder of the rendered pages. The first process that asks renders them, the others wait for it."""
    TESTED.build.mkdir(parents=True, exist_ok=True)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"process {os.getpid()}")
    done = TESTED.build / "run"
    with (TESTED.build / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file() or done.read_text("utf-8") != run:
            done.unlink(missing_ok=True)
            pages = TESTED.build / "pages"
            staging.stage(TESTED, PAPER, TESTED.book, pages)
            rendering.render(TESTED, PAPER, pages, lambda _: None)
            done.write_text(run, "utf-8")
    return TESTED.build / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser without a window: Playwright's own or the system's."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        paths = [own if Path(own).is_file() else None, *map(shutil.which, INSTALLED)]
        path = next((path for path in paths if path), None)
        if path is None:
            pytest.skip("no browser: install chromium, or `.venv/bin/python -m playwright install chromium`")
        try:
            found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except Error as error:
            pytest.skip(f"{path} does not start: {error.message.splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose script errors and requests elsewhere fail the test."""
    found = browser.new_page()
    faults: list[str] = []
    found.on("pageerror", lambda error: faults.append(str(error)))
    found.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
    yield found
    found.close()
    assert faults == []
