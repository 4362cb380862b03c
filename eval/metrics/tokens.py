"""Words and sentences of lowercase English text, as NLTK 3.9.1 with punkt_tab finds them.

The words of a sentence are those of NLTK's Treebank tokeniser (nltk/tokenize/destructive.py, after
Robert MacIntyre's sed script, University of Pennsylvania, 1995). NLTK is pinned to 3.9.1: its
3.10 changed the rules, and with them published scores. The sentences are those of Punkt (Kiss &
Strunk, 2006, Unsupervised multilingual sentence boundary detection, Computational Linguistics
32:485-525), behaviour of nltk/tokenize/punkt.py at release 3.9.1.

Every published BLEU-1 and set F1 that rests on `word_tokenize` lowercases first, and Punkt's
20,366-word table of upper and lower case can then change a decision for four words only: the
evidence of capital letters is never available. So the table shrinks to `_OPENERS`, and with the 156
abbreviations and 37 collocations (punkt.yaml) nothing has to be downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from string import whitespace
from typing import TYPE_CHECKING

from eval.metrics.lean_import import import_alone
from memsys.core.yaml_text import load_table

if TYPE_CHECKING:
    from nltk.tokenize.destructive import NLTKWordTokenizer

_NUMBER = "##number##"
_TABLE = load_table(Path(__file__).parent / "punkt.yaml")
# One entry of the model is no word: ". . " is what a spaced ellipsis leaves without its last dot.
_ABBREVIATIONS = frozenset(_TABLE["abbreviations"].split()) | {". . "}
_COLLOCATIONS = frozenset(
    [(_NUMBER, word) for word in _TABLE["after_a_number"].split()]
    + [(initial, name) for initial, names in _TABLE["after"].items() for name in names.split()]
)
# The words that open a sentence in lower case and never occur with a capital.
_OPENERS = frozenset(("administrators", "b-week", "r-revised", "z-holiday"))

_CLOSED = r"""[)";}\]*:@'({\[?!]"""  # ends a word at any place
_DASH_OR_DOTS = r"-{2,}|\.{2,}|(?:\.\s){2,}\."
_TOKEN = re.compile(
    rf"""{_DASH_OR_DOTS}"""
    rf"""|(?=[^("`{{\[:;&#*@)}}\]\-,])\S+?"""  # a word, with the full stop that touches it,
    rf"""(?=\s|$|{_CLOSED}|{_DASH_OR_DOTS}|,(?=$|\s|{_CLOSED}|{_DASH_OR_DOTS}))"""  # up to its end
    rf"""|\S"""
)
_CANDIDATE = re.compile(rf"[.?!](?=(?P<after>{_CLOSED}|\s+(?P<next>\S+)))")
_NUMERIC = re.compile(r"-?[.,]?\d[\d,.-]*$")
_INITIAL = re.compile(r"[^\W\d]\.$")
_CLOSERS = re.compile(r"""["')\]}]+?(?:\s+|(?=--)|$)""", re.MULTILINE)


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """Return a function equal to `NLTKWordTokenizer().tokenize` for text in lower case.

    Of the rules, a text meets those whose characters it contains. `before` and `after` the text is
    padded with blanks: the characters without one of which a rule changes nothing, its pattern and
    its replacement. `parted`: the same for words that are divided.
    """
    nltk: type[NLTKWordTokenizer]
    nltk = import_alone("nltk.tokenize.destructive", "NLTKWordTokenizer", "nltk")
    starts = zip(("«“‘„`", '"', "`", "\"'", "'"), nltk.STARTING_QUOTES, strict=True)
    marks = (".", ":,", ":,", ".", ";@#$%&", ".", "?!", "'", "*")
    others = (("[](){}<>", nltk.PARENS_BRACKETS), ("-", nltk.DOUBLE_DASHES))
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
    spans = list(_spans(text))
    found: list[str] = []
    moved = 0  # characters of this span moved to the sentence before
    for (start, stop), following in zip(spans, [*spans[1:], None], strict=True):
        begin, end, moved = start + moved, stop, 0
        closers = _CLOSERS.match(text[slice(*following)]) if following else None
        if following and closers:  # a quote or bracket that closes this sentence, opens no other
            end, moved = following[0] + len(closers.group().rstrip()), closers.end()
        if text[begin:end]:
            found.append(text[begin:end])
    return found


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each stretch between boundaries; closing quotes come later."""
    start = 0
    for mark, context in _candidates(text):
        tokens = [token for line in context.split("\n") for token in _TOKEN.findall(line)]
        if any(_ends_sentence(token, following) for token, following in pairwise(tokens)):
            yield start, mark.end()
            start = mark.start("next") if mark["next"] else mark.end()
    yield start, len(text.rstrip())


def _candidates(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield marks that may end a sentence, one per word, each with its word and the next."""
    last: re.Match[str] | None = None
    word = stop = 0  # where the word of `last` starts, and the position of its mark
    for mark in _CANDIDATE.finditer(text):
        between = text[stop : mark.start()]
        space = max(between.rfind(character) for character in whitespace)
        begin = stop + space + 1 if space > 0 else word
        if last and stop <= begin:
            yield last, text[word : last.end()] + last["after"]
        last, word, stop = mark, begin, mark.start()
    if last:
        yield last, text[word : last.end()] + last["after"]


def _ends_sentence(token: str, following: str) -> bool:
    """Return whether `token` before `following` ends a sentence (Kiss & Strunk, section 4)."""
    if not _ends_by_itself(token):
        return False
    if not token.endswith("."):
        return True
    is_initial = _INITIAL.match(token) is not None
    kind = _kind(token, bare=True)
    next_kind = _kind(following, bare=_ends_by_itself(following))
    if (kind, next_kind) in _COLLOCATIONS:
        return False
    if is_initial or kind == _NUMBER:
        if following in (";", ":", ",", ".", "!", "?"):
            return False
        if following[0].islower() and next_kind not in _OPENERS:
            return False
        # Some capitals have no small form and survive lowercasing: an initial may precede them.
        return not (is_initial and following[0].isupper())
    return True


def _ends_by_itself(token: str) -> bool:
    """Return whether `token` alone ends a sentence: a mark, or a full stop of no abbreviation."""
    if token in (".", "?", "!"):
        return True
    if not token.endswith(".") or token.endswith(".."):
        return False
    stem = token[:-1]
    return stem not in _ABBREVIATIONS and stem.split("-")[-1] not in _ABBREVIATIONS


def _kind(token: str, *, bare: bool) -> str:
    """Return the word type: one for all numbers; a `bare` type has no final full stop."""
    if _NUMERIC.match(token):
        return _NUMBER
    return token[:-1] if bare and len(token) > 1 and token.endswith(".") else token
