"""The judge accepts what servers send, and its reasons, errors and formats are recorded."""

from __future__ import annotations

import json
from typing import Any

from eval.analyse.diagnose.retrieval_vs_reading import Marking
from eval.pages.report.cards import side
from memsys.llm.prompt import PROMPTS
from tests.eval.commands import Run
from tests.eval.run.llm_runs.served import JUDGED, Bench, role_of, text_of
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour

VERDICT = {"reason": "the same day", "verdict": "CORRECT"}
ORDER = ("json_schema", "json_object", "text")
JUDGE = "gpt-4o-mini, generous"


def serve(bench: Bench, accepted: str, reply: str) -> None:
    """Let the bench's server refuse stricter formats than `accepted`, and judge by `reply`."""

    def script(body: dict[str, Any]) -> Behaviour | None:
        form = body.get("response_format", {}).get("type", "text")
        if ORDER.index(form) < ORDER.index(accepted):
            return faults.status(400, f"response_format {form} is not supported")
        if "CORRECT or WRONG" in text_of(body):
            return faults.says(reply)
        return None

    bench.server.choose = script


def test_every_answer_is_judged_in_the_first_format_that_is_accepted(bench):
    reply = f"My verdict:\n\n```\n{json.dumps(VERDICT)}\n```\nI hope that helps."
    serve(bench, "text", reply)
    ended = bench.start()
    assert ended.code == 0, ended.err
    judged = [record for record in bench.run.records if record["judge"]]
    assert len(judged) == JUDGED
    for record in judged:
        assert record["judge"] == {JUDGE: [True]}
        assert record["judge_reasons"] == {JUDGE: ["the same day"]}
        assert record["judge_error"] is None
    assert bench.run.manifest["reply_formats"] == {JUDGE: "text"}
    refused = [body for body in bench.server.bodies if "response_format" in body]
    assert len(refused) == 2  # found out once
    replayed = bench.start(f"hydra.run.dir={bench.folder / 'again'}", "llm.cache=replay")
    assert replayed.code == 0, replayed.err
    assert Run(bench.folder / "again").untimed == bench.run.untimed


def test_a_failed_member_of_a_panel_is_shown_and_does_not_lose_the_others(bench):
    words = {name: _words(name) for name in ("generous", "strict")}
    assert words["generous"] != words["strict"]
    bench.model.break_down(faults.says("no JSON"), "judge", words["generous"])
    panel = ("judge=panel", "failures.tolerated=1", "failures.stop_after=null")
    assert bench.start(*panel).code == 0
    assert not any(record["judge"] for record in bench.run.records)
    (record, *_) = [one for one in bench.run.records if one["gold"] is not None]
    assert record["status"] == "ok"
    shown = side("a run", record, Marking("locomo_f1", 0.5), None)
    (line,) = shown.judged
    assert line.startswith("no verdict: LLMError: gpt-4o-mini, generous: no verdict in 3 attempts")
    assert shown.scores
    asked = bench.server.requests
    bench.model.recover()
    again = bench.start(*panel, resume=True)
    assert again.code == 0, again.err
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
    ended = bench.start("instructions=Answer in German.", *gate)
    assert ended.code == 0, ended.err
    by_role: dict[str, set[str]] = {"answer": set(), "gate": set(), "judge": set()}
    for body in bench.server.bodies:
        system = [one["content"] for one in body["messages"] if one["role"] == "system"]
        by_role[role_of(body)].add("".join(system))
    assert by_role["answer"] == by_role["gate"] == {"Answer in German."}
    assert not any("German" in text for text in by_role["judge"])
    assert by_role["judge"]
    assert bench.run.manifest["config"]["instructions"] == "Answer in German."
