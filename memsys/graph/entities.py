"""Entities by rule: names, quoted phrases, noun-like phrases and keywords, without a model.

Named entities alone leave a nearly unconnected graph on everyday talk; phrases and keywords,
weighted by rarity, connect it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    ignored = _ignored(frozenset(speakers))
    found: dict[str, EntityKind] = {}
    for quoted in _QUOTED.findall(content):
        key = _key(quoted)
        if key and key not in ignored:
            found[key] = "name"
    before = ""  # key of the word just before, where it is one of the same phrase
    starts_sentence = True
    capitalised = False
    for token in _TOKEN.findall(content):
        key, pairs, is_upper, ends = _read(token)
        if key and key not in ignored:
            name = is_upper and not starts_sentence
            if name or key not in found:
                found[key] = "name" if name else "keyword"
            if before:
                both_names = name and capitalised
                phrase = f"{before} {key}"
                if both_names or phrase not in found:
                    found[phrase] = "name" if both_names else "phrase"
            before = key
            capitalised = name
        else:
            before = ""
            for pair in pairs:
                found.setdefault(pair, "keyword")
        starts_sentence = ends
    if ignored.isdisjoint(found):
        return found
    return {key: kind for key, kind in found.items() if key not in ignored}


@lru_cache(maxsize=262_144)
def _read(token: str) -> tuple[str, Sequence[str], bool, bool]:
    """Of a token what does not depend on its place: its key, "" if it is no entity by itself; the
    bigrams of a Chinese run; whether it is capitalised, and whether it ends a sentence.
    """
    if is_cjk(token):
        return "", cjk_terms(token), False, False
    word = token.lower().replace("’", "'")
    telling = token[0].isalnum() and len(word) > 2 and not word.isdigit() and word not in STOPWORDS
    return stem(word) if telling else "", (), token[0].isupper(), token in _SENTENCE_END


@lru_cache(maxsize=1024)
def _ignored(speakers: frozenset[str]) -> frozenset[str]:
    return frozenset(_key(part) for name in speakers for part in [*name.split(), name])


@lru_cache(maxsize=65_536)
def _key(text: str) -> str:
    """Stems of the content words of a quoted phrase; a Chinese phrase as it stands."""
    if is_cjk(text):
        return text.strip()
    tokens = [t.lower().replace("’", "'") for t in _TOKEN.findall(text) if t[0].isalnum()]
    return " ".join(stem(token) for token in tokens if token not in STOPWORDS)
