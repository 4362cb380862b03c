"""The protocol of context writers, and how a token budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from memsys.text.tokens import count_tokens
from memsys.types import Candidate


class ContextWriter(Protocol):
    """Writes candidates as text for a reader."""

    name: str

    def write(
        self, candidates: Sequence[Candidate], budget: int | None
    ) -> tuple[tuple[Candidate, ...], str]:
        """Return those of the ranked `candidates` that fit `budget`, in rank order, and their text.

        `budget` is in o200k tokens (None: no limit) and is never exceeded; the text is "" if there
        are no candidates.
        """
        ...


def stamp(time: datetime) -> str:
    """Return the time as a reader sees it: `8 May 2023, 13:56`."""
    return f"{time.day} {time:%B %Y, %H:%M}"


def chronological(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates oldest first; those of one session stay in rank order."""
    return sorted(candidates, key=lambda candidate: candidate.memory.time)


def fit(
    candidates: Sequence[Candidate],
    budget: int | None,
    render: Callable[[Sequence[Candidate]], str],
    render_one: Callable[[Candidate], str],
) -> tuple[tuple[Candidate, ...], str]:
    """Return the candidates that fit `budget` tokens, by rank, and their text.

    A memory too long for the remaining budget is skipped. Lines are counted one by one (linear in
    the context); the whole is counted at the end, and the last memories are dropped if it exceeds
    the budget after all.
    """
    if budget is None:
        return tuple(candidates), render(candidates) if candidates else ""
    left = budget - count_tokens(render([]))
    fitting: list[Candidate] = []
    for candidate in candidates:
        cost = count_tokens(render_one(candidate))
        if cost <= left:
            fitting.append(candidate)
            left -= cost
    text = render(fitting)
    while fitting and count_tokens(text) > budget:
        fitting.pop()
        text = render(fitting)
    return tuple(fitting), text if fitting else ""  # no tags around nothing
