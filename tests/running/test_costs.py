"""What a run is said to take: in proportion to what is asked for, and refused where it does not fit."""

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from costofprivacy._validate import ANYWAY
from costofprivacy.book import afford, budgets, cli, parameters
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project, chapters, is_plain, module_name
from costofprivacy.declaration import Parameters, many, parameter
from costofprivacy.ranges import SEED, TRIALS, count
from costofprivacy.running import costs, times

PROJECT = Project(Path(__file__).parents[2])
NAMES = [name for name in chapters(PROJECT) if not is_plain(PROJECT, name)]
OWN = [name for name in NAMES if importlib.util.find_spec(f"{module_name(PROJECT, name)}.load")]


class Sum(Parameters):
    """A chapter without a load of its own."""

    N: tuple[int, ...] = many(count(1, 10**7), 100, 300)
    trials: int = parameter(TRIALS, 10)
    seed: int = parameter(SEED, 1)


def made(name: str, values: dict[str, object]) -> Parameters:
    return parameters.experiment_of(PROJECT, name, parameters.resolve(PROJECT, name, values))


@pytest.mark.parametrize("name", NAMES)
def test_the_books_own_parameters_take_the_time_that_was_measured(name: str) -> None:
    assert costs.estimate(made(name, {}), 90.0, 2).seconds == pytest.approx(90.0, rel=0.01) or os.cpu_count() == 1


@pytest.mark.parametrize("name", OWN)
def test_a_first_look_takes_about_what_it_may(name: str) -> None:
    """Held against `book/budgets.yml`, which are upper limits for quick runs; the estimate knows nothing of them."""
    quick = made(name, parameters.preset(PROJECT, "quick").get(name, {}))
    timed = parameters.read_yaml_file(PROJECT.book / "times.yml").get(name)
    budget = budgets.seconds(PROJECT).get(name)
    if timed and budget:
        processes = min(2, os.cpu_count() or 1)
        assert budget / 3.5 < costs.estimate(quick, timed, processes).seconds * processes / 2 < 2 * budget


@pytest.mark.parametrize("name", [name for name in OWN if hasattr(made(name, {}), "trials")])
def test_more_trials_take_more(name: str) -> None:
    one, ten = (costs.load(made(name, {"trials": trials})) for trials in (100, 1000))
    assert one.work < ten.work < 10.001 * one.work
    assert one.worker == ten.worker
    assert one.kept <= ten.kept


def test_the_general_rule_is_proportional_to_each_whole_number_but_the_seed() -> None:
    least, most = costs.load(Sum()), costs.load(Sum(N=(1000, 3000), trials=20, seed=10**9))
    assert most.work == 20 * least.work
    assert most.worker == 20 * least.worker
    assert math.isnan(costs.estimate(Sum(), None, 1).seconds)


def test_it_is_said_in_words() -> None:
    assert str(costs.Cost(3.2, 300 * costs.MB)) == "about 3 seconds and 300 MB of memory"
    assert str(costs.Cost(3 * 3600, 5.5 * 2**30)) == "about 3 hours and 5.5 GB of memory"
    assert str(costs.Cost(math.nan, 2**30)) == "1 GB of memory"


def test_what_does_not_fit_is_refused_in_one_line_unless_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    name, values = "noisyhead/low-dimensional", parameters.resolve(PROJECT, "noisyhead/low-dimensional", {"D": 300})
    afford.announce(PROJECT, name, [parameters.resolve(PROJECT, name, {})], said.append)
    assert said[0].startswith(f"{name} takes about")
    monkeypatch.setattr(costs, "available", lambda: 4.0 * 2**30)
    with pytest.raises(RequestError, match=r"^noisyhead/low-dimensional would need .* GB of memory, and 4 GB are free"):
        afford.announce(PROJECT, name, [values], said.append)
    monkeypatch.setenv(ANYWAY, "1")
    afford.announce(PROJECT, name, [values], said.append)
    assert len(said) == 2


@pytest.mark.parametrize(("points", "at_once", "workers_each"), [(1, 1, 4), (7, 1, 4), (8, 4, 1), (20, 4, 1)])
def test_the_points_of_a_sweep_add_up(
    points: int, at_once: int, workers_each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "noisyhead/low-dimensional"
    monkeypatch.setattr(afford, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(costs, "available", lambda: math.inf)
    values = parameters.resolve(PROJECT, name, {})
    one = costs.estimate(made(name, {}), times.seconds(PROJECT.book)[name], workers_each)
    shared = costs.PARENT + costs.KERNEL
    seconds = costs.START + points * (one.seconds - costs.START) / at_once
    said: list[str] = []
    afford.announce(PROJECT, name, [values] * points, said.append)
    assert str(costs.Cost(seconds, shared + at_once * (one.memory - shared))) in said[0]


def test_a_sweep_that_does_not_fit_is_refused_in_one_line_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("costofprivacy.book.environment.in_settled_environment", lambda: None)
    monkeypatch.setattr(costs, "available", lambda: 2.0**20)
    asked = ["--sweep", "penalty=1,5", "--out", str(tmp_path / "out")]
    assert cli.main(["--root", str(PROJECT.root), "sweep", "noisyhead/low-dimensional", *asked]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: noisyhead/low-dimensional at 2 points would need ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["chapter", "sweep"])
def test_a_refusal_brings_no_plotting_and_no_notebook(command: str) -> None:
    """It should take three seconds at most, and these alone would take two."""
    words = [
        "noisyhead/low-dimensional",
        "-p",
        "trials",
        "0",
        *(["--sweep", "penalty=1,5"] if command == "sweep" else []),
    ]
    code = f"import sys\nfrom costofprivacy.book import cli\nassert cli.main({[command, *words]!r}) == 2\n"
    code += "print([name for name in ('matplotlib', 'papermill', 'nbclient', 'IPython') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT.root, check=True)
    assert done.stdout == "[]\n"


def test_every_chapter_of_the_book_has_a_rule_of_its_own() -> None:
    """The general rule is not right within a factor of two: write a module ``load`` beside its experiment."""
    assert [name for name in NAMES if name not in OWN] == []
