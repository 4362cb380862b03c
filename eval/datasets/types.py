"""Questions, gold answers and data sets. Strategies never receive these types, only queries."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from memsys.core.types import Conversation
from memsys.core.yaml_text import load_table

TABLES = load_table(Path(__file__).with_name("tables.yaml"))
# The official ids of LoCoMo (Maharana et al., 2024). Several published tables use other names.
TYPES: dict[int, str] = {
    1: "multi_hop",
    2: "temporal",
    3: "open_domain",
    4: "single_hop",
    5: "adversarial",
}
ADVERSARIAL = 5  # in any data set: abstaining is right
PlantKind = Literal[
    "absent", "superseded", "contradiction", "adjacent", "deleted", "other_owner", "injected"
]
PLANT_KINDS: tuple[PlantKind, ...] = get_args(PlantKind)


def types_in(records: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return type names by id: LoCoMo's five if `records` have no others, else those in `records`,
    in order of id with ADVERSARIAL last.
    """
    names: dict[int, str] = {record["category"]: record["type"] for record in records}
    if names.keys() <= TYPES.keys():
        return TYPES
    others = {id_: names[id_] for id_ in sorted(names) if id_ != ADVERSARIAL}
    return others | {ADVERSARIAL: TYPES[ADVERSARIAL]}


@dataclass(frozen=True, slots=True)
class KeyChange:
    """The change of a question by the chosen answer key: another gold answer, or exclusion.

    `error_type`: the reason, in the wording of the list of errors. `original_gold`: as in the data
    set.
    """

    kind: Literal["corrected", "excluded"]
    error_type: str
    original_gold: str | None


@dataclass(frozen=True, slots=True)
class Plant:
    """What is wrong to show or to say for a question about planted facts; see docs/datasets.md.

    `values`: the wrong ones, invented names that occur in `turns` alone, which are the ids of the
    turns that state them (with their conversation as prefix if they are in another one). Of a
    contradiction they are both values. `control`: nothing is wrong, and the fact asked for is
    there: refusing is an error.
    """

    kind: PlantKind
    control: bool = False
    turns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a data set; `id` is `<conversation>/<index in its qa list>`.

    `gold`: None if the answer key has no answer (type 5: abstaining is right; any type: the chosen
    key excludes the question). `adversarial`: the wrong answer that type 5 suggests. `evidence`:
    ids of existing turns. `category`: the raw id in the file, or else that of the data set's types.
    `evidence_sessions`: ids of whole sessions, if the data set names them. `asked_at`: None for the
    time of the last session. `key_change`: None if `gold` is the data set's. `evidence_original`:
    the data set's evidence, if the chosen evidence key changes it. `store`: what is searched, if
    that is not the conversation alone. `cue`: for a question without gold answer, the earlier
    dialogue of which a reply should show awareness. `plant`: of a question about planted facts.
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
    evidence_original: tuple[str, ...] | None = None
    store: str | None = None
    cue: str | None = None
    plant: Plant | None = None

    @property
    def searched(self) -> str:
        """Id of the conversation of the data set that is ingested for this question."""
        return self.store or self.conversation

    @property
    def original_gold(self) -> str | None:
        """The data set's gold answer under any key; answers of other systems are matched by it."""
        return self.key_change.original_gold if self.key_change else self.gold


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: name without folder, size in bytes, sha256 in hex."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The answer key of a data set and the known errors of the original one.

    `name`: original, corrected or excluded. `overlay`: the file that lists the errors; `texts`: the
    file with the corrected answers; None if none was read. `wrong`: ids of the loaded questions
    whose original gold answer is wrong.
    """

    name: str = "original"
    overlay: SourceFile | None = None
    texts: SourceFile | None = None
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceKey:
    """Another evidence key than the data set's: `name`, corrected or excluded, and the `overlay`,
    the file that lists the wrong citations.
    """

    name: str
    overlay: SourceFile


@dataclass(frozen=True, slots=True)
class SubsetUsed:
    """The subset that filtered a data set: name, file, number of its `questions`, and number `of`
    all questions that they represent.
    """

    name: str
    file: SourceFile
    questions: int
    of: int


@dataclass(frozen=True, slots=True)
class Dataset:
    """Conversations and questions in file order, with the files they are from.

    `order`: ids of all conversations of the files, in their order, those that filters omit as well;
    () if that is not known. `repairs`: a line per repair made on reading. `types`: names of the
    question types by id. `evidence`: None for the data set's evidence. `published_sessions`: by
    conversation, the ids of sessions by those that the files have, where these were replaced; other
    systems may use either.
    """

    name: str
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
    files: tuple[SourceFile, ...]
    repairs: tuple[str, ...] = field(default=())
    key: AnswerKey = field(default=AnswerKey())
    types: Mapping[int, str] = field(default_factory=lambda: TYPES)
    subset: SubsetUsed | None = None
    evidence: EvidenceKey | None = None
    published_sessions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    order: tuple[str, ...] = ()


def source_file(name: str, content: bytes) -> SourceFile:
    """Return name, size and hash of a file of this content."""
    return SourceFile(name, len(content), hashlib.sha256(content).hexdigest())


def generated_file(dataset: Dataset) -> SourceFile:
    """Return the conversations and questions of `dataset`, which no file has, as one."""
    rows = [*map(asdict, dataset.conversations), *map(asdict, dataset.questions)]
    sessions = [session for row in rows for session in row.get("sessions", ())]
    turns = [turn for session in sessions for turn in session["turns"]]
    for row in (*rows, *sessions, *turns):
        # Absent where unused: hashes do not change.
        for name in ("cue", "plant", "forgets", "time"):
            if not row.get(name):
                row.pop(name, None)
    text = json.dumps(rows, default=str, ensure_ascii=False, sort_keys=True).encode()
    return source_file("made from the seed", text)
