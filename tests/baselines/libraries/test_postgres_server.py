"""The server of the adapters ends although a client is connected."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import baselines.libraries
from baselines.libraries.memory import python_of
from tests.baselines.libraries.real import needs

pytestmark = needs("letta")
ADAPTERS = Path(baselines.libraries.__file__).with_name("adapters")

_CODE = """
import asyncio, asyncpg
from pathlib import Path
from servers import PostgresServer

async def main():
    server = PostgresServer()
    await asyncpg.connect(host=str(Path("postgres").resolve()), user="postgres")
    server.close()

asyncio.run(main())
print("closed")
"""


def test_a_connected_client_does_not_delay_the_end():
    with tempfile.TemporaryDirectory() as folder:  # another user has to reach it
        process = subprocess.Popen(
            [python_of("letta"), "-c", _CODE],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ADAPTERS)},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert out.endswith(b"closed\n")
