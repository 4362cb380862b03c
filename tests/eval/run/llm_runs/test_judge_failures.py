"""A judge that fails takes no score away but its own, and is asked again alone."""

from __future__ import annotations

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import JUDGED, role_of, scores
from tests.memsys.llm import faults

OF_THE_JUDGE = {"scores", "judge", "judge_error", "judge_reasons", "usage"}


@pytest.mark.parametrize("workers", [1, 4])
def test_other_scores_remain_and_the_judge_alone_is_asked_again(
    make: Make, answered: Run, workers: int
) -> None:
    bench = make()
    bench.model.break_down(faults.status(503, "the judge is out"), role="judge")
    ended = bench.start("llm.retries=0", f"concurrency={workers}")
    assert ended.code == 0, ended.err
    assert f"{JUDGED} answers could not be judged" in ended.out
    assert "0 judged (18 errors)" in ended.out
    for record, right in zip(bench.run.untimed, answered.untimed, strict=True):
        assert record["status"] == "ok"
        assert {k: v for k, v in record.items() if k not in OF_THE_JUDGE} == {
            k: v for k, v in right.items() if k not in OF_THE_JUDGE
        }
        assert record["scores"] == {**right["scores"], "judge": None}
        assert (record["judge_error"] is None) == (right["judge"] is None)
    summary, right = bench.run.summary, answered.summary
    assert (summary["errors"], summary["errors_by_kind"]) == (0, {"judge: LLMError": JUDGED})
    overall = summary["by_type"]["overall"]
    assert (overall["judge_errors"], overall["judge"]) == (JUDGED, None)
    for column in ("f1", "bleu1", "evidence_recall", "context_tokens_mean", "cost_usd"):
        assert overall[column] == right["by_type"]["overall"][column]

    bench.model.recover()
    before = len(bench.server.bodies)
    ended = bench.start(f"concurrency={workers}", resume=True)
    assert ended.code == 0, ended.err
    assert {role_of(body) for body in bench.server.bodies[before:]} == {"judge"}
    assert bench.run.untimed == answered.untimed
    assert scores(bench.run) == scores(answered)


def test_a_run_fails_whose_judge_fails(make: Make) -> None:
    bench = make()
    bench.patient = False
    bench.model.break_down(faults.status(503, "the judge is out"), role="judge")
    ended = bench.start("llm.retries=0")
    assert ended.code == 1
    assert "stopped: 5 questions in a row failed alike, the last one beech/2 in judge" in ended.err
    assert bench.done() == 10  # ash/4 needs no judge, is answered and ends a row
