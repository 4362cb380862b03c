"""The retrieval metrics, each with its formula and source.

R is the number of evidence units, and k the cutoff; see eval.metrics.retrieval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from math import log2

from eval.metrics.retrieval import Cut, Judged, RetrievalMetric


@dataclass(frozen=True, kw_only=True)
class Recall(RetrievalMetric):
    """A kind of recall: `compute` maps the numbers of found and of all evidence units to it.

    At a token budget, the ranks count whose context is within the budget: `recall@512tokens`.
    Within a number of turns, the sessions of these turns count: `session_recall_any@10turns`, which
    several memory systems report as the recall of turns.
    """

    compute: Callable[[int, int], float]

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        return self.compute(len(judged.found(cutoff)), judged.wanted)


def fraction(found: int, wanted: int) -> float:
    """Return the share of the evidence that was found, |found| / R. Source: LoCoMo's recall
    (Maharana et al., 2024, task_eval/evaluation.py) and R@k of ir_measures (MacAvaney et al.,
    2022).
    """
    return found / wanted


def any_found(found: int, wanted: int) -> float:
    """Return 1.0 if any of the evidence, at least one unit, was found, else 0.0. Source: Success@k
    of ir_measures, also called hit rate; recall_any@k of LongMemEval.
    """
    return float(min(found, wanted) > 0)


def all_found(found: int, wanted: int) -> float:
    """Return 1.0 if all evidence was found, else 0.0. Source: recall_all@k of LongMemEval (Wu et
    al., 2025, src/retrieval/eval_utils.py).
    """
    return float(found == wanted)


class Precision(RetrievalMetric):
    """Share of evidence among the first k ranks; as R-precision, k is R.

    P@k = |found| / k, also where the ranking has fewer than k ranks; without a cutoff, k is the
    length of the ranking. Source: trec_eval's P and Rprec (Manning, Raghavan and Schütze, 2008,
    section 8.4).
    """

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric; 0 of an empty selection."""
        places = len(judged.ranked) if cutoff is None else cutoff
        return len(judged.found(cutoff)) / places if places else 0.0


class Ndcg(RetrievalMetric):
    """Binary nDCG: the discounted gain of the evidence over that of an ideal ranking.

    DCG@k is the sum of 1 / log2(1 + rank) over the evidence in the first k ranks; the ideal ranking
    puts all R evidence units first, so the denominator sums over the ranks 1 to min(k, R). Source:
    Järvelin and Kekäläinen, 2002, with the discount of trec_eval's ndcg_cut, and binary gains. An
    ideal of the evidence that was found alone, as some memory systems compute it, gives more.
    """

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        ideal = range(1, judged.wanted + 1)
        best = sum(1 / log2(1 + rank) for rank in islice(ideal, cutoff))
        return sum(1 / log2(1 + rank) for rank in judged.found(cutoff)) / best


class Mrr(RetrievalMetric):
    """Reciprocal rank of the first evidence, 0 where none is found; its mean is the MRR.

    Source: Voorhees, 1999 (TREC-8 question answering); trec_eval's recip_rank, which has a cutoff
    as RR@k in ir_measures.
    """

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        found = judged.found(cutoff)
        return 1 / found[0] if found else 0.0


class AveragePrecision(RetrievalMetric):
    """Mean of the precision at the rank of each evidence unit; its mean over questions is MAP.

    AP@k is the sum over evidence in the first k ranks of (its number among the evidence found) /
    rank, divided by R, not by min(k, R): evidence below the cutoff counts 0. Source: trec_eval's
    map and map_cut; AP@k of ir_measures (Buckley and Voorhees, 2000).
    """

    def score(self, judged: Judged, cutoff: int | None) -> float:
        """See RetrievalMetric."""
        found = judged.found(cutoff)
        return sum(number / rank for number, rank in enumerate(found, 1)) / judged.wanted


class FirstRank(RetrievalMetric):
    """Rank of the first evidence in the whole ranking, from 1; no value where none is found.

    A mean of it covers the questions with a find only, and is the lower the fewer are found; the
    summary therefore gives the median over all questions and the share found
    (eval.summary.retrieval.first_ranks). MRR compares rankings.
    """

    def score(self, judged: Judged, cutoff: int | None) -> float | None:  # noqa: ARG002
        """See RetrievalMetric."""
        return float(judged.ranks[0]) if judged.ranks else None


class StoreShare(RetrievalMetric):
    """Share of the turns or sessions of the store that the first k are: min(k / size, 1).

    It says how much of recall@k chance alone would find: the expected recall of a random ranking.
    In a store of 20 sessions, ten ranks are half of it. Without a cutoff: the share that was given.
    """

    def score(self, judged: Judged, cutoff: int | None) -> float | None:
        """See RetrievalMetric; None where the size of the store is unknown."""
        if not judged.size:
            return None
        return min((len(judged.ranked) if cutoff is None else cutoff) / judged.size, 1.0)


def _recall(
    name: str, title: str, compute: Callable[[int, int], float], *aliases: str
) -> RetrievalMetric:
    cuts: tuple[Cut, ...] = ("", "rank", "tokens", "turns")
    return Recall(
        name=name, title=title, compute=compute, cuts=cuts, ordered=False, aliases=aliases
    )


METRICS: tuple[RetrievalMetric, ...] = (  # in the order of tables
    _recall("recall", "recall", fraction, "R", "recall_fraction"),
    _recall("recall_any", "any", any_found, "hit", "Success"),
    _recall("recall_all", "all", all_found, "R_all"),
    Precision(name="precision", title="precision", ordered=False, aliases=("P",)),
    Ndcg(name="ndcg", title="nDCG", aliases=("nDCG", "ndcg_cut")),
    Mrr(name="mrr", title="MRR", aliases=("RR", "recip_rank")),
    AveragePrecision(name="map", title="MAP", aliases=("AP", "map_cut")),
    Precision(
        name="r_precision",
        title="R-precision",
        cuts=("",),
        at_evidence=True,
        aliases=("Rprec", "R_prec"),
    ),
    FirstRank(name="first_rank", title="first rank", cuts=("",)),
    StoreShare(name="store_share", title="share of store", ordered=False),
)
