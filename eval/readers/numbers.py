"""Numbers in words and figures, English and Chinese."""

from __future__ import annotations

import re

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
_VALUES = {word: float(value) for value, word in enumerate(_UNITS)} | {
    "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "hundred": 100.0, "a": 1.0, "an": 1.0,
    "half": 0.5, "few": 3.0, "several": 3.0, "couple": 2.0, "dozen": 12.0, "some": 3.0,
}  # fmt: skip
# One group's worth of pattern: "three", "3", "a few", "a couple of", "half a".
COUNT = (
    r"(?:\d+(?:\.\d+)?|half an?|an?\s+(?:few|couple(?:\s+of)?|dozen)|couple(?:\s+of)?|few|several|"
    + "|".join(sorted([*_UNITS[1:], "thirty", "forty", "fifty"], key=len, reverse=True))
    + r"|an?)"
)
_ZH = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
ZH_COUNT = r"(?:\d+|[一二两三四五六七八九十百]+|几|半)"


def spell(number: int) -> str:
    """`2` as `two`; above twenty in figures."""
    return _UNITS[number] if 0 <= number <= 20 else str(number)


def count_of(text: str) -> tuple[float, str]:
    """The value of a text that `COUNT` matched, and the word that carried it (few, couple, 3)."""
    tokens = re.findall(r"[\w.]+", text.lower())
    carrier = next((t for t in tokens if t not in ("a", "an", "of")), "one")
    if carrier in _VALUES:
        return _VALUES[carrier], carrier
    return float(carrier), carrier


def zh_value(text: str) -> int | None:
    """The value of a text that `ZH_COUNT` matched, below 1000; None for 几 and 半."""
    if text.isdigit():
        return int(text)
    if text in ("几", "半") or not text:
        return None
    total, digit = 0, 0
    for char in text:
        if char in _ZH:
            digit = _ZH[char]
        else:
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
    return total + digit
