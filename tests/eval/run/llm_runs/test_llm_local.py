"""Reader and judge through the real local model, over its socket, and again without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsys.llm.local import missing
from tests.eval.commands import run_main, runs_in

pytestmark = pytest.mark.skipif(
    bool(missing()), reason=f"{missing()} is not installed (make local-model)"
)
COMMAND = (
    *("strategy=bm25", "llm=local", "reader=llm", "judge=llm", "k=2", "budget=128"),
    *("llm.max_tokens=64", "dataset.conversations=[ash]", "dataset.limit=3"),
)


def test_the_local_model_answers_and_judges(
    tmp_path: Path, cache: Path, small: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = tmp_path / "answers"
    ended = run_main(tmp_path, answers, *COMMAND, *small[:2])
    assert ended.code == 0, ended.err
    (live,) = runs_in(tmp_path)
    assert [record["status"] for record in live.records] == ["ok"] * 3, live.records
    for record in live.records:
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
