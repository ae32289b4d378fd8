"""What a run tells: how far it is, and on demand where its time went.

The first is a bar in a terminal or a notebook; without either, a line in a file now and then. In a notebook the bar,
and whatever else a live session says, is a widget and nothing but a widget. Validators such as nbval leave widgets out
of their comparison, so a notebook may be validated with and without a person who looks on.
"""

import cProfile
import os
import pstats
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from tqdm.std import tqdm

from companion import HOUSES

T = TypeVar("T")
PROFILE = "COSTOFPRIVACY_PROFILE"  # set: a chapter is measured anew, in one process, under the profiler
PROFILE_TEXT, PROFILE_DATA, PROFILE_LINES = "profile.txt", "profile.prof", 20
LINES: dict[str, Any] = {  # one in 15 seconds at most, where there is no terminal
    "bar_format": "{n_fmt} of {total_fmt} blocks, {elapsed}, {remaining} to go\n",
    **{"mininterval": 15.0, "delay": 15.0, "miniters": 1, "smoothing": 0.0},
}
WIDGET = "application/vnd.jupyter.widget-view+json"


@contextmanager
def bar(progress: bool | str, total: int) -> Iterator[Any]:
    """What shows the progress of so many blocks: it is updated block by block.

    True is a bar in the terminal or notebook, a path a bar on that terminal, or lines at the end of that file where it
    is none; False or empty nothing.
    """
    if progress is True and has_widgets():
        made = import_module("tqdm.notebook").tqdm(total=total, leave=False, unit="block", display=False)
        _show(made.container)
        with made:
            yield made
    elif not progress or progress is True:
        with tqdm(total=total, leave=False, unit="block", disable=not progress) as shown:
            yield shown
    else:
        with open(progress, "a", buffering=1) as stream:
            form = {} if os.isatty(stream.fileno()) else LINES
            with tqdm(total=total, leave=False, unit="block", file=stream, **form) as shown:
                yield shown


def say(line: str) -> None:
    """Tell the person who runs a notebook something that is no output of its cell; elsewhere, beside the output."""
    if not has_widgets():
        print(line, file=sys.stderr)
        return
    _show(import_module("ipywidgets").Label(line))


def has_widgets() -> bool:
    """Whether this process is the kernel of a notebook and can show widgets."""
    ipython = sys.modules.get("IPython")  # a kernel has loaded it
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config and find_spec("ipywidgets") is not None


def _show(widget: Any) -> None:
    """Display a widget without the text that stands for it elsewhere: a validator would compare the text."""
    import_module("IPython.display").display({WIDGET: widget._repr_mimebundle_()[WIDGET]}, raw=True)


def profiled(call: Callable[[], T], folder: Path) -> T:
    """Call a function under Python's profiler; leave a summary, `PROFILE_TEXT`, and the whole profile in a folder."""
    profile = cProfile.Profile()
    result = profile.runcall(call)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / PROFILE_TEXT).open("w", encoding="utf-8") as stream:
        stats = pstats.Stats(profile, stream=stream)
        stats.sort_stats("tottime").print_stats(PROFILE_LINES)
        stats.sort_stats("cumulative").print_stats(f"/({'|'.join(HOUSES)})/", PROFILE_LINES)
    stats.dump_stats(folder / PROFILE_DATA)
    return result
