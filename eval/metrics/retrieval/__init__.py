"""Metrics of a ranking against the evidence of its question, each with its formula and source.

R is the number of evidence units, and k the cutoff. Relevance is binary, and only the order of the
ranking counts: equal scores are no ties.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import log2
from typing import Literal

Cut = Literal["", "rank", "tokens", "turns"]


@dataclass(frozen=True)
class Judged:
    """A ranking of turns or of sessions, and the evidence of its question: the relevance judgements
    of information retrieval (qrels), with which no judge of answers has to do.

    `ranked`: distinct ids, best first. `relevant`: ids of the evidence, at least one. `size`:
    number of units in the store. `tokens`: o200k tokens of the context that ends with each rank.
    `turns`: of a session, the rank of its first turn. All three are None where they are unknown.
    """

    ranked: Sequence[str]
    relevant: Collection[str]
    size: int | None = None
    tokens: Sequence[int] | None = None
    turns: Sequence[int] | None = None

    @cached_property
    def wanted(self) -> int:
        """R, the number of distinct evidence units."""
        return len(set(self.relevant))

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the evidence that was found, from 1, ascending."""
        relevant = frozenset(self.relevant)
        return tuple(rank for rank, id_ in enumerate(self.ranked, 1) if id_ in relevant)

    def found(self, cutoff: int | None) -> tuple[int, ...]:
        """Return the ranks of the evidence down to `cutoff` (None: of the whole ranking)."""
        return self.ranks if cutoff is None else self.ranks[: bisect_right(self.ranks, cutoff)]

    def places(self, cutoff: int | None) -> int:
        """Return the number of places down to `cutoff` (None: of the whole ranking)."""
        return len(self.ranked) if cutoff is None else cutoff


@dataclass(frozen=True, kw_only=True)
class RetrievalMetric:
    """A score of one ranking.

    `name`: before the @ of a measure such as recall@10. `title`: heading in tables. `score` maps
    what is judged and a cutoff (None: the whole ranking) to the score, None where it is unknown.
    `cuts`: what may follow the name: a rank, a token budget, of sessions also a number of turns, or
    nothing (""). `at_evidence`: whether the cutoff is R. `ordered`: whether the score depends on
    the order, so that a mere selection has none. `aliases`: names in other tools, which error
    messages explain.
    """

    name: str
    title: str
    score: Callable[[Judged, int | None], float | None]
    cuts: tuple[Cut, ...] = ("", "rank")
    at_evidence: bool = False
    ordered: bool = True
    aliases: tuple[str, ...] = ()


def recall(judged: Judged, cutoff: int | None) -> float:
    """Return the share of the evidence that was found, |found| / R. Source: LoCoMo's recall
    (Maharana et al., 2024, task_eval/evaluation.py) and R@k of ir_measures (MacAvaney et al.,
    2022).

    At a token budget, the ranks count whose context is within the budget: `recall@512tokens`.
    Within a number of turns, the sessions of these turns count: `session_recall_any@10turns`, which
    several memory systems report as the recall of turns.
    """
    return len(judged.found(cutoff)) / judged.wanted


def recall_any(judged: Judged, cutoff: int | None) -> float:
    """Return 1.0 if any of the evidence was found, else 0.0. Source: Success@k of ir_measures, also
    called hit rate; recall_any@k of LongMemEval.
    """
    return float(bool(judged.found(cutoff)))


def recall_all(judged: Judged, cutoff: int | None) -> float:
    """Return 1.0 if all evidence was found, else 0.0. Source: recall_all@k of LongMemEval (Wu et
    al., 2025, src/retrieval/eval_utils.py).
    """
    return float(len(judged.found(cutoff)) == judged.wanted)


def precision(judged: Judged, cutoff: int | None) -> float:
    """Return the share of evidence among the first k ranks; as R-precision, k is R.

    P@k = |found| / k, also where the ranking has fewer than k ranks; without a cutoff, k is the
    length of the ranking, and an empty selection scores 0. Source: trec_eval's P and Rprec
    (Manning, Raghavan and Schütze, 2008, section 8.4).
    """
    return len(judged.found(cutoff)) / (judged.places(cutoff) or 1)


