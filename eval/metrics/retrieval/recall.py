"""Recall in its three kinds: how much of the evidence the first k ranks contain.

- recall: the share |found| / R. LoCoMo's recall (Maharana et al., 2024, task_eval/evaluation.py)
  and R@k of ir_measures (MacAvaney et al., 2022).
- recall_any: 1 if any evidence is found. Success@k of ir_measures; also called hit rate.
- recall_all: 1 if all evidence is found. recall_all@k of LongMemEval (Wu et al., 2025,
  src/retrieval/eval_utils.py), whose recall_any@k is the one above.

At a token budget, the ranks count whose context is within the budget: `recall@512tokens`. Within a
number of turns, the sessions of these turns count: `session_recall_any@10turns`, which several
memory systems report as the recall of turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eval.metrics.retrieval import Judged, RetrievalMetric
from eval.metrics.retrieval.registry import register


@dataclass(frozen=True, kw_only=True)
class Recall(RetrievalMetric):
    """A kind of recall: `compute` maps the numbers of found and of all evidence units to it."""

    compute: Callable[[int, int], float]

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        return self.compute(len(judged.found(cutoff)), judged.wanted)


def fraction(found: int, wanted: int) -> float:
    """Return the share of the evidence that was found."""
    return found / wanted


def any_found(found: int, wanted: int) -> float:
    """Return 1.0 if any of the evidence, at least one unit, was found, else 0.0."""
    return float(min(found, wanted) > 0)


def all_found(found: int, wanted: int) -> float:
    """Return 1.0 if all evidence was found, else 0.0."""
    return float(found == wanted)


for _name, _title, _order, _compute, _aliases in (
    ("recall", "recall", 10, fraction, ("R", "recall_fraction")),
    ("recall_any", "any", 20, any_found, ("hit", "Success")),
    ("recall_all", "all", 30, all_found, ("R_all",)),
):
    register(
        Recall(
            name=_name,
            title=_title,
            order=_order,
            compute=_compute,
            cuts=("", "rank", "tokens", "turns"),
            ordered=False,
            aliases=_aliases,
        )
    )
