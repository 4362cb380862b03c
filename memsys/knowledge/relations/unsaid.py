"""Names that occur in deleted texts alone, and so have to be deleted with them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memsys.knowledge.facts.fact import plain

# Characters of scripts without spaces between words: kana, Chinese characters, Hangul syllables.
_UNSPACED = re.compile(
    "[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Unsaid:
    """The names whose words are in a deleted text and in no remaining one."""

    def __init__(self, deleted: Iterable[str], remaining: Iterable[str]) -> None:
        self._deleted, self._remaining = _joined(deleted), _joined(remaining)

    def __contains__(self, name: object) -> bool:
        """Return whether a deleted text has `name`, by whole words, and no remaining one has."""
        words = _words(str(name))
        return bool(words.strip()) and words in self._deleted and words not in self._remaining


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(map(_words, texts))


def _words(text: str) -> str:
    """Return the words of `text` with a space around each; an unspaced character is a word."""
    words = _UNSPACED.sub(r" \g<0> ", plain(text)).split()
    return f" {' '.join(words)} "
