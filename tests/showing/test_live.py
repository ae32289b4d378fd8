import subprocess
import sys

import pytest

DRAWS = """
import io
from matplotlib import pyplot as plt
from costofprivacy.showing import live
live.look()
figure, axes = plt.subplots()
axes.plot([0, 1], label="a line")
axes.legend()
buffer = io.StringIO()
figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
print(*figure.get_size_inches(), axes.get_legend().get_texts()[0].get_fontsize(), plt.rcParams["axes.spines.top"])
print(buffer.getvalue())
"""


def drawn() -> str:
    """What a session of its own draws: the look is that of a whole process."""
    return subprocess.run([sys.executable, "-c", DRAWS], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_figures_of_a_session_are_small_legible_and_the_same_bits_each_time() -> None:
    first = drawn()
    assert first.splitlines()[0] == "5.2 3.1 10.0 False"
    assert "<svg" in first
    assert drawn() == first
