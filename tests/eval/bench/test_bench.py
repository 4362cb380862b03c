"""`python -m eval bench`: generated data, the model that it calls, and the tables of its parts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import openai
import pytest

from eval.bench import __main__ as bench
from eval.bench import runs, scale
from eval.bench.generated import (
    DIMENSIONS,
    memories,
    queries,
    query_vectors,
    write_dataset,
    write_vectors,
)
from eval.bench.runs import MeasuredRun, loopback_model, measure_run
from eval.datasets.locomo import LoCoMo


def test_generated_data_set_is_valid_and_repeats(tmp_path):
    path = write_dataset(tmp_path / "made.json", 3, 4)
    again = write_dataset(tmp_path / "again.json", 3, 4)
    assert path.read_bytes() == again.read_bytes()
    dataset = LoCoMo(name="made", path=str(path)).load()
    turns = [[turn for s in one.sessions for turn in s.turns] for one in dataset.conversations]
    assert list(map(len, turns)) == [9, 9, 9]
    assert len({question.text for question in dataset.questions}) == 12
    assert not dataset.repairs


def test_generated_memories_repeat_by_seed_and_have_their_shape(tmp_path):
    generated = list(memories(300, seed=0))
    assert generated == list(memories(300, seed=0)) != list(memories(300, seed=1))
    assert [memory.id for memory in generated] == [str(row) for row in range(300)]
    assert {len(memory.content.split()) for memory in generated} == {12}
    assert generated[-1].time > generated[0].time
    vectors = write_vectors(tmp_path / "v.npy", 300, seed=0)
    assert vectors.shape == (300, DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert query_vectors(20, seed=0).shape == (20, DIMENSIONS)
    assert len(set(queries(50, seed=0))) > 40


def test_the_model_answers_judges_and_logs(tmp_path):
    log = tmp_path / "log"
    messages = [{"role": "user", "content": "Where?"}]
    with loopback_model(0.0, log) as base_url:
        ask = openai.OpenAI(base_url=base_url, api_key="none").chat.completions.create
        answer = ask(model="m", messages=messages).choices[0].message.content
        assert ask(model="m", messages=messages).choices[0].message.content == answer
        verdict = ask(model="m", messages=messages, response_format={"type": "json_object"})
        assert set(json.loads(verdict.choices[0].message.content)) == {"reason", "verdict"}
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["body"]["messages"] for row in rows] == [messages] * 3


def test_growth_is_a_row_for_each_size(monkeypatch):
    def measured(arguments: Sequence[str], cache: Path) -> MeasuredRun:
        count = len(json.loads(Path(arguments[1].partition("=")[2]).read_text()))
        return MeasuredRun(1 + count / 100, 1 + count / 100, 100.0, {"summary": 0.1}, 1.0)

    monkeypatch.setattr(runs, "measure_run", measured)
    rows = list(runs.growth(50))
    sizes = [(row["conversations"], row["questions"]) for row in rows]
    assert sizes == [(250, 250), (1000, 1000), (4000, 4000), (5, 50)]
    further = [row.get("CPU ms a further one") for row in rows]
    assert further == [None, pytest.approx(10), pytest.approx(10), None]


def test_the_share_of_the_harness_is_measured_in_turns(monkeypatch):
    asked: list[str] = []

    def measured(arguments: Sequence[str], cache: Path) -> MeasuredRun:
        asked.append(arguments[1].partition("=")[2])
        seconds = dict.fromkeys(("ingest", "retrieve", "answer", "judge", "score"), 0.5)
        return MeasuredRun(3.0, 2.0, 90.0, {**seconds, "total": 2.0}, float(len(asked)))

    monkeypatch.setattr(runs, "measure_run", measured)
    rows = {row["strategy"]: row for row in runs.harness("sample", runs=2)}
    assert asked == ["graph_expand", *["vector_only", "graph_expand", "bm25"] * 2]
    assert rows["bm25"]["harness / work"] == pytest.approx(0.2)
    assert rows["bm25"]["p95 / vector_only"] == pytest.approx((4 / 2 + 7 / 5) / 2)
    assert rows["graph_expand, empty cache"]["of it start s"] == 1.0


def test_a_run_is_measured_and_one_that_fails_is_an_error(tmp_path):
    path = write_dataset(tmp_path / "made.json", 2, 3)
    run = measure_run(["strategy=bm25", f"dataset.path={path}", "k=5"], tmp_path / "cache")
    assert 0 < run.work_s < run.wall_s
    assert run.peak_mb > 10
    with pytest.raises(RuntimeError, match="strategy=none_such"):
        measure_run(["strategy=none_such"], tmp_path / "cache")


def test_a_small_store_is_measured_and_a_process_that_dies_is_reported(monkeypatch):
    found = scale.large_store("ivf", 400)
    assert 0 < found["recall@10"] <= 1
    assert found["graph_expand / raw search"] > 0
    monkeypatch.setattr(scale, "large_store", _dies)
    (row, *_) = scale.scale([5])
    assert row == {"memories": 5, "index": "flat", "failed": "MemoryError"}


def _dies(*_: object) -> None:
    raise MemoryError


def test_parts_run_in_order_and_alone_and_are_written(monkeypatch, tmp_path, capsys):
    for name in ("growth", "tokens", "harness", "calls", "scale"):
        monkeypatch.setattr(
            bench, name, lambda *_, part=name: iter([{"what": part, "n": 1234, "s": 0.012345}])
        )
    assert bench.main([]) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if "1,234" in line]
    assert shown == [f"| {name} | 1,234 | 0.0123 |" for name in bench._PARTS if name != "scale"]
    out = tmp_path / "out"
    assert bench.main(["--part", "scale", "--sizes", "10", "--out", str(out)]) == 0
    assert "| scale | 1,234 | 0.0123 |" in (out / "bench.md").read_text(encoding="utf-8")
    written = json.loads((out / "bench.json").read_text(encoding="utf-8"))
    assert written == {"scale": [{"what": "scale", "n": 1234, "s": 0.012345}]}
