"""BEAM (Tavakoli et al., 2025, arXiv 2510.27246, "Beyond a Million Tokens"): long generated chats
and questions on ten abilities, in the layout of the published repository.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import StrictInt

from eval.datasets.checks import Location, Row, Text, parse, same_name, time_by
from eval.datasets.files import find_path, read_json
from eval.datasets.selection import Filters, Part
from eval.datasets.types import TABLES, TYPES, Dataset, Question, SourceFile
from memsys.core.dates import MONTH_NUMBERS
from memsys.core.declared import PathText
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Session, Turn

_ABILITIES: dict[str, tuple[int, str | None]] = TABLES["beam"]
BEAM_TYPES: dict[int, str] = {id_: TYPES.get(id_, name) for name, (id_, _) in _ABILITIES.items()}
_QUESTIONS = Path("probing_questions") / "probing_questions.json"
# The published scripts answer from the first of these that is there; its name is spelt like that.
_CHATS = ("chat_trunecated.json", "chat.json")
_WANTED = (
    f"a folder of the published repository, such as chats/100K, with N/chat.json and N/{_QUESTIONS}"
)


class _Question(Row):
    question: Text
    answer: Any = None
    ideal_answer: Any = None
    ideal_summary: Any = None
    source_chat_ids: Any = None


@dataclass(frozen=True, kw_only=True)
class Beam(Filters):
    """Chats and their questions, each in a folder of its own at any depth below `path`.

    name: the data set's name in tables. path: a folder such as chats, chats/100K or chats/100K/1; a
    relative path is looked up in the current folder, then in the project's. conversations: only
    these, by the folder's path below `path`, written with - for /. types: only these question
    types, by name. limit: at most this many questions of each conversation, applied after `types`.
    key, key_file: no errors of this data set are listed, so only original and None are valid.
    """

    path: PathText | None = None
    key: Literal["original"] = "original"
    key_file: None = None

    def load(self) -> Dataset:
        """Read, check and filter the files. Raises InputError naming file, conversation and field;
        also if a filter names something unknown or no question is left.
        """
        self.check(BEAM_TYPES.values())
        folders = _folders(self.path)
        files: list[SourceFile] = []
        parts = [_read(id_, folders[id_], files) for id_ in self.wanted(folders)]
        return self.collect(parts, files, BEAM_TYPES)


def _folders(path: str | None) -> dict[str, Path]:
    """Return the folders with questions by the ids of their conversations, by number. Raises
    InputError if there is none, or if two have the same id.
    """
    if path is None:
        raise InputError(
            f"dataset.path is missing: BEAM is not part of this project; name {_WANTED}"
        )
    root = find_path(path, f"name {_WANTED}")
    folders = {file.parents[1] for file in root.rglob(str(_QUESTIONS))}
    if not folders:
        raise InputError(f"{path}: contains no {_QUESTIONS}; name {_WANTED}")
    by_id = {"-".join(folder.relative_to(root).parts) or folder.name: folder for folder in folders}
    if len({same_name(id_) for id_ in by_id}) < len(folders):
        raise InputError(f"{path}: folders whose names look alike, as a-1 and A/1 do; rename one")
    order = sorted(by_id, key=lambda id_: [(len(part), part) for part in id_.split("-")])
    return {id_: by_id[id_] for id_ in order}


def _read(id_: str, folder: Path, files: list[SourceFile]) -> Part:
    """Return the conversation in a folder, and add what was read to `files`."""
    chat = next((folder / name for name in _CHATS if (folder / name).is_file()), None)
    if chat is None:
        raise InputError(f"{folder}: neither {_CHATS[0]} nor {_CHATS[1]}; add the chat")
    value, of_chat = read_json(chat)
    asked, of_questions = read_json(folder / _QUESTIONS)
    files += [of_chat, of_questions]
    where, place = Location(chat.name, id_), Location(_QUESTIONS.name, id_)
    sessions, turns = read_chat(value, where)
    questions: list[Question] = []
    for ability, rows in parse(dict[str, list[_Question]], asked, place).items():
        if ability not in _ABILITIES:
            raise place.error(ability, f"is no ability; they are {', '.join(_ABILITIES)}")
        category, gold = _ABILITIES[ability]
        for index, row in enumerate(rows):
            field = f"{ability}[{index}]"
            questions.append(
                Question(
                    id=f"{id_}/{len(questions)}",
                    conversation=id_,
                    category=category,
                    type=BEAM_TYPES[category],
                    text=row.question,
                    gold=parse(Text, getattr(row, gold), place, f"{field}.{gold}")
                    if gold
                    else None,
                    evidence=_evidence(row.source_chat_ids, turns, place, field),
                )
            )
    return Part(Conversation(id_, ROLES, sessions), questions, [*where.repairs, *place.repairs])


def _evidence(
    value: Any, turns: Mapping[int, Sequence[str]], where: Location, question: str
) -> tuple[str, ...]:
    """Return the ids of the turns named by `value`: a message id, or lists or objects of these.
    Where several turns have a message id, it is uncertain which is meant: there is then no evidence
    at all.
    """
    cited: dict[str, None] = {}
    for id_ in _atoms(value):
        named = turns.get(id_, ()) if isinstance(id_, int) and not isinstance(id_, bool) else ()
        problem = f"no evidence: {len(named)} messages have the id {id_}"
        if not named:
            problem = f"{id_!r:.60} dropped: no such message"
        if len(named) != 1:
            where.repaired(f"{question}.source_chat_ids", problem)
        if len(named) > 1:
            return ()
        cited |= dict.fromkeys(named)
    return tuple(cited)


def _atoms(value: Any) -> Iterator[Any]:
    """Yield the values within nested lists and objects, in order; None is nothing."""
    if isinstance(value, list | dict):
        for element in value.values() if isinstance(value, dict) else value:
            yield from _atoms(element)
    elif value is not None:
        yield value


_PLAN = re.compile(r"plan-\d+")
# The generator's note of the point of its plan, at the end of a user's message: `->-> 3,12`.
_MARK = re.compile(r"\s*->-?>\s*\d+\s*,\s*(?:\d+|N/A)\s*$")
ROLES = ("user", "assistant")


def _date(value: str) -> datetime:
    month, day, year = value.strip().split("-")
    return datetime(int(year), MONTH_NUMBERS[month.lower()], int(day))


class _Message(Row):
    id: StrictInt
    role: Literal["user", "assistant"]
    content: str
    time_anchor: Annotated[datetime | None, time_by(_date, '"March-15-2024"', optional=True)] = None


_Turns = list[list[_Message]]


class _Batch(Row):
    turns: _Turns


def read_chat(
    value: Any, where: Location
) -> tuple[tuple[Session, ...], Mapping[int, Sequence[str]]]:
    """Return a session for each batch of the chat, in file order, and the ids of the turns by the
    `id` of the messages, which some published files use twice.

    A message is a turn here, with the id `<session>:<n>`, n counted from 0. A session's time is
    the first `time_anchor` in it, at midnight, or else the time of the session before. Raises
    InputError naming the field of anything that the published files do not have.
    """
    sessions: list[Session] = []
    turns: dict[int, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for field, batch in _batches(value, where):
        name = f"s{len(sessions) + 1}"
        own: list[Turn] = []
        messages = [message for turn in batch for message in turn]
        for message in messages:
            content, removed = _MARK.subn("", message.content)
            counts["notes of the generator's plan removed"] += removed
            if content.strip():
                turns[message.id].append(f"{name}:{len(own)}")
                own.append(Turn(turns[message.id][-1], message.role, content))
            else:
                counts["blank messages dropped"] += 1
        time = next((message.time_anchor for message in messages if message.time_anchor), None)
        if not own or not (time or sessions):
            missing = "time_anchor in the first batch" if own else "messages"
            raise where.error(field, f"no {missing}; add what is missing, or remove the batch")
        if time is None:
            time = sessions[-1].time
            where.repaired(field, "no time_anchor; the time of the session before is used")
        sessions.append(Session(name, time, tuple(own)))
    if not sessions:
        raise where.error("chat", "no batch; add the chat")
    for repair, number in (+counts).items():
        where.repaired("content", f"{number} {repair}")
    return tuple(sessions), turns


def _batches(value: Any, where: Location) -> Iterator[tuple[str, _Turns]]:
    """Yield place and turns of each batch: of a chat, or of the chats of several plans, as the
    chats of 10M tokens are.
    """
    for index, item in enumerate(parse(list, value, where, "chat")):
        field = f"[{index}]"
        plans = item if isinstance(item, dict) else {}
        if isinstance(item, list):  # of messages, as in the table of the data set
            yield field, parse(_Turns, [item], where, field)
        elif "turns" in plans:
            yield f"{field}.turns", parse(_Batch, item, where, field).turns
        elif plans and all(map(_PLAN.fullmatch, plans)):
            kind = dict[str, list[_Batch] | None]
            for name, batches in parse(kind, plans, where, field).items():
                for number, batch in enumerate(batches or ()):
                    yield f"{field}.{name}[{number}].turns", batch.turns
        else:
            problem = "neither a batch with turns nor an object of plan-N"
            raise where.error(field, f"{problem}; use the repository's chat.json")
