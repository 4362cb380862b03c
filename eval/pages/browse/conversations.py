"""What pages show of some runs: all questions, a row each for the list and a card with answers and
contexts; and the conversations with their turns and questions, and scores by each.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from eval.datasets.types import ADVERSARIAL, types_in
from eval.pages.report.cards import (
    ERROR,
    RIGHT,
    UNSCORED,
    WRONG,
    question_card,
    score_in,
    score_of,
    verdict,
)
from eval.pages.report.runs import RecordedCalls, ReportedRun
from eval.records.schema import Record, store_of
from eval.rendering.blocks import Card
from eval.rendering.numbers import interval, number
from eval.summary.measures import same_data
from eval.summary.sample import Sample
from memsys.context.writers import stamp
from memsys.core.tokens import count_tokens
from memsys.core.types import UNDATED, Conversation, Turn

MOST_TURNS = 4_000  # of a page; of a longer conversation it shows the turns with evidence
_MOST_CHARACTERS = 5_000_000  # of a data set whose tokens are counted for the overview
ABSTAINED = "abstained"
VERDICTS = (RIGHT, WRONG, ERROR, ABSTAINED, UNSCORED)


class Result(NamedTuple):
    """What a run has of a question: ABSTAINED follows the verdict on a refusal."""

    score: float | None
    answer: str | None
    verdicts: list[str]


class Questions:
    """All questions of some runs, in the order of the first."""

    def __init__(self, runs: Sequence[ReportedRun], calls: RecordedCalls | None = None) -> None:
        """`calls`: None if cards show no calls to models."""
        self.runs, self._measure, self._calls = runs, score_of(runs), calls
        self.key = self._measure.key
        records = [record for run in runs for record in run.records.values()]
        self.types = tuple(types_in(records).values())
        self.ids = tuple(dict.fromkeys(id_ for run in runs for id_ in run.records))

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield id, type, question, gold answer, and `runs` with a list for each run: its score,
        its answer and its verdicts; null for a run that did not ask the question.
        """
        for id_ in self.ids:
            asked = self.asked(id_)
            yield {
                **{"id": id_, "type": asked["type"], "question": asked["question"]},
                "gold": asked["gold"],
                "runs": [self.result(run, id_) for run in self.runs],
            }

    def asked(self, id_: str) -> Record:
        """Return the record of a question in the first run that asked it."""
        return next(run.records[id_] for run in self.runs if id_ in run.records)

    def score(self, run: ReportedRun, id_: str) -> float | None:
        """Return the score of a question in `run` by `key`. None where there is none, and where
        the first run that asked the question has another text of it.
        """
        return score_in(run, self.asked(id_), self._measure)

    def card(self, id_: str) -> Card | None:
        """Return the card of a question with the answers of all runs; None if no run asked it."""
        if not any(id_ in run.records for run in self.runs):
            return None
        calls = self._calls
        return question_card(id_, self.runs, lambda run: calls.of(run, id_) if calls else ())

    def result(self, run: ReportedRun, id_: str) -> Result | None:
        """Return what `run` has of a question; None if it did not ask it."""
        record = run.records.get(id_)
        if record is None:
            return None
        verdicts = [verdict(record, run.marking), *([ABSTAINED] if record["abstained"] else [])]
        return Result(self.score(run, id_), record["answer"], verdicts)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a conversation. `number`: its place there, from 1. `record`: that of the first
    run that asked it. `evidence`: turn ids, each with its anchor on the page, "" where the turn is
    not shown. `answers`: labels of the runs that asked it, each with its result.
    """

    number: int
    record: Record
    evidence: Sequence[tuple[str, str]]
    answers: Sequence[tuple[str, Result]]


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


class ConversationPage:
    """What the pages show of a conversation. `name`: its id. `page`: its file name. `whole`: None
    where the data set cannot be read. `ids`: of its questions.
    """

    def __init__(
        self,
        place: int,
        name: str,
        whole: Conversation | None,
        ids: Sequence[str],
        questions: Questions,
    ) -> None:
        """`place`: among all conversations, from 0."""
        self.name, self.page, self.whole, self.ids = name, page_name(place), whole, ids
        self._questions = questions
        self.turns = [turn for session in whole.sessions for turn in session.turns] if whole else []

    @property
    def shortened(self) -> bool:
        """Whether only turns with evidence are shown."""
        return len(self.turns) > MOST_TURNS

    @cached_property
    def types(self) -> Counter[str]:
        """Number of questions by type."""
        return Counter(self._questions.asked(id_)["type"] for id_ in self.ids)

    @property
    def tokens(self) -> int:
        """Number of o200k tokens of all turns."""
        return sum(count_tokens(turn.text) for turn in self.turns)

    @cached_property
    def scores(self) -> tuple[int, list[str]]:
        """The number of questions that have a score, and the mean of each run on them, with its
        interval over questions where there are several, and with its own number of questions where
        that is smaller. Type 5 is left out.
        """
        asked, runs = self._questions.asked, self._questions.runs
        ids = [id_ for id_ in self.ids if asked(id_)["category"] != ADVERSARIAL]
        by_run = [
            [score for id_ in ids if (score := self._questions.score(run, id_)) is not None]
            for run in runs
        ]
        most = max(map(len, by_run))
        means = []
        for scores, run in zip(by_run, runs, strict=True):
            mean = Sample(scores, [""] * len(scores), run.seed).mean(0.0, 1.0)
            alone = mean is not None and math.isnan(mean.low)
            text = number(mean.value) if mean and alone else interval(mean)
            if 0 < len(scores) < most:
                text += f" n={len(scores)}"
            means.append(text)
        return most, means

    def questions(self) -> list[Asked]:
        """Return the questions in order."""
        asked = []
        for number_, id_ in enumerate(self.ids, 1):
            record = self._questions.asked(id_)
            evidence = dict.fromkeys(record["evidence"] or record.get("evidence_sessions") or ())
            places = [(turn, self._anchors.get(turn, "")) for turn in evidence]
            results = (
                (run.label, self._questions.result(run, id_)) for run in self._questions.runs
            )
            answers = [(label, result) for label, result in results if result is not None]
            asked.append(Asked(number_, record, places, answers))
        return asked

    def sessions(self, asked: Sequence[Asked]) -> list[SessionTurns]:
        """Return the sessions with shown turns; [] where the data set cannot be read."""
        uses: dict[str, list[Asked]] = {}
        for question in asked:
            for id_, _ in question.evidence:
                uses.setdefault(id_, []).append(question)
        sessions = []
        for session in self.whole.sessions if self.whole else ():
            turns = [
                ShownTurn(
                    self._anchors[turn.id], turn, count_tokens(turn.text), uses.get(turn.id, ())
                )
                for turn in session.turns
                if turn.id in uses or not self.shortened
            ]
            if turns:
                time = "" if session.time == UNDATED else stamp(session.time)
                sessions.append(SessionTurns(self._anchors[session.id], session.id, time, turns))
        return sessions

    @cached_property
    def _anchors(self) -> dict[str, str]:
        """Anchors of turns and sessions by their ids."""
        sessions = self.whole.sessions if self.whole else ()
        anchors = {session.id: f"s{number_}" for number_, session in enumerate(sessions, 1)}
        return anchors | {turn.id: f"t{number_}" for number_, turn in enumerate(self.turns, 1)}


class Conversations:
    """The conversations of the first run whose data set can be read, and those that only records
    name, as `pages` by name. `places`: the address of each question. `missing`: the reason why
    there are no turns; "" where there are. `others`: labels of the runs that read other data files
    than the run whose turns are shown. `counted`: whether the overview has tokens.
    """

    def __init__(self, questions: Questions) -> None:
        runs = questions.runs
        shown = next((run for run in runs if run.without_texts is None), None)
        whole = shown.texts.conversations if shown else {}
        ids: dict[str, list[str]] = {}
        for id_ in questions.ids:
            ids.setdefault(store_of(questions.asked(id_)), []).append(id_)
        self.pages: dict[str, ConversationPage] = {}
        self.places: dict[str, str] = {}
        for place, name in enumerate(dict.fromkeys([*whole, *ids])):
            page = ConversationPage(place, name, whole.get(name), ids.get(name, ()), questions)
            self.pages[page.page] = page
            self.places |= {id_: f"{page.page}#q{n}" for n, id_ in enumerate(page.ids, 1)}
        self.missing = "" if shown else runs[0].without_texts or ""
        self.others = [run.label for run in runs if shown and not same_data(run, shown)]
        turns = [turn for page in self.pages.values() for turn in page.turns]
        self.counted = sum(len(turn.text) for turn in turns) <= _MOST_CHARACTERS


def page_name(place: int) -> str:
    """Return the file name of the page of a conversation by its place, from 0."""
    return f"conversation-{place}.html"
