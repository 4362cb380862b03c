"""The same answers rescored under another answer key: runs and imported answers."""

from pathlib import Path
from shutil import copytree

import pytest

from eval.imports.rescore import __main__ as rescore
from eval.records.files import write_lines
from tests.eval.commands import Run, Said

Options = tuple[str, ...]


@pytest.fixture
def again(
    small: Options, errors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> Said:
    """`memsys rescore` on the small data set; `key` adds the file of errors."""
    monkeypatch.chdir(tmp_path)
    path = small[0].removeprefix("dataset.path=")

    def call(*arguments: object, key: str | None = None, code: int = 0) -> str:
        chosen = () if key is None else ("--key", key, "--key-file", errors)
        return said(rescore.main, *arguments, "--dataset", path, *chosen, code=code)

    return call


def copy(run: Run, folder: Path) -> Run:
    return Run(copytree(run.folder, folder))


@pytest.mark.parametrize("key", ["original", "corrected", "excluded"])
@pytest.mark.parametrize("first", ["plain", "corrected", "excluded"])
def test_a_run_rescored_is_as_a_run_under_that_key(keyed, again, tmp_path, first, key):
    run, asked = copy(keyed[first], tmp_path / "copy"), keyed[key]
    again(run.folder, key=key)
    assert run.untimed == [
        record | {"trace": own["trace"]}
        for record, own in zip(asked.untimed, run.untimed, strict=True)
    ]
    for part in ("key", "original_key", "ceiling"):
        assert run.summary[part] == asked.summary[part]
    assert run.manifest["key"] == asked.manifest["key"]
    assert run.manifest["config"]["dataset"]["key"] == key
    assert run.manifest["rescored"][-1]["key"] == key


def test_the_records_of_a_run_are_a_file_of_answers(keyed, again, tmp_path):
    again(keyed["plain"].folder / "records.jsonl", "--out", tmp_path / "imported")
    imported = Run(tmp_path / "imported")
    assert len(imported.records) == len(keyed["plain"].records) > 1
    for own, record in zip(keyed["plain"].records, imported.records, strict=True):
        assert record["answer"] == own["answer"]
        assert record["latency_ms"]["total"] == pytest.approx(own["latency_ms"]["total"], abs=0.01)


def test_verdicts_count_for_the_gold_they_were_given_for(keyed, again, tmp_path):
    run = copy(keyed["plain"], tmp_path / "copy")
    rows = run.records
    for row in rows:
        row["scores"]["judge"] = 1.0 if row["gold"] else None
    write_lines(run.folder / "records.jsonl", rows)
    again(run.folder, key="corrected")
    first = run.records[0]
    assert (first["scores"]["judge"], first["scores_original"]["judge"]) == (None, 1.0)
    assert run.records[1]["scores"]["judge"] == 1.0
    again(run.folder, key="original")
    assert [row["scores"]["judge"] for row in run.records] == [r["scores"]["judge"] for r in rows]


def test_rescoring_by_different_keys_is_refused(keyed, again, tmp_path, errors):
    one, two = (copy(keyed[key], tmp_path / key) for key in ("plain", "excluded"))
    before = [run.files for run in (one, two)]
    err = again(one.folder, two.folder, code=2)
    assert "scored by different answer keys; name one for all by --key" in err
    err = again(one.folder, "--key-file", errors, code=2)
    assert "add --key corrected or excluded" in err
    assert [run.files for run in (one, two)] == before
    again(one.folder, two.folder, key="corrected")


def test_imported_answers_match_on_the_original_gold(keyed, again, tmp_path):
    rows = [
        {
            **{"sample_id": record["conversation"], "question": record["question"]},
            **{"prediction": record["gold"] or "none", "gold": record["gold"] or "none"},
            **{"judge": True, "f1_score": 1.0},
        }
        for record in keyed["plain"].records
        if record["category"] != 5
    ]
    write_lines(tmp_path / "theirs.jsonl", rows)
    again("theirs.jsonl", "--out", "out", key="corrected")
    run = Run(tmp_path / "out")
    matching = run.manifest["matching"]
    assert (matching["matched"], matching["gold_differs"], matching["same_as_gold"]) == (18, 0, 18)
    assert matching["told"]["verdicts"] == 18
    assert matching["reported_scores"]["mem0_f1"] == {"rows": 18, "equal": 18}
    changed = run.records[0]
    assert changed["gold"] == "nine bees"
    scores = [changed[name] for name in ("scores", "scores_original")]
    assert [(one["mem0_f1"], one["judge"]) for one in scores] == [(0, None), (1, 1)]
    assert run.summary["key"]["by_type"]["overall"]["f1"] == pytest.approx(16 / 17)
    assert run.summary["original_key"]["by_type"]["overall"]["f1"] == pytest.approx(1)
    assert "--key corrected --key-file" in run.manifest["command"]
    before = run.records
    again("out")
    assert run.records == before
