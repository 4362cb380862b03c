"""A session, gone through exchange by exchange: what is extracted, lost, and tried again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from memsys.facts.base import Event, Fact, Subject, fault
from memsys.facts.extract import Extractor
from memsys.llm.base import LLMError
from memsys.types import Session, Turn

# `unusable`: an answer came and was none; the same question would bring it again.
Taken = Literal["done", "no_answer", "unusable"]
Take = Callable[[Fact, Session], Taken]
Exchange = tuple[Turn, ...]


class Listener:
    """Hands every fact of a session over to `take`, and does what was left undone, never twice."""

    def __init__(self, extractor: Extractor, take: Take, log: list[Event], retries: int) -> None:
        """`retries`: how often, at the end, what no answer came for is tried again."""
        self._extractor, self._take, self._log = extractor, take, log
        self._rounds = 1 + retries
        self._open: dict[str, list[Fact]] = {}  # by an exchange's first turn; [] once all is done

    def hear(self, session: Session, subject: Subject = "user") -> None:
        """Go through `session`; a second time does what the first left undone.

        All exchanges are extracted before any fact is handed over, so that a late answer changes
        no order. Raises LLMError where the model answered for none of the exchanges: then it is the
        server that fails, and there is no memory to measure.
        """
        start = len(self._log)
        exchanges = list(self._extractor.exchanges(session))
        asked = [turns for turns in exchanges if turns[0].id not in self._open]
        unheard, error = self._extract(asked, session, subject)
        self._hand_over(exchanges, session)
        self._extractor.refresh(session, self._log)
        events = self._log[start:]
        done = Counter(str(one["operation"]) for one in events if one["step"] == "apply")
        faults = sum("fault" in one for one in events)
        open_facts = sum(len(self._open.get(turns[0].id, ())) for turns in exchanges)
        lost = {"faults": faults, "lost": len(unheard) + open_facts, "of": len(exchanges)}
        self._log.append({"step": "session", **done, **lost})
        if unheard and len(unheard) == len(exchanges):
            raise LLMError(f"none of {len(exchanges)} exchanges was remembered: {error}")

    def _extract(
        self, asked: Sequence[Exchange], session: Session, subject: Subject
    ) -> tuple[Sequence[Exchange], LLMError | None]:
        """Those of the exchanges `asked` that no answer came for, and the last error."""
        last = None
        for _ in range(self._rounds):
            failed = []
            for turns in asked:
                try:
                    facts = self._extractor.facts(turns, session.time, self._log, subject)
                except LLMError as error:
                    ids = [turn.id for turn in turns]
                    self._log.append(fault("extract", "no_answer", error, turns=ids))
                    failed.append(turns)
                    last = error
                else:
                    self._open[turns[0].id] = facts
            asked = failed
        return asked, last

    def _hand_over(self, exchanges: Sequence[Exchange], session: Session) -> None:
        keys = [turns[0].id for turns in exchanges]
        asked = [(key, fact) for key in keys for fact in self._open.get(key, ())]
        for _ in range(self._rounds):
            waiting = []
            for key, fact in asked:
                taken = self._take(fact, session)
                if taken == "done":
                    self._open[key].remove(fact)
                elif taken == "no_answer":
                    waiting.append((key, fact))
            asked = waiting
