"""`python -m eval rescore FILE`: score the answers of another system, or rescore a run."""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from eval.answers.columns import Proposal
from eval.answers.files import UnclearColumnsError
from eval.answers.layout import Layout, load_layout, parse_columns, save_layout, shipped
from eval.cli import add_wide, code_of
from eval.cli import parser as command_parser
from eval.datasets.answer_key import KEYS
from eval.datasets.reload import NAMES, config_of, load_dataset_of
from eval.datasets.types import Dataset
from eval.imports.rescore.account import labels_table
from eval.imports.rescore.imports import Import, read_import, write_import
from eval.imports.rescore.recompute import check_files, recompute
from eval.records.answer_key_views import ORIGINAL, evidence_name, key_name
from eval.records.folder import run_id
from eval.records.manifest import load_manifest
from eval.records.schema import Summary
from eval.rendering.tables import as_text, by_run, how_to_read, run_tables, scope_note
from eval.rendering.terminal import fitted
from eval.summary.closing import ENDINGS, system_name
from memsys.core.errors import InputError
from memsys.core.files import is_there, shown
from memsys.core.places import MANIFEST, RUNS, find_run

_DATASET = "locomo"
_EXAMPLE = 36  # characters of a value in the table of columns
_NAME = 30
_LISTED = 12  # columns in it that are not read
_OF_FILES = ("name", "out", "save_layout", "partial", "as_written")


def main(arguments: Sequence[str] | None = None) -> int:
    """Rescore and print; return the exit code: 2 for wrong input, 130 after Ctrl-C."""
    parser = command_parser(
        "rescore",
        "Score the answers of another system, or recompute the scores of a run folder. "
        "docs/importing.md describes how files are read.",
    )
    add = parser.add_argument
    add(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help=("answers as JSON, JSON lines or CSV, gzipped or not, or a folder of them; or a RUN"),
    )
    add(
        "--layout",
        metavar="NAME|YAML",
        help=f"how to read the FILE: a YAML file, or {', '.join(shipped())} (default: find out)",
    )
    columns = "FIELD=COLUMN"
    add(
        "--columns",
        nargs="+",
        action="extend",
        metavar=columns,
        help=(
            "columns by field, such as answer=pred question=query conversation=conv_id judge=grade"
        ),
    )
    add("--rows", metavar="PATH", help="list of rows in the file, such as results.details")
    add("--partial", action="store_true", help="score a FILE of which most rows match no question")
    add(
        "--as-written",
        action="store_true",
        help="score answers such as N/A, or all alike, as answers; count qa_index from 0",
    )
    add(
        "--save-layout",
        type=Path,
        metavar="YAML",
        help="write how the FILE was read, for --layout; one FILE only",
    )
    add("--dataset", metavar=NAMES, help="the questions that were answered (default: locomo)")
    add("--name", help="system that answered (default: the file's name); one FILE only")
    add("--out", type=Path, help="run folder (default: results/runs/<time>_<name>); one FILE only")
    add(
        "--key",
        choices=KEYS,
        help="answer key to score by (default: original, or that of the run folder)",
    )
    add(
        "--key-file",
        metavar="PATH",
        help="with --key: a list of errors in the answer key, or an overlay (data/README.md)",
    )
    add(
        "--evidence",
        choices=KEYS,
        help="evidence to score retrieval by (default: original, or that of the run folder)",
    )
    add_wide(parser)
    options = parser.parse_args(arguments)
    return code_of(lambda: _rescore(options))


def _rescore(options: argparse.Namespace) -> None:
    """Read all input before writing anything: wrong input leaves no partial result."""
    _check(options)
    layout = _layout(options)

    @cache
    def dataset() -> Dataset:  # which run folders need under another key only
        key, evidence = options.key or ORIGINAL, options.evidence or ORIGINAL
        config = config_of(options.dataset or _DATASET, key, options.key_file, evidence)
        return load_dataset_of(config)

    ready: list[Import | Path] = []
    keys, cited = dict[str, Path](), dict[str, Path]()
    for given in options.files:
        path = given
        if not is_there(given) and given.suffix not in ENDINGS:
            with suppress(InputError):  # the absence of `given` is the error then
                path = find_run(given)
        if is_there(path) and path.is_dir() and is_there(path / MANIFEST):
            if layout or any(getattr(options, name) for name in _OF_FILES):
                raise InputError(
                    f"{path}: --name, --out, --partial, --as-written and options on columns do not "
                    "apply to a run folder"
                )
            manifest = load_manifest(path)
            key = options.key or key_name(manifest)
            cited.setdefault(options.evidence or evidence_name(manifest), path)
            if {options.key, options.evidence, options.dataset} != {None}:
                check_files(dataset(), manifest, path)
            ready.append(path)
        else:
            key = dataset().key.name
            ready.append(_read(path, layout, dataset(), options))
        keys.setdefault(key, path)
    for used, what, option in (
        (keys, "answer keys", "--key"),
        (cited, "evidence keys", "--evidence"),
    ):
        if len(used) > 1:
            files = ", ".join(f"{path} by the {name}" for name, path in used.items())
            raise InputError(f"{files}: scored by different {what}; name one for all by {option}")
    summaries = []
    for source in ready:
        if isinstance(source, Path):
            scored, cited_by = (
                None if key is None else dataset() for key in (options.key, options.evidence)
            )
            summary, changed = recompute(source, scored, cited_by)
            print(f"{source}: {changed:,} of {summary['n']:,} records have a new score")
            _show(source, summary)
        else:
            summary = _import(source, options)
        summaries.append((summary["strategy"], summary))
    if len(summaries) > 1:
        print("\nTypes 1-4, mean with 95% interval:\n" + fitted(*by_run(summaries)))
        print(scope_note(summary for _, summary in summaries), end="")


