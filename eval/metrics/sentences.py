"""Sentence boundaries of lowercase English text, as NLTK 3.9.1 with punkt_tab finds them.

Algorithm: Punkt (Kiss & Strunk, 2006, Unsupervised multilingual sentence boundary detection,
Computational Linguistics 32:485-525), behaviour of nltk/tokenize/punkt.py at release 3.9.1.

Every published BLEU-1 and set F1 that rests on `word_tokenize` lowercases first, and Punkt's
20,366-word table of upper and lower case can then change a decision for four words only: what a
capital letter would prove is never seen. So the table shrinks to `_OPENERS`, and with the 156
abbreviations and 37 collocations the whole model fits in this file: nothing to download, and no
NLTK version can move a score. Parameters: nltk_data packages/tokenizers/punkt_tab, English, by
Jan Strunk (MIT by the package's own descriptor); abbrev_types.txt sha256 92a3e070f43d9b4c,
collocations.tab 8e2da1225e4dd2cc, ortho_context.tab 4bbcca25ed3d3f06 (first 16 hex digits).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from string import whitespace

_NUMBER = "##number##"
# One entry of the model is no word: ". . " is what a spaced ellipsis leaves without its last dot.
_ABBREVIATIONS = frozenset(
    """a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v
    calif chg cie co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j feb
    fla fri ft g g.d g.f g.k ga gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan jr k
    kan ky l l.a l.f l.p lt ltd m m.b.a m.d.c m.j maj messrs mg mich minn mr mrs ms n n.c n.d n.h
    n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m p.m pa ph.d prof r r.a r.h r.i r.j r.k r.t rep
    reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t t.j tenn tues u.k u.n u.s u.s.a
    u.s.s.r v va vs vt w w.c w.r w.va w.w wash wed wis yr""".split()
) | {". . "}
_AFTER_A_NUMBER = """abreast aes business cbot colgate commodities cooper corrections credit
    dividend financing genentech henley insider international leisure letters notable pay-fone
    pegasus pepper review rj wedgestone who zimmer"""
_COLLOCATIONS = frozenset(
    [(_NUMBER, word) for word in _AFTER_A_NUMBER.split()]
    + [("b", name) for name in ("edelman", "levine", "smith", "stewart", "wigton")]
    + [("i", "magnin"), ("i", "toussie"), ("j", "aron"), ("j", "fialka"), ("j", "walter")]
    + [("o", "ludcke")]
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


def sentences(text: str) -> list[str]:
    """Return the sentences of lowercase `text` in order; blank text has none.

    Equal to `nltk.sent_tokenize(text)` of NLTK 3.9.1 wherever `text == text.lower()`.
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
    """Yield marks that may end a sentence, each with its word and what follows; one mark a word."""
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
    """Return whether `token` alone does: a mark, or a full stop of no abbreviation."""
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
