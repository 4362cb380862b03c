"""Questions of a data set by id and by words, and rows of answers matched to them: by id if given,
else by the question's words, in the row's conversation if given, else in the whole data set.

Words match exactly up to case, blanks and quotes, never by similarity. A file may count the
questions of a conversation from 1, where data sets count from 0.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from eval.datasets.types import Dataset, Question

UNCLEAR = (
    "no row has the qa_index 0, but each conversation has 1: do they count from 1? subtract 1, or "
    "add the text of each question"
)

_ID = re.compile(r"(.+)/([0-9]{1,9})", re.DOTALL)
_MOST = 0.5  # share of conversations, or of questions
Place = tuple[str, int]  # conversation and index


def place_of(id_: str | None) -> Place | None:
    """Return conversation and index of an id `<conversation>/<index>`; None of another."""
    parts = None if id_ is None else _ID.fullmatch(id_)
    return None if parts is None else (parts[1], int(parts[2]))


def first_index(places: Iterable[Place], questions: Sequence[Question]) -> int | None:
    """Return the index of a conversation's first question in a file with `places`: 1 if none is 0
    and in most conversations one is just beyond the last question; None if 1 is possible, else 0.
    """
    asked = {place for question in questions if (place := place_of(question.id)) is not None}
    last: dict[str, int] = {}
    for conversation, index in asked:
        last[conversation] = max(index, last.get(conversation, 0))
    given: dict[str, set[int]] = defaultdict(set)
    for conversation, index in places:
        if conversation in last:
            given[conversation].add(index)
    beyond = [max(indices) - last[name] for name, indices in given.items()]
    if not given or max(beyond) > 1 or any(0 in indices for indices in given.values()):
        return 0
    if beyond.count(1) >= _MOST * len(beyond):
        return 1
    total = sum(conversation in given for conversation, _ in asked)
    many = sum(map(len, given.values())) >= _MOST * total
    begin = all(1 in indices and (name, 0) in asked for name, indices in given.items())
    return None if many and begin else 0


LONGEST = 2_000  # characters of a question or a gold answer, unless the data set has longer ones
_QUOTES = str.maketrans("’‘‛`´“”„«»", "'''''" + '"""""')


@lru_cache(maxsize=65_536)
def normalise(text: str) -> str:
    """Return `text` in lower case with straight quotes and single blanks between words."""
    return " ".join(text.translate(_QUOTES).casefold().split())


def golds(questions: Iterable[Question]) -> set[str]:
    """Return the texts that files give as gold; for type 5 that is the wrong answer which the
    question suggests.
    """
    texts = (text for q in questions for text in (q.original_gold, q.adversarial))
    return {normalise(text) for text in texts if text}


class QuestionIndex:
    """Questions of a data set by their words, by their ids, and by conversation."""

    def __init__(self, dataset: Dataset) -> None:
        self.conversations = {c.id: n for n, c in enumerate(dataset.conversations)}
        self.by_id = {question.id: question for question in dataset.questions}
        self.by_words: dict[str, list[Question]] = defaultdict(list)
        self.asked: dict[str, list[Question]] = defaultdict(list)
        for question in dataset.questions:
            self.by_words[normalise(question.text)].append(question)
            self.asked[question.conversation].append(question)
        self._longest = max((LONGEST, *(2 * len(words) for words in self.by_words)))
        # In some data sets, such as LongMemEval, the id of a question is that of its history.
        self.only = {name: asked[0] for name, asked in self.asked.items() if len(asked) == 1}

    def of_words(self, value: Any) -> list[Question]:
        """Return the questions with the words of `value`, none if it is no text."""
        if not isinstance(value, str) or len(value) > self._longest:
            return []
        return self.by_words.get(normalise(value), [])

    def of_id(self, value: Any, first: int = 0) -> Question | None:
        """Return the question with the id `value` in a file that counts from `first`, if any."""
        text = str(value).strip()
        place = place_of(text) if first else None
        if place is not None:
            text = f"{place[0]}/{place[1] - first}"
        return self.by_id.get(text) or self.only.get(text)


