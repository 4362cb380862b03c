"""What a caller says, as the turns of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from memsys.errors import InputError
from memsys.service.records import check_text
from memsys.types import Session, Turn

ROLES = ("user", "assistant", "system", "tool")
Messages = str | Sequence[Mapping[str, Any]]
_FIELDS = {"role", "content", "name", "id"}


@dataclass(frozen=True, slots=True)
class Heard:
    """A session, who spoke in it, and by what ids the caller knows its turns."""

    session: Session
    roles: tuple[str, ...]
    public: Mapping[str, str]


def hear(messages: Messages, time: datetime) -> Heard:
    """`messages` as a session at `time`: a text is one message of the user; a message has `role`,
    `content`, and may have `name` (the speaker, else the role) and `id`. System messages are left
    out: they say nothing of anybody.

    Turns get ids of their own: a caller may use one twice. Raises InputError.
    """
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    if isinstance(given, Mapping) or not isinstance(given, Sequence) or not given:
        raise InputError("messages: give a text, or a list of messages with role and content")
    turns, roles, public = [], [], {}
    for i, message in enumerate(given):
        where = f"messages[{i}]"
        if not isinstance(message, Mapping) or (wrong := set(message) - _FIELDS):
            told = "a message" if not isinstance(message, Mapping) else sorted(wrong, key=str)[0]
            raise InputError(f"{where}: {told!s:.40}: use role and content, and name and id")
        role, content = message.get("role"), message.get("content")
        if role not in ROLES:
            raise InputError(f"{where}.role: {role!s:.40} is none of {', '.join(ROLES)}")
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
        public[turn.id] = id_
    return Heard(Session(uuid4().hex, time, tuple(turns)), tuple(roles), public)
