"""What the generator promises: evidence, parameters, and questions for values that were."""

from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import pytest

from eval.datasets.locomo import LoCoMo
from eval.datasets.synthetic.dataset import Synthetic
from eval.datasets.synthetic.languages import LANGUAGES, VISIT, parse_question
from eval.datasets.types import Dataset, Question
from eval.readers.chain import ChainReader
from memsys.core.errors import InputError
from memsys.core.terms import language_of
from memsys.core.types import Candidate, Conversation, Memory, Retrieval, Turn
from memsys.knowledge.memory.turns import Turns
from tests.eval.datasets.conftest import memories_of

PARAMETERS: dict[str, Any] = {
    **{"conversations": 2, "sessions": 6, "turns": 16, "distractors": 0.5, "hops": 3, "updates": 1},
    **{"relative_dates": 0.5, "language": "en", "seed": 0},
}
WORLDS = [
    {"hops": hops, "updates": updates, "language": language}
    for hops, updates in ((1, 0), (1, 2), (2, 1), (3, 1), (4, 0))
    for language in ("en", "zh")
]
READER = ChainReader("chain")


def made(**parameters: Any) -> Dataset:
    """The data set of these parameters, generated once."""
    return _made(tuple({**PARAMETERS, **parameters}.items()))


@cache
def _made(parameters: tuple[tuple[str, Any], ...]) -> Dataset:
    return Synthetic(name="synthetic", **dict(parameters)).load()


def memories(dataset: Dataset) -> dict[str, dict[str, Memory]]:
    return memories_of(dataset, Turns("turns", lead=0))


def tellings(conversation: Conversation) -> dict[tuple[str, str], list[tuple[Turn, str]]]:
    """Turns and values, in order, by subject and relation."""
    by_fact: dict[tuple[str, str], list[tuple[Turn, str]]] = {}
    for session in conversation.sessions:
        for turn in session.turns:
            for fact in LANGUAGES["en"].read(turn.text, session.time.date()):
                by_fact.setdefault((fact.subject, fact.relation), []).append((turn, fact.value))
    return by_fact


def retrieval(found: list[Memory]) -> Retrieval:
    return Retrieval(tuple(Candidate(memory, 1.0) for memory in found), "", 0)


@pytest.mark.parametrize("parameters", WORLDS)
def test_evidence_is_necessary_and_sufficient_and_the_rest_tells_nothing(parameters):
    dataset = made(**parameters, conversations=1)
    (known,) = memories(dataset).values()
    for question in dataset.questions:
        everything = READER.read(question.text, retrieval([*known.values()]))
        assert everything.abstained is (question.gold is None)
        if question.gold is None:
            continue
        assert everything.text == question.gold
        evidence = [known[turn] for turn in question.evidence]
        assert READER.read(question.text, retrieval(evidence[::-1])).text == question.gold
        for left_out in evidence:
            rest = [one for one in evidence if one is not left_out]
            assert READER.read(question.text, retrieval(rest)).abstained
            # Nor is it told anywhere else: the whole rest of the conversation does not help.
            others = [memory for memory in known.values() if memory is not left_out]
            assert READER.read(question.text, retrieval(others)).text != question.gold
    assert {question.gold is None for question in dataset.questions} == {True, False}


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_a_question_takes_as_many_turns_as_it_has_hops(hops):
    asked = [q for q in made(hops=hops).questions if q.category == (4 if hops == 1 else 1)]
    assert asked
    assert {len(set(question.evidence)) for question in asked} == {hops}


@pytest.mark.parametrize("updates", [0, 1, 3])
def test_a_fact_is_told_once_more_for_each_update_and_the_last_telling_counts(updates):
    dataset = made(hops=1, updates=updates, conversations=1)
    (conversation,) = dataset.conversations
    by_fact = tellings(conversation)
    for question in dataset.questions:
        asked = LANGUAGES["en"].parse_question(question.text)
        assert asked is not None
        if question.category == 4:
            of_fact = by_fact[asked[0], asked[1][0]]
            assert len(of_fact) == 1 + updates
            turn, value = of_fact[-1]
            assert (turn.id, value) == (question.evidence[0], question.gold)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_distractors_are_their_share(share):
    dataset = made(distractors=share, sessions=10, hops=1, updates=0, conversations=1)
    evidence = {turn for question in dataset.questions for turn in question.evidence}
    assert len(evidence) == pytest.approx((1 - share) * 160, abs=1)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_relative_dates_are_their_share(share):
    dataset = made(relative_dates=share, hops=1, updates=0)
    known = memories(dataset)
    contents = [
        known[question.conversation][question.evidence[0]].content
        for question in dataset.questions
        if question.type == "temporal"
    ]
    assert len(contents) > 3
    assert {("20" in text) for text in contents} == {share == 0.0}


def test_the_seed_decides_and_conversations_differ_and_do_not_depend_on_their_number():
    one, same = (Synthetic(name="synthetic", **PARAMETERS).load() for _ in range(2))
    assert one == same
    assert one.files[0].sha256 == same.files[0].sha256 != made(seed=1).files[0].sha256
    first, second = (
        [turn.text for session in conversation.sessions for turn in session.turns]
        for conversation in one.conversations
    )
    assert first != second
    assert made(conversations=1).conversations == made(conversations=3).conversations[:1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_question_is_read_as_it_was_asked(language):
    grammar = LANGUAGES[language]
    name = "Velma Orr" if language == "en" else "沈青禾"
    for chain in (("cousin", "workplace", "town", "dish"), ("teacher",), (f"{VISIT}Port Sule",)):
        assert grammar.parse_question(grammar.ask(name, chain)) == (name, chain, None)
    assert grammar.parse_question("How are you?") is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hops": 5}, r"dataset\.hops: 5; use a whole number from 1 to 4"),
        ({"distractors": 1.5}, r"dataset\.distractors: 1\.5; use a number from 0 to 1"),
        ({"language": "fr"}, r"dataset\.language: 'fr'; use one of en, zh"),
        ({"distractors": 0.99}, "too few for a question of 6; raise sessions"),
        ({"past": True, "updates": 0}, r"dataset\.past: requires dataset\.updates of 1 to 5"),
        ({"past": True, "updates": 6, "turns": 60}, "one less than dataset.sessions; it is 6"),
        (
            {"tellers": "one", "distractors": 0.0, "updates": 30, "hops": 1, "turns": 10},
            "too few turns to state facts by one speaker",
        ),
    ],
)
def test_wrong_parameters_are_named(wrong, message):
    with pytest.raises(InputError, match=message):
        made(**wrong)


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
    groups = tellings(conversation).values()
    return [{turn.speaker for turn, _ in several} for several in groups if len(several) > 1]


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


def languages(dataset: Dataset) -> list[str]:
    return [
        language_of([turn.text for session in conversation.sessions for turn in session.turns])
        for conversation in dataset.conversations
    ]


def test_of_the_sample_of_generated_worlds_and_of_locomo(locomo):
    assert languages(LoCoMo(name="sample", path="data/sample").load()) == ["en", "en", "zh"]
    for code in ("en", "zh"):
        assert set(languages(made(language=code))) == {code}
    assert languages(locomo) == ["en"] * 10
