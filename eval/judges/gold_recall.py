"""A rule that replaces a judge and needs no API key. Its share is never reported as J."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from eval.judges.judge import Judgement, ModelByName, Reference
from eval.metrics.abstention import abstains
from eval.metrics.normalise import terms
from memsys.core.declared import ShareAbove0, check_fields
from memsys.llm.base import LLM

# The best threshold on the answers of 14 systems to LoCoMo, whichever system is left out.
THRESHOLD = 0.21
# From the same study on 14 systems of LoCoMo; docs/judges.md says how to repeat it.
NOTE = (
    "not J: it agrees with recorded LLM judges on LoCoMo at kappa .649, and passes 48% of specific "
    "and 43% of vague answers that were written to be wrong"
)
_REFERENCE: Reference = "gold"


def gold_recall(answer: str, gold: str) -> float:
    """Return the share of the gold's terms, 0 to 1, that occur in `answer`, counted as bags.

    Token recall, which with precision gives the F1 of SQuAD (Rajpurkar et al., 2016), over
    `normalise.terms`. A refusal scores 0 unless the gold refuses too; a gold without terms gives 0.
    """
    wanted = Counter(terms(gold))
    if not wanted or (abstains(answer) and not abstains(gold)):
        return 0.0
    return (wanted & Counter(terms(answer))).total() / wanted.total()


@dataclass(frozen=True, slots=True)
class GoldRecallSettings:
    """Settings of `judge=gold_recall`, and the rule itself: an answer passes that contains at least
    the share `threshold` of the gold's terms.
    """

    needs_llm: ClassVar = False
    threshold: ShareAbove0 = THRESHOLD
    name = score_key = "gold_recall"
    compares = _REFERENCE

    def __post_init__(self) -> None:
        """Raise InputError unless 0 < threshold <= 1."""
        check_fields(self, "judge")

    def open(self, llm: LLM | None, named: ModelByName | None = None) -> GoldRecallSettings:
        """Return the rule as a judge."""
        del llm, named
        return self

    @property
    def details(self) -> Mapping[str, Any]:
        """The threshold, and how far it agrees with language models, reported with its share."""
        return {"threshold": self.threshold, "note": NOTE}

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """Return the single verdict of the rule."""
        del question
        return Judgement({self.name: (gold_recall(answer, gold) >= self.threshold,)})
