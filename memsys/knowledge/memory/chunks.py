"""Chunks of equal length of a whole conversation, as retrieval-augmented generation cuts a text."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, ClassVar

from memsys.context.writers import dated
from memsys.core.declared import Name, Range, check_values
from memsys.core.tokens import tokens_of
from memsys.core.turns import line
from memsys.core.types import UNDATED, Memory, Session
from memsys.knowledge.memory.base import MemoryBuilder, verbatim

_tokens_of = lru_cache(maxsize=16_384)(tokens_of)  # an estimate cuts a conversation several times


class Chunks(MemoryBuilder):
    """A memory is the next `tokens` o200k tokens of the conversation, whose lines carry their time:
    `[8 May 2023, 13:56] Speaker: words`. It begins and ends anywhere, also within a turn or in
    another session, and its turns are all those of which it has a part. It has no time of its own.

    The last chunk of a session is incomplete and goes on in the next session, unless that is of
    another owner. A chunk is shorter where it would end within a character.
    """

    goes_on: ClassVar[bool] = True

    def __init__(self, name: Name, tokens: Annotated[int, Range(16)]) -> None:
        check_values(Chunks, locals(), "memory")
        self.name, self._size = name, tokens
        self._open: list[tuple[bytes, str]] = []  # tokens of the incomplete chunk, and their turns
        self._full, self._owner = 0, ""  # number of complete chunks; owner of the last session

    def opened(self) -> Chunks:
        """See MemoryBuilder."""
        return Chunks(self.name, self._size)

    def build(self, session: Session) -> list[Memory]:
        """Return the chunks that `session` completes or begins, in order."""
        return [verbatim(id_, text, UNDATED, "", of) for id_, text, of in self.pieces(session)]

    def pieces(self, session: Session) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return id, text and turns of the memories that `build` returns, which makes their titles
        as well and takes most of its time for them.
        """
        if session.owner != self._owner and self._open:
            self._close(len(self._open))
        self._owner = session.owner
        for turn in session.turns:
            text = dated(line(turn), turn.time or session.time)
            self._open += ((token, turn.id) for token in _tokens_of(text))
        pieces = []
        while len(self._open) > self._size:
            pieces.append(self._first_chunk())
            self._close(self._chunk_end())
        return [*pieces, self._first_chunk()] if self._open else pieces

    def _first_chunk(self) -> tuple[str, str, tuple[str, ...]]:
        """Return the chunk that begins with the first open token."""
        tokens = self._open[: self._chunk_end()]
        text = b"".join(token for token, _ in tokens).decode("utf-8")
        turns = tuple(dict.fromkeys(turn for _, turn in tokens))
        return f"c{self._full + 1}", text, turns

    def _chunk_end(self) -> int:
        """Return the number of open tokens in the next chunk, which ends after a character."""
        end = min(self._size, len(self._open))
        while end < len(self._open) and 0x80 <= self._open[end][0][0] < 0xC0:
            end -= 1
        return end

    def _close(self, number: int) -> None:
        self._open, self._full = self._open[number:], self._full + 1
