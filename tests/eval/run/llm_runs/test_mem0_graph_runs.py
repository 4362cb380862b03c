"""strategy=mem0_graph from start to end against a scripted server that takes every branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsys.llm.local import missing
from tests.eval.commands import Start, runs_in
from tests.eval.run.llm_runs.graphing import GraphModel, graph_options, graph_talk
from tests.eval.run.llm_runs.keeping import events, written
from tests.eval.run.llm_runs.served import Bench, Scripted
from tests.memsys.llm import faults


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, ...]:
    return graph_talk(tmp_path)


def changes(bench: Bench) -> list[tuple[str, str]]:
    return [(e["operation"], e["text"]) for e in events(bench, "apply_relation")]


FIRST = [("ADD", "Ada like badminton"), ("ADD", "Ada love pizza")]


@pytest.mark.parametrize(("on_conflict", "gone"), [("delete", "DELETE"), ("invalidate", "END")])
def test_a_run_takes_every_branch(
    scripted: Scripted, data: tuple[str, ...], on_conflict: str, gone: str
) -> None:
    bench = scripted(GraphModel())
    ended = bench.start(*data, f"strategy.graph.on_conflict={on_conflict}")
    assert ended.code == 0, ended.err
    renewed = "ADD" if on_conflict == "delete" else "RENEW"
    assert changes(bench) == [
        *FIRST,
        (gone, "Ada like badminton"),
        ("ADD", "Ada do not like badminton"),
        ("ADD", "Ada also like burgers"),
        ("ADD", "Ada met a fox"),
        ("ADD", "Ada grew a fern"),
        ("ADD", "Ada ate a fig"),
        ("ADD", "Ada owns stamp 3"),
        ("ADD", "Ada keeps newt"),
        ("ADD", "Ada play a lute"),
        (gone, "Ada do not like badminton"),
        (renewed, "Ada like badminton"),
    ]
    wrong = [(event["step"], event["fault"]) for event in events(bench) if "fault" in event]
    assert wrong == [
        ("entities", "broken_json"),  # kite
        ("entities", "no_answer"),  # owl: refused
        ("relations", "unknown_entity"),  # fox: a dragon
        ("relations", "bad_argument"),  # fern: a row without its end
        *[(step, "unknown_tool") for step in ("entities", "relations", "conflicts")],  # fig
        ("relations", "no_answer"),  # crab: timed out
        ("entities", "too_many"),  # stamps
        ("relations", "unknown_entity"),  # a stamp that was cut off
        ("relations", "unknown_turn"),  # newt
        ("conflicts", "no_answer"),  # swim
        ("conflicts", "unknown_relation"),  # lute
    ]
    graphs = [(e["faults"], e["lost"], e["of"]) for e in events(bench, "graph")]
    assert graphs == [*((0, 0, 3), (0, 0, 2), (10 - 1 + 1 + 1, 3, 8), (2, 1, 3))]


def test_relations_are_context_evidence_and_trace(
    scripted: Scripted, data: tuple[str, ...]
) -> None:
    bench = scripted(GraphModel())
    ended = bench.start(*data, "context=layered")
    assert ended.code == 0, ended.err
    badminton, fox = bench.run.records
    assert {record["status"] for record in (badminton, fox)} == {"ok"}
    shown = {id_: (turns, origin) for id_, turns, _, origin in fox["retrieved"]}
    assert shown["r:ada|met a|fox"] == (["D3:3"], "expanded")
    assert len(shown) <= 5
    assert fox["scores"]["evidence_recall"] == 1
    assert fox["evidence_found"] == {"direct": [], "expanded": ["D3:3"]}
    assert {one["relation"] for one in fox["trace"]["relations"]["found"]} == set(shown)
    assert badminton["trace"]["relations"]["entities"] == ["badminton"]
    assert badminton["usage"]["retrieve"]["calls"] > 0
    (index,) = [line for line in bench.run.ingests if line["phase"] == "index"]
    assert (index["store"]["nodes"], index["store"]["edges"]) == (10, 9)
    roles = ("entities", "relations", "conflicts")
    prompts = bench.run.manifest["prompts"]
    assert [prompts[role]["name"] for role in roles] == [f"graph_{role}" for role in roles]


def test_by_schema_the_graph_is_the_same_but_for_what_one_call_gets_wrong(
    scripted: Scripted, data: tuple[str, ...]
) -> None:
    bench = scripted(GraphModel())
    ended = bench.start(*data, "strategy.update.calls=schema")
    assert ended.code == 0, ended.err
    assert not any("tools" in body for body in bench.server.bodies)
    assert changes(bench)[:5] == [
        *FIRST,
        ("DELETE", "Ada like badminton"),
        ("ADD", "Ada do not like badminton"),
        ("ADD", "Ada also like burgers"),
    ]
    assert changes(bench)[-1] == ("ADD", "Ada like badminton")
    asked = [body.get("response_format", {}) for body in bench.server.bodies]
    forms = [form["json_schema"] for form in asked if form]
    first = next(form["schema"] for form in forms if form["name"] == "relations")
    row = first["properties"]["relations"]["items"]["properties"]
    assert row["source"]["enum"] == ["badminton", "Ada"]


def test_a_dead_server_fails_the_questions_and_a_resumed_run_doubles_nothing(
    scripted: Scripted, data: tuple[str, ...]
) -> None:
    model = GraphModel()
    bench = scripted(model)
    model.down = faults.status(500)
    assert bench.start(*data).code == 1
    assert {r["error"]["phase"] for r in bench.run.records} == {"ingest session_1"}
    (line,) = bench.run.ingests
    assert line["events"][-1] == {"step": "graph", "faults": 3, "lost": 3, "of": 3}
    model.down = None
    assert bench.start(*data, resume=True).code == 0
    assert {record["status"] for record in bench.run.records} == {"ok"}
    assert changes(bench)[:2] == FIRST


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=f"{missing()} is not installed (make local-model)")
def test_the_local_model_writes_a_graph(start: Start, tmp_path: Path) -> None:
    said = [["I like badminton.", "I bought a kayak."]]
    ended = start(
        *graph_options(*written(tmp_path, said, ("Does Ada like badminton?", "D1:1"))),
        *("llm=local", "llm.max_tokens=512", "+llm.extra.repeat_penalty=1.1"),
        *("strategy.update.calls=schema", "strategy.infer=false"),  # the graph is what is tried
        *("strategy.facts.exchange=2", "strategy.relations.query_entities=rule"),
    )
    assert ended.code == 0, ended.err
    (run,) = runs_in(tmp_path)
    (record,) = run.records
    assert record["status"] == "ok", record
    events = [event for line in run.ingests for event in line.get("events", [])]
    calls = {event["step"]: event for event in events if "tokens" in event}
    for step in ("entities", "relations"):
        assert min(calls[step]["tokens"].values()) > 0
        assert calls[step][step] >= 1
    (graph,) = [event for event in events if event["step"] == "graph"]
    assert (graph["lost"], graph["of"]) == (0, 1)
