from pathlib import Path

import pytest

from companion.build.project import Project
from companion.running import _source
from tests.trees import write_tree

from .conftest import Rewrite

TOOLS = "lib/{package}/tools.py"


@pytest.fixture
def experiment(project: Project) -> str:
    return f"{project.package}.part.first_one.measure"


def test_closure_holds_imports_relative_ones_too_and_the_packages_around_them(
    project: Project, experiment: str
) -> None:
    package, folder = project.package, project.root / "lib" / project.package
    assert set(_source.closure([experiment])) == {experiment, f"{package}.tools", package}
    (folder / "extra.py").write_text("from . import tools\nfrom .part.first_one import measure as f\n")
    found = _source.closure([f"{package}.extra"])
    assert {f"{package}.tools", experiment} <= set(found)
    assert found[experiment] == folder / "part/first_one/measure.py"
    with pytest.raises(ValueError, match=r"modules must name modules with a source file, got '.*nothing'"):
        _source.closure([f"{package}.nothing"])


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("2 * value", "3 * value", True),
        ("double(value)", "double(value, /)", True),
        ('"""Twice."""', '"""Two times."""', False),
        ("2 * value", "(2 * value)  # so", False),
        ("\n\n\n", "\n", False),
    ],
)
def test_digest_changes_with_imported_code_but_not_with_docstrings_comments_layout_and_other_modules(
    project: Project, experiment: str, rewrite: Rewrite, old: str, new: str, changes: bool
) -> None:
    before = _source.digest([experiment])
    (project.root / "lib" / project.package / "other.py").write_text("x = 1\n")
    rewrite(TOOLS, old, new)
    assert (_source.digest([experiment]) != before) == changes


def test_what_was_read_once_is_not_parsed_again_until_the_file_changes(
    experiment: str, rewrite: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, parsed, parse = tmp_path / "code.json", list[object](), _source.ast.parse
    monkeypatch.setattr(_source.ast, "parse", lambda source: parsed.append(source) or parse(source))

    def digest() -> str:
        monkeypatch.setattr(_source, "_KNOWN", {})  # as in a new process
        parsed.clear()
        with _source.remembered(file):
            return _source.digest([experiment])

    first, count = digest(), len(parsed)
    assert (digest(), len(parsed)) == (first, 0)
    rewrite(TOOLS, "2 * value", "30 * value")
    assert digest() != first
    assert len(parsed) == 1
    file.write_text(file.read_text().replace(_source.sys.version.split()[0], "3.0"))
    digest()
    assert len(parsed) == count > 1
    file.write_text("{")
    digest()
    assert len(parsed) == count


FIXED = """def f(x: int = 1, *a, **k) -> str:
    g = lambda y: y or None
    return f"{x:>3} {x!r:{x}}" + str(None) + f"a{1.0}" "b" + ""
"""


def test_digest_is_the_same_under_every_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed" / "__init__.py").write_text(FIXED)
    monkeypatch.syspath_prepend(tmp_path)
    assert _source.digest(["fixed"]).startswith("538cb97660d33de8")


# definition by definition

PIECES = {
    "__init__.py": "",
    "maths.py": """
import math
from os import path
from . import deep
LIMIT = 3
def used(x):
    return helper(x) + math.sqrt(LIMIT)
def helper(x):
    return deep.root(x)
def unused(x):
    return 7 * x
class Model:
    def size(self):
        return LIMIT
""",
    "deep.py": """
from .names import Kind as Sort
TABLE = {}
TABLE["a"] = 1
TABLE.update(b=1)
def root(x: Sort):
    return x
def other():
    return 0
""",
    "names.py": """
class Kind:
    depth = 1
class Unkind:
    depth = 2
""",
    "folder/leaf.py": """
def grown(x):
    return 5 * x
""",
    "front.py": """
from .maths import used as shown
from .folder import leaf
from . import maths
def by_name(x):
    return shown(x)
def by_module(x):
    return maths.used(x)
def passed_on():
    return vars(maths)
def from_a_folder():
    return vars(leaf)
def missing():
    return maths.nothing
""",
}


@pytest.fixture
def pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rewrite:
    """A package in pieces; returns a function that replaces a text in one of its files."""
    folder = tmp_path / "pieces"
    write_tree(folder, PIECES)
    monkeypatch.syspath_prepend(tmp_path)

    def replace(file: str, old: str, new: str) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return replace


class Named:
    """Stands for a function or a class of the pieces; nothing of them is imported."""

    def __init__(self, module: str, name: str) -> None:
        self.__module__, self.__qualname__ = f"pieces.{module}", name


@pytest.mark.parametrize("name", ["by_name", "by_module"])
@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("maths.py", "LIMIT = 3", "LIMIT = 4", True),
        ("maths.py", "math.sqrt", "math.cbrt", True),
        ("maths.py", "deep.root(x)", "deep.root(2 * x)", True),
        ("maths.py", "7 * x", "8 * x", False),
        ("maths.py", "return LIMIT", "return 2 * LIMIT", False),
        ("deep.py", "    return x", "    return -x", True),
        ("deep.py", "    return 0", "    return 1", False),
        ("deep.py", 'TABLE["a"] = 1', 'TABLE["a"] = 2', True),
        ("deep.py", "update(b=1)", "update(b=2)", True),
        ("names.py", "depth = 1", "depth = 3", True),
        ("names.py", "depth = 2", "depth = 3", False),
        ("front.py", "return vars", "return dir", False),
        ("maths.py", "def helper(x):", 'def helper(x):\n    """Helps."""', False),
    ],
)
def test_a_function_depends_on_the_definitions_that_it_uses(
    pieces: Rewrite, name: str, file: str, old: str, new: str, changes: bool
) -> None:
    before = _source.digest_of(Named("front", name))
    pieces(file, old, new)
    assert (_source.digest_of(Named("front", name)) != before) == changes


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("passed_on", "maths.py", "7 * x", "8 * x"),
        ("missing", "maths.py", "7 * x", "8 * x"),
        ("from_a_folder", "folder/leaf.py", "5 * x", "8 * x"),
    ],
)
def test_a_module_used_as_a_whole_counts_as_a_whole(pieces: Rewrite, name: str, file: str, old: str, new: str) -> None:
    before = _source.digest_of(Named("front", name))
    pieces(file, old, new)
    assert _source.digest_of(Named("front", name)) != before


def test_a_class_counts_with_its_methods_and_each_object_counts(pieces: Rewrite) -> None:
    model, root = Named("maths", "Model"), Named("deep", "root")
    before = _source.digest_of(model), _source.digest_of(root), _source.digest_of(model, root)
    assert len(set(before)) == 3
    pieces("maths.py", "return LIMIT", "return 2 * LIMIT")
    after = _source.digest_of(model), _source.digest_of(root), _source.digest_of(root, model)
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, False, True]
