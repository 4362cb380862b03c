"""Reads the files of an export: JSON or JSON lines, gzipped or not, in a folder or a zip archive;
recognises the format of each by its content and makes conversations of the chats.

In messages as they are stored, secrets are masked, code and blobs shortened, long texts split. A
text that looks like a key is masked even where it is none; a secret in words is not recognised.
"""

import codecs
import json
import re
import shutil
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import chain, count, groupby
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

from eval.answers.containers import first_object
from eval.datasets.checks import Location, parse
from eval.datasets.files import check_there, json_value
from eval.datasets.pooled import POOLED
from eval.transcripts.formats import READERS, Chat, Export, Message, Role, Tally, format_of
from eval.transcripts.history import TABLE
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS, check_regular, read_bytes, shown, unpack
from memsys.core.json_text import parse_json
from memsys.core.types import Conversation, Session, Turn

KNOWN = (
    "conversations.json of ChatGPT or Claude, JSON lines of Claude Code or Codex CLI, "
    "or LoCoMo's layout"
)


def read_transcripts(
    path: Path, names: Mapping[Role, str], characters: int, sessions: int | None
) -> Export:
    """Return the export with the conversations at `path`, a file, folder or zip archive.

    `names`: of the two speakers. `characters`: the most of a turn. `sessions`: the most of a
    conversation, of which the last are taken; None for all.

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
                        READERS[kind](export, raw, where)
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
    export.conversations += _assembled(export, names, characters, sessions)
    export.chats.clear()  # so that no text is in memory twice
    if not export.conversations:
        raise InputError(f"{path}: contains no message of user or assistant")
    return export


def _assembled(
    export: Export, names: Mapping[Role, str], characters: int, most: int | None
) -> Iterator[Conversation]:
    """Yield a conversation of each group of chats, under an id that no other conversation has, with
    its sessions in order of time, the last ones if there are more than `most`.

    A session is what was said in one chat on one day, as a session has one time.
    """
    taken, tally = {POOLED, *(c.id for c in export.conversations)}, export.tally
    groups: dict[str, list[list[tuple[datetime, Message]]]] = defaultdict(list)
    for chat in export.chats.values():
        timed = list(_timed(chat, tally))
        for _, of_day in groupby(timed, lambda pair: pair[0].date()):
            groups[chat.group].append(list(of_day))
    for group, days in sorted(groups.items()):
        # The last part of a path, numbered if it is taken.
        name = (PureWindowsPath(group) if "\\" in group else PurePosixPath(group)).name or group
        free = (key for key in chain([name], (f"{name}-{n}" for n in count(2))) if key not in taken)
        taken.add(id_ := next(free))
        days.sort(key=lambda day: day[0][0])
        if most is not None:
            tally.dropped["earlier sessions"] += max(len(days) - most, 0)
        sessions: list[Session] = []
        for day in days[-(most or 0) :]:
            number = len(sessions) + 1
            turns: list[Turn] = []
            for _, message in day:
                for part in split(cleaned(message.text, tally), characters):
                    turn = f"D{number}:{len(turns) + 1}"
                    turns.append(Turn(turn, names[message.role], part))
            if turns:
                sessions.append(Session(f"session_{number}", day[0][0], tuple(turns)))
        if sessions:
            yield Conversation(id_, (names["user"], names["assistant"]), tuple(sessions))


def _timed(chat: Chat, tally: Tally) -> Iterator[tuple[datetime, Message]]:
    """Yield the messages with a text and their times: that of the message, else of the one before,
    else of the chat.
    """
    time = chat.time or next((message.time for message in chat.messages if message.time), None)
    for message in chat.messages:
        time = message.time or time
        if time is None:
            tally.dropped["messages without a time"] += 1
        elif message.text.strip():
            yield time, message


_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz")


class HalfWrittenError(InputError):
    """The last of JSON lines ends too early, as in a log that a program is writing."""


@contextmanager
def files_at(path: Path) -> Iterator[list[tuple[str, Path]]]:
    """Give names and paths of the JSON files at `path`: a file, the files of a folder and of its
    folders in order of their names, or those of a zip archive, unpacked until the context ends.

    Raises InputError if nothing is there, or an archive is damaged or unpacks to too much.
    """
    check_there(path, "correct the path")
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.name.lower().endswith(_ENDINGS))
        yield [(shown(file.relative_to(path)), file) for file in files if file.is_file()]
        return
    check_regular(path)
    if not zipfile.is_zipfile(path):
        yield [(shown(path.name), path)]
        return
    with TemporaryDirectory(prefix="transcripts-") as folder:
        try:
            yield _unpacked(path, Path(folder))
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
            raise InputError(f"{shown(path)}: damaged or encrypted archive ({error})") from error


def json_values(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """Yield place and value of each object of a JSON file: of each line, of each element of the
    list that the file is, or of the one object.

    Raises InputError naming line and column if the file is not JSON in UTF-8; HalfWrittenError,
    after the values of all other lines, if the last line is not whole.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        text = decoder.decode(unpack(read_bytes(path, ANSWERS), path, ANSWERS))
    except UnicodeDecodeError:
        raise InputError(f"{name}: not UTF-8; save it as UTF-8") from None
    if decoder.getstate()[0]:  # half a character at the end, which a program is writing
        text += "\ufffd"
    begin = text.lstrip()
    if begin.startswith("{") and first_object(begin) is not None:
        yield from _lines(text, name)
    elif begin:
        value = json_value(text, name, nan=True)
        if isinstance(value, list):
            yield from ((f"conversation {number}", chat) for number, chat in enumerate(value, 1))
        elif isinstance(value, dict):
            yield "conversation 1", value


def _unpacked(path: Path, folder: Path) -> list[tuple[str, Path]]:
    """Return the JSON files of the archive `path`, unpacked in `folder` under names of our own."""
    files: list[tuple[str, Path]] = []
    with zipfile.ZipFile(path) as archive:
        for number, member in enumerate(sorted(archive.infolist(), key=lambda m: m.filename)):
            name = member.filename
            if member.is_dir() or not name.lower().endswith(_ENDINGS):
                continue
            if member.file_size > ANSWERS:
                problem = f"{shown(name)} unpacks to {member.file_size:,} bytes"
                raise InputError(f"{shown(path.name)}: {problem}; at most {ANSWERS:,} are read")
            target = folder / f"{number}{Path(name).suffix}"
            with archive.open(member) as packed, target.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
            files.append((shown(name), target))
    return files


def _lines(text: str, name: str) -> Iterator[tuple[str, Any]]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield f"line {number}", parse_json(line, nan=True)
            except ValueError as error:
                half = number == len(lines) and isinstance(error, json.JSONDecodeError)
                problem = f"{name}: line {number}: not JSON ({error}); correct or remove it"
                raise (HalfWrittenError if half else InputError)(problem) from None


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
    masked = without_secrets(text)
    tally.changed["secrets masked"] += keys + named + (masked != text)
    text, blobs = _BLOB.subn("[...]", masked)
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
