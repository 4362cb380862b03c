"""The title of a text by rule, without a model: its most telling words, as written."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from memsys.core.terms import QUOTED, STOPWORDS, is_cjk

_PIECE = re.compile(r"[㐀-鿿豈-﫿]+|[^\W_㐀-鿿豈-﫿]+(?:['’-][^\W_㐀-鿿豈-﫿]+)*|[^\w\s]|\n")
_ASCII_PIECE = re.compile(r"[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*|[^\w\s]|\n")  # the same, sooner
SENTENCE_END = frozenset(".!?。！？:：\n[")
_WORDS, _CHARACTERS = 3, 8  # length of a title, in English words and in Chinese characters
_SHORT = 2  # letters of a word that is never a title
_NAME, _CHARACTER, _QUOTE = 2, 4, 1000  # weights; that of a common letter is 1
_REMEMBERED = 65_536  # pieces of text
# Words of small talk, which are about nothing: "thanks", "anything", "yesterday".
SMALL_TALK = frozenset(Path(__file__).with_name("small_talk.txt").read_text("utf-8").split())
SAY_NOTHING = STOPWORDS | SMALL_TALK
# Chinese has no spaces: text between pronouns and particles is taken as a phrase, without verbs and
# prepositions of one character at its ends.
_CJK_BREAKS = re.compile("[我你您他她它们咱的了是吗呢吧啊呀哦嗯也都就还又很和跟与在这那把被让着]+")
_CJK_ENDS = "对给从到向去来要想会能可以没不再已有上"


class _Phrase(NamedTuple):
    text: str
    weight: int


@lru_cache(maxsize=65_536)
def title_of(text: str, ignored: frozenset[str] = frozenset()) -> str:
    """Return the title of `text`: a quoted phrase, else the heaviest of its names and noun-like
    phrases; "" if it has no content word. Letters of a name count twice, of several equal phrases
    the first is taken. `ignored`: names of speakers, which say nothing about a topic.
    """
    names = frozenset(part.casefold() for name in ignored for part in name.split())
    return max(_phrases(text, names), key=lambda phrase: phrase.weight, default=_Phrase("", 0)).text


def _phrases(text: str, ignored: frozenset[str]) -> Iterator[_Phrase]:
    """Yield the phrases of `text`: quoted ones, Chinese ones, and runs of content words."""
    is_content = _content_words(ignored).__getitem__
    for quoted in QUOTED.findall(text):
        if any(is_content(piece) or is_cjk(piece) for piece in _PIECE.findall(quoted)):
            yield _Phrase(quoted.strip(), _QUOTE)
    words, weights = list[str](), list[int]()  # of a run
    before, has_chinese = "\n", is_cjk(text)
    pieces = [*(_ASCII_PIECE if text.isascii() else _PIECE).findall(text), "\n"]
    for piece, content in zip(pieces, map(is_content, pieces), strict=True):
        chinese = has_chinese and is_cjk(piece)
        if content and not chinese:
            words.append(piece)
            is_name = piece[0].isupper() and before not in SENTENCE_END
            weights.append(len(piece) * (_NAME if is_name else 1))
        else:
            if words:
                yield _heaviest(words, weights)
                words, weights = [], []
            if chinese:
                yield from _chinese(piece)
        before = piece


def _heaviest(words: list[str], weights: list[int]) -> _Phrase:
    """Return the heaviest part of a run of words that is short enough for a title."""
    if len(words) <= _WORDS:
        return _Phrase(" ".join(words), sum(weights))
    sums = [sum(weights[first : first + _WORDS]) for first in range(len(words) - _WORDS + 1)]
    first = sums.index(max(sums))
    return _Phrase(" ".join(words[first : first + _WORDS]), sums[first])


def _chinese(run: str) -> Iterator[_Phrase]:
    for part in _CJK_BREAKS.split(run):
        core = part.strip(_CJK_ENDS)[:_CHARACTERS]
        if len(core) > 1:
            yield _Phrase(core, _CHARACTER * len(core))


class _ContentWords(dict[str, bool]):
    """Maps a piece to whether it is a content word, as written or without its ending."""

    def __init__(self, ignored: frozenset[str]) -> None:
        super().__init__()
        self._ignored = ignored

    def __missing__(self, piece: str) -> bool:
        """Read a piece that is new; in a long life, all are forgotten now and then."""
        if len(self) >= _REMEMBERED:
            self.clear()
        word = piece.lower().replace("’", "'")
        bare = word.split("'")[0]  # of "how've", "tomorrow's"
        is_word = word[0].isalnum() and len(bare) > _SHORT and not bare.isdigit()
        both = (word, bare)
        self[piece] = is_word and SAY_NOTHING.isdisjoint(both) and self._ignored.isdisjoint(both)
        return self[piece]


_content_words = lru_cache(maxsize=4)(_ContentWords)  # those of a conversation's speakers
