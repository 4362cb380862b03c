"""Dates in dialogue, English or Chinese, resolved against the day of the utterance."""

from __future__ import annotations

from datetime import date

from memsys.core.chinese_dates import find_dates_zh
from memsys.core.dates import DateMention
from memsys.core.english_dates import find_dates
from memsys.core.terms import is_cjk


def dates_of(text: str, said: date) -> tuple[DateMention, ...]:
    """Return every date that `text`, said on the day `said`, mentions, in order of position."""
    return find_dates_zh(text, said) if is_cjk(text) else find_dates(text, said)
