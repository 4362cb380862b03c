"""F1 of sets and BLEU-1 of one answer against one gold answer, as memory systems report them.

`mem0_f1`: unchanged words. Source: mem0ai/mem0, evaluation/metrics/utils.py (Chhikara et al.,
2025), after A-MEM. It differs from the official F1: no stems, articles count, quotes and brackets
are part of the word; a repeated word adds nothing.

`memos_f1`: lowercase Treebank tokens. Source: MemTensor/MemOS, evaluation/scripts/locomo/
locomo_eval.py. Punctuation counts as a word: two sentences have at least their full stop in common.

`bleu1`: as Mem0, MemOS and A-MEM report it. Formula: Papineni et al., 2002, with weight on unigrams
alone; source: mem0ai/mem0, evaluation/metrics/utils.py over
nltk.translate.bleu_score.sentence_bleu. Its smoothing touches higher orders only, so none is left.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import lru_cache
from math import exp

from eval.metrics import TextMetric, in_common, overlap_f1
from eval.metrics.registry import register
from eval.metrics.tokens import word_tokens

_SPACES = str.maketrans(".,!?", "    ")


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().translate(_SPACES).split())


def _set_f1(found: AbstractSet[str], wanted: AbstractSet[str]) -> float:
    return overlap_f1(len(found & wanted), len(found), len(wanted))


def mem0_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of lowercase words, with . , ! ? as spaces."""
    return _set_f1(_words(answer), _words(gold))


def memos_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of `word_tokens`; 0 if one is empty."""
    return _set_f1(set(word_tokens(answer)), set(word_tokens(gold)))


for _name, _compute, _order, _reported_as in (
    ("mem0", mem0_f1, 20, "f1_score"),
    ("memos", memos_f1, 30, ""),
):
    register(
        TextMetric(
            name=f"{_name}_f1",
            title=f"F1 {_name}",
            column=f"f1_{_name}",
            compute=_compute,
            order=_order,
            in_tables=False,
            reported_as=_reported_as,
        )
    )


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
