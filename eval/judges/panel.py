"""A panel: several judges on every answer, to measure how far a verdict depends on the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.judges.judge import Judge, Judgement, JudgeSettings, ModelByName
from eval.judges.llm import LLMJudge
from memsys.core.errors import InputError
from memsys.llm.base import LLM, LLMError
from memsys.llm.meter import total_usage


@dataclass(frozen=True, slots=True)
class PanelSettings:
    """Settings of `judge=panel`. `members`: settings of two or more judges."""

    members: Sequence[JudgeSettings]

    @property
    def needs_llm(self) -> bool:
        """Whether one of the members requires a model."""
        return any(member.needs_llm for member in self.members)

    def open(self, llm: LLM | None, named: ModelByName | None = None) -> Panel:
        """Return the panel; `llm` judges for each member that names no other model.

        Raises InputError if a member is invalid.
        """
        judges = [member.open(llm, named) for member in self.members]
        return Panel([judge for judge in judges if judge is not None])


class Panel:
    """Lets every member judge every answer; its value is the share of all verdicts that pass."""

    score_key = "judge"

    def __init__(self, judges: Sequence[Judge]) -> None:
        """Raises InputError for fewer than two judges, equal names, references of two kinds, or a
        rule without a model.
        """
        names = [judge.name for judge in judges]
        if not len(names) == len(set(names)) >= 2:
            raise InputError(
                f"judge.members: {', '.join(names)}; name two or more, each of another model or "
                "rubric"
            )
        kinds = {(judge.score_key, judge.compares) for judge in judges}
        if len(kinds) > 1 or judges[0].score_key != self.score_key:
            raise InputError(
                "judge.members: not all are models that compare with one reference, the gold "
                "answer or the cue; use judge=llm with rubrics of one kind"
            )
        self.members = tuple(judges)
        self.compares = judges[0].compares
        self.name = "panel of " + "; ".join(names)

    @property
    def details(self) -> Mapping[str, Any]:
        """Details of each member by name."""
        return {"members": {judge.name: dict(judge.details) for judge in self.members}}

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """Return the verdicts of every member.

        Every member is asked, also after one failed, so that its replies are recorded and are
        replayed when the answer is judged again. Raises the first member's LLMError.
        """
        judgements, errors = [], []
        for judge in self.members:
            try:
                judgements.append(judge.judge(question, gold, answer))
            except LLMError as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return Judgement(
            {name: verdicts for j in judgements for name, verdicts in j.runs.items()},
            total_usage(j.usage for j in judgements),
            {name: reasons for j in judgements for name, reasons in j.reasons.items()},
        )


def reply_formats(judge: Judge | None) -> dict[str, str]:
    """Return the reply format of each model that has judged, by the name of the judge."""
    members = judge.members if isinstance(judge, Panel) else (judge,)
    models = [member for member in members if isinstance(member, LLMJudge)]
    return {model.name: model.reply_format for model in models if model.reply_format is not None}
