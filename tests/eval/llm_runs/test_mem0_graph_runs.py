"""strategy=mem0_graph from start to end against a scripted server that takes every branch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from commands import Run, Start, runs_in
from keeping import by_tools
from served import Bench, Model, text_of

from memsys.llm.local import missing
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, FaultyServer

SAID = [
    ["I like badminton.", "I love pizza.", "Mind the gap."],
    ["I do not like badminton any more.", "I also like burgers."],
    [
        *("I bought a kite.", "I have an owl.", "I met a fox.", "I grew a fern."),
        *("I ate a fig.", "I saw a crab.", "I own 500 stamps.", "I keep a newt."),
    ],
    ["I swim.", "I play a lute.", "I like badminton again."],
]
EVIDENCE = ("D2:1", "D3:3")
Rows = list[dict[str, Any]]


def said_in(text: str) -> str:
    """The one message of an exchange."""
    return re.findall(r"(?m)^1\. (?:Ada: )?(.+?)[.?]$", text)[0]


def object_of(said: str) -> str:
    """What Ada speaks of, one word."""
    return said.removesuffix(" any more").removesuffix(" again").split()[-1]


def relation(source: str, name: str, destination: str, turn: int = 1) -> dict[str, Any]:
    return {"source": source, "relation": name, "destination": destination, "turns": [turn]}


def entities(text: str) -> Rows | str | Behaviour:
    """Of every message its last word; some are refused, broken, or five hundred."""
    said = said_in(text)
    if said.startswith(("Does", "What", "Where")):
        return [{"name": "badminton", "type": "activity"}]
    planned: dict[str, Rows | str | Behaviour] = {
        "gap": [],
        "kite": '{"entities": [{"name": "ki',
        "owl": faults.status(400, "no talk of owls"),
        "stamps": [{"name": f"stamp {n}", "type": "thing"} for n in range(500)],
    }
    found = [{"name": object_of(said), "type": "thing"}]
    return next((reply for word, reply in planned.items() if word in said), found)


def relations(text: str) -> Rows | str | Behaviour:
    said = said_in(text)
    name = " ".join(said.split()[1 : 3 if " not " not in said else 4]) or "is"
    right = relation("I", name.replace(object_of(said), "").strip() or "does", object_of(said))
    planned: dict[str, Rows | str | Behaviour] = {
        "fox": [right, relation("Ada", "rides", "dragon")],
        "fern": [{"source": "Ada", "relation": "grew"}, right],
        "crab": faults.hang(),
        "stamps": [relation("Ada", "owns", "stamp 3"), relation("Ada", "owns", "stamp 499")],
        "newt": [relation("Ada", "keeps", "newt", 9)],
    }
    return next((reply for word, reply in planned.items() if word in said), [right])


def conflicts(text: str) -> Rows | str | Behaviour:
    said = said_in(text)
    if "any more" in said or "again" in said:
        old = "likes? badminton" if "any more" in said else "do not like badminton"
        (number,) = re.findall(rf"(?m)^(\d+)\. Ada {old}$", text)
        return [{"relation": int(number), "why": "a change of mind"}]
    if "lute" in said:
        return [{"relation": 77, "why": "made up"}]
    if "swim" in said:
        return faults.says(None)
    return []


TOOLS = {"entities": "note_entities", "relations": "note_relations", "conflicts": "end_relations"}
SCRIPT: dict[str, Callable[[str], Rows | str | Behaviour]] = {
    **{"entities": entities, "relations": relations, "conflicts": conflicts}
}


class GraphModel(Model):
    """Writes facts of nothing and the graph by SCRIPT; `down` is what it does instead."""

    down: Behaviour | None = None

    def __call__(self, body: Body) -> Behaviour | None:
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        tool = body["tools"][0]["function"]["name"] if "tools" in body else None
        kind = {name: kind for kind, name in TOOLS.items()}.get(str(tool), form)
        if kind == "facts":
            return faults.says('{"facts": []}')
        if kind not in SCRIPT:
            return faults.says("Ada talks.")
        if self.down:
            return self.down
        reply = SCRIPT[kind](text_of(body))
        if callable(reply):
            return reply
        value = reply if isinstance(reply, str) else json.dumps({kind: reply})
        if tool is None:  # bound to the names it was shown, no server writes another
            return faults.says(value.replace('"I"', '"Ada"'))
        also = [("paint", "{}")] if said_in(text_of(body)) == "I ate a fig" else []
        return by_tools([*also, (tool, value)])


def written(folder: Path, said: list[list[str]], *evidence: str) -> Path:
    """A data set of one conversation, of what Ada said, with up to two questions."""
    conversation: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bo"}
    for number, texts in enumerate(said, 1):
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"dia_id": f"D{number}:{i}", "speaker": "Ada", "text": text}
            for i, text in enumerate(texts, 1)
        ]
    asked = zip(("Does Ada like badminton?", "What did Ada meet?"), evidence, strict=False)
    qa = [{"question": q, "answer": "no", "evidence": [e], "category": 4} for q, e in asked]
    path = folder / "talk.json"
    path.write_text(json.dumps([{"sample_id": "talk", "conversation": conversation, "qa": qa}]))
    return path


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, ...]:
    own = ("strategy=mem0_graph", "strategy.facts.exchange=1", "reader=extractive", "judge=none")
    quick = ("llm.timeout_s=0.5", "llm.retries=0", "k=9")
    return (*own, *quick, f"dataset.path={written(tmp_path, SAID, *EVIDENCE)}", "dataset.name=talk")


MakeBench = Callable[[], Bench]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeBench]:
    with ExitStack() as stack:

        def made() -> Bench:
            model = GraphModel()
            server = stack.enter_context(FaultyServer(model))
            return Bench(tmp_path, tmp_path / "cache", server, model, ())

        yield made


def events(run: Run) -> list[dict[str, Any]]:
    return [event for line in run.ingests for event in line.get("events", [])]


def faults_of(run: Run) -> list[tuple[str, str]]:
    return [(event["step"], event["fault"]) for event in events(run) if "fault" in event]


def changes(run: Run) -> list[tuple[str, str]]:
    return [(e["operation"], e["text"]) for e in events(run) if e["step"] == "apply_relation"]


FIRST = [("ADD", "Ada like badminton"), ("ADD", "Ada love pizza")]


@pytest.mark.parametrize(("on_conflict", "gone"), [("delete", "DELETE"), ("invalidate", "END")])
def test_a_run_takes_every_branch(
    make: MakeBench, data: tuple[str, ...], on_conflict: str, gone: str
) -> None:
    bench = make()
    ended = bench.start(*data, f"strategy.graph.on_conflict={on_conflict}")
    assert ended.code == 0, ended.err
    renewed = "ADD" if on_conflict == "delete" else "RENEW"
    assert changes(bench.run) == [
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
    assert faults_of(bench.run) == [
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
    graphs = [event for event in events(bench.run) if event["step"] == "graph"]
    assert [(e["faults"], e["lost"], e["of"]) for e in graphs] == [
        *((0, 0, 3), (0, 0, 2), (10 - 1 + 1 + 1, 3, 8), (2, 1, 3))
    ]


def test_relations_are_context_evidence_and_trace(make: MakeBench, data: tuple[str, ...]) -> None:
    bench = make()
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
    make: MakeBench, data: tuple[str, ...]
) -> None:
    bench = make()
    ended = bench.start(*data, "strategy.update.calls=schema")
    assert ended.code == 0, ended.err
    assert not any("tools" in body for body in bench.server.bodies)
    assert changes(bench.run)[:5] == [
        *FIRST,
        ("DELETE", "Ada like badminton"),
        ("ADD", "Ada do not like badminton"),
        ("ADD", "Ada also like burgers"),
    ]
    assert changes(bench.run)[-1] == ("ADD", "Ada like badminton")
    asked = [body.get("response_format", {}) for body in bench.server.bodies]
    forms = [form["json_schema"] for form in asked if form]
    first = next(form["schema"] for form in forms if form["name"] == "relations")
    row = first["properties"]["relations"]["items"]["properties"]
    assert row["source"]["enum"] == ["badminton", "Ada"]


def test_a_dead_server_fails_the_questions_and_a_resumed_run_doubles_nothing(
    make: MakeBench, data: tuple[str, ...]
) -> None:
    bench = make()
    assert isinstance(bench.model, GraphModel)
    bench.model.down = faults.status(500)
    assert bench.start(*data).code == 0
    assert {r["error"]["phase"] for r in bench.run.records} == {"ingest session_1"}
    (line,) = bench.run.ingests
    assert line["events"][-1] == {"step": "graph", "faults": 3, "lost": 3, "of": 3}
    bench.model.down = None
    assert bench.start(*data, resume=True).code == 0
    assert {record["status"] for record in bench.run.records} == {"ok"}
    assert changes(bench.run)[:2] == FIRST


def test_without_a_model_one_line_tells_and_the_code_is_2(
    start: Start, data: tuple[str, ...], tmp_path: Path
) -> None:
    ended = start(*[one for one in data if not one.startswith("llm.")])
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line.startswith(
        "error: strategy=mem0_graph: no model to write the graph; add llm=openai"
    )
    assert not list(tmp_path.glob("results/runs/*"))


@pytest.mark.parametrize(
    "wrong",
    [
        *("strategy.graph.on_conflict=merge", "strategy.relations.by=words"),
        *("strategy.relations.limit=0", "+strategy.graph.colour=red"),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(
    start: Start, data: tuple[str, ...], wrong: str
) -> None:
    ended = start(*data, "llm=openai", "llm.base_url=http://127.0.0.1:9/v1", wrong)
    assert ended.code == 2
    assert wrong.rpartition(".")[2].partition("=")[0] in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=f"{missing()} is not installed (make local-model)")
def test_the_local_model_writes_a_graph(
    start: Start, data: tuple[str, ...], tmp_path: Path
) -> None:
    own = [one for one in data if not one.startswith(("llm.", "dataset.path="))]
    said = [["I like badminton.", "I bought a kayak."]]
    ended = start(
        *own,
        f"dataset.path={written(tmp_path, said, 'D1:1')}",
        *("llm=local", "llm.max_tokens=512", "+llm.extra.repeat_penalty=1.1"),
        *("strategy.update.calls=schema", "strategy.infer=false"),  # the graph is what is tried
        *("strategy.facts.exchange=2", "strategy.relations.query_entities=rule"),
    )
    assert ended.code == 0, ended.err
    (run,) = runs_in(tmp_path)
    (record,) = run.records
    assert record["status"] == "ok", record
    calls = {event["step"]: event for event in events(run) if "tokens" in event}
    for step in ("entities", "relations"):
        assert min(calls[step]["tokens"].values()) > 0
        assert calls[step][step] >= 1
    (graph,) = [event for event in events(run) if event["step"] == "graph"]
    assert (graph["lost"], graph["of"]) == (0, 1)
