"""One owner's memory on a server: add, search and delete by the chosen tools."""

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from baselines.libraries.pipe import LibraryError
from baselines.mcp.arguments import IDS, fill, most_k
from baselines.mcp.connection import Connection
from baselines.mcp.results import Item, Stored, flat_fields, items_of, plain
from baselines.mcp.tools import Choice, Chosen
from memsys.core.terms import terms
from memsys.core.types import Candidate, Memory

_DECLINED = re.compile(r"duplicate|already (exists|stored)", re.IGNORECASE)


class OwnerMemory:
    """The memory of `owner`. `costs`: calls, bytes sent, bytes received and milliseconds by tool
    since the caller emptied it.
    """

    def __init__(
        self, connection: Connection, toolset: Chosen, owner: str, nothing: str, settle_s: float = 0
    ) -> None:
        """`nothing`: what a plain server answers if it finds nothing (see nothing_in). `settle_s`:
        seconds after an addition or a deletion before the first search.
        """
        self._connection, self._toolset, self._nothing = connection, toolset, nothing
        self._settle_s, self._changed = settle_s, False
        self.owner = owner
        self.stored = Stored()
        self.costs: dict[str, dict[str, float]] = {}

    def add(self, memory: Memory) -> bool:
        """Store `memory`; return False if the server declines it as a duplicate. Raises
        LibraryError if it fails or reports another error.
        """
        values = {
            "text": memory.content,
            "speaker": memory.speaker,
            "time": f"{memory.time.isoformat()}Z",
            "owner": self.owner,
            "turn": memory.id,
            "turns": list(memory.turns),
            "words": list(dict.fromkeys(terms(memory.content))),
        }
        arguments = fill(self._toolset.add.arguments, values)
        try:
            returned = items_of(self._call(self._toolset.add, arguments))
        except LibraryError as error:
            if self._connection.is_closed or not _DECLINED.search(str(error)):
                raise
            return False
        fields = returned[0].fields if len(returned) == 1 else {}
        self.stored.add(memory, {**_sent_fields(arguments), **fields})
        self._changed = True
        return True

    def items(self, query: str, k: int) -> list[Item]:
        """Return the results for `query`, best first. Raises as `add`."""
        self._settle()
        most = most_k(self._toolset.search.tool.schema, self._toolset.search.arguments)
        values = {
            "query": query,
            "words": list(dict.fromkeys(terms(query))),
            "k": k if most is None else min(k, most),
            "owner": self.owner,
        }
        items = items_of(
            self._call(self._toolset.search, fill(self._toolset.search.arguments, values))
        )
        alone = items[0] if len(items) == 1 and items[0].plain else None
        if alone and self._nothing and nothing_in(alone.text, query) == self._nothing:
            return []
        return items

    def search(self, query: str, k: int) -> list[Candidate]:
        """Return the candidates for `query`, best first. Raises as `add`."""
        return self.stored.candidates(self.items(query, k))

    def forget(self, turns: Sequence[str]) -> int | None:
        """Delete the memories of `turns`; return how many are gone: their texts are not found any
        more. None if there is no tool for it, or the ids are not known. Raises as `add`.
        """
        if self._toolset.delete is None:
            return None
        self._settle()  # what is not indexed yet might not be deleted
        gone = [memory for memory in self.stored.memories if set(memory.turns) & set(turns)]
        named = [(memory, self._id_of(memory)) for memory in gone]
        if any(id_ is None for _, id_ in named):
            return None
        for memory, id_ in named:
            self._delete(self._toolset.delete, memory, id_)
        for memory, _ in named:
            words = plain(memory.content)
            query = words.rpartition(" ")[0] or words  # an answer that repeats it lacks the last
            if any(words in plain(other.content) for other in self.stored.memories):
                continue
            if any(words in plain(item.text) for item in self.items(query, 10)):
                raise LibraryError(f"{self._toolset.delete.tool.name}: {memory.id} is still found")
        return len(named)

    def clear(self) -> None:
        """Delete what is stored, as far as the server can."""
        for memory in list(self.stored.memories) if self._toolset.delete else ():
            with suppress(LibraryError):
                id_ = self._id_of(memory)
                if self._toolset.delete and id_ is not None:
                    self._delete(self._toolset.delete, memory, id_)

    def _delete(self, choice: Choice, memory: Memory, id_: Any) -> None:
        self._call(choice, fill(choice.arguments, {"id": id_, "owner": self.owner}))
        self.stored.remove(memory)
        self._changed = True

    def _id_of(self, memory: Memory) -> Any:
        """Return what names `memory` to the delete tool: a field of the addition or of a search for
        its text, or None.
        """
        names = IDS[self._toolset.id_name]
        stored_id = _first_field(self.stored.fields[memory.id], names)
        if stored_id is not None:
            return stored_id
        same = [hit for hit in self.items(memory.content, 10) if hit.text == memory.content]
        fields = (hit.fields for hit in same if not hit.turns or set(hit.turns) & set(memory.turns))
        ids = (_first_field(values, names) for values in fields)
        return next((id_ for id_ in ids if id_ is not None), None)

    def _settle(self) -> None:
        if self._changed:
            time.sleep(self._settle_s)
            self._changed = False

    def _call(self, choice: Choice, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        name = choice.tool.name
        begun = time.perf_counter()
        cost: Mapping[str, float] = {"failed": 1}
        try:
            result, cost = self._connection.call(name, arguments)
        finally:
            whole = {"calls": 1, **cost, "ms": (time.perf_counter() - begun) * 1000}
            spent = self.costs.setdefault(name, {})
            spent |= {part: spent.get(part, 0) + number for part, number in whole.items()}
        return result


def _first_field(fields: Mapping[str, Any], names: Sequence[str]) -> str | int | None:
    """Return the first of `names` in `fields` that is a text or a number."""
    values = (fields.get(name) for name in names)
    return next((value for value in values if isinstance(value, str | int)), None)


def nothing_in(text: str, query: str) -> str:
    """Return the answer of a plain server with {query} in place of `query`."""
    return " ".join(text.replace(query, "{query}").split())


def _sent_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that were sent, also those of a list of one object."""
    fields = flat_fields(arguments)
    for value in arguments.values():
        if isinstance(value, list) and len(value) == 1:
            fields = {**flat_fields(value[0]), **fields}
    return fields
