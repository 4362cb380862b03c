"""Turns of one unbroken run of characters: the time of a run grows linearly with their length."""

from __future__ import annotations

import json
import signal

from tests.eval.commands import run_main, runs_in, small_sample

_LENGTH = 100_000
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
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(_HUNG_S)
    try:
        assert run_main(tmp_path, cache, *arguments).code == 0
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    (run,) = runs_in(tmp_path)
    assert {record["status"] for record in run.records} == {"ok"}
    assert max(record["context_tokens"] for record in run.records) > _LENGTH / 10