def _check(options: argparse.Namespace) -> None:
    """Raise InputError for options that contradict each other."""
    several = len(options.files) > 1
    if several and (options.name or options.out or options.save_layout):
        raise InputError(
            "--name and --out are for one FILE, and so is --save-layout; give each its own command"
        )
    if options.key_file is not None and options.key is None:
        raise InputError(f"--key-file {options.key_file}: add --key corrected or excluded")
    if options.save_layout is not None and is_there(options.save_layout):
        raise InputError(f"--save-layout {options.save_layout}: exists; name another file")


def _layout(options: argparse.Namespace) -> Layout | None:
    """Return what the options say about the columns and rows of a file; None if nothing."""
    if options.layout is None and options.columns is None and options.rows is None:
        return None
    base = Layout() if options.layout is None else load_layout(options.layout)
    return base.with_columns(parse_columns(options.columns or ()), options.rows)


def _read(
    path: Path, layout: Layout | None, dataset: Dataset, options: argparse.Namespace
) -> Import:
    """Read and match a file, and print its table of columns, also if it cannot be read."""
    name = system_name(options.name, path)
    accepted = {"partial": options.partial, "as_written": options.as_written}
    try:
        source = read_import(path, layout, name, dataset, **accepted)
    except UnclearColumnsError as error:
        print(_columns_table(error.proposal) + "\n", flush=True)
        raise
    file = source.file
    place = f" at {file.proposal.rows.path}" if file.proposal.rows.path else ""
    print(f"{path}: {len(file.rows):,} rows{place}\n{_columns_table(file.proposal)}\n")
    return source


def _import(source: Import, options: argparse.Namespace) -> Summary:
    folder = options.out or RUNS / run_id(source.name)
    others = ("layout", "columns", "rows", "key", "evidence", "key_file", "partial", "as_written")
    given = {name.replace("_", "-"): getattr(options, name) for name in others}
    named = {"dataset": options.dataset or _DATASET, "name": source.name}
    present = {name: value for name, value in given.items() if value not in (None, False)}
    flags = {name: () if value is True else value for name, value in present.items()}
    summary = write_import(source, folder, named | flags)
    if options.save_layout is not None:
        read = source.file.proposal
        save_layout(Layout(read.rows.path, read.columns, whole=True), options.save_layout)
    _show(folder, summary)
    return summary


def _show(folder: Path, summary: Summary) -> None:
    print("\n" + as_text([*run_tables(summary), how_to_read(summary)]) + "\n")
    account = load_manifest(folder).get("matching")
    if account is not None:
        print("\n".join(account["sentences"]))
        table = labels_table(account, fitted)
        if table is not None:
            print("\n" + table)
    if summary["errors"]:
        print(f"Failed, in no mean: {summary['errors']:,} of {summary['n']:,} questions.")
    print(f"\nRun folder: {folder}")


def _columns_table(proposal: Proposal) -> str:
    """Return the table of the columns of a file that are read and the first of the others: their
    meaning, the share of values that fit it, and an example.
    """
    others = [column.name for column in proposal.table if column.meaning is None]
    rows = [
        (
            shown(column.name, _NAME - 3),
            (column.meaning or "-").replace("_", " "),
            "-" if column.share is None else f"{column.share:.0%}",
            shown(column.example, _EXAMPLE - 3),
        )
        for column in proposal.table
        if column.meaning is not None or column.name in others[:_LISTED]
    ]
    header = ("column", "read as", "share", "example")
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    lines = [header, tuple("-" * width for width in widths), *rows]
    text = "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    more = len(others) - _LISTED
    return f"{text}\n... and {more} columns that are not read" if more > 0 else text
