from collections.abc import Callable

import pytest
from companion.build.tree import TreePlan, bring_up_to_date, prune

from companion.build import freshness
from companion.build.project import Project, RequestError, chapters, module_name, place

NAME = "part/first-one"


def parameters(trials: int) -> dict[str, dict[str, object]]:
    return {NAME: {"epsilon": [0.5, 1.0], "trials": trials, "workers": -1}, "ledger": {"rows": 5}}


def test_chapters_stand_in_the_order_of_the_contents_the_ledger_last(project: Project) -> None:
    assert chapters(project) == (NAME, "ledger")
    assert module_name(project, NAME) == f"{project.package}.part.first_one"


def test_without_contents_there_is_no_book(project: Project) -> None:
    (project.root / "_toc.yml").unlink()
    with pytest.raises(RequestError, match=r"no _toc.yml in"):
        chapters(project)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_only_what_changed_is_executed_again(project: Project, rewrite: Callable[[str, str, str], None]) -> None:
    folder = project.build / "quick" / "executed"
    said: list[str] = []

    def executed(trials: int) -> list[str]:
        said.clear()
        bring_up_to_date(project, TreePlan(folder, parameters(trials)), said.append, pytest.fail)
        return [line.split()[0] for line in said]

    assert executed(2) == [NAME, "ledger"]
    assert executed(2) == []
    rewrite("lib/{package}/tools.py", "2 * value", "3 * value")
    assert executed(2) == [NAME]
    assert "measured: code; told: library" in said[0]
    assert executed(3) == [NAME, "ledger"]
    assert "tables read" not in said[0]
    rewrite("lib/{package}/part/first_one/judge.py", "LIMIT = 1", "LIMIT = 2")
    assert executed(3) == [NAME]
    assert said[0].endswith("(told: library; tables read)")


def test_a_fresh_committed_chapter_is_copied(project: Project) -> None:
    for name, values in parameters(10).items():
        target = place(project.book, name)
        target.results.mkdir()
        (target.results / "verdicts.json").write_text("[]")
        freshness.write(target, freshness.inputs(project, name, values, project.book), ["verdicts.json"])
    folder = project.build / "paper" / "executed"
    folder.mkdir(parents=True)
    bring_up_to_date(project, TreePlan(folder, parameters(10)), pytest.fail, pytest.fail)
    assert place(folder, NAME).verdicts.read_text() == "[]"
    assert place(folder, "ledger").notebook.read_bytes() == place(project.book, "ledger").notebook.read_bytes()


def test_a_chapter_that_the_book_no_longer_has_is_pruned(project: Project) -> None:
    folder = project.build / "quick" / "executed"
    for name in (NAME, "part/gone"):
        place(folder, name).results.mkdir(parents=True)
        place(folder, name).stamp.write_text("{}")
        place(folder, name).notebook.write_text("{}")
    prune(project, folder)
    assert sorted(path.name for path in (folder / "part").iterdir()) == ["first-one", "first-one.ipynb"]
