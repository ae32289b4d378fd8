"""Worker processes that do not outlive the process that started them, however it ended."""

import os
import threading
import time

import joblib

PAUSE = 1.0  # seconds between two looks
_watched: set[int] = set()


def pool(workers: int) -> joblib.Parallel:
    """Worker processes that end with this one, and hand over what they have finished as it comes.

    Args:
        workers: how many, at least 1; -1 for all cores.
    """
    return joblib.Parallel(workers, return_as="generator_unordered", initializer=end_with, initargs=(os.getpid(),))


def end_with(owner: int) -> None:
    """Let this process end when the one that started it does, at once if that has ended already.

    A process that is killed takes no leave of its workers: they look for it themselves, from a thread of their own. A
    pool of them calls this as its initializer, since one that waits for its first task would wait for minutes. Nothing
    is done in the owner itself, where a pool of one works.

    Args:
        owner: the number of the process that started this one.
    """
    if owner != os.getpid() and owner not in _watched:
        _watched.add(owner)
        threading.Thread(target=_watch, args=(owner,), daemon=True).start()


def _watch(owner: int) -> None:
    """End this process once its parent is another: an orphan's is the system's first process or a guardian."""
    while os.getppid() == owner:
        time.sleep(PAUSE)
    os._exit(1)
