"""Runs on a subset, or under a key with errors corrected or left out: what is asked and told."""

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.subset import GRID, STORED, Chosen, Subset, Validated, chances
from eval.datasets.types import SourceFile
from eval.summary.subset_score import estimate_sentences, full_score
from memsys.core.errors import InputError
from tests.eval.commands import FAULTY, PATIENT, Ended, Run, Start, runs_in, small_sample

WEIGHTS = {"ash/0": 0.5, "beech/1": 0.3, "beech/3": 0.2}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A data set of 3 conversations, and a subset of 3 of its 18 questions of types 1 to 4."""
    data = tmp_path / "small.json"
    data.write_text(json.dumps([small_sample(name) for name in ("ash", "beech", "cedar")]))
    raw = data.read_bytes()
    curve = tuple((GRID[STORED] - 0.5).tolist())
    worth = Validated("weighted mean", 0.1, 0.12)
    subset = Subset(
        name="tiny",
        of=18,
        data=(SourceFile(data.name, len(raw), hashlib.sha256(raw).hexdigest()),),
        rest=curve,
        validated={"judge": replace(worth, estimator="p-IRT"), "locomo_f1": worth},
        questions=tuple(Chosen(id_, w, curve) for id_, w in WEIGHTS.items()),
    )
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(asdict(subset)))
    return data, path


def load(data: Path, subset: Path, **more: Any) -> list[str]:
    found = LoCoMo(name="small", path=str(data), subset=str(subset), **more).load()
    assert (found.subset.name, found.subset.questions, found.subset.of) == ("tiny", 3, 18)
    return [question.id for question in found.questions]


def change(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_only_the_questions_of_the_subset_are_loaded(files):
    assert load(*files) == list(WEIGHTS)
    assert load(*files, conversations=["beech"]) == ["beech/1", "beech/3"]
    assert load(*files, types=["temporal"]) == ["beech/1"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"id": "ash/99"}, "tiny.json: entry ash/99: the data set has no such question"),
        ({"id": "elm/0"}, "tiny.json: entry elm/0: the data set has no such conv"),
        ({}, "an id occurs twice"),
        ("{}", "name: missing; add it"),
        ("[]", "the whole: Input should be"),
    ],
)
def test_a_file_that_is_no_subset_of_the_data_is_refused(files, more, message):
    """`more`: of the first question, once more; or the whole text."""
    data, path = files
    if isinstance(more, str):
        path.write_text(more)
    else:
        questions = json.loads(path.read_text())["questions"]
        change(path, questions=[*questions, questions[0] | more])
    with pytest.raises(InputError, match=message):
        load(data, path)


def test_a_missing_file_and_a_subset_of_other_data_are_refused(files):
    data, path = files
    with pytest.raises(InputError, match="no such file"):
        load(data, path.with_name("none.json"))
    data.write_text(data.read_text() + "\n")
    with pytest.raises(InputError, match=r"built for another small\.json"):
        load(data, path)


def test_curves_come_back_as_they_were_kept():
    curve = 0.3 / (1 + np.exp(-1.4 * (GRID - 0.3))) + 0.6 / (1 + np.exp(-0.5 * (GRID + 2)))
    back = chances(np.log(curve / (1 - curve))[STORED])
    assert np.abs(back - curve)[STORED].max() < 0.001
    assert np.abs(back - curve).max() < 0.005


def started(start: Start, data: Path, *more: str) -> Ended:
    options = (f"dataset.path={data}", "dataset.name=small", "k=2")
    return start("dataset=locomo", "strategy=bm25", *options, *more)


@pytest.fixture
def run(start: Start, files: tuple[Path, Path], tmp_path: Path) -> Run:
    ended = started(start, files[0], f"dataset.subset={files[1]}").ok()
    (found,) = runs_in(tmp_path)
    return Run(found.folder, ended)


def test_a_run_records_its_subset_and_tells_the_estimate(run, files):
    assert [record["id"] for record in run.records] == list(WEIGHTS)
    used = run.manifest["subset"]
    assert used["file"]["sha256"] == hashlib.sha256(files[1].read_bytes()).hexdigest()
    assert run.manifest["config"]["dataset"]["subset"] == str(files[1])
    scores = {record["id"]: record["scores"]["locomo_f1"] for record in run.records}
    weighted = sum(WEIGHTS[id_] * scores[id_] for id_ in WEIGHTS)
    ((score, estimate),) = run.summary["subset"]["scores"].items()
    assert score == "locomo_f1"  # nobody judged
    assert estimate["estimate"] == pytest.approx(weighted)
    assert estimate["mean"] == pytest.approx(np.mean(list(scores.values())))
    assert estimate["ci"] == pytest.approx([max(0, weighted - 0.1), min(1, weighted + 0.1)])
    line = f"tiny: 3 of 18 questions. LoCoMo's F1 on all 18, estimated: {weighted:.3f}"
    assert line in run.ended.out
    assert line in run.files["report.md"].decode()


def test_a_run_does_not_go_on_with_another_subset(start, run, files):
    rows = json.loads(files[1].read_text())["questions"]
    change(files[1], questions=rows[:2])
    more = (f"dataset.subset={files[1]}", f"resume={run.folder.name}")
    started(start, files[0], *more).refused("the subset's file has changed")


def judged(run: Run, verdicts: list[float | None]) -> dict[str, Any]:
    records = [
        {**record, "scores": {**record["scores"], "judge": verdict}}
        for record, verdict in zip(run.records, verdicts, strict=True)
    ]
    return full_score(records, run.manifest)


def test_verdicts_are_estimated_by_the_model(run):
    """All curves are one: what is expected of the rest is close to the share seen."""
    some = judged(run, [1.0, 0.0, 1.0])["scores"]["judge"]
    assert some["estimator"] == "p-IRT"
    assert some["mean"] == pytest.approx(2 / 3)
    assert some["weighted"] == pytest.approx(0.7)
    assert 0.5 < some["estimate"] < 0.75
    none, every = (judged(run, [v] * 3)["scores"]["judge"]["estimate"] for v in (0.0, 1.0))
    assert none < 0.25 < some["estimate"] < 0.8 < every
    part = judged(run, [1.0, None, 1.0])["scores"]["judge"]
    assert (part["n"], part["mean"]) == (2, 1.0)


def test_without_what_was_validated_there_is_no_estimate(run, files):
    records, manifest = run.records, run.manifest
    for given, described, why in (
        (records[:2], manifest, "1 of the subset's questions were not asked"),
        (records, {**manifest, "key": {**manifest["key"], "name": "excluded"}}, "answer key"),
    ):
        found = full_score(given, described)
        assert why in found["reason"]
        assert found["scores"] == {}
        (line,) = estimate_sentences({"subset": found})
        assert f"No estimate for all of them: {found['reason']}" in line
    change(files[1], seed=1)
    assert "changed since the run" in (full_score(records, manifest) or {})["reason"]
    files[1].unlink()
    assert "no such file" in (full_score(records, manifest) or {})["reason"]


COUNTS = {
    **{"multi_hop": (6, 1), "temporal": (3, 0), "open_domain": (3, 0), "single_hop": (6, 1)},
    "overall": (18, 2),
}
CEILING = {
    name: {"n": n, "wrong": wrong, "ceiling": (n - wrong) / n}
    for name, (n, wrong) in COUNTS.items()
}
SHOWN = ("n", "f1", "f1_ci", "bleu1", "bleu1_ci")


def shown(cell: dict[str, Any]) -> dict[str, Any]:
    return {name: cell[name] for name in SHOWN}


def test_an_unknown_key_costs_nothing_and_says_nothing(keyed):
    summary = keyed["plain"].summary
    assert (summary["key"], summary["original_key"], summary["ceiling"]) == (None, None, None)
    assert "perfect reader" not in keyed["plain"].ended.out
    assert keyed["plain"].manifest["key"]["overlay"] is None


def test_original_key_tells_its_ceiling(keyed):
    run = keyed["original"]
    assert run.summary["ceiling"] == CEILING
    assert (run.summary["key"], run.summary["original_key"]) == (None, None)
    expected = "under it a perfect reader reaches 88.89% (multi_hop 83.33%, temporal 100.00%"
    for text in (run.ended.out, (run.folder / "report.md").read_text()):
        assert "2 of 18 gold answers of types 1-4 are known to be wrong" in text
        assert expected in text
        assert "dataset.key=corrected or excluded scores without these errors." in text
    assert run.untimed == keyed["plain"].untimed


def test_records_have_both_scores(keyed):
    plain = {record["id"]: record for record in keyed["plain"].records}
    corrected = {record["id"]: record for record in keyed["corrected"].records}
    for id_, record in corrected.items():
        if id_ not in ("ash/0", "ash/5"):
            assert (record["key"], record["scores_original"]) == (None, None)
            assert record["scores"] == plain[id_]["scores"]
    changed, out = corrected["ash/0"], corrected["ash/5"]
    expected = {"kind": "corrected", "error_type": "HALLUCINATION", "original_gold": "flute"}
    assert changed["key"] == expected
    assert (changed["gold"], out["gold"]) == ("nine bees", None)
    assert changed["answer"] == plain["ash/0"]["answer"]
    assert changed["scores_original"] == plain["ash/0"]["scores"]
    assert changed["scores"]["locomo_f1"] != changed["scores_original"]["locomo_f1"]
    assert out["scores_original"] == plain["ash/5"]["scores"]
    assert set(out["scores"].values()) == {None}


@pytest.mark.parametrize(("key", "counts"), [("corrected", (1, 1)), ("excluded", (0, 2))])
def test_summary_has_both_keys_and_the_ceiling(keyed, key, counts):
    run, plain = keyed[key], keyed["plain"].summary
    summary = run.summary
    of_key = summary["key"]
    assert (of_key["name"], of_key["corrected"], of_key["excluded"]) == (key, *counts)
    assert summary["ceiling"] == CEILING
    for name, cell in plain["by_type"].items():
        assert shown(summary["original_key"]["by_type"][name]) == shown(cell)
        assert shown(of_key["by_type"][name]) == shown(summary["by_type"][name])
    assert summary["n"] == 21
    assert summary["by_type"]["overall"]["n"] == 18 - counts[1]
    assert f"\n| overall | {18 - counts[1]} | 18 | 0." in (run.folder / "report.md").read_text()
    assert summary["by_type"]["single_hop"]["n"] == 5
    kept = [r["scores"]["locomo_f1"] for r in run.records if r["type"] == "single_hop"]
    assert summary["by_type"]["single_hop"]["f1"] == pytest.approx(
        sum(score for score in kept if score is not None) / 5
    )
    for text in (run.ended.out, (run.folder / "report.md").read_text()):
        assert f"{counts[0]} gold answers corrected, {counts[1]} questions excluded" in text
        for title in (f"F1 {key}", "F1 original", "ceiling original", "88.89%"):
            assert title in text


def test_key_is_part_of_what_a_run_is(start, tmp_path, small, errors, fault):
    key_file = tmp_path / "errors.jsonl"
    key_file.write_bytes(errors.read_bytes())
    key = ("dataset.key=corrected", f"dataset.key_file={key_file}")
    command = (*FAULTY, *PATIENT, "strategy=faulty", "strategy.fault=third", *small)
    start(*command, *key).ok()
    (run,) = runs_in(tmp_path)
    failed = run.records[5]
    assert (failed["id"], failed["status"]) == ("ash/5", "error")
    assert failed["key"]["kind"] == "excluded"
    assert set(failed["scores_original"].values()) == {None}
    cells = [run.summary[name]["by_type"]["single_hop"] for name in ("original_key", "key")]
    assert [(cell["n"], cell["errors"]) for cell in cells] == [(6, 3), (5, 2)]
    fault.unlink()
    again = (*command, f"resume={run.folder.name}")
    start(*again, "dataset.key=excluded", key[1]).refused("dataset.key")
    key_file.write_text(errors.read_text() + "\n")
    start(*again, *key).refused("known errors of the answer key have changed")
    key_file.write_bytes(errors.read_bytes())
    start(*again, *key).ok()
    assert run.records[5]["status"] == "ok"
    assert run.records[5]["scores_original"]["locomo_f1"] is not None
    assert run.summary["errors"] == 0


@pytest.mark.skipif(
    not (shared_folder() / "locomo" / "locomo10.json").is_file(),
    reason="locomo/locomo10.json is not in $MEMSYS_SHARED",
)
def test_ceilings_of_locomo(start, tmp_path):
    ended = start("strategy=no_memory", "dataset=locomo", "dataset.key=excluded").ok()
    (run,) = runs_in(tmp_path)
    ceiling = run.summary["ceiling"]
    assert {name: (cell["wrong"], cell["n"]) for name, cell in ceiling.items()} == {
        **{"multi_hop": (28, 282), "temporal": (26, 321), "open_domain": (9, 96)},
        **{"single_hop": (36, 841), "overall": (99, 1540)},
    }
    expected = (
        "reaches 93.57% (multi_hop 90.07%, temporal 91.90%, open_domain 90.62%, single_hop 95.72%)"
    )
    assert expected in ended.out
    assert run.summary["by_type"]["overall"]["n"] == 1441
