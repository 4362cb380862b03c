"""strategy=mem0 from start to end against a scripted server that takes every branch."""

from __future__ import annotations

import pytest

from tests.eval.commands import Start
from tests.eval.run.llm_runs.keeping import WHY, Mem0Model, events, faults_of
from tests.eval.run.llm_runs.served import Scripted, files_with
from tests.memsys.llm import faults


def test_a_run_takes_every_branch(scripted: Scripted, data: tuple[str, ...]) -> None:
    bench = scripted(Mem0Model())
    ended = bench.start(*data)
    assert ended.code == 0, ended.err
    changes = [(e["operation"], e["old"], e["new"]) for e in events(bench, "apply")]
    like, no_more = "Ada: I like badminton", "Ada: I do not like badminton any more"
    assert changes == [
        ("ADD", None, like),
        ("ADD", None, "Ada: I love pizza"),
        ("DELETE", like, None),
        ("ADD", None, no_more),
        ("ADD", None, "Ada: I also like burgers"),
        ("NOOP", None, None),
    ]
    assert faults_of(bench) == [
        *("no_answer", "broken_json", "unknown_operation", "unknown_id"),
        *("bad_argument", "no_answer", "no_answer"),
    ]
    left = {"D1:2", "D2:1", "D2:2"}
    for record in bench.run.records:
        assert record["status"] == "ok"
        assert {turn for _, turns, *_ in record["retrieved"] for turn in turns} == left
    assert [r["scores"]["evidence_recall"] for r in bench.run.records] == [1, 0]


def test_the_cost_of_a_session_is_that_of_its_events(
    scripted: Scripted, data: tuple[str, ...]
) -> None:
    bench = scripted(Mem0Model())
    bench.start(*data)
    lines = [line for line in bench.run.ingests if line["phase"] == "ingest"]
    assert [line["memories"] for line in lines] == [2, 1, 0, 0]
    for line, unusable in zip(lines, [0, 0, 0, 1], strict=True):
        spent = [event["tokens"] for event in line["events"] if "tokens" in event]
        # A refusal is billed as well, but has no event of a call.
        assert line["usage"]["by_model"]["gpt-4o-mini"]["calls"] == len(spent) + unusable
        for name in ("input_tokens", "output_tokens"):
            told = sum(one[name] for one in spent)
            assert (line["usage"][name] == told > 0) is not bool(unusable)
    assert [line["events"][-1]["faults"] for line in lines] == [0, 0, 4, 3]
    roles = {"facts": "facts_extract", "summary": "facts_summary", "update": "mem0_update"}
    prompts = bench.run.manifest["prompts"]
    assert {role: prompts[role]["name"] for role in roles} == roles


def test_by_schema_the_memory_is_the_same(scripted: Scripted, data: tuple[str, ...]) -> None:
    """What a tool call gets wrong by itself fails the whole reply here, and costs its fact."""
    bench = scripted(Mem0Model())
    ended = bench.start(*data, "strategy.update.calls=schema")
    assert ended.code == 0, ended.err
    assert not any("tools" in body for body in bench.server.bodies)
    assert [line["memories"] for line in bench.run.ingests] == [2, 1, 0, 0, 0]
    assert len(faults_of(bench)) == 7
    assert set(faults_of(bench)) == {"no_answer", "unknown_id", "bad_argument"}


def test_any_vector_store_serves_as_well(scripted: Scripted, data: tuple[str, ...]) -> None:
    pytest.importorskip("qdrant_edge")
    told = []
    for store in ("faiss", "qdrant_edge"):
        bench = scripted(Mem0Model())
        bench.folder = bench.folder / store
        bench.folder.mkdir()
        ended = bench.start(*data, f"vector_store={store}")
        assert ended.code == 0, ended.err
        told.append([(e["operation"], e["old"], e["new"]) for e in events(bench, "apply")])
    assert told[0] == told[1]
    assert len(told[0]) == 6


def test_a_dead_server_fails_the_questions_and_a_resumed_run_doubles_nothing(
    scripted: Scripted, data: tuple[str, ...]
) -> None:
    model = Mem0Model()
    bench = scripted(model)
    model.down = faults.status(500)
    assert bench.start(*data).code == 1
    assert {r["error"]["phase"] for r in bench.run.records} == {"ingest session_1"}
    (line,) = bench.run.ingests
    assert (line["status"], len(line["events"])) == ("error", 5)
    model.down = None
    assert bench.start(*data, resume=True).code == 0
    ok = [line for line in bench.run.ingests if line["status"] == "ok"]
    assert [line["memories"] for line in ok] == [2, 1, 0, 0, 0]
    assert {record["status"] for record in bench.run.records} == {"ok"}


def test_a_server_s_words_with_the_key_stay_out_of_the_events(
    scripted: Scripted, data: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-distinctive-77aa88bb"
    monkeypatch.setenv("ANOTHER_SECRET", key)
    model = Mem0Model()
    bench = scripted(model)
    model.down = faults.status(400, f"not for {key}")
    bench.start(*data)
    assert "no_answer" in faults_of(bench)
    assert files_with(bench.folder / "run", key)[1] == []


def test_raw_messages_need_no_model(start: Start, data: tuple[str, ...]) -> None:
    raw = [one for one in data if not one.startswith("llm.")]
    assert start(*raw, "strategy.infer=false", "llm=none").code == 0


def test_a_run_that_was_cut_in_a_conversation_goes_on_as_if_it_had_not_been(
    scripted: Scripted, data: tuple[str, ...]
) -> None:
    """Ingesting again is a replay: no call that was answered is made again, no fact is doubled."""
    quiet = Mem0Model()
    quiet.decide = lambda _: [("ADD", WHY)]
    bench = scripted(quiet)
    assert bench.start(*data).code == 0
    whole, lines = bench.run.records, bench.run.ingests
    path = bench.run.folder / "records.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    for name in ("summary.json", "summary.csv", "report.md"):
        (bench.run.folder / name).unlink()
    # Thunder is refused each time, with and without a schema: only a replay takes a refusal for the
    # answer.
    asked = bench.server.requests
    assert bench.start(*data, resume=True).code == 0
    assert bench.server.requests == asked + 2
    assert [r["retrieved"] for r in bench.run.records] == [r["retrieved"] for r in whole]
    assert bench.run.ingests == lines
