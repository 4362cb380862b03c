"""JSON that another program wrote: parsed whole, or refused with the reason."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

DEPTH = 100  # nested lists and objects; Python's own limit is about 1,000, and json.dumps's lower
_INTEGERS = 2**63  # of SQLite, pandas and numpy
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str | bytes, *, depth: int = DEPTH) -> Any:
    """Return the value of the JSON document `text`.

    Raises ValueError with a reason in one line unless it is UTF-8, whole, nested at most `depth`
    deep, and free of NaN, infinity, integers beyond 64 bits and unpaired surrogates, none of which
    can be written again.
    """
    text = text.decode() if isinstance(text, bytes) else text
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(f"nested more than {depth} deep") from None
    except ValueError as error:
        if "set_int_max_str_digits" in str(error):
            raise ValueError("an integer beyond the range of 64 bits") from None
        raise
    check_json(value, depth=depth, strings=_SURROGATE.search(text) is not None)
    return value


def check_json(value: Any, *, depth: int = DEPTH, strings: bool = True) -> None:
    """Raise ValueError if `value`, a result of json.loads, exceeds a limit of parse_json.

    `strings`: look for unpaired surrogates.
    """
    level = [value]
    for _ in range(depth + 1):
        below: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                below.extend(one.values())
                if strings:
                    below.extend(one)
            elif isinstance(one, list):
                below.extend(one)
            elif isinstance(one, str):
                if strings:
                    _check_text(one)
            elif isinstance(one, float) and not math.isfinite(one):
                raise ValueError("a number beyond the range of 64 bits")
            elif isinstance(one, int) and abs(one) >= _INTEGERS:
                raise ValueError("an integer beyond the range of 64 bits")
        if not below:
            return
        level = below
    raise ValueError(f"nested more than {depth} deep")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        wrong = text[error.start]
        raise ValueError(f"an unpaired surrogate, \\u{ord(wrong):04x}, is no character") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
