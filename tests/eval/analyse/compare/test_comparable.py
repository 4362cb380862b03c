"""Which runs may be compared, on which scores and questions."""

import re
from typing import Any

import pytest

from eval.analyse.compare.comparable import objections
from eval.metrics.retrieval.registry import parse
from eval.summary.measures import Measure, choose, share
from memsys.core.errors import InputError
from tests.eval import factory
from tests.eval.analyse.compare.made_runs import (
    ALL_TYPES,
    FILE,
    edit,
    judged,
    record,
    records,
    run,
)

F1 = Measure("locomo_f1", ALL_TYPES)
JUDGE = Measure("judge", ALL_TYPES)
KEY = {"overlay": None, "texts": None, "wrong": []}


def against(*names: str, rows: list[dict] | None = None, **more: Any) -> list[str]:
    """Objections to a plain run and one that differs in `rows` or in its manifest."""
    one = run("plain")
    other = run("graph", rows or records(), **more)
    runs = [one, other]
    return objections(runs, choose(runs, names, None), names)


def test_like_runs_have_no_objection():
    imported = {"kind": "imported", "config": {"dataset": {"name": "some"}, "import": {}}}
    for more in ({}, {"data": [FILE | {"name": "renamed.json"}]}, imported):
        assert against(**more) == []


@pytest.mark.parametrize(
    ("rows", "more", "told"),
    [
        (None, {"data": [FILE | {"sha256": "6" * 64}]},
         "plain and graph answered different data .*666666"),
        # whatever the key is called
        (edit(records(), {"a/100": {"gold": "another"}}), {},
         r"different gold answers to 1 questions \(a/100\)"),
        (None, {"scoring": ["mem0", "locomo"]}, "locomo_f1 in plain and mem0_f1 in graph"),
    ],
)  # fmt: skip
def test_other_data_gold_answers_and_scoring_are_objections(rows, more, told):
    (objection,) = against(rows=rows, **more)
    assert re.search(told, objection)


def test_different_answer_keys_are_an_objection():
    one, other = (run(key, key=KEY | {"name": key}) for key in ("original", "corrected"))
    (objection,) = objections([one, other], [F1], [])
    assert "different answer keys (original, corrected); rescore one by" in objection
    old = run("old")  # from before there were keys
    assert objections([one, old], [F1], []) == []
    assert len(objections([other, old], [F1], [])) == 1


def test_what_the_key_leaves_out_is_not_compared():
    key = {"kind": "excluded", "error_type": "X", "original_gold": "gold"}
    rows = edit(records(), {"a/100": {"gold": None, "key": key, "abstained": True}})
    one, other = (run(name, rows) for name in ("one", "other"))
    shared = share([one, other], Measure("abstained", ("overall",)))
    assert "a/100" not in shared.ids
    assert len(shared.ids) == 319
    assert shared.left_out == ()


def test_different_scoring_is_no_objection_to_a_named_score():
    runs = [run("plain"), run("graph", scoring=["mem0", "locomo"])]
    assert objections(runs, [F1], ["locomo_f1"]) == []
    assert len(objections(runs, [F1], ["f1"])) == 1


@pytest.mark.parametrize(
    ("more", "fields"),
    [
        ({}, {"models": {"judge": "mild"}}),
        ({}, {"models": {"judge": "strict"}, "prompts": {"judge": "ab"}}),
        ({"judge_source": "as reported"}, {"models": {"judge": "strict"}}),
    ],
)
def test_different_judges_are_an_objection_to_verdicts_alone(more, fields):
    one = run("plain", judged(records()), models={"judge": "strict"})
    runs = [one, run("other", judged(records(), **more), **fields)]
    (objection,) = objections(runs, [F1, JUDGE], [])
    assert "different judges (strict" in objection
    assert objections(runs, [F1], []) == []


def test_scores_are_named_as_in_summaries_or_in_records():
    runs = [run(name) for name in ("one", "two")]
    names = ["f1", "f1_mem0", "mem0_f1", "abstained"]
    keys = [measure.key for measure in choose(runs, names, "temporal")]
    assert keys == ["locomo_f1", "mem0_f1", "abstained"]
    with pytest.raises(InputError, match="no record has the score 'bleu2'; it has locomo_f1"):
        choose(runs, ["bleu2"], None)


def test_by_default_the_judge_counts_if_every_run_has_verdicts():
    one, two = (run(name, judged(records())) for name in ("one", "two"))
    for other, type_, keys in (
        (two, None, ["locomo_f1", "judge", "abstained"]),
        (run("three"), None, ["locomo_f1", "abstained"]),
        (two, "temporal", ["locomo_f1", "judge"]),
    ):
        assert [measure.key for measure in choose([one, other], [], type_)] == keys
    assert choose([one, two], [], "adversarial") == [Measure("abstained", ("adversarial",))]


def test_only_questions_that_every_run_answered_count():
    rows = [row for row in records() if row["id"] not in {"a/100", "b/100"}]
    other = edit(rows, {"c/100": factory.error(), "d/100": {"question": "Another?"}})
    other = [*other, record("z", 1, 4, 0.5)]
    runs = [run("plain"), run("two", other)]
    found = share(runs, F1)
    assert found.left_out == ("a/100", "b/100", "c/100", "d/100", "z/1")
    assert found.why == {
        "plain": {"not asked": 1},
        "two": {"not asked": 2, "failed": 1, "another question under the same id": 1},
    }
    assert len(found.ids) == found.scores.shape[1] == len(records()) - 4
    assert found.ids[0] == "a/101"
    assert not set(found.ids) & set(found.left_out)


def test_a_score_that_applies_nowhere_leaves_no_question_out():
    unscored = {"e/100": {"scores": {"mem0_f1": None}}}
    one = run("plain")
    two = run("two", edit(records(), unscored))
    three = run("three", edit(records(), {"e/500": factory.error()}))
    measure = Measure("mem0_f1", ALL_TYPES)  # null on type 5
    assert share([one, two], measure).left_out == ("e/100",)
    assert share([one, two], measure).why == {"two": {"without this score": 1}}
    assert "adversarial" not in share([one, two], measure).types
    # That the question failed is objection, though: nobody knows what it would have scored.
    assert share([one, three], measure).left_out == ("e/500",)


def test_other_evidence_is_an_objection_to_scores_of_retrieval_alone():
    rows = [
        row | {"scores": row["scores"] | {"evidence_recall": 0.5, "recall@10": 0.5}}
        for row in records()
    ]
    evidence = {"name": "corrected", "overlay": FILE, "applied": 1}
    one = run("plain", rows)
    runs = [one, run("other", rows, evidence=evidence)]
    measures = choose(runs, (), None)
    assert [measure.key for measure in measures] == ["locomo_f1", "abstained"]
    assert objections(runs, measures, ()) == []
    for name in ("evidence_recall", "recall@10"):
        (objection,) = objections(runs, choose(runs, [name], None), [name])
        assert "were scored by different evidence (original, corrected); rescore one" in objection
    (objection,) = objections(runs, [Measure("ndcg@5", ALL_TYPES, parse("ndcg@5"))], ["ndcg@5"])
    assert "different evidence" in objection
