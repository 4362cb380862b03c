"""memory=facts from start to end against a scripted server, under any strategy."""

from __future__ import annotations

from tests.eval.run.llm_runs.keeping import Mem0Model, events, faults_of

FACTS = ("memory=facts", "memory.exchange=1", "memory.retries=0")


def test_facts_are_a_memory_of_a_strategy(scripted, data):
    bench = scripted(Mem0Model())
    own = [one for one in data if not one.startswith("strategy")]
    bench.start(*own, *FACTS, "strategy=graph_expand").ok()
    lines = [line for line in bench.run.ingests if line["phase"] == "ingest"]
    assert [line["memories"] for line in lines] == [2, 2, 3, 4]  # none is dropped
    assert {event["operation"] for event in events(bench.run, "apply")} == {"ADD"}
    assert faults_of(bench.run) == ["no_answer"]
    calls = [line["usage"]["by_model"]["gpt-4o-mini"]["calls"] for line in lines]
    assert calls == [4, 3, 4, 5]  # one a message but a refusal, which is not billed, and a summary
    assert [line["events"][-1]["lost"] for line in lines] == [0, 0, 1, 0]
    prompts = bench.run.manifest["prompts"]
    assert {role: one["name"] for role, one in prompts.items()} == {
        "facts": "facts_extract",
        "summary": "facts_summary",
    }
    assert [r["scores"]["evidence_recall"] for r in bench.run.records] == [1, 1]
    assert not any("tools" in body for body in bench.server.bodies)
