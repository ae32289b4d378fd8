"""What is committed from real data is never replaced by what stands in for it."""

import json
from collections.abc import Callable

import pytest

from companion.build import build, freshness
from companion.build.project import BookError, Project, place
from costofprivacy import datasets

NAME = "part/first-one"
PAPER = {NAME: {"epsilon": [0.5, 1.0], "trials": 10, "workers": -1}}
TRIALS = "    trials: int = 10"
SETS = (f"{TRIALS}\n    data_sets = ({datasets.MNIST!r},)", f"{TRIALS}\n    real: str = {datasets.MNIST!r}")


@pytest.fixture
def executed(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether anything was executed, in a book whose data folder is empty."""
    done: list[bool] = []
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(project.root / "empty"))
    monkeypatch.setattr(build, "bring_up_to_date", lambda *_: done.append(True))
    monkeypatch.setattr(build.staging, "write_generated", lambda *_: None)
    monkeypatch.setattr(build.reference, "write", lambda _: None)
    monkeypatch.setattr(build, "resolve_preset", lambda *_: PAPER)
    return done


def stamp(project: Project) -> None:
    """The first chapter, as committed from what there is now."""
    target = place(project.book, NAME)
    target.results.mkdir()
    (target.results / "figure-1.csv").write_text("value\n1\n")
    freshness.write(target, freshness.inputs(project, NAME, PAPER[NAME], project.book), ["figure-1.csv"])


@pytest.mark.parametrize("named", SETS)
def test_a_run_on_stand_ins_is_refused_with_the_remedy(
    project: Project, executed: list[bool], rewrite: Callable[[str, str, str], None], named: str
) -> None:
    rewrite("lib/{package}/part/first_one/measure.py", TRIALS, named)
    with pytest.raises(BookError, match=r"make data.*SCIKIT_LEARN_DATA") as raised:
        build.refresh(project, (), False, lambda _: None)
    assert str(raised.value).startswith(
        f"{NAME} needs data that are not in {project.root / 'empty'}: {datasets.MNIST}; "
    )
    assert "\n" not in str(raised.value)
    assert executed == []


@pytest.mark.parametrize("named", SETS)
def test_what_is_not_measured_anew_needs_no_data(
    project: Project,
    executed: list[bool],
    rewrite: Callable[[str, str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    named: str,
) -> None:
    rewrite("lib/{package}/part/first_one/measure.py", TRIALS, named)
    stamp(project)
    build.refresh(project, (), False, lambda _: None)
    assert executed == [True]
    with pytest.raises(BookError, match="make data"):
        build.refresh(project, (), True, lambda _: None)
    monkeypatch.setattr(datasets, "is_cached", lambda name: True)
    build.refresh(project, (), True, lambda _: None)
    assert json.loads(place(project.book, NAME).stamp.read_text())["measured"]["inputs"]["parameters"]
    assert executed == [True, True]
