"""Other parameters for a chapter: their names, types and ranges, checked before anything is computed."""

import importlib
import sys
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from companion.build import notebooks
from companion.build.project import BookError, Project, RequestError, check_name, is_plain, module_name, place

WORKERS = "workers"
PAPER = "paper"
NOUNS = {bool: ("True or False", "booleans"), int: ("an integer", "integers"), float: ("a number", "numbers")}
LINE = 200  # characters of a value that are shown


def resolve(project: Project, name: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a chapter, with some of them overridden, in the types of their defaults.

    A `RequestError` names an unknown parameter, a wrong type, or a value that the chapter's experiment rejects.
    """
    known = notebooks.defaults(notebooks.read(place(project.book, name).notebook))
    for given in (given for given in overrides if given not in known):
        close = get_close_matches(given, known, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise RequestError(f"unknown parameter {given!r}{hint}; the parameters are {', '.join(known) or 'none'}")
    values = {key: coerce(key, overrides.get(key, default), default) for key, default in known.items()}
    workers = values.get(WORKERS, -1)
    if workers != -1 and workers < 1:
        raise RequestError(f"{WORKERS} must be -1 (all cores) or at least 1, got {workers}")
    experiment_of(project, name, values)
    return values


def experiment_of(project: Project, name: str, values: Mapping[str, Any]) -> Any:
    """The chapter's experiment with these parameters; None for a chapter without any, and for a plain notebook."""
    if not values or is_plain(project, name):
        return None
    experiment = experiment_class(project, name)
    known = {field.name for field in fields(experiment)}
    try:
        return experiment(**{key: value for key, value in values.items() if key != WORKERS or key in known})
    except ValueError as error:
        raise RequestError(error) from error
    except ArithmeticError as error:  # what ANYWAY let through
        raise RequestError("a computation with these parameters overflows or divides by zero") from error


def experiment_class(project: Project, name: str) -> Any:
    """The dataclass ``Experiment`` of a chapter, in ``measure`` of its package."""
    module = f"{module_name(project, name)}.measure"
    try:
        return importlib.import_module(module).Experiment
    except (ModuleNotFoundError, AttributeError) as error:
        raise BookError(f"the chapter {name} needs a class Experiment in {module}: {error}") from error


def preset(project: Project, name: str) -> dict[str, dict[str, Any]]:
    """The overrides of a preset, by chapter; ``paper`` has none."""
    if name == PAPER:
        return {}
    folder = project.book / "presets"
    path = folder / f"{name}.yml"
    if not path.is_file():
        known = sorted({PAPER, *(file.stem for file in folder.glob("*.yml"))})
        raise RequestError(f"PRESET must be one of {', '.join(known)}; got {name!r}")
    overrides = read_yaml_file(path)
    for chapter, values in overrides.items():
        if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
            raise RequestError(f"{path}: {chapter} must map parameters to values, got {_shown(values)}")
    return overrides


def resolve_preset(project: Project, name: str, chapters: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """All parameters of some chapters under a preset; a `RequestError` names what the preset has wrong."""
    overrides = preset(project, name)
    try:
        for chapter in overrides:
            check_name(project, chapter)
        return {chapter: resolve(project, chapter, overrides.get(chapter, {})) for chapter in chapters}
    except RequestError as error:
        raise RequestError(f"preset {name}: {error}") from error


def load(text: str) -> Any:
    """What a piece of YAML holds, as papermill reads it; a ``ValueError`` where it is none."""
    from papermill.iorw import NoDatesSafeLoader

    try:
        return yaml.load(text, NoDatesSafeLoader)
    except (yaml.YAMLError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(str(getattr(error, "problem", None) or error)) from error


def read_yaml(text: str, origin: str) -> dict[str, Any]:
    """Parameters from YAML; a `RequestError` where it does not map names to values."""
    try:
        values = load(text)
    except ValueError as error:
        raise RequestError(f"{origin} must be YAML, got {_shown(text)}: {error}") from error
    values = {} if values is None else values
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise RequestError(f"{origin} must map names to values, got {_shown(text)}")
    return values


def read_yaml_file(path: Path) -> dict[str, Any]:
    """Parameters from a YAML file; a `RequestError` where it cannot be read, or does not map names to values."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is not a regular file")
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise RequestError(f"the parameters file {path} cannot be read: {error}") from error
    return read_yaml(text, f"the parameters file {path}")


def coerce(name: str, value: Any, default: Any) -> Any:
    """A value in the type of its parameter's default, where it plainly has one; as it is where that is ``None``.

    An integer stands for a number, ``200.0`` for an integer, and the text of a number, such as YAML makes of ``1e-5``,
    for that number. A list's elements have the type of the default's elements. Else a `RequestError` says it.
    """
    try:
        return _converted(value, default)
    except (ValueError, OverflowError):
        several = isinstance(default, (list, tuple))
        hint = f'; give a list with -y "{{{name}: [...]}}"' if several and not isinstance(value, (list, tuple)) else ""
        kind = type(_template(default) if several else default)
        noun, plural = NOUNS.get(kind, ("a string" if kind is str else f"a {kind.__name__}", "strings"))
        wanted = f"a list of {plural}" if several else noun
        raise RequestError(f"{name} must be {wanted}, got {_shown(value)}{hint}") from None


def _converted(value: Any, default: Any) -> Any:
    if default is None:
        return value
    if isinstance(default, bool) and value in ("True", "False"):
        return value == "True"
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError
        return float(value) if isinstance(default, float) else _whole(value)
    if isinstance(default, (list, tuple)) and isinstance(value, (list, tuple)):
        return type(default)(_converted(item, _template(default)) for item in value)
    if type(value) is not type(default):
        raise ValueError
    return value


def _whole(value: float | str) -> int:
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            value = float(value)
    if (isinstance(value, float) and not value.is_integer()) or abs(value) > sys.float_info.max:
        raise ValueError
    return int(value)


def _template(default: list[Any] | tuple[Any, ...]) -> Any:
    if any(isinstance(item, float) for item in default):
        return 0.0
    return default[0] if default else None


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number that Python does not write out
        return "a number of thousands of digits"
    return text if len(text) <= LINE else f"{text[:LINE]}..."
