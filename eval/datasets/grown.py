"""`dataset=grown`: stores in which the evidence stays the same and unrelated sessions are added.

Questions and evidence do not depend on the size of the store, so what recall loses is due to the
size alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from eval.datasets.locomo import LoCoMo
from eval.datasets.named import config_of
from eval.datasets.pooled import timed
from eval.datasets.selection import check_names
from eval.datasets.types import TYPES, Dataset, Question
from eval.datasets.unrelated import Unrelated
from memsys.core.declared import Count, CountFrom0, Name, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Conversation

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
        check_names("types", self.types, TYPES.values())
        whole = self._whole()
        ids = [one.id for one in whole.conversations]
        check_names("conversations", self.conversations, ids)
        wanted = set(ids if self.conversations is None else self.conversations)
        questions = [
            question for id_ in ids if id_ in wanted for question in self._asked(id_, whole)
        ]
        asked = {question.conversation: question.id for question in questions}
        if not asked:
            raise InputError(
                f"dataset.of={self.of}: no question is left; widen dataset.conversations and "
                "dataset.types"
            )
        unrelated, known = Unrelated(whole.conversations, self.seed), {q.id for q in questions}
        return replace(
            whole,
            name=self.name,
            conversations=tuple(
                self._grown(one, unrelated) for one in whole.conversations if one.id in asked
            ),
            questions=tuple(questions),
            files=(*whole.files, unrelated.file()),
            key=replace(whole.key, wrong=tuple(one for one in whole.key.wrong if one in known)),
        )

    def _whole(self) -> Dataset:
        config = config_of(self.of, self.key, self.key_file, self.evidence)
        if config.pop("_target_") != _LOCOMO:
            raise InputError(
                f"dataset.of={self.of}: not of LoCoMo's layout; use locomo, sample, sample_hard or "
                "the path of such a file"
            )
        return LoCoMo(**config).load()

    def _asked(self, conversation: str, whole: Dataset) -> Sequence[Question]:
        """Return the sampled questions of a conversation, in the order of the file."""
        questions = [
            one
            for one in whole.questions
            if one.conversation == conversation and (self.types is None or one.type in self.types)
        ]
        if self.sample is None or self.sample >= len(questions):
            return questions
        random = Random(f"{self.seed}/questions/{conversation}")  # noqa: S311 - not a secret
        return [questions[at] for at in sorted(random.sample(range(len(questions)), self.sample))]

    def _grown(self, conversation: Conversation, unrelated: Unrelated) -> Conversation:
        added = list(islice(unrelated.sessions(conversation.id), self.unrelated))
        pairs = sorted([*timed(conversation), *added], key=lambda pair: pair[0])
        sessions = tuple(session for _, session in pairs)
        speakers = [turn.speaker for session in sessions for turn in session.turns]
        named = tuple(dict.fromkeys([*conversation.speakers, *speakers]))
        return replace(conversation, speakers=named, sessions=sessions)
