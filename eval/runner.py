"""Ingest, retrieve, answer, record: one conversation after another, one question at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from eval.ask import ask, failed
from eval.ingest import ingest
from eval.questions import Dataset, Question
from eval.readers.base import Reader
from eval.records import INGEST, RECORDS, LineWriter, Record, read_lines, write_lines
from memsys.meter import Meter
from memsys.strategy import MemoryStrategy
from memsys.types import Conversation


@dataclass(slots=True)
class Clock:
    """Seconds on the wall of a run's own parts; what is left of a run is the harness."""

    ingest: float = 0.0
    retrieve: float = 0.0
    answer: float = 0.0
    score: float = 0.0


@dataclass(slots=True)
class Runner:
    """Runs one strategy over a data set into `folder`; what is there is not done again."""

    dataset: Dataset
    make_strategy: Callable[[], MemoryStrategy]
    reader: Reader
    meter: Meter
    folder: Path
    clock: Clock = field(default_factory=Clock)
    warnings: list[str] = field(default_factory=list)

    def run(self) -> list[Record]:
        """Every record of the run, in the data set's order, which is also the file's.

        A question that failed before is asked again. Raises KeyboardInterrupt and InputError
        through: what was written stays, and the run can be resumed.
        """
        path = self.folder / RECORDS
        records, ingests = LineWriter(path), LineWriter(self.folder / INGEST)
        done = {r["id"]: r for r in read_lines(path) if r["status"] == "ok"}
        try:
            self._conversations(done, records, ingests)
        finally:
            records.close()
            ingests.close()
        ordered = [done[question.id] for question in self.dataset.questions]
        if [record["id"] for record in read_lines(path)] != [r["id"] for r in ordered]:
            write_lines(path, ordered)  # retried questions stand where they belong
        self.warnings = self._covered()
        return ordered

    def _conversations(
        self, done: dict[str, Record], records: LineWriter, ingests: LineWriter
    ) -> None:
        asked: dict[str, list[Question]] = {}
        for question in self.dataset.questions:
            asked.setdefault(question.conversation, []).append(question)
        known = {
            (line["conversation"], line["phase"], line["session"])
            for line in read_lines(self.folder / INGEST)
            if line["status"] == "ok"
        }

        def note(line: Record) -> None:
            if (line["conversation"], line["phase"], line["session"]) not in known:
                ingests.write(line)

        # disable=None: a bar on a terminal, silence in a log file.
        with tqdm(total=len(self.dataset.questions), unit="question", disable=None) as bar:
            bar.update(len(done))
            for conversation in self.dataset.conversations:
                left = [question for question in asked[conversation.id] if question.id not in done]
                if not left:
                    continue
                bar.set_description(f"{conversation.id}: remembering")
                answer = self._remember(conversation, note)
                bar.set_description(conversation.id)
                for question in left:
                    done[question.id] = answer(question)
                    records.write(done[question.id])
                    bar.update()

    def _remember(
        self, conversation: Conversation, note: Callable[[Record], None]
    ) -> Callable[[Question], Record]:
        """Feed a fresh strategy; returns what turns a question of this conversation to a record."""
        strategy = self.make_strategy()
        ingested = ingest(conversation, strategy, self.meter, note)
        self.clock.ingest += ingested.wall_ms / 1000
        asked_at = conversation.sessions[-1].time
        failure = ingested.failure
        if failure:
            return lambda question: failed(question, failure)

        def answer(question: Question) -> Record:
            record, spent = ask(question, strategy, self.reader, self.meter, asked_at)
            self.clock.retrieve += spent.retrieve_ms / 1000
            self.clock.answer += spent.answer_ms / 1000
            self.clock.score += spent.score_ms / 1000
            return record

        return answer

    def _covered(self) -> list[str]:
        """A retrieval that returns the whole store measures nothing: say so.

        Counted from the file, so that a resumed run warns of every conversation.
        """
        k = getattr(self.make_strategy(), "k", None)
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
