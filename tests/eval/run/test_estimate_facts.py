"""estimate=true for memories that a model writes: no more than a run makes of them."""

import json

import pytest

from memsys.core.errors import InputError
from memsys.llm.pricing import input_tokens
from tests.eval.run.conftest import prices
from tests.eval.run.test_estimate import FIVE, MODELS, estimate, estimate_of, number, printed
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body, right_answer
from tests.memsys.llm.server import Behaviour, FaultyServer

ASKED, EXCHANGES, SESSIONS, CONVERSATIONS = 21, 12, 6, 3
DECISIONS = 3  # three facts a conversation stand for .43 of six turns; one is its speaker's second


def test_calls_are_counted_by_what_they_are_for(small):
    found = estimate(("mem0", "mem0_graph"), *MODELS, *small)
    facts = ASKED + EXCHANGES + SESSIONS + DECISIONS
    assert found["mem0"]["calls"] == str(facts)
    graph = 3 * EXCHANGES + ASKED + CONVERSATIONS  # questions name entities, warm-ups too
    assert found["mem0_graph"]["calls"] == str(facts + graph)
    assert number(found["mem0_graph"]["read"]) > number(found["mem0"]["read"])
    together = ("strategy=mem0_graph", "strategy.facts.relations=same_reply")
    fewer = estimate_of(*MODELS, *small, *together)
    assert fewer["calls"] == str(facts + graph - 2 * EXCHANGES)
    assert number(fewer["read"]) < number(found["mem0_graph"]["read"])
    own = ("strategy=mem0", "strategy.facts.exchange=3", "strategy.facts.summary_prompt=null")
    assert estimate_of(*MODELS, *small, *own)["calls"] == str(ASKED + SESSIONS + DECISIONS)


def test_facts_as_memories_count_for_every_strategy(small):
    names = (*FIVE, "mem0")
    plain = estimate(names, *MODELS, *small)
    found = estimate(names, *MODELS, *small, "memory=facts")
    for name in FIVE:
        assert number(found[name]["calls"]) == number(plain[name]["calls"]) + EXCHANGES + SESSIONS
    for name in ("calls", "read", "written", "system", "most"):
        assert found["mem0"][name] == plain["mem0"][name]  # memory= says nothing to it
    with pytest.raises(InputError, match=r"^memory=facts: no model"):
        printed(names, *small, "memory=facts")


def test_a_written_graph_counts_for_strategies_over_a_graph(small):
    names = ("vector_only", "graph_expand", "hybrid_gate", "mem0")
    plain = estimate(names, *MODELS, *small)
    found = estimate(names, *MODELS, *small, "graph=relations")
    for name, more in (("vector_only", 0), ("graph_expand", 3), ("hybrid_gate", 3), ("mem0", 0)):
        assert number(found[name]["calls"]) == number(plain[name]["calls"]) + more * EXCHANGES
    facts = estimate(("graph_expand",), *MODELS, *small, "graph=relations", "memory=facts")
    own = ("graph=relations", "memory=facts", "memory.relations=same_reply")
    same = estimate(("graph_expand",), *MODELS, *small, *own)
    saved = number(facts["graph_expand"]["calls"]) - number(same["graph_expand"]["calls"])
    assert saved == 2 * EXCHANGES
    ended = printed(("graph_expand",), *small, "graph=relations")
    assert "graph_expand: unknown, as a model writes its graph; add llm=openai" in ended.out


class Verbose:
    """A server's script: three facts a message, each as long as a full reply allows."""

    def __init__(self) -> None:
        self.facts = 0

    def __call__(self, body: Body) -> Behaviour:
        schema = body.get("response_format", {}).get("json_schema", {}).get("name")
        if schema != "facts":
            long = " ".join(["more"] * 400)
            return faults.says(long) if "tools" not in body else faults.answer(right_answer(body))
        new = body["messages"][0]["content"].partition("<new_messages>")[2]
        rows = []
        for _ in range(3 * new.partition("</new")[0].count(". ") if new else 0):
            self.facts += 1
            content = f"Fact {self.facts}" + " of many words" * 20
            fields = {"title": "t", "content": content, "when": "", "speaker": "Ada"}
            rows.append({**fields, "turns": [1]})
        most = body["response_format"]["json_schema"]["schema"]["properties"]["facts"]["maxItems"]
        return faults.says(json.dumps({"facts": rows[:most]}))


def test_no_run_of_mem0_takes_more_than_at_most(completed, tmp_path, small):
    options = (prices(tmp_path, output=0), *MODELS, *small, "dataset.conversations=[ash]")
    found = estimate(("mem0",), *options)["mem0"]
    with FaultyServer(Verbose()) as server:
        url = f"llm.base_url={server.base_url}"
        run = completed("strategy=mem0", url, "llm.cache=off", "llm.retries=0", *options)
        sent = sum(input_tokens(body) for body in server.bodies)
    decided = [e for line in run.ingests for e in line.get("events", []) if e["step"] == "decide"]
    assert len(decided) == 3 * 6 - 1  # three a message, but for the very first
    assert number(found["system"]) < sent / 1000 <= number(found["most"])


def test_expected_tokens_are_those_of_a_run_with_so_many_facts(start, tmp_path, small):
    """The server writes the three facts of a conversation that the estimate counts on."""

    def script(body: Body) -> Behaviour:
        content = body["messages"][0]["content"]
        if "tools" in body:
            return faults.answer(right_answer(body))
        if "response_format" not in body:
            return faults.says(" ".join(["word"] * 200))
        new = content.partition("<new_messages>")[2].partition("</new_messages>")[0]
        rows = [
            {"title": "t", "content": said, "when": "", "turns": []}
            | {"speaker": said[:3].strip(": ")}
            for said in (row.partition(". ")[2] for row in new.splitlines()[2:])
            if any(word in said for word in ("flute", "bees", "boat"))
        ]
        return faults.says(json.dumps({"facts": rows}))

    found = estimate(("mem0",), "llm=openai", *small)["mem0"]
    with FaultyServer(script) as server:
        url = f"llm.base_url={server.base_url}"
        own = ("strategy=mem0", "llm=openai", url, "llm.cache=off", *small)
        assert start(*own).code == 0
    assert server.requests == number(found["calls"]) == EXCHANGES + SESSIONS + DECISIONS
    real = sum(input_tokens(body) for body in server.bodies)
    assert abs(number(found["read"]) - real) <= 0.1 * real
