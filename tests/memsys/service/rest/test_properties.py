"""The server keeps its own OpenAPI document, whatever is generated from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.memsys.service.rest.serving import KEY, serving

# That one of some query parameters has to be there cannot be said in an OpenAPI document: without
# any, 400 or 422 is right, though the request is as the document says.
SETTINGS = "".join(
    f"""
[[operations]]
include-path = "{path}"
include-method = "{method}"
[operations.checks]
positive_data_acceptance.enabled = false
"""
    for path, method in (("/memories", "GET"), ("/memories", "DELETE"), ("/reset", "POST"))
)
# The history of a deleted memory remains.
SETTINGS += """
[[operations]]
include-path = "/memories/{id}/history"
include-method = "GET"
[operations.checks]
use_after_free.enabled = false
"""


@pytest.mark.parametrize("examples", [3, pytest.param(50, marks=pytest.mark.soak)])
def test_schemathesis_finds_nothing(tmp_path, examples):
    """So many examples of each operation, beside those of the coverage of the document."""
    pytest.importorskip("schemathesis")
    (tmp_path / "schemathesis.toml").write_text(SETTINGS, encoding="utf-8")
    with serving(tmp_path, key=KEY) as server:
        ended = subprocess.run(
            [
                *(str(Path(sys.executable).parent / "schemathesis"), "--config-file"),
                *("schemathesis.toml", "run", f"{server.url}/openapi.json"),
                *("-H", f"X-API-Key: {KEY}", "--seed", "1", "-n", str(examples), "--no-color"),
                *("--phases", "coverage,fuzzing,stateful"),
                *("--generation-database", "none", "--continue-on-failure"),
            ],
            cwd=tmp_path,
            env={**os.environ, "NO_PROXY": "127.0.0.1"},
            text=True,
            capture_output=True,
            timeout=3600,
            check=False,
        )
        assert server.process.poll() is None
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    assert "11 selected / 11 total" in ended.stdout  # or it tested nothing
    assert "Traceback" not in (tmp_path / "server.log").read_text(encoding="utf-8")
