"""The relations of one conversation: written by a keeper, asked through a finder, in one store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from memsys.facts.base import Event
from memsys.llm.base import LLM
from memsys.relations.extract import Extractor
from memsys.relations.find import Finder
from memsys.relations.graph import OwnGraph
from memsys.relations.keeper import GraphKeeper
from memsys.relations.settings import GraphSettings, RelationSettings
from memsys.store import Parts
from memsys.stores.relations import RelationStore
from memsys.types import Candidate, Session


class RelationMemory:
    """A share of `store` that nobody else has; calls, changes and faults go into `log`."""

    def __init__(
        self,
        parts: Parts,
        llm: LLM,
        store: RelationStore,
        graph: Mapping[str, Any],
        relations: Mapping[str, Any],
        log: list[Event],
    ) -> None:
        """`graph` and `relations`: see GraphSettings and RelationSettings.

        Raises InputError where a setting or prompt cannot be used.
        """
        settings, wanted = GraphSettings(**graph), RelationSettings(**relations)
        extractor = Extractor(llm, settings)
        self.prompts = extractor.prompts
        self._graph = OwnGraph(store, uuid4().hex, parts.embedder, settings)
        self._keeper = GraphKeeper(extractor, self._graph, settings, log)
        self._finder = Finder(self._graph, extractor, parts.embedder, parts.index, wanted)

    def keep(self, session: Session) -> None:
        """See GraphKeeper.keep. Raises LLMError where the model answered for nothing."""
        self._finder.changed()
        self._keeper.keep(session)

    def find(self, question: str) -> tuple[list[Candidate], dict[str, Any]]:
        """See Finder.find. Raises LLMError where a model has to be asked and does not answer."""
        return self._finder.find(question)

    def size(self) -> dict[str, int]:
        """See OwnGraph.size."""
        return self._graph.size()

    def clear(self) -> None:
        """Forget all of it: the store may outlive the conversation."""
        self._graph.clear()
