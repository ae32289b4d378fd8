"""What an installed package brings along: its metadata, the results of the book, and nothing that is slow to import."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import costofprivacy
from companion import published
from companion.running import _source
from costofprivacy.__main__ import main

ROOT = Path(__file__).parents[2]
NAME = "noisyhead/low-dimensional"
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
    base = ["build", "--build-base", str(folder / "build"), "egg_info", "--egg-base", str(folder)]
    command = [sys.executable, "setup.py", "--quiet", *base, "bdist_wheel", "--dist-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, *command: str) -> str:
    """What a process prints that knows the installed package and not the project."""
    here = f"import sys; sys.path.insert(0, {str(installed)!r}); "
    source = here + command[0] if len(command) == 1 else here + f"sys.argv = {list(command)!r}; {RUN_MAIN}"
    done = subprocess.run([sys.executable, "-c", source], cwd=installed, capture_output=True, text=True, check=True)
    return done.stdout


RUN_MAIN = "import runpy; runpy.run_module('costofprivacy', run_name='__main__')"


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
    """The dotted names of the files below some parts of the package."""
    library = ROOT / "lib"
    files = [path for part in parts for path in sorted((library / "costofprivacy" / part).rglob("*.py"))]
    return [".".join(path.relative_to(library).with_suffix("").parts).removesuffix(".__init__") for path in files]


@pytest.mark.slow
def test_all_that_is_imported_is_declared() -> None:
    groups = declared()
    assert imported(*modules("")) <= groups["core"] | groups["book"] | groups["cluster"] | groups["rivals"] | {"joblib"}


def test_methods_experiments_and_results_need_no_extra() -> None:
    measured = [name for name in modules("experiments") if name.endswith(".experiment") and ".ledger" not in name]
    names = [*modules("privacy", "noisyhead", "dpgd", "estimators"), *measured, "companion.published"]
    assert imported(*names, "costofprivacy.datasets", "companion.running.blocks") - ELSEWHERE <= declared()["core"]
    assert imported("companion.running.montecarlo") <= declared()["core"] | declared()["cluster"]


def test_the_book_brings_the_cluster_not_along() -> None:
    assert declared()["cluster"] == {"distributed"}
    assert not {"distributed", "dask"} & (declared()["core"] | declared()["book"])


@pytest.mark.slow
def test_importing_privacy_adds_nothing_slow_to_dp_accounting(installed: Path) -> None:
    source = "import dp_accounting; known = set(sys.modules); import costofprivacy.privacy"
    source += "; print(*set(sys.modules) - known)"
    added = {name.partition(".")[0] for name in run(installed, source).split()}
    assert "costofprivacy" in added
    assert added - {"costofprivacy"} <= set(sys.stdlib_module_names)


def test_results_are_read_outside_the_project(installed: Path) -> None:
    source = (
        f"import costofprivacy; r = costofprivacy.results({NAME!r}); print(r['figure-1'].to_csv(index=False), end='')"
    )
    assert run(installed, source) == published.results(NAME)["figure-1"].to_csv(index=False)


def test_an_installation_tests_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Outside the project, where everything is compiled anew, the workflow `release` does this."""
    assert main(["self-test"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = re.fullmatch(
        r"costofprivacy \S+ works under Python \S+: a private fit at epsilon = 1 has R2 = 0\.\d\d; "
        r"(\d+) tables and (\d+) findings on (\d+) claims are readable",
        line,
    )
    assert told, line
    found = [published.results(name) for name in published.chapters()]
    assert int(told[1]) == sum(map(len, found))
    assert int(told[2]) == sum(len(each.findings) for each in found)


def test_an_installed_package_holds_what_the_book_committed(installed: Path) -> None:
    shipped = installed / "costofprivacy" / "_book"
    patterns = ("**/*.csv", "**/verdicts.json", "claims.yml", "columns.yml")
    files = [path for pattern in patterns for path in shipped.glob(pattern)]
    committed = [path for pattern in patterns for path in (ROOT / "book").glob(pattern)]
    assert len(files) == len(committed)
    assert {"claims.yml", "columns.yml"} <= {path.name for path in files}
    assert all(path.read_bytes() == (ROOT / "book" / path.relative_to(shipped)).read_bytes() for path in files)
    assert (installed / "costofprivacy" / "showing" / "book.mplstyle").is_file()
    assert (installed / "costofprivacy" / "judging" / "verdicts.schema.json").is_file()


def test_results_are_a_mapping_of_tables_with_verdicts() -> None:
    found = costofprivacy.results(NAME)
    assert list(found) == sorted(path.stem for path in (ROOT / "book" / NAME).glob("*.csv"))
    assert all(isinstance(table, pd.DataFrame) for table in found.values())
    assert list(found.verdicts.columns) == ["claim", "verdict", "consequence", "headline"]
    assert set(found.verdicts["claim"]) == set(found.findings)
    with pytest.raises(KeyError, match=r"table must be one of common-weight, comparison, .*, got 'figure-9'"):
        found["figure-9"]


def test_a_table_says_what_its_columns_and_rows_are() -> None:
    found = costofprivacy.results(NAME)
    told = found.columns("figure-1")
    assert list(told.columns) == ["name", "unit", "meaning"]
    assert list(told["name"]) == list(found["figure-1"].columns)
    assert told.set_index("name").loc["N", "unit"] == "prompts"
    assert (told["meaning"] != "").all()
    assert found.row("figure-1").startswith("One row for each setting")
    for ask in (found.columns, found.row):
        with pytest.raises(KeyError, match=r"table must be one of common-weight, comparison, .*, got 'figure-9'"):
            ask("figure-9")


def test_an_unknown_chapter_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^name must be one of .* \(did you mean 'noisyhead/low-dimensional'\?\)$"):
        costofprivacy.results("noisyhead/low-dimension")


@pytest.mark.parametrize("name", [None, 3, ["noisyhead"], b"noisyhead"])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"^name must be one of "):
        costofprivacy.results(name)  # type: ignore[arg-type]


def test_the_command_line_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", NAME, "figure-1"]) == 0
    assert capsys.readouterr().out == published.results(NAME)["figure-1"].to_csv(index=False)
    assert main(["results", NAME]) == 0
    told = capsys.readouterr().out
    assert "figure-1" in told
    assert "noisyhead/theorem-1.1-low" in told


@pytest.mark.parametrize("asked", [["results", "nothing"], ["results", NAME, "nothing"]])
def test_the_command_line_answers_a_wrong_name_in_one_line(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(asked) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert len(written.err.splitlines()) == 1
    assert "got 'nothing'" in written.err
