"""Which official question each row answers: by id where it is given, else by the words.

Never by likeness: a question that is not word for word the same is another question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eval.answers.answers import Row
from eval.answers.conversations import Place, place_conversations
from eval.answers.pairing import pair
from eval.answers.words import normal
from eval.datasets.types import Dataset, Question

# Why a row is not scored.
NO_CONVERSATION = "no such conversation"
NO_QUESTION = "no such question in its conversation"
NO_INDEX = "no such qa_index in its conversation"
OTHER_QUESTION = "the question at its qa_index is another"
REPEATED = "its question is answered by an earlier row"
NOTHING = "neither a question nor a qa_index"


@dataclass(slots=True)
class Matching:
    """What became of the rows of one file.

    `answers`: question id -> row. `unmatched`: row and why. `ambiguous`: rows that share question,
    gold and category with another question, paired in order. `unchecked`: rows matched by index
    alone, since they do not say their question. `places`: conversations by the file's labels.
    """

    answers: dict[str, Row] = field(default_factory=dict)
    unmatched: list[tuple[Row, str]] = field(default_factory=list)
    ambiguous: int = 0
    unchecked: int = 0
    by_index: int = 0
    places: Mapping[str, Place] = field(default_factory=dict)


def match(rows: Sequence[Row], dataset: Dataset) -> Matching:
    """Match `rows` to the questions of `dataset`; a question gets one row at most."""
    places = place_conversations(rows, dataset)
    found = Matching(places=places)
    questions = {question.id: question for question in dataset.questions}
    left: dict[str, list[Row]] = defaultdict(list)
    refused: dict[int, str] = {}  # by id(row)
    for row in rows:
        conversation = places[row.conversation].conversation
        if conversation is None:
            refused[id(row)] = NO_CONVERSATION
        elif row.index is None:
            left[conversation].append(row)
        else:
            reason = _by_index(row, questions.get(f"{conversation}/{row.index}"), found)
            if reason is not None:
                refused[id(row)] = reason
    for conversation, asked in left.items():
        own = [q for q in dataset.questions if q.conversation == conversation]
        refused |= _by_words(asked, own, found)
    found.unmatched = [(row, refused[id(row)]) for row in rows if id(row) in refused]
    return found


def _by_index(row: Row, question: Question | None, found: Matching) -> str | None:
    """Give `question` this row, or say why not: an index is believed if the words agree."""
    if question is None:
        return NO_INDEX
    if row.question is not None and normal(row.question) != normal(question.text):
        return OTHER_QUESTION
    if question.id in found.answers:
        return REPEATED
    found.answers[question.id] = row
    found.by_index += 1
    found.unchecked += row.question is None
    return None


def _by_words(
    rows: Sequence[Row], questions: Sequence[Question], found: Matching
) -> dict[int, str]:
    """Match the rows of one conversation by the words of their questions.

    First those that are the same to the letter, then those that differ in blanks, case or quotes.
    """
    refused: dict[int, str] = {}
    asked: list[Row] = []
    for row in rows:
        if row.question is None:
            refused[id(row)] = NOTHING
        else:
            asked.append(row)
    for form in (str, normal):
        by_words: dict[str, list[Question]] = defaultdict(list)
        for question in questions:
            by_words[form(question.text)].append(question)
        groups: dict[str, list[Row]] = defaultdict(list)
        for row in asked:
            groups[form(row.question or "")].append(row)
        for words, group in groups.items():
            pairs, ambiguous = pair(group, by_words.get(words, []), found.answers)
            found.answers |= {question.id: row for row, question in pairs}
            found.ambiguous += ambiguous
        taken = {id(row) for row in found.answers.values()}
        asked = [row for row in asked if id(row) not in taken]
    known = {normal(question.text) for question in questions}
    for row in asked:
        refused[id(row)] = REPEATED if normal(row.question or "") in known else NO_QUESTION
    return refused
