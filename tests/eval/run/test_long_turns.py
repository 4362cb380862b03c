"""Turns of one unbroken run of characters: the time of a run grows linearly with their length."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.eval.commands import PROJECT, Run, runs_in, small_sample

_LENGTH = 200_000
_HUNG_S = 300  # what is quadratic takes many times as long, and what is linear some seconds
_UNITS = ("a", ".", " ", "( ", "我你他们好", "[image: ", "1.", "no one ")


def test_long_turns_do_not_hang_a_run(tmp_path, cache):
    sample = small_sample("ash")
    turns = sample["conversation"]["session_1"]
    for number, unit in enumerate(_UNITS):
        text = (unit * _LENGTH)[:_LENGTH] + "end"
        turns.append({"dia_id": f"D1:{number + 10}", "speaker": "Ada", "text": text})
    path = tmp_path / "long.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    arguments = ["strategy=bm25", f"dataset.path={path}", "k=5", "budget=1000000"]
    environment = {**os.environ, "MEMSYS_CACHE": str(cache), "PYTHONPATH": str(PROJECT)}
    subprocess.run(
        [sys.executable, "-m", "eval.run", *arguments],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        timeout=_HUNG_S,
    )
    (run,) = runs_in(tmp_path)
    assert isinstance(run, Run)
    assert {record["status"] for record in run.records} == {"ok"}
    assert max(record["context_tokens"] for record in run.records) > _LENGTH / 10
