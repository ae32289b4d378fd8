"""Other parameters for a chapter: their names, types and ranges, checked before anything is computed."""

import importlib
import stat
import sys
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from companion import module_of
from companion.build import notebooks
from companion.build.errors import BookError, RequestError
from companion.build.project import Project, check_name, is_plain, module_name, place

WORKERS = "workers"
PAPER = "paper"
NOUNS = {bool: "True or False", int: "an integer", float: "a number", str: "a string"}
MOST_BYTES = 2**20  # of a file of parameters
LINE = 200  # characters of a value that are shown
BEYOND = {OverflowError: "a number is too large for a double", ZeroDivisionError: "a division by zero"}
PLURALS = {bool: "booleans", int: "integers", float: "numbers", str: "strings"}


def resolve(project: Project, name: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a chapter, with some of them overridden.

    Args:
        project: the book.
        name: a chapter's name.
        overrides: values by parameter name, as they came from a command line or a file.

    Returns:
        Every parameter of the chapter with its value, of the type that its default has.

    Raises:
        RequestError: an unknown name, a wrong type, or a value that the chapter's experiment rejects.
    """
    known = notebooks.defaults(notebooks.read(place(project.book, name).notebook))
    for given in overrides:
        if given not in known:
            raise RequestError(_unknown(given, list(known)))
    values = {key: coerce(key, overrides.get(key, default), default) for key, default in known.items()}
    admit(project, name, values)
    return values


def admit(project: Project, name: str, values: Mapping[str, Any]) -> None:
    """Let the chapter's ``Experiment`` check the values; nothing is run.

    Raises:
        RequestError: a value is out of its range.
        BookError: the chapter has parameters, but no such class.
    """
    workers = values.get(WORKERS, -1)
    if workers != -1 and workers < 1:
        raise RequestError(f"{WORKERS} must be -1 (all cores) or at least 1, got {workers}")
    experiment_of(project, name, values)


def experiment_of(project: Project, name: str, values: Mapping[str, Any]) -> Any:
    """The chapter's experiment with these parameters; None for a chapter without any, and for a plain notebook.

    Raises:
        RequestError: a value is out of its range.
        BookError: the chapter has parameters, but no such class.
    """
    if not values or is_plain(project, name):
        return None
    experiment = experiment_class(project, name)
    known = {field.name for field in fields(experiment)}
    try:
        return experiment(**{key: value for key, value in values.items() if key != WORKERS or key in known})
    except ValueError as error:
        raise RequestError(error) from error
    except ArithmeticError as error:  # what ANYWAY let through
        kind = next((words for kind, words in BEYOND.items() if isinstance(error, kind)), "an operation is undefined")
        raise RequestError(f"the computation fails with these parameters: {kind}") from error


def experiment_class(project: Project, name: str) -> Any:
    """The dataclass ``Experiment`` of a chapter, found by the convention of :func:`module_name`.

    Raises:
        BookError: the module or the class does not exist.
    """
    module = module_name(project, name)
    try:
        module = module_of(module, "measure", "experiment")
        return importlib.import_module(module).Experiment
    except (ModuleNotFoundError, AttributeError) as error:
        raise BookError(f"the chapter {name} needs a class Experiment in {module}: {error}") from error


def coerce(name: str, value: Any, default: Any) -> Any:
    """A value in the type of its parameter's default, where it plainly has one.

    An integer stands for a number, ``200.0`` for an integer, and the text of a number, such as YAML makes
    of ``1e-5``, for that number.

    Args:
        name: the parameter, for the message.
        value: what was given.
        default: the value in the chapter; a list's elements have the type of the default's elements.

    Returns:
        The value in the default's type; the value as it is where the default is ``None``.

    Raises:
        RequestError: the value is plainly of another type.
    """
    try:
        return _converted(value, default)
    except ValueError:
        scalar = isinstance(default, (list, tuple)) and not isinstance(value, (list, tuple))
        hint = f'; give a list with -y "{{{name}: [...]}}"' if scalar else ""
        raise RequestError(f"{name} must be {_kind(default)}, got {_shown(value)}{hint}") from None


def preset(project: Project, name: str) -> dict[str, dict[str, Any]]:
    """The overrides of a preset, by chapter; ``paper`` has none.

    Raises:
        RequestError: there is no such preset, or its file is not a mapping of chapters to parameters.
    """
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
    """All parameters of every chapter under a preset.

    Raises:
        RequestError: the preset names an unknown chapter, or a value in it is inadmissible.
    """
    overrides = preset(project, name)
    try:
        for chapter in overrides:
            check_name(project, chapter)
        return {chapter: resolve(project, chapter, overrides.get(chapter, {})) for chapter in chapters}
    except RequestError as error:
        raise RequestError(f"preset {name}: {error}") from error


def load(text: str) -> Any:
    """What a piece of YAML holds, as papermill reads it.

    Raises:
        ValueError: it is none.
    """
    from papermill.iorw import NoDatesSafeLoader

    try:
        return yaml.load(text, NoDatesSafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(str(getattr(error, "problem", None) or error)) from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except (AttributeError, KeyError, TypeError) as error:  # where a tag does not fit its text
        raise ValueError(f"a value does not fit its tag: {error}") from error


def read_yaml(text: str, origin: str) -> dict[str, Any]:
    """Parameters from YAML.

    Raises:
        RequestError: the text is not YAML, or not a mapping with names as keys.
    """
    try:
        values = load(text)
    except ValueError as error:
        raise RequestError(f"{origin} must be YAML, got {_shown(text)}: {error}") from error
    values = {} if values is None else values
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise RequestError(f"{origin} must map names to values, got {_shown(text)}")
    return values


def read_yaml_file(path: Path) -> dict[str, Any]:
    """Parameters from a YAML file.

    Raises:
        RequestError: the file cannot be read, or does not map names to values.
    """
    try:
        text = read_small(path)
    except (OSError, ValueError) as error:
        raise RequestError(f"the parameters file {path} cannot be read: {error}") from error
    return read_yaml(text, f"the parameters file {path}")


def read_small(path: Path) -> str:
    """The text of a file that a person wrote.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no regular file (a device may have no end), larger than `MOST_BYTES`, or not in UTF-8.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is not a regular file")
    with path.open("rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not in UTF-8: {error.reason} at byte {error.start}") from error


def _converted(value: Any, default: Any) -> Any:
    """The value in the default's type; a ``ValueError`` where it has another."""
    if default is None:
        return value
    if isinstance(default, bool):
        return _boolean(value)
    if isinstance(default, int):
        return _integer(value)
    if isinstance(default, float):
        return _number(value)
    if isinstance(default, (list, tuple)) and isinstance(value, (list, tuple)):
        return type(default)(_converted(item, _template(default)) for item in value)
    if type(value) is type(default):
        return value
    raise ValueError


def _shown(value: Any) -> str:
    """A value as it was given, on one line of the usual length."""
    try:
        text = repr(value)
    except ValueError:  # a whole number that Python does not write out
        return "a number of thousands of digits"
    return text if len(text) <= LINE else f"{text[:LINE]}..."


def _boolean(value: Any) -> bool:
    """A truth value, as YAML or papermill spell it."""
    if isinstance(value, bool):
        return value
    if value in ("True", "False"):
        return bool(value == "True")
    raise ValueError


def _number(value: Any) -> float:
    """A number, or the text of one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError
    try:
        return float(value)
    except OverflowError:  # a whole number that no double holds
        raise ValueError from None


def _integer(value: Any) -> int:
    """An integer, or a number or the text of one that is whole."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value) if abs(value) < sys.float_info.max else _whole(value)
    try:
        return int(value) if isinstance(value, str) else _whole(value)
    except ValueError:
        return _whole(value)


def _whole(value: Any) -> int:
    """The integer that a number is."""
    number = _number(value)
    if not number.is_integer():
        raise ValueError
    return int(number)


def _template(default: list[Any] | tuple[Any, ...]) -> Any:
    """What an element of a list looks like: a number where any is one, else like the first."""
    if any(isinstance(item, float) for item in default):
        return 0.0
    return default[0] if default else None


def _kind(default: Any) -> str:
    """A default's type in words."""
    if isinstance(default, (list, tuple)):
        plural = PLURALS.get(type(_template(default)))
        return f"a list of {plural}" if plural else "a list"
    return NOUNS.get(type(default), f"a {type(default).__name__}")


def _unknown(given: str, known: list[str]) -> str:
    """The message on a name that is none of the chapter's parameters."""
    close = get_close_matches(given, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"unknown parameter {given!r}{hint}; the parameters are {', '.join(known) or 'none'}"
