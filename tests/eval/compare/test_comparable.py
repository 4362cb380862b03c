"""Which runs may be compared, on which scores and questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.compare.comparable import objections
from eval.metrics.retrieval.registry import parse
from eval.summary.measures import ALL_TYPES, Measure, choose
from eval.summary.shared import share
from memsys.errors import InputError
from tests.eval import factory
from tests.eval.compare.made_runs import FILE, edit, judged, load, record, records, write_run

F1 = Measure("locomo_f1", ALL_TYPES)
JUDGE = Measure("judge", ALL_TYPES)
KEY = {"overlay": None, "texts": None, "wrong": []}


def against(tmp_path: Path, *names: str, rows: list[dict] | None = None, **more: Any) -> list[str]:
    """Objections to a plain run and one that differs in `rows` or in its manifest."""
    one = write_run(tmp_path / "one", records())
    other = write_run(tmp_path / "other", rows or records(), "graph", **more)
    runs = load(one, other)
    return objections(runs, choose(runs, names, None), names)


def test_like_runs_have_no_objection(tmp_path: Path) -> None:
    assert against(tmp_path) == []


def test_different_data_is_an_objection(tmp_path: Path) -> None:
    (objection,) = against(tmp_path, data=[FILE | {"sha256": "6" * 64}])
    assert "plain and graph answered different data" in objection
    assert "666666" in objection


def test_the_name_of_a_data_file_does_not_matter(tmp_path: Path) -> None:
    assert against(tmp_path, data=[FILE | {"name": "renamed.json"}]) == []


def test_an_import_may_be_compared_with_a_run_on_the_same_data(tmp_path: Path) -> None:
    config = {"dataset": {"name": "some"}, "import": {}}
    assert against(tmp_path, kind="imported", config=config) == []


def test_different_answer_keys_are_an_objection(tmp_path: Path) -> None:
    one, other = (
        write_run(tmp_path / key, records(), key, key=KEY | {"name": key})
        for key in ("original", "corrected")
    )
    (objection,) = objections(load(one, other), [F1], [])
    assert "different answer keys (original, corrected); rescore one by" in objection
    old = write_run(tmp_path / "old", records(), "old")  # from before there were keys
    assert objections(load(one, old), [F1], []) == []
    assert len(objections(load(other, old), [F1], [])) == 1


def test_what_the_key_leaves_out_is_not_compared(tmp_path: Path) -> None:
    key = {"kind": "excluded", "error_type": "X", "original_gold": "gold"}
    rows = edit(records(), {"a/100": {"gold": None, "key": key, "abstained": True}})
    one, other = (write_run(tmp_path / name, rows, name) for name in ("one", "other"))
    shared = share(load(one, other), Measure("abstained", ("overall",)))
    assert "a/100" not in shared.ids
    assert len(shared.ids) == 319
    assert shared.left_out == ()


def test_different_gold_answers_are_an_objection_whatever_the_key_is_called(tmp_path: Path) -> None:
    (objection,) = against(tmp_path, rows=edit(records(), {"a/100": {"gold": "another"}}))
    assert "different gold answers to 1 questions (a/100)" in objection


def test_different_scoring_is_an_objection_to_f1_but_not_to_a_named_score(tmp_path: Path) -> None:
    (objection,) = against(tmp_path, scoring=["mem0", "locomo"])
    assert "locomo_f1 in plain and mem0_f1 in graph" in objection
    runs = load(tmp_path / "one", tmp_path / "other")
    assert objections(runs, [F1], ["locomo_f1"]) == []
    assert len(objections(runs, [F1], ["f1"])) == 1


def test_different_judges_are_an_objection_to_verdicts_alone(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", judged(records()), models={"judge": "strict"})
    others = [
        write_run(tmp_path / "two", judged(records()), "two", models={"judge": "mild"}),
        write_run(
            tmp_path / "three", judged(records()), "three",
            models={"judge": "strict"}, prompts={"judge": "ab"},
        ),
        write_run(
            tmp_path / "four", judged(records(), judge_source="as reported"), "four",
            models={"judge": "strict"},
        ),
    ]  # fmt: skip
    for other in others:
        runs = load(one, other)
        (objection,) = objections(runs, [F1, JUDGE], [])
        assert "different judges (strict" in objection
        assert objections(runs, [F1], []) == []


def test_scores_are_named_as_in_summaries_or_in_records(tmp_path: Path) -> None:
    runs = load(*(write_run(tmp_path / name, records(), name) for name in ("one", "two")))
    names = ["f1", "f1_mem0", "mem0_f1", "abstained"]
    keys = [measure.key for measure in choose(runs, names, "temporal")]
    assert keys == ["locomo_f1", "mem0_f1", "abstained"]
    with pytest.raises(InputError, match="no record has the score 'bleu2'; it has locomo_f1"):
        choose(runs, ["bleu2"], None)


def test_by_default_the_judge_counts_if_every_run_has_verdicts(tmp_path: Path) -> None:
    one, two = (write_run(tmp_path / name, judged(records()), name) for name in ("one", "two"))
    three = write_run(tmp_path / "three", records(), "three")
    assert [m.key for m in choose(load(one, two), [], None)] == ["locomo_f1", "judge", "abstained"]
    assert [m.key for m in choose(load(one, three), [], None)] == ["locomo_f1", "abstained"]
    assert [m.key for m in choose(load(one, two), [], "temporal")] == ["locomo_f1", "judge"]
    assert choose(load(one, two), [], "adversarial") == [Measure("abstained", ("adversarial",))]


def test_only_questions_that_every_run_answered_count(tmp_path: Path) -> None:
    failed = {"status": "error", "abstained": None}
    rows = [row for row in records() if row["id"] not in {"a/100", "b/100"}]
    other = edit(rows, {"c/100": failed, "d/100": {"question": "Another?"}})
    other = [*other, record("z", 1, 4, 0.5)]
    runs = load(write_run(tmp_path / "one", records()), write_run(tmp_path / "two", other, "two"))
    found = share(runs, F1)
    assert found.left_out == ("a/100", "b/100", "c/100", "d/100", "z/1")
    assert found.why == {
        "plain": {"not asked": 1},
        "two": {"not asked": 2, "failed": 1, "another question under the same id": 1},
    }
    assert len(found.ids) == found.scores.shape[1] == len(records()) - 4
    assert found.ids[0] == "a/101"
    assert not set(found.ids) & set(found.left_out)


def test_a_score_that_applies_nowhere_leaves_no_question_out(tmp_path: Path) -> None:
    failed = {"e/500": {"status": "error", "abstained": None, "scores": {}}}
    unscored = {"e/100": {"scores": {"mem0_f1": None}}}
    one = write_run(tmp_path / "one", records())
    two = write_run(tmp_path / "two", edit(records(), unscored), "two")
    three = write_run(tmp_path / "three", edit(records(), failed), "three")
    measure = Measure("mem0_f1", ALL_TYPES)  # null on type 5
    assert share(load(one, two), measure).left_out == ("e/100",)
    assert share(load(one, two), measure).why == {"two": {"without this score": 1}}
    assert "adversarial" not in share(load(one, two), measure).types
    # That the question failed is objection, though: nobody knows what it would have scored.
    assert share(load(one, three), measure).left_out == ("e/500",)


def test_a_question_asked_again_counts_as_it_ended(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", records())
    rows = edit(records(), {"a/100": factory.error()})
    two = write_run(tmp_path / "two", rows, "two")
    with (two / "records.jsonl").open("a") as file:
        file.write(json.dumps(record("a", 100, 1, 0.9)) + "\n")
    found = share(load(one, two), F1)
    assert found.scores[:, 0].tolist() == [0.2, 0.9]


def test_other_evidence_is_an_objection_to_scores_of_retrieval_alone(tmp_path: Path) -> None:
    rows = [
        row | {"scores": row["scores"] | {"evidence_recall": 0.5, "recall@10": 0.5}}
        for row in records()
    ]
    evidence = {"name": "corrected", "overlay": FILE, "applied": 1}
    one = write_run(tmp_path / "one", rows)
    runs = load(one, write_run(tmp_path / "other", rows, "other", evidence=evidence))
    measures = choose(runs, (), None)
    assert [measure.key for measure in measures] == ["locomo_f1", "abstained"]
    assert objections(runs, measures, ()) == []
    for name in ("evidence_recall", "recall@10"):
        (objection,) = objections(runs, choose(runs, [name], None), [name])
        assert "were scored by different evidence (original, corrected); rescore one" in objection
    (objection,) = objections(runs, [Measure("ndcg@5", ALL_TYPES, parse("ndcg@5"))], ["ndcg@5"])
    assert "different evidence" in objection
