"""Settings of the relation graph: extraction and update, and search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from memsys.errors import InputError, check_choice, check_whole
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
    stored relations that a model is asked about. Prompts are names under conf/prompts or paths.
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
        check_choice("strategy.graph.calls", self.calls, get_args(Calls))
        check_choice("strategy.graph.on_conflict", self.on_conflict, get_args(OnConflict))
        for name in ("exchange", "nodes", "shown"):
            check_whole(f"strategy.graph.{name}", getattr(self, name))
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
        check_choice("strategy.relations.by", self.by, get_args(By))
        ways = get_args(QueryEntities)
        check_choice("strategy.relations.query_entities", self.query_entities, ways)
        check_whole("strategy.relations.limit", self.limit)
        check_whole("strategy.relations.hops", self.hops)
        _cosine("strategy.relations.similarity", self.similarity)


def _cosine(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value <= 1:
        raise InputError(f"{name}: {value!r}; use a cosine, -1 to 1")
