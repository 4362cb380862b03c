"""JSON that another program wrote: parsed whole, or refused with the reason."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memsys.core.files import shown

DEPTH = 100  # nested lists and objects; Python's own limit is about 1,000, and json.dumps's lower
_INTEGERS = 2**63  # of SQLite, pandas and numpy
_LARGE = "an integer beyond the range of 64 bits"
# Texts are looked at only if an escape may be one half of a character without the other, or may
# follow an escaped backslash, which hides where an escape begins.
_HIGH, _LOW = r"\\u[dD][89abAB]..", r"\\u[dD][c-fC-F].."
_UNPAIRED = re.compile(rf"{_HIGH}(?!{_LOW})|{_LOW}(?<!{_HIGH}{_LOW})|\\\\u[dD]")
_PLACE = 120  # characters of a place in a message


def parse_json(text: str | bytes, *, unique: bool = False, nan: bool = False) -> Any:
    """Return the value of the JSON document `text`.

    `unique`: refuse an object with the same key twice, of which Python drops the first. `nan`:
    accept NaN, which Python writes for a missing number. Raises ValueError with a reason in one
    line, and the place of the value, unless the text is UTF-8, whole, nested at most 100 deep,
    and free of NaN, infinity, integers beyond 64 bits and unpaired surrogates, none of which can be
    written again.
    """
    text = text.decode() if isinstance(text, bytes) else text
    hook = _unique_keys if unique else None
    try:
        value = json.loads(text, object_pairs_hook=hook)
    except RecursionError:
        raise ValueError(f"nested more than {DEPTH} deep") from None
    except ValueError as error:
        if "set_int_max_str_digits" not in str(error):
            raise
        raise ValueError(_LARGE) from None
    check_json(value, strings=_UNPAIRED.search(text) is not None, nan=nan)
    return value


def check_json(value: Any, *, strings: bool = True, nan: bool = False) -> None:
    """Raise ValueError if `value`, as json.loads or pydantic reads it, exceeds a limit of
    parse_json.

    `strings`: look for unpaired surrogates. `nan`: as in parse_json.
    """
    level = [value]
    for _ in range(DEPTH + 1):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                wrong = strings and _fault(item) is not None
            elif kind is dict:
                below.extend(item.values())
                wrong = strings and any(_fault(key, nan) for key in item)
            elif kind is list or kind is tuple:
                below.extend(item)
                wrong = False
            elif kind is float:
                wrong = not -math.inf < item < math.inf and _fault(item, nan) is not None
            else:
                wrong = kind is int and not -_INTEGERS < item < _INTEGERS
            if wrong:
                raise ValueError(_first_problem(value, nan))
        if not below:
            return
        level = below
    raise ValueError(f"nested more than {DEPTH} deep")


def places(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield `value` and every value in it with its place (`.a.b[0]`), from the outside in."""
    level = [("", value)]
    while level:
        below: list[tuple[str, Any]] = []
        for place, item in level:
            yield place, item
            if isinstance(item, Mapping):
                below += [(f"{place}.{key}", part) for key, part in item.items()]
            elif isinstance(item, list | tuple):
                below += [(f"{place}[{index}]", part) for index, part in enumerate(item)]
        level = below


def _first_problem(value: Any, nan: bool) -> str:
    """Return place and reason of the value nearest to the top that check_json refuses."""
    return next(
        f"{shown(place.lstrip('.'), _PLACE)}: {reason}" if place else reason
        for place, item in places(value)
        for part in (*(item if isinstance(item, dict) else ()), item)
        if (reason := _fault(part, nan))
    )


def _fault(value: Any, nan: bool = False) -> str | None:
    """Return why a text or a number is refused, or None; None for another value."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            return f"an unpaired surrogate, \\u{ord(value[error.start]):04x}, is no character"
    elif isinstance(value, float) and math.isnan(value):
        return None if nan else "NaN is not JSON"
    elif isinstance(value, float) and math.isinf(value):
        return "a number beyond the range of 64 bits"
    elif isinstance(value, int) and abs(value) >= _INTEGERS:
        return _LARGE
    return None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"key {twice!r:.60} occurs twice in one object; rename one")
    return value
