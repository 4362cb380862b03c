"""Match rows of answers to a data set's questions: by id if given, else by the question's words,
in the row's conversation if given, else in the whole data set.

Words match exactly up to case, blanks and quotes, never by similarity.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eval.answers.files import AnswerRow
from eval.answers.questions import QuestionIndex, first_index, golds, normalise
from eval.datasets.types import Dataset, Question

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
        asked = ({one.conversation for one in index.of_words(row.question)} for row in group)
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
    known: Mapping[str, list[Question]] = {}
    for form in (str, normalise):
        known = defaultdict(list)
        for question in questions:
            known[form(question.text)].append(question)
        fits = {key: _fitting(row, known[form(row.question)]) for key, row in remaining.items()}
        for several in (False, True):
            for key, fitting in fits.items():
                free = [question for question in fitting if question.id not in matching.answers]
                if free and key in remaining and (several or len(fitting) == 1):
                    matching.answers[free[0].id] = remaining.pop(key)
                    matching.ambiguous += len(fitting) > 1
    reasons = {id(row): nothing for row in rows if row.question is None}
    for key, row in remaining.items():
        reasons[key] = REPEATED if known[normalise(row.question)] else unknown
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
