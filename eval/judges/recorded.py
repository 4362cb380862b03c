"""Verdicts that somebody else's judge gave, looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.judges.base import Judgement
from eval.judges.recordings import Judged, read_judged
from eval.judges.settings import Named
from memsys.errors import InputError
from memsys.llm.base import LLM, LLMError


@dataclass(frozen=True, slots=True)
class RecordedSettings:
    """`judge=recorded`. `path`: a file of answers with verdicts, or a run folder."""

    path: str | None = None

    @property
    def needs_llm(self) -> bool:
        """False."""
        return False

    def open(self, llm: LLM | None, named: Named | None = None) -> Recorded:
        """The judge. Raises InputError without a path, or where nothing in it was judged."""
        del llm, named
        if self.path is None:
            raise InputError("judge=recorded: set judge.path to a file of answers with verdicts")
        return Recorded(Path(self.path).name, read_judged(Path(self.path).expanduser()))


class Recorded:
    """Gives the verdicts recorded on the same question, gold and answer, to the letter."""

    score_key = "judge"

    def __init__(self, source: str, answers: Iterable[Judged]) -> None:
        """`source`: where the verdicts come from, for details and errors. Raises InputError if none
        of `answers` was judged.
        """
        self.name = "recorded"
        self._source = source
        self._verdicts: dict[tuple[str, str, str], set[tuple[bool, ...]]] = {}
        for one in answers:
            if one.verdicts:
                key = (one.question, one.gold, one.answer)
                self._verdicts.setdefault(key, set()).add(one.verdicts)
        if not self._verdicts:
            raise InputError(f"{source}: holds no verdict; a column judge is needed")

    @property
    def details(self) -> Mapping[str, Any]:
        """Where the verdicts come from, and on how many different answers there are any."""
        return {"source": self._source, "answers": len(self._verdicts)}

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """The recorded verdicts. Raises LLMError if there are none on this answer, or it was there
        twice and was judged differently.
        """
        found = self._verdicts.get((question, gold, answer), set())
        if len(found) != 1:
            problem = "two different verdicts" if found else "no verdict"
            raise LLMError(f"{self._source}: {problem} on this answer")
        return Judgement({self.name: next(iter(found))})
