"""The key is sent to the server, and is found nowhere else."""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace

import pytest

from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.client import ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from tests.memsys.llm import faults
from tests.memsys.llm.answers import right_answer
from tests.memsys.llm.conftest import HELLO
from tests.memsys.llm.server import FaultyServer

KEY = "sk-very-secret-0123456789"


def test_the_key_is_sent_and_left_nowhere(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("ANOTHER_TOKEN", "another-secret-42")
    caplog.set_level(logging.DEBUG)
    leaking = right_answer({"model": "m", "messages": HELLO})
    leaking["choices"][0]["message"]["content"] = f"your key is {KEY}"
    leaks = f"Incorrect API key provided: {KEY}"
    script = [
        *(None, faults.answer(leaking)),
        *(faults.status(code, leaks) for code in (500, 400, 401)),
        faults.answer({"error": {"message": leaks}}),
        faults.reset,
        faults.status(400, f"{'x' * 190} {KEY}"),  # where the message is cut off
        faults.status(400, "for $another: another-secret-42"),
    ]
    seen: list[str] = []
    behind: list[BaseException | None] = []  # would hold the request and its headers
    with FaultyServer(script) as server:
        settings = ChatSettings(
            model="m", base_url=server.base_url, key_variable="MY_KEY", retries=0, timeout_s=30
        )
        client = settings.open(Recording(tmp_path), Meter())
        for sample in range(9):
            try:
                seen.append(repr(client.complete(HELLO, sample=sample)))
            except (LLMError, InputError) as error:
                seen += traceback.format_exception(error)
                behind += [error.__cause__, error.__context__]
        assert {head["authorization"] for head in server.headers} == {f"Bearer {KEY}"}
    seen += [repr(client), repr(settings), repr(vars(client)), caplog.text]
    assert sum("$MY_KEY" in text for text in seen) >= 3
    assert "your key is $" in "".join(seen)
    assert not [text for text in seen if KEY[:4] in text or "another-secret" in text]
    assert len(behind) == 14
    assert not any(behind)
    replaying = replace(settings, base_url="http://elsewhere/v1")
    client = replaying.open(Recording(tmp_path, "replay"), Meter())
    for sample in (2, 3, 7, 8):
        with pytest.raises(LLMError) as raised:
            client.complete(HELLO, sample=sample)
        assert f"LLMError: {raised.value}\n" in "".join(seen)  # the same words without the key
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"calls.sqlite", "calls.sqlite-wal"} <= {path.name for path in files}
    secret = (KEY[:4].encode(), b"another-secret", b"uthorization", b"127.0.0.1")
    assert not [path for path in files for one in secret if one in path.read_bytes()]
