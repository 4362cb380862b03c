"""Nodes and relations as text and numbers by name: what every engine keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memsys.stores.relations import Node, Relation
from memsys.types import Vectors


def node_row(node: Node) -> dict[str, Any]:
    """`node` without its vector, of which each engine has a form of its own."""
    return {
        "id": node.id,
        "name": node.name,
        "kind": node.kind,
        "mentions": node.mentions,
        "created": node.created.isoformat(),
        "last_seen": node.last_seen.isoformat(),
    }


def node_of(row: Mapping[str, Any], vector: Vectors) -> Node:
    """The node that `node_row` made a row of, and its `vector`, shape (d,)."""
    return Node(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        vector=vector,
        mentions=row["mentions"],
        created=datetime.fromisoformat(row["created"]),
        last_seen=datetime.fromisoformat(row["last_seen"]),
    )


def relation_row(relation: Relation) -> dict[str, Any]:
    """`relation`, its ends among the rest."""
    return {
        "source": relation.source,
        "name": relation.name,
        "target": relation.target,
        "mentions": relation.mentions,
        "created": relation.created.isoformat(),
        "last_seen": relation.last_seen.isoformat(),
        "ended": None if relation.ended is None else relation.ended.isoformat(),
        "turns": list(relation.turns),
    }


def relation_of(source: str, row: Mapping[str, Any], target: str) -> Relation:
    """The relation between two ids that `relation_row` made the rest of."""
    ended = row.get("ended")  # a graph database keeps no property without a value
    return Relation(
        source=source,
        name=row["name"],
        target=target,
        mentions=row["mentions"],
        created=datetime.fromisoformat(row["created"]),
        last_seen=datetime.fromisoformat(row["last_seen"]),
        ended=None if ended is None else datetime.fromisoformat(ended),
        turns=tuple(row["turns"] or ()),
    )
