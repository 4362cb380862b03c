"""What every judge does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from memsys.types import Usage


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts on one answer: `runs` by judge (a panel has several), one verdict a run.

    `usage` is what the calls used; it is never the system's own.
    """

    runs: Mapping[str, tuple[bool, ...]]
    usage: Usage = field(default_factory=Usage)

    @property
    def value(self) -> float:
        """Share of all verdicts that passed the answer, 0 to 1: what `scores.judge` records."""
        verdicts = [verdict for runs in self.runs.values() for verdict in runs]
        return sum(verdicts) / len(verdicts)


class Judge(Protocol):
    """Compares an answer with the gold. `name` stands beside every J, as do `details`.

    `score_key`: where its value goes in a record's scores. Only a judge whose value may be called J
    has "judge"; a stand-in has a name of its own.
    """

    name: str
    score_key: str

    @property
    def details(self) -> Mapping[str, Any]:
        """Plain JSON for the manifest: model, rubric, prompt name and sha256, runs."""
        ...

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """The verdicts; raises LLMError if one cannot be had: no verdict is not a wrong answer."""
        ...
