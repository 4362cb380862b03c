"""Evidence keys: wrong citations corrected, excluded, and overlays that do not belong."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.evidence import build as evidence
from eval.datasets import locomo as evidence_key
from eval.datasets.files import DATA
from eval.datasets.locomo import Citation, EvidenceOverlay, LoCoMo
from eval.datasets.overlays import read_overlay, write_overlay
from eval.datasets.types import Dataset
from eval.records.jsonl import read_lines, write_lines
from memsys.core.errors import InputError
from tests.eval.datasets.conftest import LOCOMO

Load = Callable[..., Dataset]
ENTRIES = (
    Citation("conv-1/0", ("D1:1",), ("D1:2", "D2:1")),
    Citation("conv-1/1", ("D1:1",), ("D1:1",)),  # such as an id that is misspelt in the file
)


@pytest.fixture
def overlay(
    sample: dict[str, Any], load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> EvidenceOverlay:
    """The overlay of the sample, in a data/evidence of the test's own."""
    monkeypatch.setattr(evidence_key, "FOLDER", tmp_path / "evidence")
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
    write_overlay(evidence_key.FOLDER / "other.json", overlay)
    with pytest.raises(InputError, match=r"mine.json and other.json belong to the same data"):
        load(sample, evidence="corrected")
    (evidence_key.FOLDER / "other.json").unlink()
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
        write_overlay(evidence_key.FOLDER / "mine.json", changed)
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
