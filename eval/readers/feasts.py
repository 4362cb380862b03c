"""Feasts that fall on the same day every year, as dialogue speaks of them."""

from __future__ import annotations

import re
from datetime import date

from eval.readers.periods import Period, on_day

# Month and day.
_FEASTS = {
    "New Year's Day": (1, 1),
    "Valentine's Day": (2, 14),
    "Independence Day": (7, 4),
    "Halloween": (10, 31),
    "Christmas Eve": (12, 24),
    "Christmas Day": (12, 25),
    "New Year's Eve": (12, 31),
}
FEAST = (
    r"\b(?:(?P<which>[Ll]ast|[Nn]ext|[Tt]his|[Oo]n)\s+)"
    rf"(?P<feast>{'|'.join(_FEASTS)}|Christmas|New Year's|Valentine's)\b"
)


def feast(m: re.Match[str], said: date, ahead: bool) -> Period | None:
    """A feast of fixed date: the last one, or the next where plans are spoken of."""
    name = next(full for full in _FEASTS if full.startswith(m["feast"]))
    name = "Christmas Day" if m["feast"] == "Christmas" else name
    month, day = _FEASTS[name]
    if m["year"]:
        return on_day(date(int(m["year"]), month, day))
    found = date(said.year, month, day)
    after = m["which"].lower() == "next" or (ahead and m["which"].lower() != "last")
    if after and found < said:
        found = found.replace(year=said.year + 1)
    elif not after and found > said:
        found = found.replace(year=said.year - 1)
    return on_day(found)
