"""Words from one text: what `make` hands on of P, which no shell is to read."""

import shlex
from collections.abc import Sequence

from companion.build.errors import RequestError

OPTION = "--words"


def spread(arguments: Sequence[str]) -> list[str]:
    """The arguments with the words of each ``--words TEXT``, quoted as for a shell, at their end.

    Nothing is expanded or run: ``$``, backquotes and semicolons are letters. At the end an option among the words that
    lacks its value finds no other argument to take for it.

    Raises:
        RequestError: a quotation in a text does not end, or what stands after ``--`` would be taken for an option.
    """
    found: list[str] = []
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--" and not words:
            return [*found, argument, *rest]
        if argument == "--":
            found += map(_plain, rest)
        elif argument == OPTION:
            words += _split(next(rest, ""))
        else:
            found.append(argument)
    return found + words


def _plain(argument: str) -> str:
    """An argument that is no option.

    Raises:
        RequestError: it looks like one.
    """
    if argument.startswith("-"):
        raise RequestError(f"NAME must be a chapter, and CLUSTER an address, got {argument!r}")
    return argument


def _split(text: str) -> list[str]:
    """The words of a text."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise RequestError(
            f"P must be written like options on a command line, got {text!r}: {str(error).lower()}"
        ) from error
