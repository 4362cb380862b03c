"""Rankings that another system made, matched to the questions, turns and sessions of a data set.

Ids match exactly, the words of questions up to case, blanks and quotes; nothing is guessed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from eval.answers.match import UNCLEAR, QuestionIndex, first_index, normalise, place_of
from eval.answers.ranking_files import RankingRow
from eval.datasets.pooled import pool
from eval.datasets.types import Dataset, Question
from eval.metrics.retrieval.registry import Unit
from eval.records.rankings import manifest_fields, session_of
from memsys.core.errors import InputError, check_whole
from memsys.core.types import Conversation

# Why a row is not scored.
NO_QUESTION = "no such question"
OTHER_QUESTION = "the question of this id is another"
DOUBLED = "a second ranking of its question"
SEVERAL = "a question of several conversations; name one by question_id or sample_id"
_FOUND = 0.95  # share of rows that are the ranking of a question
Rows = Sequence[tuple[RankingRow, str]]  # with a reason, or the id of a question


class Named(NamedTuple):
    """What an id means: a turn or session, by the id that rankings of its conversation use."""

    conversation: str
    unit: Unit
    id: str


class Ranking(NamedTuple):
    """The matched ranking of one question: ids as the data set names them, best first, with their
    scores; each is None where there is none.
    """

    row: RankingRow
    ranked: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True)
class Import:
    """Rankings of the system `name`, matched to a data set.

    `dataset`: pooled if the rankings are of the pooled store. `given_depth`: the depth that the
    user states, or None. `rankings`: by question id, in the data set's order, all of one `unit`.
    `unknown`: rows that match no question, with the reason. `doubled`: rows whose question, given
    by its id, has a ranking already. `first`: the index of a conversation's first question in the
    file, 0 or 1. `strangers`: the number of ids that are of another conversation than the question.
    """

    name: str
    rows: Sequence[RankingRow]
    dataset: Dataset
    given_depth: int | None
    rankings: Mapping[str, Ranking]
    unit: Unit
    unknown: Rows
    doubled: Rows
    first: int
    strangers: int

    @property
    def pooled(self) -> bool:
        """Whether one store of all conversations was ranked, whose ids contain the conversation."""
        return self.strangers > 0

    @cached_property
    def sizes(self) -> dict[str, dict[str, int]]:
        """Numbers of turns and sessions by store, as in the manifest."""
        return dict(manifest_fields(None, self.dataset.conversations)["stores"])

    @cached_property
    def stores(self) -> dict[str, str]:
        """The store of each question."""
        return {question.id: question.searched for question in self.dataset.questions}

    @cached_property
    def cut(self) -> list[tuple[str, Ranking]]:
        """Rankings that something may follow, by question id: not empty, nor the whole store."""
        return [
            (id_, ranking)
            for id_, ranking in self.rankings.items()
            if 0 < len(ranking.ranked) < self.sizes[self.stores[id_]][f"{self.unit}s"]
        ]

    @property
    def depth(self) -> int | None:
        """Number of ids that each ranking has unless nothing follows it; None if nothing follows
        any. It is the length of the shortest one in `cut`, unless the user states another.
        """
        shortest = min((len(ranking.ranked) for _, ranking in self.cut), default=None)
        return shortest if self.given_depth is None else self.given_depth


def matched(
    rows: Sequence[RankingRow],
    name: str,
    dataset: Dataset,
    where: str,
    depth: int | None = None,
    *,
    partial: bool = False,
) -> Import:
    """Match the rows of the file `where` to the questions of `dataset`, and their ids to its turns;
    `name` is the system's name in tables. The first ranking of a question counts.

    `depth`: the number of ids at which rankings were cut, so that shorter ones are complete; None
    if that is not known. `partial`: accept few rows that match. Raises InputError if fewer than 95%
    of the rows are a question's ranking, if indices may count from 1, if an id is no turn and no
    session or is repeated, if both are ranked, or if `depth` contradicts the rankings.
    """
    if depth is not None:
        check_whole("depth", depth)
    places = (place for row in rows if (place := place_of(row.id)) and row.text in (None, row.id))
    first = first_index(places, dataset.questions)
    if first is None and not partial:
        raise InputError(f"{where}: {UNCLEAR}")
    pairs, unknown, doubled = _questions(rows, dataset, first or 0)
    if not pairs:
        row, reason = unknown[0]
        raise InputError(
            f"{where}: none of the {len(rows):,} rankings is of a question of {dataset.name} (the "
            f"first: {row.place}: {reason}); correct --dataset or the question ids"
        )
    count = len(rows) - len(unknown) - len(doubled)
    if count < _FOUND * len(rows) and not partial:
        row, reason = [*unknown, *((row, DOUBLED) for row, _ in doubled)][0]
        raise InputError(
            f"{where}: only {count:,} of {len(rows):,} rankings are of a question of "
            f"{dataset.name} (not {row.place}: {reason}), and {_FOUND:.0%} are needed; correct "
            "--dataset or the question ids, or add --partial to score the rest"
        )
    published = dataset.published_sessions
    ids = {c.id: _names(c, published.get(c.id, {})) for c in dataset.conversations}
    matches = [(row, question, [*_named(row, question, ids, where)]) for question, row in pairs]
    placed = [(row, m) for row, _, named in matches for m in named]
    if not placed:
        raise InputError(f"{where}: all rankings are empty; nothing can be scored")
    unit = _one_unit(placed, where)
    strangers = sum(
        m.conversation != question.conversation for _, question, named in matches for m in named
    )
    rankings = {
        question.id: _ranking(row, named, where, pooled=strangers > 0)
        for row, question, named in matches
    }
    longest = max(rankings.values(), key=lambda ranking: len(ranking.ranked))
    if depth is not None and len(longest.ranked) > depth:
        raise InputError(
            f"{where}: --depth {depth}: {longest.row.place}: has {len(longest.ranked)} ids, so "
            "that rankings were not cut there; use the number at which they were, or leave out "
            "--depth"
        )
    searched = pool(dataset) if strangers else dataset
    return Import(
        *(name, rows, searched, depth, rankings, unit, unknown, doubled, first or 0, strangers)
    )


def _questions_of(
    row: RankingRow, index: QuestionIndex, first: int
) -> tuple[Sequence[Question], str]:
    """Return the questions that `row` means, and why there are none. They are several if one
    conversation contains the same words more than once.
    """
    for id_ in (row.id, row.text):
        if id_ is not None and (question := index.of_id(id_, first)):
            words = None if id_ is row.text or row.text == row.id else row.text
            if words is not None and normalise(words) != normalise(question.text):
                return [], OTHER_QUESTION
            return [question], ""
    questions = index.of_words(row.text)
    if row.conversation is not None:
        questions = [q for q in questions if q.conversation == row.conversation]
    if len({question.conversation for question in questions}) > 1:
        return [], SEVERAL
    return questions, NO_QUESTION


def _questions(
    rows: Sequence[RankingRow], dataset: Dataset, first: int
) -> tuple[list[tuple[Question, RankingRow]], Rows, Rows]:
    """Return each question that has a row, with it, and the rows that are `unknown` and `doubled`.

    Rows of the same words are of the questions with these words in their order, and the last one of
    all that remain.
    """
    index = QuestionIndex(dataset)
    by_id: dict[str, RankingRow] = {}
    groups: dict[str, Sequence[Question]] = {}
    unknown, doubled = [], []
    for row in rows:
        questions, reason = _questions_of(row, index, first)
        free = [question for question in questions if question.id not in by_id]
        if not questions:
            unknown.append((row, reason))
        elif not free:
            doubled.append((row, questions[0].id))
        else:
            by_id[free[0].id] = row
            groups[free[0].id] = free[1:]
    for id_, others in groups.items():
        for question in others:
            by_id.setdefault(question.id, by_id[id_])
    pairs = [(q, by_id[q.id]) for q in dataset.questions if q.id in by_id]
    return pairs, unknown, doubled


def _names(conversation: Conversation, published: Mapping[str, str]) -> dict[str, Named]:
    """Return what ids without a conversation mean; turns go before sessions of the same id, and ids
    of the data set before `published` ones, of which the mapping has the data set's.
    """
    turns = [turn.id for session in conversation.sessions for turn in session.turns]
    meanings = {id_: Named(conversation.id, "turn", id_) for id_ in turns}
    for session in conversation.sessions:
        ids = {session_of(turn.id) for turn in session.turns}
        if len(ids) == 1 and (id_ := ids.pop()):
            for form in (id_, session.id):
                meanings.setdefault(form, Named(conversation.id, "session", id_))
    former = {new: old for old, new in published.items()}
    for id_, named in [*meanings.items()]:
        name, colon, number = id_.rpartition(":") if named.unit == "turn" else (id_, "", "")
        if name in former:
            meanings.setdefault(f"{former[name]}{colon}{number}", named)
    return meanings


def _named(
    row: RankingRow, question: Question, names: Mapping[str, Mapping[str, Named]], name: str
) -> Iterator[Named]:
    """Yield what the ids of a ranking mean, with and without their conversation before a colon."""
    own = names[question.conversation]
    for id_, _ in row.ranking:
        colons = [at for at, mark in enumerate(id_) if mark == ":"]
        others = (names.get(id_[:at], {}).get(id_[at + 1 :]) for at in colons)
        named = own.get(id_) or next(filter(None, others), None)
        if named is None:
            raise InputError(
                f"{name}: {row.place}: {id_!r:.60} is no turn or session of "
                f"{question.conversation}, the conversation of {question.id}; write ids as "
                f"{next(iter(own))!r:.60}"
            )
        yield named


def _one_unit(placed: Sequence[tuple[RankingRow, Named]], name: str) -> Unit:
    """Return whether all ids are of turns or all of sessions; InputError for a mixture."""
    first = {named.unit: (row.place, named.id) for row, named in reversed(placed)}
    if len(first) > 1:
        (turn_in, turn), (session_in, session) = first["turn"], first["session"]
        raise InputError(
            f"{name}: ranks turns ({turn!r:.60} in {turn_in}) and sessions ({session!r:.60} in "
            f"{session_in}); give each unit a file of its own"
        )
    return next(iter(first))


def _ranking(row: RankingRow, named: Sequence[Named], name: str, *, pooled: bool) -> Ranking:
    scored: dict[str, float | None] = {}
    place = f"{name}: {row.place}"
    for (given, score), meaning in zip(row.ranking, named, strict=True):
        if pooled and not given.startswith(f"{meaning.conversation}:"):
            raise InputError(
                f"{place}: {given!r:.60} names no conversation, but the rankings contain turns of "
                f"several; write {meaning.conversation}:{given}"
            )
        id_ = f"{meaning.conversation}:{meaning.id}" if pooled else meaning.id
        if id_ in scored:
            raise InputError(
                f"{place}: {given!r:.60} is ranked twice; give each turn or session one place, the "
                "best"
            )
        scored[id_] = score
    return Ranking(row, tuple(scored.items()))
