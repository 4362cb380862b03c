"""JSON-lines logs of coding agents, a line an event: Claude Code and Codex CLI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from eval.datasets.checks import Location, parse
from eval.transcripts.assistants import text_of
from eval.transcripts.chats import Chat, Message, Role, Tally, iso

_UNNAMED = "agent"
# What the programs themselves write into messages of the user.
_INSERTED = re.compile(
    r"<(system-reminder|local-command-[a-z]+|command-[a-z]+|bash-[a-z]+|environment_context"
    r"|user_instructions|turn_aborted|task-notification|ide_[a-z_]+|INSTRUCTIONS"
    r"|permissions instructions)>.*?</\1>",
    re.DOTALL,
)
_NOT_SAID = ("Caveat: The messages below", "[Request interrupted", "# AGENTS.md instructions")
_CLAUDE_CODE = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
_DROPPED = ("subagent messages", "inserted messages", "compaction summaries", "error messages")


class ClaudeCode:
    """Logs of Claude Code: lines with `type`, `sessionId`, `cwd`, `timestamp` and `message`."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._chats: dict[str, Chat] = {}
        self._seen: set[str] = set()  # a continued session repeats lines of the one before

    def add(self, raw: Mapping[str, Any], where: Location) -> Chat | None:
        """Read a line; return its chat if that is new."""
        kind = raw.get("type")
        if kind not in ("user", "assistant"):
            return None
        for flag, name in zip(_CLAUDE_CODE, _DROPPED, strict=True):
            if raw.get(flag) is True:
                self._tally.dropped[name] += 1
                return None
        line = raw.get("uuid")
        if isinstance(line, str):
            if line in self._seen:
                self._tally.dropped["repeated messages"] += 1
                return None
            self._seen.add(line)
        time = iso(raw.get("timestamp"), where, "timestamp")
        session = raw.get("sessionId")
        if not isinstance(session, str):
            raise where.error("sessionId", "missing or no text")
        new = session not in self._chats
        chat = self._chats.setdefault(session, Chat(_project(raw.get("cwd")), time))
        content = parse(dict, raw.get("message"), where, "message").get("content")
        text = text_of(content, where, "message.content", self._tally)
        _say(chat, "user" if kind == "user" else "assistant", text, self._tally, time)
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
        kind, role = payload.get("type"), payload.get("role")
        if kind != "message" or role not in ("user", "assistant"):
            name = f"{role} messages" if kind == "message" else f"{kind} items"
            self._tally.dropped[name[:40]] += 1
            return None
        time = iso(raw.get("timestamp"), where, "timestamp")
        types = ("input_text", "output_text", "text")
        text = text_of(payload.get("content"), where, "payload.content", self._tally, types)
        _say(self._chat, "user" if role == "user" else "assistant", text, self._tally, time)
        new, self._new = self._new, False
        return self._chat if new else None


def _say(chat: Chat, role: Role, text: str, tally: Tally, time: datetime | None) -> None:
    """Add what was said to `chat`, without what the program inserted."""
    if role == "user":
        text, inserted = _INSERTED.subn("", text)
        tally.dropped["inserted texts"] += inserted
        if text.lstrip().startswith(_NOT_SAID):
            tally.dropped["inserted texts"] += 1
            return
    chat.messages.append(Message(role, text, time))


def _project(folder: Any) -> str:
    return folder if isinstance(folder, str) and folder.strip() else _UNNAMED
