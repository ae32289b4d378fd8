"""Values that a parameter might be given: ordinary, at and around the ends of its range, and far beyond."""

import math
import random
from collections.abc import Iterator
from typing import Any

from costofprivacy.declaration import Parameter, declarations

FAR = (
    0.0,
    -0.0,
    5e-324,
    1e-308,
    1e-200,
    1e-30,
    -1.0,
    0.5,
    1.0,
    2.0,
    1e6,
    1e12,
    1e18,
    1e200,
    1.7e308,
    math.inf,
    -math.inf,
)
WRONG = ("nan", "many", "", "1e", "[]", None, True, [], {}, [[1]], "__import__('os')", "1" * 400, -(10**30), 10**400)


def of(declared: Parameter, rng: random.Random) -> Any:
    """One value for a parameter, as a command line or a file would give it."""
    kind = rng.random()
    if kind < 0.15:
        return rng.choice(WRONG)
    if declared.range.convert is str:
        return rng.choice([declared.default, "all", "none", 5])
    value = (
        [_number(declared, rng) for _ in range(rng.choice([1, 1, 2, 5]))] if declared.many else _number(declared, rng)
    )
    return str(value) if kind > 0.9 and not declared.many else value


def _number(declared: Parameter, rng: random.Random) -> Any:
    """A number in, at or beyond the range, as likely each; near the default more often than not."""
    default = rng.choice(declared.default) if declared.many else declared.default
    low, high = declared.range.ends or (-math.inf, math.inf)
    if rng.random() < 0.4:
        found = rng.choice(FAR)
    elif rng.random() < 0.4:
        found = rng.choice([low, high, low * 0.99, high * 1.01])
    else:
        found = default * 10 ** rng.uniform(-1.5, 1.5) if default else rng.random()
    return _whole(found) if declared.range.convert is int and rng.random() < 0.9 else found


def _whole(value: float) -> Any:
    return round(value) if math.isfinite(value) else value


def single(experiments: dict[str, type], count: int, rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Sets of one parameter each, every parameter of every chapter in turn."""
    every = [(name, d) for name, kind in experiments.items() for d in declarations(kind)]
    for k in range(count):
        name, declared = every[k % len(every)]
        yield name, {declared.name: of(declared, rng)}


def pairs(experiments: dict[str, type], count: int, rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Sets of two parameters of one chapter."""
    several = {name: declarations(kind) for name, kind in experiments.items() if len(declarations(kind)) > 1}
    for _ in range(count):
        name = rng.choice(list(several))
        yield name, {declared.name: of(declared, rng) for declared in rng.sample(several[name], 2)}
