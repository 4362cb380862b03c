"""Growth of seconds and memory with conversations and questions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from eval.rendering.terminal import plain
from eval.studies.bench.generated import write_dataset
from eval.studies.bench.processes import MeasuredRun, measure_run

_SIZES = (250, 1000, 4000)  # conversations with one question each
_PER_CONVERSATION = 10  # questions, where questions are many


def growth(questions: int = 10_000) -> Iterator[str]:
    """Yield a table of runs with bm25: 250 to 4,000 conversations of nine turns with one question,
    and a data set of `questions`, ten to a conversation.
    """
    runs = [(count, _measured(count, 1)) for count in _SIZES]
    rows = [_row(count, count, run) for count, run in runs]
    # The start takes as long for few as for many; a further conversation shows the growth.
    for row, (fewer, less), (count, run) in zip(rows[1:], runs, runs[1:], strict=False):
        row[5] = f"{(run.process.cpu_s - less.process.cpu_s) / (count - fewer) * 1000:.2f}"
    asked = questions // _PER_CONVERSATION
    rows.append(_row(asked, questions, _measured(asked, _PER_CONVERSATION)))
    header = ["conversations", "questions", "s", "CPU s", "ms a conversation"]
    yield plain([*header, "CPU ms a further one", "summary s", "peak MB"], rows)
    few, many = (run.wall_s / count for count, run in (runs[0], runs[-1]))
    yield f"ms a conversation at {_SIZES[-1]:,} / at {_SIZES[0]:,}: {many / few:.2f}"


def _measured(conversations: int, questions: int) -> MeasuredRun:
    with tempfile.TemporaryDirectory() as folder:
        path = write_dataset(Path(folder) / "made.json", conversations, questions)
        return measure_run(["strategy=bm25", f"dataset.path={path}", "k=5"], Path(folder))


def _row(conversations: int, questions: int, run: MeasuredRun) -> list[str]:
    return [
        f"{conversations:,}",
        f"{questions:,}",
        f"{run.wall_s:.1f}",
        f"{run.process.cpu_s:.1f}",
        f"{run.wall_s / conversations * 1000:.2f}",
        "-",
        f"{run.seconds['summary']:.1f}",
        f"{run.process.peak_mb:.0f}",
    ]
