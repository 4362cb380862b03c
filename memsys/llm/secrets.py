"""Keys, taken out of whatever is shown or kept: a server may repeat them in its words."""

from __future__ import annotations

import os

_ENDS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")  # of the names of variables that hold one
_LENGTH = 8  # shorter values are words, as in API_KEY=none


def without_secrets(text: str, key_variable: str = "") -> str:
    """`text` with the name of its environment variable in place of each secret; `key_variable`
    holds one whatever its name and length.
    """
    key = os.environ.get(key_variable)
    if key:
        text = text.replace(key, f"${key_variable}")
    for name, value in os.environ.items():
        if name.endswith(_ENDS) and len(value) >= _LENGTH:
            text = text.replace(value, f"${name}")
    return text
