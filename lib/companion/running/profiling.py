"""Where the time of a run goes: ``make chapter NAME=... P=--profile``."""

from __future__ import annotations

import cProfile
import pstats
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from companion import HOUSES

VARIABLE = "COSTOFPRIVACY_PROFILE"  # set: a chapter is measured anew, in one process, under the profiler
TEXT, DATA = "profile.txt", "profile.prof"
OURS = HOUSES
LINES = 20

T = TypeVar("T")


def profiled(call: Callable[[], T], folder: Path) -> T:
    """Call a function under Python's profiler; leave a summary, `TEXT`, and the whole profile, `DATA`, in a folder.

    The profiler makes calls of short functions slower than they are, and counts compiled loops and NumPy's as one call.
    """
    profile = cProfile.Profile()
    result = profile.runcall(call)
    folder.mkdir(parents=True, exist_ok=True)
    stats = pstats.Stats(profile)
    stats.dump_stats(folder / DATA)
    (folder / TEXT).write_text("\n".join(summary(stats)) + "\n", "utf-8")
    return result


def summary(stats: pstats.Stats) -> list[str]:
    """Seconds by package, and our own functions with the most time in them and in what they call, in lines."""
    packages: dict[str, float] = defaultdict(float)
    functions: list[tuple[float, float, int, str]] = []
    table: dict[tuple[str, int, str], tuple[Any, ...]] = stats.stats  # type: ignore[attr-defined]
    for (file, _, name), (_, calls, own, cumulative, _) in table.items():
        package, module = _place(file, name)
        packages[package] += own
        if package in OURS:
            functions.append((cumulative, own, calls, f"{module}.{name}"))
    whole = sum(packages.values())
    lines = [f"{whole:.1f} s of processor time, in one process", "", " seconds  share  where (own time)"]
    for package, own in sorted(packages.items(), key=lambda item: -item[1])[:8]:
        lines.append(f"{own:8.2f}  {own / whole:5.0%}  {package}")
    lines += ["", "   whole     own    calls  our functions (whole: with what they call)"]
    for cumulative, own, calls, name in sorted(functions, reverse=True)[:LINES]:
        lines.append(f"{cumulative:8.2f}{own:8.2f}{calls:9d}  {name}")
    return lines


def _place(file: str, name: str) -> tuple[str, str]:
    """Package and module of a function, by its file."""
    parts = Path(file).with_suffix("").parts
    for house in OURS:
        if house in parts:
            return house, ".".join(parts[len(parts) - parts[::-1].index(house) :])
    for home in ("site-packages", "dist-packages"):
        if home in parts:
            return parts[parts.index(home) + 1], ""
    if file == "~":  # a function written in C
        return ("numpy" if "numpy" in name else "built in"), ""
    return "Python's library", ""
