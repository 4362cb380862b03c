"""Exports of chat assistants (ChatGPT, Claude) and logs of coding agents (Claude Code, Codex CLI),
read as chats: messages with roles and times, in groups.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from eval.datasets.checks import Location, Row, check_distinct, key_of, parse, time_by
from eval.datasets.sessions import read_conversation
from eval.transcripts.history import TABLE
from memsys.core.types import Conversation

Role = Literal["user", "assistant"]
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
_SENDERS: Mapping[Any, Role] = {"human": "user", "assistant": "assistant"}
_UNNAMED = "agent"
_CITATION = re.compile("\ue200.*?\ue201|【\\d+[^】]{0,40}】", re.DOTALL)  # marks of web search
_INSERTED = re.compile(rf"<({'|'.join(TABLE['inserted']['names'])})>.*?</\1>", re.DOTALL)
_NOT_SAID = tuple(TABLE["inserted"]["beginnings"])
_CLAUDE_CODE: Mapping[str, str] = TABLE["claude_code"]
_HIDDEN, _SPOKEN = "is_visually_hidden_from_conversation", "audio_transcription"
_TEXTS = ("text", "input_text", "output_text")  # types of blocks


def _seconds(value: float) -> datetime:
    return datetime.fromtimestamp(value, UTC).replace(tzinfo=None)


def _iso(value: str) -> datetime:
    time = datetime.fromisoformat(value)
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


# Naive, UTC; without a zone a time is UTC.
_Seconds = Annotated[datetime | None, time_by(_seconds, "seconds since 1970", optional=True)]
_Iso = Annotated[
    datetime | None, time_by(_iso, "ISO 8601, as in 2025-05-08T13:56:00Z", optional=True)
]


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


class _Block(Row):
    type: Any = None
    text: str | None = None


def _blocks(value: Any) -> Any:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


_Blocks = Annotated[list[_Block], BeforeValidator(_blocks)]  # of a message; a text is one


class _GptMessage(Row):
    author: dict[str, Any]
    recipient: Any = None
    metadata: Any = None
    content: dict[str, Any] | None = None
    create_time: _Seconds = None


class _ClaudeMessage(Row):
    sender: Annotated[Role, key_of(_SENDERS)]
    attachments: Any = None
    files: Any = None
    text: Any = None  # not read where there is content
    content: _Blocks | None = None
    created_at: _Iso = None


@dataclass
class Export:
    """An export, read object by object or line by line: its chats, and `conversations`, first those
    of LoCoMo's layout, then those that the chats become.

    `formats`: number of files by format. Files are `passed_over` because they are of no known
    format, or `unreadable` because of an error.
    """

    conversations: list[Conversation] = field(default_factory=list)
    chats: dict[str, Chat] = field(default_factory=dict)
    formats: Counter[str] = field(default_factory=Counter)
    passed_over: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    _seen: set[str] = field(default_factory=set)  # a continued session repeats lines
    _samples: dict[str, Location] = field(default_factory=dict)

    def chatgpt(self, raw: Mapping[str, Any], where: Location) -> None:
        """Read a conversation of ChatGPT's conversations.json: the branch that ends in
        `current_node`; none where that is missing.

        `mapping` is a tree of nodes with `parent` and `message`; other branches are answers that
        were generated again and questions that were edited.
        """
        nodes = _field(dict[str, dict[str, Any]], raw, where, "mapping")
        last = _field(str | None, raw, where, "current_node")
        if last is None:
            self.tally.drop("chats without current_node")
            return
        branch: dict[str, Any] = {}
        while last is not None and last not in branch:
            if last not in nodes:
                problem = f"{last!r:.60} or a parent of it is not in mapping"
                raise where.error("current_node", problem)
            branch[last] = nodes[last].get("message")
            last = _field(str | None, nodes[last], where, "parent", f"mapping.{last}.")
        self.tally.drop("messages of other branches", len(nodes) - len(branch))
        time = _field(_Seconds, raw, where, "create_time")
        chat = self._chat(f"{where.file} {where.sample}", "chatgpt", time)
        for id_, message in reversed(branch.items()):
            if message is not None:
                self._say_of_chatgpt(chat, message, where, f"mapping.{id_}.message")

    def _say_of_chatgpt(self, chat: Chat, raw: Any, where: Location, place: str) -> None:
        """Add a message, unless it is none of user or assistant to the other."""
        row = parse(_GptMessage, raw, where, place)
        role, kind = _role(row.author.get("role")), (row.content or {}).get("content_type")
        if role is None:
            self.tally.drop(f"{row.author.get('role')} messages")
        elif isinstance(row.metadata, dict) and row.metadata.get(_HIDDEN):
            self.tally.drop("hidden messages")
        elif row.recipient not in (None, "all"):
            self.tally.drop("tool calls")
        elif row.content and kind not in ("text", "multimodal_text"):
            self.tally.drop(f"{kind} contents")
        elif row.content:
            texts: list[str] = []
            for part in _field(list[Any], row.content, where, "parts", f"{place}.content."):
                spoken = isinstance(part, dict) and part.get("content_type") == _SPOKEN
                text = part.get("text") if spoken else part
                if isinstance(text, str):
                    texts.append(_CITATION.sub("", text))
                else:
                    self.tally.drop("images and other attachments")
            chat.messages.append(Message(role, "\n\n".join(texts), row.create_time))

    def claude(self, raw: Mapping[str, Any], where: Location) -> None:
        """Read a conversation of Claude's conversations.json."""
        time = _field(_Iso, raw, where, "created_at")
        chat = self._chat(f"{where.file} {where.sample}", "claude", time)
        messages = _field(list[_ClaudeMessage], raw, where, "chat_messages")
        for index, message in enumerate(messages):
            for given in (message.attachments, message.files):
                self.tally.drop("attachments", len(given) if isinstance(given, Sized) else 0)
            if message.content:
                text = self._text(message.content)
            else:
                text = parse(str, message.text or "", where, f"chat_messages[{index}].text")
            chat.messages.append(Message(message.sender, text, message.created_at))

    def claude_code(self, raw: Mapping[str, Any], where: Location) -> None:
        """Read a line of Claude Code: `type`, `sessionId`, `cwd`, `timestamp` and `message`."""
        role = _role(raw.get("type"))
        if role is None:
            return
        line, flags = raw.get("uuid"), (flag for flag in _CLAUDE_CODE if raw.get(flag) is True)
        dropped = _CLAUDE_CODE.get(next(flags, ""))
        if dropped is None and isinstance(line, str):
            dropped = "repeated messages" if line in self._seen else None
            self._seen.add(line)
        if dropped is not None:
            self.tally.drop(dropped)
            return
        time = _field(_Iso, raw, where, "timestamp")
        session = _field(str, raw, where, "sessionId")
        message = _field(dict[str, Any], raw, where, "message")
        content = _field(_Blocks, message, where, "content", "message.")
        self._say(self._chat(session, _project(raw), time), role, content, time)

    def codex(self, raw: Mapping[str, Any], where: Location) -> None:
        """Read a line of a rollout of Codex CLI: `timestamp`, `type` and `payload`; a file is a
        session.
        """
        if raw.get("type") not in ("session_meta", "response_item"):
            return  # event_msg repeats messages of response_item
        payload = _field(dict[str, Any], raw, where, "payload")
        kind, role = payload.get("type"), _role(payload.get("role"))
        chat = self._chat(where.file, _UNNAMED, None)
        if raw["type"] == "session_meta":
            chat.group = _project(payload)
        elif kind != "message" or role is None:
            is_said = kind == "message"
            self.tally.drop(f"{payload.get('role')} messages" if is_said else f"{kind} items")
        else:
            content = _field(_Blocks, payload, where, "content", "payload.")
            self._say(chat, role, content, _field(_Iso, raw, where, "timestamp"))

    def sample(self, raw: Mapping[str, Any], where: Location) -> None:
        """Read a sample of LoCoMo's layout, which is a conversation."""
        place = Location(where.file, str(raw.get("sample_id")))
        check_distinct(self._samples, place, "sample_id")
        self.conversations.append(read_conversation(dict(raw), place, captions=True))

    def _chat(self, key: str, group: str, time: datetime | None) -> Chat:
        return self.chats.setdefault(key, Chat(group, time))

    def _say(
        self, chat: Chat, role: Role, content: Sequence[_Block], time: datetime | None
    ) -> None:
        """Add what was said to `chat`, without what the program inserted."""
        text = self._text(content)
        if role == "user":
            text, inserted = _INSERTED.subn("", text)
            self.tally.drop("inserted texts", inserted)
            if text.lstrip().startswith(_NOT_SAID):
                self.tally.drop("inserted texts")
                return
        chat.messages.append(Message(role, text, time))

    def _text(self, content: Sequence[_Block]) -> str:
        """Return the text of the blocks that have some, and count the others as dropped."""
        for block in content:
            if block.type not in _TEXTS:
                self.tally.drop(f"{block.type} blocks")
        return "\n\n".join(block.text or "" for block in content if block.type in _TEXTS)


