"""A panel: several judges on every answer, to measure how far a verdict depends on the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

from eval.judges.judge import Judge, Judgement, JudgeSettings, ModelByName, total_usage
from eval.judges.llm import LLMJudge
from eval.metrics.stats.agreement import cohen_interval, fleiss_interval
from eval.metrics.stats.interval import Interval
from memsys.core.errors import InputError
from memsys.llm.base import LLM, LLMError


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """Statistics of one judge over all answers.

    The mean of each run, their mean and standard deviation (n - 1; None for one run), and the share
    of answers that a majority of the runs passed.
    """

    runs: tuple[float, ...]
    mean: float
    deviation: float | None
    majority: float


@dataclass(frozen=True, slots=True)
class PanelStatistics:
    """Statistics of each member of a panel, and their agreement.

    Agreement is Cohen's kappa of each pair and Fleiss' kappa of all members, each member with the
    majority verdict of its runs; a single member has no kappas.
    """

    members: Mapping[str, RunStatistics]
    pairs: Mapping[tuple[str, str], Interval]
    all_members: Interval | None


def majority(verdicts: Sequence[bool]) -> bool:
    """Return True if more than half of `verdicts` passed the answer; a tie is no majority."""
    return 2 * sum(verdicts) > len(verdicts)


def run_statistics(verdicts: Sequence[Sequence[bool]]) -> RunStatistics:
    """Return the statistics of verdicts on n answers, a row per answer and a column per run.

    Raises ValueError without an answer, or if answers have different numbers of runs.
    """
    if not verdicts or len({len(row) for row in verdicts}) != 1 or not verdicts[0]:
        raise ValueError("run_statistics: every answer needs the same number of runs, 1 or more")
    means = tuple(fmean(run) for run in zip(*verdicts, strict=True))
    return RunStatistics(
        means,
        fmean(means),
        stdev(means) if len(means) > 1 else None,
        fmean(majority(row) for row in verdicts),
    )


def panel_statistics(
    judgements: Sequence[Mapping[str, Sequence[bool]]], clusters: Sequence[str], seed: int = 0
) -> PanelStatistics:
    """Return the statistics of a panel from the `runs` of its judgements on n answers.

    `clusters`: the conversation of each answer. Raises ValueError without an answer, or if answers
    have different judges or numbers of runs.
    """
    names = list(judgements[0]) if judgements else []
    if any(list(one) != names for one in judgements):
        raise ValueError("panel_statistics: every answer needs the same judges")
    by_member = {name: [one[name] for one in judgements] for name in names}
    members = {name: run_statistics(verdicts) for name, verdicts in by_member.items()}
    votes = {name: [majority(row) for row in verdicts] for name, verdicts in by_member.items()}
    pairs = {
        (one, other): cohen_interval(votes[one], votes[other], clusters, seed)
        for one, other in combinations(names, 2)
    }
    together = None
    if len(names) > 1:
        together = fleiss_interval(list(zip(*votes.values(), strict=True)), clusters, seed)
    return PanelStatistics(members, pairs, together)


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
        """Raises InputError for fewer than two judges, equal names, or a rule without a model."""
        names = [judge.name for judge in judges]
        if len(judges) < 2:
            raise InputError(f"judge.members: {len(judges)} judges; a panel has two or more")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(
                f"judge.members: {twice[0]} is listed twice; give each another model or rubric"
            )
        if len({judge.compares for judge in judges}) > 1:
            raise InputError(
                "judge.members: some compare with the gold answer, others with the cue; use "
                "rubrics of one kind"
            )
        stand_ins = [judge.name for judge in judges if judge.score_key != self.score_key]
        if stand_ins:
            raise InputError(f"judge.members: {stand_ins[0]} is a stand-in, not a judge; remove it")
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
            {name: verdicts for one in judgements for name, verdicts in one.runs.items()},
            total_usage(one.usage for one in judgements),
            {name: reasons for one in judgements for name, reasons in one.reasons.items()},
        )


def reply_formats(judge: Judge | None) -> dict[str, str]:
    """Return the reply format of each model that has judged, by the name of the judge."""
    members = judge.members if isinstance(judge, Panel) else (judge,)
    models = [one for one in members if isinstance(one, LLMJudge)]
    return {one.name: one.reply_format for one in models if one.reply_format is not None}
