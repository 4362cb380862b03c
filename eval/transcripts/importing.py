"""Recognises the format of each file by its content and makes conversations of the chats.

In messages as they are stored, secrets are masked, code and blobs shortened, long texts split. A
text that looks like a key is masked even where it is none; a secret in words is not recognised.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count, groupby
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from eval.datasets.checks import Location, parse
from eval.datasets.pooled import POOLED
from eval.transcripts.formats import Chat, Export, Message, Tally
from eval.transcripts.history import TABLE
from eval.transcripts.sources import HalfWrittenError, files_at, json_values
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Session, Turn

KNOWN = (
    "conversations.json of ChatGPT or Claude, JSON lines of Claude Code or Codex CLI, "
    "or LoCoMo's layout"
)


@dataclass(frozen=True)
class Wanted:
    """What becomes of the chats: names of the two speakers, the most characters of a turn, and the
    most sessions of a conversation, of which the last are taken; None for all.
    """

    user: str = "User"
    assistant: str = "Assistant"
    characters: int = 800
    sessions: int | None = None


_READERS: Mapping[str, Callable[[Export, Mapping[str, Any], Location], None]] = {
    "ChatGPT": Export.chatgpt,
    "Claude": Export.claude,
    "Claude Code": Export.claude_code,
    "Codex CLI": Export.codex,
    "LoCoMo layout": Export.sample,
}


def read_transcripts(path: Path, wanted: Wanted) -> Export:
    """Return the export with the conversations at `path`, a file, folder or zip archive.

    In a folder or archive, files of other contents are passed over, and the last line of a log is
    left out if it is half written. Raises InputError naming file, place and field of what is wrong,
    or if no file is of a known format or none contains a message.
    """
    export = Export()
    with files_at(path) as files:
        for name, file in files:
            kind = None
            try:
                for place, value in json_values(file, name):
                    is_line = place.startswith("line")
                    kind = kind or format_of(value, is_line)
                    if kind is None and not is_line:
                        break
                    if kind and not (is_line and not isinstance(value, dict)):
                        where = Location(name, place, unit="")
                        raw = parse(dict[str, Any], value, where, "value")
                        _READERS[kind](export, raw, where)
            except InputError as error:
                if file == path or (kind and not isinstance(error, HalfWrittenError)):
                    raise
                if kind is None:
                    export.unreadable.append(str(error))
                    continue
                export.tally.drop("half-written last lines")
            if kind is None:
                export.passed_over.append(name)
            else:
                export.formats[kind] += 1
    if not export.formats:
        unread = f"; not readable: {export.unreadable[0]}" if export.unreadable else ""
        raise InputError(f"{path}: no export of a known format; name {KNOWN}{unread}")
    export.conversations += _assembled(export, wanted)
    export.chats.clear()  # so that no text is in memory twice
    if not export.conversations:
        raise InputError(f"{path}: contains no message of user or assistant")
    return export


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


def _assembled(export: Export, wanted: Wanted) -> Iterator[Conversation]:
    """Yield a conversation of each group of chats, its sessions in order of time, under an id that
    no other conversation has.

    A session is what was said in one chat on one day, as a session has one time.
    """
    taken, tally = {POOLED, *(one.id for one in export.conversations)}, export.tally
    groups: dict[str, list[list[tuple[datetime, Message]]]] = defaultdict(list)
    for chat in export.chats.values():
        timed = list(_timed(chat, tally))
        for _, of_day in groupby(timed, lambda one: one[0].date()):
            groups[chat.group].append(list(of_day))
    names = {"user": wanted.user, "assistant": wanted.assistant}
    for group, days in sorted(groups.items()):
        # The last part of a path, numbered if it is taken.
        name = (PureWindowsPath(group) if "\\" in group else PurePosixPath(group)).name or group
        free = (one for one in chain([name], (f"{name}-{n}" for n in count(2))) if one not in taken)
        taken.add(id_ := next(free))
        days.sort(key=lambda one: one[0][0])
        if wanted.sessions is not None:
            tally.dropped["earlier sessions"] += max(len(days) - wanted.sessions, 0)
        sessions: list[Session] = []
        for day in days[-(wanted.sessions or 0) :]:
            number = len(sessions) + 1
            turns: list[Turn] = []
            for _, message in day:
                for part in split(cleaned(message.text, tally), wanted.characters):
                    turn = f"D{number}:{len(turns) + 1}"
                    turns.append(Turn(turn, names[message.role], part))
            if turns:
                sessions.append(Session(f"session_{number}", day[0][0], tuple(turns)))
        if sessions:
            yield Conversation(id_, (wanted.user, wanted.assistant), tuple(sessions))


def _timed(chat: Chat, tally: Tally) -> Iterator[tuple[datetime, Message]]:
    """Yield the messages with a text and their times: that of the message, else of the one before,
    else of the chat.
    """
    time = chat.time or next((one.time for one in chat.messages if one.time), None)
    for message in chat.messages:
        time = message.time or time
        if time is None:
            tally.dropped["messages without a time"] += 1
        elif message.text.strip():
            yield time, message


MASK = "[secret]"
_CODE_LINES = 20  # of a block of code that are kept
_KEYS = re.compile("|".join(TABLE["secrets"]["keys"]), re.DOTALL)
_NAMED = re.compile("|".join(TABLE["secrets"]["named"]), re.IGNORECASE)
_BLOB = re.compile(r"\S{200,}")
_FENCED = re.compile(r"(```[^\n]*\n)(.*?)(\n```|\Z)", re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n")


def cleaned(text: str, tally: Tally) -> str:
    """Return `text` without secrets, blobs and all but the first lines of long code; count these.

    Secrets are keys of known forms, values of fields named like one, and values of environment
    variables named like one.
    """
    text, keys = _KEYS.subn(MASK, text)
    text, named = _NAMED.subn(rf"\1\2\3{MASK}", text)
    known = without_secrets(text)
    tally.changed["secrets masked"] += keys + named + (known != text)
    text, blobs = _BLOB.subn("[...]", known)
    tally.changed["blobs removed"] += blobs

    def shorten(match: re.Match[str]) -> str:
        lines = match[2].split("\n")
        if len(lines) <= _CODE_LINES:
            return match[0]
        tally.changed["blocks of code shortened"] += 1
        rest = f"[{len(lines) - _CODE_LINES} more lines]"
        return match[1] + "\n".join([*lines[:_CODE_LINES], rest]) + match[3]

    return _FENCED.sub(shorten, text).strip()


def split(text: str, most: int) -> Iterator[str]:
    """Yield `text` in parts of at most `most` characters, divided between paragraphs, else between
    sentences, else between words.
    """
    part = ""
    for piece, joint in _pieces(text, most):
        if part and len(part) + len(joint) + len(piece) > most:
            yield part
            part = piece
        else:
            part = f"{part}{joint}{piece}" if part else piece
    if part:
        yield part


def _pieces(text: str, most: int) -> Iterator[tuple[str, str]]:
    """Yield pieces of at most `most` characters with what joins each to the piece before."""
    for paragraph in filter(str.strip, _PARAGRAPH.split(text)):
        if len(paragraph) <= most:
            yield paragraph, "\n\n"
            continue
        joint = "\n\n"
        for sentence in filter(str.strip, _SENTENCE.split(paragraph)):
            words = [sentence] if len(sentence) <= most else sentence.split()
            for word in words:
                for start in range(0, len(word), most):
                    yield word[start : start + most], joint
                    joint = " "
            joint = "\n"
