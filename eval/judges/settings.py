"""What the configuration says of a judge, before there is a model to judge with."""

from __future__ import annotations

from typing import Protocol

from eval.judges.base import Judge
from memsys.llm.base import LLM


class JudgeSettings(Protocol):
    """What the group `judge` builds. `needs_llm`: whether `open` has to be given a model."""

    @property
    def needs_llm(self) -> bool:
        """True if verdicts come from a language model."""
        ...

    def open(self, llm: LLM | None) -> Judge | None:
        """The judge; None if none is wanted. Raises InputError where settings are wrong."""
        ...


class NoJudge:
    """`judge=none`: there is no J."""

    needs_llm = False

    def open(self, llm: LLM | None) -> None:
        """None, whatever `llm` is."""
        del llm
