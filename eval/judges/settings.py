"""What the configuration says of a judge, before there is a model to judge with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from eval.judges.base import Judge
from memsys.llm.base import LLM

Named = Callable[[str], LLM]  # another model of the endpoint, by its name


class JudgeSettings(Protocol):
    """What the group `judge` builds. `needs_llm`: whether `open` has to be given a model."""

    @property
    def needs_llm(self) -> bool:
        """True if verdicts come from a language model."""
        ...

    def open(self, llm: LLM | None, named: Named | None = None) -> Judge | None:
        """The judge; None if none is wanted. `llm` judges unless the settings name another model,
        which is had from `named`. Raises InputError where settings are wrong.
        """
        ...


class NoJudge:
    """`judge=none`: there is no J."""

    needs_llm = False

    def open(self, llm: LLM | None, named: Named | None = None) -> None:
        """None, whatever there is to judge with."""
        del llm, named
