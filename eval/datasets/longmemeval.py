"""LongMemEval (Wu et al., 2025, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive
Memory") and any file of its layout: an instance is one history of chats and one question of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eval.datasets.chats import parse_date, read_chats
from eval.datasets.files import DATA, json_files, read_json, shared_folder
from eval.datasets.filters import check_limit, check_names
from eval.datasets.layout import Place, as_list, as_object, text
from eval.datasets.sources import load_sources
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question, SourceFile
from memsys.errors import InputError
from memsys.types import Conversation

# The file's `question_type` with _ for -, under numbers that no LoCoMo type has. 5 is, as there,
# what is right to abstain from: a question_id that ends in _abs, whatever its question_type.
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
    """Histories and their questions of one file, or of a folder's *.json in name order.

    name: what tables call the data set. path: None looks for longmemeval_oracle.json in the data
    folder, then in $MEMSYS_SHARED/longmemeval; a relative path counts from the current folder, then
    from the project's. conversations: keep these question ids. types: keep these question types, by
    name. limit: the first so many questions, counted after both. key, key_file: there is no list of
    errors for this data set, so only original and None.
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
        """Read, check and filter. Raises InputError naming file, question id and field; also where
        a filter names what is not there, or no question is left.
        """
        self._check_options()
        found: dict[str, tuple[Conversation, Question]] = {}
        files: list[SourceFile] = []
        repairs: list[str] = []
        for path in json_files(self._path or _default_path()):
            value, source = read_json(path)
            files.append(source)
            if not isinstance(value, list) or not value:
                raise InputError(f"{path.name}: must be a list of LongMemEval instances")
            for index, raw in enumerate(value):
                conversation, question, mended = _instance(path.name, index, raw)
                if conversation.id in found:
                    place = Place(path.name, conversation.id)
                    raise place.error("question_id", "used twice; give each instance its own")
                found[conversation.id] = (conversation, question)
                repairs.extend(mended)
        check_names("conversations", self._conversations, found)
        kept = [pair for pair in found.values() if self._wanted(pair[1])][: self._limit]
        if not kept:
            raise InputError(
                f"{', '.join(file.name for file in files)}: no question is left; widen "
                "dataset.conversations and dataset.types"
            )
        names = {f"sample {conversation.id}:" for conversation, _ in kept}
        return Dataset(
            self.name,
            tuple(conversation for conversation, _ in kept),
            tuple(question for _, question in kept),
            tuple(files),
            tuple(told for told in repairs if any(name in told for name in names)),
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
    item = as_object(raw, Place(file, f"#{index + 1}"), "instance")
    id_ = text(item, "question_id", Place(file, f"#{index + 1}"), "question_id")
    place = Place(file, id_)
    chats = read_chats(id_, item, place)
    category = _category(item, place)
    abstain = id_.endswith(_ABSTAIN)
    asked_at = parse_date(item.get("question_date"), place, "question_date")
    question = Question(
        id=f"{id_}/0",
        conversation=id_,
        category=ADVERSARIAL if abstain else category,
        type=LONGMEMEVAL_TYPES[ADVERSARIAL if abstain else category],
        text=text(item, "question", place, "question"),
        gold=None if abstain else _answer(item.get("answer"), place),
        evidence=chats.evidence,
        evidence_sessions=_evidence_sessions(item, chats.sessions, place),
        asked_at=asked_at,
    )
    return chats.conversation, question, list(chats.repairs)


def _category(item: dict[str, Any], place: Place) -> int:
    given = text(item, "question_type", place, "question_type")
    names = {name.replace("_", "-"): id_ for id_, name in LONGMEMEVAL_TYPES.items() if id_ > 5}
    if given not in names:
        raise place.error("question_type", f"{given!r} is no type; it is one of {', '.join(names)}")
    return names[given]


def _answer(value: Any, place: Place) -> str:
    """The gold answer; some of the published ones are numbers."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        state = "missing" if value is None else "is no text or number"
        raise place.error("answer", f"{state}; only what ends in {_ABSTAIN} goes without")
    if not str(value).strip():
        raise place.error("answer", f"empty; only what ends in {_ABSTAIN} goes without")
    return str(value)


def _evidence_sessions(
    item: dict[str, Any], sessions: Iterable[str], place: Place
) -> tuple[str, ...]:
    field, known = "answer_session_ids", set(sessions)
    found = as_list(item.get(field), place, field)
    for index, id_ in enumerate(found):
        if id_ not in known:
            raise place.error(f"{field}[{index}]", f"{id_!r} is no session with turns")
    return tuple(dict.fromkeys(found))


def _default_path() -> str:
    file = load_sources()["longmemeval"].file
    shared: Path = shared_folder() / "longmemeval"
    for place in (DATA / file, shared / file, shared / _SAMPLE):
        if place.is_file():
            return str(place)
    raise InputError(
        f"LongMemEval is not here: run `python -m eval.fetch longmemeval`, put the file at "
        f"data/{file}, or set dataset.path=..."
    )
