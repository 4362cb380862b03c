"""Bundles: what a run used, in one file, replayed elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.cache import __main__ as cache
from memsys.errors import InputError
from memsys.llm.client import ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import RecordedAnswer, Recording
from tests.memsys.llm.server import FaultyServer

Edit = Callable[[bytes], bytes]


def ask(recording: Recording, base_url: str, *words: str) -> tuple[list[str], tuple[str, ...]]:
    """The answers, and the keys of the calls."""
    meter = Meter()
    client = ChatSettings(model="gpt-4o-mini", base_url=base_url).open(recording, meter)
    with meter.phase() as reading:
        texts = [client.complete([{"role": "user", "content": one}]).text for one in words]
    return texts, reading.keys


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """A run that used two of three recorded answers, one of them twice; its cache; its answers."""
    store, run = tmp_path / "cache", tmp_path / "run"
    run.mkdir()
    with FaultyServer() as server:
        texts, keys = ask(Recording(store), server.base_url, "one", "two", "one")
        ask(Recording(store), server.base_url, "another run's")
    lines = [{"key": key, "phase": "answer", "question": "c/0"} for key in keys]
    (run / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run, store, texts


@pytest.fixture
def bundle(made: tuple[Path, Path, list[str]], tmp_path: Path) -> Path:
    path = tmp_path / "out" / "bundle.jsonl.gz"
    assert cache.main(["export", str(made[0]), "--out", str(path), "--cache", str(made[1])]) == 0
    return path


def test_a_bundle_replays_elsewhere(
    made: tuple[Path, Path, list[str]],
    bundle: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for told in ("2 of 2", "0 of 2"):  # once more changes nothing
        assert cache.main(["import", str(bundle), "--cache", str(elsewhere)]) == 0
        assert f"{told} answers are new" in capsys.readouterr().out
    replay = Recording(elsewhere, "replay")
    assert ask(replay, "https://far.away/v1", "one", "two", "one")[0] == made[2]
    with pytest.raises(InputError, match=r"llm\.cache=replay"):
        ask(replay, "https://far.away/v1", "another run's")
    old, new = Recording(made[1]), Recording(elsewhere)
    keys = [answer.key for answer in new.find_all(ask(replay, "http://x/v1", "one", "two")[1])]
    assert old.find_all(keys) == new.find_all(keys)  # latency, date and usage as well


def test_a_bundle_is_the_same_bytes_each_time(
    made: tuple[Path, Path, list[str]], bundle: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.gz"
    cache.main(["export", str(made[0]), "--out", str(other), "--cache", str(made[1])])
    assert other.read_bytes() == bundle.read_bytes()
    assert not list(bundle.parent.glob("*.part"))


def test_an_answer_that_is_here_stays_and_is_told_of(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = Recording(tmp_path / "elsewhere")
    [line, *_] = gzip.decompress(bundle.read_bytes()).splitlines()[1:]
    row = json.loads(line)
    assert row.pop("request")["messages"]
    first = RecordedAnswer(**row)
    elsewhere.keep([first._replace(body="{}")])
    assert cache.main(["import", str(bundle), "--cache", str(tmp_path / "elsewhere")]) == 0
    out = capsys.readouterr().out
    assert "1 of 2 answers are new" in out
    assert "1 requests already had another answer" in out
    found = elsewhere.find(first.key)
    assert found is not None
    assert found.body == "{}"


def test_requests_travel_with_their_answers(
    made: tuple[Path, Path, list[str]], bundle: Path, tmp_path: Path
) -> None:
    cache.main(["import", str(bundle), "--cache", str(tmp_path / "elsewhere")])
    here, there = Recording(made[1]), Recording(tmp_path / "elsewhere")
    keys = [answer.key for answer in there.all()]
    texts = {here.request(key)["messages"][0]["content"] for key in keys}  # type: ignore[index]
    assert texts == {"one", "two"}
    assert there.requests(keys) == here.requests(keys)


def test_a_bundle_without_requests_is_read(bundle: Path, tmp_path: Path) -> None:
    header, *lines = gzip.decompress(bundle.read_bytes()).splitlines()
    bare = []
    for line in lines:
        row = json.loads(line)
        del row["request"]
        bare.append(json.dumps(row).encode() + b"\n")
    told = json.loads(header) | {"version": 1, "sha256": hashlib.sha256(b"".join(bare)).hexdigest()}
    bundle.write_bytes(gzip.compress(json.dumps(told).encode() + b"\n" + b"".join(bare)))
    store = tmp_path / "elsewhere"
    assert cache.main(["import", str(bundle), "--cache", str(store)]) == 0
    recording = Recording(store)
    assert [recording.request(answer.key) for answer in recording.all()] == [None, None]


def resealed(change: Callable[[list[bytes]], list[bytes]]) -> Edit:
    """Lines changed, and the sum made right again."""

    def edit(data: bytes) -> bytes:
        header, *lines = gzip.decompress(data).splitlines(keepends=True)
        rest = b"".join(change(lines))
        told = json.loads(header) | {"sha256": hashlib.sha256(rest).hexdigest()}
        return gzip.compress(json.dumps(told).encode() + b"\n" + rest)

    return edit


def text_edit(old: bytes, new: bytes) -> Edit:
    return lambda data: gzip.compress(gzip.decompress(data).replace(old, new))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda data: data[: len(data) // 2], "gzip data is damaged"),
        (lambda data: b"PK" + data[2:], "no readable bundle"),
        (lambda _: gzip.compress(b"hello\n"), "not a bundle"),
        (lambda _: gzip.compress(b""), "not a bundle"),
        (text_edit(b"answer ", b"anther "), "damaged"),
        (text_edit(b'"version": 2', b'"version": 9'), "version 9"),
        (text_edit(b'"count": 2', b'"count": 3'), "2 answers"),
        (resealed(lambda lines: lines[:1]), "1 answers"),
        (
            resealed(
                lambda lines: [
                    lines[0],
                    re.sub(rb'"request": {.*?}]', b'"request": [{}]', lines[1]),
                ]
            ),
            "line 3",
        ),
        (resealed(lambda lines: [b"{}\n", lines[1]]), "line 2 is not a recorded answer"),
        (
            resealed(lambda lines: [lines[0], lines[1].replace(b'"status": 200', b'"status": ""')]),
            "line 3: status",
        ),
    ],
)
def test_a_damaged_bundle_is_refused_whole(
    edit: Edit, words: str, bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle.write_bytes(edit(bundle.read_bytes()))
    store = tmp_path / "elsewhere"
    assert cache.main(["import", str(bundle), "--cache", str(store)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert str(bundle) in error
    assert not store.exists()


def test_a_run_whose_answers_are_elsewhere_is_not_half_exported(
    made: tuple[Path, Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, store = tmp_path / "b.gz", tmp_path / "fresh"
    command = ["export", str(made[0]), "--out", str(out), "--cache", str(store)]
    assert cache.main(command) == 2
    assert "nothing is recorded there" in capsys.readouterr().err
    assert not store.exists()
    Recording(store)
    assert cache.main(command) == 2
    assert "contains 0 of the 2 answers" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("content", [None, "[]\n", '{"key": "abc"}\n', "{\n"])
def test_a_run_without_calls_is_told(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Recording(tmp_path / "cache")
    if content is not None:
        (tmp_path / "calls.jsonl").write_text(content)
    command = ["export", str(tmp_path), "--out", str(tmp_path / "b.gz")]
    assert cache.main([*command, "--cache", str(tmp_path / "cache")]) == 2
    assert "calls.jsonl" in capsys.readouterr().err


def test_stats(made: tuple[Path, Path, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    with FaultyServer() as server:
        client = ChatSettings(model="someone's", base_url=server.base_url)
        client.open(Recording(made[1]), Meter()).complete([{"role": "user", "content": "hi"}])
    assert cache.main(["stats", "--cache", str(made[1])]) == 0
    known, unknown = [
        line.split() for line in capsys.readouterr().out.splitlines() if "/chat" in line
    ]
    assert known[1:6] == ["gpt-4o-mini", "3", "4", "6", "0.00000420"]
    assert unknown[1:6] == ["someone's", "1", "1", "2", "unknown"]
