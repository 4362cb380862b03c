"""Processes: runs, parts of the benchmark, a model on this machine; growth with the data."""

import hashlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from threading import Event, Lock
from typing import Any, TypeAlias

from memsys.core.loopback import LoopbackServer, Reply, completion
from memsys.core.places import MANIFEST

Row: TypeAlias = Mapping[str, str | float]  # of a table, by column
Part: TypeAlias = Callable[[], Iterator[Row]]
_SIZES = (250, 1000, 4000)  # conversations with one question each
_PER_CONVERSATION = 10  # questions, where questions are many
_THINGS = "lamp kite boat clock chair drum ladder basket violin tent bottle saddle".split()
_PLACES = "harbour market garden station library mill bridge orchard".split()
_SESSIONS, _TURNS = 3, 3  # of a generated conversation; turns of each session
_START_S = 30  # within which the model has to listen


def limited(part: Part, limit_s: float) -> Iterator[Row]:
    """Yield the rows of `part`, which runs in a process of its own, and after `limit_s` seconds, or
    if it fails, a last one whose column `failed` says so. The processes that it has started end
    with it.
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
            yield {"what": "the rest", "failed": f"not measured within {limit_s:g} s; set --longer"}
        except EOFError:
            process.join()
            if process.exitcode:
                yield {"what": "the rest", "failed": "see above"}
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


def write_dataset(path: Path, conversations: int, questions: int = 1, seed: int = 0) -> Path:
    """Write `conversations` of nine turns, each with `questions` of types 1 to 4, to `path`, and
    return it. The text of every question contains its number, as (q17): no two are the same.
    """
    random = Random(seed)  # noqa: S311 - no secret
    samples = [_conversation(random, number, questions) for number in range(conversations)]
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def _conversation(random: Random, number: int, questions: int) -> dict[str, Any]:
    content: dict[str, Any] = {"speaker_a": "Ana", "speaker_b": "Ben"}
    facts: list[tuple[str, str, str]] = []
    for session in range(1, _SESSIONS + 1):
        content[f"session_{session}_date_time"] = f"{session}:15 pm on {session + 2} May, 2023"
        turns = content[f"session_{session}"] = []
        for turn in range(1, _TURNS + 1):
            facts.append((f"D{session}:{turn}", random.choice(_THINGS), random.choice(_PLACES)))
            id_, thing, place = facts[-1]
            text = f"Last week I bought a {thing} at the {place}, and told my family about it."
            turns.append({"speaker": ("Ana", "Ben")[turn % 2], "dia_id": id_, "text": text})
    qa = []
    for index in range(questions):
        id_, thing, place = random.choice(facts)
        text = f"Where did they buy the {thing}? (q{number * questions + index})"
        item = {"question": text, "answer": place, "evidence": [id_], "category": index % 4 + 1}
        qa.append(item)
    return {"sample_id": f"made-{number}", "conversation": content, "qa": qa}


@contextmanager
def loopback_model(delay_s: float, log: Path | None = None) -> Iterator[str]:
    """Yield the base URL of a server that answers each request after `delay_s`, with an answer or a
    verdict that depends on the request alone. `log`: file of one JSON line for each request. The
    server stops with the block.
    """
    spawn = get_context("spawn")  # a fork would copy the caller's threads
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_run, args=(theirs, delay_s, log), daemon=True)
    process.start()
    try:
        if not ours.poll(_START_S):
            raise RuntimeError(f"the loopback server did not listen within {_START_S} s")
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _run(started: Connection, delay_s: float, log: Path | None) -> None:
    lock = Lock()

    def answer(_path: str, _key: str, data: bytes) -> Reply:
        began = time.time()
        time.sleep(delay_s)
        body = json.loads(data)
        if log:
            row = {"body": body, "began": began, "ended": time.time()}
            with lock, log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        return 200, _answer(body, hashlib.sha256(data).hexdigest())

    started.send(LoopbackServer(answer).base_url)
    Event().wait()


def _answer(body: Mapping[str, Any], digest: str) -> Mapping[str, Any]:
    """Return a short answer, or a verdict where JSON is asked for."""
    text = f"In the spring of {digest[:8]}."
    if "response_format" in body:
        verdict = "CORRECT" if digest < "8" else "WRONG"
        text = json.dumps({"reason": f"because of {digest[:8]}", "verdict": verdict})
    message = {"role": "assistant", "content": text}
    return completion(body, message, prompt_tokens=500, tokens=5)
