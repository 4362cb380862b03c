"""strategy=mem0 from start to end against a scripted server that takes every branch, memory=facts
under another strategy, and what is refused before anything is asked.
"""

import pytest

from tests.eval.commands import runs_in
from tests.eval.run.llm_runs.served import (
    WHY,
    Bench,
    Calls,
    Mem0Model,
    Scripted,
    changes,
    events,
    faults_of,
    files_with,
)
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour

MEMORY = ("conversation", "phase", "session", "status", "error", "memories", "usage", "events")


@pytest.fixture
def bench(scripted: Scripted) -> Bench:
    return scripted(Mem0Model())


def test_a_run_takes_every_branch_and_the_cost_of_a_session_is_that_of_its_events(kept):
    like = "Ada: I like badminton"
    assert changes(kept) == [
        ("ADD", None, like),
        ("ADD", None, "Ada: I love pizza"),
        ("DELETE", like, None),
        ("ADD", None, "Ada: I do not like badminton any more"),
        ("ADD", None, "Ada: I also like burgers"),
        ("NOOP", None, None),
    ]
    assert faults_of(kept) == [
        *("no_answer", "broken_json", "unknown_operation", "unknown_id"),
        *("bad_argument", "no_answer", "no_answer"),
    ]
    left = {"D1:2", "D2:1", "D2:2"}
    for record in kept.records:
        assert record["status"] == "ok"
        assert {turn for _, turns, *_ in record["retrieved"] for turn in turns} == left
    assert [r["scores"]["evidence_recall"] for r in kept.records] == [1, 0]
    (store,) = [line["store"] for line in kept.ingests if "store" in line]
    assert store["memories"] == len(left)

    lines = [line for line in kept.ingests if line["phase"] == "ingest"]
    assert [line["memories"] for line in lines] == [2, 1, 0, 0]
    for line, unusable in zip(lines, [0, 0, 0, 1], strict=True):
        spent = [event["tokens"] for event in line["events"] if "tokens" in event]
        # A refusal is billed as well, but has no event of a call.
        assert line["usage"]["by_model"]["gpt-4o-mini"]["calls"] == len(spent) + unusable
        for name in ("input_tokens", "output_tokens"):
            tokens = sum(one[name] for one in spent)
            assert (line["usage"][name] == tokens > 0) is not bool(unusable)
    assert [line["events"][-1]["faults"] for line in lines] == [0, 0, 4, 3]
    roles = {"facts": "facts_extract", "summary": "facts_summary", "update": "mem0_update"}
    prompts = kept.manifest["prompts"]
    assert {role: prompts[role]["name"] for role in roles} == roles


def test_a_dead_server_fails_the_questions_and_nothing_is_doubled(bench, data, monkeypatch):
    """Nor is a key that the server repeats in the log."""
    key = "sk-distinctive-77aa88bb"
    monkeypatch.setenv("ANOTHER_SECRET", key)
    bench.model.down = faults.status(500, f"not for {key}")
    assert bench.start(*data).code == 1
    assert {r["error"]["phase"] for r in bench.run.records} == {"ingest session_1"}
    (line,) = bench.run.ingests
    assert (line["status"], len(line["events"])) == ("error", 5)
    assert "no_answer" in faults_of(bench.run)
    assert files_with(bench.run.folder, key)[1] == []
    bench.model.down = None
    assert bench.start(*data, resume=True).code == 0
    ok = [line for line in bench.run.ingests if line["status"] == "ok"]
    assert [line["memories"] for line in ok] == [2, 1, 0, 0, 0]
    assert {record["status"] for record in bench.run.records} == {"ok"}


def test_a_run_that_was_cut_in_a_conversation_goes_on_as_if_it_had_not_been(bench, data):
    """Ingesting again is a replay: no call that was answered is made again, no fact is doubled."""
    bench.model.decide = lambda _: [("ADD", WHY)]
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


def check_replays(bench: Bench, *own: str) -> None:
    """The run replays to the same memory, log and records, in another folder, without a request."""
    first, asked = bench.run, bench.server.requests
    bench.folder = bench.folder / "again"
    bench.folder.mkdir()
    bench.start(*own, "llm.cache=replay").ok()
    assert bench.server.requests == asked
    logs = [
        [{name: line.get(name) for name in MEMORY} for line in run.ingests]  # without times
        for run in (bench.run, first)
    ]
    assert logs[0] == logs[1]
    assert bench.run.untimed == first.untimed


def test_a_run_that_lost_facts_for_good_replays_to_the_same_memory(bench, data):
    """Of mem0_graph, which writes facts as mem0 does, and relations too."""
    own = [one for one in data if one != "strategy=mem0"]
    own += ["strategy=mem0_graph", "strategy.facts.retries=1"]
    assert bench.start(*own).code == 0
    assert faults_of(bench.run).count("no_answer") > 3  # refused, reset and without content
    assert sum(int(end["lost"]) for end in events(bench.run, "session")) > 2
    check_replays(bench, *own)


def test_a_decision_that_came_late_comes_late_in_a_replay(bench, data):
    """Between its two attempts others were stored, so the second is another request."""
    left = [faults.status(503)]

    def decide(text: str) -> Calls | Behaviour:
        fact = text.partition("<new_fact>\n")[2]
        return left.pop() if left and "kite" in fact else [("ADD", WHY)]

    bench.model.decide = decide
    own = (*data, "strategy.facts.retries=1")
    assert bench.start(*own).code == 0
    third = bench.run.ingests[2]["events"]
    stored = [event["new"] for event in third if event["step"] == "apply"]
    assert [word for new in stored for word in ("kite", "rowed", "owl") if word in new] == [
        *("rowed", "owl", "kite")
    ]
    assert events(bench.run, "session")[2]["lost"] == 1  # the thunder
    check_replays(bench, *own)


@pytest.mark.parametrize(
    ("chosen", "writer"),
    [
        (("strategy=mem0",), "strategy=mem0: no model to write the memory"),
        (("strategy=bm25", "memory=facts"), "memory=facts: no model to write the facts"),
        (("strategy=graph_expand", "graph=relations"), "graph=relations: no model to write the gr"),
        (("strategy=mem0", "strategy.infer=false"), None),  # raw messages
    ],
)
def test_what_a_model_writes_is_refused_without_one(start, data, tmp_path, chosen, writer):
    own = [one for one in data if not one.startswith(("llm.", "strategy"))]
    ended = start(*own, *chosen)
    assert bool(runs_in(tmp_path)) == (writer is None)
    if writer is None:
        ended.ok()
    else:
        ended.one_line(f"error: {writer}", "; add llm=openai")


def test_facts_are_a_memory_of_a_strategy(bench, data):
    own = [one for one in data if not one.startswith("strategy")]
    own += ["strategy=graph_expand", "memory=facts", "memory.exchange=1", "memory.retries=0"]
    bench.start(*own).ok()
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
