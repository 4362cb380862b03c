"""Phases of a run: what each returned, or how it failed, with its time and its tokens; and how
failures of single questions and sessions are counted, printed and logged.

The terminal shows the first failure with file and line; records and log.txt hold each traceback.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from tqdm import tqdm

from eval.records.files import writing
from eval.records.schema import ErrorEntry, UsageEntry
from eval.rendering.errors import place_of
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError
from memsys.core.files import open_entry
from memsys.core.types import Usage
from memsys.llm.base import LLMError
from memsys.llm.budget import BudgetReached
from memsys.llm.meter import Meter, Reading

LOG = "log.txt"


class RepeatedFailure(Exception):  # noqa: N818 - an event, not a fault
    """Questions in a row failed alike. The run stops, and can be resumed."""


# Exceptions that end a run, not one question of it.
END_THE_RUN = (InputError, BudgetReached, RepeatedFailure)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed phase, with class and message of the exception, without secrets.

    `place`: file and line in the user's code. `traceback`: Python's. Both are "" for an error of an
    endpoint (LLMError), which is no programming error.
    """

    phase: str
    kind: str
    message: str
    place: str = ""
    traceback: str = ""

    @classmethod
    def of(cls, phase: str, error: Exception) -> Failure:
        """Describe `error`; a server may repeat the key in its message, a record must not."""
        shown = phase, type(error).__name__, _clean(str(error))
        if isinstance(error, LLMError):
            return cls(*shown)
        full = "".join(traceback.format_exception(error))
        return cls(*shown, place_of(error), _clean(full))

    def entry(self) -> ErrorEntry:
        """Return the field `error` of a record or a line of ingest.jsonl."""
        entry: ErrorEntry = {"phase": self.phase, "kind": self.kind, "message": self.message}
        if self.traceback:
            entry["traceback"] = self.traceback
        return entry


class Measured(NamedTuple):
    """The result of a phase, or its failure, and the reading of the meter."""

    result: Any
    failure: Failure | None
    reading: Reading


def measured(phase: str, meter: Meter, job: Callable[[], Any]) -> Measured:
    """Do `job` as a phase. An exception becomes a failure, or is raised if it ends the run."""
    reading = Reading()
    try:
        with meter.phase() as reading:
            return Measured(job(), None, reading)
    except END_THE_RUN:
        raise
    except Exception as error:
        return Measured(None, Failure.of(phase, error), reading)


def usage_entry(reading: Reading) -> UsageEntry:
    """Return the recorded usage of a phase: the sum, and `by_model` where models have names."""
    by_model = {name: _counts(usage) for name, usage in reading.by_model.items()}
    counts = _counts(reading.usage) | ({"by_model": by_model} if by_model else {})
    return cast(UsageEntry, counts)


def _counts(usage: Usage) -> dict[str, Any]:
    return {name: getattr(usage, name) for name in Usage.__slots__}  # asdict is slow


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """The settings `failures` of a run; eval.run.settings checks their values.

    `stop_after`: number of questions in a row that fail alike before the run stops; None: it never
    does. `tolerated`: highest share of failed questions, 0 to 1, at which a run succeeds. A resumed
    run does not stop because of no more than that, which failed before and fail again.
    """

    stop_after: int | None = 5
    tolerated: float = 0.1

    def is_failed(self, failed: int, questions: int) -> bool:
        """Return whether a run fails in which `failed` of `questions` failed."""
        return failed > 0 and (failed == questions or failed > self.tolerated * questions)


@dataclass(slots=True)
class FailureStreak:
    """Counts failures in a row that are alike: of one phase and class of error.

    Once a question has been answered, a conversation that cannot be ingested counts as one failure
    of a row, not as one for each of its questions.
    """

    in_a_row: int = 0
    _answered: bool = False
    _last: tuple[str, str] | None = None  # phase and class
    _conversation: str | None = None  # of the last failed ingestion

    def note(self, conversation: str, failure: Failure | None) -> None:
        """Count a question of `conversation`."""
        if failure is None:
            self._answered, self._last, self._conversation, self.in_a_row = True, None, None, 0
            return
        phase = failure.phase.partition(" ")[0]  # `ingest`, without the session
        alike = self._last == (phase, failure.kind)
        if not alike:
            self._last, self.in_a_row = (phase, failure.kind), 0
        of_ingestion = phase in {"ingest", "index"}
        if of_ingestion and alike and self._answered and conversation == self._conversation:
            return
        self._conversation = conversation
        self.in_a_row += 1


@dataclass(slots=True)
class FailureLog:
    """Prints the first failure with a traceback on stderr, and appends each traceback to log.txt
    of the run folder.
    """

    folder: Path
    _logged: set[str] = field(default_factory=set)

    def note(self, where: str, failure: Failure | None) -> None:
        """Log `failure`, which occurred at the question or conversation `where`."""
        if failure is None or not failure.traceback or failure.traceback in self._logged:
            return
        if not self._logged:
            text = (
                f"{failure.kind} in {failure.phase} of {where}: {failure.message} "
                f"({failure.place}); the run goes on; tracebacks: {self.folder / LOG}"
            )
            tqdm.write(text, file=sys.stderr)
        self._logged.add(failure.traceback)
        log(self.folder, f"{failure.phase} of {where}\n{failure.traceback}")


def log(folder: Path, text: str) -> None:
    """Append `text` to log.txt of the run folder; raises InputError if it cannot be written."""
    with writing(folder / LOG), open_entry(folder / LOG, "ab") as file:
        file.write(f"{_clean(text)}\n".encode())


def _clean(text: str) -> str:
    """Remove secrets, and escape characters that UTF-8 cannot encode."""
    return without_secrets(text).encode("utf-8", "backslashreplace").decode()
