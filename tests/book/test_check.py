from collections.abc import Callable

import pytest

from costofprivacy.book import check, validate
from costofprivacy.book.errors import BookError
from costofprivacy.book.project import Project, chapters, place
from costofprivacy.book.tables import Tolerance
from costofprivacy.book.tree import Plan, bring_up_to_date

NAME = "part/first-one"
PAPER = {NAME: {"epsilon": [0.5, 1.0], "trials": 10, "workers": -1}, "ledger": {"rows": 5}}
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def committed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The small book, executed in place."""
    bring_up_to_date(project, Plan(project.book, PAPER), lambda _: None, pytest.fail)
    monkeypatch.setattr(validate, "resolve_preset", lambda *_: PAPER)
    return project


def test_copies_hold_other_parameters_and_the_committed_outputs(project: Project) -> None:
    tree = project.build / "nbval"
    quick = {NAME: PAPER[NAME] | {"trials": 2}, "ledger": PAPER["ledger"]}
    copies = check.prepare(project, tree, quick)
    assert copies == [place(tree, name).notebook for name in chapters(project)]
    assert "trials = 2" in copies[0].read_text()
    assert (tree / "claims.yml").is_file()


def test_a_book_that_comes_out_again_is_valid(committed: Project) -> None:
    said: list[str] = []
    validate.validate(committed, (), Tolerance(), said.append)
    assert said == [f"ok    {NAME}/figure-1.csv: the same bit for bit", f"ok    {NAME}/verdicts.json: the same"]


def test_a_changed_number_a_changed_verdict_and_a_warning_are_found(
    committed: Project, rewrite: Callable[[str, str, str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    rewrite("lib/{package}/tools.py", "return 2", "import warnings; warnings.warn('odd'); return 3")
    rewrite("book/part/first-one.ipynb", "part/theorem-1 holds", "part/theorem-1 fails")
    said: list[str] = []
    with pytest.raises(BookError, match=r"nbval: .*; 1 of 2 tables and verdicts differ"):
        validate.validate(committed, (NAME,), Tolerance(), said.append)
    assert said[0] == f"FAIL  {NAME}/figure-1.csv: differs: value: 2 of 2 rows, 3.0 for 2.0"
    shown = capfd.readouterr().out
    assert "odd" in shown
    assert "2 failed" in shown