def _role(value: Any) -> Role | None:
    return _ROLES.get(value) if isinstance(value, str) else None


def _project(row: Mapping[str, Any]) -> str:
    folder = row.get("cwd")
    return folder if isinstance(folder, str) and folder.strip() else _UNNAMED


def _field(kind: Any, row: Mapping[str, Any], where: Location, name: str, before: str = "") -> Any:
    """Return the field `name` of a row as an instance of `kind`; `before`: the row's place."""
    return parse(kind, row.get(name), where, f"{before}{name}")


READERS: Mapping[str, Callable[[Export, Mapping[str, Any], Location], None]] = {
    "ChatGPT": Export.chatgpt,
    "Claude": Export.claude,
    "Claude Code": Export.claude_code,
    "Codex CLI": Export.codex,
    "LoCoMo layout": Export.sample,
}


def format_of(value: Any, is_line: bool) -> str | None:
    """Return the format that has `value` as an element or, with `is_line`, as a line, or None."""
    if not isinstance(value, dict):
        return None
    if is_line:
        if isinstance(value.get("sessionId"), str) and value.get("type") in ("user", "assistant"):
            return "Claude Code"
        if value.get("type") in ("session_meta", "response_item") and "payload" in value:
            return "Codex CLI"
    if "mapping" in value and ("current_node" in value or "create_time" in value):
        return "ChatGPT"
    if "chat_messages" in value:
        return "Claude"
    return "LoCoMo layout" if {"conversation", "sample_id"} <= value.keys() else None
