"""Bundles: what a run used, in one file, replayed elsewhere."""

import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from eval.exchange.cache import __main__ as cache
from memsys.core.errors import InputError
from memsys.llm.client import ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import RecordedAnswer, Recording
from tests.memsys.llm.server import FaultyServer

Edit = Callable[[bytes], bytes]


def ask(
    recording: Recording, base_url: str, *words: str, model: str = "gpt-4o-mini"
) -> tuple[list[str], tuple[str, ...]]:
    """The answers, and the keys of the calls."""
    meter = Meter()
    client = ChatSettings(model=model, base_url=base_url).open(recording, meter)
    with meter.phase() as reading:
        texts = [client.complete([{"role": "user", "content": one}]).text for one in words]
    return texts, reading.keys


class Made(NamedTuple):
    """A run that used two of three recorded answers, one of them twice; its cache, its answers and
    its bundle. Nothing in it is changed.
    """

    run: Path
    store: Path
    texts: list[str]
    bundle: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    store, run, bundle = folder / "cache", folder / "run", folder / "out" / "bundle.jsonl.gz"
    run.mkdir()
    with FaultyServer() as server:
        texts, keys = ask(Recording(store), server.base_url, "one", "two", "one")
        ask(Recording(store), server.base_url, "another run's")
    lines = [{"key": key, "phase": "answer", "question": "c/0"} for key in keys]
    (run / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    export(run, store, bundle)
    return Made(run, store, texts, bundle)


def export(run: Path, store: Path, to: Path) -> None:
    assert cache.main(["export", str(run), "--out", str(to), "--cache", str(store)]) == 0


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """The place of another cache, which is not there yet."""
    return tmp_path / "elsewhere"


@pytest.fixture
def importing(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Import a file or folder; return what is printed. An import that is refused makes no cache."""

    def call(source: Path, code: int = 0) -> str:
        assert cache.main(["import", str(source), "--cache", str(elsewhere)]) == code
        assert elsewhere.exists() == (code == 0)
        return "".join(capsys.readouterr())

    return call


def test_a_bundle_replays_elsewhere(made, elsewhere, importing):
    for count in ("2 of 2", "0 of 2"):  # once more changes nothing
        assert f"{count} answers are new" in importing(made.bundle)
    replay = Recording(elsewhere, "replay")
    assert ask(replay, "https://far.away/v1", "one", "two", "one")[0] == made.texts
    with pytest.raises(InputError, match=r"llm\.cache=replay"):
        ask(replay, "https://far.away/v1", "another run's")
    old, new = Recording(made.store), Recording(elsewhere)
    keys = [answer.key for answer in new.find_all(ask(replay, "http://x/v1", "one", "two")[1])]
    assert old.find_all(keys) == new.find_all(keys)  # latency, date and usage as well
    texts = {old.requests([key])[key]["messages"][0]["content"] for key in keys}
    assert texts == {"one", "two"}
    assert new.requests(keys) == old.requests(keys)


def test_a_bundle_is_the_same_bytes_each_time(made, tmp_path):
    export(made.run, made.store, tmp_path / "other.gz")
    assert (tmp_path / "other.gz").read_bytes() == made.bundle.read_bytes()
    assert not list(made.bundle.parent.glob("*.part"))


def test_an_answer_that_is_here_stays_and_is_reported(made, elsewhere, importing):
    row = json.loads(gzip.decompress(made.bundle.read_bytes()).splitlines()[1])
    assert row.pop("request")["messages"]
    first = RecordedAnswer(**row)
    Recording(elsewhere).keep([first._replace(body="{}")])
    out = importing(made.bundle)
    assert "1 of 2 answers are new" in out
    assert "1 requests already had another answer" in out
    assert [one.body for one in Recording(elsewhere).find_all([first.key])] == ["{}"]


def test_a_bundle_without_requests_is_read(made, elsewhere, importing, tmp_path):
    def bare(lines: list[bytes]) -> list[bytes]:
        rows = map(json.loads, lines)
        return [
            json.dumps({name: row[name] for name in row if name != "request"}).encode() + b"\n"
            for row in rows
        ]

    old = tmp_path / "old.gz"
    old.write_bytes(resealed(bare, version=1)(made.bundle.read_bytes()))
    importing(old)
    recording = Recording(elsewhere)
    keys = [answer.key for answer in recording.all()]
    assert len(keys) == 2
    assert recording.requests(keys) == {}


def resealed(change: Callable[[list[bytes]], list[bytes]], version: int = 2) -> Edit:
    """Lines changed, and the sum made right again."""

    def edit(data: bytes) -> bytes:
        header, *lines = gzip.decompress(data).splitlines(keepends=True)
        rest = b"".join(change(lines))
        sha256 = hashlib.sha256(rest).hexdigest()
        fields = json.loads(header) | {"sha256": sha256, "version": version}
        return gzip.compress(json.dumps(fields).encode() + b"\n" + rest)

    return edit


def text_edit(old: bytes, new: bytes) -> Edit:
    return lambda data: gzip.compress(gzip.decompress(data).replace(old, new))


def field(name: str, value: bytes) -> Edit:
    """The second answer with another value of a field, as JSON."""

    def change(lines: list[bytes]) -> list[bytes]:
        row = json.loads(lines[1])
        text = json.dumps(row | {name: "@@"}).encode().replace(b'"@@"', value)
        return [lines[0], text + b"\n"]

    return resealed(change)


_DEEP = b"[" * 100_000
WRONG_FIELDS = [
    *(("status", value) for value in (b"1e30", b"-1", b"1000", b"true", b"null", b"200.0")),
    *(("input_tokens", value) for value in (b"-1", b'"5"', b"9" * 5_000)),
    *(("latency_ms", value) for value in (b"NaN", b"1e999", b'"fast"')),
    *(("key", value) for value in (b'"\\ud800"', b"5", b'""', _DEEP)),
    *(("model", b"null"), ("path", b'"\\ud800"'), ("created", b"5"), ("unknown", b"1")),
    *(("body", value) for value in (b"5", b'"[]"', b'"x"', b'"{\\"a\\": NaN}"')),
    *(("body", b'"' + _DEEP + b'"'), ("body", b'"{\\"a\\": \\"\\\\ud800\\"}"')),
]


@pytest.mark.parametrize("name", ["", "calls.sqlite"])
def test_another_cache_folder_is_imported(name, made, elsewhere, said, importing):
    source = made.store / name
    for new in ("3 of 3", "0 of 3"):
        assert f"{new} answers are new" in importing(source)
    assert Recording(elsewhere).all() == Recording(made.store).all()
    message = said(cache.main, "import", source, "--cache", made.store, code=2)
    assert "is the cache itself" in message


def test_a_folder_without_calls_and_a_bomb_are_refused(tmp_path, importing, monkeypatch):
    monkeypatch.setattr("memsys.core.files._SMALL", 1 << 20)
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(bytes(2 << 20)))
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "calls.sqlite").write_text("no database")
    for source, words in (
        (tmp_path / "odd" / "calls.sqlite", "not a database"),
        (tmp_path, "has no calls.sqlite"),
        (bomb, "of gzip unpack to more than"),
        (tmp_path / "no", "no/such|cannot be read"),
        (Path("/dev/zero"), "is a device"),
    ):
        assert re.search(words, importing(source, 2))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda data: data[: len(data) // 2], "gzip data is damaged"),
        (lambda data: b"PK" + data[2:], "no readable bundle"),
        (lambda _: gzip.compress(b"hello\n"), "not a bundle"),
        (lambda _: gzip.compress(b""), "not a bundle"),
        (text_edit(b"answer ", b"anther "), "damaged"),
        (text_edit(b'"version": 2', b'"version": 9'), "version 9"),
        (resealed(lambda lines: [lines[0], lines[0]]), "two answers to the request"),
        (field("request", b"[{}]"), "line 3"),
        (resealed(lambda lines: [b"{}\n", lines[1]]), "line 2: key: Field required"),
        (
            resealed(lambda lines: [lines[0], lines[1].replace(b'"status": 200', b'"status": ""')]),
            "line 3: status",
        ),
        *((field(name, value), "damaged.gz: line 3") for name, value in WRONG_FIELDS),
    ],
)
def test_a_damaged_bundle_is_refused_whole_in_one_line(edit, words, made, importing, tmp_path):
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(edit(made.bundle.read_bytes()))
    [line] = [one for one in importing(damaged, 2).splitlines() if one.startswith("error")]
    assert words in line
    assert str(damaged) in line
    assert len(line) < 1_000


def test_an_export_says_where_and_how_much(made, tmp_path, said):
    out = tmp_path / "b.gz"
    printed = said(cache.main, "export", made.run, "--out", out, "--cache", made.store)
    assert f"{out}: 2 answers, {out.stat().st_size:,} bytes" in " ".join(printed.split())


def test_a_run_whose_answers_are_elsewhere_is_not_half_exported(made, tmp_path, elsewhere, said):
    out = tmp_path / "b.gz"
    command = ["export", str(made.run), "--out", str(out), "--cache", str(elsewhere)]
    assert "nothing is recorded there" in said(cache.main, *command, code=2)
    assert not elsewhere.exists()
    Recording(elsewhere)
    assert "contains 0 of the 2 answers" in said(cache.main, *command, code=2)
    assert not out.exists()


@pytest.mark.parametrize("content", [None, "[]\n", '{"key": "abc"}\n', "{\n"])
def test_a_run_without_calls_is_told(content, tmp_path, said):
    Recording(tmp_path / "cache")
    if content is not None:
        (tmp_path / "calls.jsonl").write_text(content)
    command = ["export", str(tmp_path), "--out", str(tmp_path / "b.gz")]
    assert "calls.jsonl" in said(cache.main, *command, "--cache", tmp_path / "cache", code=2)


def test_stats(made, elsewhere, said):
    shutil.copytree(made.store, elsewhere)
    with FaultyServer() as server:
        ask(Recording(elsewhere), server.base_url, "hi", model="someone's")
    lines = said(cache.main, "stats", "--cache", elsewhere).splitlines()
    known, unknown = [line.split() for line in lines if "/chat" in line]
    assert known[1:6] == ["gpt-4o-mini", "3", "4", "6", "0.00000420"]
    assert unknown[1:6] == ["someone's", "1", "1", "2", "unknown"]
