"""The caller's messages: checked, as a session, and as memories that store them verbatim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from memsys.core.errors import InputError, check_choice
from memsys.core.types import Memory, Session, Turn
from memsys.knowledge.memory.base import MemoryBuilder, verbatim
from memsys.service.records import check_text, turn_key

ROLES = ("user", "assistant", "system", "tool")
Messages = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
_FIELDS = {"role", "content", "name", "id"}


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
    return list(listed)


def parse_messages(messages: Messages, time: datetime) -> ParsedMessages:
    """Return `messages` as a session at `time`. A message has `role` and `content`, and may have
    `name` (the speaker, else the role) and `id`. System messages are left out, as they describe
    nobody. Turns get new ids, because a caller may use one twice. Raises InputError on an invalid
    message.
    """
    turns, roles, public = [], [], {}
    for i, message in enumerate(as_list(messages)):
        where = f"messages[{i}]"
        if not isinstance(message, Mapping) or (wrong := set(message) - _FIELDS):
            found = "a message" if not isinstance(message, Mapping) else sorted(wrong, key=str)[0]
            raise InputError(f"{where}: {found!s:.40}: use role and content, and name and id")
        role: Any = message.get("role")
        content = message.get("content")
        check_choice(f"{where}.role", role, ROLES)
        if not isinstance(content, str) or not content:
            raise InputError(f"{where}.content: use text that is not empty")
        name, id_ = message.get("name") or role, message.get("id") or uuid4().hex
        for field, value in (("content", content), ("name", name), ("id", id_)):
            if not isinstance(value, str):
                raise InputError(f"{where}.{field}: use text")
            check_text(value, f"{where}.{field}")
        if role == "system":
            continue
        turn = Turn(uuid4().hex, name, content)
        turns.append(turn)
        roles.append(role)
        public[turn.id] = turn_key(id_, turn)
    return ParsedMessages(Session(uuid4().hex, time, tuple(turns)), tuple(roles), public)


def as_units(messages: Messages, parsed: ParsedMessages, builder: MemoryBuilder) -> list[Memory]:
    """Return the memories to store: a text verbatim, messages as the memory option builds them."""
    if not isinstance(messages, str):
        return builder.build(parsed.session)
    (turn,) = parsed.session.turns
    return [verbatim(turn.id, messages, parsed.session.time, turn.speaker, (turn.id,))]
