"""Token F1 as Mem0 scores it: unchanged words, each counted once.

Source: mem0ai/mem0, evaluation/metrics/utils.py (Chhikara et al., 2025), after A-MEM. It differs
from the official F1: no stems, articles count, quotes and brackets are part of the word, and a
repeated word adds nothing.
"""

from __future__ import annotations

from functools import lru_cache

from eval.metrics import TextMetric
from eval.metrics.overlap import overlap_f1
from eval.metrics.registry import register

_SPACES = str.maketrans(".,!?", "    ")


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().translate(_SPACES).split())


def mem0_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of lowercase words, with . , ! ? as spaces."""
    found, wanted = _words(answer), _words(gold)
    return overlap_f1(len(found & wanted), len(found), len(wanted))


register(
    TextMetric(
        name="mem0_f1",
        title="F1 mem0",
        column="f1_mem0",
        compute=mem0_f1,
        order=20,
        in_tables=False,
        reported_as="f1_score",
    )
)
