"""English dates in dialogue, resolved against the day of the utterance.

`find_dates` reads absolute dates ("7 May 2023", "May 7th", "in 2019", "on the 15th") and relative
ones ("yesterday", "last Friday", "two weeks ago", "next month", "last summer", "for three years
now"). The wording of the periods is that of `memsys.core.dates`.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from memsys.core import date_resolution as on
from memsys.core.dates import DateMention, find_mentions

_HINTS = re.compile(on.TABLE["hints"], re.IGNORECASE)
_PLANS = re.compile(on.TABLE["plans"], re.IGNORECASE)
_RULES = [
    (re.compile(pattern, re.IGNORECASE), on.RULES[rule]) for rule, pattern in on.TABLE["english"]
]


@lru_cache(maxsize=32_768)
def find_dates(text: str, said: date) -> tuple[DateMention, ...]:
    """Return every date that `text` mentions, resolved against `said`, in order of position.

    A bare weekday lies before `said`, unless words of plans ("will", "going to") put it after.
    """
    if not _HINTS.search(text):
        return ()
    return find_mentions(text, _RULES, said, _PLANS.search(text) is not None)
