"""A conversation as rules look at it: turns, sentences, the cues that are unique in it, and values
in a sentence: versions, paths, identifiers, numbers, names and dates.
"""

import re
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

from memsys.core.dates import MONTH_NUMBERS, WEEKDAYS
from memsys.core.english_dates import find_dates
from memsys.core.numbers import CARDINALS
from memsys.core.terms import QUOTED, STOPWORDS, terms
from memsys.core.titles import SMALL_TALK
from memsys.core.turns import line
from memsys.core.types import Conversation, Turn
from memsys.core.yaml_text import load_table

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SHORTEST = 3  # letters of a content word
_MOST = 2  # words of a cue
_LONGEST = 400  # characters of a sentence; longer ones are tables, logs or lists
_CARDINALS = "|".join(word for word, value in CARDINALS.items() if value > 2)  # not "you two"
TABLE = load_table(Path(__file__).with_name("patterns.yaml"), CARDINALS=_CARDINALS)
_OPENERS, _VAGUE = (frozenset(TABLE[name].split()) for name in ("openers", "vague"))


@dataclass(frozen=True, slots=True)
class Said:
    """A turn in its place: number in the conversation, session (from 0) and time of the session."""

    index: int
    session: int
    time: datetime
    turn: Turn

    @property
    def sentences(self) -> list[str]:
        """Sentences and lines of the turn outside blocks of code."""
        parts = (part.strip() for part in _SENTENCE.split(_FENCED.sub("\n", self.turn.text)))
        return [part for part in parts if 0 < len(part) <= _LONGEST]


@dataclass(frozen=True, slots=True)
class Cue:
    """A noun-like phrase of one or two content words of a sentence: as written, its index terms,
    and its characters `start` to `end`, `end` excluded.
    """

    text: str
    terms: tuple[str, ...]
    start: int
    end: int


class History:
    """A conversation with the turns in which each stem occurs."""

    def __init__(self, conversation: Conversation) -> None:
        self.id, self.speakers = conversation.id, conversation.speakers
        self.turns: list[Said] = []
        self._turns_of: dict[str, array[int]] = defaultdict(lambda: array("L"))
        self._names = {part.casefold() for name in self.speakers for part in name.split()}
        for number, session in enumerate(conversation.sessions):
            for turn in session.turns:
                index = len(self.turns)
                self.turns.append(Said(index, number, session.time, turn))
                for term in set(terms(line(turn))):
                    self._turns_of[term].append(index)

    def cues(self, sentence: str) -> Iterator[Cue]:
        """Yield the noun-like phrases of `sentence`: one or two content words after an article, a
        possessive or a preposition, which no other content word follows.
        """
        words = [*_WORD.finditer(sentence)]
        run: list[re.Match[str]] = []
        for place, word in enumerate(words):
            apart = place > 0 and sentence[words[place - 1].end() : word.start()] != " "
            if apart:
                yield from self._cue(sentence, run)
                run = []
            if run and self._is_content(word[0]):
                run.append(word)
                continue
            yield from self._cue(sentence, run)
            run = [word] if word[0].casefold() in _OPENERS else []
        yield from self._cue(sentence, run)

    def turns_with(self, cue: Cue) -> list[int]:
        """Return the numbers of the turns that contain all words of `cue`, wherever."""
        first, *others = sorted((self._turns_of[term] for term in cue.terms), key=len)
        return [index for index in first if all(_contains(turns, index) for turns in others)]

    def is_common(self, cue: Cue, most: int) -> bool:
        """Return whether `cue` has two words, each of which occurs in more than `most` turns."""
        return len(cue.terms) > 1 and all(len(self._turns_of[term]) > most for term in cue.terms)

    def mentions(self, cue: Cue, index: int) -> bool:
        """Return whether the turn `index` contains a word of `cue`."""
        return any(_contains(self._turns_of[term], index) for term in cue.terms)

    def _cue(self, sentence: str, run: list[re.Match[str]]) -> Iterator[Cue]:
        """Yield the phrase of the content words after the first word of `run`, if it has any."""
        if 2 <= len(run) <= _MOST + 1:
            text = sentence[run[1].start() : run[-1].end()]
            if len(set(words := terms(text))) == len(run) - 1:
                yield Cue(text, words, run[1].start(), run[-1].end())

    def _is_content(self, word: str) -> bool:
        word = word.casefold()
        return not (
            len(word) < _SHORTEST
            or any(word in words for words in (STOPWORDS, SMALL_TALK, _VAGUE, self._names))
        )


def _contains(indices: Sequence[int], index: int) -> bool:
    """Return whether the ascending `indices` contain `index`."""
    place = bisect_left(indices, index)
    return place < len(indices) and indices[place] == index


Kind = Literal["version", "path", "identifier", "date", "number", "name"]
_PATTERNS: Final = {kind: re.compile(pattern) for kind, pattern in TABLE["values"].items()}
_NO_NAMES = frozenset(MONTH_NUMBERS) | frozenset(WEEKDAYS) | STOPWORDS | SMALL_TALK


class Value(NamedTuple):
    """A value of a sentence and its characters `start` to `end`, `end` excluded.

    `text`: as written; of a date, its resolved wording.
    """

    kind: Kind
    text: str
    start: int
    end: int


def values(sentence: str, day: date, speakers: Collection[str]) -> list[Value]:
    """Return the values of `sentence`, said on the `day`, which do not overlap.

    `speakers`: their names are no values. Dates are resolved against `day`.
    """
    disjoint: list[Value] = []
    for value in _candidates(sentence, day, speakers):
        if all(value.end <= other.start or value.start >= other.end for other in disjoint):
            disjoint.append(value)
    return sorted(disjoint, key=lambda v: v.start)


def _candidates(sentence: str, day: date, speakers: Collection[str]) -> Iterator[Value]:
    """Yield possible values; of two that overlap, the first is right."""
    ignored = {part.casefold() for name in speakers for part in name.split()}
    for kind in ("identifier", "path", "version"):
        yield from _matches(kind, sentence)
    for date_ in find_dates(sentence, day):
        yield Value("date", date_.period.text, date_.start, date_.end)
    for match in QUOTED.finditer(sentence):
        if match[1][0].isupper():
            yield Value("name", match[1].strip(" ,.!?"), *match.span())
    yield from _matches("number", sentence)
    for value in _matches("name", sentence):
        first = value.text.split()[0].casefold()
        before = sentence[: value.start].split()[-1:]  # of "German Shepherds": no whole name
        is_speaker = any(name.startswith(first) for name in ignored)  # or a short form of the name
        if before and before[0][0].isupper() and before[0].isalpha():
            continue
        if first not in _NO_NAMES and not is_speaker and len(value.text) > 2:
            yield value


def _matches(kind: Kind, sentence: str) -> Iterator[Value]:
    for match in _PATTERNS[kind].finditer(sentence):
        yield Value(kind, match[1].rstrip(".-&"), *match.span())
