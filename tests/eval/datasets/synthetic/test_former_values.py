"""Questions for values that were: what suffices for them, and who tells changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from eval.datasets.synthetic.languages import LANGUAGES, parse_question
from eval.datasets.types import Question
from memsys.core.types import Memory
from tests.eval.datasets.synthetic.test_worlds import READER, made, memories, retrieval

PAST: dict[str, Any] = {"past": True, "hops": 1, "updates": 2, "sessions": 12}


def former(**parameters: Any) -> tuple[list[Question], dict[str, Memory]]:
    """The questions for former values of one conversation, and its turns."""
    dataset = made(**PAST, **parameters, conversations=1)
    found = [one for one in dataset.questions if one.type == "former_value"]
    assert found
    return found, memories(dataset)[dataset.conversations[0].id]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_telling_suffices_and_nothing_else_does(language):
    questions, known = former(language=language)
    for question in questions:
        assert question.gold is not None
        (turn,) = question.evidence
        assert READER.read(question.text, retrieval([known[turn]])).text == question.gold
        assert READER.read(question.text, retrieval([*known.values()])).text == question.gold
        others = [memory for id_, memory in known.items() if id_ != turn]
        assert READER.read(question.text, retrieval(others)).text != question.gold
        assert not [memory for memory in others if question.gold in memory.content]
        # What holds now is another value.
        found = parse_question(question.text)
        assert found is not None
        grammar, wanted = found
        now = grammar.ask(wanted.subject, wanted.chain)
        latest = READER.read(now, retrieval([*known.values()]))
        assert not latest.abstained
        assert latest.text != question.gold


def test_there_is_one_for_every_chain_and_none_unless_they_are_wanted():
    types = [question.type for question in made(**PAST).questions]
    assert types.count("former_value") == types.count("single_hop") > 5
    plain = made(**{**PAST, "past": False}).questions
    assert "former_value" not in {question.type for question in plain}


def tellers(**parameters: Any) -> list[set[str]]:
    """Who tells each fact that changes, of one conversation."""
    dataset = made(hops=1, updates=3, sessions=12, conversations=1, **parameters)
    (conversation,) = dataset.conversations
    told: dict[tuple[str, str], list[str]] = {}
    for session in conversation.sessions:
        for turn in session.turns:
            for fact in LANGUAGES["en"].read(turn.text, session.time.date()):
                told.setdefault((fact.subject, fact.relation), []).append(turn.speaker)
    return [set(names) for names in told.values() if len(names) > 1]


@pytest.mark.parametrize("past", [False, True])
def test_one_speaker_tells_a_fact_and_its_changes(past):
    assert {len(names) for names in tellers(tellers="one", past=past)} == {1}
    assert {len(names) for names in tellers(tellers="any", past=past)} == {1, 2}


def relation(text: str, day: int, until: str = "") -> Memory:
    memory = next(iter(memories(made())["world-0"].values()))
    ended = f" (until {until})" if until else ""
    return replace(memory, content=text + ended, time=datetime(2023, 5, day))


@pytest.mark.parametrize(
    ("language", "name", "old", "new"),
    [("en", "Velma Orr", "Dar Sule", "Lor Nen"), ("zh", "沈青禾", "林知远", "宋若云")],
)
def test_a_relation_that_ended_counts_for_the_days_before(language, name, old, new):
    grammar = LANGUAGES[language]
    word = grammar.names["cousin"]
    ended = relation(f"{name} {word} {old}", 2, "9 May 2023")
    holds = relation(f"{name} {word} {new}", 9)

    def read(day: int | None, *found: Memory) -> str | None:
        on = None if day is None else datetime(2023, 5, day).date()
        answer = READER.read(grammar.ask(name, ("cousin",), on), retrieval([*found]))
        return None if answer.abstained else answer.text

    assert read(5, ended, holds) == old
    assert read(9, ended, holds) == read(None, ended, holds) == new
    assert read(None, ended) is None
    assert read(1, ended, holds) is None
