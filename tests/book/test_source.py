from collections.abc import Callable
from pathlib import Path

import pytest

from costofprivacy import _source
from costofprivacy.book.project import Project

Rewrite = Callable[[str, str, str], None]
TOOLS = "lib/{package}/tools.py"


@pytest.fixture
def experiment(project: Project) -> str:
    return f"{project.package}.experiments.part.first_one.experiment"


def test_closure_holds_imports_and_the_packages_around_them(project: Project, experiment: str) -> None:
    package = project.package
    around = {package, f"{package}.experiments", f"{package}.experiments.part", experiment.rpartition(".")[0]}
    assert set(_source.closure([experiment])) == {experiment, f"{package}.tools", *around}


def test_closure_follows_relative_imports(project: Project, experiment: str) -> None:
    folder = project.root / "lib" / project.package
    (folder / "extra.py").write_text("from . import tools\nfrom .experiments.part.first_one import experiment as f\n")
    found = _source.closure([f"{project.package}.extra"])
    assert {f"{project.package}.tools", experiment} <= set(found)
    assert found[experiment] == folder / "experiments/part/first_one/experiment.py"


def test_closure_of_no_module_is_refused(project: Project) -> None:
    with pytest.raises(ValueError, match=r"modules must name modules with a source file, got '.*nothing'"):
        _source.closure([f"{project.package}.nothing"])


@pytest.mark.parametrize(("old", "new"), [("2 * value", "3 * value"), ("double(value)", "double(value, /)")])
def test_digest_changes_with_imported_code(experiment: str, rewrite: Rewrite, old: str, new: str) -> None:
    before = _source.digest([experiment])
    rewrite(TOOLS, old, new)
    assert _source.digest([experiment]) != before


@pytest.mark.parametrize(
    ("old", "new"), [('"""Twice."""', '"""Two times."""'), ("2 * value", "(2 * value)  # so"), ("\n\n\n", "\n")]
)
def test_digest_ignores_docstrings_comments_and_layout(experiment: str, rewrite: Rewrite, old: str, new: str) -> None:
    before = _source.digest([experiment])
    rewrite(TOOLS, old, new)
    assert _source.digest([experiment]) == before


def test_digest_ignores_modules_that_are_not_imported(project: Project, experiment: str) -> None:
    before = _source.digest([experiment])
    (project.root / "lib" / project.package / "other.py").write_text("x = 1\n")
    assert _source.digest([experiment]) == before


FIXED = """def f(x: int = 1, *a, **k) -> str:
    g = lambda y: y or None
    return f"{x:>3} {x!r:{x}}" + str(None) + f"a{1.0}" "b" + ""
"""


def test_digest_is_the_same_under_every_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fixed").mkdir()
    (tmp_path / "fixed" / "__init__.py").write_text(FIXED)
    monkeypatch.syspath_prepend(tmp_path)
    assert _source.digest(["fixed"]).startswith("538cb97660d33de8")
