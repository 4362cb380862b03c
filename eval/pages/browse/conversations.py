"""The data behind some runs: conversations with their turns and questions, and scores by each."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from eval.datasets.types import ADVERSARIAL
from eval.pages.browse.questions import Questions, Result
from eval.records.schema import Record, store_of
from eval.rendering.numbers import interval, number
from eval.summary.measures import same_data
from eval.summary.sample import Sample
from memsys.context.writers import stamp
from memsys.core.tokens import count_tokens
from memsys.core.types import UNDATED, Conversation, Turn

MOST_TURNS = 4_000  # of a page; of a longer conversation it shows the turns with evidence
_MOST_CHARACTERS = 5_000_000  # of a data set whose tokens are counted for the overview


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
        found = [
            [score for id_ in ids if (score := self._questions.score(run, id_)) is not None]
            for run in runs
        ]
        most = max(map(len, found))
        means = []
        for scores, run in zip(found, runs, strict=True):
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
        for one in asked:
            for id_, _ in one.evidence:
                uses.setdefault(id_, []).append(one)
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
