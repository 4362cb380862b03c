"""The interface of a judge, of its settings in the configuration, and a judgement."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from eval.datasets.types import Question
from memsys.core.types import Usage
from memsys.llm.base import LLM

Reference = Literal["gold", "cue"]
ModelByName = Callable[[str], LLM]  # opens another model of the same endpoint


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts on one answer: `runs` by judge (a panel has several), one verdict per run.

    `usage` is the judge's own consumption; it is never counted as the system's. `reasons`: of each
    verdict of the judges that give reasons, without secrets.
    """

    runs: Mapping[str, tuple[bool, ...]]
    usage: Usage = field(default_factory=Usage)
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """Share of all verdicts that passed the answer, 0 to 1; recorded as `scores.judge`."""
        verdicts = [verdict for runs in self.runs.values() for verdict in runs]
        return sum(verdicts) / len(verdicts)

    def fields(self) -> dict[str, Any]:
        """Return the field `judge` of a record and, if there are reasons, `judge_reasons`."""
        fields = {"judge": {name: list(verdicts) for name, verdicts in self.runs.items()}}
        reasons = {name: list(each) for name, each in self.reasons.items()}
        return {**fields, **({"judge_reasons": reasons} if reasons else {})}


class Judge(Protocol):
    """Compares an answer with a reference: the question's gold answer, or its cue.

    `name` and `details` are reported with every J. `score_key` is the key of its value in a
    record's scores: "judge" only if the value may be reported as J; a rule without a model uses a
    different key. `compares`: which reference `judge` receives as `gold`.
    """

    name: str
    score_key: str
    compares: Reference

    @property
    def details(self) -> Mapping[str, Any]:
        """Plain JSON for the manifest: model, rubric, prompt name and sha256, runs."""

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """Return the verdicts; LLMError if one is missing, as no verdict is not a wrong answer."""


def reference(judge: Judge, question: Question) -> str | None:
    """Return what `judge` compares an answer to `question` with; None if it does not apply."""
    return question.gold if judge.compares == "gold" else question.cue


class JudgeSettings(Protocol):
    """Settings that the configuration group `judge` builds before a model is available."""

    @property
    def needs_llm(self) -> bool:
        """Whether `open` requires a model."""

    def open(self, llm: LLM | None, named: ModelByName | None = None) -> Judge | None:
        """Return the judge, or None for `judge=none`.

        `llm` judges unless the settings name another model, which `named` opens. Raises InputError
        on invalid settings.
        """


class NoJudge:
    """`judge=none`: answers are not judged, and there is no judge score."""

    needs_llm = False

    def open(self, llm: LLM | None, named: ModelByName | None = None) -> None:
        """Return None."""
        del llm, named
