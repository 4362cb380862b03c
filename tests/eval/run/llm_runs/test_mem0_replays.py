"""A memory that a model keeps, some of whose requests fail: the run replays to the same memory."""

from __future__ import annotations

import pytest

from tests.eval.run.llm_runs.keeping import WHY, Calls, Mem0Model, events, faults_of
from tests.eval.run.llm_runs.served import Bench, Scripted, text_of
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour

MEMORY = ("conversation", "phase", "session", "status", "error", "memories", "usage", "events")


def memory_of(bench: Bench) -> list[dict[str, object]]:
    """What the lines of ingest.jsonl say of the memory, without times."""
    return [{name: line.get(name) for name in MEMORY} for line in bench.run.ingests]


@pytest.fixture
def bench(scripted: Scripted) -> Bench:
    return scripted(Mem0Model())


def check_replays(bench: Bench, own: list[str]) -> None:
    """The run replays in another folder to the same memory, log and records, with no server."""
    first, told, asked = bench.run.untimed, memory_of(bench), bench.server.requests
    bench.folder = bench.folder / "again"
    bench.folder.mkdir()
    ended = bench.start(*own, "llm.cache=replay")
    assert ended.code == 0, ended.err
    assert bench.server.requests == asked
    assert memory_of(bench) == told
    assert bench.run.untimed == first


def test_a_passing_outage_costs_a_run_no_memory_and_the_run_replays(
    bench: Bench, data: tuple[str, ...]
) -> None:
    left = [faults.status(503)]

    class Passing(Mem0Model):
        decide = staticmethod(lambda _: [("ADD", WHY)])

        def __call__(self, body: Body) -> Behaviour | None:
            new = text_of(body).partition("<new_messages>")[2]
            if left and "not like badminton any more" in new:
                return left.pop()
            return super().__call__(body)

    bench.server.choose = Passing()
    own = (*data, "strategy.facts.retries=1")
    assert bench.start(*own).code == 0
    ends = events(bench, "session")
    assert [(end["faults"], end["lost"]) for end in ends] == [(0, 0), (1, 0), (2, 1), (0, 0)]
    told = [e["new"] for e in events(bench, "apply")]
    assert told[2:4] == ["Ada: I do not like badminton any more", "Ada: I also like burgers"]
    first, asked = bench.run.records, bench.server.requests
    bench.folder = bench.folder / "again"
    bench.folder.mkdir()
    ended = bench.start(*own, "llm.cache=replay")
    assert ended.code == 0, ended.err
    assert bench.server.requests == asked
    assert [r["retrieved"] for r in bench.run.records] == [r["retrieved"] for r in first]
    # The answer that mended a failure is found at once: the log lacks that one fault.
    ends = events(bench, "session")
    assert [(end["faults"], end["lost"]) for end in ends] == [(0, 0), (0, 0), (2, 1), (0, 0)]
    assert [e["new"] for e in events(bench, "apply")] == told


@pytest.mark.parametrize("strategy", ["mem0", "mem0_graph"])
def test_a_run_that_lost_facts_for_good_replays_to_the_same_memory(
    bench: Bench, data: tuple[str, ...], strategy: str
) -> None:
    own = [one for one in data if one != "strategy=mem0"]
    own += [f"strategy={strategy}", "strategy.facts.retries=1"]
    assert bench.start(*own).code == 0
    assert faults_of(bench).count("no_answer") > 3  # refused, hanging and without content
    assert sum(int(end["lost"]) for end in events(bench, "session")) > 2
    check_replays(bench, own)


def test_a_decision_that_came_late_comes_late_in_a_replay(
    bench: Bench, data: tuple[str, ...]
) -> None:
    """Between its two attempts others were stored, so the second is another request."""
    left = [faults.status(503)]

    class Passing(Mem0Model):
        @staticmethod
        def decide(text: str) -> Calls | Behaviour:
            fact = text.partition("<new_fact>\n")[2]
            return left.pop() if left and "kite" in fact else [("ADD", WHY)]

    bench.server.choose = Passing()
    own = [*data, "strategy.facts.retries=1"]
    assert bench.start(*own).code == 0
    third = bench.run.ingests[2]["events"]
    stored = [event["new"] for event in third if event["step"] == "apply"]
    assert [word for new in stored for word in ("kite", "rowed", "owl") if word in new] == [
        *("rowed", "owl", "kite")
    ]
    assert events(bench, "session")[2]["lost"] == 1  # the thunder
    check_replays(bench, own)
