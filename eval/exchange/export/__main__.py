"""`python -m eval export RUN --to trec`: a run for other tools, as TREC, BEIR, Parquet or CSV."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from eval.cli import add_run, code_of, parser
from eval.datasets.files import load_sources
from eval.exchange.export import tables
from eval.exchange.export.collection import (
    BEIR_TEXTS,
    TREC_TEXTS,
    UnitName,
    write_beir,
    write_trec,
)
from eval.records.files import writing
from eval.records.rankings import SESSION
from eval.records.run import Run, load_run
from memsys.core.errors import InputError

_TABLES = {"parquet": tables.write_parquet, "csv": tables.write_comma_separated}
_OPTIONAL = {  # patterns of files that only some exports have
    "trec": ["qrels/*.trec"],
    "beir": ["candidates.jsonl"],
    "parquet": ["rankings.parquet"],
}
_TEXTS = {"trec": TREC_TEXTS, "beir": BEIR_TEXTS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Export and print; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    return code_of(lambda: _export(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "export",
        "Export a run for other tools. trec: ranking, qrels, topics and corpus; beir: corpus, "
        "queries, qrels and the pool of each question; parquet: records and rankings; csv: summary "
        "and records. docs/exporting.md has examples.",
        epilog="python -m eval export RUN --to trec; "
        "ir_measures RUN/trec/qrels.trec RUN/trec/run.trec nDCG@10 R@10 RR",
    )
    add_run(command)
    add = command.add_argument
    add("--to", required=True, choices=["trec", "beir", "parquet", "csv"], help="format")
    add("--out", type=Path, metavar="FOLDER", help="(default: a folder named as the format in RUN)")
    unit = "documents of trec and beir (default: turn, or session where sessions were ranked)"
    add("--unit", choices=["turn", "session"], help=unit)
    depth = "documents of each ranking in run.trec at most (default: all that are recorded)"
    add("--depth", type=int, metavar="N", help=depth)
    add("--force", action="store_true", help="replace the files of an earlier export")
    return command


def _export(options: argparse.Namespace) -> None:
    _check(options)
    run = load_run(options.run, answered=False)
    out = options.out or run.folder / options.to
    with _placing(out, _OPTIONAL.get(options.to, ()), force=options.force) as folder:
        notes = _write(options, run, folder)
        files = [path for path in folder.rglob("*") if path.is_file()]
        names = sorted(path.relative_to(folder).as_posix() for path in files)
    print(f"written to {out}: {', '.join(names)}")
    for note in notes:
        print(f"note: {note}")
    print(f"note: {_licence(run, _TEXTS.get(options.to, f'records.{options.to}'))}")


def _write(options: argparse.Namespace, run: Run, folder: Path) -> list[str]:
    if options.to in _TABLES:
        return _TABLES[options.to](run, folder)
    used = run.manifest["retrieval"]
    unit: UnitName = options.unit or (SESSION if used and used["unit"] == SESSION else "turn")
    if options.to == "trec":
        return write_trec(run, unit, options.depth, folder)
    return write_beir(run, unit, folder)


def _licence(run: Run, files: str) -> str:
    name, data = run.manifest["dataset"], {file["sha256"] for file in run.manifest["data"]}
    sources = load_sources()
    known = {
        key: one.licence
        for key, one in sources.items()
        if key == name or any(file.sha256 in data for file in one.files())
    }
    if len(known) > 1:
        licence = "; ".join(f"{key}: {terms}" for key, terms in known.items())
        return f"{files}: with texts of several data sets, which remain under their licences " + (
            f"({licence})"
        )
    licence = "".join(f" ({terms})" for terms in known.values())
    return f"{files}: with texts of the data set {name}, which remain under its licence{licence}"


@contextmanager
def _placing(out: Path, optional: Sequence[str] = (), *, force: bool) -> Iterator[Path]:
    """Yield a new folder to write, whose files then move to the folder `out`.

    Raises InputError if `out` cannot be written, or has a file of the same name, or one of the
    patterns `optional`, files that an export may lack. `force`: replace the former and remove the
    latter, since it belongs to an earlier export. Other files in `out` remain.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: is a file; name a folder")
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield made
        _move(made, out, optional, force=force)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _move(made: Path, out: Path, optional: Sequence[str], *, force: bool) -> None:
    names = [path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()]
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
            (made / name).replace(out / name)


def _check(options: argparse.Namespace) -> None:
    if options.depth is not None and options.depth < 1:
        raise InputError(f"--depth {options.depth}: use a whole number of 1 or more")
    if options.depth is not None and options.to != "trec":
        raise InputError(f"--depth does not apply to --to {options.to}")
    if options.unit is not None and options.to in _TABLES:
        raise InputError(f"--unit does not apply to --to {options.to}")


if __name__ == "__main__":
    sys.exit(main())
