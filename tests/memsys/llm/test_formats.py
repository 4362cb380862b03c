"""JSON of a schema: the reply format that a server accepts, and what a value must be."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.llm.base import LLMError
from memsys.llm.meter import Meter
from memsys.llm.reply import violation
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, FaultyServer

ASKED = [{"role": "user", "content": "Is it right? Reply with JSON."}]
LABEL = {"label": {"enum": ["right", "wrong"]}}
SCHEMA = {"title": "verdict", "type": "object", "properties": LABEL, "required": ["label"]}
RIGHT = '{"label": "right"}'


def format_of(body: Body) -> str:
    form: str = body.get("response_format", {}).get("type", "text")
    return form


def only(accepted: str, code: int = 400, text: str = RIGHT) -> Any:
    """A server that refuses every format but this and those below it."""
    order = ["json_schema", "json_object", "text"]

    def choose(body: Body) -> Behaviour:
        if order.index(format_of(body)) < order.index(accepted):
            return faults.status(code, "response_format: unknown")
        return faults.says(text)

    return choose


@pytest.mark.parametrize(
    ("accepted", "code"),
    [("json_schema", 400), *(("json_object", code) for code in (400, 404, 422)), ("text", 400)],
)
def test_the_first_format_that_is_accepted_is_used_and_replayed(accepted, code, make):
    meter = Meter()
    with FaultyServer(only(accepted, code)) as server:
        client = make(server, meter=meter)
        assert client.reply_format is None
        with meter.phase() as live, ThreadPoolExecutor(8) as pool:

            def ask(sample: int) -> str:
                with meter.phase():
                    return client.complete(ASKED, schema=SCHEMA, sample=sample).text

            assert set(pool.map(ask, range(12))) == {RIGHT}
        assert client.reply_format == accepted
        counts = Counter(map(format_of, server.bodies))
        assert counts[accepted] == 12
        assert server.requests - 12 == list(counts).index(accepted)  # one refusal of each other
        assert all(body["messages"] == ASKED for body in server.bodies)
        client = make(server, meter=meter)  # a resumed run
        with meter.phase() as live:
            client.complete(ASKED, schema=SCHEMA)
        assert (live.attempts, client.reply_format) == (0, accepted)
    replaying = make("http://elsewhere/v1", "replay", meter)
    with meter.phase() as again:
        replaying.complete(ASKED, schema=SCHEMA)
    assert (again.keys, again.usage) == (live.keys, live.usage)
    assert replaying.reply_format == accepted


def test_a_prompt_without_json_is_followed_by_the_schema(make):
    with FaultyServer(only("text")) as server:
        make(server).complete([{"role": "user", "content": "Is it?"}], schema=SCHEMA)
        assert "response_format" not in server.bodies[-1]
        assert json.dumps(SCHEMA) in server.bodies[-1]["messages"][-1]["content"]


def test_a_refusal_of_every_format_is_the_request_s_error_and_replayed(make):
    with FaultyServer(lambda _: faults.status(400, "no such thing")) as server:
        client = make(server)
        with pytest.raises(LLMError, match="no such thing") as live:
            client.complete(ASKED, schema=SCHEMA)
        assert (server.requests, client.reply_format) == (3, None)
    with pytest.raises(LLMError) as replayed:
        make("http://elsewhere/v1", "replay").complete(ASKED, schema=SCHEMA)
    assert str(replayed.value) == str(live.value)


def test_a_missing_model_and_a_request_that_is_too_long_say_nothing_of_the_format(make):
    gone = faults.status(404)
    with FaultyServer(lambda _: gone) as server, pytest.raises(InputError, match=r"llm\.model"):
        make(server).complete(ASKED, schema=SCHEMA)
    long = faults.status(400, "maximum context length is 5", "context_length_exceeded")
    with FaultyServer([long, faults.says(RIGHT)]) as server:
        client = make(server)
        with pytest.raises(LLMError, match="longer than the model"):
            client.complete(ASKED, schema=SCHEMA)
        assert server.requests == 1
        client.complete(ASKED, schema=SCHEMA)
        assert client.reply_format == "json_schema"


def test_an_accepted_format_is_not_questioned_again(make):
    with FaultyServer([faults.says("so so"), faults.status(400, "bad")]) as server:
        client = make(server)
        for words in ("not the JSON", "bad"):
            with pytest.raises(LLMError, match=words):
                client.complete(ASKED, schema=SCHEMA)
        assert list(map(format_of, server.bodies)) == ["json_schema"] * 2


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (RIGHT, RIGHT),
        (f"```json\n{RIGHT}\n```", RIGHT),
        (f"Sure! Here it is: {RIGHT}", RIGHT),
        (f'<think>{{no}}, {{"label": "wrong"}}</think>{RIGHT}', RIGHT),
        (f"{RIGHT} and once more {RIGHT}", RIGHT),
        ('Given {"a": 1}: {"label": "wrong"}', '{"label": "wrong"}'),
    ],
)
def test_what_surrounds_the_json_is_left_out(reply, text, make):
    with FaultyServer([faults.says(reply)]) as server:
        done = make(server).complete(ASKED, schema=SCHEMA)
    assert (done.text, done.usage.calls) == (text, Usage(1).calls)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("right", "not the JSON asked for"),
        ("{" * 100_000, "not the JSON asked for"),
        ('{"label": ' * 5_000, "not the JSON asked for"),
        (f'{RIGHT} or {{"label": "wrong"}}', "several different objects"),
        ('```{"label": "maybe"}```', "reply.label is none of"),
        ('{"label": NaN}', "not the JSON asked for"),
        ("[" * 5_000, "not the JSON asked for"),
        (f"[{RIGHT}]", "reply is no object"),
    ],
)
def test_no_json_of_the_schema_is_an_error(reply, words, make):
    with FaultyServer([faults.says(reply)]) as server, pytest.raises(LLMError, match=words):
        make(server).complete(ASKED, schema=SCHEMA)


ROW = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
PAIR = {**ROW, "required": ["n", "o", "p"]}
ROWS = {"type": "array", "items": ROW}


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({"n": 1}, ROW),
        ({"n": 1, "more": 2}, ROW),
        ({"n": 1.0}, ROW),  # JSON Schema: a number without a fraction is an integer
        ([{"n": 1}, {"n": 2}], ROWS),
        (None, {"type": ["string", "null"]}),
        (1.5, {"type": "number"}),
        ("a", {"enum": ["a", "b"]}),
        (3, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (3, {"minimum": 5}),  # not checked, and said so
    ],
)
def test_a_value_fits_its_schema(value, schema):
    assert violation(value, schema) is None


@pytest.mark.parametrize(
    ("value", "schema", "words"),
    [
        ([], ROW, "reply is no object"),
        ({}, ROW, "reply lacks n"),
        ({"n": "1"}, ROW, "reply.n is no integer"),
        ({"n": True}, ROW, "reply.n is no integer"),
        ({"n": 1.5}, ROW, "reply.n is no integer"),
        ({"n": 1, "m": 2}, {**ROW, "additionalProperties": False}, "reply has m, which the schema"),
        (
            {"l": 1, "m": 2, "n": "1"},
            {**PAIR, "additionalProperties": False},
            "reply lacks o, p; reply has l, m, which the schema does not have; reply.n is no",
        ),
        ([{"n": 1}, {}], ROWS, r"reply[1] lacks n"),
        ("c", {"enum": ["a", "b"]}, "none of"),
        (True, {"enum": [1]}, "none of"),
        (2, {"const": 1}, "none of [1]"),
        (None, {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "fits no alternative"),
        (1, {"type": "boolean"}, "no boolean"),
    ],
)
def test_what_is_wrong_with_a_value_is_named(value, schema, words):
    assert words in (violation(value, schema) or "")
