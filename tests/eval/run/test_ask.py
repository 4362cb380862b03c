"""One question, one record."""

import json
from dataclasses import replace
from datetime import datetime

import pytest

from eval.datasets.types import Question
from eval.judges.judge import Judge, Judgement
from eval.readers import Answer, Reader
from eval.records.schema import Record
from eval.run.question import Agent, Asked, Outcome, ask
from memsys.core.types import Candidate, Memory, Origin, Query, Retrieval, Session, Usage
from memsys.llm.base import LLMError
from memsys.llm.meter import Call, Meter
from memsys.strategies.strategy import MemoryStrategy

SAID = datetime(2023, 5, 8)
QUESTION = Question("c/0", "c", 4, "single_hop", "Who?", "Ada", ("D1:1", "D1:2", "D1:3"))


def candidate(turns: tuple[str, ...], origin: Origin) -> Candidate:
    return Candidate(Memory(turns[0], "text", "text", SAID, "Ada", turns), 0.12345678, origin)


class Fixed(MemoryStrategy, Reader):
    """Finds turn 2 both ways, by one call that was replayed; answers with fixed words."""

    name = "fixed"

    def __init__(self) -> None:
        self.meter = Meter()
        self.asked: list[Query] = []

    def ingest(self, _: Session) -> int:
        return 0

    def retrieve(self, query: Query) -> Retrieval:
        self.asked.append(query)
        self.meter.note(Call(0.0, 500.0, True, Usage(1, 7, 0)))
        found = (candidate(("D1:1", "D1:2"), "direct"), candidate(("D1:2", "D1:3"), "expanded"))
        return Retrieval(found, "text", 1, {"gate": "word"})

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        self.meter.note(Call(0.0, 1.0, False, Usage(1, 20, 2), model="some-model"))
        return Answer("Ada", False)


def asked(fixed: Fixed, question: Question = QUESTION, judge: Judge | None = None) -> Asked:
    agent = Agent(fixed, fixed, judge, fixed.meter, {"c": SAID})
    return ask(question, agent, lambda outcome: replace(outcome, context_sha256="the hash"))()


def recorded(fixed: Fixed, question: Question = QUESTION, judge: Judge | None = None) -> Record:
    return json.loads(asked(fixed, question, judge).line)


def test_evidence_found_both_ways_counts_as_direct():
    record = recorded(Fixed())
    assert record["evidence_found"] == {"direct": ["D1:1", "D1:2"], "expanded": ["D1:3"]}
    assert record["scores"]["evidence_recall"] == 1
    assert record["retrieved"][0] == ["D1:1", ["D1:1", "D1:2"], 0.123457, "direct"]
    assert record["trace"] == {"gate": "word"}


def test_a_question_that_has_a_time_is_asked_then_and_a_reader_that_heeds_time_is_told():
    questions, later = [], datetime(2023, 6, 1, 9, 5)

    class Dated(Fixed):
        dated = True

        def read(self, question: str, retrieval: Retrieval) -> Answer:
            questions.append(question)
            return super().read(question, retrieval)

    dated = Dated()
    without = recorded(dated)
    record = recorded(dated, replace(QUESTION, asked_at=later))
    assert [query.time for query in dated.asked] == [SAID, later]
    assert "asked_at" not in without
    assert record["asked_at"] == "2023-06-01T09:05:00"
    assert questions == ["Who?", "Who? (asked on 1 June 2023, 09:05)"]
    assert record["question"] == "Who?"


def test_a_replayed_call_counts_at_its_live_time_and_is_marked():
    fixed = Fixed()
    found = asked(fixed)
    record = json.loads(found.line)
    assert record["latency_source"] == "recorded"
    assert record["latency_ms"]["retrieve"] >= 500
    assert record["latency_ms"]["total"] >= record["latency_ms"]["retrieve"]
    assert found.outcome.readings["retrieve"].wall_ms < record["latency_ms"]["retrieve"]
    assert record["usage"]["retrieve"] == {"calls": 1, "input_tokens": 7, "output_tokens": 0}
    used = {"calls": 1, "input_tokens": 20, "output_tokens": 2}
    assert record["usage"]["answer"] == {**used, "by_model": {"some-model": used}}
    assert fixed.asked == [Query("c/0", "Who?", "c", SAID)]  # nothing of the gold answer


def test_an_answer_in_words_of_refusal_is_an_abstention():
    class Unsure(Fixed):
        def read(self, question: str, retrieval: Retrieval) -> Answer:
            return Answer("I don't know.", False)

    assert [recorded(one)["abstained"] for one in (Fixed(), Unsure())] == [False, True]


class Judging:
    """Passes what is the gold; fails where it is told to."""

    name, score_key, compares = "judging", "judge", "gold"

    def __init__(self, meter: Meter, *, fails: bool = False) -> None:
        self._meter, self._fails = meter, fails
        self.details = {"runs": 2}

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        self._meter.note(Call(0.0, 300.0, False, Usage(1, 50, 5)))
        if self._fails:
            raise LLMError("no verdict")
        return Judgement({"judging": (answer == gold, False)})


def test_a_judge_costs_the_system_nothing():
    fixed = Fixed()
    record = recorded(fixed, judge=Judging(fixed.meter))
    assert record["scores"]["judge"] == 0.5
    assert record["judge"] == {"judging": [True, False]}
    assert record["usage"]["judge"] == {"calls": 1, "input_tokens": 50, "output_tokens": 5}
    times = record["latency_ms"]
    assert times["judge"] >= 300
    assert times["total"] == pytest.approx(times["retrieve"] + times["answer"], abs=2e-4)


def test_a_failed_judge_takes_nothing_but_its_verdict_away():
    fixed = Fixed()
    failed = asked(fixed, judge=Judging(fixed.meter, fails=True))
    record = json.loads(failed.line)
    assert (failed.outcome.failure, failed.outcome.judge_failure.phase) == (None, "judge")
    assert (record["status"], record["error"], record["judge"]) == ("ok", None, None)
    assert record["judge_error"] == {"phase": "judge", "kind": "LLMError", "message": "no verdict"}
    other = recorded(fixed)
    assert (record["answer"], record["scores"]) == ("Ada", other["scores"])
    assert (record["scores"]["locomo_f1"], record["scores"]["judge"]) == (1, None)
    assert record["usage"]["answer"]["input_tokens"] == 20
    assert record["usage"]["judge"]["input_tokens"] == 50


def test_a_context_that_is_no_text_is_a_failure():
    def refuse(outcome: Outcome) -> Outcome:
        outcome.retrieval.context.encode()
        raise AssertionError("not reached")

    class Torn(Fixed):
        def retrieve(self, query: Query) -> Retrieval:
            return replace(super().retrieve(query), context="\ud800")

    torn = Torn()
    found = ask(QUESTION, Agent(torn, torn, None, torn.meter, {"c": SAID}), refuse)()
    failure = found.outcome.failure
    assert (failure.phase, failure.kind) == ("record", "UnicodeEncodeError")
    assert json.loads(found.line)["context_sha256"] is None
