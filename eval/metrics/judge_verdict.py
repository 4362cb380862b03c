"""The verdict of a judge, which is asked for while a run answers and not computed from records."""

from __future__ import annotations

from dataclasses import dataclass

from eval.metrics import Answered, Metric
from eval.metrics.registry import register


@dataclass(frozen=True, kw_only=True)
class JudgeVerdict(Metric):
    """The place of a verdict among the scores; the judge itself fills it (`eval.judges`)."""

    def score(self, answered: Answered) -> None:
        """Return None: no judge was asked."""


register(JudgeVerdict(name="judge", order=80))
