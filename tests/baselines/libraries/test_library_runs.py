"""A whole run with a library behind it, from the command to the manifest."""

from __future__ import annotations

import json
import runpy
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.baselines.libraries.conftest import Keeper


def talk(name: str, *said: str) -> dict[str, Any]:
    turns = [
        {"dia_id": f"D1:{i}", "speaker": "Ada" if i % 2 else "Bo", "text": text}
        for i, text in enumerate(said, 1)
    ]
    conversation = {"speaker_a": "Ada", "speaker_b": "Bo"}
    conversation |= {"session_1_date_time": "1:56 pm on 1 May, 2023", "session_1": turns}
    asked = {"question": "What is red?", "answer": "a kite", "evidence": ["D1:1"], "category": 4}
    return {"sample_id": name, "conversation": conversation, "qa": [asked]}


def test_a_crash_costs_its_conversation_and_the_manifest_names_the_library(
    keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [
        talk("ash", "My kite is red.", "I mumble."),
        talk("beech", "My kite is red.", "It will crash."),
        talk("cedar", "My kite is red.", "I sing."),
    ]
    (tmp_path / "talks.json").write_text(json.dumps(samples))
    options = ["strategy=mem0ai", "strategy.infer=false", "k=1", "dataset.name=talks"]
    options += [f"dataset.path={tmp_path}/talks.json", f"hydra.run.dir={tmp_path}/run"]
    monkeypatch.setattr(sys, "argv", ["eval.run", *options])
    monkeypatch.setenv("MEMSYS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
    monkeypatch.chdir(tmp_path)
    with suppress(SystemExit):  # that it went well shows in the files
        runpy.run_module("eval.run", run_name="__main__", alter_sys=True)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["system"] == {
        "library": "keeper",
        "version": "1.2.3",
        "degraded": ["no poetry"],
    }
    lines = [json.loads(x) for x in (tmp_path / "run" / "ingest.jsonl").read_text().splitlines()]
    assert [one.get("store") for one in lines if one["phase"] == "index"] == [{"memories": 2}] * 2
    assert lines[0]["events"] == [{"step": "library", "warning": "keeper: a word was dropped"}]
    text = (tmp_path / "run" / "records.jsonl").read_text()
    records = {one["conversation"]: one for one in map(json.loads, text.splitlines())}
    assert {name: one["status"] for name, one in records.items()} == {
        "ash": "ok",
        "beech": "error",
        "cedar": "ok",
    }
    assert records["beech"]["error"]["kind"] == "LibraryError"
    assert records["ash"]["retrieved"][0][1] == ["D1:1"]
