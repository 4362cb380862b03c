"""Run a data set through a strategy: one conversation after another, their questions in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from eval.cli import progress
from eval.datasets.types import Question
from eval.pricing.ledger import begin as begin_paid
from eval.records.jsonl import CALLS, INGEST, RECORDS, LineWriter, Row, read_lines, write_lines
from eval.records.schema import IngestLine, Record
from eval.run.build import Built
from eval.run.failures import FailureLog
from eval.run.ingest import ingest
from eval.run.question import Agent, Asked, ask, failed
from memsys.concurrency import ordered_results
from memsys.errors import InputError
from memsys.strategy import MemoryStrategy
from memsys.types import Conversation

_PARTS = ("ingest", "retrieve", "answer", "judge", "score")  # of a run; the rest is the harness


@dataclass(slots=True)
class Writers:
    """The files of a run that grow line by line; each is first cut to its last complete line."""

    folder: Path
    records: LineWriter = field(init=False)
    ingests: LineWriter = field(init=False)
    calls: LineWriter | None = None  # opened at the first call: most runs have none

    def __post_init__(self) -> None:
        """Open the files that every run has."""
        self.records = LineWriter(self.folder / RECORDS)
        self.ingests = LineWriter(self.folder / INGEST)

    def note_calls(self, calls: list[Row]) -> None:
        """Append the recorded answers that were used: a bundle of the run contains these."""
        if not calls:
            return
        if self.calls is None:
            begin_paid(self.folder)
            self.calls = LineWriter(self.folder / CALLS)
        for call in calls:
            self.calls.write(call)

    def close(self) -> None:
        """Close all files."""
        for writer in (self.records, self.ingests, self.calls):
            if writer is not None:
                writer.close()


@dataclass(slots=True)
class Runner:
    """Runs the data set of `built` into `folder`, and skips questions that have a record there.

    Up to `concurrency` questions wait for their reader and judge at once; retrieval is always one
    at a time, so that its latency is undisturbed. `seconds`: wall time by part, which with several
    questions at once adds up to more than the elapsed time. `details` describe the system behind
    the strategy, for the manifest.
    """

    built: Built
    folder: Path
    concurrency: int = 1
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_PARTS, 0.0))
    warnings: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    _failures: FailureLog = field(init=False)

    def __post_init__(self) -> None:
        """Raises InputError on a concurrency below 1."""
        if not isinstance(self.concurrency, int) or self.concurrency < 1:
            raise InputError(f"concurrency: {self.concurrency!r}; use a whole number of 1 or more")
        self._failures = FailureLog(self.folder)

    def run(self) -> list[Record]:
        """Return every record of the run, in the data set's order, which is also the file's.

        A question that failed before is asked again. Raises KeyboardInterrupt, InputError and
        BudgetReached; the lines written until then remain, and the run can be resumed.
        """
        path = self.folder / RECORDS
        writers = Writers(self.folder)
        done = {r["id"]: cast(Record, r) for r in read_lines(path) if r["status"] == "ok"}
        try:
            self._conversations(done, writers)
        finally:
            writers.close()
        ordered = [done[question.id] for question in self.built.dataset.questions]
        if [record["id"] for record in read_lines(path)] != [r["id"] for r in ordered]:
            write_lines(path, ordered)  # repeated questions return to their places
        self.warnings = self._covered()
        return ordered

    def _conversations(self, done: dict[str, Record], writers: Writers) -> None:
        asked: dict[str, list[Question]] = {}
        for question in self.built.dataset.questions:
            asked.setdefault(question.conversation, []).append(question)
        with progress(len(self.built.dataset.questions), "question") as bar:
            bar.update(len(done))
            for conversation in self.built.dataset.conversations:
                left = [question for question in asked[conversation.id] if question.id not in done]
                if not left:
                    continue
                bar.set_description(f"{conversation.id}: ingestion")
                with self._strategy() as strategy:
                    job = self._ingest(conversation, strategy, writers)
                    bar.set_description(conversation.id)
                    for one in ordered_results(map(job, left), self.concurrency):
                        done[one.record["id"]] = one.record
                        for part, seconds in one.seconds.items():
                            self.seconds[part] += seconds
                        self._failures.note(one.record["id"], one.failure)
                        writers.note_calls(one.calls)
                        writers.records.write_line(one.line)
                        bar.update()

    @contextmanager
    def _strategy(self) -> Iterator[MemoryStrategy]:
        """Yield a new strategy; afterwards record its details and close it."""
        strategy = self.built.make_strategy()
        try:
            yield strategy
        finally:
            self.details |= strategy.details
            strategy.close()

    def _ingest(
        self, conversation: Conversation, strategy: MemoryStrategy, writers: Writers
    ) -> Callable[[Question], Callable[[], Asked]]:
        """Ingest `conversation`; return the function that turns one of its questions into a job."""
        written = {
            (line["conversation"], line["phase"], line["session"])
            for line in read_lines(self.folder / INGEST)
            if line["status"] == "ok"
        }

        def note(line: IngestLine, calls: list[Row]) -> None:
            writers.note_calls(calls)
            if (line["conversation"], line["phase"], line["session"]) not in written:
                writers.ingests.write(line)

        ingested = ingest(conversation, strategy, self.built.meter, note)
        self.seconds["ingest"] += ingested.wall_ms / 1000
        failure = ingested.failure
        self._failures.note(conversation.id, failure)
        if failure:
            return lambda question: lambda: failed(question, failure)
        asked_at = conversation.sessions[-1].time
        models, meter = self.built.models, self.built.meter
        agent = Agent(strategy, models.reader, models.judge, meter, asked_at)
        return lambda question: ask(question, agent)

    def _covered(self) -> list[str]:
        """Return a warning for each conversation with at most k memories: all are retrieved.

        The numbers are read from the file, so that a resumed run warns of every conversation.
        """
        k = self.built.make_strategy().k
        stored: dict[str, int] = {}
        complete = set()
        for line in read_lines(self.folder / INGEST):
            if line["status"] == "ok":
                conversation = line["conversation"]
                stored[conversation] = stored.get(conversation, 0) + line["memories"]
                if line["phase"] == "index":
                    complete.add(conversation)
        return [
            f"{conversation}: k={k} covers all {memories} memories, so nothing is selected"
            for conversation, memories in stored.items()
            if conversation in complete and k is not None and k >= memories
        ]
