"""What can go wrong, as one line for the person at the terminal."""


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
