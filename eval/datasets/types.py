"""What is asked and what is known of the answer. Strategies never see this module's types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from memsys.types import Conversation

# The official ids of LoCoMo (Maharana et al., 2024). Several published tables name them otherwise.
TYPES: dict[int, str] = {
    1: "multi_hop",
    2: "temporal",
    3: "open_domain",
    4: "single_hop",
    5: "adversarial",
}
ADVERSARIAL = 5  # of any data set: the right thing is to abstain


def types_in(records: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Type names by id: LoCoMo's five where `records` have no others, else those that the records
    themselves bring, by id, and ADVERSARIAL last.
    """
    found: dict[int, str] = {record["category"]: record["type"] for record in records}
    if found.keys() <= TYPES.keys():
        return TYPES
    own = {id_: found[id_] for id_ in sorted(found) if id_ != ADVERSARIAL}
    return own | {ADVERSARIAL: TYPES[ADVERSARIAL]}


@dataclass(frozen=True, slots=True)
class KeyChange:
    """What the chosen answer key does to a question: gives it another gold, or leaves it out.

    `error_type`: why, in the words of whoever found the error. `original_gold`: as in the data set.
    """

    kind: Literal["corrected", "excluded"]
    error_type: str
    original_gold: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a data set; `id` is `<conversation>/<index in its qa list>`.

    `gold` is None where the answer key gives no answer (type 5: the right thing is to abstain; any
    type: the chosen key leaves the question out). `adversarial` is the answer that type 5 tempts
    to. `evidence` are turn ids, repaired and known to exist; `category` is the raw id of the file,
    or where it has none that of the data set's types. `evidence_sessions` are ids of whole
    sessions, where the data set names them. `asked_at`: None for the time of the last session.
    `key_change` is None where `gold` is the data set's own.
    """

    id: str
    conversation: str
    category: int
    type: str
    text: str
    gold: str | None
    evidence: tuple[str, ...]
    adversarial: str | None = None
    key_change: KeyChange | None = None
    evidence_sessions: tuple[str, ...] | None = None
    asked_at: datetime | None = None

    @property
    def original_gold(self) -> str | None:
        """The gold of the data set, whatever key was chosen: what other files are matched by."""
        return self.key_change.original_gold if self.key_change else self.gold


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: name (no folder), size in bytes, sha256 in hex."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The answer key of a data set: which, and what is known of errors in the original one.

    `name`: original, corrected or excluded. `overlay`: the file that lists the errors, `texts` the
    one with the corrected answers; None where there is none, or none was read. `wrong`: ids of the
    loaded questions whose original gold is wrong.
    """

    name: str = "original"
    overlay: SourceFile | None = None
    texts: SourceFile | None = None
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubsetUsed:
    """The subset that a data set was cut down to: its name and file, its `questions` and the number
    `of` those that it stands for.
    """

    name: str
    file: SourceFile
    questions: int
    of: int


@dataclass(frozen=True, slots=True)
class Dataset:
    """Conversations with their questions in file order, what was mended, the answer key, and the
    types that its questions may have, by id.
    """

    name: str
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
    files: tuple[SourceFile, ...]
    repairs: tuple[str, ...] = field(default=())
    key: AnswerKey = field(default=AnswerKey())
    types: Mapping[int, str] = field(default_factory=lambda: TYPES)
    subset: SubsetUsed | None = None
