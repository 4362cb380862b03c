"""What a question asks for, and what a text states, by word lists (English and Chinese)."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from memsys.core.terms import is_cjk

_NUMBER = "two|three|four|five|six|seven|eight|nine|ten|dozen|once|twice"
_SPAN = r"(?:night|day|week|weekend|month|year|spring|summer|autumn|fall|winter)"
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|just|(?:last|this|next) (?:{_SPAN}|"
    rf"{_WEEKDAY})|in {_MONTH}|(?:\d+|few|couple of|{_NUMBER}) {_SPAN}s)\b"
    "|昨[天晚]|今[天晚]|明天|前天|后天|刚刚|最近|[上下这]个?(?:周|星期|月|学期)|[去今明前]年|周末"
    "|[0-9一二两三四五六七八九十几半]+个?(?:天|周|星期|月|年)[前后]?",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"\d|\b(?:{_NUMBER})\b|[一二两三四五六七八九十百千]+(?:[次个天周月年岁只本张块元人件位场首])",
    re.IGNORECASE,
)
_ASKS_TIME = re.compile(
    r"^\W*when\b|\bwhat (?:date|day|month|year|time)\b|\bwhich (?:day|month|year)\b|\bhow long\b"
    "|什么时候|何时|哪[一]?[天年]|哪个?月|几[月号点]|多久|多长时间",
    re.IGNORECASE,
)
_ASKS_COUNT = re.compile(
    r"\bhow (?:many|often|long|much|old)\b|多少|几[个次天年岁只本张位]|多久|多大", re.IGNORECASE
)
_ASKS = re.compile(
    r"[?？؟]|^\W*(?:who|whom|whose|what|when|where|which|why|how|do|does|did|is|are|was|were|has|have"
    r"|had|can|could|will|would|should|list|name|tell|describe|give|find)\b|什么|谁|哪|吗|几个|多少|"
    "怎么|为何|为什么",
    re.IGNORECASE,
)
_I = re.compile(r"\b(?:i|i'm|i've|i'd|me|my|mine|myself)\b|我", re.IGNORECASE)
_YOU = re.compile(r"\b(?:you|your|yours|you've)\b|[你您]", re.IGNORECASE)
_ROLES = {"user": _I, "assistant": _YOU}


def is_question(text: str) -> bool:
    """Return whether `text` asks for something; a remark does not."""
    return _ASKS.search(text) is not None


def asks_time(question: str) -> bool:
    """Return whether `question` asks when something was, or for how long."""
    return _ASKS_TIME.search(question) is not None


def asks_count(question: str) -> bool:
    """Return whether `question` asks for a number."""
    return _ASKS_COUNT.search(question) is not None


def states_time(text: str) -> bool:
    """Return whether `text` names a time relative to the day on which it was said."""
    return _TIME.search(text) is not None


def states_count(text: str) -> bool:
    """Return whether `text` contains a number."""
    return _COUNT.search(text) is not None


def ends_as_question(text: str) -> bool:
    """Return whether the last sentence of `text` is a question."""
    return text.rstrip().endswith(("?", "？", "؟"))


def named_speaker(question: str, speakers: Collection[str]) -> str | None:
    """Return the one of `speakers` that `question` names by the first name; None for none or
    several. Between a user and an assistant, "I" is the user and "you" the assistant.
    """
    if _ROLES.keys() >= set(speakers):
        meant = [role for role, pronoun in _ROLES.items() if pronoun.search(question)]
        named = [role for role in meant if role in speakers] if len(meant) == 1 else []
    else:
        named = [one for one in dict.fromkeys(speakers) if _name(one).search(question)]
    return named[0] if len(named) == 1 else None


@lru_cache(maxsize=4096)
def _name(speaker: str) -> re.Pattern[str]:
    first = speaker.split()
    name = re.escape(first[0]) if first else r"(?!)"
    return re.compile(name if is_cjk(name) else rf"(?<!\w){name}(?!\w)", re.IGNORECASE)
