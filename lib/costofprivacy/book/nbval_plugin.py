"""A pytest plugin beside nbval: where a chapter writes, that it writes nothing to the error stream, and how it ends.

nbval compares the outputs of marked cells only; a warning in any other cell would reach a committed page.
"""

import os
import signal
import sys
from collections.abc import Generator

import pytest

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # a second to import, for formats of no notebook


def pytest_configure() -> None:
    """An interrupt ends this process with its kernel, also where a shell in the background had it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before a notebook's kernel starts: its results go into the folder beside it."""
    os.environ["COSTOFPRIVACY_RESULTS"] = str(item.path.with_suffix(""))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a cell with an output on the error stream, after nbval has run it."""
    result = yield
    for output in getattr(item, "test_outputs", None) or []:
        if output.get("output_type") == "stream" and output.get("name") == "stderr":
            pytest.fail(f"{item.nodeid} wrote to stderr: {output.text.strip()}", pytrace=False)
    return result
