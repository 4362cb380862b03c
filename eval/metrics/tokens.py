"""Words of a lowercased text, as NLTK 3.9.1 `word_tokenize` splits them.

The words of a sentence are those of NLTK's Treebank tokeniser (nltk/tokenize/destructive.py, after
Robert MacIntyre's sed script, University of Pennsylvania, 1995). NLTK is pinned to 3.9.1: its
3.10 changed the rules, and with them published scores. The sentences are those of
`eval.metrics.sentences`, because NLTK's own need a downloaded model.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from eval.metrics.sentences import sentences

if TYPE_CHECKING:
    from nltk.tokenize.destructive import NLTKWordTokenizer


@cache
def _tokenizer() -> NLTKWordTokenizer:
    from nltk.tokenize.destructive import NLTKWordTokenizer  # noqa: PLC0415 - slow to import

    return NLTKWordTokenizer()


@lru_cache(maxsize=65_536)
def word_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of `text.lower()` in order, punctuation included; blank text has none.

    Equal to `nltk.word_tokenize(text.lower())` of NLTK 3.9.1 with punkt_tab English.
    """
    parts = sentences(text.lower())
    return tuple(word for part in parts for word in _tokenizer().tokenize(part))
