"""Data sets loaded again from a manifest, and a user's own one from docs/extend.md."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.reload import load_dataset_of, load_original
from eval.datasets.types import AnswerKey, Dataset
from memsys.core.errors import InputError
from tests.eval.commands import run_main, runs_in
from tests.eval.examples import write_examples

LOCOMO = "eval.datasets.locomo.LoCoMo"


@pytest.fixture
def config(sample: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "my.json").write_text(json.dumps(sample))
    return {"_target_": LOCOMO, "name": "my", "path": str(tmp_path / "my.json")}


def test_a_data_set_comes_back_and_its_files_are_checked(config):
    data = load_dataset_of(config)
    assert len(data.questions) == 2
    manifest = {"config": {"dataset": config}, "data": [{"sha256": data.files[0].sha256}]}
    assert load_original(manifest).questions == data.questions
    with pytest.raises(InputError, match="sha256 differs"):
        load_original({**manifest, "data": [{"sha256": "0"}]})


def test_the_key_of_a_run_is_only_used_where_the_class_has_a_choice(config):
    assert load_dataset_of({**config, "key": "corrected"}).key == AnswerKey()
    missing = {**config, "key": "corrected", "key_file": "gone.json"}
    with pytest.raises(InputError, match=r"gone.json: no such file"):
        load_dataset_of(missing)
    assert load_dataset_of(missing, original_key=True).key == AnswerKey()


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (None, "does not say how"),
        ({"name": "x"}, "does not say how"),
        ({"_target_": "os.system", "command": "true"}, "os.system is not trusted"),
        ({"_target_": LOCOMO, "name": {"_target_": "os.getcwd"}}, "os.getcwd is not trusted"),
        ({"_target_": LOCOMO, "name": {"a": 1}}, "use plain values"),
        ({"_target_": "eval.datasets.locomo.read_key"}, "is not trusted"),
        ({"_target_": "memsys.stores.faiss_vectors.FaissVectors", "path": "x"}, "is not trusted"),
        ({"_target_": "json.JSONDecoder"}, "is not a class that json defines"),  # json.decoder's
        ({"_target_": "json.decoder.JSONDecoder"}, "is not a data set"),
        ({"_target_": LOCOMO, "colour": 1}, "cannot be built"),
        ({"_target_": LOCOMO, "name": "${oc.env:HOME}"}, "write the value itself"),
        ({"_target_": LOCOMO, "_args_": ["x"]}, "_args_: not supported"),
    ],
)
def test_nothing_but_a_data_set_is_built(config, problem, monkeypatch):
    monkeypatch.setenv("MEMSYS_TRUSTED", "mine,json")
    with pytest.raises(InputError, match=problem):
        load_dataset_of(config)


def test_a_class_of_ones_own_is_built_if_its_module_is_trusted(tmp_path, monkeypatch):
    (tmp_path / "my_own_data.py").write_text(
        "from eval.datasets.types import Dataset\n"
        "class Mine:\n"
        "    def load(self):\n"
        "        return Dataset('mine', (), (), ())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = {"_target_": "my_own_data.Mine"}
    with pytest.raises(InputError, match=r"is not trusted: .* set MEMSYS_TRUSTED to its module"):
        load_dataset_of(config)
    monkeypatch.setenv("MEMSYS_TRUSTED", "other,my_own_data")
    assert load_dataset_of(config) == Dataset("mine", (), (), ())


FILES = ("diary.json", "diary.py", "conf/dataset/mine.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    write_examples(tmp_path, *FILES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("diary", None)


def test_own_data_set_runs_and_wrong_input_is_one_line(folder, cache, monkeypatch):
    chosen = ("--config-dir", "conf", "dataset=mine", "strategy=bm25")
    run_main(folder, cache, *chosen).ok()
    (done,) = runs_in(folder)
    assert [record["type"] for record in done.records] == ["diary_fact"] * 2 + ["adversarial"]
    assert done.summary["by_type"]["diary_fact"]["n"] == 2
    assert done.manifest["data"][0]["name"] == "diary.json"
    with pytest.raises(InputError, match=r"diary\.Diary is not trusted"):
        load_original(done.manifest)
    monkeypatch.setenv("MEMSYS_TRUSTED", "diary")
    assert len(load_original(done.manifest).questions) == 3
    (folder / "diary.json").write_text('{"author": "Ada"}')
    refused = "diary.json: KeyError('days'); correct the file or dataset.path"
    run_main(folder, cache, *chosen).refused(refused)
