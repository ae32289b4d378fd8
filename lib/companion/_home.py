"""Imported before matplotlib: a home folder that cannot be written to is no matter for a page.

Matplotlib then keeps its cache in a temporary folder, and says so on the error stream, where it would be an output of a
chapter's first cell.
"""

import logging

ABOUT_ITS_CACHE = ("mkdir -p failed for path", "Matplotlib created a temporary cache directory")


def is_for_the_page(record: logging.LogRecord) -> bool:
    """Whether a message of matplotlib's is about something else than where it keeps its cache."""
    return not str(record.msg).startswith(ABOUT_ITS_CACHE)


logging.getLogger("matplotlib").addFilter(is_for_the_page)
