"""Worker processes that do not outlive the process that started them, however it ended."""

import os
import threading
import time

PAUSE = 1.0  # seconds between two looks
_watched: set[int] = set()


def end_with(owner: int) -> None:
    """Let this process end when its parent does; nothing where ``owner`` is not its parent.

    A process that is killed takes no leave of its workers: they look for it themselves, from a thread of their own.

    Args:
        owner: the number of the process that handed out the work.
    """
    if os.getppid() == owner and owner not in _watched:
        _watched.add(owner)
        threading.Thread(target=_watch, args=(owner,), daemon=True).start()


def _watch(owner: int) -> None:
    """End this process once its parent is another: an orphan's is the system's first process or a guardian."""
    while os.getppid() == owner:
        time.sleep(PAUSE)
    os._exit(1)
