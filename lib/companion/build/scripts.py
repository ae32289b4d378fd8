"""Scripts that the book brings along: made from an installed library when pages are staged, loaded by few of them."""

import importlib
import shutil
from pathlib import Path

from companion.build.project import Project
from companion.running import stamps

EXPLORER = "explorer"
MODULE = f"companion.showing.{EXPLORER}"  # makes the script of the explorers
STATIC = "_static"


def write_scripts(project: Project, pages: Path) -> list[Path]:
    """Write the scripts that staged pages ask for into the folder of their static files.

    Args:
        project: the book. pages: its staged pages.

    Returns:
        The files that were written; none where no page asks for one.
    """
    target = pages / "book" / STATIC / f"{EXPLORER}.js"
    asking = f"{STATIC}/{target.name}"
    if not any(asking in page.read_text("utf-8") for page in sorted(pages.rglob("*.ipynb"))):
        return []
    module = importlib.import_module(MODULE)
    sources = [project.requirements, *sorted(Path(str(module.__file__)).parent.glob(f"{EXPLORER}.*"))]
    kept = project.build / EXPLORER / f"{stamps.json_digest([stamps.file_digest(path) for path in sources])}.js"
    if not kept.is_file():  # putting it together takes seconds
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.with_suffix(".new").write_text(module.script(), "utf-8")
        kept.with_suffix(".new").replace(kept)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(kept, target)
    return [target]
