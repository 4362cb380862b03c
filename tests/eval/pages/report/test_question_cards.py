import json
from typing import Any

import pytest

from eval.analyse.diagnose.retrieval_vs_reading import Marking
from eval.pages.report.__main__ import build_report
from eval.pages.report.cards import SHOWN, question_card, side, verdict
from eval.pages.report.runs import ReportedRun, load_texts
from eval.rendering.blocks import Side
from memsys.core.errors import InputError
from tests.eval.factory import hashed, run_of, write_rankings
from tests.eval.pages.report.conftest import HOSTILE, made, record, records, write_run

MARKING = Marking("locomo_f1", 0.5)


def _side(row: dict[str, Any]) -> Side:
    run = run_of([row], retrieval=None)
    return side(ReportedRun(run.label, run.folder, run.manifest, run.records, {}), row["id"])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (record("a/0", f1=0.5), "right"),
        (record("a/0", f1=0.49), "wrong"),
        (record("a/0", f1=0.9, scores={"locomo_f1": 0.9, "judge": 0.0}), "wrong"),
        (record("a/0", f1=0.1, scores={"locomo_f1": 0.1, "judge": 1.0}), "right"),
        (record("a/0", 5, 1.0, abstained=False), "wrong"),
        (record("a/0", 5, 0.0, abstained=True), "right"),
        (record("a/0", status="error", scores={}), "error"),
        (record("a/0", key={"kind": "excluded"}), "not scored"),
        (record("a/0", scores={"locomo_f1": None}), "not scored"),
        (record("a/0", answer=None, abstained=None, scores={}), "not scored"),
        (record("a/0", 5, answer=None, abstained=None, scores={}), "not scored"),
    ],
)
def test_verdicts(row, expected):
    assert verdict(row, MARKING) == expected


def test_judged_runs_count_by_their_verdicts(tmp_path, data):
    rows = records()
    for n, row in enumerate(rows):
        row["scores"]["judge"] = float(n % 2)
    (run,) = made(write_run(tmp_path / "judged", rows, "judged", data))
    assert run.judged
    assert verdict(run.records["ash/1"], run.marking) == "right"
    assert verdict(run.records["ash/2"], run.marking) == "wrong"


def test_a_card_marks_evidence_and_expansion():
    found = _side(record("ash/1", f1=0.25))
    assert [(one.id, one.evidence, one.via) for one in found.lines] == [
        ("D1:1", True, None),
        ("D2:1", False, "from D1:1 by e:said"),
    ]
    assert [one.id for one in found.missed] == ["D1:3"]
    assert found.scores == [("locomo_f1", 0.25), ("evidence_recall", 0.5)]
    assert found.hidden == 0


def test_a_long_context_keeps_its_evidence_and_unknown_values_stay_unknown():
    rows = [[f"D9:{n}", [f"D9:{n}"], 0.1, "direct"] for n in range(600)]
    found = _side(record("ash/1", retrieved=[*rows, ["D1:3", ["D1:3"], 0.0, "direct"]]))
    assert (len(found.lines), found.lines[-1].id) == (SHOWN + 1, "D1:3")
    assert found.hidden == 600 - SHOWN
    assert [one.id for one in found.missed] == ["D1:1"]
    unknown = _side(record("ash/1", retrieved=None, evidence_found=None, trace={}))
    assert (unknown.lines, unknown.missed) == (None, [])
    broken = {"phase": "answer", "kind": "Timeout", "message": "late"}
    failed = _side(record("ash/1", status="error", error=broken, answer=None, retrieved=None))
    assert (failed.error, failed.scores) == ("answer: Timeout: late", [])


def test_words_come_from_the_data_set(first):
    texts = made(first)[0].texts
    known, unknown = (f"Ada: said D2:1 beech {HOSTILE}", "2 May 2023, 13:56"), (None, None)
    for asked, wanted in (
        (("D2:1", ["D2:1"]), known),
        (("D2:1", ["D2:1", "D2:2"]), unknown),  # cut otherwise
        (("D9:1", ["D9:1"]), unknown),
    ):
        assert texts.memory("beech", *asked) == wanted
    assert texts.turn("beech", "D2:1") == known
    assert texts.turn("oak", "D1:1") == unknown
    # Memories that only a model could cut again leave the turns.
    manifest = json.loads((first / "manifest.json").read_text())
    manifest["config"]["memory"] = {"_target_": "memsys.knowledge.memory.facts.Facts", "llm": {}}
    texts = load_texts(manifest)
    assert texts.memory("ash", "D1:1", ["D1:1"]) == unknown != texts.turn("ash", "D1:1")


