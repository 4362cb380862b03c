"""One question, one record."""

from __future__ import annotations

from datetime import datetime

import pytest

from eval.ask import ask
from eval.questions import Question
from eval.readers.base import Answer
from memsys.meter import Call, Meter
from memsys.types import Candidate, Memory, Origin, Query, Retrieval, Usage

SAID = datetime(2023, 5, 8)
QUESTION = Question("c/0", "c", 4, "single_hop", "Who?", "Ada", ("D1:1", "D1:2", "D1:3"))


def candidate(turns: tuple[str, ...], origin: Origin) -> Candidate:
    return Candidate(Memory(turns[0], "text", "text", SAID, "Ada", turns), 0.12345678, origin)


class Fixed:
    """Finds turn 2 both ways, by one call that was replayed; answers with fixed words."""

    name = "fixed"

    def __init__(self, meter: Meter, words: str = "Ada") -> None:
        self._meter, self._words = meter, words
        self.asked: list[Query] = []

    def ingest(self, _: object) -> int:
        return 0

    def retrieve(self, query: Query) -> Retrieval:
        self.asked.append(query)
        self._meter.note(Call(0.0, 500.0, True, Usage(1, 7, 0)))
        found = (candidate(("D1:1", "D1:2"), "direct"), candidate(("D1:2", "D1:3"), "expanded"))
        return Retrieval(found, "text", 1, {"gate": "word"})

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        return Answer(self._words, False, Usage(1, 20, 2))


def test_evidence_found_both_ways_counts_as_direct() -> None:
    fixed = Fixed(Meter())
    record, _ = ask(QUESTION, fixed, fixed, Meter(), SAID)
    assert record["evidence_found"] == {"direct": ["D1:1", "D1:2"], "expanded": ["D1:3"]}
    assert record["scores"]["evidence_recall"] == 1
    assert record["retrieved"][0] == ["D1:1", ["D1:1", "D1:2"], 0.123457, "direct"]
    assert record["trace"] == {"gate": "word"}


def test_a_replayed_call_counts_at_its_live_time_and_is_marked() -> None:
    meter = Meter()
    fixed = Fixed(meter)
    record, spent = ask(QUESTION, fixed, fixed, meter, SAID)
    assert record["latency_source"] == "recorded"
    assert record["latency_ms"]["retrieve"] >= 500
    assert record["latency_ms"]["total"] >= record["latency_ms"]["retrieve"]
    assert spent.retrieve_ms < 500  # what this process really took
    assert record["usage"]["retrieve"] == {"calls": 1, "input_tokens": 7, "output_tokens": 0}
    assert record["usage"]["answer"] == {"calls": 1, "input_tokens": 20, "output_tokens": 2}


def test_the_strategy_sees_the_question_and_nothing_of_its_answer() -> None:
    fixed = Fixed(Meter())
    ask(QUESTION, fixed, fixed, Meter(), SAID)
    assert fixed.asked == [Query("c/0", "Who?", "c", SAID)]


@pytest.mark.parametrize(("words", "abstained"), [("Ada", False), ("I don't know.", True)])
def test_an_answer_in_words_of_refusal_is_an_abstention(words: str, abstained: bool) -> None:
    fixed = Fixed(Meter(), words)
    record, _ = ask(QUESTION, fixed, fixed, Meter(), SAID)
    assert record["abstained"] is abstained
