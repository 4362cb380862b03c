"""A large JSON document in pieces: small values whole, large ones member by member."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memsys.core.errors import InputError
from memsys.core.json_text import DEPTH, parse_part

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_TOKEN = 64  # characters after a number that show it to be whole


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in characters, about the same in bytes.

    `small`: a file up to this size is parsed at once. `chunk`: size of a read. `whole`: a list or
    object longer than this is read member by member. `text`: the longest text of a large file.
    """

    small: int = 32 << 20
    chunk: int = 1 << 20
    whole: int = 4 << 20
    text: int = 16 << 20


class LargeObject:
    """An object that is read member by member, once."""

    def __init__(self, stream: JSONStream, level: int) -> None:
        """Begin at the object's brace; `level`: number of lists and objects around it."""
        self._members = stream.members(level)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the members that have not been read."""
        return self._members


class LargeList:
    """A list that is read element by element, once."""

    def __init__(self, stream: JSONStream, level: int) -> None:
        """Begin at the list's bracket; `level`: number of lists and objects around it."""
        self._elements = stream.elements(level)

    def __iter__(self) -> Iterator[Any]:
        """Yield the elements that have not been read."""
        return self._elements


class JSONStream:
    """A JSON document in chunks of text; `name` is its name in messages.

    `checked`: the document has been read before, so keys and numbers are not checked again.
    """

    def __init__(
        self, chunks: Iterator[str], name: str, limits: Limits, *, checked: bool = False
    ) -> None:
        self._chunks, self._name, self._limits, self._checked = chunks, name, limits, checked
        self._text, self._at, self._ended = "", 0, False
        self._lines = self._column = 0  # before the text

    def document(self) -> Iterator[Any]:
        """Yield the document's one value."""
        value = self._value(0)
        yield value
        _exhaust(value)
        if self._peek():
            raise self._wrong("Extra data")

    def members(self, level: int) -> Iterator[tuple[str, Any]]:
        """Yield keys and values of the object that begins here."""
        keys: set[str] = set()
        self._at += 1
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            if self._peek() != '"':
                raise self._wrong("Expecting property name enclosed in double quotes")
            key = self._value(level)
            if key in keys:
                raise InputError(
                    f"{self._name}: {self._where()}: key {key!r:.60} occurs twice in one object; "
                    "rename one; correct it"
                )
            keys.add(key)
            if self._peek() != ":":
                raise self._wrong("Expecting ':' delimiter")
            self._at += 1
            value = self._value(level + 1)
            yield key, value
            _exhaust(value)
            if self._ends("}"):
                return

    def elements(self, level: int) -> Iterator[Any]:
        """Yield the elements of the list that begins here."""
        self._at += 1
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            value = self._value(level + 1)
            yield value
            _exhaust(value)
            if self._ends("]"):
                return

    def _ends(self, bracket: str) -> bool:
        """Pass a comma or the closing `bracket`; return whether it was the bracket."""
        mark = self._peek()
        if mark not in {",", bracket}:
            raise self._wrong("Expecting ',' delimiter")
        self._at += 1
        return mark == bracket

    def _value(self, level: int) -> Any:
        """Return the value that begins here; a large list or object begins only."""
        mark = self._peek()
        bracket = mark in "{[" and mark != ""
        most = self._limits.whole if bracket else self._limits.text
        while True:
            left = len(self._text) - self._at
            try:
                value, end = self._parse(level)
            except json.JSONDecodeError as error:
                if not self._ended and left < most:
                    self._read(left)
                    continue
                if bracket and left >= most:
                    if level >= DEPTH:
                        raise InputError(
                            f"{self._name}: nested more than {DEPTH} deep; correct it"
                        ) from None
                    return (LargeObject if mark == "{" else LargeList)(self, level)
                if not self._ended and mark == '"':
                    raise InputError(
                        f"{self._name}: {self._where()}: a text of more than {most:,} characters; "
                        "shorten it"
                    ) from None
                raise self._wrong(error.msg, error.pos) from None
            except ValueError as error:
                raise InputError(f"{self._name}: {self._where()}: {error}; correct it") from None
            if mark in '{["' or self._ended or len(self._text) - end >= _TOKEN:
                self._at = end
                return value
            self._read(0)

    def _parse(self, level: int) -> tuple[Any, int]:
        if self._checked:
            return _DECODER.raw_decode(self._text, self._at)
        return parse_part(self._text, self._at, above=level)

    def _peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read(0)

    def _read(self, least: int) -> None:
        """Drop the text that has been read, and add at least `least` characters if there are."""
        passed = self._text.count("\n", 0, self._at)
        if passed:
            self._lines += passed
            self._column = self._at - self._text.rindex("\n", 0, self._at) - 1
        else:
            self._column += self._at
        parts = [self._text[self._at :]]
        self._text, self._at, added = "", 0, 0
        while not self._ended and (added == 0 or added < least):
            part = next(self._chunks, None)
            self._ended = part is None
            parts.append(part or "")
            added += len(part or "")
        self._text = "".join(parts)

    def _where(self, at: int | None = None) -> str:
        """Return line and column of `at`, by default of the next character."""
        at = self._at if at is None else at
        line = self._lines + self._text.count("\n", 0, at) + 1
        newline = self._text.rfind("\n", 0, at)
        column = at - newline if newline >= 0 else self._column + at + 1
        return f"line {line}, column {column}"

    def _wrong(self, reason: str, at: int | None = None) -> InputError:
        return InputError(f"{self._name}: not JSON ({self._where(at)}: {reason}); correct it")


def _exhaust(value: Any) -> None:
    """Read the rest of a large list or object."""
    if isinstance(value, LargeObject):
        for _ in value.items():
            pass
    elif isinstance(value, LargeList):
        for _ in value:
            pass
