"""Machine code that is kept on disk is never that of other source files."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from costofprivacy._compiled import compiled
from {package}.other import double

@compiled
def value(x: float) -> float:
    return double(x) + 1
"""
OTHER = """
from costofprivacy._compiled import compiled

@compiled
def double(x: float) -> float:
    return {factor} * x
"""
LIBRARY = str(Path(__file__).parents[2] / "lib")


def value(folder: Path) -> float:
    command = "from made import one; print(one.value(3.0))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), LIBRARY])}
    run = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=True)
    return float(run.stdout)


@pytest.mark.slow
def test_a_change_in_another_module_is_seen_and_the_old_code_is_swept(tmp_path: Path) -> None:
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(MODULE.format(package="made"))
    (package / "other.py").write_text(OTHER.format(factor=2.0))
    assert value(tmp_path) == 7.0
    assert value(tmp_path) == 7.0
    (package / "other.py").write_text(OTHER.format(factor=10.0))
    assert value(tmp_path) == 31.0
    assert len(list((package / "__pycache__").glob("compiled-*"))) == 1


def test_nothing_is_kept_where_nothing_can_be_written(tmp_path: Path) -> None:
    from costofprivacy import _compiled

    (tmp_path / "__pycache__").write_text("a file in the way")
    assert _compiled._folder(tmp_path) == ""


def test_the_estimators_are_there_before_numba_and_dp_accounting_are() -> None:
    late = "{'numba', 'dp_accounting'} & set(sys.modules)"
    command = [sys.executable, "-c", f"import sys, costofprivacy.estimators; print({late} or 'none')"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "none"


def test_no_compiled_function_assigns_an_array_to_a_slice() -> None:
    """Numba compiles an error message for it, which takes seconds: a number, or a loop."""
    found = []
    for path in Path(LIBRARY).rglob("*.py"):
        text = path.read_text("utf-8")
        for function in ast.walk(ast.parse(text)) if "@compiled" in text else ():
            if isinstance(function, ast.FunctionDef) and "compiled" in map(ast.unparse, function.decorator_list):
                found += [f"{path.name}: {ast.unparse(node)}" for node in ast.walk(function) if fills(node)]
    assert found == []


def fills(node: ast.AST) -> bool:
    """Whether a statement assigns something else than a number to a slice of an array."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    numbers = (ast.Constant, ast.Attribute, ast.Tuple)
    places = [leaf for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Subscript)]
    sliced = any(isinstance(leaf, ast.Slice) for place in places for leaf in ast.walk(place.slice))
    return sliced and not isinstance(node.value, numbers)
