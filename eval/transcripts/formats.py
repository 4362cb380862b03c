"""Exports of chat assistants (ChatGPT, Claude) and logs of coding agents (Claude Code, Codex CLI),
read as chats: messages with roles and times, in groups.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from eval.datasets.checks import Location, parse

Role = Literal["user", "assistant"]
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
_SENDERS: Mapping[str, Role] = {"human": "user", "assistant": "assistant"}
_UNNAMED = "agent"
_CITATION = re.compile("\ue200.*?\ue201|【\\d+[^】]{0,40}】", re.DOTALL)  # marks of web search
# What the programs themselves write into messages of the user.
_INSERTED = re.compile(
    r"<(system-reminder|local-command-[a-z]+|command-[a-z]+|bash-[a-z]+|environment_context"
    r"|user_instructions|turn_aborted|task-notification|ide_[a-z_]+|INSTRUCTIONS"
    r"|permissions instructions)>.*?</\1>",
    re.DOTALL,
)
_NOT_SAID = ("Caveat: The messages below", "[Request interrupted", "# AGENTS.md instructions")
_CLAUDE_CODE = {
    "isSidechain": "subagent messages",
    "isMeta": "inserted messages",
    "isCompactSummary": "compaction summaries",
    "isApiErrorMessage": "error messages",
}


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said. `time`: UTC, naive; None if the export has none for the message."""

    role: Role
    text: str
    time: datetime | None


@dataclass(slots=True)
class Chat:
    """A chat. `group`: what becomes one conversation, the project of a coding agent or the whole
    export. `time`: of its start, for messages without a time.
    """

    group: str
    time: datetime | None
    messages: list[Message] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """Counts of what was left out or changed, by name."""

    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    def drop(self, name: str, number: int = 1) -> None:
        """Count what was left out; the export may be where its `name` is from."""
        self.dropped[name[:40]] += number


def chatgpt(raw: Mapping[str, Any], where: Location, tally: Tally) -> Chat | None:
    """Return a conversation of ChatGPT's conversations.json: the branch that ends in
    `current_node`; None where that is missing.

    `mapping` is a tree of nodes with `parent` and `message`; other branches are answers that were
    generated again and questions that were edited.
    """
    nodes = parse(dict, raw.get("mapping"), where, "mapping")
    chat = Chat("chatgpt", _seconds(raw.get("create_time"), where, "create_time"))
    last = raw.get("current_node")
    if last is None:
        tally.drop("chats without current_node")
        return None
    branch: dict[str, dict[str, Any]] = {}
    while last is not None:
        if not isinstance(last, str) or last not in nodes:
            raise where.error("current_node", f"{last!r:.60} or a parent of it is not in mapping")
        if last in branch:
            break
        branch[last] = parse(dict, nodes[last], where, f"mapping.{last}")
        last = branch[last].get("parent")
    tally.drop("messages of other branches", sum(node not in branch for node in nodes))
    for id_, node in reversed(branch.items()):
        if node.get("message") is not None:
            place = f"mapping.{id_}.message"
            message = parse(dict, node["message"], where, place)
            chat.messages += _of_chatgpt(message, where, place, tally)
    return chat


def _of_chatgpt(
    message: Mapping[str, Any], where: Location, place: str, tally: Tally
) -> Iterator[Message]:
    """Yield the message, or nothing where it is none of user or assistant to the other."""
    author = parse(dict, message.get("author"), where, f"{place}.author").get("role")
    role = _role(author, _ROLES)
    metadata = message.get("metadata")
    if role is None:
        tally.drop(f"{author} messages")
    elif isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        tally.drop("hidden messages")
    elif message.get("recipient") not in (None, "all"):
        tally.drop("tool calls")
    elif message.get("content") is not None:
        content = parse(dict, message["content"], where, f"{place}.content")
        kind = content.get("content_type")
        if kind not in ("text", "multimodal_text"):
            tally.drop(f"{kind} contents")
            return
        texts: list[str] = []
        for part in parse(list, content.get("parts"), where, f"{place}.content.parts"):
            spoken = isinstance(part, dict) and part.get("content_type") == "audio_transcription"
            text = part.get("text") if spoken else part
            if isinstance(text, str):
                texts.append(_CITATION.sub("", text))
            else:
                tally.drop("images and other attachments")
        time = _seconds(message.get("create_time"), where, f"{place}.create_time")
        yield Message(role, "\n\n".join(texts), time)


def claude(raw: Mapping[str, Any], where: Location, tally: Tally) -> Chat:
    """Return a conversation of Claude's conversations.json."""
    chat = Chat("claude", _iso(raw.get("created_at"), where, "created_at"))
    for index, row in enumerate(parse(list, raw.get("chat_messages"), where, "chat_messages")):
        place = f"chat_messages[{index}]"
        message = parse(dict, row, where, place)
        role = _role(message.get("sender"), _SENDERS)
        if role is None:
            raise where.error(f"{place}.sender", "must be human or assistant")
        for name in ("attachments", "files"):
            given = message.get(name)
            tally.drop("attachments", len(given) if isinstance(given, Sized) else 0)
        text = message.get("text") or ""
        if message.get("content"):
            text = _text_of(message["content"], where, f"{place}.content", tally)
        elif not isinstance(text, str):
            raise where.error(f"{place}.text", "must be a text")
        time = _iso(message.get("created_at"), where, f"{place}.created_at")
        chat.messages.append(Message(role, text, time))
    return chat


