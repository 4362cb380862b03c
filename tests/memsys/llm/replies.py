"""What servers have sent in answer to a chat request: name, behaviour, and what becomes of it."""

import gzip
import json
from typing import Any, NamedTuple

from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, Handler

KEY = "sk-SECRETSECRETSECRET12345"
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)


class Case(NamedTuple):
    """`answer`: the text of the completion; None if it is an error whose message has `error`."""

    behave: Behaviour
    answer: str | None
    error: str = ""


def reply(message: Any, finish: Any = "stop", **more: Any) -> Body:
    """A chat answer with this message."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage} | more


def text(content: Any, finish: Any = "stop", **more: Any) -> Body:
    """A chat answer with this content."""
    return reply({"role": "assistant", "content": content}, finish, **more)


def framed(
    data: bytes, status: int = 200, headers: dict[str, str] | None = None, length: int | None = None
) -> Behaviour:
    """These bytes with these headers; `length` is what the header claims, -1 for no header."""

    def behave(handler: Handler, _: Body) -> None:
        handler.send_response(status)
        # Without this header a client might send its next request before it notices the end.
        sent = {"Content-Type": "application/json", "Connection": "close"} | (headers or {})
        if length != -1:
            sent["Content-Length"] = str(len(data) if length is None else length)
        for name, value in sent.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return behave


def ok(value: Body, expected: str) -> Case:
    return Case(faults.answer(value), expected)


def bad(value: Any, error: str) -> Case:
    return Case(value if callable(value) else faults.answer(value), None, error)


def usage(**counts: Any) -> Body:
    return text("four", usage={"prompt_tokens": 5, "completion_tokens": 2} | counts)


def _raw(value: Body, old: str, new: str) -> Behaviour:
    """The JSON of `value` with a part replaced by what json.dumps cannot write."""
    return faults.raw(json.dumps(value).replace(old, new).encode())


_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
_ZIPPED = gzip.compress(json.dumps(text("packed")).encode())
_LARGE = json.dumps(text("x" * (17 * 2**20))).encode()
_BOMB = gzip.compress(b" " * (64 * 2**20))
_NONE = "not a JSON object"

CASES: dict[str, Case] = {
    # Usable.
    "plain": ok(text("a red canoe"), "a red canoe"),
    "cut by length": ok(text("It was in", "length"), "It was in"),
    "no finish reason": ok(text("yes", None), "yes"),
    "with a NUL": ok(text("nul \x00 char"), "nul \x00 char"),
    "reasoning before": ok(text("<think>hm</think>yes"), "<think>hm</think>yes"),
    "no usage": ok(text("yes", usage=None), "yes"),
    "usage without counts": ok(usage(prompt_tokens=None, completion_tokens=None), "four"),
    "no model": ok(text("yes", model=None), "yes"),
    "empty tool calls": ok(reply({"content": "yes", "tool_calls": []}), "yes"),
    "null refusal": ok(reply({"content": "yes", "refusal": None}), "yes"),
    "two choices": ok(text("first") | {"choices": text("first")["choices"] * 2}, "first"),
    "content type of HTML": Case(
        framed(json.dumps(text("yes")).encode(), headers={"Content-Type": "text/html"}), "yes"
    ),
    "no length": Case(framed(json.dumps(text("yes")).encode(), length=-1), "yes"),
    "gzip": Case(framed(_ZIPPED, headers={"Content-Encoding": "gzip"}), "packed"),
    "the key": ok(text(f"your key is {KEY}"), "your key is $OPENAI_API_KEY"),
    "the key in escapes": Case(
        _raw(text("your key is KEY"), "KEY", ESCAPED), "your key is $OPENAI_API_KEY"
    ),
    # Nothing said.
    "null": bad(text(None), "no content; finish_reason stop"),
    "no content": bad(reply({"role": "assistant"}), "no content"),
    "empty": bad(text(""), "content is empty; finish_reason stop"),
    "reasoning alone": bad(text("<think>hm, so"), "reasoning alone"),
    "empty by length": bad(text("", "length"), "max_completion_tokens.*finish_reason length"),
    "filtered": bad(text("", "content_filter"), "filtered; finish_reason content_filter"),
    "refusal": bad(reply({"content": None, "refusal": f"no, {KEY}"}), r"refused: no, \$OPENAI"),
    "tool call": bad(reply({"content": None, "tool_calls": [_CALL]}, "tool_calls"), "tool_calls"),
    "tool call beside text": bad(reply({"content": "x", "tool_calls": [_CALL]}), "none were offer"),
    # Of another shape.
    "content is a number": bad(text(4), "no content"),
    "content is a list": bad(text([{"type": "text", "text": "x"}]), "no content"),
    "no choices": bad({"id": "x"}, "no choices"),
    "empty choices": bad({"choices": []}, "no choices"),
    "choice is null": bad({"choices": [None]}, "no message"),
    "message is text": bad(reply("yes"), "no message"),
    "tool calls are text": bad(reply({"content": "x", "tool_calls": "f"}), "not a list"),
    "tool call without name": bad(reply({"content": "x", "tool_calls": [{}]}), "no function"),
    "error with status 200": bad({"error": {"message": f"busy {KEY}"}}, r"busy \$OPENAI_API_KEY"),
    "list": bad([], _NONE),
    "null body": bad(None, _NONE),
    "no body": bad(faults.raw(b""), _NONE),
    "status 204": bad(framed(b"", 204), _NONE),
    "HTML": bad(faults.raw(b"<html>Bad gateway</html>"), _NONE),
    "event stream": bad(faults.raw(b'data: {"choices": []}\n\ndata: [DONE]\n'), _NONE),
    "no UTF-8": bad(faults.raw(b'{"choices": "\xff\xfe"}'), _NONE),
    "fewer bytes than said": bad(framed(b"{}", length=99), "connection failed"),
    "reset": bad(faults.reset, "connection failed"),
    "gzip that is none": bad(framed(b"{}", headers={"Content-Encoding": "gzip"}), "not gzip"),
    "another encoding": bad(framed(b"{}", headers={"Content-Encoding": "br"}), "not accepted"),
    # Beyond what can be recorded, or held.
    "surrogate": bad(_raw(text("XX"), "XX", "half \\ud83d"), "unpaired surrogate"),
    "deep list": bad(faults.raw(b"[" * 100_000), "nested more than"),
    "101 deep": bad({"choices": [], "x": json.loads("[" * 101 + "]" * 101)}, "nested more than"),
    "too large": bad(framed(_LARGE), "larger than 16 MB"),
    "gzip bomb": bad(framed(_BOMB, headers={"Content-Encoding": "gzip"}), "larger than 16 MB"),
    "too large with status 500": bad(framed(_LARGE, 500), "HTTP 500"),
    "tokens are NaN": bad(usage(prompt_tokens=float("nan")), "NaN"),
    "tokens are infinite": bad(_raw(usage(prompt_tokens=77), "77", "1e999"), "range of 64 bits"),
    "tokens below 0": bad(usage(completion_tokens=-1), "usage.completion_tokens is -1"),
    "tokens 1e30": bad(usage(prompt_tokens=1e30), r"usage.prompt_tokens is 1e\+30"),
    "tokens 10^30": bad(usage(prompt_tokens=10**30), "range of 64 bits"),
    "tokens 2^60": bad(usage(prompt_tokens=2**60), "usage.prompt_tokens is 1152921504606846976"),
    "tokens are true": bad(usage(prompt_tokens=True), "usage.prompt_tokens is True"),
    "usage is text": bad(text("yes", usage="five"), "usage is not an object"),
    "5,000 digits": bad(_raw(usage(prompt_tokens=77), "77", "7" * 5000), "range of 64 bits"),
    # Errors in the protocol's form.
    "429": bad(faults.status(429, f"slow {KEY}"), r"HTTP 429 \(slow \$OPENAI_API_KEY; 1 attempt"),
    "500": bad(faults.status(500), "HTTP 500"),
    "502 of a proxy": bad(framed(b"<html>", 502), "HTTP 502"),
    "400": bad(faults.status(400, f"header {KEY}"), r"HTTP 400 \(header \$OPENAI_API_KEY"),
    "too long": bad(
        faults.status(400, "This model's maximum", "context_length_exceeded"), "longer than the"
    ),
    "too long, as llama.cpp has it": bad(
        faults.status(400, "the request exceeds the available context size"), "longer than the"
    ),
    "redirect": bad(framed(b"", 302, {"Location": "http://127.0.0.1:9/v1"}), "HTTP 302"),
}
