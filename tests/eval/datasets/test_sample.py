"""The sample's questions can be answered from their evidence, and hardly from anything else."""

from __future__ import annotations

import random
from collections import Counter
from itertools import count
from statistics import mean

import pytest

from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset, Question
from eval.metrics.published import locomo_f1
from eval.readers.extractive import ExtractiveReader
from memsys.core.types import Candidate, Memory, Retrieval
from memsys.knowledge.memory.turns import Turns

TYPES = ("multi_hop", "temporal", "open_domain", "single_hop")
READER = ExtractiveReader()


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return LoCoMo(name="sample", path="data/sample").load()


@pytest.fixture(scope="module")
def memories(sample: Dataset) -> dict[str, dict[str, Memory]]:
    turns = Turns("turns")
    return {
        talk.id: {m.id: m for session in talk.sessions for m in turns.build(session)}
        for talk in sample.conversations
    }


def _score(question: Question, memories: list[Memory]) -> float:
    ranked = tuple(Candidate(memory, 1 / rank) for rank, memory in zip(count(1), memories))
    answer = READER.read(question.text, Retrieval(ranked, context="", context_tokens=0))
    return locomo_f1(answer.text, question.gold, question.category)


def test_every_type_has_enough_questions_and_every_conversation_has_all_types(sample):
    types = Counter(question.type for question in sample.questions)
    assert all(types[name] >= 20 for name in TYPES)
    found = {(question.conversation, question.type) for question in sample.questions}
    assert found >= {(talk.id, name) for talk in sample.conversations for name in TYPES}
    texts = [(question.conversation, question.text) for question in sample.questions]
    assert len(texts) == len(set(texts))


def test_the_hard_sample_has_the_same_conversations_and_other_questions(sample):
    hard = LoCoMo(name="sample_hard", path="data/sample_hard").load()
    assert hard.conversations == sample.conversations
    assert {q.text for q in hard.questions} - {q.text for q in sample.questions}


@pytest.mark.parametrize("name", TYPES)
def test_answers_need_the_evidence(name, sample, memories):
    rng = random.Random(0)  # noqa: S311 - of test data
    given, without = [], []
    for question in (q for q in sample.questions if q.type == name):
        turns = memories[question.conversation]
        given.append(_score(question, [turns[id_] for id_ in question.evidence]))
        others = [memory for id_, memory in turns.items() if id_ not in question.evidence]
        without += [_score(question, rng.sample(others, 10)) for _ in range(3)]
    assert mean(given) >= 0.6
    assert mean(without) < 0.15
