"""`python -m eval.studies.bench`: overhead of the harness, latency ratio, memory and cold start.

Prints figures and asserts nothing: machines are noisy. Every figure is of whole processes as a user
starts them; ratios are of runs that alternated.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from eval.cli import parser
from eval.records.jsonl import MANIFEST, SUMMARY
from eval.rendering.tables import plain

_COMPARED = ("vector_only", "graph_expand")


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run: wall seconds and peak MB of its process, and times from its run folder."""

    wall_s: float
    peak_mb: float
    seconds: dict[str, float]
    retrieve_ms_p95: float

    @property
    def work_s(self) -> float:
        """Seconds in strategy, reader and metrics; the rest is overhead."""
        return sum(value for part, value in self.seconds.items() if part != "total")


def measure(arguments: Sequence[str], cache: Path) -> MeasuredRun:
    """Run `python -m eval.run` with `arguments` and the embedding cache `cache`.

    Raises RuntimeError with the run's output if it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "eval.run", *arguments, f"hydra.run.dir={run}"]
        environment = {**os.environ, "MEMSYS_CACHE": str(cache)}
        log = Path(folder) / "log"
        started = time.perf_counter()
        with log.open("w") as output:
            streams = [(os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)]
            pid = os.posix_spawn(sys.executable, command, environment, file_actions=streams)
        # Unlike subprocess, wait4 returns the peak memory of this child.
        _, status, usage = os.wait4(pid, 0)
        wall_s = time.perf_counter() - started
        if status != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{log.read_text()}")
        manifest, summary = (json.loads((run / name).read_bytes()) for name in (MANIFEST, SUMMARY))
    p95 = summary["by_type"]["overall"]["retrieve_ms_p95"]
    unit = 1024 if sys.platform == "linux" else 1024 * 1024  # KB on Linux, bytes on macOS
    return MeasuredRun(wall_s, usage.ru_maxrss / unit, manifest["seconds"], p95)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    options = parser(
        "studies.bench",
        "Measure the overhead of the harness, the latency of graph_expand relative to vector_only, "
        "peak memory and the cold start on this machine.",
    )
    options.add_argument("--dataset", default="locomo", help="locomo (default) or sample")
    options.add_argument("--runs", type=int, default=3, help="timed runs per strategy (default: 3)")
    given = options.parse_args(arguments)
    dataset = f"dataset={given.dataset}"
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        cold = measure([dataset, "strategy=graph_expand"], cache)
        runs: dict[str, list[MeasuredRun]] = {name: [] for name in _COMPARED}
        for _ in range(given.runs):
            for name in _COMPARED:  # in turns, so that a slow minute affects both
                runs[name].append(measure([dataset, f"strategy={name}"], cache))
    print(f"{given.dataset}, {os.cpu_count()} cores, median of {given.runs} warm runs\n")
    header = ["strategy", "wall s", "work s", "overhead", "retrieve p95 ms", "peak MB"]
    print(plain(header, [_row(name, measured) for name, measured in runs.items()]))
    pairs = zip(runs["graph_expand"], runs["vector_only"], strict=True)
    ratio = median(one.retrieve_ms_p95 / other.retrieve_ms_p95 for one, other in pairs)
    print(f"\nretrieve p95, graph_expand / vector_only: {ratio:.2f}")
    print(f"cold run (empty embedding cache): {cold.wall_s:.0f} s, peak {cold.peak_mb:.0f} MB")
    return 0


def _row(name: str, runs: Sequence[MeasuredRun]) -> list[str]:
    wall, work = median(one.wall_s for one in runs), median(one.work_s for one in runs)
    overhead = median((one.wall_s - one.work_s) / one.work_s for one in runs)
    p95 = median(one.retrieve_ms_p95 for one in runs)
    peak = max(one.peak_mb for one in runs)
    return [name, f"{wall:.1f}", f"{work:.1f}", f"{overhead:.0%}", f"{p95:.1f}", f"{peak:.0f}"]


if __name__ == "__main__":
    sys.exit(main())
