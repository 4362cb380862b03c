"""Memories as a plain list, oldest first."""

from __future__ import annotations

from collections.abc import Sequence

from memsys.context.base import chronological, fit, stamp
from memsys.types import Candidate


class Flat:
    """Writes one line per memory: `[8 May 2023, 13:56] Speaker: words`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def write(
        self, candidates: Sequence[Candidate], budget: int | None
    ) -> tuple[tuple[Candidate, ...], str]:
        """See ContextWriter."""
        return fit(candidates, budget, _render, _line)


def _line(candidate: Candidate) -> str:
    return f"[{stamp(candidate.memory.time)}] {candidate.memory.content}\n"


def _render(candidates: Sequence[Candidate]) -> str:
    return "".join(_line(candidate) for candidate in chronological(candidates))
