"""What is asked and what is known of the answer. Strategies never see this module's types."""

from __future__ import annotations

from dataclasses import dataclass, field

from memsys.types import Conversation

# The official ids of LoCoMo (Maharana et al., 2024). Several published tables name them otherwise.
TYPES: dict[int, str] = {
    1: "multi_hop",
    2: "temporal",
    3: "open_domain",
    4: "single_hop",
    5: "adversarial",
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a data set; `id` is `<conversation>/<index in its qa list>`.

    `gold` is None where the data set gives no answer (type 5: the right thing is to abstain).
    `adversarial` is the answer that type 5 tempts to. `evidence` are turn ids, repaired and known
    to exist; `category` is the raw id of the file.
    """

    id: str
    conversation: str
    category: int
    type: str
    text: str
    gold: str | None
    evidence: tuple[str, ...]
    adversarial: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: name (no folder), size in bytes, sha256 in hex."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """Conversations with their questions in file order, and what was mended on reading."""

    name: str
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
    files: tuple[SourceFile, ...]
    repairs: tuple[str, ...] = field(default=())
