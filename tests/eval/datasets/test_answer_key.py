"""Answer keys: errors of one's own, overlays without texts, and what is refused."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.overlays.build import main
from eval.datasets.files import DATA
from eval.datasets.locomo import EvidenceOverlay
from eval.datasets.overlays import AnswerOverlay, read_overlay, write_overlay
from eval.datasets.types import Dataset, KeyChange
from eval.records.files import write_lines
from memsys.core.errors import InputError
from tests.eval.commands import Said
from tests.eval.datasets.conftest import Load


@pytest.fixture
def sample(sample: dict[str, Any]) -> dict[str, Any]:
    """Questions conv-1/0 and /1 of types 1 and 5; /2, /3 and /4 of types 4, 2 and 4."""
    for text, answer, category in (("Who?", "Bo", 4), ("When?", 2023, 2), ("Where?", "here", 4)):
        sample["qa"].append({"question": text, "answer": answer, "category": category})
    return sample


def error(index: int, golden: Any, correct: Any, **more: Any) -> dict[str, Any]:
    row = {"sample_id": "conv-1", "qa_index": index, "error_type": "HALLUCINATION"}
    return {**row, "golden_answer": golden, "correct_answer": correct, **more}


ERRORS = [
    error(0, "a fig tree", "a plum tree (it died)"),
    error(2, "Bo", None, error_type="ATTRIBUTION_ERROR"),
    error(3, 2023, 2023, error_type="WRONG_CITATION"),
    error(4, "here", "here", error_type="TEMPORAL_ERROR"),
]


@pytest.fixture
def errors(tmp_path: Path) -> Callable[..., str]:
    """Write errors as JSON lines; returns the path."""

    def write(rows: list[dict[str, Any]]) -> str:
        write_lines(tmp_path / "errors.jsonl", rows)
        return str(tmp_path / "errors.jsonl")

    return write


def golds(data: Dataset) -> list[str | None]:
    return [question.gold for question in data.questions]


def test_corrected_key_changes_leaves_out_and_keeps(sample, load, errors):
    plain = load(sample)
    data = load(sample, key="corrected", key_file=errors(ERRORS))
    assert golds(plain) == ["a fig tree", None, "Bo", "2023", "here"]
    assert golds(data) == ["a plum tree (it died)", None, None, "2023", "here"]
    # Of conv-1/3 only the evidence is wrong, of conv-1/4 the correction is the same answer.
    assert {one.id: one.key_change for one in data.questions if one.key_change} == {
        "conv-1/0": KeyChange("corrected", "HALLUCINATION", "a fig tree"),
        "conv-1/2": KeyChange("excluded", "ATTRIBUTION_ERROR", "Bo"),
    }
    assert [question.original_gold for question in data.questions] == golds(plain)
    wrong = ("conv-1/0", "conv-1/2", "conv-1/4")
    assert (data.key.name, data.key.wrong) == ("corrected", wrong)
    assert data.key.overlay is not None
    assert data.key.overlay.name == "errors.jsonl"


def test_other_keys_leave_out_all_errors_or_know_them_alone(sample, load, errors):
    excluded = load(sample, key="excluded", key_file=errors(ERRORS))
    assert golds(excluded) == [None, None, None, "2023", None]
    assert {q.key_change.kind for q in excluded.questions if q.key_change} == {"excluded"}
    original = load(sample, key_file=errors(ERRORS))
    assert original.questions == load(sample).questions
    assert original.key.wrong == ("conv-1/0", "conv-1/2", "conv-1/4")
    assert load(sample).key.overlay is None
    some = load(sample, key="excluded", key_file=errors(ERRORS), types=["multi_hop"])
    assert some.key.wrong == ("conv-1/0",)  # of those that were loaded
    row = {k: v for k, v in ERRORS[0].items() if k not in ("sample_id", "qa_index")}
    of_audit = errors([row | {"question_id": "locomo_0_qa0"}])
    assert load(sample, key="excluded", key_file=of_audit).key.wrong == ("conv-1/0",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([error(0, "an oak", "a plum")], "entry conv-1/0: its golden answer is not the data set's"),
        ([error(9, "an oak", "a plum")], "entry conv-1/9: the data set has no such question"),
        ([error(0, "a fig tree", "x", sample_id="conv-2")], "conv-2/0: .* no such conversation"),
        ([error(1, None, "a plum")], "entry conv-1/1: a question of type 5 has no answer"),
        ([ERRORS[0], ERRORS[0]], "error 2: conv-1/0 occurs twice"),
        ([{"error_type": "X"}], "error 1: names no question"),
        ([{"golden_answer": "x"}], "error 1: error_type: missing; add it"),
        ([error(0, "a fig tree", ["a plum"])], "correct_answer: .* must be a text or a number"),
        ([error(0, "a fig tree", "x", error_type="")], "error 1: error_type: empty"),
        ([], "errors.jsonl: lists no error"),
    ],
)  # fmt: skip
def test_wrong_errors_are_refused(sample, load, errors, rows, message):
    with pytest.raises(InputError, match=message):
        load(sample, key="corrected", key_file=errors(rows))


def test_a_key_that_is_not_there_is_refused(sample, load, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text('{"a": 1}\n{"a"\n')
    repeated = tmp_path / "repeated"
    repeated.write_text('[\n {"a": 1,\n "a": 2}]\n')
    for key, file, message in (
        ("better", None, "key: 'better'; use one of original, corrected, excluded"),
        ("corrected", None, r"no errors are known in my.json .*dataset.key_file"),
        ("excluded", None, r"no errors are known in my.json .*dataset.key_file"),
        ("corrected", "none.json", r"none\.json: no such file; correct dataset"),
        ("corrected", str(broken), r"broken: line 2: not JSON \(.*column 5"),
        ("corrected", str(repeated), "repeated: key 'a' occurs twice in one object; rename one; c"),
    ):
        with pytest.raises(InputError, match=message):
            load(sample, key=key, key_file=file)


@pytest.fixture
def overlay(sample: Any, load: Load, errors: Any, said: Said, tmp_path: Path) -> Path:
    """An overlay of ERRORS, made by the command; it cuts the parenthesis off conv-1/0."""
    load(sample)
    path = tmp_path / "mine.json"
    made = ["--dataset", str(tmp_path / "my.json"), "--source", "us", "--licence", "CC0"]
    assert "3 of 4 gold answers are wrong" in said(main, errors(ERRORS), *made, "--out", path)
    value = json.loads(path.read_text())
    value["entries"][0]["gold"] = [[0, 11]]
    path.write_text(json.dumps(value))
    return path


def test_an_overlay_holds_no_text_finds_its_texts_and_is_made_anew(sample, load, overlay, tmp_path):
    text = overlay.read_text()
    assert [word for word in ("fig", "plum", "died", "here", "Bo", "2023") if word in text] == []
    data = load(sample, key="corrected", key_file=str(overlay))
    assert golds(data)[:3] == ["a plum tree", None, None]
    assert data.key.texts is not None
    assert (data.key.overlay.name, data.key.texts.name) == ("mine.json", "errors.jsonl")
    dataset = ["--dataset", str(tmp_path / "my.json")]
    assert main([str(tmp_path / "errors.jsonl"), *dataset, "--out", str(overlay)]) == 0
    again = read_overlay(AnswerOverlay, overlay)[0]
    assert again.entries[0].gold == ((0, 11),)  # cuts and source are kept
    assert (again.source, again.licence) == ("us", "CC0")


def test_excluding_needs_no_texts_but_correcting_does(sample, load, overlay, tmp_path, monkeypatch):
    monkeypatch.setattr("eval.datasets.answer_key.DATA", tmp_path / "data")
    monkeypatch.setenv("MEMSYS_SHARED", str(tmp_path / "nothing"))
    (tmp_path / "errors.jsonl").unlink()
    assert len(load(sample, key="excluded", key_file=str(overlay)).key.wrong) == 3
    with pytest.raises(InputError, match="corrected answers are not here; get the errors of us"):
        load(sample, key="corrected", key_file=str(overlay))


def test_other_texts_than_the_overlays_are_refused(sample, load, overlay, errors):
    another = error(1, None, "x")
    changed = error(0, "a fig tree", "a pear tree")
    for rows, id_ in ((ERRORS[1:], 0), ([changed, *ERRORS[1:]], 0), ([*ERRORS, another], 1)):
        errors(rows)
        text = f"entry conv-1/{id_}: its corrected answer is not that of mine.json; get the errors"
        with pytest.raises(InputError, match=text):
            load(sample, key="corrected", key_file=str(overlay))


def test_an_overlay_of_other_data_is_refused(sample, load, overlay):
    sample["qa"][0]["question"] = "Which tree?"
    with pytest.raises(InputError, match=r"mine.json: belongs to my.json .*, not to my.json"):
        load(sample, key="excluded", key_file=str(overlay))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": [[3, 2]]}, ".*gold of conv-1/0: not ranges"),
        ({"gold": "all"}, r"entries\[0\].gold.*: Input should be 'text', 'none' or 'original'"),
        ({"id": 5}, r"entries\[0\].id: must be a text"),
    ],
)
def test_a_broken_overlay_is_refused(sample, load, overlay, change, message):
    value = json.loads(overlay.read_text())
    value["entries"][0] |= change
    overlay.write_text(json.dumps(value))
    with pytest.raises(InputError, match=f"mine.json: {message}.*; build it by"):
        load(sample, key="excluded", key_file=str(overlay))
    value["entries"][0] = value["entries"][1]
    overlay.write_text(json.dumps(value))
    with pytest.raises(InputError, match="an id occurs twice"):
        load(sample, key="excluded", key_file=str(overlay))


@pytest.mark.parametrize(
    ("kind", "name", "entries"),
    [
        (AnswerOverlay, "overlays/locomo.json", 156),
        (AnswerOverlay, "overlays/longmemeval.json", 4),
        (EvidenceOverlay, "evidence/locomo.json", 57),
    ],
)
def test_a_shipped_overlay_holds_no_text_and_comes_back_as_written(kind, name, entries, tmp_path):
    shipped = DATA / name
    write_overlay(tmp_path / "again.json", read_overlay(kind, shipped)[0])
    assert (tmp_path / "again.json").read_bytes() == shipped.read_bytes()
    rows = json.loads(shipped.read_text(encoding="utf-8"))["entries"]
    assert len(rows) == entries
    for row in rows:
        gold = row.pop("gold", "none")
        assert gold in ("none", "original") or {type(n) for pair in gold for n in pair} == {int}
        hashes = [row.pop(key, None) for key in ("golden_sha256", "correct_sha256")]
        assert {len(bytes.fromhex(one)) for one in hashes if one} <= {hashlib.sha256().digest_size}
        assert row.pop("error_type", "X").replace("_", "").isupper()
        turns = [*row.pop("cited", ()), *row.pop("evidence", ())]
        assert all(re.fullmatch(r"D\d+:\d+", turn) for turn in turns)
        assert row.keys() == {"id"}
