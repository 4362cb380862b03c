"""BEAM (Tavakoli et al., 2025, arXiv 2510.27246, "Beyond a Million Tokens"): long generated chats
and questions on ten abilities, in the layout of the published repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.datasets.beam_chat import ROLES, read_chat
from eval.datasets.beam_questions import BEAM_TYPES, read_questions
from eval.datasets.checks import Location, check_distinct, check_names
from eval.datasets.files import find_file, read_json
from eval.datasets.types import Dataset, Question, SourceFile
from memsys.core.declared import Count, Name, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Conversation

_QUESTIONS = Path("probing_questions") / "probing_questions.json"
# The published scripts answer from the first of these that is there; its name is spelt like that.
_CHATS = ("chat_trunecated.json", "chat.json")
_WANTED = (
    f"a folder of the published repository, such as chats/100K, with N/chat.json and N/{_QUESTIONS}"
)


@dataclass(frozen=True, kw_only=True)
class Beam:
    """Chats and their questions, each in a folder of its own at any depth below `path`.

    name: the data set's name in tables. path: a folder such as chats, chats/100K or chats/100K/1; a
    relative path is looked up in the current folder, then in the project's. conversations: only
    these, by the folder's path below `path`, written with - for /. types: only these question
    types, by name. limit: at most this many questions of each conversation, applied after `types`.
    key, key_file: no errors of this data set are listed, so only original and None are valid.
    """

    name: Name
    path: str | None = None
    conversations: Sequence[str] | None = None
    types: Sequence[str] | None = None
    limit: Count | None = None
    key: str = "original"
    key_file: str | None = None

    def load(self) -> Dataset:
        """Read, check and filter the files. Raises InputError naming file, conversation and field;
        also if a filter names something unknown or no question is left.
        """
        check_fields(self, "dataset")
        check_names("types", self.types, BEAM_TYPES.values())
        if self.key != "original" or self.key_file is not None:
            raise InputError(
                f"dataset.key={self.key}: no errors of BEAM's key are listed here; use "
                "dataset.key=original without dataset.key_file"
            )
        folders = _folders(self.path)
        check_names("conversations", self.conversations, folders)
        chosen = folders if self.conversations is None else self.conversations
        types = set(BEAM_TYPES.values() if self.types is None else self.types)
        conversations: list[Conversation] = []
        questions: list[Question] = []
        files: list[SourceFile] = []
        repairs: list[str] = []
        for id_, folder in folders.items():
            if id_ not in chosen:
                continue
            conversation, all_questions, read, repaired = _read(id_, folder)
            asked = [one for one in all_questions if one.type in types][: self.limit]
            if asked:
                conversations.append(conversation)
                questions += asked
            files += read
            repairs += repaired
        if not questions:
            raise InputError(f"{self.path}: no question is left; widen dataset.types")
        return Dataset(
            self.name,
            tuple(conversations),
            tuple(questions),
            tuple(files),
            tuple(repairs),
            types=BEAM_TYPES,
        )


def _folders(path: str | None) -> dict[str, Path]:
    """Return the folders with questions by the ids of their conversations, by number. Raises
    InputError if there is none, or if two have the same id.
    """
    if path is None:
        raise InputError(
            f"dataset.path is missing: BEAM is not part of this project; name {_WANTED}"
        )
    found = find_file(path)
    if found is None:
        raise InputError(f"{path}: no such folder; name {_WANTED}")
    if not found.is_dir():
        raise InputError(f"{path}: a file; name {_WANTED}")
    folders = {one.parents[1] for one in found.rglob(str(_QUESTIONS))}
    if not folders:
        raise InputError(f"{path}: contains no {_QUESTIONS}; name {_WANTED}")
    by_id: dict[str, Path] = {}
    names: dict[str, Location] = {}
    for one in sorted(folders):
        inner = one.relative_to(found)
        id_ = "-".join(inner.parts) or one.name
        check_distinct(names, Location(inner.as_posix(), id_), "folder")
        by_id[id_] = one
    order = sorted(by_id, key=lambda id_: [(len(part), part) for part in id_.split("-")])
    return {id_: by_id[id_] for id_ in order}


def _read(
    id_: str, folder: Path
) -> tuple[Conversation, list[Question], list[SourceFile], list[str]]:
    chat = next((folder / name for name in _CHATS if (folder / name).is_file()), None)
    if chat is None:
        raise InputError(f"{folder}: neither {_CHATS[0]} nor {_CHATS[1]}; add the chat")
    value, source = read_json(chat)
    where = Location(chat.name, id_)
    sessions, turns = read_chat(value, where)
    asked, of_questions = read_json(folder / _QUESTIONS)
    place = Location(_QUESTIONS.name, id_)
    questions = read_questions(asked, id_, turns, place)
    repairs = [*where.repairs, *place.repairs]
    return Conversation(id_, ROLES, sessions), questions, [source, of_questions], repairs
