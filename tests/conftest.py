"""What every test leaves behind."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def no_figures_are_left_open() -> Iterator[None]:
    """Close every figure that a test has drawn."""
    yield
    plt.close("all")
