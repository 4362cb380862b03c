"""A conversation as rules look at it: turns, sentences and the cues that are unique in it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memsys.core.terms import STOPWORDS, terms
from memsys.core.titles import SMALL_TALK
from memsys.core.turns import line
from memsys.core.types import Conversation, Turn

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SHORTEST = 3  # letters of a content word
_MOST = 2  # words of a cue
_LONGEST = 400  # characters of a sentence; longer ones are tables, logs or lists
_OPENERS = frozenset(
    "a an the my our your his her their its this these those some any every each another new"
    " for of with in on at from about into by".split()
)
_VAGUE = frozenset(  # content words that name nothing by themselves
    "got getting gonna wanna going went made make making take took taking keep kept see saw seen"
    " know knew think thought look looking feel feeling felt say said tell told give gave given"
    " use used using need want wanted start started try tried trying work works working run sure"
    " one two way lot lots something someone time times new last next recently hope happy without"
    " within toward towards around across along behind beside among since until upon per"
    " via".split()
)


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
        parts = (one.strip() for one in _SENTENCE.split(_FENCED.sub("\n", self.turn.text)))
        return [one for one in parts if 0 < len(one) <= _LONGEST]


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
        return [index for index in first if all(_contains(one, index) for one in others)]

    def is_common(self, cue: Cue, most: int) -> bool:
        """Return whether `cue` has two words, each of which occurs in more than `most` turns."""
        return len(cue.terms) > 1 and all(len(self._turns_of[one]) > most for one in cue.terms)

    def mentions(self, cue: Cue, index: int) -> bool:
        """Return whether the turn `index` contains a word of `cue`."""
        return any(_contains(self._turns_of[term], index) for term in cue.terms)

    def _cue(self, sentence: str, run: list[re.Match[str]]) -> Iterator[Cue]:
        """Yield the phrase of the content words after the first word of `run`, if it has any."""
        if 2 <= len(run) <= _MOST + 1:
            text = sentence[run[1].start() : run[-1].end()]
            if len(set(found := terms(text))) == len(run) - 1:
                yield Cue(text, found, run[1].start(), run[-1].end())

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
