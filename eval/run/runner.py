"""Ingest, retrieve, answer, record: one conversation after another, their questions in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from tqdm import tqdm

from eval.datasets.types import Question
from eval.pricing.ledger import begin as begin_paid
from eval.records.jsonl import CALLS, INGEST, RECORDS, LineWriter, Row, read_lines, write_lines
from eval.records.schema import IngestLine, Record
from eval.run.build import Built
from eval.run.ingest import ingest
from eval.run.question import Agent, Asked, Spent, ask, failed
from memsys.concurrency import ordered_results
from memsys.errors import InputError
from memsys.strategy import MemoryStrategy
from memsys.types import Conversation


@dataclass(slots=True)
class Clock:
    """Seconds of a run's own parts; what is left of a run is the harness. With several questions
    under way at once the parts add up to more than passed on the wall.
    """

    ingest: float = 0.0
    retrieve: float = 0.0
    answer: float = 0.0
    judge: float = 0.0
    score: float = 0.0

    def add(self, spent: Spent) -> None:
        """The parts of one question."""
        self.retrieve += spent.retrieve_ms / 1000
        self.answer += spent.answer_ms / 1000
        self.judge += spent.judge_ms / 1000
        self.score += spent.score_ms / 1000

    def seconds(self) -> dict[str, float]:
        """By part."""
        return asdict(self)


@dataclass(slots=True)
class Writers:
    """The files of a run that grow line by line."""

    records: LineWriter
    ingests: LineWriter
    calls: LineWriter | None  # made with the first call: most runs have none
    folder: Path

    @classmethod
    def open(cls, folder: Path) -> Writers:
        """Those of `folder`, each cut to its last whole line."""
        return cls(LineWriter(folder / RECORDS), LineWriter(folder / INGEST), None, folder)

    def note_calls(self, calls: list[Row]) -> None:
        """Which recorded answers were used: what a bundle of the run has to hold."""
        if calls and self.calls is None:
            begin_paid(self.folder)
            self.calls = LineWriter(self.folder / CALLS)
        for call in calls:
            assert self.calls is not None  # noqa: S101 - for the type checker
            self.calls.write(call)

    def close(self) -> None:
        """All of them."""
        for writer in (self.records, self.ingests, self.calls):
            if writer is not None:
                writer.close()


@dataclass(slots=True)
class Runner:
    """Runs what was built over its data set into `folder`; what is there is not done again.

    `concurrency` questions wait for their reader and judge at once; retrieval is always one at a
    time, so that its time is its own.
    """

    built: Built
    folder: Path
    concurrency: int = 1
    clock: Clock = field(default_factory=Clock)
    warnings: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)  # of the system behind the strategy

    def __post_init__(self) -> None:
        """Raises InputError on a concurrency below 1."""
        if not isinstance(self.concurrency, int) or self.concurrency < 1:
            raise InputError(f"concurrency: {self.concurrency!r}; use a whole number of 1 or more")

    def run(self) -> list[Record]:
        """Every record of the run, in the data set's order, which is also the file's.

        A question that failed before is asked again. Raises KeyboardInterrupt, InputError and
        BudgetReached through: what was written stays, and the run can be resumed.
        """
        path = self.folder / RECORDS
        writers = Writers.open(self.folder)
        done = {r["id"]: cast(Record, r) for r in read_lines(path) if r["status"] == "ok"}
        try:
            self._conversations(done, writers)
        finally:
            writers.close()
        ordered = [done[question.id] for question in self.built.dataset.questions]
        if [record["id"] for record in read_lines(path)] != [r["id"] for r in ordered]:
            write_lines(path, ordered)  # retried questions stand where they belong
        self.warnings = self._covered()
        return ordered

    def _conversations(self, done: dict[str, Record], writers: Writers) -> None:
        asked: dict[str, list[Question]] = {}
        for question in self.built.dataset.questions:
            asked.setdefault(question.conversation, []).append(question)
        # disable=None: a bar on a terminal, silence in a log file.
        with tqdm(total=len(self.built.dataset.questions), unit="question", disable=None) as bar:
            bar.update(len(done))
            for conversation in self.built.dataset.conversations:
                left = [question for question in asked[conversation.id] if question.id not in done]
                if not left:
                    continue
                bar.set_description(f"{conversation.id}: remembering")
                with self._strategy() as strategy:
                    ready = self._remember(conversation, strategy, writers)
                    bar.set_description(conversation.id)
                    for one in ordered_results(self._jobs(left, ready), self.concurrency):
                        done[one.record["id"]] = one.record
                        self.clock.add(one.spent)
                        writers.note_calls(one.calls)
                        writers.records.write_line(one.line)
                        bar.update()

    @contextmanager
    def _strategy(self) -> Iterator[MemoryStrategy]:
        """A fresh strategy, let go of in the end; what it tells of itself is kept."""
        strategy = self.built.make_strategy()
        try:
            yield strategy
        finally:
            self.details |= strategy.details
            strategy.close()

    def _jobs(
        self, questions: list[Question], ready: Callable[[Question], Callable[[], Asked]]
    ) -> Iterator[Callable[[], Asked]]:
        for question in questions:
            yield ready(question)

    def _remember(
        self, conversation: Conversation, strategy: MemoryStrategy, writers: Writers
    ) -> Callable[[Question], Callable[[], Asked]]:
        """Feed the strategy; returns what makes a job of a question of this conversation."""
        known = {
            (line["conversation"], line["phase"], line["session"])
            for line in read_lines(self.folder / INGEST)
            if line["status"] == "ok"
        }

        def note(line: IngestLine, calls: list[Row]) -> None:
            writers.note_calls(calls)
            if (line["conversation"], line["phase"], line["session"]) not in known:
                writers.ingests.write(line)

        ingested = ingest(conversation, strategy, self.built.meter, note)
        self.clock.ingest += ingested.wall_ms / 1000
        failure = ingested.failure
        if failure:
            return lambda question: lambda: failed(question, failure)
        asked_at = conversation.sessions[-1].time
        models, meter = self.built.models, self.built.meter
        agent = Agent(strategy, models.reader, models.judge, meter, asked_at)
        return lambda question: ask(question, agent)

    def _covered(self) -> list[str]:
        """A retrieval that returns the whole store measures nothing: say so.

        Counted from the file, so that a resumed run warns of every conversation.
        """
        k = self.built.make_strategy().k
        made: dict[str, int] = {}
        whole = set()  # conversations that were remembered to the end
        for line in read_lines(self.folder / INGEST):
            if line["status"] == "ok":
                conversation = line["conversation"]
                made[conversation] = made.get(conversation, 0) + line["memories"]
                if line["phase"] == "index":
                    whole.add(conversation)
        return [
            f"{conversation}: k={k} covers all {memories} memories, so nothing is selected"
            for conversation, memories in made.items()
            if conversation in whole and k is not None and k >= memories
        ]
