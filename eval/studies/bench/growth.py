"""Growth of seconds and memory with conversations and questions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from eval.rendering.tables import plain
from eval.studies.bench.generated import write_dataset
from eval.studies.bench.processes import MeasuredRun, measure_run

_SIZES = (250, 1000, 4000)  # conversations with one question each
_PER_CONVERSATION = 10  # questions, where questions are many


def growth(questions: int = 10_000) -> Iterator[str]:
    """Yield a table of runs with bm25: 250 to 4,000 conversations of nine turns with one question,
    and a data set of `questions`, ten to a conversation.
    """
    rows, found = [], []
    for count in _SIZES:
        run = _measured(count, 1)
        # The start takes as long for few as for many: what each further conversation adds shows
        # the growth.
        further = (
            (run.wall_s - found[-1][1].wall_s) / (count - found[-1][0]) if found else float("nan")
        )
        rows.append(_row(f"{count:,}", f"{count:,}", run, count, further))
        found.append((count, run))
    asked = questions // _PER_CONVERSATION
    run = _measured(asked, _PER_CONVERSATION)
    rows.append(_row(f"{asked:,}", f"{questions:,}", run, asked, float("nan")))
    header = ["conversations", "questions", "s", "ms a conversation", "ms a further one"]
    yield plain([*header, "summary s", "peak MB"], rows)
    few, many = (run.wall_s / count for count, run in (found[0], found[-1]))
    yield f"ms a conversation at {_SIZES[-1]:,} / at {_SIZES[0]:,}: {many / few:.2f}"
    middle, most = (
        (run.wall_s - before.wall_s) / (count - fewer)
        for (fewer, before), (count, run) in zip(found, found[1:], strict=False)
    )
    yield f"ms a further conversation, to {_SIZES[-1]:,} / to {_SIZES[1]:,}: {most / middle:.2f}"


def _measured(conversations: int, questions: int) -> MeasuredRun:
    with tempfile.TemporaryDirectory() as folder:
        path = write_dataset(Path(folder) / "made.json", conversations, questions)
        return measure_run(["strategy=bm25", f"dataset.path={path}", "k=5"], Path(folder))


def _row(
    conversations: str, questions: str, run: MeasuredRun, count: int, further: float
) -> list[str]:
    each = f"{run.wall_s / count * 1000:.2f}"
    more = "-" if further != further else f"{further * 1000:.2f}"
    summary, peak = f"{run.seconds['summary']:.1f}", f"{run.peak_mb:.0f}"
    return [conversations, questions, f"{run.wall_s:.1f}", each, more, summary, peak]
