"""Settings of the relation graph: extraction and update, and search."""

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
class RelationGraphSettings:
    """Settings of extraction and update.

    `calls`: by tool calls, or by JSON of a schema for servers without tools. `on_conflict`: whether
    a contradicted relation is deleted or marked as ended. `exchange`: messages per call.
    `threshold`: least cosine of names at which a stored entity matches a mentioned one; `nodes`:
    most matches per name; `merge`: least cosine at which two names are one entity. `shown`: most
    stored relations that a model is asked about. Prompts are names of shipped prompts or paths.
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
        _whole("strategy.graph.exchange", self.exchange)
        _whole("strategy.graph.nodes", self.nodes)
        _whole("strategy.graph.shown", self.shown)
        _cosine("strategy.graph.threshold", self.threshold)
        _cosine("strategy.graph.merge", self.merge)

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """The prompts by role. Raises InputError if one is missing or lacks a placeholder."""
        return {
            "entities": load_prompt(self.entities, ["messages"]),
            "relations": load_prompt(self.relations, ["messages", "entities"]),
            "conflicts": load_prompt(self.conflicts, ["messages", "stored", "new"]),
        }


@dataclass(frozen=True, kw_only=True)
class RelationSettings:
    """Settings of the search.

    `by`: relations are found by the question's entities, by the similarity of question and triple,
    or both. `query_entities`: the question's entities are named by a model, or are its content
    words. `limit`: most relations; `similarity`: least cosine of question and triple. `hops`: path
    length from the question's entities.
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


def _choice(name: str, value: Any, options: tuple[str, ...]) -> None:
    if value not in options:
        raise InputError(f"{name}: {value!r} is none of {', '.join(options)}")


def _whole(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name}: {value!r}; use a whole number of 1 or more")


def _cosine(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value <= 1:
        raise InputError(f"{name}: {value!r}; use a cosine, -1 to 1")
