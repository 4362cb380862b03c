"""Entities by rule: names, quoted phrases, noun-like phrases and keywords, without a model.

Named entities alone leave a nearly unconnected graph on everyday talk; phrases and keywords,
weighted by rarity, connect it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from memsys.index.terms import STOPWORDS, cjk_terms, is_cjk, stem

EntityKind = Literal["name", "phrase", "keyword"]

_TOKEN = re.compile(r"[㐀-鿿豈-﫿]+|[^\W_㐀-鿿豈-﫿]+(?:['’][^\W_㐀-鿿豈-﫿]+)*|[^\w\s]|\n")
_QUOTED = re.compile(r"[\"“”「『《]([^\"“”「」『』《》]{2,40})[\"“”」』》]")
_SENTENCE_END = frozenset(".!?。！？:：\n[")


def entities(content: str, speakers: Iterable[str] = ()) -> dict[str, EntityKind]:
    """Entity keys of a memory with their kind, in order of appearance.

    A key is stems joined by a space (Chinese: a bigram or a quoted phrase). `speakers` are left
    out: a name that stands in every turn links nothing.
    """
    ignored = {_key(part) for name in speakers for part in [*name.split(), name]}
    found: dict[str, EntityKind] = {}
    for quoted in _QUOTED.findall(content):
        key = _key(quoted)
        if key and key not in ignored:
            found[key] = "name"
    run: list[str] = []
    starts_sentence = True
    capitalised = False
    for token in _TOKEN.findall(content):
        lower = token.lower().replace("’", "'")
        key = stem(lower)
        content_word = token[0].isalnum() and lower not in STOPWORDS and key not in ignored
        if is_cjk(token):
            run = []
            for pair in cjk_terms(token):
                found.setdefault(pair, "keyword")
        elif content_word and not (lower.isdigit() or len(lower) < 3):
            name = token[0].isupper() and not starts_sentence
            if name or key not in found:
                found[key] = "name" if name else "keyword"
            if run:
                both_names = name and capitalised
                phrase = f"{run[-1]} {key}"
                if both_names or phrase not in found:
                    found[phrase] = "name" if both_names else "phrase"
            run.append(key)
            capitalised = name
        else:
            run = []
        starts_sentence = token in _SENTENCE_END
    return {key: kind for key, kind in found.items() if key not in ignored}


@lru_cache(maxsize=65_536)
def _key(text: str) -> str:
    """Stems of the content words of a quoted phrase; a Chinese phrase as it stands."""
    if is_cjk(text):
        return text.strip()
    tokens = [t.lower().replace("’", "'") for t in _TOKEN.findall(text) if t[0].isalnum()]
    return " ".join(stem(token) for token in tokens if token not in STOPWORDS)
