"""What serve.py does when the benchmark is gone from one moment to the next."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.libraries.memory import HERE
from tests.baselines.libraries.test_pipe import ends, is_alive

ADAPTER = Path(__file__).parent / "with_child.py"


@pytest.mark.parametrize("busy", [True, False])
def test_a_library_ends_its_own_server_when_nobody_is_left(tmp_path: Path, busy: bool) -> None:
    command = [sys.executable, HERE / "adapters" / "serve.py", ADAPTER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, **pipes, stderr=subprocess.DEVNULL) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"id": 1, "op": "start"}).encode() + b"\n")
        process.stdin.flush()
        child = json.loads(process.stdout.readline())["version"]
        assert is_alive(child)
        if busy:
            process.stdin.write(json.dumps({"id": 2, "op": "add", "items": [1]}).encode() + b"\n")
        process.stdin.close()
        process.stdout.close()
        process.wait(10)
    assert ends(child)
