"""Tables for analysis: Parquet with pyarrow, and CSV for spreadsheets."""

from __future__ import annotations

from pathlib import Path

from eval.exchange.export.tables import Column, lines, of_rankings, of_records
from eval.records.comma_separated import write_rows
from eval.records.run import Run
from eval.summary.closing import write_csv
from eval.summary.summarise import summarise
from memsys.core.errors import InputError


def write_parquet(run: Run, folder: Path) -> list[str]:
    """Write records.parquet, and rankings.parquet if the run has rankings; returns notes.

    Raises InputError without pyarrow.
    """
    _check_pyarrow()
    _parquet(of_records(run), folder / "records.parquet")
    if not run.rankings:
        return ["the run has no rankings (retrieval.depth): there is no rankings.parquet"]
    _parquet(of_rankings(run), folder / "rankings.parquet")
    return []


def write_comma_separated(run: Run, folder: Path) -> list[str]:
    """Write summary.csv, with the ends of intervals in columns of their own, and records.csv."""
    write_csv(folder / "summary.csv", summarise(run.records.values(), run.manifest, run.seed))
    with (folder / "records.csv").open("w", encoding="utf-8", newline="") as file:
        write_rows(file, lines(of_records(run)), end="\r\n")
    return []


def _check_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise InputError(
            "--to parquet: pyarrow is not installed: pip install 'memsys[parquet]'"
        ) from error


def _parquet(columns: list[Column], path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    types = {
        **{"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "truth": pa.bool_()},
        "texts": pa.list_(pa.string()),
    }
    arrays = {one.name: pa.array(one.values, types[one.kind]) for one in columns}
    parquet.write_table(pa.table(arrays), path)
