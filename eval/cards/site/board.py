"""The table of systems under one answer key and protocol: groups, ranks, columns and cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from eval.cards.card.schema import Score
from eval.cards.scores import BLEU1, F1
from eval.cards.site.cards import Entry, score_text
from eval.rendering.numbers import ABSENT
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL
from memsys.core.files import shown

HASH = 12  # characters of a hash in a table
_NAME = 40  # characters of a model's name


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


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and the number that it is sorted by (None: by the text; nothing known sorts last).

    `note`: a remark in small print.
    """

    text: str
    value: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and the cell of a system; `words` are aligned left and sorted from A to Z.

    `note`: of the heading, in small print.
    """

    title: str
    cell: Callable[[Entry], Cell]
    words: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A system: its rank, "" if it is not ranked, its card, and a cell for each further column."""

    rank: str
    entry: Entry
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Group:
    """Systems that were scored on the same questions, best first.

    `ranked`: these are all questions of their types.
    """

    dataset: str
    scope: Scope
    ranked: bool
    columns: Sequence[Column]
    rows: Sequence[Row]

    @property
    def title(self) -> str:
        """Name of the data set and what the systems have in common."""
        if self.scope.keyless:
            who = "the keyless reader"
        elif all(row.entry.reader for row in self.rows):
            who = "language models"
        else:
            who = "language models or unknown readers"
        part = "" if self.ranked else ", not all of the data set"
        return f"{self.dataset}, {self.scope.questions:,} questions{part}: answers of {who}"

    @property
    def caption(self) -> str:
        """Number of questions by type, hash of the data, and why systems are not ranked."""
        types = [f"{shown(name)} {n:,}" for name, n in self.scope.counts if name != OVERALL]
        types = types or list(map(shown, self.scope.types))
        data = ", ".join(file[:HASH] for file in self.rows[0].entry.hashes("data"))
        parts = [", ".join(types), f"data sha256 {data or 'unknown'}"]
        if not self.ranked:
            parts.append("no ranks: cards do not say which questions are left out")
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Board:
    """The groups under an answer key and a protocol, and the cards without an F1 there."""

    key: str
    protocol: str
    groups: Sequence[Group]
    without: Sequence[Entry]


def board(entries: Sequence[Entry], key: str, protocol: str) -> Board:
    """Return the groups of `entries`: by data set, ranked before others, more questions first."""
    scopes: dict[Scope, list[Entry]] = {}
    without = []
    for one in entries:
        if one.score(key, protocol) is None:
            without.append(one)
        else:
            scopes.setdefault(_scope(one, key, protocol), []).append(one)
    whole = complete(list(scopes))
    groups = [
        _group(members, scope, scope in whole, key, protocol) for scope, members in scopes.items()
    ]
    return Board(key, protocol, sorted(groups, key=_place), without)


def _place(group: Group) -> tuple[object, ...]:
    scope = group.scope
    return group.dataset, not group.ranked, scope.keyless, -scope.questions, repr(scope)


def _group(members: Sequence[Entry], scope: Scope, ranked: bool, key: str, protocol: str) -> Group:
    means = [score.mean for one in members if (score := one.score(key, protocol)) is not None]
    best = sorted(zip(means, members, strict=True), key=lambda found: -found[0])
    columns = [
        one
        for one in _columns(scope, key, protocol, members)
        if any(one.cell(member).text != ABSENT for member in members)
    ]
    rows = [
        Row(
            str(1 + sum(other > mean for other in means)) if ranked else "",
            one,
            [column.cell(one) for column in columns],
        )
        for mean, one in best
    ]
    return Group(members[0].dataset, scope, ranked, columns, rows)


def _columns(scope: Scope, key: str, protocol: str, members: Sequence[Entry]) -> Iterator[Column]:
    def of(type_: str, measure: str = F1, *, marked: bool = True) -> Callable[[Entry], Cell]:
        return lambda one: _score(one.score(key, protocol, type_, measure), marked=marked)

    def verdict(one: Entry) -> Score | None:
        return one.score(key, protocol, measure=JUDGE)

    yield Column("F1", of(OVERALL))
    for name, _ in scope.counts:
        if name != OVERALL:
            yield Column(shown(name), of(name))
    yield Column("BLEU-1", of(OVERALL, BLEU1))
    reported = all(found.reported for one in members if (found := verdict(one)) is not None)

    def judge(one: Entry) -> Cell:
        cell, found = of(OVERALL, JUDGE, marked=not reported)(one), verdict(one)
        if found is None or found.n == scope.questions:
            return cell
        return replace(cell, note=", ".join(filter(None, (cell.note, f"n={found.n:,}"))))

    yield Column("judge", judge, note="reported" * reported)
    yield Column("answered", _answered)
    yield Column("reader", lambda one: _name(one.reader), words=True)
    yield Column("judged by", lambda one: _name(one.card.models.get("judge")), words=True)
    yield Column("kind", lambda one: Cell(one.card.kind), words=True)


def _score(found: Score | None, *, marked: bool = True) -> Cell:
    if found is None:
        return Cell(ABSENT)
    return Cell(score_text(found), found.mean, "reported" if marked and found.reported else "")


def _answered(entry: Entry) -> Cell:
    rows = entry.card.rows
    count, total = rows.get("matched", 0) - rows.get("errors", 0), rows.get("questions")
    return Cell(f"{count:,}", count, "" if total is None else f"of {total:,}")


def _name(name: str | None) -> Cell:
    return Cell(ABSENT if name is None else shown(name, _NAME))


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
    found = ((name, entry.score(key, protocol, name)) for name in (*types, OVERALL))
    counts = tuple((name, one.n) for name, one in found if one is not None)
    data = entry.data if key == "original" else f"{entry.data} {entry.hashes('key')}"
    return Scope(data, entry.keyless, tuple(types), counts)


def _places(scope: Scope) -> Mapping[tuple[object, ...], int]:
    """Return the counts by type; the overall one among systems with the same types only."""
    return {
        (scope.data, name, scope.types if name == OVERALL else ()): n for name, n in scope.counts
    }
