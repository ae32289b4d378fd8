"""Forked kernels are kernels as any other: their folder, environment and output, an interrupt, an end."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from companion.build import kernels
from companion.build.environment import environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")

Kernel = tuple[KernelManager, BlockingKernelClient]


@contextmanager
def started(folder: str, **own: str) -> Iterator[Kernel]:
    """A kernel that Jupyter finds in a folder, ended and its sockets closed at the end."""
    with environment({"JUPYTER_PATH": folder}):
        manager, client = start_new_kernel(kernel_name="python3", env={**os.environ, **own})
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        client.context.destroy()


def within_half_a_minute(holds: Callable[[], bool]) -> bool:
    """Whether something holds within half a minute."""
    until = time.monotonic() + 30
    while not (so := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return so


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A forked kernel, whose environment differs from the nursery's."""
    place = tmp_path_factory.mktemp("place")
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with (
        kernels.forked({**one_thread, "WHOSE": "the nursery's", "HOME": None}, ["json", "no_such_module"]) as folder,
        started(folder, WHOSE="the kernel's", HOME=str(place)) as kernel,
    ):
        yield kernel


def printed(kernel: Kernel, code: str) -> str:
    """What code prints in the kernel."""
    texts: list[str] = []

    def collect(message: dict) -> None:
        if message["msg_type"] == "stream":
            texts.append(message["content"]["text"])

    kernel[1].execute_interactive(code, output_hook=collect, timeout=60)
    return "".join(texts).strip()


def test_a_forked_kernel_has_its_own_folder_and_environment(kernel: Kernel) -> None:
    home = os.path.realpath(printed(kernel, "import os; print(os.environ['HOME'])"))
    assert Path(home).name.startswith("place")
    assert printed(kernel, "print(os.getcwd())") == os.getcwd()
    assert printed(kernel, "print(os.environ['WHOSE'])") == "the kernel's"


def test_it_has_the_nurserys_imports_and_interpreter(kernel: Kernel) -> None:
    assert printed(kernel, "import sys; print('matplotlib_inline.backend_inline' in sys.modules)") == "True"
    assert printed(kernel, "print(sys.executable)") == sys.executable


def test_an_interrupt_reaches_the_cell(kernel: Kernel) -> None:
    manager, client = kernel
    sent = client.execute("import time\nprint('begun', flush=True)\ntime.sleep(60)")
    while client.get_iopub_msg(timeout=60)["content"].get("text") != "begun\n":
        pass
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=30)
    while reply["parent_header"]["msg_id"] != sent:
        reply = client.get_shell_msg(timeout=30)
    assert reply["content"]["ename"] == "KeyboardInterrupt"


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_process_that_stands_for_it(ending: signal.Signals) -> None:
    with kernels.forked({}, []) as folder, started(folder) as kernel:
        child, stands = int(printed(kernel, "import os; print(os.getpid())")), kernel[0].provisioner.pid  # type: ignore[union-attr]
        assert child != stands
        os.kill(stands, ending)
        assert within_half_a_minute(lambda: not Path(f"/proc/{child}").exists())


def test_a_kernel_that_dies_is_known_to_be_dead() -> None:
    with kernels.forked({}, []) as folder, started(folder) as (manager, client):
        client.execute("import os; os._exit(3)")
        assert within_half_a_minute(lambda: not manager.is_alive())


def test_nothing_forks_where_a_sockets_name_would_be_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("a" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with kernels.forked({}, []) as folder:
        assert folder == ""
