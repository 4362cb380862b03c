"""Memories that somebody else wrote, such as those of another product, read from files."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from memsys.core.declared import Count, PathText
from memsys.core.types import UNDATED, Candidate, Memory, Query, Session
from memsys.index.rank import Start
from memsys.knowledge.memory.base import verbatim
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Parts


def memories_of(text: str) -> list[Memory]:
    """Return a memory for each paragraph of `text`; an empty line separates two."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    return [verbatim(f"m{i}", part, UNDATED, "", ()) for i, part in enumerate(paragraphs, 1)]


class Given(VectorOnly):
    """The memories of a conversation in the order of their file, or the k best by cosine.

    They have no time, and name no turns: evidence metrics have no value. What writing them cost is
    not known.
    """

    start: ClassVar[Start | None] = None
    written_elsewhere: ClassVar[bool] = True

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        path: PathText | None,  # noqa: ARG002 - its files are read for each conversation
        text: str = "",
    ) -> None:
        """`path`: the folder of the files, or null for those of `memsys fetch openai_memories`, as
        eval.datasets.files.memory_files finds them. `text`: that of the conversation's file, a
        memory a paragraph.
        """
        super().__init__(parts, k, budget)
        self._text = text

    def ingest(self, session: Session) -> int:  # noqa: ARG002
        """Store all memories with the first session; return their number."""
        if self.store.memories:
            return 0
        self.store.add(memories_of(self._text))
        return len(self.store.memories)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Return all memories with score 1, or rank by cosine if `k` is set."""
        if self.k is None:
            return [Candidate(memory, 1.0) for memory in self.store.memories], {}
        return super().rank(query)
