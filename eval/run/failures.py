"""Failures of single questions and sessions: how exceptions are recorded, printed and logged.

The terminal shows the first one with file and line; records and log.txt hold each traceback.
"""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from eval.records.jsonl import writing
from eval.records.schema import ErrorEntry
from eval.rendering.errors import place_of
from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.budget import BudgetReached
from memsys.text.addresses import without_secrets

END_THE_RUN = (InputError, BudgetReached)  # exceptions that end a run, not one question of it
LOG = "log.txt"


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
    with writing(folder / LOG), (folder / LOG).open("a", encoding="utf-8") as file:
        file.write(f"{_clean(text)}\n")


def _clean(text: str) -> str:
    """Remove secrets, and escape characters that UTF-8 cannot encode."""
    return without_secrets(text).encode("utf-8", "backslashreplace").decode()
