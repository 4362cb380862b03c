"""Texts of probes in English and Chinese: refusals, vague, long and reformatted answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from eval.datasets.types import Question
from eval.metrics.normalise import terms
from memsys.core.dates import MONTHS
from memsys.core.terms import STOPWORDS, is_cjk

_TEXTS = yaml.safe_load(Path(__file__).with_name("wording.yaml").read_text(encoding="utf-8"))
REFUSALS: Mapping[str, Sequence[str]] = _TEXTS["refusals"]
_LONG: Mapping[str, Sequence[str]] = _TEXTS["long"]
_VAGUE = {
    language: [(re.compile(asked), phrase) for asked, phrase in rows]
    for language, rows in _TEXTS["vague"].items()
}
_TOPIC = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_TOPIC_WORDS = 4
_ASKING = STOPWORDS | set("s t many much long often date day month year time".split())
_ANY = "|".join(MONTHS)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_ANY}),? (\d{{4}})\b")
_MONTH_FIRST = re.compile(rf"\b({_ANY}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b")
_CHINESE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]")
_DATED = re.compile(rf"\b(?:{_ANY})\b|\d{{4}}|\d[年月日号]", re.IGNORECASE)

_WORDS = "two three four five six seven eight nine ten eleven twelve".split()  # "one" is a pronoun
_TO_FIGURE = {word: str(n) for n, word in enumerate(_WORDS, 2)}
_TO_WORD = {figure: word for word, figure in _TO_FIGURE.items()}
_EDGE = r"(?![\w:/%°-]|[.,]\d)"
# A number before what it counts, or alone: never the number of a title ("Part 2", "it takes two").
_WORD = re.compile(
    rf"(?<![\w-])({'|'.join(_WORDS)})(?= [a-z]){_EDGE}|^({'|'.join(_WORDS)})(?=\.?$)"
)
_FIGURE = re.compile(rf"(?<![\w.,:/$£€#-])(\d\d?)(?= [a-z]){_EDGE}|^(\d\d?)(?=\.?$)")

# Words by which the order of items carries meaning, in the question or in the answer.
_ORDERED = re.compile(
    r"\b(?:order|first|last|then|after|before|respectively|from|to|later|next|rank\w*|each)\b"
    r"|先|后|依次|分别|顺序|各|从|到",
    re.IGNORECASE,
)
_ITEM_WORDS = 4
_CLAUSE = re.compile(r"\b(?:is|are|was|were|has|have|had|who|which|that|because|but|or)\b", re.I)


def buried(answer: str) -> str:
    """Return a long answer with `answer`, verbatim, in the middle, in its language."""
    before, after = _LONG["zh" if is_cjk(answer) else "en"]
    stop = "" if answer.endswith((".", "!", "?", "。")) or is_cjk(answer) else "."
    return before + answer.rstrip("。" if is_cjk(answer) else "") + stop + after


def vague(question: Question) -> str | None:
    """Return an answer on the topic without information, or None.

    It combines words of the question with a stock phrase for the requested kind of answer. None if
    it would contain all of the gold's terms.
    """
    text = question.text
    if is_cjk(text):
        stock = next(phrase for asked, phrase in _VAGUE["zh"] if asked.search(text))
        answer = f"{stock}，他们聊天的时候说起过。"
    else:  # in "What did the man who left sell?", the first question word decides
        matches = ((asked.search(text.lower()), phrase) for asked, phrase in _VAGUE["en"])
        found = [(match.start(), phrase) for match, phrase in matches if match]
        stock = min(found, key=lambda one: one[0])[1]
        topic = [word for word in _TOPIC.findall(text) if word.lower() not in _ASKING][
            :_TOPIC_WORDS
        ]
        about = f" It has to do with {', '.join(topic)}." if topic else ""
        answer = f"{stock[0].upper()}{stock[1:]}.{about}"
    return None if set(terms(question.gold or "")) <= set(terms(answer)) else answer


def reformatted(question: str, gold: str) -> str | None:
    """Return `gold` with its dates, numbers or list order changed; None if none can be.

    The bag of normalised terms is unchanged, so a correct judge passes the result.
    """
    changed = _dates(gold)
    if changed == gold and not _DATED.search(gold):
        changed = _numbers(gold)
    if changed == gold and not _ORDERED.search(question):
        changed = _list(gold)
    same = Counter(terms(changed)) == Counter(terms(gold))
    return changed if same and changed != gold else None


def _dates(text: str) -> str:
    """Rewrite dates: 7 May 2023 -> May 7th, 2023 -> 2023-05-07; 2024年3月8日 -> 2024-03-08."""
    text, count = _DAY_FIRST.subn(lambda m: f"{m[2]} {_ordinal(int(m[1]))}, {m[3]}", text)
    if not count:
        text = _MONTH_FIRST.sub(
            lambda m: f"{m[3]}-{MONTHS.index(m[1]) + 1:02}-{int(m[2]):02}", text
        )
    return _CHINESE.sub(lambda m: f"{m[1]}-{int(m[2]):02}-{int(m[3]):02}", text)


def _ordinal(day: int) -> str:
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _numbers(text: str) -> str:
    changed = _WORD.sub(lambda m: _TO_FIGURE[m[1] or m[2]], text)
    if changed != text:
        return changed
    return _FIGURE.sub(lambda m: _TO_WORD.get(m[1] or m[2], m[0]), text)


def _list(text: str) -> str:
    """Move the last of 3 or more items to the front: a, b, and c -> c, a, and b; also a、b、c.

    Without a comma before "and", only lists of names are changed: "tea, bread and butter" may be
    two items. The items have to be of similar length: in "a bowl of nuts, figs, and dates" the bowl
    contains all three.
    """
    if "、" in text and not re.search(r"[，。；,;和]", text):
        items = text.split("、")
        return "、".join([items[-1], *items[:-1]]) if len(items) > 2 else text
    body = text.rstrip(".")
    parts = re.split(r",? and |, ", body)
    lengths = [len(part.split()) for part in parts]
    if len(parts) < 3 or body.count(" and ") != 1 or _ORDERED.search(text) or _CLAUSE.search(text):
        return text
    if min(lengths) < 1 or max(lengths) > _ITEM_WORDS or max(lengths) - min(lengths) > 1:
        return text
    serial = ", and " in body
    if not serial and not all(part[0].isupper() for part in parts):
        return text
    *others, last = [parts[-1], *parts[:-1]]
    return ", ".join(others) + (", and " if serial else " and ") + last + text[len(body) :]
