"""Pages staged and rendered."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.build import build, extension, freshness, notebooks, rendering, staging
from companion.build.project import BookError, Project, chapters, place
from tests.trees import write_tree


@pytest.fixture
def tree(project: Project) -> Path:
    """Executed chapters, as if they had been."""
    folder = project.build / "quick" / "executed"
    for name in chapters(project):
        place(folder, name).results.mkdir(parents=True)
        shutil.copyfile(place(project.book, name).notebook, place(folder, name).notebook)
        place(folder, name).verdicts.write_text("[]")
        place(folder, name).stamp.write_text("{}")
    return folder


def staged(project: Project, tree: Path, preset: str) -> Path:
    pages = project.build / preset / "pages"
    staging.stage(project, preset, tree, pages)
    return pages


def test_staging_brings_configuration_prose_static_files_and_results(project: Project, tree: Path) -> None:
    pages = staged(project, tree, "quick")
    found = {path.relative_to(pages).as_posix() for path in pages.rglob("*") if path.is_file()}
    assert found >= {"_config.yml", "_toc.yml", "logo.svg", "book/_static/book.css", "book/index.md"}
    assert found >= {"book/part/first-one.ipynb", "book/part/first-one/verdicts.json", "book/_notation.md"}
    assert not any("stamp" in name or name.startswith(("lib", "_build")) for name in found)


def test_a_preset_is_named_at_the_top_of_every_page(project: Project, tree: Path) -> None:
    pages = staged(project, tree, "quick")
    first = notebooks.read(pages / "book/part/first-one.ipynb").cells[0].source
    assert first.startswith("# A title\n\n```{admonition} Executed with the *quick* preset")
    assert "*quick* preset" in (pages / "book/index.md").read_text()
    assert (pages / "book/_notation.md").read_text() == "2 files\n"
    assert "2 files." in (pages / "book/index.md").read_text()


def test_the_papers_scale_needs_no_note(project: Project, tree: Path) -> None:
    pages = staged(project, tree, "paper")
    assert not any("preset" in path.read_text() for path in pages.rglob("*.ipynb"))


def fake_sphinx(monkeypatch: pytest.MonkeyPatch, status: int = 0) -> list[str]:
    calls: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command[-1])
        html = Path(command[-2]) / "_build" / "html"
        html.mkdir(parents=True, exist_ok=True)
        (html / "index.html").write_text(f"rendering {len(calls)}")
        return subprocess.CompletedProcess(command, status, "reading\na.md:1: WARNING: odd\n")

    monkeypatch.setattr(rendering.subprocess, "run", run)
    return calls


def test_pages_are_rendered_again_only_if_they_changed(
    project: Project, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_sphinx(monkeypatch)
    pages = staged(project, tree, "quick")
    rendering.render(project, "quick", pages, print)
    rendering.render(project, "quick", staged(project, tree, "quick"), print)
    assert len(calls) == 1
    (pages / "book/index.md").write_text("# Other\n")
    rendering.render(project, "quick", pages, print)
    rendering.render(project, "paper", staged(project, tree, "paper"), print)
    assert len(calls) == 3
    assert (project.build / "html/index.html").read_text() == "rendering 3"


def test_a_failed_rendering_leaves_the_earlier_pages(
    project: Project, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_sphinx(monkeypatch)
    rendering.render(project, "quick", staged(project, tree, "quick"), print)
    fake_sphinx(monkeypatch, status=1)
    with pytest.raises(BookError, match=r"could not be rendered: a.md:1: WARNING: odd .see .*render.log"):
        rendering.render(project, "paper", staged(project, tree, "paper"), print)
    assert (project.build / "html/index.html").read_text() == "rendering 1"


def test_staging_again_touches_what_changed_alone(project: Project, tree: Path) -> None:
    pages = staged(project, tree, "quick")
    (pages / "book/gone.md").write_text("# Gone\n")
    before = {path: path.stat().st_mtime_ns for path in pages.rglob("*") if path.is_file()}
    (project.book / "_static/book.css").write_text("p { color: red }\n")
    staged(project, tree, "quick")
    after = {path: path.stat().st_mtime_ns for path in pages.rglob("*") if path.is_file()}
    assert {path.name for path in before if after.get(path) != before[path]} == {"book.css", "gone.md"}
    assert "red" in (pages / "book/_static/book.css").read_text()


def test_what_sphinx_kept_is_used_until_the_machinery_changes_or_a_rendering_fails(
    project: Project, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_sphinx(monkeypatch)
    pages, kept = staged(project, tree, "quick"), project.build / "quick/sphinx/kept"

    def rendered_again(name: str, text: str) -> bool:
        (pages / name).write_text(text)
        kept.touch()
        rendering.render(project, "quick", pages, print)
        return not kept.exists()

    rendering.render(project, "quick", pages, print)
    assert not rendered_again("book/index.md", "# Other\n")
    assert rendered_again("_config.yml", "title: Other\n")
    fake_sphinx(monkeypatch, status=1)
    with pytest.raises(BookError):
        rendered_again("book/index.md", "# Wrong\n")
    fake_sphinx(monkeypatch)
    assert rendered_again("book/index.md", "# Right\n")


def test_only_the_papers_edition_has_the_reference(project: Project, tree: Path) -> None:
    entry = project.root / "book/reference/overview.md"
    entry.parent.mkdir()
    entry.write_text("# overview\n\n```{eval-rst}\n.. automodule:: overview\n```\n")
    (project.root / "_toc.yml").write_text(
        (project.root / "_toc.yml").read_text() + "- file: book/reference/overview\n"
    )
    paper, quick = (staged(project, tree, preset) / "book/reference/overview.md" for preset in ("paper", "quick"))
    assert "automodule" in paper.read_text()
    assert quick.read_text() == staging.NO_REFERENCE.format(name="overview")


def test_files_beside_the_book_that_pages_include_come_along(project: Project, tree: Path) -> None:
    for name in ("CHANGELOG.md", ".github/SECURITY.md"):
        (project.root / name).parent.mkdir(exist_ok=True)
        (project.root / name).write_text(f"# {name}\n")
    pages = staged(project, tree, "quick")
    assert [(pages / name).read_text() for name in staging.INCLUDED] == [f"# {name}\n" for name in staging.INCLUDED]


def committed(project: Project) -> None:
    """Chapters with results and stamps, as `make refresh` leaves them."""
    values: dict[str, dict[str, object]] = {
        "part/first-one": {"epsilon": [0.5, 1.0], "trials": 10, "workers": -1},
        "ledger": {"rows": 5},
    }
    for name in chapters(project):
        target = place(project.book, name)
        target.results.mkdir()
        target.verdicts.write_text("[]")
        freshness.write(target, freshness.inputs(project, name, values[name], project.book), ["verdicts.json"])


def test_committed_chapters_are_rendered_as_they_are(
    project: Project, rewrite: Callable[[str, str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(project)
    calls = fake_sphinx(monkeypatch)
    monkeypatch.setattr("companion.build.execute.execute", lambda *_: pytest.fail("a chapter was executed"))
    page = build.render_committed(project, print, pytest.fail)
    assert page.read_text() == "rendering 1"
    pages = project.build / "paper" / "pages"
    assert (pages / "book/part/first-one/verdicts.json").read_text() == "[]"
    assert not list(pages.rglob("stamp.json"))

    rewrite("lib/{package}/part/first_one/judge.py", "LIMIT = 1", "LIMIT = 2")
    warnings: list[str] = []
    build.render_committed(project, print, warnings.append)
    assert len(warnings) == 1
    assert warnings[0].endswith(": part/first-one")
    assert len(calls) == 1  # the pages are what they were


def test_a_chapter_without_outputs_has_no_page(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_sphinx(monkeypatch)
    with pytest.raises(BookError, match=r"never executed.*: part/first-one, ledger"):
        build.render_committed(project, print, print)
    assert calls == []


@pytest.fixture
def html(tmp_path: Path) -> Path:
    """A rendered page with two figures, of which one has a stacked form among the staged pages."""
    files = {
        "html/_images/abc.svg": "<svg>wide</svg>",
        "html/_images/whole.svg": "<svg>whole</svg>\n",
        "html/_images/def.svg": "<svg>other</svg>",
        "html/book/page.html": '<p><img alt="a" src="../_images/abc.svg" /><img src="../_images/def.svg"/></p>',
        "pages/book/page/rates.svg": "<svg>wide</svg>\n",
        "pages/book/page/rates.narrow.svg": "<svg>narrow</svg>\n",
        "pages/book/page/whole.svg": "<svg>whole</svg>\n",
        "pages/book/page/whole.narrow.svg": "<svg>stacked</svg>\n",
        "pages/book/page/alone.narrow.svg": "<svg>alone</svg>\n",
    }
    write_tree(tmp_path, files)
    for _ in range(2):  # Sphinx leaves a page alone that has not changed
        extension.offer_stacked(tmp_path / "html", tmp_path / "pages")
    return tmp_path / "html"


def test_a_narrow_screen_is_offered_the_stacked_form(html: Path) -> None:
    text = (html / "book" / "page.html").read_text("utf-8")
    assert (
        '<picture><source media="(max-width: 600px)" srcset="../_images/abc.narrow.svg">'
        '<img alt="a" src="../_images/abc.svg" /></picture>' in text
    )
    assert (html / "_images" / "abc.narrow.svg").read_text("utf-8") == "<svg>narrow</svg>\n"


def test_the_end_of_a_file_tells_no_figures_apart(html: Path) -> None:
    assert (html / "_images" / "whole.narrow.svg").read_text("utf-8") == "<svg>stacked</svg>\n"


def test_a_figure_without_a_stacked_form_stays(html: Path) -> None:
    assert '</picture><img src="../_images/def.svg"/>' in (html / "book" / "page.html").read_text("utf-8")
