"""Tables of published retrieval figures beside those found here: terminal, markdown, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from eval.records.run import Run
from eval.rendering.numbers import ABSENT, interval, number
from eval.rendering.terminal import markdown, plain
from eval.studies.published_retrieval import STRATEGY, Row, command, key_of

NAME = "published_retrieval"  # of the files that are written
_OF_CLAIM = ("system", "method", "dataset", "pooled", "source", "definition", "date")
_OF_FIGURE = (
    *("printed", "value", "unit", "kind", "cutoff", "within", "types", "n", "measure"),
    *("not_comparable", "note"),
)


def show(rows: Sequence[Row]) -> str:
    """Return both tables for the terminal, with notes and the runs that are missing."""
    parts = [plain(*_comparable(rows, notes=False))]
    parts += [f"  {_name(row)}: {row.figure.note}" for row in _with(rows) if row.figure.note]
    parts += ["", "Not comparable:"]
    parts += [
        f"  {_name(row)} {number(row.figure.value)}: {row.figure.not_comparable}"
        for row in rows
        if row.figure.not_comparable
    ]
    parts += ["", *_sources(rows)]
    return "\n".join(parts)


def write(rows: Sequence[Row], folder: Path) -> None:
    """Write published_retrieval.md and .csv to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        f"# {NAME}",
        "Retrieval figures as published, and the same measure of a run of this project.",
        "    python -m eval.studies.published --retrieval --out results/tables",
        "\n".join(f"- {line}" for line in _sources(rows)),
        "Types 1 to 5, 1 to 4 (in LongMemEval: all, and all but abstention) or one type. Intervals "
        "are over conversations; *against* says where the published figure is. Its own uncertainty "
        "is unknown, and it is of another encoder, so read no ranking by a point from the table.",
        markdown(*_comparable(rows, notes=True)),
        "## Not comparable",
        markdown(*_others(rows)),
    ]
    (folder / f"{NAME}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    (folder / f"{NAME}.csv").write_text(as_csv(rows), encoding="utf-8")


def _with(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.figure.measure]


def _name(row: Row) -> str:
    return f"{row.claim.system}, {row.figure.printed}"


def _comparable(rows: Sequence[Row], *, notes: bool) -> tuple[list[str], list[list[str]]]:
    strategies = sorted({row.run.strategy for row in rows if row.run}) or [STRATEGY]
    header = ["system", *["method"] * notes, "published as", "n", "figure", "measure", "data"]
    header += [
        "types",
        f"{', '.join(strategies)} here",
        "n here",
        "against",
        *["note", "source"] * notes,
    ]
    lines = []
    for row in _with(rows):
        turns = row.figure.within
        within = f" of the best {'turn' if turns == 1 else f'{turns} turns'}" if turns else ""
        store = ", pooled" if row.claim.pooled else ""
        line = [row.claim.system, *[row.claim.method] * notes, row.figure.printed]
        line += [_count(row.figure.n), number(row.figure.value), f"{row.figure.measure}{within}"]
        line += [f"{row.claim.dataset}{store}", row.figure.types or ABSENT]
        line += [interval(row.here, absent="no run"), _count(row.here.n if row.here else None)]
        line += [_against(row), *[row.figure.note or "", row.claim.source] * notes]
        lines.append(line)
    return header, lines


def _others(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    lines = []
    for row in rows:
        if reason := row.figure.not_comparable:
            line = [row.claim.system, row.figure.printed, _count(row.figure.n)]
            lines.append([*line, number(row.figure.value), row.claim.dataset, row.claim.source])
            lines[-1].append(reason)
    return ["system", "published as", "n", "figure", "data", "source", "why not"], lines


def _against(row: Row) -> str:
    """Return where the published figure is: above, inside or below the interval found here."""
    if row.here is None:
        return ABSENT
    below = row.figure.value < row.here.low
    return "below" if below else "above" if row.figure.value > row.here.high else "inside"


def _count(n: int | None) -> str:
    return ABSENT if n is None else f"{n:,}"


def _sources(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each kind of run: what was run, or the command if there is none."""
    for key in dict.fromkeys(key_of(row.claim) for row in _with(rows)):
        run = next((row.run for row in rows if row.run and key_of(row.claim) == key), None)
        name = key[0] + ", pooled" * key[1]
        missing = f"no run here; {command(key)}"
        yield f"{name}: {missing if run is None else _described(run)}"


def _described(run: Run) -> str:
    manifest = run.manifest
    commit = (manifest.get("git") or {}).get("commit", "unknown")[:10]
    files = ", ".join(f"{file['name']} {file['sha256'][:10]}" for file in manifest["data"])
    return (
        f"{run.strategy}, configuration {manifest['config_sha256'][:10]}, "
        f"{manifest['started'][:10]}, commit {commit}, {files}"
    )


def as_csv(rows: Sequence[Row]) -> str:
    """Return a line per figure with its definition, its source and what was found here."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    found_here = ("here", "here_low", "here_high", "here_n", "run")
    writer.writerow([*_OF_CLAIM, *_OF_FIGURE, *found_here])
    for row in rows:
        found = row.here
        here = [found.value, found.low, found.high] if found else []
        texts = [f"{value:.6f}" for value in here] or [""] * 3
        of_claim = [getattr(row.claim, name) for name in _OF_CLAIM]
        of_figure = [getattr(row.figure, name) for name in _OF_FIGURE]
        of_run = [found.n if found else "", row.run.manifest["run_id"] if row.run else ""]
        writer.writerow([*of_claim, *of_figure, *texts, *of_run])
    return file.getvalue()
