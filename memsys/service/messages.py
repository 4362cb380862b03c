"""The caller's messages: checked, their images described by a model, as a session, and as memories
that store them verbatim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, get_args
from uuid import uuid4

from memsys.core.errors import InputError, check_choice
from memsys.core.turns import ROLES
from memsys.core.types import Memory, Session, Turn
from memsys.knowledge.facts.extract import Detail, describe
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.facts.procedure import tool_calls
from memsys.knowledge.memory.base import MemoryBuilder, verbatim
from memsys.llm.base import LLMError
from memsys.llm.prompt import load_prompt
from memsys.service.arguments import NOT_EMPTY
from memsys.service.owners import NoModelError, check_text, turn_key
from memsys.service.settings import Setup

Messages = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
_FIELDS = {"role", "content", "name", "id", "tool_calls", "tool_call_id"}
_PARTS = "text", "image_url"  # types of a part of a content


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
    `name` (the speaker, else the role), `id`, and `tool_calls`, which become text. System messages
    are left out, as they describe nobody. Turns get new ids, because a caller may use one twice.
    Raises InputError on an invalid message.
    """
    turns, roles, public = [], [], {}
    for i, message in enumerate(as_list(messages)):
        where = f"messages[{i}]"
        if not isinstance(message, Mapping) or (wrong := set(message) - _FIELDS):
            found = "a message" if not isinstance(message, Mapping) else sorted(wrong, key=str)[0]
            raise InputError(
                f"{where}: {found!s:.40}: use role and content, and perhaps name, id, tool_calls "
                "and tool_call_id"
            )
        role: Any = message.get("role")
        content = message.get("content")
        check_choice(f"{where}.role", role, ROLES)
        calls = [f"calls {name}({given})" for name, given in tool_calls(message, where)]
        if calls and (content is None or isinstance(content, str)):
            content = "\n".join(filter(None, [content, *calls]))
        content = check_text(content, f"{where}.content", NOT_EMPTY, 1)
        name = check_text(message.get("name") or role, f"{where}.name")
        id_ = check_text(message.get("id") or uuid4().hex, f"{where}.id")
        if role == "system":
            continue
        turn = Turn(uuid4().hex, name, content)
        turns.append(turn)
        roles.append(role)
        public[turn.id] = turn_key(id_, turn)
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
    if any(len(one.turns) > 1 for one in units):
        return units
    nameless = [replace(one, speaker="") if one.speaker in ROLES else one for one in session.turns]
    plain = builder.build(replace(session, turns=tuple(nameless)))
    return [replace(one, speaker=old.speaker) for one, old in zip(plain, units, strict=True)]


def as_texts(setup: Setup, messages: Sequence[Any], log: list[Event]) -> list[Any]:
    """Return `messages` of OpenAI's chat protocol with text in place of a content that is a part or
    a list of parts; an image becomes `[image: description]` by the model. The calls are logged.

    Contents with other parts than text and images are returned unchanged. Raises InputError on an
    invalid part, NoModelError on an image without a model, LLMError without a description.
    """
    return [_as_text(setup, one, f"messages[{i}]", log) for i, one in enumerate(messages)]


def _as_text(setup: Setup, message: Any, where: str, log: list[Event]) -> Any:
    content = message.get("content") if isinstance(message, Mapping) else None
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list) or not parts or not all(map(_is_known, parts)):
        return message
    system = message.get("role") == "system"  # which is not stored
    images = [one for one in parts if one["type"] == "image_url" and not system]
    words = "\n".join(_words(one, where) for one in parts if one["type"] == "text")
    speaker = message.get("name") or message.get("role")
    turn = Turn(where, str(speaker), words)
    shown = [f"[image: {one}]" for one in _descriptions(setup, turn, images, log)]
    return {**message, "content": " ".join(filter(None, [words, *shown]))}


def _is_known(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") in _PARTS


def _words(part: Mapping[str, Any], where: str) -> str:
    return check_text(part.get("text"), f"{where}.content", "a part of type text has no text")


def _descriptions(
    setup: Setup, turn: Turn, images: Sequence[Mapping[str, Any]], log: list[Event]
) -> Iterator[str]:
    """Yield one sentence on each image. `turn`: the message that they came with."""
    for part in images:
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, Mapping) else None
        if not isinstance(image, Mapping) or not isinstance(url, str):
            raise InputError(f"{turn.id}.content: a part of type image_url has no image_url.url")
        if setup.llm is None:
            raise NoModelError(
                f"{turn.id}.content: there is no model to describe the image with; set llm= to "
                "one that sees images, or leave the image out"
            )
        detail = image.get("detail") or setup.facts.image_detail
        check_choice(f"{turn.id}.content.detail", detail, get_args(Detail))
        prompt = load_prompt(setup.facts.image_prompt, ["message"])
        sentence = describe(setup.llm, prompt, replace(turn, image=url), detail, log)
        if sentence is None:
            fault = log[-1]
            wrong = InputError if fault["fault"] == "bad_address" else LLMError
            raise wrong(f"{turn.id}.content: the image was not described ({fault['detail']})")
        yield sentence
