"""Run a data set through a strategy: one conversation after another, their questions in order."""

import gc
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

from eval.cli import seldom_collected
from eval.datasets.types import Question
from eval.judges.judge import Judge
from eval.metrics.published import stems, word_tokens
from eval.records.files import Row
from eval.records.prices import PaidCalls
from eval.records.rankings import ranked_turns, ranking_line, selection_of
from eval.records.schema import IngestLine
from eval.run.build import Built
from eval.run.failures import Failure, FailureLog, FailurePolicy, FailureStreak, RepeatedFailure
from eval.run.ingest import ingest
from eval.run.progress import RunProgress
from eval.run.question import Agent, Asked, Outcome, ask, failed, judge_again
from eval.run.run_files import RecordFile, RunFiles
from memsys.core.concurrency import run_jobs, waiting
from memsys.core.types import Conversation
from memsys.strategies.strategy import MemoryStrategy

_PARTS = ("ingest", "retrieve", "answer", "judge", "score")  # of a run; the rest is the harness
_NAMED = 20  # conversations in warnings
_RUNS_APART = 8  # of one process: between two full collections of a tenth of a second
_begun = count()  # runs of this process
_Job = Callable[[], Asked]


@dataclass(slots=True)
class Runner:
    """Runs the data set of `built` into `folder`, and skips questions that have a record there.

    Up to `concurrency` questions wait for their reader and judge at once; ingestion and retrieval
    are always one at a time, so that their latency is undisturbed. `policy`: when to stop because
    of failures; None: never. `paid`: the ledger of the models in `built`, for the progress bar.
    `instead`: the job of each question where nothing is ingested and retrieved (eval.run.again).

    `seconds`: wall time by part, which with several questions at once adds up to more than the
    elapsed time. `details` describe the system behind the strategy, for the manifest.
    """

    built: Built
    folder: Path
    concurrency: int = 1
    policy: FailurePolicy | None = None
    paid: PaidCalls | None = None
    instead: Mapping[str, _Job] | None = None
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_PARTS, 0.0))
    warnings: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    _failures: FailureLog = field(init=False)
    _streak: FailureStreak = field(default_factory=FailureStreak)
    _tolerated: frozenset[str] = frozenset()  # ids of questions that failed before
    _lock: threading.RLock = field(default_factory=threading.RLock)  # of files and counts
    _files: RunFiles = field(init=False)
    _progress: RunProgress = field(init=False)

    def run(self) -> RecordFile:
        """Return the records of the run, in the data set's order, which is also the file's.

        A question that failed before is asked again; one whose judge failed is only judged again.
        Raises KeyboardInterrupt, InputError, BudgetReached and RepeatedFailure; the lines written
        until then remain, and the run can be resumed.
        """
        questions = self.built.dataset.questions
        files = self._files = RunFiles(self.folder)
        self._failures = FailureLog(self.folder)
        done = len(files.answered - files.unjudged)
        if self.policy and not self.policy.is_failed(len(files.failed), len(questions)):
            self._tolerated = frozenset(files.failed)  # they may fail again
        pricing = self.built.models.pricing
        self._progress = RunProgress(len(questions), done, self.paid, pricing)
        if self.concurrency > 1:
            stems("word")  # NLTK is imported before there are threads
            word_tokens("word")
        try:
            with self._progress.shown(), _loaded_data_frozen(), closing(self._jobs()) as jobs:
                run_jobs(jobs, self.concurrency)
        finally:
            with self._lock:  # of a job that a second Ctrl-C did not wait for
                files.close()
        self.warnings = self._coverage_warnings() + self._length_warnings()
        self.warnings += self.built.embedders.warnings(files.embedded)
        return files.put_in_order({question.id: question.searched for question in questions})

    def _jobs(self) -> Generator[Callable[[], None]]:
        """Yield a job for each question that is left; ingest and retrieve while doing so."""
        answered, unjudged = frozenset(self._files.answered), frozenset(self._files.unjudged)
        judge, meter = self.built.models.judge, self.built.meter
        left: dict[str, list[Question]] = {}
        for question in self.built.dataset.questions:
            if question.id not in answered or question.id in unjudged:
                left.setdefault(question.searched, []).append(question)
        for conversation in self.built.dataset.conversations:
            asked = left.pop(conversation.id, [])
            for question in asked if judge else []:
                if question.id in unjudged:
                    record = self._files.record(question.id)
                    again = partial(judge_again, question, record, cast(Judge, judge), meter)
                    yield partial(self._do, again)
            asked = [question for question in asked if question.id not in unjudged]
            if self.instead is not None:
                yield from (partial(self._do, self.instead[question.id]) for question in asked)
            elif asked:
                jobs = self._ingest_and_ask(conversation, asked)
                yield from (partial(self._do, job) for job in jobs)

    def _ingest_and_ask(
        self, conversation: Conversation, questions: list[Question]
    ) -> Iterator[_Job]:
        """Ingest `conversation` and retrieve for one question after another; yield the jobs that
        answer them. Afterwards record the details of the strategy and close it.
        """
        strategy = self.built.make_strategy(conversation.id)
        try:
            failure = self._ingest(conversation, strategy)
            self._progress.at(conversation.id)
            agent = self._agent(conversation, strategy)
            write = partial(self._write_retrieval, conversation.id)
            for question in questions:
                yield partial(failed, question, failure) if failure else ask(question, agent, write)
        finally:
            self.details |= strategy.details
            strategy.close()

    def _do(self, job: _Job) -> None:
        """Answer a question, and write the result at once."""
        asked = job()
        with self._lock:
            self._write(asked)

    def _write(self, asked: Asked) -> None:
        outcome, question = asked.outcome, asked.outcome.question
        failure = outcome.failure or outcome.judge_failure
        self._files.add_calls(outcome.calls())
        ok, judged = outcome.failure is None, outcome.judge_failure is None
        self._files.add_record(question.id, asked.line, ok=ok, judged=judged)
        for part, reading in outcome.readings.items():
            self.seconds[part] += reading.wall_ms / 1000
        self.seconds["score"] += asked.score_s
        self._failures.note(question.id, failure)
        self._progress.step(failed=failure is not None)
        if question.id in self._tolerated:
            return
        self._streak.note(question.searched, failure)
        limit = self.policy and self.policy.stop_after
        if failure and limit and self._streak.in_a_row >= limit and not self._progress.is_over:
            raise RepeatedFailure(
                f"{limit} questions in a row failed alike, the last one {question.id} in "
                f"{failure.phase}: {failure.kind}: {failure.message}; correct the cause and resume "
                "the run, or set failures.stop_after=null to go on regardless"
            )

    def _ingest(self, conversation: Conversation, strategy: MemoryStrategy) -> Failure | None:
        """Ingest `conversation` and record each step; return the failure that ended it."""
        sessions = len(conversation.sessions)
        embedder = self.built.embedders.of(conversation.id)
        embedder.was_used = False
        embedder.cut_off.clear()

        def begin(number: int) -> None:
            step = f"session {number} of {sessions}" if number <= sessions else "index"
            self._progress.at(f"{conversation.id}: {step}")

        def note(line: IngestLine, calls: list[Row]) -> None:
            if line["phase"] == "index" and embedder.was_used:
                line["embedder"] = embedder.name
                if embedder.cut_off:
                    line["cut_off"] = len(embedder.cut_off)
            with self._lock:
                self._files.add_calls(calls)
                self._files.add_step(line)

        with waiting():  # it may take minutes
            wall_ms, failure = ingest(conversation, strategy, self.built.meter, note, begin)
        with self._lock:
            self.seconds["ingest"] += wall_ms / 1000
            self._failures.note(conversation.id, failure)
        return failure

    def _agent(self, conversation: Conversation, strategy: MemoryStrategy) -> Agent:
        ends = {session.owner or conversation.id: session.time for session in conversation.sessions}
        models = self.built.models
        return Agent(strategy, models.reader, models.judge, self.built.meter, ends)

    def _write_retrieval(self, conversation: str, outcome: Outcome) -> Outcome:
        """Write ranking and context of a retrieval from `conversation`; return the outcome with
        what is stored.
        """
        depth, id_, retrieval = self.built.depth, outcome.question.id, outcome.retrieval
        ranking, selection, ranked = retrieval.ranking, None, None
        with self._lock:
            # What is too large for each record, such as the whole conversation, is stored once.
            if ranking is None and outcome.cited and 0 < depth < len(retrieval.candidates):
                selection = selection_of(retrieval)
            digest, stored = self._files.add_context(retrieval.context, selection)
            if depth:
                recorded = retrieval.candidates if ranking is None else ranking
                line = ranking_line(id_, conversation, retrieval, digest if stored else None)
                self._files.add_ranking(line, [candidate.memory for candidate in recorded])
        if ranking is not None and depth:
            ranked = ranked_turns(ranking, complete=retrieval.ranked_all)
        return replace(outcome, context_sha256=digest, selection=stored, ranked=ranked)

    def _coverage_warnings(self) -> list[str]:
        """Return a warning for each conversation with at most k memories: all are retrieved.

        All conversations of a resumed run count. Of many, the first are named.
        """
        k = self.built.make_strategy("").k
        covered = [
            f"{conversation}: k={k} covers all {memories} memories, so nothing is selected"
            for conversation, memories in self._files.memories.items()
            if k is not None and k >= memories
        ]
        if len(covered) > _NAMED:
            more = len(covered) - _NAMED
            return [*covered[:_NAMED], f"k={k} covers all memories of {more:,} more conversations"]
        return covered

    def _length_warnings(self) -> list[str]:
        """Return a warning if memories are longer than what their embedder reads."""
        cut_off, stored = self._files.cut_off, self._files.memories
        if not cut_off:
            return []
        name = self._files.embedded[next(iter(cut_off))]
        more = self.built.models.embedder.reads_more
        remedies = f"{more}, embedder=openai" if more else "embedder=openai"
        return [
            f"{sum(cut_off.values()):,} of {sum(stored.values()):,} memories are longer than what "
            f"{name} reads, and no vector finds the rest of their words; for a new run, use "
            f"{remedies} or memory=chunks memory.tokens=192"
        ]


@contextmanager
def _loaded_data_frozen() -> Iterator[None]:
    """Exempt what is loaded from garbage collection: looking through it costs a tenth of a run.
    Afterwards everything is collectable as before, or the next run would find this one in memory.
    """
    if next(_begun) % _RUNS_APART == _RUNS_APART - 1:
        gc.collect()  # what Hydra leaves of each run refers to itself
    gc.freeze()
    try:
        with seldom_collected():
            yield
    finally:
        gc.unfreeze()
