"""Decomposition: a ranking for each conjunct of the question, interleaved.

Conjuncts are found by rule: "Ann and Ben", "books, films or songs", 王芳和李明.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from memsys.core.declared import Count, check_values
from memsys.core.terms import QUOTED, STOPWORDS, is_cjk
from memsys.core.types import Candidate, Query
from memsys.index.rank import Start
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

_PIECE = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*['’]?|[^\w\s]")
_AND = frozenset(("and", "or", "&"))
_PAIRED = re.compile(r"\s*\b(?:both|either|neither)\b", re.IGNORECASE)
# Words before a conjunct that belong to it: "the dog and the cat", "in Rome and in Oslo".
_BEFORE = frozenset("a an the his her their its my your our in on at to for from with of".split())
_LONGEST = 3  # words of a conjunct
_CJK_AND = re.compile("[和与跟、]")
# Characters that end a Chinese conjunct: punctuation, pronouns, particles, frequent verbs.
_CJK_BREAK = re.compile(
    "[^㐀-鿿豈-﫿]|[都在是的了吗呢们有为对给把被让从到去会想要喜最谁什哪怎各分一之这那我你他她它]"
)
_CJK_SHORT, _CJK_LONG = 2, 4  # characters of a Chinese conjunct


class Conjunction(NamedTuple):
    """Conjuncts in order, the text that they are in (`whole`), and one question for each: the
    question with this conjunct alone.
    """

    conjuncts: tuple[str, ...]
    whole: str
    questions: tuple[str, ...]

    @property
    def are_names(self) -> bool:
        """Return whether each conjunct begins with a capital, or has no case, as in Chinese."""
        return not any(text[0].islower() or text[0].isdigit() for text in self.conjuncts)


class _Span(NamedTuple):
    start: int
    end: int


def conjunction_of(question: str) -> Conjunction | None:
    """Return the first conjunction of names, noun phrases or clauses in a question, outside quotes;
    None if there is none.
    """
    quoted = [_Span(*match.span()) for match in QUOTED.finditer(question)]
    spans = _chinese(question, quoted) if is_cjk(question) else _english(question, quoted)
    if not spans:
        return None
    start, end = spans[0].start, spans[-1].end
    conjuncts = tuple(question[span.start : span.end] for span in spans)
    alone = (f"{question[:start]}{conjunct}{question[end:]}" for conjunct in conjuncts)
    questions = tuple(_PAIRED.sub("", text).strip() for text in alone)
    return Conjunction(conjuncts, question[start:end], questions)


def _english(text: str, quoted: Sequence[_Span]) -> list[_Span]:
    """Return the conjuncts at the first and, or, & that joins phrases."""
    spans = (_Span(*match.span()) for match in _PIECE.finditer(text))
    inside = [span for span in spans if not any(q.start <= span.start < q.end for q in quoted)]
    pieces = sorted([*inside, *quoted])  # a quotation is one piece
    words = [text[piece.start : piece.end] for piece in pieces]
    for place, word in enumerate(words):
        if word.lower() not in _AND:
            continue
        before = place - (place > 0 and words[place - 1] == ",")
        parts = [part for part in (_phrase_before(words, before),) if part]
        length = _LONGEST if not parts else parts[0].end - parts[0].start
        after = _phrase_after(words, place + 1, length)
        while parts and (comma := parts[0].start - 1) > 0 and words[comma] == ",":
            if (earlier := _phrase_before(words, comma)) is None:
                break
            parts.insert(0, earlier)
        if parts and after:
            return [_Span(pieces[a].start, pieces[b - 1].end) for a, b in [*parts, after]]
    return []


def _phrase_before(words: Sequence[str], end: int) -> _Span | None:
    """Return the phrase that ends before the word `end`: content words of one case."""
    first = end
    while first and end - first < _LONGEST and _joins(words, first - 1, end - 1):
        first -= 1
    if first == end:
        return None
    if first and words[first - 1].lower() in _BEFORE and first > 1:
        first -= 1
    return _Span(first, end)


def _phrase_after(words: Sequence[str], first: int, length: int) -> _Span | None:
    """Return the phrase that starts at the word `first`; see _phrase_before. It has at most
    `length` words unless it is a name: a verb may follow, as in "Ann and her kids made".
    """
    start = first + (first < len(words) and words[first].lower() in _BEFORE)
    is_name = start < len(words) and words[start][0].isupper()
    end, longest = start, _LONGEST if is_name else length
    while end < len(words) and end - start < longest and _joins(words, end, start):
        end += 1
        if words[end - 1].endswith(("'s", "’s", "s'", "s’")):
            break  # what follows belongs to every conjunct: Ann and Ben's studio
    return _Span(first, end) if end > start else None


def _joins(words: Sequence[str], place: int, head: int) -> bool:
    """Return whether the word at `place` may be in one phrase with that at `head`."""
    word = words[place]
    if not (word[0].isalnum() and words[head][0].isalnum()):
        return place == head and len(word) > 1  # a quotation is a phrase by itself
    is_content = word.lower() not in STOPWORDS and word.lower() not in _AND and place > 0
    is_alike = word[0].isupper() == words[head][0].isupper()
    return is_content and (is_alike or word[0].isdigit() or words[head][0].isdigit())


def _chinese(text: str, quoted: Sequence[_Span]) -> list[_Span]:
    """Return the conjuncts around the first 和, 与, 跟 or 、, each of 2 to 4 characters."""
    for match in _CJK_AND.finditer(text):
        if any(quote.start <= match.start() < quote.end for quote in quoted):
            continue
        spans = [_cjk_before(text, match.start()), _cjk_after(text, match.end())]
        while (start := spans[0].start) > 0 and _CJK_AND.match(text[start - 1]):
            spans.insert(0, _cjk_before(text, start - 1))
        while spans[-1].end < len(text) and _CJK_AND.match(text[spans[-1].end]):
            spans.append(_cjk_after(text, spans[-1].end + 1))
        if all(span.end - span.start >= _CJK_SHORT for span in spans):
            return spans
    return []


def _cjk_before(text: str, end: int) -> _Span:
    first = max([0, *(m.end() for m in _CJK_BREAK.finditer(text, 0, end))])
    joined = max([first, *(m.end() for m in _CJK_AND.finditer(text, first, end))])
    return _Span(max(joined, end - _CJK_LONG), end)


def _cjk_after(text: str, start: int) -> _Span:
    ends = (pattern.search(text, start) for pattern in (_CJK_BREAK, _CJK_AND))
    return _Span(start, min([start + _CJK_LONG, len(text), *(m.start() for m in ends if m)]))


class Decompose(Strategy):
    """One ranking per conjunct of the question ("both Ann and Ben"), interleaved without repeats.

    A question without conjuncts is ranked by the start ranking. So is one whose conjuncts are a
    unit in the memories ("Salt and Pepper"). Score of an interleaved memory: 1 / its rank.
    """

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        start: Start,
        conjuncts: Literal["names", "all"],
        whole: bool,
    ) -> None:
        """`conjuncts`: names (each begins with a capital or is Chinese) or all. `whole`: the
        ranking of the whole question takes part, as the first. Raises InputError on an unknown
        value.
        """
        check_values(Decompose, locals(), "strategy")
        super().__init__(parts, k, budget)
        self._start, self._names, self._whole = start, conjuncts == "names", whole

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by turns; the trace has the question of each conjunct."""
        conjunction = conjunction_of(query.text)
        if (
            conjunction is None
            or (self._names and not conjunction.are_names)
            or self._is_unit(conjunction)
        ):
            return self.best(self.store.ranking(query.text, self._start)), {}
        texts = [query.text, *conjunction.questions] if self._whole else conjunction.questions
        rankings = [self.best(self.store.ranking(text, self._start)) for text in texts]
        turns = (candidate for place in zip_longest(*rankings) for candidate in place if candidate)
        unique = {candidate.memory.id: candidate for candidate in turns}
        ranked = [replace(candidate, score=1 / n) for n, candidate in enumerate(unique.values(), 1)]
        return ranked[: self.reach], {"conjuncts": list(conjunction.questions)}

    def _is_unit(self, conjunction: Conjunction) -> bool:
        """Return whether the conjuncts occur together as written in at least half of the memories
        that have the rarest of them.
        """
        patterns = [
            re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", re.IGNORECASE)
            for text in (conjunction.whole, *conjunction.conjuncts)
        ]
        contents = [memory.content for memory in self.store.memories]
        together, *each = (sum(map(bool, map(pattern.search, contents))) for pattern in patterns)
        return 2 * together >= max(min(each), 1)
