import pkgutil
from pathlib import Path

import costofprivacy
from companion.build import reference
from companion.build.project import Project, toc_entries

ROOT = Path(__file__).parents[2]


def test_a_page_has_each_public_module_of_its_package(project: Project) -> None:
    (project.root / "lib" / project.package / "overview/_private.py").write_text('"""Not shown."""\n')
    text = reference.page(project.package, "overview")
    assert text.startswith("# overview\n")
    named = [line.split("`")[1] for line in text.splitlines() if line.startswith("## ")]
    assert named == ["index", "saved"]
    assert f".. automodule:: {project.package}.overview.saved\n   :members:" in text


def test_all_pages_but_the_index_are_written(project: Project) -> None:
    entries = ("book/reference/index", "book/reference/overview")
    contents = (project.root / "_toc.yml").read_text() + "".join(f"- file: {entry}\n" for entry in entries)
    (project.root / "_toc.yml").write_text(contents)
    reference.write(project)
    assert reference.generated(project) == [entries[1]]
    assert (project.root / f"{entries[1]}.md").read_text().startswith("# overview\n")
    assert not (project.root / f"{entries[0]}.md").exists()


def test_the_committed_pages_are_those_that_the_library_makes_now() -> None:
    project = Project(ROOT)
    stale = [
        entry
        for entry in reference.generated(project)
        if (ROOT / f"{entry}.md").read_text("utf-8")
        != reference.page(project.library, entry.removeprefix(reference.FOLDER))
    ]
    assert stale == [], "run `make refresh`"


def test_the_book_s_reference_has_every_package_of_the_library() -> None:
    pages = {entry.removeprefix(reference.FOLDER) for entry in toc_entries(Project(ROOT)) if "/reference/" in entry}
    packages = {module.name for module in pkgutil.iter_modules(costofprivacy.__path__) if module.ispkg}
    assert packages == pages - {"index"}
