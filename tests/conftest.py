"""What every test leaves behind, and what a run of them all need not do."""

import gc
from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest

gc.disable()  # collecting makes objects that stay


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def no_figures_and_no_style_are_left() -> Iterator[None]:
    """Close every figure that a test has drawn, and undo the style that it set."""
    with plt.rc_context():
        yield
    plt.close("all")
