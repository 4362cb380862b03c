"""`python -m eval export RUN --to trec`: a run for other tools, as TREC, BEIR, Parquet or CSV."""

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from eval.cli import add_run, check_out, code_of, parser
from eval.datasets.files import load_sources
from eval.exchange.export.collection import UnitName, write_beir, write_trec
from eval.records.comma_separated import write_rows
from eval.records.files import writing
from eval.records.rankings import SESSION, load_memories
from eval.records.run import Run, load_run
from eval.records.schema import Record
from eval.summary.closing import write_csv
from eval.summary.summarise import summarise
from memsys.core.errors import InputError, check_installed, check_whole

_OF_RECORDS = ("parquet", "csv")
_OPTIONAL = {  # patterns of files that only some exports have
    "trec": ["qrels/*.trec"],
    "beir": ["candidates.jsonl"],
    "parquet": ["rankings.parquet"],
}
_WITH_TEXTS = {
    "trec": "corpus.jsonl and topics.tsv",
    "beir": "corpus.jsonl and queries.jsonl",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Export and print; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    command = parser(
        "export",
        "Export a run for other tools. trec: ranking, qrels, topics and corpus; beir: "
        "corpus, queries, qrels and the pool of each question; parquet: records and "
        "rankings; csv: summary and records. docs/exporting.md has examples.",
        epilog=(
            "python -m eval export RUN --to trec; ir_measures RUN/trec/qrels.trec "
            "RUN/trec/run.trec nDCG@10 R@10 RR"
        ),
    )
    add_run(command)
    add = command.add_argument
    add("--to", required=True, choices=["trec", "beir", "parquet", "csv"], help="format")
    add("--out", type=Path, metavar="FOLDER", help="(default: a folder named as the format in RUN)")
    add(
        "--unit",
        choices=["turn", "session"],
        help=("documents of trec and beir (default: turn, or session where sessions were ranked)"),
    )
    add(
        "--depth",
        type=int,
        metavar="N",
        help="documents of each ranking in run.trec at most (default: all that are recorded)",
    )
    add("--force", action="store_true", help="replace the files of an earlier export")
    return code_of(lambda: _export(command.parse_args(arguments)))


def _export(options: argparse.Namespace) -> None:
    if options.depth is not None:
        check_whole("--depth", options.depth)
    unused = {"depth": options.to != "trec", "unit": options.to in _OF_RECORDS}
    for name, is_unused in unused.items():
        if is_unused and getattr(options, name) is not None:
            raise InputError(f"--{name} does not apply to --to {options.to}")
    run = load_run(options.run, answered=False)
    out = options.out or run.folder / options.to
    with _placing(out, _OPTIONAL.get(options.to, ()), force=options.force) as folder:
        notes = _write(options, run, folder)
        files = [path for path in folder.rglob("*") if path.is_file()]
        names = sorted(path.relative_to(folder).as_posix() for path in files)
    print(f"written to {out}: {', '.join(names)}")
    for note in notes:
        print(f"note: {note}")
    print(f"note: {_licence(run, _WITH_TEXTS.get(options.to, f'records.{options.to}'))}")


def _write(options: argparse.Namespace, run: Run, folder: Path) -> list[str]:
    if options.to in _OF_RECORDS:
        return write_parquet(run, folder) if options.to == "parquet" else write_csvs(run, folder)
    used = run.manifest["retrieval"]
    unit: UnitName = options.unit or (SESSION if used and used["unit"] == SESSION else "turn")
    if options.to == "trec":
        return write_trec(run, unit, options.depth, folder)
    return write_beir(run, unit, folder)


def _licence(run: Run, files: str) -> str:
    name, data = run.manifest["dataset"], {file["sha256"] for file in run.manifest["data"]}
    by_source = {
        key: source.licence
        for key, source in load_sources().items()
        if key == name or any(file.sha256 in data for file in source.files())
    }
    if len(by_source) > 1:
        terms = "; ".join(f"{key}: {licence}" for key, licence in by_source.items())
        data_sets, own = "several data sets", f"their licences ({terms})"
    else:
        licence = "".join(f" ({terms})" for terms in by_source.values())
        data_sets, own = f"the data set {name}", f"its licence{licence}"
    return f"{files}: with texts of {data_sets}, which remain under {own}"


@contextmanager
def _placing(out: Path, optional: Sequence[str], *, force: bool) -> Iterator[Path]:
    """Yield a new folder to write, whose files then move to the folder `out`.

    Raises InputError if `out` cannot be written, or has a file of the same name, or one of the
    patterns `optional`, files that an export may lack. `force`: replace the former and remove the
    latter, since it belongs to an earlier export. Other files in `out` remain.
    """
    check_out(out)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield folder
        _move(folder, out, optional, force=force)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, out: Path, optional: Sequence[str], *, force: bool) -> None:
    names = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    earlier = {path.relative_to(out) for pattern in optional for path in out.glob(pattern)}
    for name in sorted(earlier.union(names)):
        if (out / name).is_dir():
            raise InputError(f"{out / name}: is a folder; name another folder by --out")
        if (out / name).exists() and not force:
            raise InputError(f"{out / name}: exists; name another folder by --out, or use --force")
    for part in {out, *((out / name).parent for name in names)}:
        if part.is_symlink():  # out of a folder that somebody else may have made
            raise InputError(f"{part}: is a link; name the folder itself by --out")
    with writing(out):
        for name in earlier.difference(names):
            (out / name).unlink()
        for name in names:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / name).replace(out / name)


Columns = dict[str, tuple[str, list[Any]]]  # pyarrow's name of the type, and values, by name
_TEXT, _TEXTS = "string", "list<string>"
_TYPES: dict[Any, str] = {str: _TEXT, int: "int64", float: "float64", bool: "bool"}
_TYPES[list[str]] = _TEXTS
_BY_NAME = (dict[str, float | None], dict[str, float])


def write_parquet(run: Run, folder: Path) -> list[str]:
    """Write records.parquet, and rankings.parquet if the run has rankings; returns notes.

    Raises InputError without pyarrow.
    """
    check_installed("pyarrow", "--to parquet", "parquet")
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

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


def write_csvs(run: Run, folder: Path) -> list[str]:
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
            for key in dict.fromkeys(key for value in values for key in value or {}):
                columns[f"{name}_{key}"] = "float64", [(value or {}).get(key) for value in values]
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
    for id_, ranked in run.rankings.items():
        for rank, (memory, score) in enumerate(ranked.memories, 1):
            memory_line = memories[ranked.store, memory]
            place = (run.manifest["run_id"], id_, ranked.store, ranked.selected, rank, memory)
            row = (*place, memory_line["turns"], score, memory_line["tokens"])
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
    types: dict[str, str | None] = {}
    for name, hint in get_type_hints(Record).items():
        plain = [member for member in get_args(hint) if member is not NoneType]
        type_ = plain[0] if NoneType in get_args(hint) and len(plain) == 1 else hint
        if get_origin(type_) is Literal:
            type_ = str
        types[name] = "by name" if type_ in _BY_NAME else _TYPES.get(type_)
    return types
