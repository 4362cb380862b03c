"""`python -m eval bench`: generated data, the model that it calls, its parts and their tables."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import openai
import pytest

from eval.bench import __main__ as bench
from eval.bench import ratios, runs, scale
from eval.bench.runs import MeasuredRun, Row, limited, loopback_model, measure_run, write_dataset
from eval.bench.scale import DIMENSIONS, memories, queries, query_vectors, write_vectors
from eval.datasets.locomo import LoCoMo
from memsys.core.yaml_text import load_yaml

RELEASED = load_yaml(bench._RELEASE)["figures"].keys()


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
        return MeasuredRun(1 + count / 100, 1 + count / 100, 100.0, 0.1)

    monkeypatch.setattr(runs, "measure_run", measured)
    rows = list(runs.growth(50))
    sizes = [(row["conversations"], row["questions"]) for row in rows]
    assert sizes == [(250, 250), (1000, 1000), (4000, 4000), (5, 50)]
    further = [row.get("CPU ms a further one") for row in rows]
    assert further == [None, pytest.approx(10), pytest.approx(10), None]


def test_runs_take_turns_with_bare_loops_and_a_sweep_is_compared(monkeypatch):
    asked: list[str] = []

    def pair(arguments: Sequence[str], cache: Path) -> tuple[MeasuredRun, float]:
        asked.append(arguments[1].partition("=")[2])
        return MeasuredRun(9.0, 6.0 + len(asked), 90.0 + len(asked)), 4.0

    monkeypatch.setattr(ratios, "_run_and_loop", pair)
    monkeypatch.setattr(ratios, "measure_run", lambda *_: MeasuredRun(9.0, 16.5, 90.0))
    found = {row["what"]: row["now"] for row in ratios.runs("sample", 1000.0)}
    assert asked == ["vector_only", "graph_expand", "bm25"] * 3
    assert found["bm25: harness / its parts in a bare loop, CPU"] == (12.0 - 4.0) / 4.0
    assert found["bm25: peak MB of a run"] == 99.0
    assert found["a sweep of these / single runs, CPU"] == pytest.approx(16.5 / (10 + 11 + 12))
    asked.clear()
    list(ratios.runs("sample", 0.0))  # a second round would take too long
    assert asked == ["vector_only", "graph_expand", "bm25"]
    assert found.keys() <= RELEASED


def test_calls_are_compared_with_a_bare_client_and_replayed(monkeypatch):
    bodies = [{"messages": [{"role": "user", "content": str(n)}]} for n in range(40)]

    def run(arguments: Sequence[str], cache: Path) -> MeasuredRun:
        url = next(one for one in arguments if one.startswith("llm.base_url=")).partition("=")[2]
        return MeasuredRun(100.0 + ratios._bare_client(url, bodies)[0], 50.0, 90.0)

    monkeypatch.setattr(ratios, "measure_run", run)
    monkeypatch.setattr(ratios, "_REPLAYED", 40)
    found = {row["what"]: row["now"] for row in ratios.calls("sample", 0.0)}
    more, more_cpu, ideal, *replayed = found.values()
    assert 90 < more < 110
    assert 40 < more_cpu < 50
    assert 0 < ideal <= 1
    assert min(replayed) > 0
    assert found.keys() <= RELEASED


def test_a_part_that_takes_too_long_or_fails_ends_with_a_row():
    assert list(limited(_fails, 60)) == [
        {"what": "one", "n": 1},
        {"what": "the rest", "failed": "see above"},
    ]
    (row,) = limited(_fails, 0)
    assert row == {"what": "the rest", "failed": "not measured within 0 s; set --longer"}


def _fails() -> Iterator[Row]:
    yield {"what": "one", "n": 1}
    raise RuntimeError


def test_processes_of_a_part_end_with_it(tmp_path):
    os.mkfifo(tmp_path / "alive")
    rows = limited(partial(_starts_another, tmp_path / "alive"), 120)
    next(rows)
    with (tmp_path / "alive").open("rb") as alive:
        assert alive.readline() == b"x\n"
        began = time.monotonic()
        rows.close()
        assert alive.read() == b""  # every process that could write has ended
    assert time.monotonic() - began < 30


def _starts_another(alive: Path) -> Iterator[Row]:
    code = f"import time; file = open({str(alive)!r}, 'w', 1); file.write('x\\n'); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code]):
        yield {"n": 1}


def test_a_run_and_its_bare_loop_are_measured_and_one_that_fails_is_an_error(tmp_path):
    path = write_dataset(tmp_path / "made.json", 2, 3)
    settings = ["strategy=bm25", f"dataset.path={path}", "k=5"]
    assert ratios._bare_loop(settings, tmp_path) > 0
    run = measure_run(settings, tmp_path / "cache")
    assert 0 < run.summary_s < run.wall_s
    assert run.cpu_s > 0
    assert run.peak_mb > 10
    with pytest.raises(RuntimeError, match="strategy=none_such"):
        measure_run(["strategy=none_such"], tmp_path / "cache")


def test_a_small_store_is_measured_and_a_process_that_dies_is_reported(monkeypatch):
    found = scale.large_store("ivf", 400)
    monkeypatch.setattr(ratios, "large_store", lambda *_: found)
    search = {str(row["what"]): row["now"] for row in ratios.search()}
    ratio = found["vector_only ms"] / found["faiss ms"]
    assert search["vector_only of 10,000 memories / faiss, ms"] == pytest.approx(ratio)
    assert search.keys() <= RELEASED
    assert 0 < found["recall@10"] <= 1
    assert found["graph_expand / raw search"] > 0
    assert found["faiss ms"] > 0
    monkeypatch.setattr(scale, "large_store", _dies)
    (row, *_) = scale.scale([5])
    assert row == {"memories": 5, "index": "flat", "failed": "MemoryError"}


def _dies(*_: object) -> None:
    raise MemoryError


def test_parts_run_in_order_and_alone_and_are_written(monkeypatch, tmp_path, said):
    def part(rows: partial[Iterator[Row]] | Callable[[], Iterator[Row]], _: float) -> Iterator[Row]:
        name = getattr(rows, "func", rows).__name__
        yield {"what": name, "now": 1234, "s": 0.012345}

    monkeypatch.setattr(bench, "limited", part)
    lines = said(bench.main, "--dataset", "sample").splitlines()
    assert [line for line in lines if "1,234" in line] == [
        f"| {name} | 1,234 | 0.0123 | - |" for name in ("runs", "calls", "search")
    ]
    out = tmp_path / "out"
    assert bench.main(["--part", "scale", "--sizes", "10", "--out", str(out)]) == 0
    assert "| scale | 1,234 | 0.0123 |" in (out / "bench.md").read_text(encoding="utf-8")
    written = json.loads((out / "bench.json").read_text(encoding="utf-8"))
    assert written == {"scale": [{"what": "scale", "now": 1234, "s": 0.012345}]}


def test_a_part_that_fails_gives_exit_code_1(monkeypatch, said):
    monkeypatch.setattr(bench, "search", _fails)
    assert "the rest" in said(bench.main, "--part", "search", code=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--dataset", "nothing"), "dataset=nothing: no such option"),
        (("--longer", "0"), "--longer 0: use a number above 0"),
        (("--longer", "-1"), "--longer -1: use a number above 0"),
        (("--longer", "nan"), "--longer nan: use a number above 0"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_measured(given, message, monkeypatch, said):
    monkeypatch.setattr(bench, "limited", None)
    assert message in said(bench.main, *given, code=2)
