"""Runs and parts of the benchmark as processes of their own, and growth with the data."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

from eval.bench.generated import write_dataset
from memsys.core.places import MANIFEST

Row: TypeAlias = Mapping[str, str | float]  # of a table, by column
Part: TypeAlias = Callable[[], Iterator[Row]]
_SIZES = (250, 1000, 4000)  # conversations with one question each
_PER_CONVERSATION = 10  # questions, where questions are many


def limited(part: Part, limit_s: float) -> Iterator[Row]:
    """Yield the rows of `part`, which runs in a process of its own, and after `limit_s` seconds, or
    if it fails, a last one that says so. The processes that it has started end with it.
    """
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe(duplex=False)
    deadline = time.monotonic() + limit_s
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = spawn.Process(target=_send, args=(theirs, part, folder))
        process.start()
        theirs.close()
        try:
            while ours.poll(max(deadline - time.monotonic(), 0)):
                yield ours.recv()
            yield {"what": f"the rest: not measured within {limit_s:g} s; set --longer"}
        except EOFError:
            process.join()
            if process.exitcode:
                yield {"what": "the rest: failed, see above"}
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            process.kill()
            process.join()


def _send(rows: Connection, part: Part, folder: str) -> None:
    """Send the rows of `part`, whose files are in `folder`, from a process group of its own."""
    os.setpgid(0, 0)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    for row in part():
        rows.send(row)


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run or sweep as a process from start to end: its seconds, its seconds of CPU, its peak MB,
    and the seconds of the summary of a run.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    summary_s: float = 0.0


def measure_run(arguments: Sequence[str], cache: Path) -> MeasuredRun:
    """Run `python -m eval.run` with `arguments` and the cache folder `cache`. Raises RuntimeError
    with its output if it fails.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as output:
        places = [f"hydra.run.dir={folder}/run", f"hydra.sweep.dir={folder}"]
        command = [sys.executable, "-m", "eval.run", *arguments, *places]
        streams = [(os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)]
        variables = {**os.environ, "OPENAI_API_KEY": "none", "MEMSYS_CACHE": str(cache)}
        started = time.perf_counter()
        pid = os.posix_spawn(command[0], command, variables, file_actions=streams)
        _, status, usage = os.wait4(pid, 0)  # which returns the peak of this child alone
        wall_s = time.perf_counter() - started
        if status != 0:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)} failed:\n{output.read()}")
        manifest = Path(folder, "run", MANIFEST)
        seconds = json.loads(manifest.read_bytes())["seconds"] if manifest.exists() else {}
    unit = 1024 if sys.platform == "linux" else 1024 * 1024  # KB on Linux, bytes on macOS
    cpu_s = usage.ru_utime + usage.ru_stime
    return MeasuredRun(wall_s, cpu_s, usage.ru_maxrss / unit, seconds.get("summary", 0.0))


def growth(questions: int) -> Iterator[Row]:
    """Yield runs with bm25: on 250 to 4,000 conversations of nine turns with one question, and on a
    data set of `questions`, ten to a conversation. Linear growth is a constant time for each
    further conversation: the start takes as long for few as for many.
    """
    asked = max(1, questions // _PER_CONVERSATION)
    before: tuple[int, float] | None = None
    for count, each in (*((size, 1) for size in _SIZES), (asked, _PER_CONVERSATION)):
        with tempfile.TemporaryDirectory() as folder:
            path = write_dataset(Path(folder) / "made.json", count, each)
            run = measure_run(["strategy=bm25", f"dataset.path={path}", "k=5"], Path(folder))
        row: dict[str, str | float] = {
            **{"conversations": count, "questions": count * each},
            **{"s": run.wall_s, "CPU s": run.cpu_s},
            **{"summary s": run.summary_s, "peak MB": run.peak_mb},
            "ms a conversation": run.wall_s / count * 1000,
        }
        if before and each == 1:
            further = (run.cpu_s - before[1]) / (count - before[0])
            row["CPU ms a further one"] = further * 1000
        before = count, run.cpu_s
        yield row
