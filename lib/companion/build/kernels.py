"""Kernels for many chapters, forked from one process that has imported everything.

Jupyter starts a kernel by the command that a kernelspec names. The kernelspec here names this file, which is then run
without any library: it asks the *nursery*, a process with all imports done and a single thread, to fork, and stands for
the child until that ends. Papermill, nbval and Jupyter's own manager see an ordinary kernel, which starts in a tenth of
a second instead of four. Forking is safe where no thread but the main one exists, so numerical libraries must have one
thread each. On systems other than Linux every chapter gets an ordinary kernel.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PAUSE = 1.0  # seconds between two looks at whether the process that a kernel belongs to still lives
ALWAYS = ("ipykernel.kernelapp", "matplotlib.backends.backend_agg")  # backend_inline needs a kernel at its import
END = b"\n"  # of a message
LONGEST = 100  # bytes of a socket's path, of which the system takes 107


def write_kernelspec(folder: Path, command: Sequence[str]) -> None:
    """Let Jupyter, with ``JUPYTER_PATH`` set to a folder, run this interpreter with a command as its kernel."""
    spec = folder / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, *command, "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}), "utf-8")


@contextmanager
def forked(variables: Mapping[str, str | None], modules: Iterable[str]) -> Iterator[str]:
    """Yields the folder for ``JUPYTER_PATH`` with which Jupyter forks its kernels; empty where that is not possible.

    What ``variables`` say to numerical libraries holds for all kernels of the run; everything else is each kernel's
    own. ``modules`` are imported before; those that cannot be are left to the chapters.
    """
    with tempfile.TemporaryDirectory(prefix="kernels-", ignore_cleanup_errors=True) as folder:
        address = f"{folder}/nursery"
        if sys.platform != "linux" or len(os.fsencode(address)) > LONGEST:
            yield ""
            return
        write_kernelspec(Path(folder), ["-I", "-S", __file__, address])
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(64)  # a kernel that is asked for before the imports are done waits
            nursery = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve()", str(listener.fileno()), *modules],
                env={name: value for name, value in (os.environ | variables).items() if value is not None},
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )
        try:
            yield folder
        finally:
            nursery.kill()
            nursery.communicate()


def serve() -> None:
    """Import the modules that the command line names, then fork a kernel for each that asks, until the input ends."""
    sys.path.remove("")  # the folder in which the nursery was started is no place for a kernel's imports
    for name in (*ALWAYS, *sys.argv[2:]):
        with suppress(Exception):  # the chapter that needs it will say why
            importlib.import_module(name)
    listener = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children; their sockets say that they ended
    gc.freeze()
    while sys.stdin not in (ready := select.select([listener, sys.stdin], [], [])[0]):
        connection = listener.accept()[0] if ready else None
        if connection and os.fork() == 0:
            listener.close()
            _become(connection)
        if connection:
            connection.close()


def _become(connection: socket.socket) -> None:
    """Turn a forked child into the kernel that was asked for: its files, folder, environment and arguments."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    message, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while not message.endswith(END):
        message += connection.recv(1 << 16)
    wanted: dict[str, Any] = json.loads(message)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    tempfile.tempdir = None  # it is the nursery's
    sys.argv = ["ipykernel_launcher", *wanted["arguments"]]
    connection.sendall(f"{os.getpid()}\n".encode())

    def watch() -> None:
        connection.recv(1)  # it ends when the other side does
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    status = 0
    try:
        from ipykernel import kernelapp

        kernelapp.launch_new_instance()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    with suppress(OSError):
        connection.sendall(f"{status}\n".encode())
    sys.exit(status)


def _stand_for(address: str, arguments: Sequence[str]) -> int:
    """Ask for a kernel and stand for it: hand signals on, end when it does, and with whoever started this process."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    wanted = {"folder": os.getcwd(), "environment": dict(os.environ), "arguments": list(arguments)}
    socket.send_fds(connection, [json.dumps(wanted).encode() + END], [0, 1, 2])
    owner, received = os.getppid(), b""

    def hand_on(number: int, frame: object) -> None:
        if END in received:
            with suppress(ProcessLookupError):
                os.kill(int(received.split()[0]), number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, hand_on)
    while os.getppid() == owner:
        if select.select([connection], [], [], PAUSE)[0]:
            some = connection.recv(100)
            if not some:
                break
            received += some
    words = received.split()
    return int(words[1]) if len(words) > 1 else 1


if __name__ == "__main__":
    sys.exit(_stand_for(sys.argv[1], sys.argv[2:]))
