"""Ratios between benchmarks, printed after the run."""

import pytest

SECONDS: dict[str, float] = {}
RATIOS = (
    ("literal Algorithm 1 over the fast path, a trial of five ε", "literal", "fast"),
    ("Figure 1 at full scale over drawing its normals", "figure-1", "normals"),
    ("literal DP-GD over the batch, a step of a configuration", "literal descent, one step", "descents, one step"),
    ("400 descents over drawing their normals", "descents", "draws of descents"),
    *((f"risk chain over its draws, d = {d}", f"chain, {d}", f"draws of the chain, {d}") for d in (10, 1000, 100_000)),
)
NOTES: list[str] = []


@pytest.fixture
def seconds() -> dict[str, float]:
    """Where a benchmark leaves its mean, by name."""
    return SECONDS


@pytest.fixture
def note() -> list[str]:
    """Lines to print after the run."""
    return NOTES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for text, above, below in RATIOS:
        if above in SECONDS and below in SECONDS:
            ratio = SECONDS[above] / SECONDS[below]
            terminalreporter.write_line(f"{text}: {SECONDS[above]:.3g} s / {SECONDS[below]:.3g} s = {ratio:.3g}")
    for line in NOTES:
        terminalreporter.write_line(line)
