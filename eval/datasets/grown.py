"""`dataset=grown`: stores in which the evidence stays the same and unrelated sessions are added.

Questions and evidence do not depend on the size of the store, so what recall loses is due to the
size alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import chain, count, islice
from random import Random

from eval.datasets.locomo import LoCoMo
from eval.datasets.pooled import owned, timed
from eval.datasets.reload import config_of
from eval.datasets.selection import Filters, Part
from eval.datasets.sessions import conversation_of
from eval.datasets.synthetic.world import Parameters, dialogue
from eval.datasets.types import TYPES, Dataset, Question, source_file
from memsys.core.declared import Count, CountFrom0, Name, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Session, Turn

Timed = tuple[datetime, Session]
_SESSIONS, _TURNS = 5, 22  # of a generated conversation and session; a session of LoCoMo has 21.6
_JOINED = 3  # generated turns in one, of 26 words on average; LoCoMo's have 25
_WORLD = {"hops": 1, "updates": 0, "distractors": 0.8, "relative_dates": 0.5, "language": "en"}
_LOCOMO = f"{LoCoMo.__module__}.{LoCoMo.__name__}"


@dataclass(frozen=True, kw_only=True)
class Grown:
    """The conversations of a data set of LoCoMo's layout, each with `unrelated` further sessions.

    name: the data set's name in tables. of: locomo, sample, sample_hard, or the path of a file or
    folder. unrelated: number of sessions added to each conversation: those of all other
    conversations of `of` in a random order, then generated dialogue; a store contains all sessions
    of the smaller ones. conversations: ask about these alone; the others still lend their sessions.
    types: only these question types, by name. sample: a random sample of so many questions of
    each conversation; None: all. seed: of the sample, of the order of the sessions and of the
    generated dialogue. key, key_file, evidence: as in LoCoMo.
    """

    # Checked by load(): Hydra would bury the message of an InputError in its own.
    name: Name
    of: str = "locomo"
    unrelated: CountFrom0 = 100
    conversations: Sequence[str] | None = None
    types: Sequence[str] | None = None
    sample: Count | None = None
    seed: CountFrom0 = 0
    key: str = "original"
    key_file: str | None = None
    evidence: str = "original"

    def load(self) -> Dataset:
        """Return the data set; the sessions of a store are in order of time.

        Ids of unrelated sessions and turns are prefixed by their conversation (`conv-30:D1:3`), and
        each session names it as its owner. `files` has those of `of`, and one that stands for the
        generator. Raises InputError as LoCoMo does, and for a parameter out of range.
        """
        check_fields(self, "dataset")
        filters = Filters(name=self.name, conversations=self.conversations, types=self.types)
        filters.check(TYPES.values())
        config = config_of(self.of, self.key, self.key_file, self.evidence)
        if config.pop("_target_") != _LOCOMO:
            raise InputError(
                f"dataset.of={self.of}: not of LoCoMo's layout; use locomo, sample, sample_hard or "
                "the path of such a file"
            )
        whole = LoCoMo(**config).load()
        given = {conversation.id: conversation for conversation in whole.conversations}
        selected = filters.select(whole.questions)
        parts = (
            Part(given[id_], self._sample(id_, [q for q in selected if q.conversation == id_]), ())
            for id_ in filters.wanted(given)
        )
        asked = filters.collect(parts, whole.files, TYPES)
        ids = {question.id for question in asked.questions}
        lent = {
            conversation.id: [
                (time, owned(session, conversation.id)) for time, session in timed(conversation)
            ]
            for conversation in whole.conversations
        }
        days = [time for sessions in lent.values() for time, _ in sessions]
        span = min(days), max(days)
        rows = [
            (session.id, time.isoformat(), turn.id, turn.speaker, turn.text)
            for time, session in _generated(self.seed, 0, *span)
            for turn in session.turns
        ]
        generator = source_file("generated dialogue", repr(rows).encode())
        return replace(
            whole,
            name=self.name,
            conversations=tuple(
                self._grown(conversation, lent, span) for conversation in asked.conversations
            ),
            questions=asked.questions,
            files=(*whole.files, generator),
            key=replace(whole.key, wrong=tuple(id_ for id_ in whole.key.wrong if id_ in ids)),
        )

    def _sample(self, conversation: str, questions: Sequence[Question]) -> Sequence[Question]:
        """Return the sampled `questions` of a conversation, in their order."""
        if self.sample is None or self.sample >= len(questions):
            return questions
        random = Random(f"{self.seed}/questions/{conversation}")  # noqa: S311 - not a secret
        return [questions[at] for at in sorted(random.sample(range(len(questions)), self.sample))]

    def _grown(
        self,
        conversation: Conversation,
        lent: Mapping[str, Sequence[Timed]],
        span: tuple[datetime, datetime],
    ) -> Conversation:
        """Return a conversation with the unrelated sessions: those of all other conversations in a
        random order, then generated ones without end.
        """
        others = [pair for id_, of in lent.items() if id_ != conversation.id for pair in of]
        Random(f"{self.seed}/{conversation.id}").shuffle(others)  # noqa: S311 - not a secret
        generated = (pair for n in count() for pair in _generated(self.seed, n, *span))
        added = islice(chain(others, generated), self.unrelated)
        pairs = sorted([*timed(conversation), *added], key=lambda pair: pair[0])
        sessions = tuple(session for _, session in pairs)
        return conversation_of(conversation.id, conversation.speakers, sessions)


@cache  # a sweep loads the same ones for every run
def _generated(seed: int, number: int, first: datetime, last: datetime) -> Sequence[Timed]:
    """Return the sessions of generated conversation `number`, somewhere between two times."""
    settings = {"conversations": 1, "sessions": _SESSIONS, "turns": _TURNS * _JOINED, "seed": seed}
    conversation, _ = dialogue(Parameters(**_WORLD, **settings), number)  # type: ignore[arg-type]
    sessions = conversation.sessions
    room = (last - first) - (sessions[-1].time - sessions[0].time)
    days = Random(f"{seed}/{number}").randint(0, max(room.days, 0))  # noqa: S311
    shift = timedelta(days=(first.date() - sessions[0].time.date()).days + days)
    return [
        (session.time + shift, owned(_joined(session, shift), f"generated-{number}"))
        for session in sessions
    ]


def _joined(session: Session, shift: timedelta) -> Session:
    """Return `session`, later by `shift`, in which a turn has the words of _JOINED turns of its
    speaker; two speakers take turns.
    """
    turns = []
    for place, turn in enumerate(session.turns[: len(session.turns) // _JOINED]):
        start = place // 2 * 2 * _JOINED + place % 2
        parts = session.turns[start : start + 2 * _JOINED : 2]
        turns.append(Turn(turn.id, parts[0].speaker, " ".join(part.text for part in parts)))
    return replace(session, time=session.time + shift, turns=tuple(turns))
