"""The key goes to the server, and is in nothing that a run leaves behind, however it ends."""

import json
import socket

import pytest

from tests.eval.run.llm_runs.served import Bench, files_with
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Handler

KEY = "sk-distinctive-5f0e1d2c3b4a"


@pytest.fixture(autouse=True)
def key(no_key: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def repeats(status: int) -> faults.Behaviour:
    """An error that quotes the request's own header, in the body and in a header of its own."""

    def behave(handler: Handler, _: Body) -> None:
        header = str(handler.headers["Authorization"])
        assert KEY in header
        error = {"message": f"not accepted: {header}", "type": header, "code": header}
        handler.reply(status, {"error": error}, {"x-request-id": header, **faults.SOON})

    return behave


def says_key(handler: Handler, body: Body) -> None:
    """An answer, or a verdict's reason, that holds the key."""
    words = f"your key is {KEY}"
    if "response_format" in body:
        words = json.dumps({"reason": words, "verdict": "CORRECT"})
    faults.says(words)(handler, body)


def check(bench: Bench, *texts: str, at_least: int) -> None:
    count, holding = files_with(bench.folder, KEY)
    assert count >= at_least  # else nothing was looked at
    assert holding == []
    assert KEY not in "".join(texts)


def embedded(bench: Bench) -> tuple[str, ...]:
    """Settings by which the bench's server embeds."""
    url = f"embedder.base_url={bench.server.base_url}"
    return "strategy=graph_expand", "embedder=openai", url


def test_a_good_run_and_its_bundle(bench, capsys):
    bench.model.break_down(says_key, "judge")
    ended = bench.start(*embedded(bench), "concurrency=4", "llm.concurrency=4").ok()
    used = bench.run.records[0]["usage"]["retrieve"]["by_model"]
    assert {name: one["calls"] for name, one in used.items()} == {"text-embedding-3-small": 1}
    assert {head["authorization"] for head in bench.server.headers} == {f"Bearer {KEY}"}
    bench.export()
    assert files_with(bench.folder, "$OPENAI_API_KEY")[1]  # where the model had said it
    shown = capsys.readouterr()
    check(bench, ended.out, ended.err, shown.out, shown.err, at_least=9)


@pytest.mark.parametrize(("status", "code"), [(401, 2), (500, 1)])
def test_errors_that_quote_the_header(bench, status, code):
    bench.model.break_down(repeats(status))
    ended = bench.start("llm.retries=0")
    assert ended.code == code
    message = ended.err if code == 2 else bench.run.records[0]["error"]["message"]
    assert "not accepted: Bearer $OPENAI_API_KEY" in message
    if code == 1:  # then it is recorded
        bench.export()
        kept = files_with(bench.folder, "not accepted: Bearer $OPENAI_API_KEY")[1]
        assert str(bench.bundle) in kept
    check(bench, ended.out, ended.err, at_least=4)


def test_an_embedder_that_quotes_the_header(bench):
    bench.server.choose = lambda _: repeats(401)
    ended = bench.start(*embedded(bench)).refused("OPENAI_API_KEY")  # all would fail alike
    assert bench.run.manifest["status"] == "interrupted"
    check(bench, ended.out, ended.err, at_least=4)


def test_nobody_listens(bench):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        ended = bench.start(f"llm.base_url={url}", "llm.retries=0")
    ended.refused("no server listens at 127.0.0.1:")
    check(bench, ended.out, ended.err, at_least=2)
    bench.start("llm.cache=replay", f"hydra.run.dir={bench.folder / 'again'}").refused(
        "no recorded answer"
    )  # nobody said anything


@pytest.mark.parametrize(
    "url", [f"http://user:{KEY}@127.0.0.1:1/v1", f"http://127.0.0.1:1/v1?key={KEY}"]
)
def test_a_key_in_the_address_is_refused(bench, url):
    ended = bench.start(f"llm.base_url='{url}'").refused()
    assert not bench.run.folder.exists()
    check(bench, ended.out, ended.err, at_least=0)
