"""The source code that a result depends on, and its digest.

A page and a saved block of trials are stale when the code behind them changes. What changes nothing they
show, a comment or a docstring, does not make them stale. Imports are read, not run: a module that is
imported by a computed name (``importlib.import_module``) is not seen.
"""

import ast
import hashlib
import importlib.util
from collections.abc import Iterable
from functools import cache
from pathlib import Path


def closure(modules: Iterable[str]) -> dict[str, Path]:
    """Every module that the given ones import, directly or not, with the file that holds it.

    Follows imports within the given modules' own top-level packages only, wherever in the source they
    stand; a module brings the ``__init__`` of each package around it.

    Args:
        modules: dotted names, for instance ``costofprivacy.privacy.profile``.

    Returns:
        The files by module name, in alphabetical order of the names; the given modules are among them.

    Raises:
        ValueError: one of ``modules`` has no source file.
    """
    wanted = sorted(set(modules))
    roots = {name.partition(".")[0]: _locations(name.partition(".")[0]) for name in wanted}
    found: dict[str, Path] = {}
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        path = _file(name, roots)
        if path is None and name in wanted:
            raise ValueError(f"modules must name modules with a source file, got {name!r}")
        if path is None or name in found:
            continue
        found[name] = path
        waiting += _needs(name, path)
    return dict(sorted(found.items()))


def digest(modules: Iterable[str]) -> str:
    """SHA-256 of the code of the modules' closure, without comments, docstrings and layout.

    Guarantees the same digest for the same code under every Python from 3.11 on.

    Args:
        modules: dotted names, as for :func:`closure`.

    Returns:
        Sixty-four hexadecimal digits.

    Raises:
        ValueError: one of ``modules`` has no source file.
    """
    total = hashlib.sha256()
    for name, path in closure(modules).items():
        total.update(f"{name}\0{_code(path, _version(path))}\0".encode())
    return total.hexdigest()


def imported(source: str, module: str = "", is_package: bool = False) -> list[str]:
    """The dotted names that a piece of source imports: modules, and what might be one.

    ``from a import b`` yields ``a`` and ``a.b``, as ``b`` may be a module.

    Args:
        source: Python source.
        module: its own name, against which relative imports are resolved.
        is_package: whether the source is a package's ``__init__``.

    Returns:
        The names, in the order of the syntax tree, with repetitions.

    Raises:
        SyntaxError: ``source`` is not Python.
    """
    package = module if is_package else module.rpartition(".")[0]
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _needs(name: str, path: Path) -> list[str]:
    """The packages around a module, and what it imports."""
    parents = [name.rsplit(".", up)[0] for up in range(1, name.count(".") + 1)]
    return [*parents, *_imports(path, _version(path), name)]


def _version(path: Path) -> tuple[int, int]:
    """What tells one content of a file from another, so that each is read once."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@cache
def _imports(path: Path, version: tuple[int, int], name: str) -> tuple[str, ...]:
    """What a module imports."""
    return tuple(imported(path.read_text("utf-8"), name, path.name == "__init__.py"))


@cache
def _code(path: Path, version: tuple[int, int]) -> str:
    """The digest of a file's code."""
    return hashlib.sha256(repr(_canonical(ast.parse(path.read_bytes()))).encode()).hexdigest()


def _locations(package: str) -> list[Path]:
    """The folders of a top-level package; nothing of it is imported."""
    spec = importlib.util.find_spec(package)
    return [Path(folder) for folder in spec.submodule_search_locations or []] if spec else []


def _file(name: str, roots: dict[str, list[Path]]) -> Path | None:
    """The source file of a module of one of the packages ``roots``, if there is one."""
    top, *rest = name.split(".")
    for root in roots.get(top, []):
        base = root.joinpath(*rest)
        for candidate in (base / "__init__.py", base.with_name(base.name + ".py")):
            if candidate.is_file():
                return candidate
    return None


def _canonical(node: object) -> object:
    """A syntax tree as nested tuples: without positions, empty fields and strings that stand alone.

    Leaving empty fields and empty parts of f-strings out makes it the same in every version of Python, as
    some have them and some have not.
    """
    if isinstance(node, ast.JoinedStr):
        parts = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
        return "JoinedStr", _canonical(parts)
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        return type(node).__name__, tuple((name, _canonical(value)) for name, value in fields)
    if isinstance(node, list):
        return tuple(_canonical(item) for item in node if not _is_bare_string(item))
    return node


def _is_bare_string(node: object) -> bool:
    """Whether a statement is a string that nobody uses: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
