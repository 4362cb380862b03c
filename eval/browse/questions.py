"""Search for questions by words, type, verdict and difference between two runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.browse.calls import RecordedCalls
from eval.datasets.types import types_in
from eval.rendering.blocks import Card
from eval.report.cards import ERROR, RIGHT, UNSCORED, WRONG, question_card, verdict
from eval.report.changes import difference, score_of
from eval.report.runs import ReportedRun
from memsys.errors import InputError

PAGE = 50  # questions in one reply
ABSTAINED = "abstained"
VERDICTS = (RIGHT, WRONG, ERROR, ABSTAINED, UNSCORED)
_CHANGES: Mapping[str, Callable[[float | None], bool]] = {
    "better": lambda change: change is not None and change > 0,
    "worse": lambda change: change is not None and change < 0,
    "differs": bool,
    "same": lambda change: change == 0,
}
CHANGES = tuple(_CHANGES)
ORDERS = ("gains", "losses")
_LONGEST = 500  # characters of a search


@dataclass(frozen=True, slots=True)
class QuestionSearch:
    """Filters; an empty string accepts all. `words` must all occur, in any order.

    `run`: index of the run that `verdict` applies to (None: any). `change` and `order` concern the
    score of run `other` minus that of run `one`. `start`: index of the first question returned.
    """

    words: str = ""
    type: str = ""
    verdict: str = ""
    run: int | None = None
    change: str = ""
    order: str = ""
    one: int = 0
    other: int = 0
    start: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    id: str
    type: str
    question: str
    words: str
    verdicts: tuple[tuple[str, ...], ...]


class Questions:
    """All questions of some runs, in the order of the first."""

    def __init__(self, runs: Sequence[ReportedRun], calls: RecordedCalls | None = None) -> None:
        """`calls`: None if cards show no calls to models."""
        self.runs, self._measure, self._calls = runs, score_of(runs), calls
        self.key = self._measure.key
        records = [record for run in runs for record in run.records.values()]
        self.types = tuple(types_in(records).values())
        self._ids = dict.fromkeys(id_ for run in runs for id_ in run.records)
        self._rows = [self._row(id_) for id_ in self._ids]
        self._changes: dict[tuple[int, int], dict[str, float | None]] = {}

    def find(self, search: QuestionSearch) -> dict[str, Any]:
        """Return the number of questions found, and PAGE of them from `search.start`, as JSON.

        Each has id, type, question, the verdicts of each run, and the change between two runs.
        """
        changes = self._compared(search.one, search.other)
        words = search.words.casefold().split()
        found = [
            row
            for row in self._rows
            if (not search.type or row.type == search.type)
            and (not search.verdict or _has(row, search))
            and (not search.change or _CHANGES[search.change](changes.get(row.id)))
            and all(word in row.words for word in words)
        ]
        if search.order:
            sign = -1 if search.order == "gains" else 1
            found = [row for row in found if changes.get(row.id) is not None]
            found.sort(key=lambda row: sign * (changes.get(row.id) or 0.0))
        shown = found[search.start : search.start + PAGE]
        return {
            "total": len(found),
            "start": search.start,
            "page": PAGE,
            "rows": [
                {
                    "id": row.id,
                    "type": row.type,
                    "question": row.question,
                    "verdicts": row.verdicts,
                    "change": changes.get(row.id),
                }
                for row in shown
            ],
        }

    def card(self, id_: str) -> Card | None:
        """Return the card of a question with the answers of all runs; None if no run asked it."""
        if id_ not in self._ids:
            return None
        calls = self._calls
        return question_card(id_, self.runs, lambda run: calls.of(run, id_) if calls else ())

    def _row(self, id_: str) -> _Row:
        asked = next(run.records[id_] for run in self.runs if id_ in run.records)
        texts = [id_, asked["question"], asked["gold"] or ""]
        verdicts: list[tuple[str, ...]] = []
        for run in self.runs:
            record = run.records.get(id_)
            if record is None:
                verdicts.append(())
                continue
            texts.append(record["answer"] or "")
            extra = (ABSTAINED,) if record["abstained"] else ()
            verdicts.append((verdict(record, run.marking), *extra))
        words = "\n".join(texts).casefold()
        return _Row(id_, asked["type"], asked["question"], words, tuple(verdicts))

    def _compared(self, one: int, other: int) -> Mapping[str, float | None]:
        if one == other:
            return {}
        pair = (one, other)
        if pair not in self._changes:
            first, run = self.runs[one], self.runs[other]
            self._changes[pair] = {
                row.id: difference(first, run, row.id, self._measure) for row in self._rows
            }
        return self._changes[pair]


def read_search(fields: Mapping[str, str], runs: int, types: Sequence[str]) -> QuestionSearch:
    """Return the search of an address with `fields`, for a number of `runs` and their
    question `types`. Raises InputError naming the field that is invalid.
    """
    run = fields.get("run", "")
    return QuestionSearch(
        words=fields.get("q", "")[:_LONGEST],
        type=_one_of(fields, "type", types),
        verdict=_one_of(fields, "verdict", VERDICTS),
        run=_number(fields, "run", 0, runs) if run else None,
        change=_one_of(fields, "change", CHANGES),
        order=_one_of(fields, "order", ORDERS),
        one=_number(fields, "one", 0, runs),
        other=_number(fields, "other", min(1, runs - 1), runs),
        start=_number(fields, "start", 0, None),
    )


def _one_of(fields: Mapping[str, str], name: str, known: Sequence[str]) -> str:
    value = fields.get(name, "")
    if value and value not in known:
        raise InputError(f"{name}: unknown; use {', '.join(known)}")
    return value


def _number(fields: Mapping[str, str], name: str, default: int, below: int | None) -> int:
    text = fields.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise InputError(f"{name}: use a whole number of 0 or more")
    if below is not None and int(text) >= below:
        raise InputError(f"{name}: no such run; use 0 to {below - 1}")
    return int(text)


def _has(row: _Row, search: QuestionSearch) -> bool:
    if search.run is not None:
        return search.verdict in row.verdicts[search.run]
    return any(search.verdict in verdicts for verdicts in row.verdicts)
