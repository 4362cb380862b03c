"""Texts that an object still refers to, for tests of deletion."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any


def texts_in(root: object, *beside: object) -> Iterator[str]:
    """Yield every text that `root` refers to, directly or by others, but for what only `beside`
    refers to (a cache that all share).
    """
    seen = {id(one) for one in beside}
    left: list[Any] = [root]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one
        elif isinstance(one, bytes):
            yield one.decode(errors="replace")
        else:
            left += gc.get_referents(one)


def mentions(root: object, word: str, *beside: object) -> list[str]:
    """The texts with `word` among those of `texts_in`."""
    return [text for text in texts_in(root, *beside) if word in text.casefold()]
