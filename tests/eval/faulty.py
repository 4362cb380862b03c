"""A strategy and a reader that fail on command, to see what a run makes of it.

They are reached as anybody's own would be: by a module on the path and `--config-dir`. A fault is
on while the file that the variable FAULT names exists, so that a run and its resumption, where the
fault has gone, have one configuration.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from baselines.rankings import BM25
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from eval.readers import Answer, Reader
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query, Retrieval, Session
from memsys.strategies.store import Parts


def is_on() -> bool:
    return Path(os.environ.get("FAULT", "/nowhere/at/all")).exists()


class Faulty(BM25):
    """BM25 with a fault: third, ingest, index, input, hang, no_number, short or construct."""

    def __init__(
        self, parts: Parts, k: int | None, budget: int | None, fault: str, at: str | None
    ) -> None:
        super().__init__(parts, k, budget)
        self._fault = fault if is_on() else "none"
        self._at = at  # a question's id; for ingest a word of the session
        if self._fault == "construct":
            raise RuntimeError("cannot be made")

    def ingest(self, session: Session) -> int:
        if self._fault == "ingest" and any(str(self._at) in turn.text for turn in session.turns):
            raise ConnectionError("the store went away")
        return super().ingest(session)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        ranked, trace = super().rank(query)
        conversation, _, index = query.id.partition("/")
        if self._fault == "index" and query.id == f"{self._at}/warm-up":
            raise MemoryError("no room for an index")
        if self._fault == "third" and index != "warm-up" and int(index) % 3 == 2:
            raise ValueError(f"question {index} of {conversation} is a third one")
        if self._fault == "short":
            ranked = ranked[: self.k]
        if query.id == self._at:
            if self._fault == "input":
                raise InputError("strategy.at: this question is not to be asked; set another")
            if self._fault == "hang":
                time.sleep(60)
            if self._fault == "no_number":
                ranked = [replace(candidate, score=float("nan")) for candidate in ranked]
        return ranked, trace


class FaultyDataset(LoCoMo):
    """A data set class with a mistake in it."""

    def load(self) -> Dataset:
        return {}["sessions"]


class FaultyReader(Reader):
    """Answers with the context's last line, but with `fault` if a question holds `word`: raise, or
    torn (half of a character).
    """

    def __init__(self, name: str, word: str, fault: str) -> None:
        self.name, self._word, self._fault = name, word, fault

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        if is_on() and self._word in question:
            if self._fault == "raise":
                raise TimeoutError("the reader took too long")
            return Answer("half \ud83d", False)
        return Answer(retrieval.context.strip().splitlines()[-1], False)
