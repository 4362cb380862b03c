"""The records and rankings of a run as tables: columns of one type each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from eval.records.rankings import load_memories
from eval.records.run import Run
from eval.records.schema import Record

Kind = Literal["text", "whole", "number", "truth", "texts"]
_KINDS: Mapping[Any, Kind] = {
    **{str: "text", int: "whole", float: "number", bool: "truth", list[str]: "texts"},
}
_BY_NAME = (dict[str, float | None], dict[str, float])


@dataclass(frozen=True, slots=True)
class Column:
    """Name, type and values of a column; None is an empty cell."""

    name: str
    kind: Kind
    values: Sequence[Any]


def of_records(run: Run) -> list[Column]:
    """Return the columns of the records, the first of which is the `run`'s id.

    A field of numbers by name has a column for each: `scores_f1`, `latency_ms_total`. A field of
    another shape, such as `retrieved` and `trace`, is JSON text.
    """
    records = list(run.records.values())
    found = [Column("run", "text", [run.manifest["run_id"]] * len(records))]
    names = dict.fromkeys([*_fields(), *(name for record in records for name in record)])
    for name in names:
        values: list[Any] = [record.get(name) for record in records]
        kind = _fields().get(name)
        if kind == "by name":
            found += _spread(name, values)
        elif kind is None:
            texts = [None if one is None else json.dumps(one, ensure_ascii=False) for one in values]
            found.append(Column(name, "text", texts))
        else:
            found.append(Column(name, kind, values))
    return found


def of_rankings(run: Run) -> list[Column]:
    """Return the columns of the rankings, with a row for each ranked memory; rank 1 is the best.

    `selected`: the order means nothing, since the strategy only selects. `score` is the strategy's.
    """
    memories = load_memories(run.folder, run.manifest)
    rows: list[tuple[Any, ...]] = []
    for id_, one in run.rankings.items():
        for rank, (memory, score) in enumerate(one.memories, 1):
            known = memories[one.store, memory]
            place = (run.manifest["run_id"], id_, one.store, one.selected, rank, memory)
            rows.append((*place, known["turns"], score, known["tokens"]))
    kinds: dict[str, Kind] = {
        **{"run": "text", "question": "text", "store": "text", "selected": "truth"},
        **{"rank": "whole", "memory": "text", "turns": "texts", "score": "number"},
        "tokens": "whole",
    }
    values = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return [Column(name, kinds[name], list(one)) for name, one in zip(kinds, values, strict=True)]


def lines(columns: Sequence[Column]) -> Iterable[Sequence[object]]:
    """Yield the header and the rows for CSV, with lists as JSON text."""
    yield [column.name for column in columns]
    for row in zip(*(column.values for column in columns), strict=True):
        yield [json.dumps(one, ensure_ascii=False) if isinstance(one, list) else one for one in row]


@cache
def _fields() -> dict[str, Kind | Literal["by name"] | None]:
    """Return the kind of each field of a record; None: of another shape."""
    found: dict[str, Kind | Literal["by name"] | None] = {}
    for name, hint in get_type_hints(Record).items():
        plain = [one for one in get_args(hint) if one is not NoneType]
        type_ = plain[0] if NoneType in get_args(hint) and len(plain) == 1 else hint
        if get_origin(type_) is Literal:
            type_ = str
        found[name] = "by name" if type_ in _BY_NAME else _KINDS.get(type_)
    return found


def _spread(name: str, values: Sequence[Mapping[str, float | None] | None]) -> list[Column]:
    keys = dict.fromkeys(key for one in values for key in one or {})
    return [
        Column(f"{name}_{key}", "number", [None if one is None else one.get(key) for one in values])
        for key in keys
    ]
