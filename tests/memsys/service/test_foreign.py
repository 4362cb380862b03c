"""A configuration that somebody else wrote builds nothing that the project does not offer."""

import json
from pathlib import Path
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.service.configuration import composed, resolved
from memsys.service.configuration_source import NUMBERS, OPTIONS
from memsys.service.setup import load_setup

CHAT = {"_target_": "memsys.llm.client.ChatSettings", "model": "m", "extra": {}}
QDRANT = {"_target_": "memsys.stores.qdrant_vectors.QdrantVectors"}
TURNS = {"_target_": "memsys.knowledge.memory.turns.Turns", "name": "turns"}


def attacks(canary: Path, source: Path) -> list[dict[str, Any]]:
    """Settings of a part, each of which creates the file `canary` if it is built."""
    there, here = str(canary), str(source)
    system = {"_target_": "os.system", "command": f"touch {there}"}
    return [
        system,
        {"_target_": "builtins.open", "file": there, "mode": "w"},
        {"_target_": "shutil.copy", "src": here, "dst": there},
        {"_target_": "sqlite3.connect", "database": there},
        {"_target_": "subprocess.run", "args": ["touch", there]},
        {"_target_": "pandas.read_pickle", "filepath_or_buffer": here},
        {"_target_": "hydra.utils.instantiate", "config": system},
        {"_target_": "hydra.utils.instantiate", "_recursive_": False, "config": system},
        {"_target_": "pathlib.Path.touch", "self": {"_target_": "pathlib.Path", "_args_": [there]}},
        {"_target_": "builtins.exec", "_args_": [f"open({there!r}, 'w')"]},
        {"_target_": "builtins.map", "_args_": [{"_target_": "os.system", "_partial_": True}, []]},
        {"_target_": "builtins.list", "_args_": [[system]]},
        {"_target_": "memsys.service.memory.Memory", "folder": there},
        {"_target_": "memsys.stores.sqlite.open_store", "path": there, "tables": [], "field": ""},
        {"_target_": "memsys.stores.faiss_vectors.FaissVectors.__init__", "path": there},
        {"_target_": "eval.records.files.write_json", "path": there, "value": 1},
        {**TURNS, "name": system},
        {**TURNS, "name": [[{"a": [system]}]]},
        {**TURNS, "lead": {"_target_": "${memory._target_}", "x": system}},
        {**TURNS, "_args_": [system]},
        {"_target_": ["os.system"], "command": f"touch {there}"},
        {"_target_": {"_target_": "os.system", "command": f"touch {there}"}},
        {"_target_": "${oc.decode:'os.system'}", "command": f"touch {there}"},
        {**TURNS, "name": "${oc.create:'{_target_: os.system, command: touch}'}"},
        {**TURNS, "name": "${oc.env:HOME}"},
        {**TURNS, "name": "${${a}:HOME}"},
        {**TURNS, "name": "\\${oc.env:HOME}"},
        {**TURNS, "name": "${.first}${.second}", "first": "$", "second": "{oc.env:HOME}"},
    ]


# Every attack is made on these groups; on the others, whose check is the same, some of those that
# Hydra itself would build.
EVERY = ("memory", "strategy")
SOME = slice(1, None, 10)
GROUPS = {  # with the strategy that builds them
    **dict.fromkeys(("embedder", "index", "memory", "llm", "vector_store"), "bm25"),
    **dict.fromkeys(("graph", "context"), "graph_expand"),
    "relation_store": "mem0_graph",
    "strategy": "",
}
EXPAND = {"_target_": "memsys.strategies.graph_expand.GraphExpand", "k": 3, "start": "vector"}


@pytest.mark.parametrize("kind", ["run", "yaml"])
@pytest.mark.parametrize("group", GROUPS)
def test_no_attack_is_built(tmp_path, group, kind):
    canary, source = tmp_path / "canary", tmp_path / "source"
    source.write_text("x")
    chosen = {"strategy": GROUPS[group] or "bm25", "embedder": "wordllama"}
    usual = resolved(composed({**NUMBERS, **OPTIONS, **chosen}, "usual"), "usual")
    for attack in attacks(canary, source)[slice(None) if group in EVERY else SOME]:
        config = {**usual, "memory": TURNS}
        nested = group == "strategy" and attack["_target_"] == TURNS["_target_"]
        config[group] = {**EXPAND, "expansion": attack} if nested else attack
        path = tmp_path / "mine.yaml" if kind == "yaml" else manifest(tmp_path, **config)
        if kind == "yaml":
            path.write_text(json.dumps(config))
        with pytest.raises(InputError) as caught:
            load_setup(path)
        assert "\n" not in str(caught.value)
        assert str(tmp_path) in str(caught.value)
        assert not canary.exists(), attack


def manifest(folder: Path, **config: Any) -> Path:
    (folder / "manifest.json").write_text(json.dumps({"config": config}))
    return folder


@pytest.mark.parametrize(
    "settings",
    [
        {"llm": {**CHAT, "base_url": "http://evil.example/v1", "key_variable": "OPENAI_API_KEY"}},
        {"llm": {**CHAT, "base_url": "https://api.openai.com@evil.example/v1"}},
        {"llm": {**CHAT, "base_url": "http://api.openai.com/v1"}},  # without TLS
        {"llm": {**CHAT, "base_url": "https://${host}/v1", "host": "evil.example"}},
        {"vector_store": {**QDRANT, "url": "http://evil.example:6333"}},
    ],
)
def test_a_run_sends_no_key_to_an_address_of_its_maker(tmp_path, monkeypatch, settings):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-the-tests")
    with pytest.raises(InputError, match=r"would receive your key|host|write the value itself"):
        load_setup(manifest(tmp_path, embedder="wordllama", **settings))


def test_an_address_that_the_user_trusts_or_writes_is_called_and_named(tmp_path, monkeypatch):
    monkeypatch.setenv("GATEWAY_KEY", "sk-a-secret-of-the-tests")
    gateway = {**CHAT, "base_url": "https://gateway.example/v1", "key_variable": "GATEWAY_KEY"}
    more = {"temperature": 0, "max_tokens": 8, "timeout_s": 1, "retries": 0, "concurrency": 1}
    config = {"embedder": "wordllama", "llm": {**gateway, **more}}
    called = ("llm.base_url: https://gateway.example, with the key in GATEWAY_KEY",)
    mine = tmp_path / "mine.yaml"
    mine.write_text(json.dumps(config))
    assert load_setup(mine).calls == called
    with pytest.raises(InputError, match=r"MEMSYS_TRUSTED=https://gateway\.example$"):
        load_setup(manifest(tmp_path, **config))
    monkeypatch.setenv("MEMSYS_TRUSTED", "other, https://gateway.example")
    assert load_setup(tmp_path).calls == called


INDEX = {"_target_": "memsys.index.rank.IndexSettings", "k1": 0.9, "b": 0.4, "alpha": 0.5}
FAISS = {"_target_": "memsys.stores.faiss_vectors.FaissVectors"}


@pytest.mark.parametrize(
    ("place", "group"),
    [("vector_store.path", {**FAISS, "path": "c"}), ("index.fusion", {**INDEX, "fusion": "c"})],
)
def test_a_run_names_no_file(tmp_path, monkeypatch, place, group):
    monkeypatch.chdir(tmp_path)
    named = {place.partition(".")[0]: group, "strategy": "fusion", "embedder": "wordllama"}
    with pytest.raises(InputError, match=rf"{place}: .* a file outside of the run"):
        load_setup(manifest(tmp_path, **named))
    assert not (tmp_path / "c").exists()
