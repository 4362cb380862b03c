"""Files, filters and the default place of the data set; evidence keys: wrong citations corrected or
excluded, and overlays that do not belong.
"""

import copy
import hashlib
import json
import os
import re
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf

from data.evidence import build as evidence
from eval.datasets import locomo as module
from eval.datasets.files import DATA
from eval.datasets.locomo import Citation, EvidenceOverlay, LoCoMo
from eval.datasets.longmemeval import LongMemEval
from eval.datasets.overlays import read_overlay, write_overlay
from eval.datasets.types import Dataset
from eval.records.files import read_lines, write_lines
from memsys.core.errors import InputError
from tests.eval.datasets.conftest import LOCOMO, Load, instance
from tests.eval.datasets.test_data_variants import refusal

PROJECT = Path(__file__).parents[3]
CONF = PROJECT / "conf" / "dataset"


def test_a_folder_is_read_in_name_order(sample, tmp_path):
    for name, sample_id in (("b.json", "first"), ("a.json", "second"), ("c.txt", "third")):
        sample["sample_id"] = sample_id
        (tmp_path / name).write_text(json.dumps([sample]))
    (tmp_path / "._a.json").write_bytes(b"\x00\x05\x16\x07")  # of macOS
    data = LoCoMo(name="x", path=str(tmp_path)).load()
    assert [c.id for c in data.conversations] == ["second", "first"]
    assert [f.name for f in data.files] == ["a.json", "b.json"]
    contents = [(tmp_path / name).read_bytes() for name in ("a.json", "b.json")]
    assert [f.bytes for f in data.files] == [len(one) for one in contents]
    assert [f.sha256 for f in data.files] == [hashlib.sha256(one).hexdigest() for one in contents]


def test_relative_paths_count_from_here_then_from_the_project(sample, tmp_path, monkeypatch):
    here, project = tmp_path / "here", tmp_path / "project"
    for folder in (here, project):
        folder.mkdir()
        (folder / "x.json").write_text(json.dumps({**sample, "sample_id": folder.name}))
    monkeypatch.setattr("eval.datasets.files.SHIPPED", project)
    monkeypatch.chdir(here)
    read = LoCoMo(name="x", path="x.json")
    assert read.load().conversations[0].id == "here"
    (here / "x.json").unlink()
    assert read.load().conversations[0].id == "project"


def test_filters_keep_the_index_in_the_file_and_limit_each_conversation(sample, load):
    sample["qa"].extend(copy.deepcopy(sample["qa"]))
    both = [sample, {**copy.deepcopy(sample), "sample_id": "conv-2"}]
    data = load(both, conversations=["conv-2"], types=["adversarial"])
    assert [q.id for q in data.questions] == ["conv-2/1", "conv-2/3"]
    assert [c.id for c in data.conversations] == ["conv-2"]
    ids = [q.id for q in load(both, limit=3).questions]
    assert ids == [f"conv-{c}/{i}" for c in (1, 2) for i in (0, 1, 2)]
    ids = [q.id for q in load(both, limit=1, types=["adversarial"]).questions]
    assert ids == ["conv-1/1", "conv-2/1"]
    both[1]["qa"] = []
    assert [c.id for c in load(both).conversations] == ["conv-1"]  # no question, no ingestion


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"conversations": "conv-1"}, "conversations: 'conv-1'; use a list"),
        ({"types": ["temporal"]}, "my.json: no question is left"),
        ({"types": []}, r"dataset.types: \[\]; use a list, such as \[multi_hop\], or null"),
    ],
)
def test_a_filter_that_cannot_be_met(sample, load, options, says):
    with pytest.raises(InputError, match=says):
        load([sample], **options)


def test_a_sample_id_used_twice_is_refused(sample, load, tmp_path):
    with pytest.raises(InputError, match=r"my.json: sample conv-1: sample_id: used twice"):
        load([sample, sample])
    (tmp_path / "a.json").write_text(json.dumps(sample))
    (tmp_path / "my.json").write_text(json.dumps(sample))
    with pytest.raises(InputError, match=r"my.json: .* used twice \(before in a.json, "):
        LoCoMo(name="x", path=str(tmp_path)).load()
    for other in ("zoë ", "Zoë", "Zoe\N{COMBINING DIAERESIS}", " zoë"):  # look alike
        with pytest.raises(InputError, match=r"used twice .before in my.json, as 'zoë'"):
            load([sample | {"sample_id": "zoë"}, sample | {"sample_id": other}])


