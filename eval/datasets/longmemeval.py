"""LongMemEval (Wu et al., 2025, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive
Memory") and any file of its layout: an instance is one history of chats and one question of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eval.datasets.chats import parse_date, read_chats
from eval.datasets.checks import (
    Location,
    as_list,
    as_object,
    check_limit,
    check_names,
    text,
)
from eval.datasets.files import json_files, public_file, read_json
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question, SourceFile
from memsys.errors import InputError
from memsys.types import Conversation

# The file's `question_type` with _ for -, by ids that no LoCoMo type has. 5 is adversarial as in
# LoCoMo: a question_id that ends in _abs, whatever its question_type.
LONGMEMEVAL_TYPES: dict[int, str] = {
    11: "single_session_user",
    12: "single_session_assistant",
    13: "single_session_preference",
    14: "multi_session",
    15: "temporal_reasoning",
    16: "knowledge_update",
    ADVERSARIAL: TYPES[ADVERSARIAL],
}
_ABSTAIN = "_abs"
_SAMPLE = "oracle_sample97.json"


class LongMemEval:
    """Histories and their questions in one file, or in a folder's *.json in name order.

    name: the data set's name in tables. path: None looks for longmemeval_oracle.json in the data
    folder, then in $MEMSYS_SHARED/longmemeval; a relative path is looked up in the current folder,
    then in the project's. conversations: only these question ids. types: only these question types,
    by name. limit: at most this many questions, counted after both. key, key_file: no errors of
    this data set are listed, so only original and None are valid.
    """

    def __init__(
        self,
        *,
        name: str,
        path: str | None = None,
        conversations: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        limit: int | None = None,
        key: str = "original",
        key_file: str | None = None,
    ) -> None:
        # Checked by load(), not here: Hydra would bury the message of an InputError in its own.
        self.name = name
        self._path = path
        self._conversations = conversations
        self._types = types
        self._limit = limit
        self._key, self._key_file = key, key_file

    def load(self) -> Dataset:
        """Read, check and filter. Raises InputError naming file, question id and field; also if
        a filter names something unknown or no question is left.
        """
        self._check_options()
        instances: dict[str, tuple[Conversation, Question]] = {}
        files: list[SourceFile] = []
        repairs: list[str] = []
        for path in json_files(self._path or public_file("longmemeval", "LongMemEval", _SAMPLE)):
            value, source = read_json(path)
            files.append(source)
            if not isinstance(value, list) or not value:
                raise InputError(f"{path.name}: must be a list of LongMemEval instances")
            for index, raw in enumerate(value):
                conversation, question, lines = _instance(path.name, index, raw)
                if conversation.id in instances:
                    where = Location(path.name, conversation.id)
                    raise where.error("question_id", "used twice; give each instance its own")
                instances[conversation.id] = (conversation, question)
                repairs.extend(lines)
        check_names("conversations", self._conversations, instances)
        selected = [pair for pair in instances.values() if self._wanted(pair[1])][: self._limit]
        if not selected:
            raise InputError(
                f"{', '.join(file.name for file in files)}: no question is left; widen "
                "dataset.conversations and dataset.types"
            )
        names = {f"sample {conversation.id}:" for conversation, _ in selected}
        return Dataset(
            self.name,
            tuple(conversation for conversation, _ in selected),
            tuple(question for _, question in selected),
            tuple(files),
            tuple(line for line in repairs if any(name in line for name in names)),
            types=LONGMEMEVAL_TYPES,
        )

    def _check_options(self) -> None:
        check_limit(self._limit)
        if self._key != "original" or self._key_file is not None:
            raise InputError(
                f"dataset.key={self._key}: no errors of LongMemEval's key are listed here; use "
                "dataset.key=original without dataset.key_file"
            )
        check_names("types", self._types, LONGMEMEVAL_TYPES.values())

    def _wanted(self, question: Question) -> bool:
        return (self._types is None or question.type in self._types) and (
            self._conversations is None or question.conversation in self._conversations
        )


def _instance(file: str, index: int, raw: Any) -> tuple[Conversation, Question, list[str]]:
    item = as_object(raw, Location(file, f"#{index + 1}"), "instance")
    id_ = text(item, "question_id", Location(file, f"#{index + 1}"), "question_id")
    where = Location(file, id_)
    chats = read_chats(id_, item, where)
    category = _category(item, where)
    abstain = id_.endswith(_ABSTAIN)
    asked_at = parse_date(item.get("question_date"), where, "question_date")
    question = Question(
        id=f"{id_}/0",
        conversation=id_,
        category=ADVERSARIAL if abstain else category,
        type=LONGMEMEVAL_TYPES[ADVERSARIAL if abstain else category],
        text=text(item, "question", where, "question"),
        gold=None if abstain else _answer(item.get("answer"), where),
        evidence=chats.evidence,
        evidence_sessions=_evidence_sessions(item, chats.sessions, where),
        asked_at=asked_at,
    )
    return chats.conversation, question, list(chats.repairs)


def _category(item: dict[str, Any], where: Location) -> int:
    given = text(item, "question_type", where, "question_type")
    names = {name.replace("_", "-"): id_ for id_, name in LONGMEMEVAL_TYPES.items() if id_ > 5}
    if given not in names:
        raise where.error("question_type", f"{given!r} is no type; it is one of {', '.join(names)}")
    return names[given]


def _answer(value: Any, where: Location) -> str:
    """Return the gold answer as text; some of the published ones are numbers."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        state = "missing" if value is None else "is no text or number"
        raise where.error("answer", f"{state}; only questions that end in {_ABSTAIN} may omit it")
    if not str(value).strip():
        raise where.error("answer", f"empty; only questions that end in {_ABSTAIN} may omit it")
    return str(value)


def _evidence_sessions(
    item: dict[str, Any], sessions: Iterable[str], where: Location
) -> tuple[str, ...]:
    """Return the ids of the sessions with the answer; InputError for one without turns."""
    field, known = "answer_session_ids", set(sessions)
    ids = as_list(item.get(field), where, field)
    for index, id_ in enumerate(ids):
        if id_ not in known:
            raise where.error(f"{field}[{index}]", f"{id_!r} is no session with turns")
    return tuple(dict.fromkeys(ids))
