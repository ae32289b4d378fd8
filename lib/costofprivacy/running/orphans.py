"""Worker processes that do not outlive the process that started them, and share its memory."""

import os
import threading
import time

import joblib

from costofprivacy.running import memory

PAUSE = 1.0  # seconds between two looks
_watched: set[int] = set()


def pool(workers: int, tasks: int) -> joblib.Parallel:
    """Worker processes that end with this one, and hand over what they have finished as it comes.

    If this process has a limit of memory (`costofprivacy.running.memory`), each of them has its share.

    Args:
        workers: how many, at least 1; -1 for all cores. tasks: how many there are to do; no more workers are started.
    """
    share = memory.share(joblib.effective_n_jobs(workers))
    return joblib.Parallel(
        min(workers, tasks), return_as="generator_unordered", initializer=_begin, initargs=(os.getpid(), share)
    )


def _begin(owner: int, share: float) -> None:
    """What a worker process does first."""
    if owner != os.getpid():  # a pool of one works in the owner itself
        memory.confine(share)
        end_with(owner)


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
