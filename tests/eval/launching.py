"""Sweeps as processes of their own, whose workers can be killed, and a Ray cluster for them."""

import os
import re
import secrets
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.eval.commands import PROJECT, Ended, Run, runs_in

RAY = PROJECT / ".venv-ray" / "bin"  # made by `make ray`
# `python -m eval.run`, but a shell that runs the tests in the background has its programs ignore
# Ctrl-C.
HEEDFUL = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("eval.run", run_name="__main__", alter_sys=True)
"""

HANG = ("strategy.fault=hang", "strategy.at=beech/3")
DONE = 10  # questions before beech/3


def environment(folder: Path, cache: Path) -> dict[str, str]:
    """The fault of tests/eval/faulty.py is on while `folder`/fault exists."""
    path = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])
    own = {"MEMSYS_CACHE": str(cache), "FAULT": str(folder / "fault"), "PYTHONPATH": path}
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
    return {**os.environ, **own, **quiet}


@contextmanager
def started(
    command: list[str], folder: Path, env: dict[str, str], name: str = ""
) -> Iterator[subprocess.Popen]:
    """`command` in `folder`, in a session of its own, of which nothing is left in the end. What it
    writes is in the files `name`out and `name`err.
    """
    with (
        (folder / f"{name}out").open("w") as out,
        (folder / f"{name}err").open("w") as err,
        subprocess.Popen(
            command, cwd=folder, env=env, stdout=out, stderr=err, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:  # end the whole session: gently, then by force
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(5)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def ended(process: subprocess.Popen, folder: Path) -> Ended:
    """What `process` left in the end, for which it has two and a half minutes."""
    code = process.wait(150)
    return Ended(code, (folder / "out").read_text(), (folder / "err").read_text())


def until(
    condition: Callable[[], Any], process: subprocess.Popen, folder: Path, seconds: float = 120
) -> Any:
    """What `condition` returns once that is true, while `process` runs in `folder`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        wrote = "\n".join(path.read_text() for path in folder.glob("*err"))
        assert process.poll() is None, wrote
        assert time.monotonic() < end, wrote
        time.sleep(0.1)
    return found


def hanging_run(folder: Path) -> Run | None:
    """The run under `folder` whose fault is to hang, once it does."""
    for run in runs_in(folder):
        path = run.folder / "records.jsonl"
        come_so_far = path.exists() and path.read_bytes().count(b"\n") == DONE
        if come_so_far and run.manifest["config"]["strategy"]["fault"] == "hang":
            return run
    return None


def kill_writer_of(run: Run) -> None:
    """Kill the process that holds the run's lock."""
    inode = (run.folder / ".lock").stat().st_ino
    held = re.compile(rf"FLOCK +ADVISORY +WRITE (\d+) \w+:\w+:{inode} ")
    (found,) = held.findall(Path("/proc/locks").read_text())
    os.kill(int(found), signal.SIGKILL)


def table(end: Ended) -> list[str]:
    """Names of the rows of the last table, without the lines that Ray mixes in."""
    lines = end.out.partition("Types 1-4, mean with 95% interval:\n")[2].splitlines()[2:]
    return [line.split("  ")[0] for line in lines if re.match(r"[a-z]", line)]


def by_strategy(folder: Path) -> dict[str, Run]:
    """The runs that began under `folder`, of which no two are of one strategy."""
    runs = [run for run in runs_in(folder) if (run.folder / "manifest.json").exists()]
    found = {run.manifest["strategy"]: run for run in runs}
    assert len(found) == len(runs)
    return found


@contextmanager
def two_nodes(folder: Path, env: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Address and variables of a Ray cluster of two nodes with a CPU each, on this machine.

    Each is what `ray start` makes of a machine: its own raylet, object store and workers. Relative
    paths of the workers start at `folder`.
    """
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    env = {**env, **token}
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, clients = one.getsockname()[1], other.getsockname()[1]
    address = f"127.0.0.1:{port}"
    # A socket's path may have 107 characters: pytest's folders are too deep.
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as short:
        start = [str(RAY / "ray"), "start", "--block", "--num-cpus=1"]
        start += ["--object-store-memory=80000000", "--node-ip-address=127.0.0.1"]
        head = [*start, "--head", f"--port={port}", f"--temp-dir={short}"]
        head += ["--include-dashboard=false", f"--ray-client-server-port={clients}"]

        def nodes() -> int:
            status = [str(RAY / "ray"), "status", "--address", address]
            try:
                output = subprocess.run(
                    status, env=env, capture_output=True, text=True, check=False, timeout=30
                )
            except subprocess.TimeoutExpired:
                return 0
            return len(re.findall(r"^ 1 node_", output.stdout, re.MULTILINE))

        second = [*start, f"--address={address}"]
        with started(head, folder, env, "head-") as process:
            until(lambda: nodes() == 1, process, folder)
            with started(second, folder, env, "second-") as another:
                until(lambda: nodes() == 2, another, folder)
                yield address, env
