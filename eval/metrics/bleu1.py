"""BLEU-1 of one answer against one gold answer, as Mem0, MemOS and A-MEM report it.

Formula: Papineni et al., 2002, with weight on unigrams alone; source: mem0ai/mem0,
evaluation/metrics/utils.py over nltk.translate.bleu_score.sentence_bleu. Its smoothing touches
higher orders only, so none is left here.
"""

from __future__ import annotations

from math import exp

from eval.metrics import TextMetric, in_common
from eval.metrics.registry import register
from eval.metrics.tokens import word_tokens


def bleu1(answer: str, gold: str) -> float:
    """Return the clipped unigram precision times min(1, e^(1 - r/c)), 0 to 1.

    It is computed over lowercase `word_tokens`; r and c are the numbers of tokens of gold and
    answer. Without a common token the score is 0.
    """
    found, wanted = word_tokens(answer), word_tokens(gold)
    clipped = in_common(found, wanted)
    if clipped == 0:
        return 0.0
    return clipped / len(found) * min(1.0, exp(1 - len(wanted) / len(found)))


register(
    TextMetric(
        name="bleu1", title="BLEU-1", compute=bleu1, order=50, pinned=True, reported_as="bleu_score"
    )
)
