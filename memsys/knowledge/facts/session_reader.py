"""Reading a session exchange by exchange: extraction, retries, and the number of lost facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Literal

from memsys.core.types import Session, Turn
from memsys.knowledge.facts.extract import FactExtractor
from memsys.knowledge.facts.fact import Event, Fact, Subject, fault
from memsys.llm.base import LLMError

# `unusable`: the model answered, but no operation was valid; asking again would change nothing.
Outcome = Literal["done", "no_answer", "unusable"]
Exchange = tuple[Turn, ...]


class SessionReader:
    """Passes every fact of a session to `take`; repeats failed exchanges, and no others."""

    def __init__(
        self,
        extractor: FactExtractor,
        take: Callable[[Fact, Session], Outcome],
        log: list[Event],
        retries: int,
    ) -> None:
        """`retries`: see ExtractSettings."""
        self._extractor, self._take, self._log = extractor, take, log
        self._rounds = 1 + retries
        self._open: dict[str, list[Fact]] = {}  # by an exchange's first turn; [] once all is done
        self._spoken: dict[str, frozenset[str]] = {}  # turns of the session, by the same

    def read(self, session: Session, subject: Subject = "user", *, summarise: bool = True) -> None:
        """Extract the facts of `session`, pass them on, and refresh the summary (`summarise`); a
        second call repeats failed exchanges.

        All exchanges are extracted before the first fact is passed on, so that a late answer does
        not change the order. Raises LLMError if the model answered for none of the exchanges: the
        server is down then, and there is no memory to measure.
        """
        start = len(self._log)
        exchanges = list(self._extractor.exchanges(session))
        missing = [turns for turns in exchanges if turns[0].id not in self._open]
        failed, error = self._extract(missing, session, subject)
        self._hand_over(exchanges, session)
        if summarise:
            self._extractor.refresh(session, self._log)
        events = self._log[start:]
        done = Counter(str(one["operation"]) for one in events if one["step"] == "apply")
        faults = sum("fault" in one for one in events)
        open_facts = sum(len(self._open.get(turns[0].id, ())) for turns in exchanges)
        lost = {"faults": faults, "lost": len(failed) + open_facts, "of": len(exchanges)}
        self._log.append({"step": "session", **done, **lost})
        if failed and len(failed) == len(exchanges):
            raise LLMError(f"none of {len(exchanges)} exchanges was ingested: {error}")

    def forget(self, turns: Collection[str]) -> None:
        """Delete what waits to be passed on and rests on one of `turns`; a fact without turns rests
        on all of its session.
        """
        for key, facts in self._open.items():
            session = self._spoken[key]
            self._open[key] = [
                one for one in facts if (frozenset(one.turns) or session).isdisjoint(turns)
            ]

    def _extract(
        self, missing: Sequence[Exchange], session: Session, subject: Subject
    ) -> tuple[Sequence[Exchange], LLMError | None]:
        """Extract the exchanges `missing`; return those without an answer, and the last error."""
        last = None
        for _ in range(self._rounds):
            failed = []
            for turns in missing:
                try:
                    facts = self._extractor.facts(turns, session.time, self._log, subject)
                    self._open[turns[0].id] = facts
                    self._spoken[turns[0].id] = frozenset(turn.id for turn in session.turns)
                except LLMError as error:
                    ids = [turn.id for turn in turns]
                    self._log.append(fault("extract", "no_answer", error, turns=ids))
                    failed.append(turns)
                    last = error
            missing = failed
        return missing, last

    def _hand_over(self, exchanges: Sequence[Exchange], session: Session) -> None:
        keys = [turns[0].id for turns in exchanges]
        pending = [(key, fact) for key in keys for fact in self._open.get(key, ())]
        for _ in range(self._rounds):
            waiting = []
            for key, fact in pending:
                outcome = self._take(fact, session)
                if outcome == "done":
                    self._open[key].remove(fact)
                elif outcome == "no_answer":
                    waiting.append((key, fact))
            pending = waiting
