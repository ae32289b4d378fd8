"""The processes of one run, found by a mark in their environment, and what can be done to them."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MARK = "COSTOFPRIVACY_FAULT"
SHARED = (("sem.loky-", "-*"), ("joblib_memmapping_folder_", "_*"))  # their names hold a process's number
SHARED_MEMORY = Path("/dev/shm")
PATIENCE = 120.0  # seconds until a run that got a signal is over, kernel and workers too


@dataclass(frozen=True)
class Marked:
    """A command that was started, and the mark that all its processes carry.

    Attributes:
        popen: its first process. mark: the mark. seen: the command lines of all that were seen, by number.
        before: what was in shared memory before; a process's number may be that of one which died long ago.
    """

    popen: subprocess.Popen[bytes]
    mark: str
    seen: dict[int, str] = field(default_factory=dict)
    before: frozenset[Path] = frozenset()

    def living(self) -> dict[int, str]:
        """The command lines of its processes that run, by number; noted in ``seen``."""
        found = dict(_marked(self.mark))
        self.seen.update(found)
        return found

    def processor(self) -> float:
        """Seconds on a processor of its processes that run, and of those that these have waited for."""
        return sum(_seconds(process) for process in self.living())

    def signal(self, role: str, number: int) -> bool:
        """Send a signal to the process of a role, or to the whole group; False where there is none (any more)."""
        living = self.living()
        try:
            if role == "group":
                os.killpg(self.popen.pid, number)
                return True
            for process, line in living.items():
                if _role(process, line, self.popen.pid) == role:
                    os.kill(process, number)
                    return True
        except ProcessLookupError:
            pass
        return False

    def ended(self) -> dict[int, str]:
        """Wait for its end; the processes that are left then, which should be none."""
        until = time.monotonic() + PATIENCE
        while (left := self.living()) and time.monotonic() < until:
            time.sleep(0.1)
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.popen.wait()
        while self.living() and time.monotonic() < until + PATIENCE:  # a killed process takes a moment to be gone
            time.sleep(0.01)
        return left


def start(command: list[str], root: Path) -> Marked:
    """Start a command in a session of its own, its output thrown away."""
    mark, before = uuid.uuid4().hex, frozenset(SHARED_MEMORY.glob("*"))
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = os.environ | {MARK: mark}
    # A campaign in the background ignores some signals, and what it starts would, too.
    popen = subprocess.Popen(command, cwd=root, env=environment, start_new_session=True, preexec_fn=_listening, **quiet)  # type: ignore[call-overload]
    return Marked(popen, mark, before=before)


def of_children() -> float:
    """Seconds on a processor of all that this process has started and waited for, and that those have."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def left_by(run: Marked) -> list[Path]:
    """What a run's dead processes have left outside the project: semaphores, folders of shared memory, ports."""
    named = [f"{kind}{number}{end}" for number in run.seen for kind, end in SHARED]
    left = [path for pattern in named for path in SHARED_MEMORY.glob(pattern) if path not in run.before]
    lines = run.seen.values()
    ports = [Path(found[1]) for line in lines if (found := re.search(r"ipykernel_launcher -f (\S+)", line))]
    return [*left, *(path for path in ports if path.exists())]


def _listening() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _role(process: int, line: str, first: int) -> str:
    """What a process is to the run: make, the book's command, its kernel, or one of the kernel's."""
    if process == first:
        return "make"
    if "ipykernel" in line:
        return "kernel"
    return "worker" if "loky" in line else "parent"


def _seconds(process: int) -> float:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


def _marked(mark: str) -> Iterator[tuple[int, str]]:
    """Number and command line of each running process that carries a mark."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            if (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                yield int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended meanwhile
            continue
