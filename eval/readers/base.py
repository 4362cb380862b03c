"""What every reader does: turn a question and a retrieval into an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from memsys.types import Retrieval


@dataclass(frozen=True, slots=True)
class Answer:
    """The reader's words, and whether it declined to answer."""

    text: str
    abstained: bool


class Reader(ABC):
    """Answers from the retrieval alone. `name` stands in the manifest and above every table."""

    name: str
    # Whether the question is given with the time it is asked at, where it has one.
    dated: ClassVar[bool] = False

    @abstractmethod
    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """Answer `question` from `retrieval`; raises on failure, never returns a guess for one."""
