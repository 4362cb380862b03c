"""Which systems may be ranked together: those that were scored on the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.cards.site.cards import Entry
from eval.summary.summarise import OVERALL


@dataclass(frozen=True, slots=True)
class Scope:
    """What the F1 of a system is a mean over.

    `data`: identity of the data set and of its answer key. `counts`: number of questions by type,
    and OVERALL; only that under an answer key without scores by type. `types`: of the system under
    any answer key. `keyless`: answers of a reader that asks no language model.
    """

    data: str
    keyless: bool
    types: tuple[str, ...]
    counts: tuple[tuple[str, int], ...]

    @property
    def questions(self) -> int:
        """Number of questions."""
        return dict(self.counts)[OVERALL]


def by_scope(entries: Sequence[Entry], key: str, protocol: str) -> dict[Scope, list[Entry]]:
    """Return the systems with an F1 under `key` and `protocol` by what it is a mean over."""
    found: dict[Scope, list[Entry]] = {}
    for entry in entries:
        if entry.score(key, protocol) is not None:
            found.setdefault(_scope(entry, key, protocol), []).append(entry)
    return found


def complete(scopes: Sequence[Scope]) -> set[Scope]:
    """Return the scopes that have all questions of their types, as far as the others show.

    Two systems that leave out equally many questions need not leave out the same ones, so the
    remaining scopes do not make their systems comparable.
    """
    most: dict[tuple[object, ...], int] = {}
    for scope in scopes:
        for place, n in _places(scope).items():
            most[place] = max(n, most.get(place, 0))
    return {
        scope for scope in scopes if all(n == most[place] for place, n in _places(scope).items())
    }


def _scope(entry: Entry, key: str, protocol: str) -> Scope:
    types = entry.types(protocol)
    found = {name: entry.score(key, protocol, name) for name in (*types, OVERALL)}
    counts = tuple((name, one.n) for name, one in found.items() if one is not None)
    data = entry.data if key == "original" else f"{entry.data} {entry.hashes('key')}"
    return Scope(data, entry.keyless, tuple(types), counts)


def _places(scope: Scope) -> Mapping[tuple[object, ...], int]:
    """Return the counts by type; the overall one among systems with the same types only."""
    return {
        (scope.data, name, scope.types if name == OVERALL else ()): n for name, n in scope.counts
    }
