import gc
import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memsys.core.errors import InputError
from memsys.llm.client import ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import RecordedAnswer, Recording, key_of
from memsys.stores.sqlite import FileLocks, SlotLocks
from tests.memsys.llm.server import FaultyServer

_ONE = RecordedAnswer(
    "ab" * 32, "/v1/x", "m", 200, '{"a": 1}', 12.5, 3, None, "2025-01-01T00:00:00+00:00"
)


def test_who_comes_first_wins(tmp_path):
    recording = Recording(tmp_path)
    assert recording.keep([_ONE]) == 1
    assert recording.keep([_ONE._replace(body="{}"), _ONE._replace(key="cd" * 32)]) == 1
    assert recording.keep([]) == 0
    assert Recording(tmp_path).find(_ONE.key) == _ONE
    assert recording.find("ef" * 32) is None


def test_on_a_full_disk_the_recording_is_not_to_be_deleted(tmp_path):
    recording = Recording(tmp_path)
    recording.keep([_ONE])
    recording._db.execute("PRAGMA max_page_count=1")  # SQLite then takes what it has
    large = [_ONE._replace(key=f"{i:064}", body=json.dumps("x" * 9_000)) for i in range(9)]
    with pytest.raises(InputError, match=r"disk is full.*make space and repeat") as caught:
        recording.keep(large)
    assert "delete" not in str(caught.value)
    assert recording.all() == [_ONE]


def test_a_failure_takes_any_place_and_gives_way_to_anything(tmp_path):
    recording = Recording(tmp_path)
    first, second = _ONE, _ONE._replace(body="{}")
    failed, again = (_ONE._replace(status=status, body='{"error": {}}') for status in (400, 0))
    for row, kept in zip(
        (failed, again, first, second, failed, second),
        (failed, again, first, first, failed, second),
        strict=True,
    ):
        assert recording.keep_failed(row, {}) == kept
        assert recording.find(_ONE.key) == kept
    assert recording.keep([failed]) == 0  # a bundle changes nothing that is here
    recording.keep_failed(failed, {})
    assert recording.totals() == []


def test_more_keys_than_one_look_up_takes(tmp_path):
    recording = Recording(tmp_path)
    rows = [_ONE._replace(key=f"{i:064x}") for i in range(1203)]
    recording.keep(reversed(rows))
    assert recording.find_all([row.key for row in rows] * 2 + ["none"]) == rows
    assert recording.totals() == [("/v1/x", "m", 1203, 3609, 0, _ONE.created, _ONE.created)]


def test_the_order_of_fields_is_no_part_of_a_request():
    body = {"model": "m", "messages": [{"role": "user", "content": "é"}]}
    other = dict(reversed(body.items()))
    assert key_of("POST", "/v1/x", body, 0) == key_of("POST", "/v1/x", other, 0)
    others = {**body, "model": "n"}, {**body, "seed": None}
    asked = ("/v1/x", body, 0), ("/v2/x", body, 0), ("/v1/x", body, 1)
    keys = {key_of("POST", *one) for one in (*asked, *(("/v1/x", one, 0) for one in others))}
    assert len(keys) == 5


@pytest.mark.parametrize("locks", [SlotLocks, FileLocks])
def test_a_slot_belongs_to_one_of_those_who_share_the_folder(locks, tmp_path):
    one, other = locks(tmp_path / "locks"), locks(tmp_path / "locks")
    assert [locks.take("a0f") for locks in (one, one, other)] == [True, False, False]
    assert other.take("a10")
    one.release("a0f")
    assert other.take("a0f")
    assert not one.take("a10")


@pytest.mark.skipif(SlotLocks is FileLocks, reason="locks of Linux")
def test_a_forked_process_shares_no_lock(tmp_path):
    locks, (waits, go) = SlotLocks(tmp_path / "locks"), os.pipe()

    def work() -> None:
        os.read(waits, 1)
        locks.release("b")  # the other process's
        refused = not locks.take("a0f")
        locks.release("b")
        sys.exit(0 if refused and not locks.take("b") and locks.take("c") else 1)

    assert locks.take("b")
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    assert locks.take("a0f")
    os.write(go, b"!")
    child.join(60)
    os.close(waits)
    os.close(go)
    assert child.exitcode == 0


