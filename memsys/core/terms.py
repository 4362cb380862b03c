"""Words and index terms, for English and Chinese, and the language of a conversation.

English and Chinese are detected by their function words, where these are many. The language of any
other text is that of a naive Bayes classifier over byte n-grams, py3langid (Lui and Baldwin, 2012,
"langid.py"): 97 languages, offline and deterministic. One definition of words serves BM25, the
graph built by rules and the reader without a model, so that a difference between two strategies is
never a difference between two tokenisers.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from Stemmer import Stemmer

_WORD = re.compile(r"[㐀-鿿豈-﫿]+|[^\W_㐀-鿿豈-﫿]+(?:['’][^\W_㐀-鿿豈-﫿]+)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")  # as _WORD, in half the time
_CJK = re.compile(r"[㐀-鿿豈-﫿]")
QUOTED = re.compile(r"[\"“”「『《]([^\"“”「」『』《》]{2,40})[\"“”」』》]")
_STEMMER = Stemmer("porter")

# Function words only, question words included.
STOPWORDS = frozenset(Path(__file__).with_name("stopwords.txt").read_text("utf-8").split())
_CJK_STOP = frozenset(
    "的了是在和有吗呢吧啊呀哦嗯也都就还又很我你他她它们这那个么什怎哪谁为着过给把被让"
)


def is_cjk(text: str) -> bool:
    """Return whether `text` contains a Chinese character."""
    return not text.isascii() and _CJK.search(text) is not None


def words(text: str) -> tuple[str, ...]:
    """Return the lowercase words in order; a run of Chinese characters is one word."""
    return tuple(map(_lower, written(text)))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the Porter stem (1980; Snowball's `porter`) of a lowercase word without its 's."""
    return str(_STEMMER.stemWord(word.removesuffix("'s")))


def cjk_terms(run: str) -> list[str]:
    """Return the bigrams of a Chinese run (Nie et al., 2000); a single character is returned as is.
    Bigrams of two function characters, and a single function character, are dropped.
    """
    if len(run) == 1:
        return [] if run in _CJK_STOP else [run]
    pairs = (run[i : i + 2] for i in range(len(run) - 1))
    return [pair for pair in pairs if not (pair[0] in _CJK_STOP and pair[1] in _CJK_STOP)]


@lru_cache(maxsize=65_536)
def terms(text: str) -> tuple[str, ...]:
    """Return the index terms in order: stems of content words, bigrams of Chinese runs."""
    return tuple(chain.from_iterable(map(word_terms, written(text))))


def written(text: str) -> list[str]:
    """Return the words and Chinese runs of a text as written, in order."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


@lru_cache(maxsize=65_536)
def word_terms(word: str) -> tuple[str, ...]:
    """Return the index terms of one word or Chinese run as written."""
    lower = _lower(word)
    if is_cjk(lower):
        return tuple(cjk_terms(lower))
    return () if lower in STOPWORDS else (stem(lower),)


@lru_cache(maxsize=65_536)  # so that equal words of many texts are one string
def _lower(word: str) -> str:
    return word.lower().replace("’", "'")


UNDETERMINED = "und"  # the ISO 639 code where nothing can be said
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_TEXTS = 100  # that are read, evenly spread
_CHARACTERS = 3_000  # that are read at most
# Function words that hardly another language has: English chats have 0.09 to 0.21 of their letters
# in them, Chinese ones 0.28 in those of `_CJK_STOP`.
_ENGLISH = frozenset(
    "about and because but could couldn't did didn't does doesn't doing don't from have haven't "
    "he's how i'd i'll i'm i've isn't it's let's she she's should that that's the their them there "
    "these they they're they've this those wasn't we'll we're we've were what what's when where "
    "which while who why with would you you'll you're you've your yours".split()
)
_SHARES = {"en": 1 / 12, "zh": 1 / 5}  # of the letters, from which function words decide
_ENOUGH = 40  # bytes of words; below, one English text in fifty is taken for another language


def covers(languages: frozenset[str] | None, language: str) -> bool:
    """Return whether `language` is one of `languages`; True where either is unknown."""
    return languages is None or language == UNDETERMINED or language in languages


def language_of(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of the language that most of `texts` is in, such as "en" or "zh";
    "und" if there are too few words to say.

    At most 100 texts are read, evenly spread, each from its beginning, 3,000 characters in all.
    Digits, punctuation and emoji do not count.
    """
    n = min(len(texts), _TEXTS)
    sample = (texts[i * len(texts) // n][: _CHARACTERS // n] for i in range(n))
    words = " ".join(word for text in sample for word in _LETTERS.findall(text))
    if len(words.encode()) < _ENOUGH:
        return UNDETERMINED
    return _by_function_words(words) or _likeliest(words)


def _by_function_words(words: str) -> str | None:
    """Return "en" or "zh" if function words of that language have enough of the letters."""
    split = list(map(_lower, words.split(" ")))
    counts = {
        "en": sum(len(word) for word in split if word in _ENGLISH),
        "zh": sum(character in _CJK_STOP for character in words),
    }
    letters = sum(map(len, split))
    return next((code for code, n in counts.items() if n > _SHARES[code] * letters), None)


@lru_cache(maxsize=256)
def _likeliest(words: str) -> str:
    import py3langid  # noqa: PLC0415 - see load_classifier

    # Latin attracts English with foreign words, and nobody chats in it.
    return next(str(code) for code, _ in py3langid.rank(words) if code != "la")


def load_classifier() -> None:
    """Load the classifier of texts whose function words do not decide: 0.1 s, and 30 MB while it
    loads.
    """
    _likeliest("")
