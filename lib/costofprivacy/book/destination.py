"""Where a person's own run may write: anywhere but into what the project commits, keeps or makes for itself."""

from pathlib import Path

from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project

OURS = {"benchmarks", "book", "lib", "tests"}  # and what begins with a dot: .git, each .venv, and the like
KEPT = {
    *("cache", "data", "html", "lock", "logs", "nbval", "paper", "pdf", "reports", "settings"),
    *("setuptools", "tested", "tmp", "uv", "validate"),
}


def folder(project: Project, out: str, kind: str, name: str) -> Path:
    """The folder for the results of a chapter, made with those above it; the arguments are those of `path`.

    Raises:
        RequestError: it is the project's own, or it cannot be made or written to.
    """
    found = path(project, out, kind, name)
    try:
        found.mkdir(parents=True, exist_ok=True)
        probe = found / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise RequestError(f"OUT must be a folder to write into, got {found}: {error.strerror}") from error
    return found


def path(project: Project, out: str, kind: str, name: str) -> Path:
    """Where the results of a chapter go; nothing is made yet.

    Args:
        project: the book.
        out: what was asked for; empty for a folder of the chapter's name below ``_build`` and the kind.
        kind: ``runs`` or ``sweeps``.
        name: the chapter.

    Raises:
        RequestError: it is the project's own.
    """
    found = Path(out) if out else project.build / kind / name
    _refuse_ours(project, found)
    return found


def _refuse_ours(project: Project, path: Path) -> None:
    """Refuse the project's root and what is above it, its own folders, and what `make` keeps in ``_build``."""
    root, build, target = (each.resolve() for each in (project.root, project.build, path))
    inside = target.relative_to(root).parts if target.is_relative_to(root) else ()
    kept = target.is_relative_to(build) and (target == build or target.relative_to(build).parts[0] in _kept(project))
    if root.is_relative_to(target) or (inside and _is_ours(inside[0])) or kept:
        raise RequestError(
            f"OUT must be a folder of your own, such as _build/mine; {path} is used by the project itself"
        )


def _is_ours(name: str) -> bool:
    """Whether something in the project's root is the project's."""
    return name in OURS or name.startswith(".")


def _kept(project: Project) -> set[str]:
    """The folders of ``_build`` that are not for a person's results."""
    presets = {path.stem for path in (project.book / "presets").glob("*.yml")}
    return KEPT | presets
