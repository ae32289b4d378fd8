"""What can go wrong, as one line for the person at the terminal."""

import re
import shutil


class BookError(Exception):
    """The run cannot go on; its text is the one line to show."""

    status = 1

    def __init__(self, text: object) -> None:
        """Keep the text on one line, however many it came in."""
        super().__init__(" ".join(str(text).split()))


class RequestError(BookError):
    """What was asked for is inadmissible; nothing has been computed."""

    status = 2


class Interrupted(BookError):
    """Somebody ended the run."""

    status = 130


def told(error: OSError) -> str:
    """What the system refused, and on which file: of several, such as a folder that is copied, the first."""
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        _, target, reason = error.args[0][0]
        known = re.match(r"\[Errno \d+\] ([^:]+)", str(reason))
        return f"{target}: {known[1] if known else reason}"
    target, reason = error.filename2 or error.filename, error.strerror or str(error) or type(error).__name__
    return f"{target}: {reason}" if target else reason
