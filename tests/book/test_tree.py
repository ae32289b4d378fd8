from collections.abc import Callable

import pytest

from costofprivacy.book import freshness, notebooks
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project, chapters, check_name, module_name, place
from costofprivacy.book.tree import TreePlan, bring_up_to_date, prune

NAME = "part/first-one"


def parameters(trials: int) -> dict[str, dict[str, object]]:
    return {NAME: {"epsilon": [0.5, 1.0], "trials": trials, "workers": -1}, "ledger": {"rows": 5}}


def test_chapters_stand_in_the_order_of_the_contents_the_ledger_last(project: Project) -> None:
    assert chapters(project) == (NAME, "ledger")
    assert module_name(project, NAME) == f"{project.package}.experiments.part.first_one"


def test_an_unknown_chapter_is_answered_with_the_known(project: Project) -> None:
    with pytest.raises(RequestError, match=r"NAME must be one of part/first-one, ledger; got 'first-one'"):
        check_name(project, "first-one")


def test_without_contents_there_is_no_book(project: Project) -> None:
    (project.root / "_toc.yml").unlink()
    with pytest.raises(RequestError, match=r"no _toc.yml in"):
        chapters(project)


@pytest.mark.filterwarnings("default")
def test_only_what_changed_is_executed_again(project: Project, rewrite: Callable[[str, str, str], None]) -> None:
    tree = project.build / "quick" / "executed"
    said: list[str] = []

    def executed(trials: int) -> list[str]:
        said.clear()
        bring_up_to_date(project, TreePlan(tree, parameters(trials)), said.append, pytest.fail)
        return [line.split()[0] for line in said]

    assert executed(2) == [NAME, "ledger"]
    assert executed(2) == []
    rewrite("lib/{package}/tools.py", "2 * value", "3 * value")
    assert executed(2) == [NAME]
    assert "measured: code; told: library" in said[0]
    assert executed(3) == [NAME, "ledger"]
    assert "tables read" not in said[0]
    rewrite("lib/{package}/experiments/part/first_one/verdicts.py", "LIMIT = 1", "LIMIT = 2")
    assert executed(3) == [NAME]
    assert said[0].endswith("(told: library; tables read)")


@pytest.mark.filterwarnings("default")
def test_small_chapters_run_side_by_side_with_a_worker_each(
    project: Project, rewrite: Callable[[str, str, str], None]
) -> None:
    rewrite("book/part/first-one.ipynb", "entry = ", "print(os.environ['COSTOFPRIVACY_WORKERS']); entry = ")
    tree = project.build / "quick" / "executed"
    said: list[str] = []
    bring_up_to_date(project, TreePlan(tree, parameters(2), small=True), said.append, pytest.fail)
    assert [line.split()[0] for line in said] == [NAME, "ledger"]
    outputs = [
        found for cell in notebooks.code_cells(notebooks.read(place(tree, NAME).notebook)) for found in cell.outputs
    ]
    assert "1" in outputs[-1].text.split()


def test_a_fresh_committed_chapter_is_copied(project: Project) -> None:
    for name, values in parameters(10).items():
        target = place(project.book, name)
        target.results.mkdir()
        (target.results / "verdicts.json").write_text("[]")
        freshness.write(target, freshness.inputs(project, name, values, project.book), ["verdicts.json"])
    tree = project.build / "paper" / "executed"
    tree.mkdir(parents=True)
    bring_up_to_date(project, TreePlan(tree, parameters(10)), pytest.fail, pytest.fail)
    assert place(tree, NAME).verdicts.read_text() == "[]"
    assert place(tree, "ledger").notebook.read_bytes() == place(project.book, "ledger").notebook.read_bytes()


def test_a_chapter_that_the_book_no_longer_has_is_pruned(project: Project) -> None:
    tree = project.build / "quick" / "executed"
    for name in (NAME, "part/gone"):
        place(tree, name).results.mkdir(parents=True)
        place(tree, name).stamp.write_text("{}")
        place(tree, name).notebook.write_text("{}")
    prune(project, tree)
    assert sorted(path.name for path in (tree / "part").iterdir()) == ["first-one", "first-one.ipynb"]
