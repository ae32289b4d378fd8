"""The source code that a result depends on, and its digest.

A page and a saved block of trials are stale when the code behind them changes. What changes nothing they
show, a comment or a docstring, does not make them stale. Imports are read, not run: a module that is
imported by a computed name (``importlib.import_module``) is not seen.
"""

import ast
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from companion import HOUSES


def closure(modules: Iterable[str]) -> dict[str, Path]:
    """Every module that the given ones import, directly or not, by name, with the file that holds it.

    Follows imports within the given modules' own top-level packages and `HOUSES` only, wherever in the source they
    stand; a module brings the ``__init__``, if any, of each package around it. A ``ValueError`` names a given module
    that has no source file.
    """
    wanted = sorted(set(modules))
    roots = _roots(wanted)
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


def exists(module: str) -> bool:
    """Whether a dotted name is that of a module with a source file; nothing is imported."""
    top = module.partition(".")[0]
    return _file(module, {top: _locations(top)}) is not None


def digest(modules: Iterable[str]) -> str:
    """SHA-256 of the code of the modules' closure, without comments, docstrings and layout.

    Guarantees the same digest for the same code under every Python from 3.11 on.
    """
    total = hashlib.sha256()
    for name, path in closure(modules).items():
        total.update(f"{name}\0{_read(path, name)[1]}\0".encode())
    return total.hexdigest()


def digest_of(*objects: Any) -> str:
    """SHA-256 of the code that functions and classes depend on, definition by definition; as in `digest`.

    Follows each name that a definition uses: within its module, and through imports into the modules of its own
    top-level package and of `HOUSES`. What no used name leads to is left out, so that another function of the same
    module changes nothing. A module that is used as a whole, or of which a name is used that cannot be found, counts
    with its closure; statements at a module's top level that define nothing always count.
    """
    waiting = sorted({(thing.__module__, thing.__qualname__.partition(".")[0]) for thing in objects})
    families = {*HOUSES, *(module.partition(".")[0] for module, _ in waiting)}
    found: dict[tuple[str, str], str] = {}
    while waiting:
        module, name = waiting.pop()
        if (module, name) in found or module.partition(".")[0] not in families:
            continue
        found[module, name], needs = _definition(module, name)
        waiting += needs
    text = "\0".join(f"{module}.{name}={code}" for (module, name), code in sorted(found.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def libraries(modules: Iterable[str]) -> set[str]:
    """The top-level names that the modules' closure imports from elsewhere, Python's own among them."""
    found = closure(modules)
    own = {name.partition(".")[0] for name in found}
    return {need.partition(".")[0] for name, path in found.items() for need in _read(path, name)[0]} - own


@dataclass(frozen=True)
class _Module:
    """A parsed module: what defines each of its names, and what else stands at its top level."""

    definitions: Mapping[str, tuple[ast.stmt, ...]]
    rest: tuple[ast.stmt, ...]


_WHOLE = "*"  # the name under which a module counts as a whole
_REST = ""  # the name of the statements that define nothing


def _definition(module: str, name: str) -> tuple[str, list[tuple[str, str]]]:
    """The digest of what defines a name in a module, and the names that it uses."""
    roots = _roots([module])
    path = _file(module, roots)
    if path is None:  # a folder without ``__init__``: what is taken from it is a module
        submodule = f"{module}.{name}"
        return "", [(submodule, _WHOLE)] if _file(submodule, roots) else []
    if name == _WHOLE:
        return digest([module]), []
    parsed = _parsed(path, _version(path))
    nodes = parsed.rest if name == _REST else parsed.definitions.get(name, ())
    if not nodes and name != _REST:
        submodule = f"{module}.{name}"
        return "", [(submodule if _file(submodule, roots) else module, _WHOLE)]
    code = hashlib.sha256(repr([_canonical(node) for node in nodes if not _is_import(node)]).encode()).hexdigest()
    needs = [] if name == _REST else [(module, _REST)]
    for node in nodes:
        needs += _sources(node, module, path, name) if _is_import(node) else _uses(node, module, parsed, path, roots)
    return code, [need for need in needs if need != (module, name)]


@cache
def _parsed(path: Path, version: tuple[int, int]) -> _Module:
    definitions: dict[str, list[ast.stmt]] = {}
    rest: list[ast.stmt] = []
    for node in ast.parse(path.read_bytes()).body:
        names = _defined(node)
        for name in names:
            definitions.setdefault(name, []).append(node)
        if not names and not _is_bare_string(node):
            rest.append(node)
    return _Module({name: tuple(nodes) for name, nodes in definitions.items()}, tuple(rest))


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    named = [leaf for target in targets if target is not None for leaf in ast.walk(target)]
    return [leaf.id for leaf in named if isinstance(leaf, ast.Name)]


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _sources(node: ast.stmt, module: str, path: Path, name: str) -> list[tuple[str, str]]:
    """Where an import statement takes a name from."""
    if isinstance(node, ast.Import):
        chosen = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) == name]
        return [(alias.name if alias.asname else alias.name.partition(".")[0], _WHOLE) for alias in chosen]
    assert isinstance(node, ast.ImportFrom)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    return [(base, alias.name) for alias in node.names if (alias.asname or alias.name) == name]


