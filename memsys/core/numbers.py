"""Number words, English and Chinese: values, patterns that match them, and spelling."""

import re

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
CARDINALS = {word: value for value, word in enumerate(ONES)} | {
    word: 10 * place for place, word in enumerate(TENS, start=2)
}
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
).split()
CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
CHINESE_SCALES = {"十": 10, "百": 100, "千": 10**3, "万": 10**4, "亿": 10**8}

_SPELT = (*ONES, "twenty")
_VALUES = {word: float(value) for word, value in CARDINALS.items() if value <= 50} | {
    "hundred": 100.0, "a": 1.0, "an": 1.0, "half": 0.5, "few": 3.0, "several": 3.0,
    "couple": 2.0, "dozen": 12.0, "some": 3.0,
}  # fmt: skip
# A count before a unit: "three", "3", "a few", "a couple of", "half a".
COUNT = (
    r"(?:\d+(?:\.\d+)?|half an?|an?\s+(?:few|couple(?:\s+of)?|dozen)|couple(?:\s+of)?|few|several|"
    + "|".join(sorted([*_SPELT[1:], "thirty", "forty", "fifty"], key=len, reverse=True))
    + r"|an?)"
)
CHINESE_COUNT = r"(?:\d+|[一二两三四五六七八九十百]+|几|半)"


def spell(number: int) -> str:
    """Return a number in words (`two`); a number below 0 or above twenty in figures."""
    return _SPELT[number] if 0 <= number < len(_SPELT) else str(number)


def count_of(text: str) -> tuple[float, str]:
    """Return the value of a text that `COUNT` matched, and the word for it (few, couple, 3)."""
    tokens = re.findall(r"[\w.]+", text.lower())
    word = next((token for token in tokens if token not in ("a", "an", "of")), "one")
    return (_VALUES[word] if word in _VALUES else float(word)), word


def chinese_value(text: str) -> int | None:
    """Return the value, below 1000, of a text that `CHINESE_COUNT` matched; None for 几 and 半."""
    if text.isdigit():
        return int(text)
    if text in ("几", "半") or not text:
        return None
    total, digit = 0, 0
    for char in text:
        if char in CHINESE_DIGITS:
            digit = CHINESE_DIGITS[char]
        else:
            total += (digit or 1) * CHINESE_SCALES[char]
            digit = 0
    return total + digit
