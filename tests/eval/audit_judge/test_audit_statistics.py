"""Figures of outcomes that are chosen, and J corrected by them."""

from __future__ import annotations

import json

import pytest

from eval.audit_judge.__main__ import corrected_note, corrected_table, kinds_table, sentences
from eval.audit_judge.probes import Probe, ProbeOutcome, judge_probes
from eval.audit_judge.statistics import ENOUGH, as_json, audit, correct, judged_records
from eval.judges.judge import Judgement
from eval.metrics.stats.interval import Interval
from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from tests.eval.factory import record, run_of


def outcomes(kind: str, passed: int, n: int, type_: str = "temporal") -> list[ProbeOutcome]:
    """The first `passed` of n pass; conversations a and b by turns."""
    return [
        ProbeOutcome(
            Probe(kind, f"{type_}/{i}", "ab"[i % 2], type_, "q", "g", "x " * i),
            {"j": (i < passed,)},
        )
        for i in range(n)
    ]


PROBED = [
    *outcomes("gold", 95, 100),
    *outcomes("wrong_specific", 10, 100),
    *outcomes("wrong_vague", 60, 100),
]


def records(passed: int, n: int, type_: str = "temporal") -> list[dict]:
    return [
        {"type": type_, "conversation": "ab"[i % 2], "scores": {"judge": float(i < passed)}}
        for i in range(n)
    ]


def test_rates_are_of_wrong_verdicts_of_either_kind():
    found = audit(PROBED)
    shares = {one.kind: one.mistaken.share for one in found.kinds if one.mistaken}
    assert shares == {"gold": 0.05, "wrong_specific": 0.1, "wrong_vague": 0.6}
    assert found.false_rejects.share == 0.05
    # Answers grow with their number and the first ones pass: the shorter half holds them all.
    assert found.halves["wrong_specific"] == (0.2, 0.0)


def test_errors_are_counted_and_in_no_rate():
    failed = [ProbeOutcome(one.probe, {}, "no reply") for one in outcomes("gold", 0, 5)]
    found = audit([*PROBED, *failed])
    (gold,) = [one for one in found.kinds if one.kind == "gold"]
    assert (gold.errors, gold.mistaken.n, gold.mistaken.share) == (5, 100, 0.05)
    only = audit(failed)
    assert only.kinds[0].mistaken is None
    assert kinds_table(only).rows[0][2:4] == ["0", "5"]


def test_length_is_paired_by_question_and_runs_and_judges_by_probe():
    found = audit([*outcomes("gold", 100, 100), *outcomes("gold_long", 80, 100)])
    assert found.lengths["gold"].value == pytest.approx(-0.2)
    assert "-20.0 points" in " ".join(sentences(found))
    probe = outcomes("gold", 1, 1)[0].probe
    runs = [{"a": (True, True), "b": (True,)}, {"a": (False, False), "b": (False,)}] * 5
    found = audit([ProbeOutcome(probe, one) for one in runs])
    assert found.self_agreement["a"].value == 1
    assert "b" not in found.self_agreement
    assert found.panel.pairs["a", "b"].value == 1


def corrected(kind: str, type_: str, probed: list[ProbeOutcome]) -> Interval | None:
    """J of 60 of 100 records of a type, corrected by the rates of a kind."""
    return correct(records(60, 100, type_), "judge", probed)[0].corrected[kind]


def test_corrected_shares_are_rogan_gladens():
    found = correct(records(60, 100), "judge", PROBED)
    assert [one.type for one in found] == ["temporal", "overall"]
    specific = corrected("wrong_specific", "temporal", PROBED)
    assert specific.value == pytest.approx((0.6 - 0.1) / (0.95 - 0.1))
    assert specific.low < specific.value < specific.high
    # a judge who passes 60% of vague answers explains all of J
    assert corrected("wrong_vague", "temporal", PROBED).value == 0.0
    assert found[0].own_rates
    table = corrected_table(found, "J")
    assert table.header[2] == "J"
    assert table.rows[0][3].startswith("58.8%")


def test_a_type_with_few_probes_takes_the_rates_of_all():
    few = [*PROBED, *outcomes("wrong_specific", 0, ENOUGH - 1, "multi_hop")]
    accepts = 10 / (100 + ENOUGH - 1)
    alone = outcomes("wrong_specific", 10, 100)  # false rejects not probed count as none
    for type_, probed, wanted, note in (
        ("multi_hop", few, (0.6 - accepts) / (0.95 - accepts), "fewer than"),
        ("temporal", alone, (0.6 - 0.1) / 0.9, "not probed"),
    ):
        found = correct(records(60, 100, type_), "judge", probed)
        assert found[0].own_rates == (probed is alone)
        assert corrected("wrong_specific", type_, probed).value == pytest.approx(wanted)
        assert note in corrected_note(found, rejects_probed=probed is few)


def test_all_of_it_is_plain_json_and_a_run_without_verdicts_refused():
    alike = audit(outcomes("gold", 5, 5))  # nothing varies: kappas are undefined
    text = json.dumps(as_json(alike, correct(records(5, 5), "judge", PROBED)), allow_nan=False)
    assert json.loads(text)["corrected"][0]["type"] == "temporal"
    with pytest.raises(InputError, match="no record has a score judge"):
        judged_records(run_of([record()]), "judge")


def test_a_judge_without_a_verdict_is_an_error_of_its_probe():
    class Moody:
        name, score_key, compares, details = "moody", "judge", "gold", {}

        def judge(self, question: str, gold: str, answer: str) -> Judgement:
            if len(answer) > 4:
                raise LLMError("no reply")
            return Judgement({"moody": (True,)})

    probes = [one.probe for one in outcomes("gold", 0, 5)]
    for workers in (1, 4):
        found = judge_probes(Moody(), probes, workers)
        assert [one.error for one in found] == [None, None, None, "no reply", "no reply"]
        assert [one.probe for one in found] == probes
