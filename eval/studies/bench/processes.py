"""Whole processes as a user starts them: seconds, peak memory, and the times in the run folder."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.records.jsonl import MANIFEST, SUMMARY

_WORK = ("ingest", "retrieve", "answer", "judge", "score")  # strategy, reader, judge and metrics


@dataclass(frozen=True, slots=True)
class MeasuredProcess:
    """Seconds from start to end of a process, its seconds of CPU, and its peak MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run: its process, and times from its run folder.

    `seconds`: by part, as in the manifest; with several questions at once they overlap.
    """

    process: MeasuredProcess
    seconds: dict[str, float]
    retrieve_ms_p95: float | None

    @property
    def wall_s(self) -> float:
        """Seconds of the whole process."""
        return self.process.wall_s

    @property
    def work_s(self) -> float:
        """Seconds in strategy, reader, judge and metrics; the rest of `wall_s` is the harness."""
        return sum(self.seconds[part] for part in _WORK)

    @property
    def start_s(self) -> float:
        """Seconds before and after the run itself: interpreter, imports and configuration."""
        return self.wall_s - self.seconds["total"]


def measure_process(command: Sequence[str], **environment: str) -> MeasuredProcess:
    """Run `command` with these variables added; raises RuntimeError with its output if it fails."""
    with tempfile.TemporaryFile("w+") as output:
        streams = [(os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)]
        started = time.perf_counter()
        variables = {**os.environ, **environment}
        pid = os.posix_spawn(command[0], list(command), variables, file_actions=streams)
        try:
            _, status, usage = os.wait4(pid, 0)  # which returns the peak of this child alone
        except KeyboardInterrupt:
            os.kill(pid, 2)
            raise
        wall_s = time.perf_counter() - started
        if status != 0:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{output.read()}")
    unit = 1024 if sys.platform == "linux" else 1024 * 1024  # KB on Linux, bytes on macOS
    return MeasuredProcess(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def measure_run(arguments: Sequence[str], cache: Path) -> MeasuredRun:
    """Run `python -m eval.run` with `arguments` and the cache folder `cache`."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "eval.run", *arguments, f"hydra.run.dir={run}"]
        process = measure_process(command, MEMSYS_CACHE=str(cache))
        manifest, summary = (json.loads((run / name).read_bytes()) for name in (MANIFEST, SUMMARY))
    p95 = summary["by_type"]["overall"]["retrieve_ms_p95"]
    return MeasuredRun(process, manifest["seconds"], p95)
