import pkgutil
from pathlib import Path

import costofprivacy
from costofprivacy.book import reference
from costofprivacy.book.project import LEDGER, Project, chapters, is_plain, toc_entries

ROOT = Path(__file__).parents[2]


def test_a_page_has_each_public_module_of_its_package(project: Project) -> None:
    package = project.root / "lib" / project.package / "experiments/part/first_one"
    (package / "_private.py").write_text('"""Not shown."""\n')
    (package / "pages.py").write_text('"""Lays out the page."""\n\nfrom . import verdicts\n')
    (package / "rates.py").write_text('"""What a judge needs."""\n')
    (package / "verdicts.py").write_text('"""Verdicts."""\n\nfrom . import rates\n\nLIMIT = 1\n')
    text = reference.page(project.package, "experiments/part/first-one")
    assert text.startswith("# part: first one\n")
    named = [line.split("`")[1] for line in text.splitlines() if line.startswith("## ")]
    assert named == ["experiment", "rates", "verdicts"]
    assert f".. automodule:: {project.package}.experiments.part.first_one.verdicts\n   :members:" in text


def test_all_pages_but_the_index_are_written(project: Project) -> None:
    entries = ("book/reference/index", "book/reference/experiments/part/first-one")
    contents = (project.root / "_toc.yml").read_text() + "".join(f"- file: {entry}\n" for entry in entries)
    (project.root / "_toc.yml").write_text(contents)
    reference.write(project)
    assert reference.generated(project) == [entries[1]]
    assert (project.root / f"{entries[1]}.md").read_text().startswith("# part: first one\n")
    assert not (project.root / f"{entries[0]}.md").exists()


def test_the_committed_pages_are_those_that_the_library_makes_now() -> None:
    project = Project(ROOT)
    stale = [
        entry
        for entry in reference.generated(project)
        if (ROOT / f"{entry}.md").read_text("utf-8")
        != reference.page(project.package, entry.removeprefix(reference.FOLDER))
    ]
    assert stale == [], "run `make refresh`"


def test_the_book_s_reference_has_every_package_of_models_and_of_chapters() -> None:
    project = Project(ROOT)
    pages = {entry.removeprefix(reference.FOLDER) for entry in toc_entries(project)}
    assert pages >= {"index", "privacy", "noisyhead", "dpgd"}
    packages = {module.name for module in pkgutil.iter_modules(costofprivacy.__path__) if module.ispkg}
    rooms = {"book", "judging", "running", "showing", "experiments", "overview"}  # what the book itself is made with
    assert packages - rooms <= pages
    measuring = [name for name in chapters(project) if name != LEDGER and not is_plain(project, name)]
    assert {f"experiments/{name}" for name in measuring} <= pages
