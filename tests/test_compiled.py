"""Machine code that is kept on disk is never that of other source files."""

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
LIBRARY = str(Path(__file__).parents[1] / "lib")


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
