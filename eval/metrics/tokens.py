"""Words and sentences of lowercase English text, as NLTK 3.9.1 with punkt_tab finds them.

The words of a sentence are those of NLTK's Treebank tokeniser (nltk/tokenize/destructive.py, after
Robert MacIntyre's sed script, University of Pennsylvania, 1995). NLTK is pinned to 3.9.1: its
3.10 changed the rules, and with them published scores. The sentences are those of NLTK's
Punkt (Kiss & Strunk, 2006, Unsupervised multilingual sentence boundary detection, Computational
Linguistics 32:485-525).

Every published BLEU-1 and set F1 that rests on `word_tokenize` lowercases first, and Punkt's
20,366-word table of upper and lower case can then change a decision for four words only: the
evidence of capital letters is never available. So the table shrinks to `_OPENERS`, and with the 156
abbreviations and 37 collocations (punkt.yaml) nothing has to be downloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from eval.metrics.lean_import import import_alone
from memsys.core.yaml_text import load_table

if TYPE_CHECKING:
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

# The words that open a sentence in lower case and never occur with a capital.
_OPENERS = ("administrators", "b-week", "r-revised", "z-holiday")


@cache
def _punkt() -> PunktSentenceTokenizer:
    """Return NLTK's Punkt with the parameters of punkt.yaml."""
    table = load_table(Path(__file__).parent / "punkt.yaml")
    punkt = import_alone("nltk.tokenize.punkt", "__dict__", "nltk")
    parameters = punkt["PunktParameters"]()
    # One entry of the model is no word: ". . " is what a spaced ellipsis leaves without its last
    # dot.
    parameters.abbrev_types = {*table["abbreviations"].split(), ". . "}
    after = {"##number##": table["after_a_number"], **table["after"]}
    parameters.collocations = {
        (first, second) for first, words in after.items() for second in words.split()
    }
    parameters.ortho_context.update(dict.fromkeys(_OPENERS, punkt["_ORTHO_BEG_LC"]))
    tokenizer: PunktSentenceTokenizer = punkt["PunktSentenceTokenizer"](parameters)
    return tokenizer


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """Return a function equal to `NLTKWordTokenizer().tokenize` for text in lower case.

    Of the rules, a text meets those whose characters it contains. `before` and `after` the text is
    padded with blanks: the characters, or pairs of them, without one of which a rule changes
    nothing, its pattern and its replacement. `parted`: the same for words that are divided.
    """
    nltk: type[NLTKWordTokenizer]
    nltk = import_alone("nltk.tokenize.destructive", "NLTKWordTokenizer", "nltk")
    starts = zip(("«“‘„`", '"', "`", "\"'", "'"), nltk.STARTING_QUOTES, strict=True)
    # The sixth divides the last full stop, which the first has done: it would add a blank.
    marks = (".", ":,", ":,", [".."], ";@#$%&", "", "?!", "'", "*")
    others = (("[](){}<>", nltk.PARENS_BRACKETS), (["--"], nltk.DOUBLE_DASHES))
    ends = ("»”’", "'", '"', "'", "'", "'")  # the fourth joins blanks, for those after it
    words = ("cannot", "'ye", "mme", "gonna", "gotta", "mme", "'n", "wanna", "'t", "'t")
    first = (*starts, *zip(marks, nltk.PUNCTUATION, strict=True), *others)
    before = [(frozenset(of), *rule) for of, rule in first]
    last = zip(ends, nltk.ENDING_QUOTES, strict=True)
    after = [(frozenset(of), *rule) for of, rule in last]
    parted = list(zip(words, [*nltk.CONTRACTIONS2, *nltk.CONTRACTIONS3], strict=True))

    def tokenize(text: str) -> list[str]:
        characters = {" ", *text}
        if '"' in characters:
            characters |= {"`", "'"}  # by which the rules replace it
        characters.update(pair for pair in ("..", "--") if pair in text)
        for needed, pattern, replacement in before:
            if not characters.isdisjoint(needed):
                text = pattern.sub(replacement, text)
        text = f" {text} "
        for needed, pattern, replacement in after:
            if not characters.isdisjoint(needed):
                text = pattern.sub(replacement, text)
        for part, divided in parted:
            if part in text:
                text = divided.sub(r" \1 \2 ", text)
        return text.split()

    return tokenize


@lru_cache(maxsize=65_536)
def word_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of `text.lower()` in order, punctuation included; blank text has none.

    The result equals `nltk.word_tokenize(text.lower())` of NLTK 3.9.1 with punkt_tab English.
    """
    return tuple(chain.from_iterable(map(_tokenizer(), sentences(text.lower()))))


def sentences(text: str) -> list[str]:
    """Return the sentences of lowercase `text` in order; blank text has none.

    The result equals `nltk.sent_tokenize(text)` of NLTK 3.9.1 wherever `text == text.lower()`.
    """
    found: list[str] = _punkt().tokenize(text)
    return found
