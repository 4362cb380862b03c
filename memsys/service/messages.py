"""The caller's messages: checked, their images described by a model, as a session, and as memories
that store them verbatim; and the last ones of each owner, which are stored for a model.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memsys.core.errors import InputError, problems
from memsys.core.turns import ROLES
from memsys.core.types import Memory, Session, Turn
from memsys.knowledge.facts.extract import Detail, describe
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.facts.procedure import tool_calls
from memsys.knowledge.memory.base import MemoryBuilder, verbatim
from memsys.llm.base import LLMError
from memsys.llm.prompt import load_prompt
from memsys.service.arguments import NoModelError, Owner, Unicode, turn_key
from memsys.service.database import MemoryDatabase, as_json
from memsys.service.setup import Setup

Messages = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    role: Literal["user", "assistant", "system", "tool"]
    content: Unicode | None = None
    name: Unicode | None = None
    id: Unicode | None = None
    tool_calls: Any = None  # checked by tool_calls, as is the next
    tool_call_id: Any = None


class _Words(BaseModel, strict=True):
    type: Literal["text"]
    text: str


class _Address(BaseModel, strict=True):
    url: str
    detail: Detail | None = None


class _Image(BaseModel, strict=True):
    type: Literal["image_url"]
    image_url: _Address


_TYPES = ("text", "image_url")
_PARTS = TypeAdapter(list[Annotated[_Words | _Image, Field(discriminator="type")]])


@dataclass(frozen=True, slots=True)
class ParsedMessages:
    """A session, the roles of its turns, and the keys of the turns (`public`); see turn_key."""

    session: Session
    roles: tuple[str, ...]
    public: Mapping[str, str]


def as_list(messages: Messages) -> list[Any]:
    """Return `messages` as a list: a text is one message of the user. Raises InputError if there is
    no message.
    """
    listed: Any = {"role": "user", "content": messages} if isinstance(messages, str) else messages
    listed = [listed] if isinstance(listed, Mapping) else listed
    if isinstance(listed, bytes) or not isinstance(listed, Sequence) or not listed:
        raise InputError("messages: give a text, or messages with role and content")
    return [dict(message) if isinstance(message, Mapping) else message for message in listed]


def parse_messages(messages: Messages, time: datetime) -> ParsedMessages:
    """Return `messages` as a session at `time`. A message has `role` and `content`, and may have
    `name` (the speaker, else the role), `id`, and `tool_calls`, which become text. System messages
    are left out, as they describe nobody. Turns get new ids, because a caller may use one twice.
    Raises InputError on an invalid message.
    """
    turns, roles, public = [], [], {}
    for i, message in enumerate(as_list(messages)):
        where = f"messages[{i}]"
        with problems(where):
            parsed = _Message.model_validate(message)
        calls = [f"calls {name}({given})" for name, given in tool_calls(message, where)]
        text = "\n".join(filter(None, [parsed.content, *calls]))
        if not text:
            raise InputError(f"{where}.content: use text that is not empty")
        if parsed.role == "system":
            continue
        turn = Turn(uuid4().hex, parsed.name or parsed.role, text)
        turns.append(turn)
        roles.append(parsed.role)
        public[turn.id] = turn_key(parsed.id or uuid4().hex, turn)
    return ParsedMessages(Session(uuid4().hex, time, tuple(turns)), tuple(roles), public)


def as_units(messages: Messages, parsed: ParsedMessages, builder: MemoryBuilder) -> list[Memory]:
    """Return the memories to store: a text verbatim, messages as the memory option builds them. A
    role is the speaker of a memory of one message, and does not stand before its words as a name
    does; in a memory of several it has to tell apart who says what.
    """
    session = parsed.session
    if isinstance(messages, str):
        (turn,) = session.turns
        return [verbatim(turn.id, messages, session.time, turn.speaker, (turn.id,))]
    units = builder.build(session)
    if any(len(unit.turns) > 1 for unit in units):
        return units
    turns = [replace(turn, speaker="") if turn.speaker in ROLES else turn for turn in session.turns]
    plain = builder.build(replace(session, turns=tuple(turns)))
    return [replace(unit, speaker=old.speaker) for unit, old in zip(plain, units, strict=True)]


def as_texts(
    setup: Setup, messages: Sequence[Any], log: list[Event], *, run: bool = False
) -> list[Any]:
    """Return `messages` of OpenAI's chat protocol with text in place of a content that is a part or
    a list of parts; an image becomes `[image: description]` by the model. The calls are logged.
    `run`: of an agent, where a message with parts of another type stays as it is.

    Raises InputError on an invalid part, NoModelError on an image without a model, LLMError without
    a description.
    """
    return [_as_text(setup, item, f"messages[{i}]", log, run) for i, item in enumerate(messages)]


def _as_text(setup: Setup, message: Any, where: str, log: list[Event], run: bool) -> Any:
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, Mapping | list):
        return message
    given = [content] if isinstance(content, Mapping) else content
    if run and not all(isinstance(part, Mapping) and part.get("type") in _TYPES for part in given):
        return message
    with problems(f"{where}.content"):
        parts = _PARTS.validate_python(given)
    words = "\n".join(part.text for part in parts if isinstance(part, _Words))
    turn = Turn(where, str(message.get("name") or message.get("role")), words)
    images = [part.image_url for part in parts if isinstance(part, _Image)]
    if message.get("role") == "system":  # which is not stored
        images = []
    shown = [f"[image: {_description(setup, turn, image, log)}]" for image in images]
    return {**message, "content": " ".join(filter(None, [words, *shown]))}


def _description(setup: Setup, turn: Turn, image: _Address, log: list[Event]) -> str:
    """Return one sentence on an image. `turn`: the message that it came with."""
    if setup.llm is None:
        raise NoModelError(
            f"{turn.id}.content: there is no model to describe the image with; set llm= to one "
            "that sees images, or leave the image out"
        )
    detail = image.detail or setup.facts.image_detail
    prompt = load_prompt(setup.facts.image_prompt, ["message"])
    sentence = describe(setup.llm, prompt, replace(turn, image=image.url), detail, log)
    if sentence is None:
        fault = log[-1]
        wrong = InputError if fault["fault"] == "bad_address" else LLMError
        raise wrong(f"{turn.id}.content: the image was not described ({fault['detail']})")
    return sentence


class Dialogues:
    """The last messages of each owner and their summary, from which a model writes memories: a
    table of the database. Callers hold its lock, and a transaction for changes.
    """

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    def of(self, owner: Owner) -> tuple[list[Any], str]:
        """Return the stored last messages of `owner` and their summary."""
        query = "SELECT said, summary FROM dialogues WHERE owner=?"
        row = self._database.execute(query, (as_json(owner.named),)).fetchone()
        return (json.loads(row[0]), row[1]) if row else ([], "")

    def put(self, owner: Owner, messages: Sequence[Any], summary: str) -> None:
        """Store the last messages of `owner` and their summary."""
        row = (as_json(owner.named), as_json(messages), summary)
        self._database.execute("INSERT OR REPLACE INTO dialogues VALUES (?, ?, ?)", row)

    def set_summary(self, owner: Owner, summary: str, turn: str) -> bool:
        """Replace the summary of `owner` if the message `turn` is stored still, or none is; return
        whether it was replaced.
        """
        query = "UPDATE dialogues SET summary=? WHERE owner=? AND (said='[]' OR instr(said, ?) > 0)"
        row = (summary, as_json(owner.named), turn)
        return self._database.execute(query, row).rowcount > 0

    def drop(self, owner: Owner | None, *, shared: bool = False) -> None:
        """Delete the messages and summaries of `owner` (None: of all); `shared`: those from which a
        model writes memories of the owner, see Owner.shares.
        """
        for (key,) in self._database.execute("SELECT owner FROM dialogues").fetchall():
            stored_owner = Owner(**json.loads(key))
            within = owner is None or owner.named.items() <= stored_owner.named.items()
            if within or (shared and owner is not None and owner.shares(stored_owner)):
                self._database.execute("DELETE FROM dialogues WHERE owner=?", (key,))


def sessions_of(dialogue: Sequence[Sequence[Any]]) -> list[Session]:
    """Return stored messages, grouped by the sessions in which they were said."""
    sessions = []
    for time, group in groupby(dialogue, key=lambda row: row[0]):
        turns = tuple(Turn(id_, speaker, text) for _, id_, speaker, text, _ in group)
        sessions.append(Session("earlier", datetime.fromisoformat(time), turns))
    return sessions
