"""Short answers extracted from sentences: the stretch of each with the greatest weight.

This is the maximum-sum segment of the token weights (Bentley, 1984), so that an answer's length
follows from its words. A list is made of several such spans.

New content words weigh most near (and best after) words of the question, and more where they are
of the type asked for; function words and punctuation weigh below 0. Chinese needs no word list of
its content: function characters, small talk and the bigrams of the question show where an answer
begins and ends. Constants and English word lists were set by hand on five of the ten LoCoMo
conversations (26, 30, 41, 42, 43), so results on those five favour the reader; only the ratios of
the constants matter.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from eval.readers.evidence import ScoredSentence
from eval.readers.parsing import SENTENCES, WORDS, Kind, ParsedQuestion, is_light, root, roots

_TOKEN, _NAMED = (re.compile(SENTENCES[name]) for name in ("token", "named"))
_TOKEN_ZH, _ZH_PUNCTUATION, _ZH_FUNCTION, _ZH_SMALL_TALK, _ZH_PLACE, _ZH_QUANTITY = (
    re.compile(SENTENCES[f"{name}_zh"])
    for name in ("token", "punctuation", "function", "small_talk", "place", "quantity")
)

COST = 0.18  # subtracted from every token, so that only informative words lengthen an answer
CLAUSE_COST = 0.08  # the same where a clause is asked for: why, how
MOOD = 1.0  # a word of feeling or judgement where one is asked for
ASKED = 0.05  # a word of the question itself, less its cost
AFTER = 0.92  # share left with each token between a word of the question and one after it
BEFORE = 0.9
FLOOR = 0.3  # weight of a new word at any distance from the words of the question
ALONE = 0.45  # the same in a sentence without a word of the question
COMMON_SHARE = 0.3
FILLER_SHARE = 0.1
TYPED = 0.8
SOFT = -0.2  # comma, quotation mark
HARD = -3.0  # any other punctuation ends an answer
_COMMON, _FILLERS, _KIN, _MOODS = (
    frozenset(WORDS[name].split()) for name in ("common", "fillers", "kin", "moods")
)
_OPENERS = {Kind(kind): frozenset(words.split()) for kind, words in WORDS["openers"].items()}
_PLACES = frozenset(("in", "at", "to", "from", "near", "around", "through"))
_NEAR_PLACE = 3  # tokens after such a preposition that may be the place
EVIDENCE = 1.2  # weight of a sentence's evidence score beside that of its words
NEAR = 0.6  # an item of a list needs this share of the best item's evidence score

# Chinese, by characters.
ZH_NEW = 0.5
ZH_COST = 0.1
ZH_ASKED = -0.15  # a character of the question
ZH_LIGHT = -0.25  # a function character
ZH_AFTER = 0.95
ZH_BEFORE = 0.93
ZH_TYPED = 0.5
ZH_PAUSE = -0.15  # the comma of a list


def _near(matched: list[bool], after: float, before: float) -> list[float]:
    """Return for each token its nearness, 0 to 1, to a word of the question.

    `after` and `before`: share of the nearness left with each token of distance.
    """
    if not any(matched):
        return [ALONE] * len(matched)
    near, last = [], 0.0
    for match in matched:
        last = 1.0 if match else last * after
        near.append(last if last > FLOOR else FLOOR)
    last = 0.0
    for i in range(len(matched) - 1, -1, -1):
        last = 1.0 if matched[i] else last * before
        near[i] = max(near[i], last)
    return near


class _Token(NamedTuple):
    """A match of `_TOKEN` in lower case, and what follows from its sentence alone.

    `capital`: it begins with a capital inside of a sentence; `placed`: shortly after a preposition
    of place. `mark`: the weight of punctuation, None of a word; `part`: the share of a word's
    weight that it has, None if it is light.
    """

    low: str
    root: str
    capital: bool
    placed: bool
    digit: bool
    mark: float | None
    part: float | None


@lru_cache(maxsize=8_192)
def _tokens(text: str) -> tuple[tuple[_Token, ...], tuple[tuple[int, int], ...]]:
    """Return the tokens of an English sentence, which many questions may ask about, and start and
    end of each.
    """
    matches = list(_TOKEN.finditer(text))
    tokens, before, away = [], "", _NEAR_PLACE + 1  # tokens since a preposition of place
    for word in [match[0] for match in matches]:
        inside = before != "" and (before.isalnum() or before in ",&'\"“")
        token = _token(word, inside, away <= _NEAR_PLACE)
        tokens.append(token)
        before, away = word, 1 if token.low in _PLACES else away + 1
    return tuple(tokens), tuple([match.span() for match in matches])


@lru_cache(maxsize=65_536)  # so that equal tokens of many sentences are one object
def _token(word: str, inside: bool, placed: bool) -> _Token:
    """Return a token; `inside` of a sentence, and `placed`: see _Token."""
    low, is_word = word.lower(), word[0].isalnum()
    part = FILLER_SHARE if low in _FILLERS else COMMON_SHARE if low in _COMMON else 1.0
    return _Token(
        low,
        root(low) if is_word else "",
        capital=word[0].isupper() and inside,
        placed=placed,
        digit=word[0].isdigit(),
        mark=None if is_word else SOFT if word in ",'‘’&/" else HARD,
        part=None if is_light(low) else part,
    )


@lru_cache(maxsize=4_096)
def _asks_a_name(question: str) -> bool:
    return _NAMED.search(question) is not None


def _token_weights(
    question: ParsedQuestion, tokens: Sequence[_Token], names: frozenset[str]
) -> list[float]:
    """Return a weight for each of `tokens`, more for one of the type asked for.

    `names`, the lowercase names of the speakers, weigh nothing unless a person is asked for.
    """
    asked, kind = question.roots, question.kind
    openers = _OPENERS.get(kind, frozenset())
    near = _near([token.root in asked or token.low in openers for token in tokens], AFTER, BEFORE)
    cost = CLAUSE_COST if kind in (Kind.WHY, Kind.HOW) else COST
    who, where, counted = kind is Kind.WHO, kind is Kind.WHERE, kind is Kind.COUNT
    moods = _MOODS if kind is Kind.MOOD else frozenset()
    unnamed = frozenset() if who else names
    named = not (who or where or counted) and _asks_a_name(question.text)
    weights = []
    for (low, root_, capital, placed, digit, mark, part), nearness in zip(
        tokens, near, strict=True
    ):
        if mark is not None:
            weights.append(mark)
        elif low in moods:
            weights.append(MOOD)
        elif root_ in asked:
            weights.append(ASKED - cost)
        elif part is None or low in unnamed:
            weights.append(-cost)
        else:
            if where:
                bonus = TYPED * (0.7 * capital + 0.5 * placed)
            elif (capital and (who or named)) or (digit and counted) or (who and low in _KIN):
                bonus = TYPED
            else:
                bonus = 0.0
            weights.append(part * (nearness + bonus) - cost)
    return weights


def _marked(pattern: re.Pattern[str], text: str, group: int | str = 0) -> set[int]:
    """Return the positions of all characters in matches of `pattern`, or of its `group`."""
    return {i for m in pattern.finditer(text) for i in range(m.start(group), m.end(group))}


def _token_weights_zh(
    question: ParsedQuestion, text: str, places: list[re.Match[str]]
) -> list[float]:
    """Return a weight for each of `places`, the matches of `_TOKEN_ZH` in `text`."""
    small_talk = _marked(_ZH_SMALL_TALK, text)
    typed: set[int] = set()
    if question.kind is Kind.WHERE:
        typed = _marked(_ZH_PLACE, text, "place")
    elif question.kind is Kind.COUNT:
        typed = _marked(_ZH_QUANTITY, text)
    starts = [m.start() for m in places]
    matched = [
        any(text[max(0, i - k) : i - k + 2] in question.roots for k in (0, 1)) for i in starts
    ]
    near = _near(matched, ZH_AFTER, ZH_BEFORE)
    weights = []
    for m, hit, nearness in zip(places, matched, near, strict=True):
        at, piece = m.start(), m[0]
        if _ZH_PUNCTUATION.fullmatch(piece):
            weights.append(ZH_PAUSE if piece in "、“”「」《》‘’" else HARD)
        elif hit:
            weights.append(ZH_ASKED)
        elif _ZH_FUNCTION.fullmatch(piece) or at in small_talk:
            weights.append(ZH_LIGHT)
        else:
            weights.append(ZH_NEW * (nearness + ZH_TYPED * (at in typed)) - ZH_COST)
    return weights


class Span(NamedTuple):
    """A stretch of a sentence, with its weight: that of the words and that of the evidence."""

    text: str
    weight: float
    source: ScoredSentence


def _segment(values: list[float], most: int) -> tuple[float, int, int]:
    """Return sum, start and end (excluded) of the best stretch of at most `most` tokens."""
    best = (0.0, 0, 0)
    for start, first in enumerate(values):
        if first <= 0:
            continue
        total = 0.0
        for end, value in enumerate(values[start : start + most], start + 1):
            total += value
            if total > best[0]:
                best = (total, start, end)
            if total < HARD / 2:
                break
    return best


def spans(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], names: frozenset[str], most: int
) -> list[Span]:
    """Return the best stretch, of at most `most` tokens, of each sentence; best first."""
    result = []
    for item in sentences:
        text = item.sentence.text
        places: Sequence[tuple[int, int]]
        if question.chinese:
            pieces = list(_TOKEN_ZH.finditer(text))
            places = [piece.span() for piece in pieces]
            values = _token_weights_zh(question, text, pieces)
        else:
            tokens, places = _tokens(text)
            values = _token_weights(question, tokens, names)
        total, start, end = _segment(values, most)
        if end > start:
            cut = text[places[start][0] : places[end - 1][1]]
            result.append(Span(cut, total + EVIDENCE * item.score, item))
    result.sort(key=lambda span: -span.weight)
    return result


def list_answer(
    question: ParsedQuestion,
    sentences: Sequence[ScoredSentence],
    names: frozenset[str],
    most: int,
    items: int,
) -> str:
    """Return up to `items` spans of at most `most` tokens, of different memories, comma-separated.

    A memory contributes if its evidence is nearly as good as the best one's and its span adds
    something new to the list.
    """
    selected: list[Span] = []
    listed: set[str] = set()
    memories: set[str] = set()
    for span in spans(question, sentences, names, most):
        if span.source.memory.id in memories:
            continue
        new = roots(span.text) - question.roots
        if not new or len(new & listed) * 2 > len(new):
            continue
        if selected and span.source.score < NEAR * selected[0].source.score:
            continue
        selected.append(span)
        listed |= new
        memories.add(span.source.memory.id)
        if len(selected) == items:
            break
    return ", ".join(span.text for span in selected)
