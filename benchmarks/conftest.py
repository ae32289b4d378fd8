"""Ratios between benchmarks, printed after the run."""

import pytest

SECONDS: dict[str, float] = {}
RATIOS = (
    ("literal Algorithm 1 over the fast path, a trial of five ε", "literal", "fast"),
    ("Figure 1 at full scale over drawing its normals", "figure-1", "normals"),
    ("literal Algorithm 1 over the fast path, a trial of Figure 2 at N = 1000", "literal-2", "fast-2"),
    ("Figure 2 as printed, at full scale, over drawing its normals", "figure-2", "normals-2"),
    ("literal Table 1, a trial in one setting, over the fast path in all", "table-1 literal", "table-1 fast"),
    ("an audit over drawing its normals", "audit", "audit normals"),
    ("literal Figure 4 with one α over the fast path with all", "literal-attack", "fast-attack"),
    ("literal Algorithm 1 over the fast path, a trial of Figure 3", "literal-3", "fast-3"),
    ("literal DP-GD over the batch, a step of a configuration", "literal descent, one step", "descents, one step"),
    ("400 descents over drawing their normals", "descents", "draws of descents"),
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
