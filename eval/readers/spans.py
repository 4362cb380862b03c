"""Short answers cut out of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eval.readers.evidence import Found
from eval.readers.morphology import is_light, root
from eval.readers.question import Asked

_CLAUSE = re.compile(
    r"[,;:!?.…()\"“”–—]+|\s-+\s|\b(?:and|but|so|because|which|while|who|since)\b", re.I
)
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def best_span(asked: Asked, found: Sequence[Found], max_words: int) -> str:
    """The clause of the best sentence that adds most to the question's own words."""
    item = found[0]
    best = (-1.0, item.sentence.text)
    for clause in _CLAUSE.split(item.sentence.text):
        tokens = list(_TOKEN.findall(clause))
        while tokens and is_light(tokens[0].lower()):
            tokens.pop(0)
        while tokens and is_light(tokens[-1].lower()):
            tokens.pop()
        new = sum(root(t.lower()) not in asked.roots and not is_light(t.lower()) for t in tokens)
        old = sum(root(t.lower()) in asked.roots for t in tokens)
        score = min(new, 4) + 1.5 * old
        if score > best[0]:
            best = (score, " ".join(tokens[:max_words]))
    return best[1]
