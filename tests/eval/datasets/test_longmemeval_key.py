"""Known errors of LongMemEval's answers, and runs over its layout as a user starts them."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.tabulate.__main__ import main as tabulate
from eval.datasets import longmemeval as module
from eval.datasets.files import DATA, shared_folder
from eval.datasets.longmemeval import LongMemEval
from eval.datasets.types import Dataset, KeyChange
from eval.imports.rescore.__main__ import main as rescore
from eval.metrics import Answered
from eval.metrics.registry import score
from memsys.core.errors import InputError
from tests.eval.commands import Run, run_main, runs_in
from tests.eval.datasets.conftest import instance, write_instances
from tests.shared import made_once

_REAL = shared_folder() / "longmemeval" / "oracle_sample97.json"
SHIPPED = DATA / "overlays" / "longmemeval.json"


def entry(id_: str, golden: str) -> dict[str, Any]:
    digest = hashlib.sha256(golden.encode()).hexdigest()
    return {"id": id_, "error_type": "DATES", "golden_sha256": digest, "correct_sha256": None}


@pytest.fixture
def errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """a and c are wrong; c has another answer here, and z is in no file here."""
    value = json.loads(SHIPPED.read_text(encoding="utf-8"))
    value["entries"] = [entry("a/0", "7"), entry("c/0", "8"), entry("z/0", "9")]
    path = tmp_path / "longmemeval.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    monkeypatch.setattr(module, "_ERRORS", path)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return write_instances(tmp_path / "made.json", instance("a"), instance("b"), instance("c"))


def load(path: Path, **options: Any) -> Dataset:
    return LongMemEval(name="made", path=str(path), **options).load()


@pytest.mark.usefixtures("errors")
def test_an_error_applies_where_id_and_golden_answer_are_those_listed(made):
    plain = load(made)
    assert [one.gold for one in plain.questions] == ["7", "7", "7"]
    assert (plain.key.name, plain.key.wrong) == ("original", ("a/0",))
    excluded = load(made, key="excluded")
    assert [one.gold for one in excluded.questions] == [None, "7", "7"]
    assert excluded.questions[0].key_change == KeyChange("excluded", "DATES", "7")
    assert (excluded.key.name, excluded.key.wrong) == ("excluded", ("a/0",))
    assert excluded.key.overlay is not None


@pytest.mark.usefixtures("errors")
def test_corrected_answers_are_the_user_s(made, tmp_path):
    with pytest.raises(InputError, match=r"no corrected answers; list them .* dataset\.key_file"):
        load(made, key="corrected")
    row = {"sample_id": "b", "qa_index": 0, "error_type": "COUNT", "golden_answer": 7}
    path = tmp_path / "errors.jsonl"
    path.write_text(json.dumps({**row, "correct_answer": "six"}), encoding="utf-8")
    corrected = load(made, key="corrected", key_file=str(path))
    assert [one.gold for one in corrected.questions] == ["7", "six", "7"]
    path.write_text(json.dumps({**row, "golden_answer": 6}), encoding="utf-8")
    with pytest.raises(InputError, match="entry b/0: its golden answer is not the data set's"):
        load(made, key="corrected", key_file=str(path))


@pytest.fixture
def published(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.datasets.files.DATA", tmp_path)
    made.rename(tmp_path / "longmemeval_oracle.json")


@pytest.mark.usefixtures("published")
def test_a_run_with_the_published_ids_is_resumed_repeated_and_rescored(
    start, tmp_path, request, said
):
    given = ("dataset=longmemeval", "strategy=oracle")
    published = (*given, "dataset.session_ids=published")
    start(*published).ok()
    (run,) = runs_in(tmp_path)
    assert run.manifest["key"] == {"name": "original", "overlay": None, "texts": None, "wrong": []}
    differs = "the configuration differs in dataset.session_ids; repeat the run's"
    start(*given, f"resume={run.folder.name}").refused(differs)
    again = tmp_path / "again"
    repeating = (f"from={run.folder}", "reader=none", f"hydra.run.dir={again}")
    for more in ((*published, f"resume={run.folder.name}"), repeating):
        start(*more).ok()
    repeated = Run(again)
    assert [one["evidence"] for one in repeated.records] == [["answer_a_2:0", "answer_a_1:0"]] * 3
    assert {one["scores"]["evidence_session_recall"] for one in repeated.records} == {1.0}

    rescored = (rescore, run.folder, "--dataset", "longmemeval")
    output = said(*rescored, "--evidence", "original", code=2)
    assert "names sessions by their published ids" in output
    request.getfixturevalue("errors")
    said(*rescored, "--key", "excluded")
    found = {one["id"]: one["scores"]["evidence_session_recall"] for one in run.records}
    assert (found["b/0"], found["c/0"]) == (1.0, 1.0)
    cited = [record["evidence_sessions"] for record in run.records]
    assert cited == [["answer_a_1", "answer_a_2"]] * 3
    assert run.manifest["key"]["name"] == "excluded"


@pytest.mark.skipif(not _REAL.is_file(), reason="the published instances are not here")
def test_no_listed_error_is_in_the_sample():
    data = load(_REAL, key="excluded")
    assert data.key.wrong == ()
    assert data.key.overlay is not None
    assert load(_REAL, key="excluded", key_file=str(SHIPPED)) == data


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> list[Run]:
    """Of oracle, bm25 and no_memory: read only."""

    def make(folder: Path) -> None:
        made = write_instances(
            folder / "made.json",
            instance("a", answer="nine cherry trees", question_type="multi-session"),
            instance("b"),
            instance("c_abs", answer="There were no pear trees."),
        )
        given = ("experiment=longmemeval", f"dataset.path={made}", "k=2")
        run_main(folder, cache, "-m", *given, "strategy=oracle,bm25,no_memory").ok()

    return runs_in(made_once(tmp_path_factory, "longmemeval-runs", make))


def test_a_run_has_the_data_sets_own_types_and_no_published_id(runs):
    first = next(run for run in runs if run.manifest["strategy"] == "oracle")
    a, b, c_abs = first.records
    assert (a["category"], c_abs["gold"]) == (14, None)
    assert (b["asked_at"], b["evidence_sessions"]) == ("2023-06-01T09:05:00", ["s1", "s2"])
    assert [one["scores"]["evidence_session_recall"] for one in first.records] == [1.0] * 3
    cells = first.summary["by_type"]
    assert list(cells) == ["multi_session", "knowledge_update", "adversarial", "overall"]
    assert [cells[name]["n"] for name in cells] == [1, 1, 1, 2]
    assert cells["overall"]["evidence_session_recall"] == 1.0
    assert first.summary["protocols"]["locomo"]["by_type"]["overall"]["n"] == 2
    without = next(run for run in runs if run.manifest["strategy"] == "no_memory")
    assert without.summary["by_type"]["overall"]["evidence_session_recall"] == 0.0
    for path in runs[0].folder.parent.rglob("*"):
        assert path.is_dir() or b"answer_a" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("category", "gold", "answer", "f1"),
    [
        (14, "red, blue", "blue, red, green", 0.8),  # LoCoMo's type 1 splits at commas: 1.0
        (13, "yes; she likes kites", "yes", 0.4),  # LoCoMo's type 3 cuts at a semicolon: 1.0
    ],
)
def test_other_rules_than_locomos_do_not_apply(category, gold, answer, f1):
    assert score(Answered(category, gold, answer))["locomo_f1"] == pytest.approx(f1)


def test_a_table_by_type(runs, tmp_path):
    out = tmp_path / "tables"
    given = [
        f"dataset.path={runs[0].manifest['config']['dataset']['path']}",
        "k=2",
        "strategy=oracle,bm25,no_memory",
    ]
    folder = str(runs[0].folder.parent)
    assert tabulate(["longmemeval", *given, "--runs", folder, "--out", str(out)]) == 0
    text = (out / "longmemeval.md").read_text()
    assert "| by type | multi_session (1) | knowledge_update (1) | overall (2) |" in text
    assert "Evidence recall, by session" in text
    assert "multi_hop" not in text
    with (out / "longmemeval.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = {(r["score"], r["type"], r["run"]): r for r in rows}
    assert len(found) == len(rows)
    one = found["evidence_session_recall", "multi_session", "strategy=oracle"]
    assert (one["n"], one["conversations"], float(one["mean"])) == ("1", "1", 1.0)
    assert found["evidence_session_recall", "overall", "strategy=oracle"]["n"] == "2"
