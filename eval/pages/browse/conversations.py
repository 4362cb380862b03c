"""The data behind some runs: conversations with their turns and questions, and scores by each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval.datasets.types import ADVERSARIAL
from eval.metrics.stats.interval import ClusterBootstrap
from eval.pages.browse.questions import Questions, verdicts
from eval.pages.report.runs import ReportedRun
from eval.records.schema import store_of
from eval.rendering.numbers import ABSENT, interval, number
from memsys.context.writers import stamp
from memsys.core.tokens import count_tokens
from memsys.core.types import UNDATED, Conversation, Turn

MOST_TURNS = 4_000  # of a page; of a longer conversation it shows the turns with evidence
_MOST_CHARACTERS = 5_000_000  # of a data set whose tokens are counted for the overview


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of one run (None: no answer) with its verdicts."""

    label: str
    verdicts: Sequence[str]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a conversation. `number`: its place there, from 1. `evidence`: turn ids, each
    with its anchor on the page, "" where the turn is not shown.
    """

    number: int
    id: str
    type: str
    question: str
    gold: str | None
    evidence: Sequence[tuple[str, str]]
    answers: Sequence[Answered]


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn with its o200k tokens, and the questions that it is evidence of."""

    anchor: str
    turn: Turn
    tokens: int
    evidence_of: Sequence[Asked]


@dataclass(frozen=True, slots=True)
class SessionTurns:
    """A session with the turns that are shown."""

    anchor: str
    id: str
    time: str
    turns: Sequence[ShownTurn]


@dataclass(frozen=True, slots=True)
class Overview:
    """A row of the table of conversations; None: unknown. `n`: questions with a score. `scores`:
    one a run, with its own number of questions where that is smaller.
    """

    name: str
    page: str
    sessions: int | None
    turns: int | None
    tokens: int | None
    types: Mapping[str, int]
    n: int
    scores: Sequence[str]


class Conversations:
    """The conversations of the first run whose data set can be read, and those that only records
    name.
    """

    def __init__(self, questions: Questions) -> None:
        self._questions, self.runs = questions, questions.runs
        self._shown = next((run for run in self.runs if run.texts), None)
        texts = self._shown and self._shown.texts
        self._found: Mapping[str, Conversation] = texts.conversations if texts else {}
        self._ids: dict[str, list[str]] = {}
        for id_ in questions.ids:
            self._ids.setdefault(store_of(questions.asked(id_)), []).append(id_)
        self.names = tuple(dict.fromkeys([*self._found, *self._ids]))
        pages = {name: page_name(number) for number, name in enumerate(self.names)}
        self.places = {
            id_: f"{pages[name]}#q{number}"
            for name, ids in self._ids.items()
            for number, id_ in enumerate(ids, 1)
        }

    @property
    def missing(self) -> str:
        """The reason why there are no turns; "" where there are."""
        return self.runs[0].without_texts or "" if self._shown is None else ""

    @property
    def others(self) -> list[str]:
        """Labels of the runs that read other data files than the run whose turns are shown."""
        if self._shown is None:
            return []
        return [run.label for run in self.runs if _hashes(run) != _hashes(self._shown)]

    def overview(self) -> Iterator[Overview]:
        """Yield a row for each conversation."""
        sizes = [len(turn.text) for one in self._found.values() for turn in _turns(one)]
        counted = sum(sizes) <= _MOST_CHARACTERS
        for place, name in enumerate(self.names):
            found = self._found.get(name)
            turns = None if found is None else _turns(found)
            yield Overview(
                name,
                page_name(place),
                None if found is None else len(found.sessions),
                None if turns is None else len(turns),
                sum(count_tokens(one.text) for one in turns) if turns and counted else None,
                self._types(name),
                *self.scores(name),
            )

    def scores(self, name: str) -> tuple[int, list[str]]:
        """Return the number of questions of a conversation that have a score, and the mean of each
        run on them, with its interval over questions where there are several. Type 5 is left out.
        """
        ids = [
            id_
            for id_ in self._ids.get(name, ())
            if self._questions.asked(id_)["category"] != ADVERSARIAL
        ]
        found = [
            [score for id_ in ids if (score := self._questions.score(run, id_)) is not None]
            for run in self.runs
        ]
        most = max(map(len, found))
        texts = [_mean(scores, run.seed) for scores, run in zip(found, self.runs, strict=True)]
        fewer = [f" n={len(one)}" if 0 < len(one) < most else "" for one in found]
        return most, [text + n for text, n in zip(texts, fewer, strict=True)]

    def questions(self, name: str) -> list[Asked]:
        """Return the questions of a conversation in order."""
        found = self._found.get(name)
        anchors = _anchors(found) if found else {}
        ids = self._ids.get(name, ())
        return [self._asked(number, id_, anchors) for number, id_ in enumerate(ids, 1)]

    def sessions(self, name: str, asked: Sequence[Asked]) -> list[SessionTurns]:
        """Return the sessions of a conversation; [] where the data set cannot be read."""
        found = self._found.get(name)
        if found is None:
            return []
        uses: dict[str, list[Asked]] = {}
        for one in asked:
            for id_, _ in one.evidence:
                uses.setdefault(id_, []).append(one)
        anchors, whole = _anchors(found), not self.is_shortened(name)
        sessions = [
            SessionTurns(
                anchors[session.id],
                session.id,
                "" if session.time == UNDATED else stamp(session.time),
                [
                    ShownTurn(
                        anchors[turn.id], turn, count_tokens(turn.text), uses.get(turn.id, ())
                    )
                    for turn in session.turns
                    if whole or turn.id in uses
                ],
            )
            for session in found.sessions
        ]
        return [session for session in sessions if session.turns]

    def is_shortened(self, name: str) -> bool:
        """Whether only turns with evidence are shown of a conversation."""
        found = self._found.get(name)
        return found is not None and len(_turns(found)) > MOST_TURNS

    def _types(self, name: str) -> Counter[str]:
        return Counter(self._questions.asked(id_)["type"] for id_ in self._ids.get(name, ()))

    def _asked(self, number: int, id_: str, anchors: Mapping[str, str]) -> Asked:
        first = self._questions.asked(id_)
        evidence = dict.fromkeys(first["evidence"] or first.get("evidence_sessions") or ())
        return Asked(
            number,
            id_,
            first["type"],
            first["question"],
            first["gold"],
            [(turn, anchors.get(turn, "")) for turn in evidence],
            [
                Answered(run.label, verdicts(record, run), record["answer"])
                for run in self.runs
                if (record := run.records.get(id_)) is not None
            ],
        )


def _mean(scores: Sequence[float], seed: int) -> str:
    mean = ClusterBootstrap([""] * len(scores), seed).mean(scores) if scores else None
    if mean is not None and math.isnan(mean.low):
        return number(mean.value)
    return ABSENT if mean is None else interval(mean.within())


def page_name(place: int) -> str:
    """Return the file name of the page of a conversation by its place, from 0."""
    return f"conversation-{place}.html"


def _turns(conversation: Conversation) -> list[Turn]:
    return [turn for session in conversation.sessions for turn in session.turns]


def _anchors(conversation: Conversation) -> dict[str, str]:
    """Return the anchors of turns and sessions by their ids."""
    turns = {turn.id: f"t{number}" for number, turn in enumerate(_turns(conversation), 1)}
    sessions = {one.id: f"s{number}" for number, one in enumerate(conversation.sessions, 1)}
    return sessions | turns


def _hashes(run: ReportedRun) -> set[str]:
    return {file["sha256"] for file in run.manifest["data"]}
