"""Runs in real offline folders of Weights & Biases."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.exchange.track.finished import read
from eval.exchange.track.wandb import WeightsAndBiases
from memsys.core.errors import InputError

wandb = pytest.importorskip("wandb", reason="the extra wandb is not installed")

from wandb.proto.wandb_internal_pb2 import Record  # noqa: E402 - after the check

HEADER, BLOCK, PART = 7, 32_768, struct.Struct("<IHB")  # of a .wandb file: LevelDB's log
WHOLE, LAST = 1, 4


def records(path: Path) -> Iterator[Any]:
    """The records of an offline run, once wandb's service has written them."""
    wandb.teardown()
    data, at, whole = path.read_bytes(), HEADER, b""
    while at + PART.size <= len(data):
        if BLOCK - at % BLOCK < PART.size:
            at += BLOCK - at % BLOCK
            continue
        _, size, kind = PART.unpack_from(data, at)
        at += PART.size + size
        whole += data[at - size : at]
        if kind in {WHOLE, LAST}:
            yield Record.FromString(whole)
            whole = b""


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the offline runs go; nothing is written to the user's folders."""
    for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "user"))
    return tmp_path / "results"


def tracker(folder: Path, **changes: Any) -> WeightsAndBiases:
    settings = {"project": "memsys", "entity": None, "mode": "offline", "artifacts": False}
    return WeightsAndBiases(**settings | {"dir": str(folder)} | changes)


def test_an_offline_run_holds_parameters_scores_and_tags(keyed, offline):
    run = keyed["plain"]
    tracker(offline).log(read(run.folder))
    (path,) = offline.glob("wandb/offline-run-*/*.wandb")
    found = list(records(path))
    (begun,) = [one.run for one in found if one.HasField("run")]
    assert begun.display_name == run.folder.name
    assert list(begun.tags) == ["small", "bm25"]
    config = {item.key: json.loads(item.value_json) for item in begun.config.update}
    assert config["strategy.k"] == 2
    assert config["run"]["config_sha256"] == run.manifest["config_sha256"]
    summary = {
        item.key: json.loads(item.value_json)
        for one in found
        if one.HasField("summary")
        for item in one.summary.update
    }
    cell = run.summary["by_type"]["overall"]
    assert summary["overall/f1"] == cell["f1"]
    assert summary["overall/f1_ci_high"] == cell["f1_ci"][1]
    assert found[-1].HasField("exit")
    assert not [one for one in found if one.HasField("artifact")]
    assert not begun.host
    assert run.records[0]["question"].encode() not in path.read_bytes()


def test_a_run_that_is_logged_again_replaces_itself(keyed, offline):
    run = read(keyed["plain"].folder)
    tracker(offline).log(run)
    tracker(offline, artifacts=True).log(run)
    (path,) = offline.glob("wandb/offline-run-*/*.wandb")
    (artifact,) = [one.artifact for one in records(path) if one.HasField("artifact")]
    assert {entry.path for entry in artifact.manifest.contents} == {one.name for one in run.files}


def test_an_unknown_mode_is_named(tmp_path):
    with pytest.raises(InputError, match=r"tracker.mode: 'on' is none of offline, online"):
        tracker(tmp_path, mode="on")
