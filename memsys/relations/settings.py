"""What the configuration says of the write path and of the read path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from memsys.errors import InputError
from memsys.facts.operations import Calls
from memsys.llm.prompt import Prompt, load_prompt

OnConflict = Literal["delete", "invalidate"]
By = Literal["entity", "triple", "both"]
QueryEntities = Literal["llm", "rule"]


@dataclass(frozen=True, kw_only=True)
class GraphSettings:
    """`calls`: by tool calls, or by JSON of a schema for servers without tools. `on_conflict`:
    what a contradicted relation comes to. `exchange`: messages a call. `threshold`: least cosine
    of names at which a stored entity is taken for one that was spoken of; `nodes`: most of these
    for one name; `merge`: least cosine at which two names are one entity. `shown`: most stored
    relations that a model is asked about. Prompts are names under conf/prompts or paths.
    """

    calls: Calls
    on_conflict: OnConflict
    exchange: int
    threshold: float
    merge: float
    nodes: int
    shown: int
    entities: str = "graph_entities"
    relations: str = "graph_relations"
    conflicts: str = "graph_conflicts"

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        _choice("strategy.graph.calls", self.calls, get_args(Calls))
        _choice("strategy.graph.on_conflict", self.on_conflict, get_args(OnConflict))
        for name in ("exchange", "nodes", "shown"):
            _whole(f"strategy.graph.{name}", getattr(self, name))
        for name in ("threshold", "merge"):
            _cosine(f"strategy.graph.{name}", getattr(self, name))

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """By role. Raises InputError where one is missing or lacks a place."""
        return {
            "entities": load_prompt(self.entities, ["messages"]),
            "relations": load_prompt(self.relations, ["messages", "entities"]),
            "conflicts": load_prompt(self.conflicts, ["messages", "stored", "new"]),
        }


@dataclass(frozen=True, kw_only=True)
class RelationSettings:
    """Which relations a question finds: `by` its entities, by its likeness to whole triples, or
    both. `query_entities`: a model names the question's entities, or its content words do.
    `limit`: most relations; `similarity`: least cosine of question and triple. `hops`: how far from
    the question's entities.
    """

    by: By
    query_entities: QueryEntities
    limit: int
    similarity: float
    hops: int = 1

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        _choice("strategy.relations.by", self.by, get_args(By))
        kinds = get_args(QueryEntities)
        _choice("strategy.relations.query_entities", self.query_entities, kinds)
        _whole("strategy.relations.limit", self.limit)
        _whole("strategy.relations.hops", self.hops)
        _cosine("strategy.relations.similarity", self.similarity)


def _choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name}: {value!r} is none of {', '.join(known)}")


def _whole(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name}: {value!r}; use a whole number of 1 or more")


def _cosine(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value <= 1:
        raise InputError(f"{name}: {value!r}; use a cosine, -1 to 1")
