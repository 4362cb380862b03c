"""The F1 of two bags or sets of tokens, from their sizes."""

from __future__ import annotations


def overlap_f1(common: int, answer_size: int, gold_size: int) -> float:
    """Return the harmonic mean of precision and recall, 0 to 1; 0 without a common token.

    F1 = 2PR / (P + R), P = common / answer_size, R = common / gold_size (van Rijsbergen, 1979).
    """
    if common == 0:
        return 0.0
    precision, recall = common / answer_size, common / gold_size
    return 2 * precision * recall / (precision + recall)
