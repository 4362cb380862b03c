"""The key of an endpoint is used, and written nowhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.eval.commands import run_main, runs_in

Patch = pytest.MonkeyPatch

KEY = "sk-test-fedcba9876543210"


class Embeddings(BaseHTTPRequestHandler):
    """Vectors of three numbers for whoever brings the key."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            body = json.dumps({"error": {"message": self.headers["Authorization"]}}).encode()
            self.send_response(401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        rows = [
            {"object": "embedding", "index": i, "embedding": [1.0, len(text), text.count("e")]}
            for i, text in enumerate(asked["input"])
        ]
        tokens = 3 * len(rows)
        body = json.dumps(
            {
                **{"object": "list", "data": rows, "model": asked["model"]},
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Embeddings) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_key_is_used_and_left_nowhere(endpoint, tmp_path, small, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    command = ("strategy=graph_expand", "embedder=openai", f"embedder.base_url={endpoint}", *small)
    ended = run_main(tmp_path, tmp_path / "cache", *command)
    assert ended.code == 0, ended.err
    (run,) = runs_in(tmp_path)
    assert [r["status"] for r in run.records] == ["ok"] * 21  # the server knew the key
    used = {"calls": 1, "input_tokens": 3, "output_tokens": 0}
    by_model = {"text-embedding-3-small": used}
    assert run.records[0]["usage"]["retrieve"] == {**used, "by_model": by_model}
    assert run.summary["by_type"]["temporal"]["cost_usd"] == pytest.approx(3 * 0.02 / 1e6)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 6
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    assert KEY not in ended.out + ended.err


def test_key_that_the_server_repeats_is_not_recorded(endpoint, tmp_path, small, monkeypatch):
    wrong = "sk-test-wrong-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", wrong)
    command = ("strategy=vector_only", "embedder=openai", f"embedder.base_url={endpoint}", *small)
    ended = run_main(tmp_path, tmp_path / "cache", *command)
    assert ended.code == 2  # every question would fail alike
    assert "OPENAI_API_KEY" in ended.err
    (run,) = runs_in(tmp_path)
    assert run.manifest["status"] == "interrupted"
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in written if wrong.encode() in path.read_bytes()] == []
    assert wrong not in ended.out + ended.err
