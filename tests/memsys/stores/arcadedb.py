"""An ArcadeDB that speaks Bolt: a real engine for want of Neo4j, one for all workers of a session.

`python -m tests.memsys.stores.arcadedb FOLDER PASSWORD` prints the port when it is ready, and stops
when its standard input ends.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer

from filelock import FileLock

DATABASE = "memory"
READY = "listening on "
_START_S = 120
_STOP_S = 30
_PROJECT = Path(__file__).parents[3]


@contextmanager
def served(folder: Path, password: str) -> Iterator[str]:
    """The Bolt address of the server with its files in `folder`; login root.

    Its standard input is a FIFO that every user holds open: it stops when the last one is done.
    """
    fifo, printed = folder / "input", folder / "printed.txt"
    with FileLock(folder / "lock"):
        with suppress(FileExistsError):
            os.mkfifo(fifo)
        try:
            held = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it: no server is there, or it has stopped
            held = _start(fifo, printed, [str(folder), password])
    try:
        yield f"bolt://127.0.0.1:{_port(printed)}"
    finally:
        os.close(held)


def _start(fifo: Path, printed: Path, arguments: list[str]) -> int:
    """Start a server and wait until it is ready; the open end of its input."""
    read = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    held = os.open(fifo, os.O_WRONLY)
    os.set_blocking(read, True)
    with printed.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.memsys.stores.arcadedb", *arguments],
            stdin=read,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=printed.parent,  # where it puts its logs
            env={**os.environ, "PYTHONPATH": str(_PROJECT)},
        )
    os.close(read)
    give_up = time.monotonic() + _START_S
    while _port(printed) is None:
        if server.poll() is not None or time.monotonic() > give_up:
            server.kill()
            os.close(held)
            raise RuntimeError(f"no server: {printed.read_text()[-2000:]}")
        time.sleep(0.05)
    return held


def _port(printed: Path) -> str | None:
    lines = printed.read_text(errors="replace").splitlines(keepends=True)
    ready = (line for line in lines if line.startswith(READY) and line.endswith("\n"))
    return next((line.removeprefix(READY).strip() for line in ready), None)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def main() -> None:
    # Not above: the tests themselves do without a Java machine in their process.
    from arcadedb_embedded import create_server  # noqa: PLC0415
    from arcadedb_embedded.jvm import start_jvm  # noqa: PLC0415

    folder, password = sys.argv[1:]
    start_jvm(heap_size="768m")
    port = free_port()
    server = create_server(
        folder,
        password,
        {
            "host": "127.0.0.1",
            "http_port": free_port(),
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_port": port,
        },
    )
    server.start()
    server.create_database(DATABASE)
    print(f"\n{READY}{port}", flush=True)
    sys.stdin.read()
    end = Timer(_STOP_S, os._exit, [1])  # nobody waits for it any more
    end.daemon = True
    end.start()
    server.stop()


if __name__ == "__main__":
    main()
