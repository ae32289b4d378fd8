"""Words from one text: what `make` hands on of P, which no shell is to read."""

import shlex
from collections.abc import Sequence

from costofprivacy.book.errors import RequestError

OPTION = "--words"


def spread(arguments: Sequence[str]) -> list[str]:
    """The arguments with each ``--words TEXT`` replaced by the words of the text, quoted as for a shell.

    Nothing is expanded or run: ``$``, backquotes and semicolons are letters.

    Raises:
        RequestError: a quotation in a text does not end.
    """
    found: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return [*found, argument, *rest]
        found += _split(next(rest, "")) if argument == OPTION else [argument]
    return found


def _split(text: str) -> list[str]:
    """The words of a text."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise RequestError(f"P must be words as for a shell, got {text!r}: {str(error).lower()}") from error
