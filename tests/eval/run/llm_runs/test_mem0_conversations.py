"""mem0 and mem0_graph over whole conversations, by a model that takes every branch.

What it does to a request follows from the request's own hash, so that each branch comes up many
times, and none for all of a session.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Any

import pytest

from eval.datasets.files import shared_folder
from tests.eval.run.llm_runs.keeping import WHY, events
from tests.eval.run.llm_runs.served import Bench, Model, text_of
from tests.memsys.knowledge.relations.models import TOOLS
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour
from tests.memsys.llm.tool_calls import calls

LOCOMO = shared_folder() / "locomo" / "locomo10.json"
CUT = '{"facts": [{"title": "cu'


def said_in(text: str) -> list[tuple[int, str, str]]:
    """Number, speaker and longest word of each message that a request shows."""
    material = text.rpartition("It never tells you what to do.")[2]  # behind the examples
    found = re.findall(r"(?m)^(\d+)\. ([A-Z]\w+): (.+)$", material)
    return [(int(n), who, max(re.findall(r"\w+", said), key=len)) for n, who, said in found]


def facts(text: str, branch: int) -> Behaviour:
    new = text.partition("<new_messages>")[2].partition("</new_messages>")[0]
    rows = [
        {
            "title": word,
            "content": f"{who} spoke of {word}",
            "when": "yesterday" if branch % 2 else "",
            "speaker": who,
            "turns": [number if branch != 7 else 99],
        }
        for number, who, word in said_in(new)
    ]
    planned = {0: faults.says(CUT), 1: faults.status(400, "no"), 2: faults.says(None)}
    return planned.get(branch, faults.says(json.dumps({"facts": [] if branch == 3 else rows})))


def decision(branch: int) -> Behaviour:
    changed = '{"id": 1, "content": "a word of both", "why": "so it is"}'
    dropped = '{"id": 1, "why": "so it is"}'
    planned = {
        0: [("UPDATE", changed)],
        1: [("DELETE", dropped), ("ADD", WHY)],
        2: [("NOOP", WHY)],
        3: [("ADD", '{"why": "cut')],
        4: [("FORGET", WHY)],
        5: [("DELETE", '{"id": 77, "why": "so it is"}')],
        6: [("UPDATE", dropped)],
    }
    return faults.says(None) if branch == 7 else calls(*planned.get(branch, [("ADD", WHY)]))


def graph(kind: str, text: str, branch: int) -> Any:
    said = said_in(text)
    if not said:  # a question
        return [{"entity": "someone", "entity_type": "person"}]
    if kind == "entities":
        many = [{"entity": f"stamp {n}", "entity_type": "thing"} for n in range(500)]
        own = [{"entity": word, "entity_type": "thing"} for _, _, word in said]
        return {0: many, 1: "cut", 2: []}.get(branch, own)
    if kind == "relations":
        own = [
            {"source": who, "relationship": "spoke of", "destination": word, "turns": [number]}
            for number, who, word in said
        ]
        stranger = {**own[0], "destination": "dragon"}
        lacking = {"source": own[0]["source"], "relationship": "spoke of"}
        return {0: [stranger, *own], 1: "cut", 2: [lacking, *own]}.get(branch, own)
    ended = [{"relation": 77 if branch == 0 else 1, "why": "a change of mind"}]
    return {0: ended, 1: ended, 2: "cut"}.get(branch, [])


class Everything(Model):
    """Every branch, in an order that looks like none."""

    def __call__(self, body: Body) -> Behaviour | None:
        text = text_of(body)
        branch = hashlib.sha256(text.encode()).digest()[0] % 10
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        tool = body["tools"][0]["function"]["name"] if "tools" in body else ""
        if form == "facts":
            return facts(text, branch)
        if tool in TOOLS:
            reply = graph(TOOLS[tool], text, branch)
            if branch == 3 and said_in(text):
                return faults.says(None)
            called = "paint" if branch == 4 and said_in(text) else tool
            value = reply if isinstance(reply, str) else json.dumps({TOOLS[tool]: reply})
            return calls((called, value))
        return decision(branch) if tool else faults.says("They talk.")


def check_branches(bench: Bench, options: tuple[str, ...], least: int) -> None:
    """Every branch is taken, the common ones at `least` so often, and nothing fails."""
    ended = bench.start(*options, "reader=extractive", "judge=none", "llm.retries=0")
    assert ended.code == 0, ended.err
    run, log = bench.run, events(bench.run)
    assert {line["status"] for line in run.ingests} == {"ok"}
    assert run.summary["errors_by_kind"] == {}
    applied = Counter(e["operation"] for e in log if e["step"] == "apply")
    assert min(applied[name] for name in ("ADD", "UPDATE", "DELETE", "NOOP")) >= least
    wrong = Counter((e["step"], e["fault"]) for e in log if "fault" in e)
    of_facts = {
        *(("extract", "no_answer"), ("extract", "unknown_turn"), ("decide", "no_answer")),
        *(("decide", "broken_json"), ("decide", "unknown_operation"), ("decide", "bad_argument")),
        ("decide", "unknown_id"),
    }
    assert of_facts <= set(wrong)
    (store,) = [line["store"] for line in run.ingests if "store" in line]
    assert store["memories"] == applied["ADD"] - applied["DELETE"]
    if "strategy=mem0_graph" in options:
        relations = Counter(e["operation"] for e in log if e["step"] == "apply_relation")
        assert min(relations["ADD"], store["nodes"]) >= 9 * least
        assert relations["DELETE"] >= least
        assert store["edges"] == relations["ADD"] - relations["DELETE"]
        assert {step for step, _ in wrong} >= {"entities", "relations", "conflicts"}


def test_a_generated_conversation_takes_every_branch(scripted):
    """mem0_graph writes facts as mem0 does."""
    bench = scripted(Everything())
    small = ("dataset.conversations=1", "dataset.sessions=4", "dataset.turns=16", "dataset.hops=1")
    check_branches(bench, ("strategy=mem0_graph", "dataset=synthetic", *small), 1)
    assert len(bench.run.ingests) == 4 + 1
    assert len(bench.run.records) == 7


@pytest.mark.soak
@pytest.mark.skipif(not LOCOMO.is_file(), reason="locomo/locomo10.json is not in $MEMSYS_SHARED")
@pytest.mark.parametrize("strategy", ["mem0", "mem0_graph"])
def test_a_conversation_of_locomo_takes_every_branch(scripted, strategy):
    bench = scripted(Everything())
    whole = (f"dataset.path={LOCOMO}", "dataset.conversations=[conv-26]")
    check_branches(bench, (f"strategy={strategy}", "dataset=locomo", *whole), 6)
    assert len(bench.run.ingests) == 19 + 1
    assert len(bench.run.records) == 199
