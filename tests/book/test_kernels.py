"""Forked kernels are kernels as any other: their folder, environment and output, an interrupt, an end."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from costofprivacy.book import kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")

Kernel = tuple[KernelManager, BlockingKernelClient]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A forked kernel, whose environment differs from the nursery's."""
    place = tmp_path_factory.mktemp("place")
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with kernels.forked({**one_thread, "WHOSE": "the nursery's", "HOME": None}, ["json", "no_such_module"]) as folder:
        environment = {**os.environ, "JUPYTER_PATH": folder, "WHOSE": "the kernel's", "HOME": str(place)}
        manager, client = start_new_kernel(kernel_name="python3", cwd=str(place), env=environment)
        yield manager, client
        client.stop_channels()
        manager.shutdown_kernel(now=True)


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
    assert os.path.realpath(printed(kernel, "print(os.getcwd())")) == home
    assert printed(kernel, "print(os.environ['WHOSE'])") == "the kernel's"


def test_it_has_the_nurserys_imports_and_no_more_threads_than_its_own(kernel: Kernel) -> None:
    assert printed(kernel, "import sys; print('matplotlib_inline.backend_inline' in sys.modules)") == "True"
    assert printed(kernel, "print('' in sys.path, sys.executable)") == f"False {sys.executable}"


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
def test_it_ends_with_the_process_that_stands_for_it(kernel: Kernel, ending: signal.Signals) -> None:
    with kernels.forked({}, []) as folder:
        manager, client = start_new_kernel(kernel_name="python3", env={**os.environ, "JUPYTER_PATH": folder})
        child = int(printed((manager, client), "import os; print(os.getpid())"))
        stands = manager.provisioner.pid  # type: ignore[union-attr]
        assert child != stands
        os.kill(stands, ending)
        until = time.monotonic() + 30
        while Path(f"/proc/{child}").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert not Path(f"/proc/{child}").exists()
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_kernel_that_dies_is_known_to_be_dead() -> None:
    with kernels.forked({}, []) as folder:
        manager, client = start_new_kernel(kernel_name="python3", env={**os.environ, "JUPYTER_PATH": folder})
        client.execute("import os; os._exit(3)")
        until = time.monotonic() + 30
        while manager.is_alive() and time.monotonic() < until:
            time.sleep(0.05)
        assert not manager.is_alive()
        client.stop_channels()


def test_nothing_forks_where_a_sockets_name_would_be_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("a" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with kernels.forked({}, []) as folder:
        assert folder == ""
