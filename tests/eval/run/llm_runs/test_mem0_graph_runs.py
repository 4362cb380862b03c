"""strategy=mem0_graph, and graph=relations under another strategy, from start to end against a
scripted server that takes every branch.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.served import Bench, Model, Scripted, events, text_of, written
from tests.memsys.knowledge.relations.models import TOOLS, relation
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.faults import calls
from tests.memsys.llm.server import Behaviour

SAID = [
    ["I like badminton.", "I love pizza.", "Mind the gap."],
    ["I do not like badminton any more.", "I also like burgers."],
    [
        *("I bought a kite.", "I have an owl.", "I met a fox.", "I grew a fern."),
        *("I ate a fig.", "I saw a crab.", "I own 500 stamps.", "I keep a newt."),
    ],
    ["I swim.", "I play a lute.", "I like badminton again."],
]
Rows = list[dict[str, Any]]


def said_in(text: str) -> str:
    """The one message of an exchange."""
    material = text.rpartition("It never tells you what to do.")[2]  # behind the examples
    return re.findall(r"(?m)^1\. (?:Ada: )?(.+?)[.?]$", material)[0]


def object_of(said: str) -> str:
    """What Ada speaks of, one word."""
    return said.removesuffix(" any more").removesuffix(" again").split()[-1]


def entities(text: str) -> Rows | str | Behaviour:
    """Of every message its last word; some are refused, broken, or five hundred."""
    said = said_in(text)
    if said.startswith(("Does", "What", "Where")):
        return [{"entity": "badminton", "entity_type": "activity"}]
    planned: dict[str, Rows | str | Behaviour] = {
        "gap": [],
        "kite": '{"entities": [{"entity": "ki',
        "owl": faults.status(400, "no talk of owls"),
        "stamps": [{"entity": f"stamp {n}", "entity_type": "thing"} for n in range(500)],
    }
    found = [{"entity": object_of(said), "entity_type": "thing"}]
    return next((reply for word, reply in planned.items() if word in said), found)


def relations(text: str) -> Rows | str | Behaviour:
    said = said_in(text)
    name = " ".join(said.split()[1 : 3 if " not " not in said else 4]) or "is"
    right = relation("I", name.replace(object_of(said), "").strip() or "does", object_of(said))
    planned: dict[str, Rows | str | Behaviour] = {
        "fox": [right, relation("Ada", "rides", "dragon")],
        "fern": [{"source": "Ada", "relationship": "grew"}, right],
        "crab": faults.reset,
        "stamps": [relation("Ada", "owns", "stamp 3"), relation("Ada", "owns", "stamp 499")],
        "newt": [relation("Ada", "keeps", "newt", 9)],
    }
    return next((reply for word, reply in planned.items() if word in said), [right])


def conflicts(text: str) -> Rows | str | Behaviour:
    said = said_in(text)
    if "any more" in said or "again" in said:
        old = "likes? badminton" if "any more" in said else "do not like badminton"
        (number,) = re.findall(rf"(?m)^(\d+)\. Ada {old} \(stated ", text)
        return [{"relation": int(number), "why": "a change of mind"}]
    if "lute" in said:
        return [{"relation": 77, "why": "made up"}]
    if "swim" in said:
        return faults.says(None)
    return []


SCRIPT: dict[str, Callable[[str], Rows | str | Behaviour]] = {
    **{"entities": entities, "relations": relations, "conflicts": conflicts}
}


class GraphModel(Model):
    """Writes facts of nothing and the graph by SCRIPT."""

    def __call__(self, body: Body) -> Behaviour | None:
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        tool = body["tools"][0]["function"]["name"] if "tools" in body else None
        kind = TOOLS.get(str(tool), form)
        if kind == "facts":
            return faults.says('{"facts": []}')
        if kind not in SCRIPT:
            return faults.says("Ada talks.")
        reply = SCRIPT[kind](text_of(body))
        if callable(reply):
            return reply
        value = reply if isinstance(reply, str) else json.dumps({kind: reply})
        if tool is None:  # bound to the names it was shown, no server writes another
            return faults.says(value.replace('"I"', '"Ada"'))
        also = [("paint", "{}")] if said_in(text_of(body)) == "I ate a fig" else []
        return calls(*also, (tool, value))


def graph_talk(folder: Path) -> tuple[str, ...]:
    """Options for a conversation of four sessions with two questions."""
    asked = [("Does Ada like badminton?", "D2:1"), ("What did Ada meet?", "D3:3")]
    own = ("strategy=mem0_graph", "strategy.facts.exchange=1", "reader=extractive", "judge=none")
    return (*own, "k=9", "llm.retries=0", *written(folder, SAID, *asked))


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
