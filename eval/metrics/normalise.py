"""Normalisation: one spelling for equal answers, and the terms by which they are compared.

`normalise` writes numbers and dates in one way and opens contractions; it removes no word, so the
text can still be read and divided. `terms` are the units that the strict F1 compares.

Number words become figures: "twenty-one" and 二十一 are 21, "second" is 2nd, and "1.5 million" and
150万 are 1500000. Vague amounts ("a few", "dozens", 几) are unchanged. "one" is always 1, also the
pronoun: answer and gold answer are treated alike.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from unicodedata import normalize

from eval.metrics.dates import in_parts, words_of
from memsys.core.numbers import CARDINALS, CHINESE_DIGITS, CHINESE_SCALES, ONES, TENS
from memsys.core.terms import stem
from memsys.core.yaml_text import load_table

ARTICLES = frozenset(("a", "an", "the"))

# Written without spaces: Chinese and Japanese characters.
CJK = "㐀-鿿豈-﫿ぁ-ヺ々〇𠀀-𲎯"
_TERM = re.compile(
    rf"[{CJK}]|(?<!\S)-\d+(?:[.:]\d+)*|\d+(?:[.:]\d+)*(?:(?:st|nd|rd|th|s)\b)?|[^\W_{CJK}]+"
)
_Rule = tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]
_QUOTES = str.maketrans("‘’ʼ＇`´‐‑‒–—―−⁄", "''''''-------/", "\u00ad\u200b\u200c\u200d\u2060\ufeff")


def _rules(rows: Iterable[tuple[str, str, str | None]]) -> list[_Rule]:
    def closed(m: re.Match[str]) -> str:
        return m[0].replace(",", "").replace(".", "")

    return [(part, re.compile(row), closed if new is None else new) for part, row, new in rows]


_TABLE = load_table(Path(__file__).parent / "spelling.yaml")
_CONTRACTIONS, _SIGNS = _rules(_TABLE["contractions"]), _rules(_TABLE["signs"])
_LETTER_AFTER_DIGIT = re.compile(r"\d[a-z]")


def fold(text: str) -> str:
    """Return `text` in one width, case and set of quotes and digits (NFKC and case folding)."""
    if text.isascii():
        return text.lower()
    before, folded = "", text
    while before != folded:  # a few characters take two rounds
        before, folded = folded, normalize("NFKC", folded.translate(_QUOTES).casefold())
    return re.sub(r"\d", lambda m: str(int(m[0])), folded)


def _respell_words(text: str) -> str:
    for part, pattern, replacement in (*(_CONTRACTIONS if "'" in text else ()), *_SIGNS):
        if part in text if part else _LETTER_AFTER_DIGIT.search(text):
            text = pattern.sub(replacement, text)
    return text


def _spaced(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=65_536)
def normalise(text: str) -> str:
    """Return `text` in lower case with numbers in figures, dates in parts and full contractions.

    "She won't pay $1,200 on May 7th" becomes "she will not pay dollars 1200 on month5 day7".
    Nothing but apostrophes, currency and percent signs is removed. Normalising twice changes
    nothing: rules are applied until the text is stable ("5/7/2023may").
    """
    plain, settled = _spaced(fold(text)), 0
    for rewrite in cycle(_REWRITES):
        before, rewritten = plain, rewrite(plain)
        if rewritten is not plain:
            plain = _spaced(rewritten)
        settled = settled + 1 if plain == before else 0
        if settled == len(_REWRITES):
            break
    return plain


@lru_cache(maxsize=65_536)
def terms(text: str) -> tuple[str, ...]:
    """Return the terms of `normalise(text)` in order: Porter stems, numbers, CJK characters.

    Punctuation and articles are dropped, but not where nothing else is left ("A").
    """
    words = _TERM.findall(normalise(text))
    return tuple(map(_term, [word for word in words if word not in ARTICLES] or words))


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    # Porter leaves words of two letters alone; Snowball's would make "is" the "i" of "I".
    return stem(word) if len(word) > 2 and word.isalpha() else word


_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_MULTIPLIERS = {"dozen": 12, "hundred": 100} | _SCALES
_BY_SOUND = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
             "nine": "ninth", "twelve": "twelfth"}  # fmt: skip
_ORDINALS = {
    _BY_SOUND.get(word, re.sub("y$", "ie", word) + "th"): word
    for word in (*ONES[1:], *TENS, "hundred", "thousand", "million")
}

_WORD = "|".join(sorted({*CARDINALS, *_MULTIPLIERS, *_ORDINALS}, key=len, reverse=True))
# "second" after a count is the unit of time; after a hyphen ("twenty-second") it is an ordinal.
_RUN = re.compile(
    rf"(?<![\w.])(?:\d+(?:\.\d+)?[ -](?=(?:{'|'.join(_MULTIPLIERS)})\b)"
    r"|(?<!\d[ -])(?<!\d(?:st|nd|rd|th) )(?=second\b)|(?!second\b))"
    rf"(?:{_WORD})\b(?:(?:-| (?!second\b)|(?<=hundred) and |(?<=thousand) and )(?:{_WORD})\b)*"
    r"(?P<unit> second\b)?"
)
_WORDS = frozenset(_WORD.split("|"))

_D = "".join(CHINESE_DIGITS)
_S = r"(?:[十百万亿]|千(?![克米瓦卡赫]))"  # 千克 is a kilogram
_ZH_RUN = re.compile(rf"(?:(?<![\d.])\d+(?:\.\d+)? ?(?=[百千万亿]){_S}|[{_D}十])(?:[{_D}]|{_S})*")


def _ordinal(value: str) -> str:
    teen = value[-2:-1] == "1"
    return value + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(value[-1], "th"))


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


class _Reading:
    """A number being parsed: the sum of finished scales, and the open group below 1000."""

    def __init__(self) -> None:
        self.done = Decimal(0)
        self.group: Decimal | None = None
        self.room = Decimal(1000)  # what comes next must be smaller than this
        self.scale = Decimal(10**12)
        self.started = False

    def takes(self, word: str) -> bool:
        """Add `word` and return True, or return False and change nothing if it starts a new
        number.
        """
        if word in CARDINALS:
            value = Decimal(CARDINALS[word])
            if (value == 0 and self.started) or value >= self.room:
                return False
            self.group = (self.group or Decimal(0)) + value
            self.room = Decimal(10 if value in range(20, 100, 10) else 0)
        elif word in _SCALES:
            value = Decimal(_SCALES[word])
            if (self.started and self.group is None) or value >= self.scale:
                return False
            self.done += (1 if self.group is None else self.group) * value
            self.group, self.room, self.scale = None, Decimal(1000), value
        else:
            if self.group is not None and self.group >= 100:
                return False
            value = Decimal(_MULTIPLIERS[word])
            self.group = (1 if self.group is None else self.group) * value
            self.room = Decimal(100 if word == "hundred" else 0)
        self.started = True
        return True

    def value(self) -> str:
        """Return the parsed number in figures."""
        return _plain(self.done + (self.group or 0))


def _read(m: re.Match[str]) -> str:
    """Return figures for the number words of a match of `_RUN`: "one two" is two numbers."""
    figures: list[str] = []
    reading = _Reading()
    for word in re.findall(r"\d[\d.]*|\b(?!and\b)[a-z]+", m[0].removesuffix(m["unit"] or "")):
        if word[0].isdigit():
            reading.group, reading.room, reading.started = Decimal(word), Decimal(0), True
            continue
        cardinal = _ORDINALS.get(word, word)
        if not reading.takes(cardinal):
            figures.append(reading.value())
            reading = _Reading()
            reading.takes(cardinal)
        if word in _ORDINALS:
            figures.append(_ordinal(reading.value()))
            reading = _Reading()
    if reading.started:
        figures.append(reading.value())
    return " ".join(figures) + (m["unit"] or "")


def _read_zh(m: re.Match[str]) -> str:
    """Return figures for a run of Chinese number characters, between spaces."""
    run = m[0].replace(" ", "")
    if all(char in CHINESE_DIGITS for char in run):
        # From four on a year or a number read out (二〇二三); fewer are a choice (两三).
        return f" {('' if len(run) >= 4 else ' ').join(str(CHINESE_DIGITS[char]) for char in run)} "
    figures: list[str] = []
    total = section = Decimal(0)
    digit: Decimal | None = None
    last = 1  # the scale read last; 0 after a zero, which ends the short form 一百二 = 120
    for part in re.findall(r"\d[\d.]*|\D", run):
        if part in CHINESE_SCALES:
            scale = CHINESE_SCALES[part]
            if scale < 10**4:
                section += (1 if digit is None else digit) * scale
            else:
                group = section + (digit or 0)
                total = total + group * scale if group else (total or Decimal(1)) * scale  # 一万亿
                section = Decimal(0)
            digit, last = None, scale
        else:
            if digit is not None and digit != 0:
                figures.append(_plain(total + section + digit))
                total = section = Decimal(0)
                last = 1
            digit = Decimal(CHINESE_DIGITS[part]) if part in CHINESE_DIGITS else Decimal(part)
            last = 0 if digit == 0 else last
    short = last // 10 if last >= 100 else 1
    figures.append(_plain(total + section + (digit or 0) * short))
    return f" {' '.join(figures)} "


def in_figures(text: str) -> str:
    """Return `text`, folded to lower case, with its number words as figures.

    English cardinals and ordinals below 10^12, also with "and" after hundred and thousand; Chinese
    by digit and scale (两千零五, 二〇二三), also the short form 一百二 = 120.
    """
    if not _WORDS.isdisjoint(words_of(text)):
        text = _RUN.sub(_read, text)
    return text if text.isascii() else _ZH_RUN.sub(_read_zh, text)


_REWRITES = (_respell_words, in_figures, in_parts)
