"""What random numbers and floating-point operations cost on this machine now: the unit of all ratios."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costofprivacy.running.work import Work

BUFFER = 2**15  # numbers that stay in a core's second-level cache
SIZE = 384  # of the matrices that are multiplied
SECONDS = 0.3  # of each measurement


@dataclass(frozen=True)
class Prices:
    """Seconds of one core for one normal, one uniform, one operation of a matrix product and one of a loop."""

    normal: float
    uniform: float
    flop: float
    loop: float

    def seconds(self, work: Work) -> float:
        """What some work costs."""
        drawn = self.normal * work.normals + self.uniform * work.uniforms
        return drawn + self.flop * work.flops + self.loop * work.loops

    def __add__(self, other: "Prices") -> "Prices":
        """Their mean: prices before and after a run."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Prices(*((one + two) / 2 for one, two in pairs))


def measure() -> Prices:
    """The prices now, on one core; linear algebra must have one thread."""
    rng, buffer = np.random.default_rng(0), np.empty(BUFFER)
    matrix, product = rng.standard_normal((SIZE, SIZE)), np.empty((SIZE, SIZE))
    other, scratch = rng.standard_normal(BUFFER), np.empty(BUFFER)

    def loop() -> None:
        np.multiply(other, 0.5, out=scratch)
        np.add(scratch, buffer, out=scratch)

    return Prices(
        _each(lambda: rng.standard_normal(out=buffer), BUFFER),
        _each(lambda: rng.random(out=buffer), BUFFER),
        _each(lambda: np.matmul(matrix, matrix, out=product), 2 * SIZE**3),
        _each(loop, 2 * BUFFER),
    )


def _each(call: Callable[[], object], units: int) -> float:
    """Processor time of one unit."""
    call()
    start, calls = time.process_time(), 0
    while time.process_time() - start < SECONDS:
        call()
        calls += 1
    return (time.process_time() - start) / (calls * units)
