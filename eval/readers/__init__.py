"""Readers: from a question and a retrieval to an answer."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from memsys.core.types import Retrieval


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of an answer, and whether the reader abstained."""

    text: str
    abstained: bool


class Reader(ABC):
    """Answers from the retrieval alone. `name`: that of its option, which tables show."""

    name: str
    # Whether the question is preceded by the time at which it is asked, where it has one.
    dated: ClassVar[bool] = False
    # Whether the text of the context is all that it reads of a retrieval.
    reads_context: ClassVar[bool] = False

    @abstractmethod
    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """Answer `question` from `retrieval`; raise an exception on failure."""
