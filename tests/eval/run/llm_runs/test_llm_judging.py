"""A panel without one of its verdicts, and what the judge does not see."""

from __future__ import annotations

from eval.analyse.diagnose.retrieval_vs_reading import Marking
from eval.pages.report.cards import side
from eval.pages.report.runs import load
from memsys.llm.prompt import PROMPTS
from tests.eval.run.llm_runs.served import role_of, text_of
from tests.memsys.llm import faults


def test_a_failed_member_of_a_panel_is_shown_and_does_not_lose_the_others(bench):
    words = {name: _words(name) for name in ("generous", "strict")}
    assert words["generous"] != words["strict"]
    bench.model.break_down(faults.says("no JSON"), "judge", words["generous"])
    bench.patient = False
    panel = ("judge=panel", "failures.stop_after=null", "failures.tolerated=0.1")
    assert bench.start(*panel).code == 1  # more answers without a verdict than are tolerated
    assert not any(record["judge"] for record in bench.run.records)
    (record, *_) = [one for one in bench.run.records if one["gold"] is not None]
    assert record["status"] == "ok"
    (reported,) = load([str(bench.run.folder)])
    shown = side("a run", record, Marking("locomo_f1", 0.5), reported.texts)
    (line,) = shown.judged
    assert line.startswith("no verdict: LLMError: gpt-4o-mini, generous: no verdict in 3 attempts")
    assert shown.scores
    asked = bench.server.requests
    bench.model.recover()
    bench.start(*panel, resume=True).ok()
    texts = [text_of(body) for body in bench.server.bodies]
    before, new = texts[:asked], texts[asked:]
    # Strict verdicts and answers are replayed.
    assert sorted(new) == sorted({text for text in before if words["generous"] in text})
    names = {"gpt-4o-mini, generous", "gpt-4o-mini, strict"}
    for record in bench.run.records:
        if record["gold"] is not None:
            assert set(record["judge"]) == set(record["judge_reasons"]) == names


def _words(rubric: str) -> str:
    """A line of a rubric that the other does not have."""
    texts = {
        name: (PROMPTS / f"judge_{name}.txt").read_text(encoding="utf-8").splitlines()
        for name in ("generous", "strict")
    }
    (other,) = set(texts) - {rubric}
    return next(line for line in texts[rubric] if len(line) > 30 and line not in texts[other])


def test_instructions_are_in_every_request_but_the_judge_s(bench):
    gate = ("strategy=hybrid_gate", "strategy.gate.similarity=0")  # so that the model is asked
    bench.start("instructions=Answer in German.", *gate).ok()
    by_role: dict[str, set[str]] = {"answer": set(), "gate": set(), "judge": set()}
    for body in bench.server.bodies:
        system = [one["content"] for one in body["messages"] if one["role"] == "system"]
        by_role[role_of(body)].add("".join(system))
    assert by_role["answer"] == by_role["gate"] == {"Answer in German."}
    assert not any("German" in text for text in by_role["judge"])
    assert by_role["judge"]
    assert bench.run.manifest["config"]["instructions"] == "Answer in German."
