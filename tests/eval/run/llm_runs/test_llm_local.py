"""Reader and judge through the real local model, over its socket."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from memsys.llm.local import missing
from tests.eval.commands import PROJECT, run_main, runs_in

pytestmark = pytest.mark.skipif(
    bool(missing()), reason=f"{missing()} is not installed (make local-model)"
)
COMMAND = (
    *("strategy=bm25", "llm=local", "reader=llm", "judge=llm", "k=1", "budget=32"),
    *("llm.max_tokens=64", "dataset.conversations=[ash]", "dataset.limit=1"),
)


def test_the_local_model_answers_and_judges_and_is_replayed(tmp_path, small, monkeypatch):
    answers = tmp_path / "answers"
    # In a process of its own: the engine takes 300 MB.
    command = [sys.executable, "-m", "eval.run", *COMMAND, *small[:2]]
    environment = {**os.environ, "MEMSYS_CACHE": str(answers), "PYTHONPATH": str(PROJECT)}
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    (live,) = runs_in(tmp_path)
    (record,) = live.records
    assert record["status"] == "ok", record
    assert record["answer"]
    assert record["latency_source"] == "live"
    for phase in ("answer", "judge"):
        assert record["usage"][phase]["calls"] == 1
        assert record["usage"][phase]["output_tokens"] > 0
    assert [len(runs) for runs in record["judge"].values()] == [1]
    assert record["scores"]["judge"] in {0.0, 1.0}

    def absent(*_: object) -> str:
        raise AssertionError("a replay needs no model")

    monkeypatch.setattr("memsys.llm.local.LocalServer.start", absent)
    assert run_main(tmp_path, answers, *COMMAND, *small[:2], "llm.cache=replay").code == 0
    replayed = runs_in(tmp_path)[1]
    assert {record["latency_source"] for record in replayed.records} == {"recorded"}
    assert replayed.untimed == live.untimed