# Why a row is not scored.
NO_CONVERSATION = "no such conversation"
NO_QUESTION = "no such question in its conversation"
NOT_ASKED = "no such question in the data set"
NO_INDEX = "no such qa_index in its conversation"
OTHER_QUESTION = "the question at its qa_index is another"
REPEATED = "its question is answered by an earlier row"
NOTHING = "neither a question nor a qa_index"
NO_LABEL = "neither a question nor a conversation"
_POSITION = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer; a field is None if the file does not contain it or leaves it blank.

    `conversation` and `category` are the file's labels, not the data set's. `error`: set if the row
    says that answering failed. `judge`: 0 to 1. `verdicts`: of each run of a judge, by its name, if
    the file lists several. `reported`: scores in the file, by the names of our metrics.
    """

    place: str
    conversation: str | None
    index: int | None
    question: str | None
    answer: str
    error: str | None = None
    gold: str | None = None
    category: str | None = None
    judge: float | None = None
    verdicts: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)
    context_tokens: int | None = None
    search_seconds: float | None = None
    answer_seconds: float | None = None
    total_seconds: float | None = None
    reported: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MatchedLabel:
    """A file's label of a conversation.

    `conversation`: the id it means, None if none; `expected`: the id at the label's position in the
    data set.
    """

    conversation: str | None
    expected: str | None

    @property
    def moved(self) -> bool:
        """True if the questions belong to another conversation than the one at this position."""
        return self.expected is not None and self.conversation not in (None, self.expected)


@dataclass(slots=True)
class Matching:
    """The rows of one file, matched.

    `answers`: question id -> row, in the file's order. `unmatched`: row and reason. `ambiguous`:
    number of rows that share question, gold and category with another question and are paired in
    order. `unchecked`: number of rows matched by index alone, as they contain no question. `first`:
    the index of a conversation's first question in the file, 0 or 1; None if it may be 1 and is
    read as 0. `labels`: by file label.
    """

    answers: dict[str, AnswerRow] = field(default_factory=dict)
    unmatched: list[tuple[AnswerRow, str]] = field(default_factory=list)
    ambiguous: int = 0
    unchecked: int = 0
    by_index: int = 0
    first: int | None = 0
    labels: Mapping[str, MatchedLabel] = field(default_factory=dict)


def match(rows: Sequence[AnswerRow], dataset: Dataset) -> Matching:
    """Match `rows` to the questions of `dataset`; each question gets at most one row."""
    index = QuestionIndex(dataset)
    labels = _match_labels(rows, index)
    unchecked = (  # indices without a question to check them
        (labels[row.conversation].conversation or "", row.index)
        for row in rows
        if row.conversation is not None and row.index is not None and row.question is None
    )
    matching = Matching(labels=labels, first=first_index(unchecked, dataset.questions))
    without_index: dict[str | None, list[AnswerRow]] = defaultdict(list)
    refused: dict[int, str] = {}  # by id(row)
    for row in rows:
        if row.conversation is None:
            without_index[None].append(row)
            continue
        conversation = labels[row.conversation].conversation
        if conversation is None:
            refused[id(row)] = NO_CONVERSATION
            continue
        if row.index is None:
            without_index[conversation].append(row)
            continue
        question = index.by_id.get(f"{conversation}/{row.index - (matching.first or 0)}")
        if question is None:
            refused[id(row)] = NO_INDEX
        elif row.question is not None and normalise(row.question) != normalise(question.text):
            refused[id(row)] = OTHER_QUESTION
        elif question.id in matching.answers:
            refused[id(row)] = REPEATED
        else:
            matching.answers[question.id] = row
            matching.by_index += 1
            matching.unchecked += row.question is None
    anywhere = without_index.pop(None, [])  # after the rows that name their conversation
    for name, remaining in without_index.items():
        refused |= _by_words(remaining, index.asked[name or ""], matching, NOTHING, NO_QUESTION)
    refused |= _by_words(anywhere, dataset.questions, matching, NO_LABEL, NOT_ASKED)
    matching.unmatched = [(row, refused[id(row)]) for row in rows if id(row) in refused]
    place = {id(row): number for number, row in enumerate(rows)}
    in_order = sorted(matching.answers.items(), key=lambda pair: place[id(pair[1])])
    matching.answers = dict(in_order)
    return matching


def _match_labels(rows: Sequence[AnswerRow], index: QuestionIndex) -> dict[str, MatchedLabel]:
    """Match every conversation label in `rows`.

    A label that is a conversation's id means that conversation. Any other, such as a number, means
    the conversation that contains most of its rows' questions; among equal ones, the one at that
    position in the data set. A label with no known question means no conversation.
    """
    positions, ids = index.conversations, list(index.conversations)
    by_label: dict[str, list[AnswerRow]] = defaultdict(list)
    for row in rows:
        if row.conversation is not None:
            by_label[row.conversation].append(row)
    labels = {}
    for label, group in by_label.items():
        if label in positions:
            labels[label] = MatchedLabel(label, None)
            continue
        position = int(label) if _POSITION.fullmatch(label) else len(ids)
        expected = ids[position] if position < len(ids) else None
        asked = ({q.conversation for q in index.of_words(row.question)} for row in group)
        counts = Counter(name for names in asked for name in names)
        # Of equals, the expected one, then the first of the data set (none is in a pooled store).
        best = max(
            counts,
            key=lambda name: (counts[name], name == expected, -positions.get(name, 0)),
            default=None,
        )
        labels[label] = MatchedLabel(best, expected)
    return labels


def _by_words(
    rows: Sequence[AnswerRow],
    questions: Sequence[Question],
    matching: Matching,
    nothing: str,
    unknown: str,
) -> dict[int, str]:
    """Match the rows of one conversation, or of the data set, by question; return the reasons of
    refused rows by id(): `nothing` without a question, `unknown` with one that is not asked.

    Identical texts are matched first, then those that differ in blanks, case or quotes. A row whose
    gold answer or category fits one question only goes first; the others are paired in order, and
    counted as ambiguous. A row that fits only answered questions is refused.
    """
    remaining = {id(row): row for row in rows if row.question is not None}
    by_text: Mapping[str, list[Question]] = {}
    for form in (str, normalise):
        by_text = defaultdict(list)
        for question in questions:
            by_text[form(question.text)].append(question)
        fits = {key: _fitting(row, by_text[form(row.question)]) for key, row in remaining.items()}
        for several in (False, True):
            for key, fitting in fits.items():
                free = [question for question in fitting if question.id not in matching.answers]
                if free and key in remaining and (several or len(fitting) == 1):
                    matching.answers[free[0].id] = remaining.pop(key)
                    matching.ambiguous += len(fitting) > 1
    reasons = {id(row): nothing for row in rows if row.question is None}
    for key, row in remaining.items():
        reasons[key] = REPEATED if by_text[normalise(row.question)] else unknown
    return reasons


def _fitting(row: AnswerRow, questions: Sequence[Question]) -> list[Question]:
    """Return the questions that agree with the row's gold, then category; all if none do."""
    fitting = list(questions)
    if row.gold is not None:
        gold = normalise(row.gold)
        fitting = [q for q in fitting if gold in golds([q])] or fitting
    if row.category is not None and len(fitting) > 1:
        fitting = [q for q in fitting if row.category in (str(q.category), q.type)] or fitting
    return fitting
