"""Which runs may be compared, on which scores and questions, and the verdicts on differences."""

import re
from typing import Any

import pytest

from eval.analyse.compare.comparable import objections
from eval.metrics.retrieval.registry import parse
from eval.metrics.stats.interval import Interval
from eval.metrics.stats.paired import holm, mcnemar
from eval.summary.contrast import Row, contrast, needed_difference, verdict
from eval.summary.measures import Measure, choose, share
from memsys.core.errors import InputError
from tests.eval import factory
from tests.eval.analyse.compare.made_runs import (
    ALL_TYPES,
    CONVERSATIONS,
    FILE,
    edit,
    judged,
    noisy,
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
    ("rows", "more", "expected"),
    [
        (None, {"data": [FILE | {"sha256": "6" * 64}]},
         "plain and graph answered different data .*666666"),
        # whatever the key is called
        (edit(records(), {"a/100": {"gold": "another"}}), {},
         r"different gold answers to 1 questions \(a/100\)"),
        (None, {"scoring": ["mem0", "locomo"]}, "locomo_f1 in plain and mem0_f1 in graph"),
    ],
)  # fmt: skip
def test_other_data_gold_answers_and_scoring_are_objections(rows, more, expected):
    (objection,) = against(rows=rows, **more)
    assert re.search(expected, objection)


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


def rows_of(measure: Measure, *runs: list[dict]) -> dict[str, Row]:
    compared = [run(f"run{i}", rows) for i, rows in enumerate(runs)]
    (found,) = contrast([(measure, share(compared, measure))], seed=0)
    return {row.type: row for row in found}


def test_a_row_for_each_type_with_n_and_means():
    found = rows_of(F1, records(), records(shift=0.1))
    assert tuple(found) == ALL_TYPES
    assert (found["temporal"].n, found["temporal"].clusters) == (80, 8)
    assert found["overall"].n == 320  # without type 5
    # .3 + .01 * 3.5 + .02 * 4.5
    assert [own.value for own in found["temporal"].means] == pytest.approx([0.425, 0.525])
    assert all(own.low < own.value < own.high for own in found["temporal"].means)


def test_a_clear_difference_is_better_and_its_mirror_worse():
    for by, expected in ((0.1, "better"), (-0.1, "worse")):
        found = rows_of(F1, records(), noisy(by, 0.05))["overall"].contrasts[0]
        assert found.verdict == expected
        assert found.difference.value == pytest.approx(by)
        assert found.effect == pytest.approx(20 * by, rel=0.01)  # .1 in .05
        assert found.p_holm < 0.05


def test_noise_without_a_difference_shows_none_and_says_what_it_takes():
    noise = rows_of(F1, records(), noisy(0.0, 0.2))["temporal"].contrasts[0]
    equal = rows_of(F1, records(), records())["overall"].contrasts[0]
    assert noise.verdict == equal.verdict == "no difference shown"
    assert noise.p_holm == equal.p_holm == 1.0
    assert noise.needed > 0.05
    assert (equal.difference.value, equal.needed) == (0.0, 0.0)


def test_p_is_adjusted_over_every_comparison_shown():
    runs = [run("x"), run("y", noisy(0.01, 0.2)), run("z", noisy(0.02, 0.2))]
    measures = [F1, Measure("abstained", ("adversarial", "overall"))]
    tables = contrast([(measure, share(runs, measure)) for measure in measures], seed=0)
    shown = [one for rows in tables for row in rows for one in row.contrasts]
    assert len(shown) == 2 * (6 + 2)
    assert [one.p_holm for one in shown] == pytest.approx(holm([one.p for one in shown]))
    assert any(one.p_holm > one.p for one in shown)


def test_mcnemar_stands_beside_scores_that_are_right_or_wrong_and_no_others():
    ids = [f"{c}/{400 + i}" for c in CONVERSATIONS for i in range(10)]
    first, second = judged(records(), *ids[:40]), judged(records(), *ids[30:60])
    found = rows_of(Measure("judge", ALL_TYPES), first, second)
    assert found["single_hop"].contrasts[0].p_mcnemar == mcnemar(30, 20)
    assert found["temporal"].contrasts[0].p_mcnemar == 1.0
    found = rows_of(F1, records(), records(shift=0.1))
    # Type 5 is right or wrong here, but the score is not one of two values.
    assert {row.contrasts[0].p_mcnemar for row in found.values()} == {None}


def test_abstaining_is_right_on_adversarial_and_wrong_elsewhere():
    refusing = records({5: 0.0})
    eager = [row | {"abstained": True} for row in refusing]
    found = rows_of(Measure("abstained", ("adversarial", "overall")), refusing, eager)
    contrasts = {name: row.contrasts[0] for name, row in found.items()}
    verdicts = {name: (one.difference.value, one.verdict) for name, one in contrasts.items()}
    assert verdicts == {"adversarial": (1.0, "better"), "overall": (1.0, "worse")}


def test_differences_are_those_of_the_means_to_the_first_run():
    short = noisy(0.1, 0.05)[25:]  # not all questions
    found = rows_of(F1, records(), short, noisy(0.2, 0.1))
    for row in found.values():
        first, *others = (own.value for own in row.means)
        differences = [one.difference.value for one in row.contrasts]
        assert differences == pytest.approx([own - first for own in others])
    overall = [one.difference.value for one in found["overall"].contrasts]
    assert overall == pytest.approx([0.1, 0.2], abs=0.01)


@pytest.mark.parametrize(
    ("low", "high", "p", "lower", "expected"),
    [
        (0.01, 0.05, 0.049, False, "better"),
        (0.01, 0.05, 0.05, False, "no difference shown"),
        (0.0, 0.05, 0.001, False, "no difference shown"),
        (-0.01, 0.05, 0.001, False, "no difference shown"),
        (-0.05, -0.01, 0.001, False, "worse"),
        (-0.05, -0.01, 0.001, True, "better"),
        (0.01, 0.05, 0.001, True, "worse"),
    ],
)
def test_a_verdict_needs_both_p_and_interval(low, high, p, lower, expected):
    between = Interval((low + high) / 2, low, high, 0.01, 100, 10)
    assert verdict(between, p, lower=lower) == expected


def test_what_is_needed_is_the_greater_of_both_conditions():
    assert needed_difference(0.05, 0.0, 1) == 0.05
    # 1.959964 + .841621 for one comparison; z of 1 - .025 / 10 is 2.807034
    assert needed_difference(0.0, 0.01, 1) == pytest.approx(0.02801585, rel=1e-6)
    assert needed_difference(0.0, 0.01, 10) == pytest.approx(0.03648655, rel=1e-6)
