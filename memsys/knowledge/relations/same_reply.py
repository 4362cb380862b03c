"""Entities and relations in the reply that has the facts, which saves their two calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memsys.core.types import Turn
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.relations.extract import RelationExtractor
from memsys.knowledge.relations.forms import reply_forms
from memsys.knowledge.relations.triples import Entity, Triple
from memsys.llm.prompt import load_prompt


class SameReply:
    """See ReplyPart: the lists are checked like those of separate calls, and wait for the writer of
    the graph.
    """

    def __init__(self, extractor: RelationExtractor) -> None:
        self._extractor = extractor
        self.prompt = load_prompt("graph_same_reply", [])
        self._found: dict[tuple[Turn, ...], tuple[list[Entity], list[Triple]]] = {}

    def properties(self, new: int, shown: int) -> Mapping[str, Any]:
        """See ReplyPart."""
        lists = [form.parameters["properties"] for form in reply_forms(new, shown)]
        return {name: rows for one in lists for name, rows in one.items()}

    def read(
        self,
        reply: Mapping[str, Any],
        shown: Sequence[Turn],
        new: Sequence[Turn],
        log: list[Event],
    ) -> None:
        """See ReplyPart."""
        found = self._extractor.read(reply, shown, new, log)
        if found is not None:
            self._found[tuple(new)] = found
            entities, triples = found
            counted = {"entities": len(entities), "relations": len(triples)}
            turns = [turn.id for turn in new]
            log.append({"step": "same_reply", "turns": turns, **counted})

    def forget(self, turns: Collection[str]) -> None:
        """Delete what was found in exchanges with one of `turns`."""
        self._found = {
            exchange: found
            for exchange, found in self._found.items()
            if not any(turn.id in turns for turn in exchange)
        }

    def pop(self, turns: Sequence[Turn]) -> tuple[list[Entity] | None, list[Triple] | None]:
        """Return what was found in the exchange `turns`, and forget it; (None, None) if no reply on
        just these turns could be read.
        """
        return self._found.pop(tuple(turns), (None, None))
