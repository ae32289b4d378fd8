"""Which edition of the book a rendered page is: its version, and the commit where there is one.

The footer has an empty place for it, filled in once the pages are rendered: a commit that changes no page renders none.
"""

import re
import subprocess
import tomllib
from pathlib import Path

from companion.build.git import git
from companion.build.project import Project

PLACE = re.compile(r'(<p class="edition">)[^<]*(</p>)')


def name(project: Project) -> str:
    """The version in ``pyproject.toml`` and the commit; empty for a project without a version."""
    try:
        version = tomllib.loads((project.root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    except (OSError, KeyError):
        return ""
    commit = _commit(project.root)
    return f"Version {version}, commit {commit}" if commit else f"Version {version}"


def write(html: Path, edition: str) -> None:
    """Say in the footer of each rendered page which edition it is.

    Args:
        html: the folder of the pages, changed in place. edition: its name, in plain words.
    """
    for page in html.rglob("*.html"):
        text = page.read_text("utf-8")
        stated = PLACE.sub(rf"\g<1>{edition}\g<2>", text)
        if stated != text:
            page.write_text(stated, "utf-8")


def _commit(root: Path) -> str:
    """The commit that a folder is checked out at, and whether it was changed since; empty where there is none."""
    if not (root / ".git").exists():
        return ""
    try:
        return git(root, "describe", "--always", "--exclude=*", "--dirty= and changes since").decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
