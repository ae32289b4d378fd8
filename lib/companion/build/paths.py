"""Paths of a picture in fewer letters: each point relative to the one before, as SVG writes it shortest.

A point is rounded first, to whole hundredths, and only then are differences taken, so that no rounding adds up along a
path.
"""

import re

STEPS = {"M": 1, "L": 1, "Q": 2, "C": 3}  # points behind a command; a path by matplotlib has no other but z
PART = re.compile(r"([MLQCz])([^MLQCz]*)")
NUMBER = re.compile(r"-?\d*\.?\d+")
PLAIN = re.compile(r"[MLQCz\d\s.,-]*")
UNIT = 100  # parts of a unit to which points are rounded
Point = tuple[int, int]


def relative(path: str) -> str:
    """A path's data, for the eye the same; as it is where it has other commands, or where nothing is gained.

    Args:
        path: the attribute ``d`` of a path.

    >>> relative("M100.5 20L103 22.25L103 19z")
    'm100.5 20 2.5 2.25 0-3.25z'
    """
    if not PLAIN.fullmatch(path):
        return path
    written, here, start, last = "", (0, 0), (0, 0), ""
    for command, text in PART.findall(path):
        if command == "z":
            written, here, last = f"{written}z", start, ""
            continue
        numbers = [round(float(number) * UNIT) for number in NUMBER.findall(text)]
        size = 2 * STEPS[command]
        if not numbers or len(numbers) % size:
            return path
        for first in range(0, len(numbers), size):
            step, here = _step(numbers[first : first + size], here)
            name = "l" if command == "M" and first else command.lower()
            repeats = name == last
            written += step if repeats and step.startswith("-") else f" {step}" if repeats else f"{name}{step}"
            last = "l" if name == "m" else name
            start = here if command == "M" and not first else start
    return written if len(written) < len(path) else path


def _step(numbers: list[int], here: Point) -> tuple[str, Point]:
    """The points of one command relative to where it starts, and where it ends."""
    parts = [_written(number - here[place % 2]) for place, number in enumerate(numbers)]
    joined = "".join(part if not place or part.startswith("-") else f" {part}" for place, part in enumerate(parts))
    return joined, (numbers[-2], numbers[-1])


def _written(hundredths: int) -> str:
    """A number without zeros that say nothing."""
    sign, size = "-" if hundredths < 0 else "", abs(hundredths)
    whole, rest = divmod(size, UNIT)
    decimals = f".{rest:02d}".rstrip("0").rstrip(".")
    return f"{sign}{whole or ('' if decimals else '0')}{decimals}"
