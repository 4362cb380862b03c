"""The table of systems under one answer key and protocol: groups, ranks, columns and cells."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from eval.cards.card.schema import Score
from eval.cards.scores import BLEU1, F1
from eval.cards.site.cards import Entry, score_text
from eval.rendering.numbers import ABSENT
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL
from memsys.core.files import shown

HASH = 12  # characters of a hash in a table
_NAME = 40  # characters of a model's name


class Scope(NamedTuple):
    """What the F1 of a system is a mean over.

    `data`: identity of the data set and of its answer key. `keyless`: answers of a reader that asks
    no language model. `types`: of the system under any answer key. `counts`: number of questions by
    type, and OVERALL; only that under an answer key without scores by type.
    """

    data: str
    keyless: bool
    types: tuple[str, ...]
    counts: tuple[tuple[str, int], ...]

    @property
    def questions(self) -> int:
        """Number of questions."""
        return dict(self.counts)[OVERALL]

    @property
    def places(self) -> Mapping[tuple[object, ...], int]:
        """The counts by type; the overall one is of systems with the same types only."""
        types = {OVERALL: self.types}
        return {(self.data, name, types.get(name, ())): n for name, n in self.counts}


class Cell(NamedTuple):
    """A text, and the number that it is sorted by (None: by the text; nothing known sorts last).

    `note`: a remark in small print.
    """

    text: str
    value: float | None = None
    note: str = ""


class Column(NamedTuple):
    """A heading and the cells of the systems; `words` are aligned left and sorted from A to Z.

    `note`: of the heading, in small print.
    """

    title: str
    cells: Sequence[Cell]
    words: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Systems that were scored on the same questions, best first.

    `ranks`: the rank of each system, "" where these are not all questions of their types.
    """

    dataset: str
    scope: Scope
    entries: Sequence[Entry]
    ranks: Sequence[str]
    columns: Sequence[Column]

    @property
    def title(self) -> str:
        """Name of the data set and what the systems have in common."""
        if self.scope.keyless:
            who = "the keyless reader"
        elif all(entry.reader for entry in self.entries):
            who = "language models"
        else:
            who = "language models or unknown readers"
        part = "" if all(self.ranks) else ", not all of the data set"
        return f"{self.dataset}, {self.scope.questions:,} questions{part}: answers of {who}"

    @property
    def caption(self) -> str:
        """Number of questions by type, hash of the data, and why systems are not ranked."""
        types = [f"{shown(name)} {n:,}" for name, n in self.scope.counts if name != OVERALL]
        data = ", ".join(file[:HASH] for file in self.entries[0].hashes("data"))
        parts = [
            ", ".join(types or map(shown, self.scope.types)),
            f"data sha256 {data or 'unknown'}",
            "" if all(self.ranks) else "no ranks: cards do not say which questions are left out",
        ]
        return "; ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Board:
    """The groups under an answer key and a protocol, and the cards without an F1 there."""

    key: str
    protocol: str
    groups: Sequence[Group]
    without: Sequence[Entry]


def board(entries: Sequence[Entry], key: str, protocol: str) -> Board:
    """Return the groups of `entries`: by data set, ranked before others, more questions first.

    Ranked are scopes that have all questions of their types, as far as the others show. Two systems
    that leave out equally many questions need not leave out the same ones.
    """
    scopes: dict[Scope, list[Entry]] = {}
    without = []
    for entry in entries:
        if entry.score(key, protocol) is None:
            without.append(entry)
        else:
            scopes.setdefault(_scope(entry, key, protocol), []).append(entry)
    most: dict[tuple[object, ...], int] = {}
    for scope in scopes:
        for place, n in scope.places.items():
            most[place] = max(n, most.get(place, 0))
    groups = []
    for scope, members in scopes.items():
        ranked = all(n == most[place] for place, n in scope.places.items())
        groups.append(_group(members, scope, ranked, key, protocol))
    groups.sort(
        key=lambda group: (
            group.dataset,
            not all(group.ranks),
            group.scope.keyless,
            -group.scope.questions,
            repr(group.scope),
        )
    )
    return Board(key, protocol, groups, without)


def _scope(entry: Entry, key: str, protocol: str) -> Scope:
    types = entry.types(protocol)
    scores = ((name, entry.score(key, protocol, name)) for name in (*types, OVERALL))
    counts = tuple((name, score.n) for name, score in scores if score is not None)
    data = entry.data if key == "original" else f"{entry.data} {entry.hashes('key')}"
    return Scope(data, entry.keyless, tuple(types), counts)


def _group(members: Sequence[Entry], scope: Scope, ranked: bool, key: str, protocol: str) -> Group:
    means = {
        entry.page: score.mean
        for entry in members
        if (score := entry.score(key, protocol)) is not None
    }
    best = sorted(members, key=lambda entry: -means[entry.page])
    ranks = [str(1 + sum(other > means[entry.page] for other in means.values())) for entry in best]
    columns = [
        column
        for column in _columns(scope, key, protocol, best)
        if any(cell.text != ABSENT for cell in column.cells)
    ]
    return Group(best[0].dataset, scope, best, ranks if ranked else [""] * len(best), columns)


def _columns(scope: Scope, key: str, protocol: str, entries: Sequence[Entry]) -> Iterator[Column]:
    def scores(type_: str, measure: str = F1) -> list[Score | None]:
        return [entry.score(key, protocol, type_, measure) for entry in entries]

    def texts(title: str, text: Callable[[Entry], str | None]) -> Column:
        names = map(text, entries)
        cells = [Cell(ABSENT if name is None else shown(name, _NAME)) for name in names]
        return Column(title, cells, words=True)

    yield Column("F1", [_score(score) for score in scores(OVERALL)])
    for name, _ in scope.counts:
        if name != OVERALL:
            yield Column(shown(name), [_score(score) for score in scores(name)])
    yield Column("BLEU-1", [_score(score) for score in scores(OVERALL, BLEU1)])
    verdicts = scores(OVERALL, JUDGE)
    reported = all(score.reported for score in verdicts if score is not None)
    judged = [_score(score, marked=not reported, questions=scope.questions) for score in verdicts]
    yield Column("judge", judged, note="reported" * reported)
    yield Column("answered", [_answered_cell(entry) for entry in entries])
    yield texts("reader", lambda entry: entry.reader)
    yield texts("judged by", lambda entry: entry.card.models.get("judge"))
    yield texts("kind", lambda entry: entry.card.kind)


def _score(score: Score | None, *, marked: bool = True, questions: int | None = None) -> Cell:
    """Return the cell of a score; `marked`: it says what is reported, and with `questions` its n
    where that differs.
    """
    if score is None:
        return Cell(ABSENT)
    notes = ["reported"] * (marked and score.reported)
    notes += [f"n={score.n:,}"] * (questions not in (None, score.n))
    return Cell(score_text(score), score.mean, ", ".join(notes))


def _answered_cell(entry: Entry) -> Cell:
    rows = entry.card.rows
    count, total = rows.get("matched", 0) - rows.get("errors", 0), rows.get("questions")
    return Cell(f"{count:,}", count, "" if total is None else f"of {total:,}")