def test_a_recording_that_is_no_longer_used_closes_its_files(tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Recording(tmp_path)
        gc.collect()
    assert not [str(one.message) for one in caught if "slots" in str(one.message)]


def test_no_usable_folder_file_or_mode_is_named(tmp_path):
    path = tmp_path / "calls.sqlite"
    path.write_text("this is no database, " * 100)
    with pytest.raises(InputError, match=r"calls\.sqlite.*cache="):
        Recording(tmp_path)
    with pytest.raises(InputError, match="cache="):
        Recording(path)
    path.unlink()
    with sqlite3.connect(path) as db:  # of something else
        db.execute("CREATE TABLE calls (key TEXT)")
    with pytest.raises(InputError, match=r"calls\.sqlite"):
        Recording(tmp_path).keep([_ONE])
    with pytest.raises(InputError, match="auto, record, off, replay"):
        Recording(tmp_path, "on")  # type: ignore[arg-type]


def _ask_all(folder: Path, base_url: str, requests: int, threads: int) -> None:
    settings = ChatSettings(model="m", base_url=base_url, concurrency=threads)
    client = settings.open(Recording(folder), Meter())
    asked = [[{"role": "user", "content": str(i)}] for i in range(requests)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(client.complete, asked * 2))


def test_several_processes_send_a_request_once(tmp_path):
    with FaultyServer(delay_s=0.05) as server:
        spawn = multiprocessing.get_context("spawn")
        given = (tmp_path, server.base_url, 12, 4)
        processes = [spawn.Process(target=_ask_all, args=given) for _ in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(60)
            assert process.exitcode == 0
        assert server.requests == 12
    assert [total[2] for total in Recording(tmp_path).totals()] == [12]


def test_a_request_is_recorded_with_its_answer_and_without_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-01")
    recording = Recording(tmp_path)
    body = {"model": "m", "messages": [{"role": "user", "content": "of sk-very-secret-01: é"}]}
    recording.keep([_ONE], {_ONE.key: body})
    failed = _ONE._replace(key="cd" * 32, status=500)
    recording.keep_failed(failed, body)
    for key in (_ONE.key, failed.key):
        request = Recording(tmp_path).requests([key])[key]
        assert request["messages"][0]["content"] == "of $SOME_API_KEY: é"
    assert recording.requests(["ef" * 32]) == {}
    assert Recording(tmp_path / "off", "off").requests([_ONE.key]) == {}
    with recording._db as db:
        db.execute("DROP TABLE requests")
    again = Recording(tmp_path)  # of an earlier version: it gets the table
    assert again.find(_ONE.key) == _ONE
    assert again.requests([_ONE.key]) == {}


DAMAGED = r"calls\.sqlite: the recorded call .* is damaged"
DAMAGE: dict[str, tuple[object, ...]] = {
    "body": ("no JSON", "[]", "null", "", b"{}", 5.5),
    "latency_ms": ("long", float("inf"), -1.0, b"x"),
    "status": ("fine", 2.5, -1, 10**6, b"x"),
    "input_tokens": ("many", 0.5, -1, b"x"),
    "output_tokens": ("many", 0.5, -1),
    "created": (b"x",),
    "model": (b"x",),
}


@pytest.mark.parametrize("column", DAMAGE)
@pytest.mark.parametrize("mode", ["auto", "replay"])
def test_a_damaged_row_is_named_in_one_line(column, mode, tmp_path):
    settings = ChatSettings(model="m", base_url="http://127.0.0.1:9/v1", retries=0)
    recording = Recording(tmp_path, mode)
    body = {"model": "m", "messages": [], "temperature": 0.0, "max_tokens": 512}
    answer = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}
    key = key_of("POST", "/v1/chat/completions", body, 0)
    recording.keep([_ONE._replace(key=key, body=json.dumps(answer))])
    client = settings.open(recording, Meter())
    assert client.complete([]).text == "yes"
    for value in DAMAGE[column]:
        with recording._db as db:
            db.execute(f"UPDATE calls SET {column} = ?", (value,))  # noqa: S608
        with pytest.raises(InputError, match=DAMAGED) as error:
            client.complete([])
        assert "\n" not in str(error.value)


def test_a_damaged_request_is_named(tmp_path):
    recording = Recording(tmp_path)
    recording.keep([_ONE], {_ONE.key: {"model": "m"}})
    for value in (b"x", "text", zlib.compress(b"[]"), zlib.compress(b"[" * 9999)):
        with recording._db as db:
            db.execute("UPDATE requests SET body = ?", (value,))
        with pytest.raises(InputError, match=DAMAGED):
            recording.requests([_ONE.key])


def test_a_claim_of_a_process_that_dies_is_free_again(tmp_path):
    code = "import sys; from memsys.llm.recording import Recording\n"
    code += f"with Recording({str(tmp_path)!r}).claim({_ONE.key!r}):\n"
    code += "    print('claimed', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"claimed\n"
        process.kill()
        process.wait()
    recording = Recording(tmp_path)
    with pytest.raises(ValueError, match="x"), recording.claim(_ONE.key):
        raise ValueError("x")
    with recording.claim(_ONE.key):  # it is given up on failure
        pass