class ClaudeCode:
    """Logs of Claude Code: lines with `type`, `sessionId`, `cwd`, `timestamp` and `message`."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._chats: dict[str, Chat] = {}
        self._seen: set[str] = set()  # a continued session repeats lines of the one before

    def add(self, raw: Mapping[str, Any], where: Location) -> Chat | None:
        """Read a line; return its chat if that is new."""
        role = _role(raw.get("type"), _ROLES)
        if role is None:
            return None
        line, flags = raw.get("uuid"), (flag for flag in _CLAUDE_CODE if raw.get(flag) is True)
        dropped = _CLAUDE_CODE.get(next(flags, ""))
        if dropped is None and isinstance(line, str):
            dropped = "repeated messages" if line in self._seen else None
            self._seen.add(line)
        if dropped is not None:
            self._tally.drop(dropped)
            return None
        time = _iso(raw.get("timestamp"), where, "timestamp")
        session = raw.get("sessionId")
        if not isinstance(session, str):
            raise where.error("sessionId", "missing or no text")
        new = session not in self._chats
        chat = self._chats.setdefault(session, Chat(_project(raw.get("cwd")), time))
        content = parse(dict, raw.get("message"), where, "message").get("content")
        text = _text_of(content, where, "message.content", self._tally)
        _say(chat, role, text, self._tally, time)
        return chat if new else None


class Codex:
    """A rollout of Codex CLI: lines with `timestamp`, `type` and `payload`, a session a file."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._chat = Chat(_UNNAMED, None)
        self._new = True

    def add(self, raw: Mapping[str, Any], where: Location) -> Chat | None:
        """Read a line; return the chat at the first message."""
        if raw.get("type") not in ("session_meta", "response_item"):
            return None  # event_msg repeats messages of response_item
        payload = parse(dict, raw.get("payload"), where, "payload")
        if raw["type"] == "session_meta":
            self._chat.group = _project(payload.get("cwd"))
            return None
        kind, role = payload.get("type"), _role(payload.get("role"), _ROLES)
        if kind != "message" or role is None:
            is_said = kind == "message"
            self._tally.drop(f"{payload.get('role')} messages" if is_said else f"{kind} items")
            return None
        time = _iso(raw.get("timestamp"), where, "timestamp")
        types = ("input_text", "output_text", "text")
        text = _text_of(payload.get("content"), where, "payload.content", self._tally, types)
        _say(self._chat, role, text, self._tally, time)
        new, self._new = self._new, False
        return self._chat if new else None


def _say(chat: Chat, role: Role, text: str, tally: Tally, time: datetime | None) -> None:
    """Add what was said to `chat`, without what the program inserted."""
    if role == "user":
        text, inserted = _INSERTED.subn("", text)
        tally.drop("inserted texts", inserted)
        if text.lstrip().startswith(_NOT_SAID):
            tally.drop("inserted texts")
            return
    chat.messages.append(Message(role, text, time))


def _project(folder: Any) -> str:
    return folder if isinstance(folder, str) and folder.strip() else _UNNAMED


def _role(value: Any, roles: Mapping[str, Role]) -> Role | None:
    return roles.get(value) if isinstance(value, str) else None


def _text_of(
    content: Any, where: Location, place: str, tally: Tally, texts: tuple[str, ...] = ("text",)
) -> str:
    """Return the text of a message's content: a text, or a list of blocks of which those of the
    types `texts` are text and others are counted as dropped.
    """
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for index, row in enumerate(parse(list, content, where, place)):
        block = parse(dict, row, where, f"{place}[{index}]")
        if block.get("type") not in texts:
            tally.drop(f"{block.get('type')} blocks")
        elif isinstance(block.get("text"), str):
            parts.append(block["text"])
        else:
            raise where.error(f"{place}[{index}].text", "must be a text")
    return "\n\n".join(parts)


def _seconds(value: Any, where: Location, place: str) -> datetime | None:
    """Return the time of a number of seconds since 1970; None for None."""
    if value is None:
        return None
    try:
        if not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
    except (OverflowError, OSError, TypeError, ValueError):
        pass
    raise where.error(place, f"{value!r:.60} is no time; it must be seconds since 1970")


def _iso(value: Any, where: Location, place: str) -> datetime | None:
    """Return the time of ISO 8601 in UTC; None for None. A time without a zone is taken as UTC."""
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (OverflowError, TypeError, ValueError):
        form = "it must be ISO 8601, as in 2025-05-08T13:56:00Z"
        raise where.error(place, f"{value!r:.60} is no time; {form}") from None