def test_a_gold_answer_without_a_word_is_noted(sample, load):
    for gold in (".", "the", "?!", "a."):
        sample["qa"][0]["answer"] = gold
        (line,) = load(sample).repairs
        assert f"{gold!r} has no word, so F1 is always 0" in line


@pytest.mark.parametrize(
    ("class_", "name", "file"),
    [(LoCoMo, "locomo", "locomo10.json"), (LongMemEval, "longmemeval", "longmemeval_oracle.json")],
)
def test_default_path_is_data_then_shared_then_help(
    sample, tmp_path, monkeypatch, class_, name, file
):
    data, shared = tmp_path / "data", tmp_path / "shared"
    monkeypatch.setattr("eval.datasets.files.DATA", data)
    monkeypatch.setenv("MEMSYS_SHARED", str(shared))
    read = class_(name=name)
    with pytest.raises(InputError) as none:
        read.load()
    for remedy in (f"python -m eval fetch {name}", f"data/{file}", "dataset.path="):
        assert remedy in str(none.value)
    for folder, id_ in ((shared / name, "from-shared"), (data, "from-data")):
        folder.mkdir(parents=True)
        found = {**sample, "sample_id": id_} if class_ is LoCoMo else instance(id_)
        (folder / file).write_text(json.dumps([found]))
        assert read.load().conversations[0].id == id_


