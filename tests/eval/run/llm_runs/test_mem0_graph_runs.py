"""strategy=mem0_graph, and graph=relations under another strategy, from start to end against a
scripted server that takes every branch.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.graphing import GraphModel, graph_talk
from tests.eval.run.llm_runs.keeping import events
from tests.eval.run.llm_runs.served import Bench, Scripted


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, ...]:
    return graph_talk(tmp_path)


@pytest.fixture
def linked(data: tuple[str, ...]) -> tuple[str, ...]:
    """The talk of mem0_graph, for a strategy over the graph of its relations."""
    others = [one for one in data if not one.startswith("strategy")]
    return (*others, "strategy=graph_expand", "graph=relations", "graph.exchange=1")


@pytest.fixture
def bench(scripted: Scripted) -> Bench:
    return scripted(GraphModel())


def changes(run: Run) -> list[tuple[str, str]]:
    return [(e["operation"], e["text"]) for e in events(run, "apply_relation")]


def test_a_run_takes_every_branch_and_relations_are_context_evidence_and_trace(bench, data):
    bench.start(*data, "context=layered").ok()
    assert changes(bench.run) == [
        ("ADD", "Ada like badminton"),
        ("ADD", "Ada love pizza"),
        ("DELETE", "Ada like badminton"),
        ("ADD", "Ada do not like badminton"),
        ("ADD", "Ada also like burgers"),
        ("ADD", "Ada met a fox"),
        ("ADD", "Ada grew a fern"),
        ("ADD", "Ada ate a fig"),
        ("ADD", "Ada owns stamp 3"),
        ("ADD", "Ada keeps newt"),
        ("ADD", "Ada play a lute"),
        ("DELETE", "Ada do not like badminton"),
        ("ADD", "Ada like badminton"),
    ]
    lines = [line for line in bench.run.ingests if line["status"] == "ok"]
    log = [event for line in lines for event in line.get("events", [])]
    wrong = [(event["step"], event["fault"]) for event in log if "fault" in event]
    assert wrong == [
        ("entities", "broken_json"),  # kite
        ("entities", "no_answer"),  # owl: refused
        ("relations", "unknown_entity"),  # fox: a dragon
        ("relations", "bad_argument"),  # fern: a row without its end
        *[(step, "unknown_tool") for step in ("entities", "relations", "conflicts")],  # fig
        ("relations", "no_answer"),  # crab: the connection is reset
        ("entities", "too_many"),  # stamps
        ("relations", "unknown_entity"),  # a stamp that was cut off
        ("relations", "unknown_turn"),  # newt
        ("conflicts", "no_answer"),  # swim
        ("conflicts", "unknown_relation"),  # lute
    ]
    graphs = [(e["faults"], e["lost"], e["of"]) for e in log if e["step"] == "graph"]
    assert graphs == [*((0, 0, 3), (0, 0, 2), (10 - 1 + 1 + 1, 3, 8), (2, 1, 3))]
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


def test_memories_are_linked_by_what_was_written(bench, linked):
    bench.start(*linked, "graph.on_conflict=invalidate", "graph.max_share=1").ok()
    assert [operation for operation, _ in changes(bench.run)][:3] == ["ADD", "ADD", "END"]
    graphs = [(e["lost"], e["of"]) for e in events(bench.run, "graph")]
    assert graphs == [(0, 3), (0, 2), (3, 8), (1, 3)]
    (index,) = [line for line in bench.run.ingests if line["phase"] == "index"]
    assert index["store"]["memories"] == 16
    assert index["store"]["edges"] > index["store"]["nodes"] > 16
    prompts = bench.run.manifest["prompts"]
    assert {role: one["name"] for role, one in prompts.items()} == {
        role: f"graph_{role}" for role in ("entities", "relations", "conflicts")
    }
    lines = [line for line in bench.run.ingests if line["phase"] == "ingest"]
    assert all(line["usage"]["by_model"]["gpt-4o-mini"]["calls"] >= 6 for line in lines)
    assert {record["status"] for record in bench.run.records} == {"ok"}
