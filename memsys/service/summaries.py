"""The running summary of each owner's messages: refreshed by a model, at once or in the background,
and searchable if that is set.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from memsys.core.types import Session
from memsys.knowledge.facts.extract import FactExtractor
from memsys.knowledge.facts.fact import Event, fault
from memsys.knowledge.memory.base import verbatim
from memsys.service.arguments import Owner
from memsys.service.results import MemoryChange
from memsys.service.setup import SummarySettings
from memsys.service.writing import About, Writer

_log = logging.getLogger(__name__)


class Summaries:
    """Refreshes and stores the summaries of all owners. Thread-safe."""

    def __init__(self, writer: Writer, settings: SummarySettings) -> None:
        self._writer, self._settings = writer, settings
        self._pool = ThreadPoolExecutor(thread_name_prefix="summary")
        self._pending: dict[Owner, Future[list[Event]]] = {}
        self._lock = Lock()  # of _pending

    @property
    def background(self) -> bool:
        """Whether summaries are refreshed in the background."""
        return self._settings.background

    def wait(self, owner: Owner) -> list[Event]:
        """Wait until the summary of `owner` is refreshed, and return the log of that."""
        with self._lock:
            pending = self._pending.pop(owner, None)
        return pending.result() if pending is not None else []

    def start(self, owner: Owner, session: Session, extractor: FactExtractor) -> None:
        """Refresh the stored summary of `owner` by `session` in the background."""
        if not session.turns:
            return
        with self._lock:
            before = self._pending.get(owner)
            self._pending[owner] = self._pool.submit(
                self._refresh, owner, session, extractor, before
            )

    def store(self, owner: Owner, summary: str, session: Session) -> list[MemoryChange]:
        """Store `summary`, if that is set and it is new, as the memory of `owner` of that kind."""
        if not self._settings.searchable or not summary:
            return []
        with self._writer.lock:
            owned = self._writer.database.owned(owner)
            stored = [one for one in owned if (one.owner, one.kind) == (owner, "summary")]
            if stored and stored[0].memory == summary:
                return []
            if not stored:
                new = verbatim("new", summary, session.time, "", ())
                return self._writer.add([new], About(owner, {}, "summary", {}))
            texts = {"memory": summary, "index_text": summary, "time": session.time}
            change = self._writer.change(stored[0].id, texts)
            return [] if change is None else [change]

    def close(self) -> None:
        """Wait for all summaries. Errors have been logged."""
        self._pool.shutdown()

    def _refresh(
        self,
        owner: Owner,
        session: Session,
        extractor: FactExtractor,
        before: Future[list[Event]] | None,
    ) -> list[Event]:
        """Refresh and store a summary after the one `before`; return the log of both. Errors become
        faults, which are logged here too, as there may be no further `add`.
        """
        log = before.result() if before is not None else []
        start = len(log)
        try:
            dialogues = self._writer.dialogues
            with self._writer.lock:
                _, extractor.summary = dialogues.of(owner)
            extractor.refresh(session, log)
            with self._writer.lock:
                with self._writer.database.writing():
                    last = session.turns[-1].id
                    current = dialogues.set_summary(owner, extractor.summary, last)
                if current:  # else the owner was deleted meanwhile
                    self.store(owner, extractor.summary, session)
        except Exception as error:
            log.append(fault("summary", "not_stored", f"{type(error).__name__}: {error}"))
        for kind in (one["fault"] for one in log[start:] if "fault" in one):
            _log.warning("a summary was not refreshed: %s", kind)
        return log