def _uses(
    node: ast.stmt, module: str, parsed: _Module, path: Path, roots: dict[str, list[Path]]
) -> list[tuple[str, str]]:
    """The names of the module that a definition uses; ``tools.f`` of an imported module is a use of its f alone."""
    found: list[tuple[str, str]] = []
    qualified: set[ast.Name] = set()
    for leaf in ast.walk(node):
        if isinstance(leaf, ast.Attribute) and isinstance(leaf.value, ast.Name):
            target = _imported_module(leaf.value.id, module, parsed, path, roots)
            if target is not None:
                qualified.add(leaf.value)
                found.append((target, leaf.attr))
    names = {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name) and leaf not in qualified}
    return found + [(module, name) for name in sorted(names) if name in parsed.definitions]


def _imported_module(name: str, module: str, parsed: _Module, path: Path, roots: dict[str, list[Path]]) -> str | None:
    """The module of one of the packages ``roots`` that an import binds to a name, if it is one."""
    for node in parsed.definitions.get(name, ()):
        if isinstance(node, ast.ImportFrom):
            for base, original in _sources(node, module, path, name):
                if _file(f"{base}.{original}", roots) is not None:
                    return f"{base}.{original}"
    return None


def imported(source: str, module: str = "", is_package: bool = False) -> list[str]:
    """The dotted names that a piece of source imports: modules, and what might be one; with repetitions.

    ``from a import b`` yields ``a`` and ``a.b``, as ``b`` may be a module. Relative imports are resolved against the
    source's own name, ``module``, which may be that of a package.
    """
    return _imported(ast.parse(source), module, is_package)


def _imported(tree: ast.Module, module: str, is_package: bool) -> list[str]:
    package = module if is_package else module.rpartition(".")[0]
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _needs(name: str, path: Path) -> list[str]:
    parents = [name.rsplit(".", up)[0] for up in range(1, name.count(".") + 1)]
    return [*parents, *_read(path, name)[0]]


def _version(path: Path) -> tuple[int, int]:
    """What tells one content of a file from another, so that each is read once."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


_KNOWN: dict[str, tuple[str, list[str], str]] = {}  # what `_read` has found, and in which file, by module


def _read(path: Path, name: str) -> tuple[list[str], str]:
    """What a module imports, and the digest of its code."""
    file = f"{path} {_version(path)}"
    known = _KNOWN.get(name)
    if known is None or known[0] != file:
        tree = ast.parse(path.read_bytes())
        code = hashlib.sha256(repr(_canonical(tree)).encode()).hexdigest()
        known = _KNOWN[name] = file, _imported(tree, name, path.name == "__init__.py"), code
    return known[1], known[2]


@contextmanager
def remembered(file: Path) -> Iterator[None]:
    """Keep what modules import and their digests in a file: one whose time and size are the same is not parsed again.

    What another version of this module or of Python has written there is not used.
    """
    by = [sys.version, hashlib.sha256(Path(__file__).read_bytes()).hexdigest()]
    with suppress(OSError, ValueError):
        content = json.loads(file.read_text("utf-8"))
        if content["by"] == by:
            _KNOWN.update(content["known"])
    before = dict(_KNOWN)
    try:
        yield
    finally:
        if before != _KNOWN:
            file.parent.mkdir(parents=True, exist_ok=True)
            new = file.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps({"by": by, "known": _KNOWN}), "utf-8")
            new.replace(file)


def _roots(modules: Iterable[str]) -> dict[str, list[Path]]:
    return {top: _locations(top) for top in {*HOUSES, *(module.partition(".")[0] for module in modules)}}


def _locations(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    return [Path(folder) for folder in spec.submodule_search_locations or []] if spec else []


def _file(name: str, roots: dict[str, list[Path]]) -> Path | None:
    """The source file of a module of one of the packages ``roots``, if there is one."""
    top, *rest = name.split(".")
    for root in roots.get(top, []):
        base = os.path.join(root, *rest)  # strings, as this is asked some hundred thousand times
        for candidate in (f"{base}/__init__.py", f"{base}.py"):
            if os.path.isfile(candidate):
                return Path(candidate)
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
        fields = [(name, value) for name in node._fields if (value := getattr(node, name, None)) not in (None, [])]
        return type(node).__name__, tuple([(name, _canonical(value)) for name, value in fields])
    if isinstance(node, list):
        return tuple([_canonical(item) for item in node if not _is_bare_string(item)])
    return node


def _is_bare_string(node: object) -> bool:
    """Whether a statement is a string that nobody uses: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
