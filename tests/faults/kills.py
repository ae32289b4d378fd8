"""Signals at random moments: to make, the book's command, its kernel, a worker, or all of them."""

import random
import signal
import time
from collections.abc import Iterator
from functools import partial

from tests.faults.chapter import Chapter, Fault

GENTLE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KINDS = [(role, number) for number in GENTLE for role in ("parent", "kernel", "worker", "group")]
KINDS += [("make", signal.SIGTERM)]  # the others make keeps to itself, and goes on
KINDS += [(role, signal.SIGKILL) for role in ("parent", "kernel", "worker", "group")]


def campaign(chapter: Chapter, number: int, rng: random.Random) -> Iterator[Fault]:
    """So many faults, each kind as often as the others, at moments spread over a run."""
    for k in range(number):
        role, kind = KINDS[k % len(KINDS)]
        yield f"{signal.Signals(kind).name} to {role}", partial(kill, chapter, role, kind, rng.random())


def kill(chapter: Chapter, role: str, number: int, share: float) -> str:
    """Start a run from nothing, send a signal after a share of its work, and run again; what went wrong, in words."""
    chapter.fresh()
    run = chapter.start()
    while run.processor() < share * chapter.processor and run.popen.poll() is None:
        time.sleep(0.1)  # a busy machine takes longer for the same share
    while not run.signal(role, number) and run.popen.poll() is None:
        time.sleep(0.02)  # a kernel, or a worker, has yet to be started
    left = run.ended()
    if left:
        return f"still running: {'; '.join(left.values())}"
    half = chapter.contents()
    if half and {name for name in half if half[name] != chapter.bits.get(name)} - {"stamp.json"}:
        return "something half-written is in the results"
    return chapter.wrong(run)
