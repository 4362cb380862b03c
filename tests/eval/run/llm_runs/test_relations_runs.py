"""graph=relations from start to end against a scripted server that takes every branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.eval.commands import Start
from tests.eval.run.llm_runs.graphing import GraphModel, graph_talk
from tests.eval.run.llm_runs.keeping import events
from tests.eval.run.llm_runs.served import Scripted
from tests.memsys.llm import faults


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, ...]:
    """The talk of mem0_graph, for a strategy over the graph of its relations."""
    others = [one for one in graph_talk(tmp_path) if not one.startswith("strategy")]
    return (*others, "strategy=graph_expand", "graph=relations", "graph.exchange=1")


@pytest.mark.parametrize("on_conflict", ["delete", "invalidate"])
def test_memories_are_linked_by_what_was_written(
    scripted: Scripted, data: tuple[str, ...], on_conflict: str
) -> None:
    bench = scripted(GraphModel())
    ended = bench.start(*data, f"graph.on_conflict={on_conflict}", "graph.max_share=1")
    assert ended.code == 0, ended.err
    done = [event["operation"] for event in events(bench, "apply_relation")]
    assert done[:3] == ["ADD", "ADD", "DELETE" if on_conflict == "delete" else "END"]
    assert [(e["lost"], e["of"]) for e in events(bench, "graph")] == [
        (0, 3),
        (0, 2),
        (3, 8),
        (1, 3),
    ]
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


def test_a_server_that_is_down_fails_the_conversation(
    scripted: Scripted, data: tuple[str, ...]
) -> None:
    model = GraphModel()
    model.down = faults.status(500)
    bench = scripted(model)
    assert bench.start(*data).code == 1
    assert {r["error"]["phase"] for r in bench.run.records} == {"ingest session_1"}


def test_without_a_model_it_is_refused_in_one_line(start: Start, data: tuple[str, ...]) -> None:
    ended = start(*[one for one in data if not one.startswith("llm.")])
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    expected = "error: graph=relations: no model to write the graph; add llm=openai, or llm=local"
    assert line == f"{expected} graph.calls=schema"
    ended = start(*[one for one in data if not one.startswith("llm.")], "strategy=vector_only")
    assert ended.code == 0, ended.err
