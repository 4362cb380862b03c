"""An ArcadeDB that speaks Bolt, until its standard input ends: a real engine for want of Neo4j.

`python -m tests.memsys.stores.arcadedb FOLDER PASSWORD`, which prints the port when it is ready.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

DATABASE = "memory"
READY = "listening on "
_START_S = 120
_PROJECT = Path(__file__).parents[3]


@contextmanager
def served(folder: Path, password: str) -> Iterator[str]:
    """The Bolt address of a server of its own, with the files in `folder`; login root."""
    command = [sys.executable, "-m", "tests.memsys.stores.arcadedb", str(folder), password]
    log = folder / "errors.txt"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,  # where it puts its logs
            env={**os.environ, "PYTHONPATH": str(_PROJECT)},
        ) as server,
    ):
        assert server.stdin
        assert server.stdout
        patience = Timer(_START_S, server.kill)
        patience.start()
        ready = next((line for line in server.stdout if line.startswith(READY)), None)
        patience.cancel()
        if ready is None:
            raise RuntimeError(f"no server: {log.read_text()[-2000:]}")
        try:
            yield f"bolt://127.0.0.1:{ready.removeprefix(READY).strip()}"
        finally:
            server.stdin.close()
            try:
                server.wait(timeout=30)
            except subprocess.TimeoutExpired:
                server.kill()


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
    server.stop()


if __name__ == "__main__":
    main()
