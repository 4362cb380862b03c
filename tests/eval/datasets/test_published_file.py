"""The published LoCoMo file, counted, where it is at hand; and the shipped sample, whose questions
can be answered from their evidence, and hardly from anything else.
"""

import json
import random
from collections import Counter
from itertools import count, pairwise
from statistics import mean

import pytest

from eval.datasets.files import load_sources
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset, Question
from eval.metrics.published import locomo_f1
from eval.readers.extractive import ExtractiveReader
from memsys.core.types import Candidate, Memory, Retrieval, Turn
from memsys.knowledge.memory.turns import Turns
from tests.eval.datasets.conftest import LOCOMO, memories_of

ERRORS = LOCOMO.parent / "answer_key_errors.jsonl"


def test_it_is_the_file_of_sources_yaml_with_these_counts(locomo):
    (file,), source = locomo.files, load_sources()["locomo"]
    assert (file.name, file.bytes, file.sha256) == (source.file, source.bytes, source.sha256)
    sessions = [s for c in locomo.conversations for s in c.sessions]
    turns = [t for s in sessions for t in s.turns]
    assert (len(locomo.conversations), len(sessions), len(turns)) == (10, 272, 5882)
    types = {"multi_hop": 282, "temporal": 321, "open_domain": 96, "single_hop": 841}
    assert Counter(q.type for q in locomo.questions) == types | {"adversarial": 446}
    assert sum(t.caption is not None for t in turns) == 1226
    assert sum(len(s.observations) for s in sessions) == 2541
    assert all(len(c.speakers) == 2 for c in locomo.conversations)
    assert all(a.time < b.time for c in locomo.conversations for a, b in pairwise(c.sessions))


def test_gold_and_evidence(locomo):
    for question in locomo.questions:
        assert (question.gold is None) == (question.category == 5), question.id
        assert (question.adversarial is None) == (question.category != 5), question.id
    turns = {c.id: {t.id for s in c.sessions for t in s.turns} for c in locomo.conversations}
    assert all(set(q.evidence) <= turns[q.conversation] for q in locomo.questions)
    assert all(len(set(q.evidence)) == len(q.evidence) for q in locomo.questions)
    assert sum(len(q.evidence) for q in locomo.questions) == 2820
    assert Counter(q.type for q in locomo.questions if not q.evidence) == {"open_domain": 4}


def test_repairs(locomo):
    fields = Counter(
        next(f for f in ("observation", "evidence", "answer") if f in line.split(": ")[2])
        for line in locomo.repairs
    )
    assert fields == {"evidence": 10, "observation": 5, "answer": 2}
    assert sum("dropped: no such turn" in line for line in locomo.repairs) == 3
    by_id = {q.id: q for q in locomo.questions}
    assert by_id["conv-26/37"].evidence == ("D8:6", "D9:17")
    assert by_id["conv-43/18"].evidence[4] == "D11:26"
    assert by_id["conv-47/38"].evidence == ("D18:1", "D18:7")
    assert by_id["conv-50/69"].evidence == ("D30:5",)


def test_a_turn_is_its_words_and_its_caption_alone(locomo):
    raw = {sample["sample_id"]: sample for sample in json.loads(LOCOMO.read_text("utf-8"))}
    queries = 0
    for conversation in locomo.conversations:
        for session in conversation.sessions:
            rows = raw[conversation.id]["conversation"][session.id]
            queries += sum("query" in row for row in rows)
            for row, turn in zip(rows, session.turns, strict=True):
                caption = row.get("blip_caption")
                image = row.get("img_url", [None])[0]
                assert turn == Turn(row["dia_id"], row["speaker"], row["text"], caption, image)
    assert queries == 888  # image search words, none of which became part of a turn


WRONG = {"multi_hop": 28, "temporal": 26, "open_domain": 9, "single_hop": 36}


def test_known_errors_of_the_answer_key_by_type_and_without_them(locomo):
    wrong = set(locomo.key.wrong)
    assert Counter(q.type for q in locomo.questions if q.id in wrong) == WRONG
    assert [q for q in locomo.questions if q.key_change] == []
    left = LoCoMo(name="locomo", path=str(LOCOMO), key="excluded").load()
    assert tuple(q.id for q in left.questions if q.key_change) == locomo.key.wrong
    assert len(left.questions) == len(locomo.questions)


@pytest.mark.skipif(not ERRORS.is_file(), reason="the list of errors is not in $MEMSYS_SHARED")
def test_corrected_key(locomo):
    own = LoCoMo(name="locomo", path=str(LOCOMO), key="corrected", key_file=str(ERRORS)).load()
    changes = Counter(q.key_change.kind for q in own.questions if q.key_change)
    assert changes == {"corrected": 61, "excluded": 26}  # the other 12 stand
    assert [q.original_gold for q in own.questions] == [q.gold for q in locomo.questions]
    for q in own.questions:
        if q.key_change and q.gold is not None:
            assert "(" not in q.gold  # remarks of whoever corrected it are cut off
            assert q.gold == q.gold.strip()


TYPES = ("multi_hop", "temporal", "open_domain", "single_hop")
READER = ExtractiveReader()


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return LoCoMo(name="sample", path="data/sample").load()


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
def test_answers_need_the_evidence(name, sample):
    memories = memories_of(sample, Turns("turns"))
    rng = random.Random(0)  # noqa: S311 - of test data
    given, without = [], []
    for question in (q for q in sample.questions if q.type == name):
        turns = memories[question.conversation]
        given.append(_score(question, [turns[id_] for id_ in question.evidence]))
        others = [memory for id_, memory in turns.items() if id_ not in question.evidence]
        without += [_score(question, rng.sample(others, 10)) for _ in range(3)]
    assert mean(given) >= 0.6
    assert mean(without) < 0.15
