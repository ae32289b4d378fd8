"""What an installed package brings along, that nothing slow is imported, and that compiled code is never stale."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from companion.running import _source
from costofprivacy.__main__ import main

ROOT = Path(__file__).parents[2]
# What `pip install` calls what is imported under another name.
DISTRIBUTIONS = {"IPython": "ipython", "sklearn": "scikit-learn", "yaml": "pyyaml", "vl_convert": "vl-convert-python"}
ELSEWHERE = {
    "diffprivlib",
    "opendp",
    "opacus",
    "torch",
}  # called in an environment of its own, by `companion.running.extras`


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, in a folder outside the project."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "site")
    return folder / "site"


def declared() -> dict[str, set[str]]:
    """The distributions that pyproject.toml declares: ``core``, and each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"core": project["dependencies"], **project["optional-dependencies"]}
    return {name: {re.split("[<>=]", line)[0].lower() for line in lines} for name, lines in groups.items()}


def imported(*modules: str) -> set[str]:
    """The distributions that modules import, with all that they import of this package."""
    found = {name for name in _source.libraries(modules) if name not in sys.stdlib_module_names}
    return {DISTRIBUTIONS.get(name, name.replace("_", "-").lower()) for name in found}


def modules(*parts: str) -> list[str]:
    """The dotted names of the files below some folders of ``lib``."""
    library = ROOT / "lib"
    files = [path for part in parts for path in sorted((library / part).rglob("*.py"))]
    return [".".join(path.relative_to(library).with_suffix("").parts).removesuffix(".__init__") for path in files]


@pytest.mark.slow
def test_all_that_is_imported_is_declared() -> None:
    groups = declared()
    assert imported(*modules("")) <= groups["core"] | groups["book"] | groups["cluster"] | groups["rivals"] | {"joblib"}


def test_the_library_declares_what_it_imports_and_no_more() -> None:
    groups = declared()
    assert groups["fast"] == {"numba"}
    assert imported(*modules("costofprivacy")) - ELSEWHERE == groups["core"] | groups["fast"]


FITS = """
import hashlib, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
if {blocked}:
    sys.modules["numba"] = sys.modules["matplotlib"] = None
from costofprivacy import estimators
late = {{"numba", "dp_accounting"}} & {{name for name, module in sys.modules.items() if module}}
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (300, 4))
y = X @ [0.5, -0.3, 0.1, 0.0] + 0.1 * rng.standard_normal(300)
stated = dict(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), response_bounds=(-2, 2), random_state=0)
models = {models}
print(*[hashlib.sha256(model.fit(X, y).coef_.tobytes()).hexdigest() for model in models], "numba" in sys.modules, *late)
"""
QUICK = "[estimators.DPGDRegressor(**stated, clip=1.0, learning_rate=0.02, schedule='constant')]"
WHOLE = "[getattr(estimators, name)(**stated) for name in ('DPGDRegressor', 'ObjectivePerturbationRegressor')]"


@pytest.mark.parametrize("models", [QUICK, pytest.param(WHOLE, marks=pytest.mark.slow)])
def test_releases_are_the_same_without_compiled_code(models: str) -> None:
    """The extras bring speed and figures alone; without a fit neither Numba nor dp-accounting is imported."""
    with_numba, without = (
        subprocess.run(
            [sys.executable, "-c", FITS.format(blocked=blocked, models=models)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "lib")},
        ).stdout.split()
        for blocked in (False, True)
    )
    assert with_numba[-1] == "True"
    assert with_numba[:-1] == without[:-1]


def test_the_book_brings_the_cluster_not_along() -> None:
    assert declared()["cluster"] == {"distributed"}
    assert not {"distributed", "dask"} & (declared()["core"] | declared()["book"])


@pytest.mark.slow
def test_importing_privacy_adds_nothing_slow_to_dp_accounting(installed: Path) -> None:
    source = f"import sys; sys.path.insert(0, {str(installed)!r}); import dp_accounting; known = set(sys.modules)"
    source += "; import costofprivacy.privacy; print(*set(sys.modules) - known)"
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, cwd=installed, capture_output=True, text=True, check=True)
    added = {name.partition(".")[0] for name in done.stdout.split()}
    assert "costofprivacy" in added
    assert added - {"costofprivacy"} <= set(sys.stdlib_module_names)


def test_the_wheel_is_the_library_alone(installed: Path) -> None:
    assert {path.name for path in installed.iterdir() if path.suffix != ".dist-info"} == {"costofprivacy"}
    ours, theirs = (
        {
            path.relative_to(root).as_posix()
            for path in root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        for root in (ROOT / "lib" / "costofprivacy", installed / "costofprivacy")
    )
    assert theirs == ours


def test_an_installation_tests_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Outside the project, where everything is compiled anew, the workflow `release` does this."""
    assert main(["self-test"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    said = r"costofprivacy \S+ works under Python \S+: a private fit at epsilon = 1 has R2 = 0\.\d\d"
    assert re.fullmatch(said, line), line


@pytest.mark.parametrize("fit", [(0.1, 1.0), (0.9, 1.1), (float("nan"), 1.0)])
def test_an_installation_that_fits_badly_fails_its_test(
    fit: tuple[float, float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("costofprivacy.__main__.self_test", lambda: fit)
    assert main(["self-test"]) == 1
    assert capsys.readouterr().err.startswith("error: a private fit at epsilon = 1 explains R2 = ")


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


def test_no_compiled_function_assigns_an_array_to_a_slice_or_sorts() -> None:
    """Numba compiles an error message for the one, and all of NumPy's sorting for the other: a number, or a loop."""
    found = []
    for path in Path(LIBRARY).rglob("*.py"):
        text = path.read_text("utf-8")
        for function in ast.walk(ast.parse(text)) if "@compiled" in text else ():
            if isinstance(function, ast.FunctionDef) and "compiled" in map(ast.unparse, function.decorator_list):
                found += [f"{path.name}: {ast.unparse(node)}" for node in ast.walk(function) if fills(node)]
    assert found == []


SORTING = {f"np.{name}" for name in ("argsort", "interp", "median", "partition", "quantile", "sort", "unique")}


def fills(node: ast.AST) -> bool:
    """Whether a statement assigns something else than a number to a slice of an array, or a call sorts one."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in SORTING:
        return True
    targets = node.targets if isinstance(node, ast.Assign) else []
    numbers = (ast.Constant, ast.Attribute, ast.Tuple)
    places = [leaf for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Subscript)]
    sliced = any(isinstance(leaf, ast.Slice) for place in places for leaf in ast.walk(place.slice))
    return sliced and not isinstance(node.value, numbers)
