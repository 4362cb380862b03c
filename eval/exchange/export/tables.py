"""The records and rankings of a run as tables: Parquet with pyarrow, and CSV for spreadsheets."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from eval.records.comma_separated import write_rows
from eval.records.rankings import load_memories
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.closing import write_csv
from eval.summary.summarise import summarise
from memsys.core.errors import InputError

Columns = dict[str, tuple[str, list[Any]]]  # pyarrow's name of the type, and values, by name
_TEXT, _TEXTS = "string", "list<string>"
_TYPES: dict[Any, str] = {
    str: _TEXT,
    int: "int64",
    float: "float64",
    bool: "bool",
    list[str]: _TEXTS,
}
_BY_NAME = (dict[str, float | None], dict[str, float])


def write_parquet(run: Run, folder: Path) -> list[str]:
    """Write records.parquet, and rankings.parquet if the run has rankings; returns notes.

    Raises InputError without pyarrow.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            "--to parquet: pyarrow is not installed: pip install 'memsys[parquet]'"
        ) from error
    tables = {"records": of_records(run)} | ({"rankings": of_rankings(run)} if run.rankings else {})
    for name, columns in tables.items():
        arrays = {
            column: pa.array(values, pa.list_(pa.string()) if type_ == _TEXTS else type_)
            for column, (type_, values) in columns.items()
        }
        parquet.write_table(pa.table(arrays), folder / f"{name}.parquet")
    if run.rankings:
        return []
    return ["the run has no rankings (retrieval.depth): there is no rankings.parquet"]


def write_comma_separated(run: Run, folder: Path) -> list[str]:
    """Write summary.csv, with the ends of intervals in columns of their own, and records.csv, with
    lists as JSON text.
    """
    write_csv(folder / "summary.csv", summarise(run.records.values(), run.manifest, run.seed))
    columns = of_records(run)
    texts = [
        map(_json, values) if type_ == _TEXTS else values for type_, values in columns.values()
    ]
    with (folder / "records.csv").open("w", encoding="utf-8", newline="") as file:
        write_rows(file, [list(columns), *zip(*texts, strict=True)], end="\r\n")
    return []


def of_records(run: Run) -> Columns:
    """Return the columns of the records, the first of which is the `run`'s id.

    A field of numbers by name has a column for each: `scores_f1`, `latency_ms_total`. A field of
    another shape, such as `retrieved` and `trace`, is JSON text.
    """
    records = list(run.records.values())
    columns: Columns = {"run": (_TEXT, [run.manifest["run_id"]] * len(records))}
    for name in dict.fromkeys([*_types(), *(name for record in records for name in record)]):
        values: list[Any] = [record.get(name) for record in records]
        type_ = _types().get(name)
        if type_ == "by name":
            for key in dict.fromkeys(key for one in values for key in one or {}):
                columns[f"{name}_{key}"] = "float64", [(one or {}).get(key) for one in values]
        else:
            columns[name] = (type_, values) if type_ else (_TEXT, list(map(_json, values)))
    return columns


def of_rankings(run: Run) -> Columns:
    """Return the columns of the rankings, with a row for each ranked memory; rank 1 is the best.

    `selected`: the order means nothing, since the strategy only selects. `score` is the strategy's.
    """
    memories = load_memories(run.folder, run.manifest)
    columns: Columns = {
        **{name: (_TEXT, []) for name in ("run", "question", "store")},
        **{"selected": ("bool", []), "rank": ("int64", []), "memory": (_TEXT, [])},
        **{"turns": (_TEXTS, []), "score": ("float64", []), "tokens": ("int64", [])},
    }
    for id_, one in run.rankings.items():
        for rank, (memory, score) in enumerate(one.memories, 1):
            known = memories[one.store, memory]
            place = (run.manifest["run_id"], id_, one.store, one.selected, rank, memory)
            row = (*place, known["turns"], score, known["tokens"])
            for (_, values), value in zip(columns.values(), row, strict=True):
                values.append(value)
    return columns


def _json(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


@cache
def _types() -> dict[str, str | None]:
    """Return the type of each field of a record, "by name" for numbers by name; None: of another
    shape.
    """
    found: dict[str, str | None] = {}
    for name, hint in get_type_hints(Record).items():
        plain = [one for one in get_args(hint) if one is not NoneType]
        type_ = plain[0] if NoneType in get_args(hint) and len(plain) == 1 else hint
        if get_origin(type_) is Literal:
            type_ = str
        found[name] = "by name" if type_ in _BY_NAME else _TYPES.get(type_)
    return found
