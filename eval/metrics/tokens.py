"""Words of a lowercased text, as NLTK 3.9.1 `word_tokenize` splits them.

Formula: the Penn Treebank tokeniser (Robert MacIntyre's sed script, University of Pennsylvania,
1995): substitutions put spaces where words are to part, in this order, then split. NLTK's word
tokeniser added the typographic quotes and the runs of dots (nltk/tokenize/destructive.py, 3.9.1).
The rules are written out here because NLTK 3.10 changed them, and with them published scores.
"""

from __future__ import annotations

import re
from functools import lru_cache

from eval.metrics.sentences import sentences

_CLITICS = "re|ve|ll|m|t|s|d|n"
_SPLIT_IN_TWO = ("can|not", "d|'ye", "gim|me", "gon|na", "got|ta", "lem|me", "more|'n")

_RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Opening quotes; a straight one opens at the start and after a space or a bracket.
        (r"([«“‘„]|`+)", r" \1 "),
        (r'^"', "``"),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(?:\"|'')", r"\1 `` "),
        (rf"(?i)'(?!{_CLITICS})(\w)\b", r"' \1"),
        # The full stop of the sentence, which only brackets and quotes may follow.
        (r"([^.])\.([\])}>\"'»”’ ]*)\s*$", r"\1 . \2 "),
        (r"([:,])(\D)", r" \1 \2"),  # not in 10:30 or 1,000
        (r"([:,])$", r" \1 "),
        (r"(\.{2,}|[;@#$%&?!])", r" \1 "),
        (r"([^'])' ", r"\1 ' "),
        (r"([*\]\[(){}<>]|--)", r" \1 "),
        (r"^|$", " "),
        # Closing quotes, then clitics and contractions.
        (r"([»”’])", r" \1 "),
        (r"''|\"", " '' "),
        (r"\s+", " "),
        (r"([^' ])('[smd]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'re|'ve|n't) ", r"\1 \2 "),
        *((rf"(?i)\b({a})({b})\b", r" \1 \2 ") for a, b in (x.split("|") for x in _SPLIT_IN_TWO)),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is)\b", r" \1 \2 "),
        (r"(?i) ('t)(was)\b", r" \1 \2 "),
    )
]


@lru_cache(maxsize=65_536)
def word_tokens(text: str) -> tuple[str, ...]:
    """Tokens of `text.lower()` in order, punctuation kept; blank text has none.

    Equal to `nltk.word_tokenize(text.lower())` of NLTK 3.9.1 with punkt_tab English.
    """
    tokens: list[str] = []
    for sentence in sentences(text.lower()):
        spaced = sentence
        for pattern, replacement in _RULES:
            spaced = pattern.sub(replacement, spaced)
        tokens.extend(spaced.split())
    return tuple(tokens)