def test_a_manifest_cannot_have_anything_called_and_missing_texts_have_a_reason(first, data):
    manifest = json.loads((first / "manifest.json").read_text())
    manifest["config"]["dataset"]["_target_"] = "os.system"
    with pytest.raises(InputError, match="manifest"):
        load_texts(manifest)
    data.unlink()
    (run,) = made(first)
    assert run.texts.turn("ash", "D1:1") == (None, None)
    assert "no such file" in run.without_texts


def test_each_run_has_memories_of_its_own(first, data, tmp_path):
    rows = records(retrieved=[["D1:2", ["D1:1", "D1:2"], 0.5, "direct"]])
    second = write_run(tmp_path / "windows", rows, "windows", data)
    manifest = json.loads((second / "manifest.json").read_text())
    manifest["config"]["memory"]["before"] = 1
    (second / "manifest.json").write_text(json.dumps(hashed(manifest)))
    found = question_card("ash/1", made(first, second))
    words = [one.lines[0].text or "" for one in found.sides if one.lines]
    assert [text.count("said") for text in words] == [1, 2]


def test_verdicts_have_their_reasons_and_errors_beside_the_scores(first, tmp_path, data):
    judged = {"judge": {"a": [True, False], "b": [False]}, "judge_reasons": {"a": ["same", ""]}}
    expected = ["a, run 1: right: same", "a, run 2: wrong", "b: wrong"]
    assert _side(record("ash/1", **judged)).judged == expected
    failure = {"phase": "judge", "kind": "LLMError", "message": "late"}
    unjudged = _side(record("ash/1", f1=0.25, judge_error=failure))
    assert unjudged.judged == ["no verdict: LLMError: late"]
    assert ("locomo_f1", 0.25) in unjudged.scores
    assert _side(record("ash/1")).judged == []
    rows = records(0.1, judge={"a": [True]}, judge_reasons={"a": [f"since {HOSTILE}"]})
    report = build_report(made(first, write_run(tmp_path / "judged", rows, "judged", data)))
    assert "a: right: since &lt;/td&gt;" in report.html()
    assert "a: right: since" in report.markdown()


def test_a_card_has_the_rank_of_each_evidence_turn_that_was_ranked(first):
    turns = ["D1:1", "D9:1", "D9:2", "D1:3"]
    write_rankings(first, {"ash/1": turns, "ash/2": turns[:2]}, depth=4)
    (run,) = made(first)
    sides = {id_: question_card(id_, [run]).sides[0] for id_ in ("ash/1", "ash/2", "ash/3")}
    assert sides["ash/1"].ranks == "Evidence turns in the ranking: D1:1 at 1, D1:3 at 4"
    # ash/2: a ranking shorter than the depth contains the whole store.
    assert sides["ash/2"].ranks == "Evidence turns in the ranking: D1:1 at 1, D1:3 not ranked"
    assert sides["ash/3"].ranks == ""  # no ranking is recorded
    write_rankings(first, {"ash/1": turns[:3]}, depth=3)
    (run,) = made(first)
    assert question_card("ash/1", [run]).sides[0].ranks.endswith("D1:3 not within 3")
    write_rankings(first, {"ash/1": ["D9:1", "D1:1"]}, selected=True)
    (run,) = made(first)
    assert question_card("ash/1", [run]).sides[0].ranks == (
        "Evidence turns, of 2 without an order: D1:1 selected, D1:3 not selected"
    )


def test_ranks_of_sessions_where_only_sessions_are_ranked(first):
    write_rankings(first, {"ash/1": ["D2", "D1"]}, depth=2, unit="session")
    rows = [row | {"retrieved": None} for row in records()]
    (first / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run,) = made(first)
    found = question_card("ash/1", [run]).sides[0]
    assert found.ranks == "Evidence sessions in the ranking: D1 at 2"
    assert [(one.id, one.turns, one.evidence) for one in found.lines] == [
        ("D2", ["D2"], False),
        ("D1", ["D1:1", "D1:3"], True),
    ]
    assert found.missed == []
    assert found.counts == "2 ranks, 1 with evidence"
