"""Staged pages rendered by Jupyter Book into ``_build/html``.

``python -m companion.build.rendering build ...`` is its command line with a process of Sphinx for each core. One of its
extensions does not say whether it bears that: it numbers sections once all pages are read, so it does.
"""

import json
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from companion.build import repository
from companion.build.execute import temporary, write_log
from companion.build.project import BookError, Project, Say
from companion.running import stamps

RENDERED = "rendered.json"  # beside what Sphinx keeps: what it was made with


def render(project: Project, preset: str, pages: Path, say: Say) -> Path:
    """Render staged pages into ``_build/html``, unless they are what it shows already; returns its first page.

    Sphinx keeps what it has read beside the staged pages, and reads and writes anew what changed. It begins from
    scratch where the configuration, the table of contents or the book's machinery is another, and after a rendering
    that did not end well. A `BookError` says that Sphinx warned; ``_build/html`` is then as it was.
    """
    html, record = project.build / "html", project.build / "html.json"
    machinery = [*sorted(Path(__file__).parent.glob("*.py")), project.requirements]
    files = [*sorted(path for path in pages.rglob("*") if path.is_file()), *machinery]
    digest = stamps.json_digest([(path.name, str(path), stamps.file_digest(path)) for path in files])
    content = {"preset": preset, "digest": digest}
    edition = repository.edition(project.root)
    if (html / "index.html").is_file() and _json(record) == content:
        repository.write_edition(html, edition)
        return html / "index.html"
    say(f"rendering {pages}")
    kept = pages.with_name("sphinx")
    made_with = [str(pages.resolve()), *map(stamps.file_digest, [*machinery, *sorted(pages.glob("*.yml"))])]
    if _json(kept / RENDERED) != made_with:
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True, exist_ok=True)
    (kept / RENDERED).unlink(missing_ok=True)
    command = [sys.executable, "-m", "companion.build.rendering", "build", "-W", "--keep-going", "--path-output"]
    done = subprocess.run(
        [*command, str(kept.resolve()), str(pages.resolve())],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    log = write_log(project, "render", done.stdout)
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()] or ["no output"]
        first = next((line for line in lines if re.search("WARNING|ERROR|Error", line)), lines[0])
        raise BookError(f"the pages could not be rendered: {first} (see {log})")
    (kept / RENDERED).write_text(json.dumps(made_with), "utf-8")
    with temporary(project) as folder:
        made = folder / "html"
        shutil.copytree(kept / "_build" / "html", made)
        repository.write_edition(made, edition)
        record.unlink(missing_ok=True)
        if html.exists():
            html.rename(folder / "earlier")
        made.rename(html)
        record.write_text(json.dumps(content) + "\n", "utf-8")
    return html / "index.html"


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def main() -> None:
    """Jupyter Book's command line, in parallel."""
    import sphinx_multitoc_numbering  # type: ignore[import-untyped]
    from joblib import cpu_count
    from jupyter_book import sphinx  # type: ignore[import-untyped]
    from jupyter_book.cli.main import main as jupyter_book  # type: ignore[import-untyped]

    def setup(app: Any, own: Any = sphinx_multitoc_numbering.setup) -> dict[str, bool]:
        own(app)
        return {"parallel_read_safe": True, "parallel_write_safe": True}

    sphinx_multitoc_numbering.setup = setup
    sphinx.build_sphinx = partial(sphinx.build_sphinx, jobs=cpu_count())
    jupyter_book()


if __name__ == "__main__":
    main()
