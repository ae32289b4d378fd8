"""What a Dask cluster costs, measured on this machine: ``make cluster-test``.

First what a task costs to send and to fetch, on two workers that have nothing to do. Then Figure 1 at full scale, on
two processes of this machine (loky) and on two workers in turn: wall time and processor time. ``--pairs 0`` leaves
that out, ``--trials`` makes it smaller.
"""

import argparse
import operator
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from costofprivacy.book.environment import in_settled_environment
from costofprivacy.running import cluster

TICKS = os.sysconf("SC_CLK_TCK")


class Local:
    """A scheduler and workers on this machine."""

    def __init__(self, workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.folder = tempfile.TemporaryDirectory()
        self.processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-show")]
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", self.folder.name]
        self.processes += [self._start("worker", self.address, *options) for _ in range(workers)]
        with cluster.connected(self.address, 60.0) as client:
            client.wait_for_workers(workers, timeout=60)

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options, "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def processor(self) -> list[float]:
        """Seconds of processor time of the scheduler and of each worker."""
        stats = [Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split() for process in self.processes]
        return [(int(fields[11]) + int(fields[12])) / TICKS for fields in stats]

    def end(self) -> None:
        """Stop them."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait()
        self.folder.cleanup()


def costs(local: Local) -> None:
    """What a task costs, in milliseconds of processor time: scheduler, workers, this process."""
    for tasks, payload in ((300, 0), (2000, 0), (1000, 100_000)):
        before, own, start = local.processor(), time.process_time(), time.perf_counter()
        body = os.urandom(payload)
        cluster.SHORTEST = cluster.DISPATCH = 0.0  # one call in each task
        alike = cluster.identity(cluster.calls_in_a_task)
        for _ in cluster.spread(local.address, operator.is_, [(number, body) for number in range(tasks)], alike):
            pass
        wall, here = time.perf_counter() - start, time.process_time() - own
        used = [after - earlier for after, earlier in zip(local.processor(), before, strict=True)]
        milli = 1000 / tasks
        print(
            f"{tasks} tasks of {payload} bytes: {wall * milli:.2f} ms each; processor: "
            f"scheduler {used[0] * milli:.2f}, client {here * milli:.2f}, workers {sum(used[1:]) * milli:.2f} ms",
            flush=True,
        )


FIGURE = """
import hashlib, sys, time
from costofprivacy.experiments.noisyhead.low_dimensional.experiment import Experiment
from costofprivacy.running.montecarlo import Runner
start = time.perf_counter()
tables = Experiment(trials=int(sys.argv[2])).run(Runner(2, cluster=sys.argv[1] or None))
text = "".join(table.to_csv() for table in tables.values())
print(time.perf_counter() - start, hashlib.sha256(text.encode()).hexdigest()[:12])
"""


def figure(local: Local, address: str, trials: int) -> tuple[float, float, str]:
    """Wall seconds, processor seconds of all processes, and the digest of the tables."""
    before, earlier = sum(local.processor()), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", FIGURE, address, str(trials)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall, digest = done.stdout.split()
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = now.ru_utime + now.ru_stime - earlier.ru_utime - earlier.ru_stime
    return float(wall), processor + sum(local.processor()) - before, digest


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--trials", type=int, default=500)
    asked = parser.parse_args()
    in_settled_environment()
    local = Local(2)
    try:
        costs(local)
        for number in range(asked.pairs):
            order = ["", local.address][:: 1 if number % 2 == 0 else -1]
            for address in order:
                wall, processor, digest = figure(local, address, asked.trials)
                name = "2 workers of a cluster" if address else "2 processes (loky)"
                load = os.getloadavg()[0]
                print(
                    f"{name}: {wall:.1f} s, processor {processor:.1f} s, tables {digest}, load {load:.1f}", flush=True
                )
    finally:
        local.end()


if __name__ == "__main__":
    main()
