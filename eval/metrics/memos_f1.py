"""Token F1 as MemOS scores it: sets of lowercase Treebank tokens, punctuation among them.

Source: MemTensor/MemOS, evaluation/scripts/locomo/locomo_eval.py. Punctuation counts as a word:
two sentences have at least their full stop in common.
"""

from __future__ import annotations

from eval.metrics import TextMetric
from eval.metrics.overlap import overlap_f1
from eval.metrics.registry import register
from eval.metrics.tokens import word_tokens


def memos_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of `word_tokens`; 0 if one is empty."""
    found, wanted = set(word_tokens(answer)), set(word_tokens(gold))
    return overlap_f1(len(found & wanted), len(found), len(wanted))


register(
    TextMetric(
        name="memos_f1",
        title="F1 memos",
        column="f1_memos",
        compute=memos_f1,
        order=30,
        in_tables=False,
    )
)
