import pkgutil
from pathlib import Path

import costofprivacy
from costofprivacy.book import reference
from costofprivacy.book.project import LEDGER, Project, chapters, toc_entries

ROOT = Path(__file__).parents[2]


def test_a_page_has_each_public_module_of_its_package(project: Project) -> None:
    package = project.root / "lib" / project.package / "experiments/part/first_one"
    (package / "_private.py").write_text('"""Not shown."""\n')
    text = reference.page(project.package, "experiments/part/first-one")
    assert text.startswith("# part: first one\n")
    named = [line.split("`")[1] for line in text.splitlines() if line.startswith("## ")]
    assert named == ["experiment", "verdicts"]
    assert f".. automodule:: {project.package}.experiments.part.first_one.verdicts\n   :members:" in text


def test_pages_are_written_where_nobody_wrote_one(project: Project) -> None:
    own = "book/reference/index"
    contents = (project.root / "_toc.yml").read_text()
    (project.root / "_toc.yml").write_text(
        f"{contents}- file: {own}\n- file: book/reference/experiments/part/first-one\n"
    )
    pages = project.build / "pages"
    (pages / own).parent.mkdir(parents=True)
    (pages / f"{own}.md").write_text("# By hand\n")
    reference.write(project, pages)
    assert (pages / f"{own}.md").read_text() == "# By hand\n"
    assert (pages / "book/reference/experiments/part/first-one.md").read_text().startswith("# part: first one\n")
    assert not (pages / "book/index.md").exists()


def test_the_book_s_reference_has_every_package_of_models_and_of_chapters() -> None:
    project = Project(ROOT)
    pages = {entry.removeprefix(reference.FOLDER) for entry in toc_entries(project)}
    assert pages >= {"index", "privacy", "noisyhead", "dpgd"}
    packages = {module.name for module in pkgutil.iter_modules(costofprivacy.__path__) if module.ispkg}
    assert packages - {"book", "experiments", "overview"} <= pages
    assert {f"experiments/{name}" for name in chapters(project) if name != LEDGER} <= pages
