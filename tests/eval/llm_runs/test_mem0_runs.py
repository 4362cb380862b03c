"""strategy=mem0 from start to end against a scripted server that takes every branch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from commands import Start
from served import Bench, Model, files_with, text_of

from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body, right_answer
from tests.memsys.llm.server import Behaviour, FaultyServer, Handler

SAID = [
    ["I like badminton.", "I love pizza.", "Mind the gap."],
    ["I do not like badminton any more.", "I also like burgers."],
    ["Yesterday I bought a kite.", "Thunder all night.", "I rowed.", "I met an owl."],
    ["I grew a fern.", "I ate a fig.", "I shut the gate.", "I still love pizza."],
]
Calls = list[tuple[str, str]]  # names of tools and their arguments, JSON
WHY = '{"why": "so it is"}'


def decision(text: str) -> Calls | Behaviour:
    """What becomes of a new fact, by a word of it."""
    fact = text.partition("<new_fact>\n")[2].partition("\n</new_fact>")[0]
    if "any more" in fact:
        (number,) = re.findall(r"(\d+)\. Ada: I like badminton", text)
        return [("DELETE", json.dumps({"id": int(number), "why": "not any more"})), ("ADD", WHY)]
    planned: dict[str, Calls | Behaviour] = {
        "kite": [("ADD", '{"why": "cut')],
        "rowed": [("FORGET", WHY)],
        "owl": [("DELETE", '{"id": 77, "why": "so it is"}')],
        "fern": [("UPDATE", '{"id": 1, "why": "so it is"}')],
        "fig": faults.says(None),
        "gate": faults.hang(),
        "still": [("NOOP", WHY)],
    }
    return next((calls for word, calls in planned.items() if word in fact), [("ADD", WHY)])


def by_tools(calls: Calls) -> Behaviour:
    def behave(handler: Handler, body: Body) -> None:
        value = right_answer(body)
        made = [
            {"id": str(n), "type": "function", "function": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": None, "tool_calls": made}
        value["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
        handler.reply(200, value)

    return behave


def by_schema(calls: Calls) -> Behaviour:
    try:
        rows = [{"id": 0, "content": "", **json.loads(g), "operation": name} for name, g in calls]
    except ValueError:
        return faults.says('{"operations": [{"why": "cut')
    return faults.says(json.dumps({"operations": rows}))


def extraction(text: str) -> Behaviour:
    """Every new message is a fact in its own words, but of one none is made, and one is refused."""
    new = text.partition("<new_messages>")[2].partition("</new_messages>")[0]
    ((number, speaker, said),) = re.findall(r"(?m)^(\d+)\. (\w+): (.+)\.$", new)
    if "Thunder" in said:
        return faults.status(400, "no talk of thunder")
    fact = {
        "title": said.split()[-1],
        "content": said,
        "when": "yesterday" if "Yesterday" in said else "",
        "speaker": speaker,
        "turns": [int(number)],
    }
    return faults.says(json.dumps({"facts": [] if "gap" in said else [fact]}))


class Mem0Model(Model):
    """Extracts, decides and sums up; `down` is what it does instead."""

    down: Behaviour | None = None

    def __call__(self, body: Body) -> Behaviour | None:
        text = text_of(body)
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        if self.down:
            return self.down
        if form == "facts":
            return extraction(text)
        if form == "operations" or "tools" in body:
            planned = decision(text)
            if isinstance(planned, list):
                return by_tools(planned) if "tools" in body else by_schema(planned)
            return planned
        return faults.says("Ada talks.")


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, ...]:
    """Options for a conversation of four sessions with two questions."""
    conversation: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bo"}
    for number, texts in enumerate(SAID, 1):
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"dia_id": f"D{number}:{i}", "speaker": "Ada", "text": text}
            for i, text in enumerate(texts, 1)
        ]
    qa = [
        {"question": "Does Ada like badminton?", "answer": "no", "evidence": [turn], "category": 4}
        for turn in ("D2:1", "D1:1")
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{"sample_id": "talk", "conversation": conversation, "qa": qa}]))
    own = ("strategy=mem0", "strategy.facts.exchange=1", "strategy.facts.retries=0")
    own += ("reader=extractive", "judge=none", "k=9")
    quick = ("llm.timeout_s=0.5", "llm.retries=0")
    return (*own, *quick, f"dataset.path={path}", "dataset.name=talk")


MakeBench = Callable[[], Bench]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeBench]:
    with ExitStack() as stack:

        def made() -> Bench:
            model = Mem0Model()
            server = stack.enter_context(FaultyServer(model))
            return Bench(tmp_path, tmp_path / "cache", server, model, ())

        yield made


def events(bench: Bench, step: str) -> list[dict[str, Any]]:
    found = [event for line in bench.run.ingests for event in line.get("events", [])]
    return [event for event in found if event["step"] == step]


def faults_of(bench: Bench) -> list[str]:
    lines = [event for line in bench.run.ingests for event in line.get("events", [])]
    return [event["fault"] for event in lines if "fault" in event]


def test_a_run_takes_every_branch(make: MakeBench, data: tuple[str, ...]) -> None:
    bench = make()
    ended = bench.start(*data)
    assert ended.code == 0, ended.err
    changes = [(e["operation"], e["old"], e["new"]) for e in events(bench, "apply")]
    like, no_more = "Ada: I like badminton", "Ada: I do not like badminton any more"
    assert changes == [
        ("ADD", None, like),
        ("ADD", None, "Ada: I love pizza"),
        ("DELETE", like, None),
        ("ADD", None, no_more),
        ("ADD", None, "Ada: I also like burgers"),
        ("NOOP", None, None),
    ]
    assert faults_of(bench) == [
        *("no_answer", "broken_json", "unknown_operation", "unknown_id"),
        *("bad_argument", "no_answer", "no_answer"),
    ]
    left = {"D1:2", "D2:1", "D2:2"}
    for record in bench.run.records:
        assert record["status"] == "ok"
        assert {turn for _, turns, *_ in record["retrieved"] for turn in turns} == left
    assert [r["scores"]["evidence_recall"] for r in bench.run.records] == [1, 0]


def test_the_cost_of_a_session_is_that_of_its_events(
    make: MakeBench, data: tuple[str, ...]
) -> None:
    bench = make()
    bench.start(*data)
    lines = [line for line in bench.run.ingests if line["phase"] == "ingest"]
    assert [line["memories"] for line in lines] == [2, 1, 0, 0]
    for line, unusable in zip(lines, [0, 0, 0, 1], strict=True):
        spent = [event["tokens"] for event in line["events"] if "tokens" in event]
        # A refusal is billed as well, but has no event of a call.
        assert line["usage"]["by_model"]["gpt-4o-mini"]["calls"] == len(spent) + unusable
        for name in ("input_tokens", "output_tokens"):
            told = sum(one[name] for one in spent)
            assert (line["usage"][name] == told > 0) is not bool(unusable)
    assert [line["events"][-1]["faults"] for line in lines] == [0, 0, 4, 3]
    roles = {"facts": "facts_extract", "summary": "facts_summary", "update": "mem0_update"}
    prompts = bench.run.manifest["prompts"]
    assert {role: prompts[role]["name"] for role in roles} == roles


def test_by_schema_the_memory_is_the_same(make: MakeBench, data: tuple[str, ...]) -> None:
    """What a tool call gets wrong by itself fails the whole reply here, and costs its fact."""
    bench = make()
    ended = bench.start(*data, "strategy.update.calls=schema")
    assert ended.code == 0, ended.err
    assert not any("tools" in body for body in bench.server.bodies)
    assert [line["memories"] for line in bench.run.ingests] == [2, 1, 0, 0, 0]
    assert len(faults_of(bench)) == 7
    assert set(faults_of(bench)) == {"no_answer", "unknown_id", "bad_argument"}


def test_a_dead_server_fails_the_questions_and_a_resumed_run_doubles_nothing(
    make: MakeBench, data: tuple[str, ...]
) -> None:
    bench = make()
    assert isinstance(bench.model, Mem0Model)
    bench.model.down = faults.status(500)
    assert bench.start(*data).code == 0
    assert {r["error"]["phase"] for r in bench.run.records} == {"ingest session_1"}
    (line,) = bench.run.ingests
    assert (line["status"], len(line["events"])) == ("error", 5)
    bench.model.down = None
    assert bench.start(*data, resume=True).code == 0
    ok = [line for line in bench.run.ingests if line["status"] == "ok"]
    assert [line["memories"] for line in ok] == [2, 1, 0, 0, 0]
    assert {record["status"] for record in bench.run.records} == {"ok"}


def test_a_server_s_words_with_the_key_stay_out_of_the_events(
    make: MakeBench, data: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-distinctive-77aa88bb"
    monkeypatch.setenv("ANOTHER_SECRET", key)
    bench = make()
    assert isinstance(bench.model, Mem0Model)
    bench.model.down = faults.status(400, f"not for {key}")
    bench.start(*data)
    assert "no_answer" in faults_of(bench)
    assert files_with(bench.folder / "run", key)[1] == []


def test_raw_messages_need_no_model(start: Start, data: tuple[str, ...]) -> None:
    raw = [one for one in data if not one.startswith("llm.")]
    assert start(*raw, "strategy.infer=false", "llm=none").code == 0


def test_without_a_model_one_line_tells_and_the_code_is_2(
    start: Start, data: tuple[str, ...], tmp_path: Path
) -> None:
    ended = start(*[one for one in data if not one.startswith("llm.")])
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert line.startswith("error: strategy=mem0: no model to write the memory; add llm=openai")
    assert not list(tmp_path.glob("results/runs/*"))


@pytest.mark.parametrize("wrong", ["strategy.update.calls=words", "+strategy.facts.colour=red"])
def test_a_wrong_setting_is_told_in_one_line(
    start: Start, data: tuple[str, ...], wrong: str
) -> None:
    ended = start(*data, "llm=openai", "llm.base_url=http://127.0.0.1:9/v1", wrong)
    assert ended.code == 2
    assert wrong.rpartition(".")[2].partition("=")[0] in ended.err
    assert len(ended.err.splitlines()) == 1
