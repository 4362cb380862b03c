"""strategy=rest against a service that a test may make misbehave."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from baselines.libraries.rest import Rest, ServiceError
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError
from memsys.core.types import Session, Turn
from tests.memsys.build import SESSIONS, MakeParts, query
from tests.memsys.llm.server import FaultyServer, Handler

Reply = tuple[int, Any]


class Service(FaultyServer):
    """Remembers what it was asked; `script` answers, else everything is fine and empty."""

    def __init__(self) -> None:
        super().__init__(lambda _: self.behave)
        self.script: Callable[[str, str, Any], Reply | None] = lambda *_: None

    @property
    def url(self) -> str:
        return self.base_url.removesuffix("/v1")

    @property
    def asked(self) -> list[tuple[str, str, Any, dict[str, str]]]:
        return list(zip(self.methods, self.paths, self.bodies, self.headers, strict=True))

    def behave(self, handler: Handler, body: Any) -> None:
        status, answer = self.script(handler.command, handler.path, body) or (200, {"results": []})
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        handler.begin(status, len(data))
        handler.wfile.write(data)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    with Service() as made:
        yield made


def make(parts: MakeParts, url: str, **own: Any) -> Rest:
    fields = {"k": 3, "budget": None, "infer": None, "batch": 1, "timeout_s": 5}
    return Rest(parts(), **{**fields, "key_variable": "MEMSYS_API_KEY", "url": url, **own})


def test_turns_are_posted_one_by_one_with_their_ids(service, parts):
    rest = make(parts, service.url)
    said = Session("1", datetime(2024, 3, 2, 10, 0), (Turn("D1:1", "Mara", "Look", "a bowl"),))
    rest.ingest(said)
    ((method, path, body, _),) = service.asked
    assert (method, path) == ("POST", "/memories")
    owner = body.pop("user_id")
    assert owner.startswith("memsys-")
    time = "2024-03-02T10:00:00Z"
    message = {"role": "user", "name": "Mara", "id": "D1:1", "content": "Look [image: a bowl]"}
    assert body == {
        "messages": [message],
        "metadata": {"turns": ["D1:1"], "speakers": ["Mara"], "time": time},
        "time": time,
    }
    other = make(parts, service.url)
    other.ingest(said)
    assert service.asked[-1][2]["user_id"] != owner


@pytest.mark.parametrize(("batch", "posts"), [(1, 4), (3, 2), (None, 1)])
def test_a_post_contains_a_batch_and_memories_are_counted_by_what_was_done(
    service, parts, batch, posts
):
    done = ("ADD", "ADD", "DELETE", "UPDATE")
    service.script = lambda *_: (201, {"results": [{"event": event} for event in done]})
    rest = make(parts, service.url, batch=batch, infer=False)
    assert rest.ingest(SESSIONS[0]) == posts
    assert len(service.asked) == posts
    posted = [one["id"] for _, _, body, _ in service.asked for one in body["messages"]]
    assert posted == ["D1:1", "D1:2", "D1:3", "D1:4"]
    assert {body["infer"] for _, _, body, _ in service.asked} == {False}
    rest.ingest(SESSIONS[0])
    assert rest.size() == {"memories": 2 * posts}


ROW = {"id": "m1", "memory": "Mara sold a bowl", "score": 0.5}


@pytest.mark.parametrize(
    ("more", "turns", "title"),
    [
        ({"turns": ["D3:1"], "metadata": {"turns": ["D1:1", "D1:2"]}}, ("D3:1",), ""),
        ({"metadata": {"turns": ["D1:1"], "time": "2024-03-02T10:00:00Z"}}, ("D1:1",), ""),
        ({"metadata": None, "title": "bowl"}, (), "bowl"),
        ({"metadata": {"title": "bowl"}}, (), "bowl"),
    ],
)
def test_turns_time_and_title_are_those_of_a_result(service, parts, more, turns, title):
    service.script = lambda *_: (200, {"results": [{**ROW, **more}, *[ROW] * 4]})
    found = make(parts, service.url, k=2).retrieve(query("bowl"))
    first, second = (one.memory for one in found.candidates)  # k, though it gave more
    assert (first.turns, first.title) == (turns, title)
    assert (second.turns, second.title) == ((), "")
    assert "Mara sold a bowl" in found.context
    assert found.context_tokens > 0
    asked = service.asked[-1][2]
    assert (asked["query"], asked["top_k"]) == ("bowl", 2)
    time = (more.get("metadata") or {}).get("time")
    assert first.time == (datetime(2024, 3, 2, 10, 0) if time else query("").time)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((500, {"error": {"message": "oh"}}), "500 oh"),
        ((503, b"busy"), "503"),
        ((200, b"<html>"), "the answer is not a JSON object"),
        ((200, b"[]"), "the answer is not a JSON object"),
        ((200, b'{"results": ' + b"[" * 200 + b"]" * 200 + b"}"), "the answer is not a JSON obj"),
        ((200, {"results": 3}), "the answer is not a JSON object with `results`"),
        ((200, {"results": ["x" * 2_000]}), "the answer is larger than"),
    ],
)
def test_a_failure_names_its_status_and_is_of_its_request_alone(
    service, parts, monkeypatch, reply, message
):
    if "larger" in message:
        monkeypatch.setattr("baselines.libraries.rest._REPLY_MOST", 1_000)
    service.script = lambda *_: reply
    rest = make(parts, service.url)
    with pytest.raises(ServiceError, match=f"^POST /search: {message}"):
        rest.retrieve(query("bowl"))
    service.script = lambda *_: None
    assert rest.rank(query("bowl"))[0] == []


def test_who_never_answered_is_wrong_input_and_who_is_gone_is_not(service, parts):
    make(parts, service.url).retrieve(query("bowl"))
    url = service.url
    service.shutdown()
    service.server_close()
    gone = make(parts, url)
    with pytest.raises(ServiceError, match="POST /search: Connect"):
        gone.retrieve(query("bowl"))
    with pytest.raises(InputError, match=r"nobody answers there; start .*python -m eval serve"):
        make(parts, "http://127.0.0.1:9").retrieve(query("bowl"))


def test_the_key_is_sent_and_a_refused_one_named(service, parts, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "a-secret-of-the-tests")
    rest = make(parts, service.url, key_variable="OTHER_KEY")
    rest.retrieve(query("bowl"))
    assert service.asked[-1][3]["authorization"] == "Bearer a-secret-of-the-tests"
    service.script = lambda *_: (401, {})
    with pytest.raises(InputError, match=r"refuses the key; .* OTHER_KEY") as caught:
        rest.retrieve(query("bowl"))
    assert "a-secret" not in str(caught.value)
    assert "a-secret" not in json.dumps(rest.details)


def test_close_deletes_what_was_posted_and_asks_nobody_else(service, parts):
    make(parts, service.url).close()
    assert service.asked == []
    rest = make(parts, service.url)
    rest.ingest(SESSIONS[0])
    owner = service.asked[0][2]["user_id"]
    service.script = lambda *_: (500, {})  # of no use to a run that is over
    rest.close()
    assert service.asked[-1][:2] == ("DELETE", f"/memories?user_id={owner}")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"url": "ftp://x"}, "^strategy.url: "),
        ({"url": "http://me:secret@x"}, "^strategy.url: contains a password"),
        ({"batch": 0}, "^strategy.batch: 0"),
        ({"timeout_s": 0}, "^strategy.timeout_s: 0"),
        ({"k": 0}, r"^strategy\.k: 0"),
        ({"key_variable": "sk-secret-horse"}, r"strategy\.key_variable"),
    ],
)
def test_wrong_settings_are_named_and_secrets_are_not_repeated(parts, wrong, message):
    with pytest.raises(InputError, match=message) as error:
        make(parts, **{"url": "http://127.0.0.1:9", **wrong})
    assert "secret" not in str(error.value)


def test_a_key_that_the_service_repeats_goes_no_further(service, parts, monkeypatch):
    """Under any name of its variable, plain or in escapes, in answers and in errors."""
    monkeypatch.setenv("MEM_PASS", "correct-horse-9")
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in "correct-horse-9")
    row = '{"id": "1", "memory": "Bearer correct-horse-9 KEY", "score": 1, "turns": ["D1:1"]}'
    output = f'{{"results": [{row}]}}'.replace("KEY", escaped).encode()
    service.script = lambda method, path, body: (200, output) if path == "/search" else None
    rest = make(parts, service.url, key_variable="MEM_PASS")
    [candidate], _ = rest.rank(query("what?"))
    assert candidate.memory.content == "Bearer $MEM_PASS $MEM_PASS"
    assert service.asked[-1][3]["authorization"] == "Bearer correct-horse-9"
    refusal = b'{"error": {"message": "not for KEY"}}'.replace(b"KEY", escaped.encode())
    service.script = lambda *_: (500, refusal)
    with pytest.raises(ServiceError, match=r"500 not for \$MEM_PASS"):
        rest.rank(query("what?"))
    assert without_secrets("it was correct-horse-9") == "it was $MEM_PASS"  # wherever it appears


def test_a_key_without_a_value_and_a_short_value_are_no_secrets(monkeypatch):
    monkeypatch.setenv("MEM_PASS", "")
    monkeypatch.setenv("MEM_TOKEN", "blue")
    assert without_secrets("blue, correct", "MEM_PASS") == "blue, correct"


def test_forgetting_deletes_what_the_service_lists_with_the_turns(service, parts):
    rows = [{"id": f"m/{n}", "memory": "x", "metadata": {"turns": [f"D1:{n}"]}} for n in range(101)]
    rows[100]["turns"] = ["D1:3", "D1:7"]

    def script(method: str, path: str, _: Any) -> Reply | None:
        if method != "GET":
            return None
        first = int(path.partition("offset=")[2])
        return 200, {"results": rows[first : first + 100]}

    service.script = script
    rest = make(parts, service.url)
    rest.ingest(SESSIONS[0])
    assert rest.forget(["D1:3", "D9:9"]) == 2
    deleted = [path for method, path, *_ in service.asked if method == "DELETE"]
    assert deleted == [f"/memories/m%2F{n}?history=false" for n in (3, 100)]


def test_a_service_that_names_no_turns_cannot_forget(service, parts):
    rest = make(parts, service.url)
    assert rest.forget(["D1:3"]) == 0  # nothing is stored
    service.script = lambda *_: (200, {"results": [{"id": "m1", "memory": "x", "metadata": {}}]})
    assert rest.forget(["D1:3"]) is None
    assert {method for method, *_ in service.asked} == {"GET"}
