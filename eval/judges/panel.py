"""Several judges on the same answer: how far a verdict depends on who gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.judges.base import Judge, Judgement
from eval.judges.settings import JudgeSettings, Named
from memsys.errors import InputError
from memsys.llm.base import LLM
from memsys.types import Usage


@dataclass(frozen=True, slots=True)
class PanelSettings:
    """`judge=panel`. `members`: settings of judges, two or more."""

    members: Sequence[JudgeSettings]

    @property
    def needs_llm(self) -> bool:
        """True if one of the members does."""
        return any(member.needs_llm for member in self.members)

    def open(self, llm: LLM | None, named: Named | None = None) -> Panel:
        """The panel; `llm` judges for each member that names no other model. Raises InputError
        where a member is wrong.
        """
        judges = [member.open(llm, named) for member in self.members]
        return Panel([judge for judge in judges if judge is not None])


class Panel:
    """Every member judges every answer; the value is the share of all verdicts that passed it."""

    score_key = "judge"

    def __init__(self, judges: Sequence[Judge]) -> None:
        """Raises InputError for fewer than two judges, two of one name, or one that gives no J."""
        names = [judge.name for judge in judges]
        if len(judges) < 2:
            raise InputError(f"judge.members: {len(judges)} judges; a panel has two or more")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(
                f"judge.members: {twice[0]} is there twice; give each another model or rubric"
            )
        strange = [judge.name for judge in judges if judge.score_key != self.score_key]
        if strange:
            raise InputError(f"judge.members: {strange[0]} is no judge but a stand-in; take it out")
        self._judges = list(judges)
        self.name = "panel of " + "; ".join(names)

    @property
    def details(self) -> Mapping[str, Any]:
        """The details of each member, by its name."""
        return {"members": {judge.name: dict(judge.details) for judge in self._judges}}

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """Every member's verdicts. Raises LLMError if one of them gives none."""
        found = [judge.judge(question, gold, answer) for judge in self._judges]
        runs = {name: verdicts for one in found for name, verdicts in one.runs.items()}
        return Judgement(runs, _total([one.usage for one in found]))


def _total(usages: Sequence[Usage]) -> Usage:
    return Usage(
        sum(usage.calls for usage in usages),
        sum(usage.input_tokens for usage in usages),
        sum(usage.output_tokens for usage in usages),
    )
