"""Share of the harness in whole runs, latency relative to vector_only, memory, and cold start."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from eval.rendering.terminal import plain
from eval.studies.bench.processes import MeasuredRun, measure_run

_COMPARED = ("vector_only", "graph_expand", "bm25")


def harness(dataset: str = "locomo", runs: int = 3) -> Iterator[str]:
    """Yield the medians of `runs` warm runs of each strategy, which take turns, on `dataset`."""
    chosen = f"dataset={dataset}"
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        cold = measure_run([chosen, "strategy=graph_expand"], cache)
        found: dict[str, list[MeasuredRun]] = {name: [] for name in _COMPARED}
        for _ in range(runs):
            for name in _COMPARED:  # in turns, so that a slow minute affects all
                found[name].append(measure_run([chosen, f"strategy={name}"], cache))
    yield f"{dataset}, median of {runs} warm runs; work: strategy, reader and metrics"
    header = [
        "strategy",
        "run s",
        "CPU s",
        "work s",
        "harness s",
        "of it start s",
        "harness / work",
    ]
    header += ["retrieve p95 ms", "peak MB"]
    yield plain(header, [_row(name, measured) for name, measured in found.items()])
    pairs = zip(found["graph_expand"], found["vector_only"], strict=True)
    ratio = median((a.retrieve_ms_p95 or 0) / (b.retrieve_ms_p95 or 1) for a, b in pairs)
    yield f"retrieve p95, graph_expand / vector_only: {ratio:.2f}"
    peak = f"{cold.process.peak_mb:.0f} MB"
    yield f"cold run (empty embedding cache): {cold.wall_s:.0f} s, peak {peak}"


def _row(name: str, runs: Sequence[MeasuredRun]) -> list[str]:
    return [
        name,
        f"{median(one.wall_s for one in runs):.1f}",
        f"{median(one.process.cpu_s for one in runs):.1f}",
        f"{median(one.work_s for one in runs):.1f}",
        f"{median(one.wall_s - one.work_s for one in runs):.2f}",
        f"{median(one.start_s for one in runs):.2f}",
        f"{median((one.wall_s - one.work_s) / one.work_s for one in runs):.0%}",
        f"{median(one.retrieve_ms_p95 or 0 for one in runs):.1f}",
        f"{max(one.process.peak_mb for one in runs):.0f}",
    ]
