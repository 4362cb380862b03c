"""The results of a search as items, and as the stored memories that they are.

A server returns texts. A result that is a stored text is that memory, with its turns, time and
speaker; of equal texts the first one that the ranking does not have yet. Other results name their
turns themselves (`turns`, as posted in the metadata), or contain stored texts verbatim. Plain text
is divided at the stored texts, and at long parts of one, as cut texts are. Everything else has no
evidence: no turn is guessed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from baselines.libraries.pipe import LibraryError
from baselines.mcp.arguments import LISTS, SCORES, TEXTS, snake
from memsys.core.json_text import parse_json
from memsys.core.titles import title_of
from memsys.core.types import UNDATED, Candidate, Memory

_SHOWN = 300  # characters of a server's message in an error
_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Item:
    """One result: its text, and the server's fields by name in snake case. `plain`: the text of a
    server that returns no JSON.
    """

    text: str
    fields: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    plain: bool = False

    @property
    def score(self) -> float | None:
        """The score that the server gave."""
        values = (self.fields.get(name) for name in SCORES)
        numbers = (v for v in values if isinstance(v, int | float) and not isinstance(v, bool))
        return next(map(float, numbers), None)

    @property
    def turns(self) -> tuple[str, ...]:
        """The ids of turns that the item names, itself or in its metadata."""
        named = self.fields.get("turns")
        if isinstance(named, str):
            return (named,)
        return tuple(map(str, named)) if isinstance(named, list) else ()


def items_of(result: Mapping[str, Any]) -> list[Item]:
    """Return the items of a search in the server's order. Raises LibraryError if the result is an
    error that is not marked as one.
    """
    if result["structured"] is not None:
        return list(_items(result["structured"]))
    return [item for text in result["texts"] for item in _items(_parse(text))]


def _parse(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text


def _items(value: Any) -> Iterator[Item]:
    if isinstance(value, str):
        data = _parse(value)
        if isinstance(data, list | dict):
            yield from _items(data)
        elif value.lstrip().lower().startswith("error"):
            _fail(value)
        elif value.strip():
            yield Item(value, plain=True)
    elif isinstance(value, list):
        for row in value:
            yield from _items_of_row(row)
    elif isinstance(value, dict):
        yield from _items_of_object(value)


def _items_of_object(value: Mapping[str, Any]) -> Iterator[Item]:
    if (error := value.get("error")) or value.get("success") is False:
        _fail(error or value.get("message") or value)
    if set(value) == {"result"}:  # how servers wrap a list or a text
        yield from _items(value["result"])
        return
    # An object with a list is itself a result if it has a text: an entity with observations.
    texts = [
        name for name in ("name", "text", "content", "memory") if isinstance(value.get(name), str)
    ]
    lists = [value[name] for name in LISTS if isinstance(value.get(name), list)]
    inner = [value[name] for name in ("data", "result") if isinstance(value.get(name), dict)]
    if lists and not texts:
        yield from _items(lists[0])
    elif inner and not lists:
        yield from _items(inner[0])
    else:
        yield from _items_of_row(value)


def _items_of_row(row: Any) -> Iterator[Item]:
    if isinstance(row, str):
        if row.strip():
            yield Item(row)
        return
    if not isinstance(row, dict):
        return
    flat = flat_fields(row)
    for name in TEXTS:
        value = flat.get(name)
        if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
            value = "\n".join(value)
        if isinstance(value, str) and value.strip():
            yield Item(value, flat)
            return


def flat_fields(row: Any) -> dict[str, Any]:
    """Return the fields of a row and of the objects in it (memory, metadata), by name in snake
    case; outer ones win.
    """
    flat: dict[str, Any] = {}
    if isinstance(row, dict):
        for name, value in row.items():
            if not isinstance(value, dict):
                flat[snake(name)] = value
        for value in row.values():
            if isinstance(value, dict):
                flat = {**flat_fields(value), **flat}
    return flat


def _fail(message: object) -> None:
    raise LibraryError(f"the server reports: {' '.join(str(message).split())[:_SHOWN]}")


_SHORT = 8  # characters; a shorter text occurs in others by chance
_PART = 24  # characters of a part that names its memory, if it is in no other
_BETWEEN = re.compile(r"\.\.\.|…|<[^>]*>|\0+")  # parts: cuts, tags and whole texts
_NUMBER = re.compile(r"^\W*\d+[.)]\s+")  # of a list


@dataclass(slots=True)
class Stored:
    """The memories that the server was given, in order, and the fields it returned for each."""

    memories: list[Memory] = field(default_factory=list)
    fields: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # by id of a memory
    _by_text: dict[str, list[Memory]] = field(default_factory=dict)

    def add(self, memory: Memory, fields: Mapping[str, Any]) -> None:
        """Note that the server has stored `memory` and returned `fields`."""
        self.memories.append(memory)
        self.fields[memory.id] = fields
        self._by_text.setdefault(plain(memory.content), []).append(memory)

    def remove(self, memory: Memory) -> None:
        """Note that the server was asked to delete `memory`. Its text is still recognised: a server
        that returns it has not deleted it. Of equal texts, those that remain come first.
        """
        self.memories.remove(memory)
        same = self._by_text[plain(memory.content)]
        same.remove(memory)
        same.append(memory)

    def candidates(self, items: Sequence[Item]) -> list[Candidate]:
        """Return the candidates of a ranking, best first. The score is the server's where all
        results have one that does not rise, else 1 / rank.
        """
        ranking: dict[str, tuple[Memory, float | None]] = {}
        for item in items:
            for memory in self._memories(item, ranking):
                ranking.setdefault(memory.id, (memory, item.score))
        scores = [score for _, score in ranking.values() if score is not None]
        falling = all(a >= b for a, b in pairwise(scores))
        given = scores if len(scores) == len(ranking) and falling else None
        return [
            Candidate(memory, given[rank] if given else 1 / (rank + 1))
            for rank, (memory, _) in enumerate(ranking.values())
        ]

    def is_about(self, text: str) -> bool:
        """Return whether `text` has a stored text in it."""
        return bool(self._mask_stored(text)[1])

    def _memories(self, item: Item, taken: Iterable[str]) -> Iterator[Memory]:
        exact = self._by_text.get(plain(item.text))
        if exact:
            named = [memory for memory in exact if set(item.turns) & set(memory.turns)]
            free = [memory for memory in named or exact if memory.id not in taken]
            yield (free or exact)[0]
            return
        if item.plain and (parts := list(self._parts(item.text))):  # headings are between them
            yield from parts
            return
        stored_turns = {turn for memory in self.memories for turn in memory.turns}
        turns = tuple(turn for turn in item.turns if turn in stored_turns)
        within = (turn for _, memory in self._mask_stored(item.text)[1] for turn in memory.turns)
        turns = turns or tuple(dict.fromkeys(within))
        of_turn = next((unit for unit in self.memories if turns and turns[0] in unit.turns), None)
        time = of_turn.time if of_turn else UNDATED
        speaker = of_turn.speaker if of_turn and len(turns) == 1 else ""
        id_ = item.fields.get("id")
        name = str(id_) if isinstance(id_, str | int) else plain(item.text)[:80]
        yield Memory(
            f"mcp:{name}", item.text, item.text, time, speaker, turns, title=title_of(item.text)
        )

    def _parts(self, text: str) -> Iterator[Memory]:
        """Yield the memories whose texts, or long parts of them, occur in a plain `text`, in the
        order of their places. Of a memory that is cut (`...`) the parts are its content.
        """
        rest, pairs = self._mask_stored(text)
        cut: dict[str, tuple[int, Memory, list[str]]] = {}
        ends = [(0, 0), *(match.span() for match in _BETWEEN.finditer(rest)), (len(rest), 0)]
        for (_, start), (end, _) in pairwise(ends):
            piece = _NUMBER.sub("", rest[start:end]).strip()
            texts = [string for string in self._by_text if len(piece) >= _PART and piece in string]
            if len(texts) == 1:
                memory = self._by_text[texts[0]][0]
                _, _, pieces = cut.setdefault(memory.id, (start, memory, []))
                pieces.append(piece)
        for at, memory, pieces in cut.values():
            words = " ... ".join(pieces)
            pairs.append((at, replace(memory, content=words, index_text=words)))
        yield from (memory for _, memory in sorted(pairs, key=lambda pair: pair[0]))

    def _mask_stored(self, text: str) -> tuple[str, list[tuple[int, Memory]]]:
        """Return `text` on one line, with NUL for each stored text in it, and the memories of these
        by their places, in order; the longest wins where two overlap.
        """
        pairs, text = [], plain(text)
        for content in sorted(self._by_text, key=len, reverse=True):
            at = text.find(content) if len(content) >= _SHORT else -1
            if at >= 0:
                text = text[:at] + "\0" * len(content) + text[at + len(content) :]
                pairs.append((at, self._by_text[content][0]))
        return text, sorted(pairs, key=lambda pair: pair[0])


def plain(text: str) -> str:
    """Return `text` on one line, with single spaces."""
    return " ".join(text.split())