@pytest.mark.parametrize("path", sorted(CONF.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_option_of_the_class_is_in_the_config(path):
    lines = path.read_text().splitlines()
    assert lines[0].startswith("# ")
    assert len(lines) <= 20  # synthetic has eighteen settings
    config = OmegaConf.load(path)
    if "_target_" not in config:  # it changes values of another file
        assert config.defaults
        return
    class_ = get_class(config["_target_"])
    options = set(signature(class_).parameters)
    if class_ is LoCoMo and config["name"] != "locomo":
        options -= {"subset", "split"}  # of the published file
    assert set(config) == {"_target_", *options}
    assert isinstance(instantiate(config), class_)


def test_the_example_in_the_documentation_loads(load):
    readme = (PROJECT / "data" / "README.md").read_text("utf-8")
    example = readme.split("```json\n")[1].split("```")[0]
    data = load(example)
    assert [q.type for q in data.questions] == ["temporal", "adversarial"]
    assert len(data.conversations[0].sessions[0].observations) == 1
    assert data.repairs == ()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("x.json", "x.json: is a pipe; name a regular file"),
        ("", r"no \*\.json in this folder; put one there or correct dataset\.path"),
        ("~nobody-has-this-name/x", "no such file or folder"),
    ],
)
def test_what_is_no_readable_file_is_refused_at_once(name, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name == "x.json":
        os.mkfifo(name)
        whole = str(PROJECT / "data/sample")
        for option in ({"key": "corrected", "key_file": name}, {"subset": name}):
            refusal(LoCoMo(name="mine", path=whole, **option).load)  # type: ignore[arg-type]
    line = refusal(LoCoMo(name="mine", path=name or str(tmp_path)).load)
    assert re.search(says, line), line


ENTRIES = (
    Citation("conv-1/0", ("D1:1",), ("D1:2", "D2:1")),
    Citation("conv-1/1", ("D1:1",), ("D1:1",)),  # such as an id that is misspelt in the file
)


@pytest.fixture
def overlay(
    sample: dict[str, Any], load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> EvidenceOverlay:
    """The overlay of the sample, in a data/evidence of the test's own."""
    monkeypatch.setattr(module, "FOLDER", tmp_path / "evidence")
    made = EvidenceOverlay("an audit", "abc", "CC0", load(sample).files, ENTRIES)
    write_overlay(tmp_path / "evidence" / "mine.json", made)
    return made


def shown(dataset: Dataset) -> list[tuple[tuple[str, ...], tuple[str, ...] | None]]:
    return [(one.evidence, one.evidence_original) for one in dataset.questions]


@pytest.mark.usefixtures("overlay")
def test_wrong_citations_are_corrected_or_excluded(sample, load):
    original = load(sample)
    assert shown(original) == [(("D1:1",), None)] * 2
    assert original.evidence is None
    corrected = load(sample, evidence="corrected")
    assert shown(corrected) == [(("D1:2", "D2:1"), ("D1:1",)), (("D1:1",), None)]
    excluded = load(sample, evidence="excluded")
    assert shown(excluded) == [((), ("D1:1",)), (("D1:1",), None)]
    names = [one.evidence.name for one in (corrected, excluded) if one.evidence]
    assert names == ["corrected", "excluded"]
    pooled = load(sample, evidence="corrected", pooled=True)
    assert shown(pooled)[0] == (("conv-1:D1:2", "conv-1:D2:1"), ("conv-1:D1:1",))


def test_an_overlay_of_other_data_or_beside_another_is_refused(sample, load, overlay):
    write_overlay(module.FOLDER / "other.json", overlay)
    with pytest.raises(InputError, match=r"mine.json and other.json belong to the same data"):
        load(sample, evidence="corrected")
    (module.FOLDER / "other.json").unlink()
    sample["qa"][0]["answer"] = "another"
    assert load(sample).questions
    with pytest.raises(InputError, match=r"no wrong citations are known in my.json; use dataset"):
        load(sample, evidence="corrected")
    with pytest.raises(InputError, match=r"^dataset\.evidence: 'right'; use one of original, corr"):
        load(sample, evidence="right")
    wrong = "correct the entry"
    for changes, problem, remedy in (
        ([Citation("conv-1/9", (), ())], "entry conv-1/9: the data set has no such", wrong),
        ([Citation("conv-1/0", ("D1:2",), ())], "entry conv-1/0: the data set cites other", wrong),
        ([Citation("conv-1/0", ("D1:1",), ("D9:1",))], "entry conv-1/0: D9:1 is no turn", wrong),
        (ENTRIES[:1] * 2, "entries: an id occurs twice", "build it by data/evidence/build.py"),
    ):
        files = load(sample).files
        changed = replace(overlay, data=files, entries=tuple(changes))
        write_overlay(module.FOLDER / "mine.json", changed)
        with pytest.raises(InputError, match=f"mine.json: {problem}.*; {remedy}"):
            load(sample, evidence="excluded")


@pytest.mark.usefixtures("locomo")
def test_locomos_overlay(tmp_path, said):
    """It belongs to the published file, has the audit's questions, and is what is built."""
    loaded = LoCoMo(name="locomo", path=str(LOCOMO), evidence="corrected").load()
    assert sum(one.evidence_original is not None for one in loaded.questions) == 54
    overlay, _ = read_overlay(EvidenceOverlay, DATA / "evidence" / "locomo.json")
    errors = {
        f"{one['sample_id']}/{one['qa_index']}": one
        for one in read_lines(LOCOMO.parent / "answer_key_errors.jsonl")
    }
    right = {one.id: one.evidence for one in overlay.entries}
    wrong = {id_ for id_, one in errors.items() if one["error_type"] == "WRONG_CITATION"}
    assert right.keys() == wrong
    rows = [one | {"correct_evidence": right.get(id_, ())} for id_, one in errors.items()]
    given, out = tmp_path / "audit.jsonl", tmp_path / "mine.json"
    write_lines(given, rows)
    named = ["--source", overlay.source, "--commit", overlay.commit, "--licence", overlay.licence]
    assert "WRONG_CITATION: 54 of 57" in said(evidence.main, given, "--out", out, *named)
    assert out.read_bytes() == (DATA / "evidence" / "locomo.json").read_bytes()


AUDIT = ["--source", "an audit", "--commit", "abc", "--licence", "CC0"]


@pytest.fixture
def audited(sample: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample, as the data set that the script loads."""
    path = tmp_path / "my.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    monkeypatch.setattr(evidence, "LoCoMo", lambda name: LoCoMo(name=name, path=str(path)))
    return tmp_path


def error_line(index: int, *evidence_of: str) -> str:
    row = {"question_id": f"locomo_0_qa{index}", "error_type": "WRONG_CITATION"}
    return json.dumps({**row, "golden_answer": "a", "correct_evidence": evidence_of})


def test_an_overlay_is_written_from_several_files_whose_turns_exist(audited, capsys):
    files, out = [audited / "errors_0.jsonl", audited / "errors_1.json"], audited / "out.json"
    files[1].write_text(f"[{error_line(1, 'D2:1')}]")
    for turn, code in (("D9:1", 2), ("D1:2", 0)):
        files[0].write_text(error_line(0, turn) + "\n")
        assert evidence.main([*map(str, files), "--out", str(out), *AUDIT]) == code
        assert out.exists() is (code == 0)
    assert "conv-1/0: correct_evidence: 'D9:1' is no turn" in capsys.readouterr().err
    entries = {one.id: one.evidence for one in read_overlay(EvidenceOverlay, out)[0].entries}
    assert entries == {"conv-1/0": ("D1:2",), "conv-1/1": ("D2:1",)}
