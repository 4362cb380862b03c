"""What every context writer does, and the one rule by which a token budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from memsys.text.tokens import count_tokens
from memsys.types import Candidate


class ContextWriter(Protocol):
    """Puts candidates before a reader as text."""

    name: str

    def write(
        self, candidates: Sequence[Candidate], budget: int | None
    ) -> tuple[tuple[Candidate, ...], str]:
        """Those of the ranked `candidates` that fit `budget` o200k tokens (None: all), in rank
        order, and their text, "" if there are none. The text never exceeds the budget.
        """
        ...


def stamp(time: datetime) -> str:
    """`8 May 2023, 13:56`: a session's time as a reader sees it."""
    return f"{time.day} {time:%B %Y, %H:%M}"


def chronological(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Oldest first; memories of one session stay in rank order."""
    return sorted(candidates, key=lambda candidate: candidate.memory.time)


def fit(
    candidates: Sequence[Candidate],
    budget: int | None,
    render: Callable[[Sequence[Candidate]], str],
    render_one: Callable[[Candidate], str],
) -> tuple[tuple[Candidate, ...], str]:
    """Spend `budget` tokens by rank: a memory too long for what is left is passed over.

    Lines are counted one by one (linear in the context); the whole is counted once at the end and
    the last memories are dropped should the sum of the lines have come out too small.
    """
    if budget is None:
        return tuple(candidates), render(candidates) if candidates else ""
    left = budget - count_tokens(render([]))
    kept: list[Candidate] = []
    for candidate in candidates:
        cost = count_tokens(render_one(candidate))
        if cost <= left:
            kept.append(candidate)
            left -= cost
    text = render(kept)
    while kept and count_tokens(text) > budget:
        kept.pop()
        text = render(kept)
    return tuple(kept), text if kept else ""  # no tags around nothing