def ndcg(judged: Judged, cutoff: int | None) -> float:
    """Return the binary nDCG: the discounted gain of the evidence over that of an ideal ranking.

    DCG@k is the sum of 1 / log2(1 + rank) over the evidence in the first k ranks; the ideal ranking
    puts all R evidence units first, so the denominator sums over the ranks 1 to min(k, R). Source:
    Järvelin and Kekäläinen, 2002, with the discount of trec_eval's ndcg_cut, and binary gains. An
    ideal of the evidence that was found alone, as some memory systems compute it, gives more.
    """
    ideal = islice(range(1, judged.wanted + 1), cutoff)
    best = sum(1 / log2(1 + rank) for rank in ideal)
    return sum(1 / log2(1 + rank) for rank in judged.found(cutoff)) / best


def mrr(judged: Judged, cutoff: int | None) -> float:
    """Return the reciprocal rank of the first evidence, 0 where none is found; its mean is the MRR.

    Source: Voorhees, 1999 (TREC-8 question answering); trec_eval's recip_rank, which has a cutoff
    as RR@k in ir_measures.
    """
    ranks = judged.found(cutoff)
    return 1 / ranks[0] if ranks else 0.0


def average_precision(judged: Judged, cutoff: int | None) -> float:
    """Return the mean precision at the rank of each evidence unit; its mean over questions is MAP.

    AP@k is the sum over evidence in the first k ranks of (its number among the evidence found) /
    rank, divided by R, not by min(k, R): evidence below the cutoff counts 0. Source: trec_eval's
    map and map_cut; AP@k of ir_measures (Buckley and Voorhees, 2000).
    """
    ranks = enumerate(judged.found(cutoff), 1)
    return sum(number / rank for number, rank in ranks) / judged.wanted


def first_rank(judged: Judged, cutoff: int | None) -> float | None:  # noqa: ARG001
    """Return the rank of the first evidence in the whole ranking, from 1; None where there is none.

    A mean of it covers the questions with a find only, and is the lower the fewer are found; the
    summary therefore gives the median over all questions and the share found
    (eval.summary.retrieval.first_ranks). MRR compares rankings.
    """
    return float(judged.ranks[0]) if judged.ranks else None


def store_share(judged: Judged, cutoff: int | None) -> float | None:
    """Return the share of the turns or sessions of the store that the first k are, min(k / size,
    1); None where the size of the store is unknown.

    It says how much of recall@k chance alone would find: the expected recall of a random ranking.
    In a store of 20 sessions, ten ranks are half of it. Without a cutoff: the share that was given.
    """
    return min(judged.places(cutoff) / judged.size, 1.0) if judged.size else None


_EVERY_CUT: tuple[Cut, ...] = ("", "rank", "tokens", "turns")
METRICS: tuple[RetrievalMetric, ...] = (  # in the order of tables
    RetrievalMetric(
        name="recall",
        title="recall",
        score=recall,
        cuts=_EVERY_CUT,
        ordered=False,
        aliases=("R", "recall_fraction"),
    ),
    RetrievalMetric(
        name="recall_any",
        title="any",
        score=recall_any,
        cuts=_EVERY_CUT,
        ordered=False,
        aliases=("hit", "Success"),
    ),
    RetrievalMetric(
        name="recall_all",
        title="all",
        score=recall_all,
        cuts=_EVERY_CUT,
        ordered=False,
        aliases=("R_all",),
    ),
    RetrievalMetric(
        name="precision", title="precision", score=precision, ordered=False, aliases=("P",)
    ),
    RetrievalMetric(name="ndcg", title="nDCG", score=ndcg, aliases=("nDCG", "ndcg_cut")),
    RetrievalMetric(name="mrr", title="MRR", score=mrr, aliases=("RR", "recip_rank")),
    RetrievalMetric(name="map", title="MAP", score=average_precision, aliases=("AP", "map_cut")),
    RetrievalMetric(
        name="r_precision",
        title="R-precision",
        score=precision,
        cuts=("",),
        at_evidence=True,
        aliases=("Rprec", "R_prec"),
    ),
    RetrievalMetric(name="first_rank", title="first rank", score=first_rank, cuts=("",)),
    RetrievalMetric(name="store_share", title="share of store", score=store_share, ordered=False),
)
