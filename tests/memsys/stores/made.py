"""Invented nodes, relations and vectors, by seed, with every awkward id there is."""

from datetime import datetime, timedelta
from itertools import product

import numpy as np
import pytest

from memsys.core.types import Vectors
from memsys.embed.base import unit_rows
from memsys.stores.relations import Node, Relation

DIMENSION = 8
START = datetime(2023, 5, 8, 13, 56)
OWNERS = ["ann", "ann's", "安/娜"]
ODD = [
    "it's", 'say "so"', "back\\slash\\", "trailing\\", "上海", "a/b/../c", "new\nline", "tab\t",
    " ", "`tick`", "$dollar {brace}", "emoji 🐈", "%_*?", "'; DROP TABLE nodes; --", "null", "0",
]  # fmt: skip
LIVES = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))]  # seeds
IDS = [*ODD, *(f"id {i}" for i in range(24))]


def pool(seed: int, size: int, dimension: int = DIMENSION) -> Vectors:
    """Unit vectors, shape (size, dimension)."""
    rng = np.random.default_rng(seed)
    return unit_rows(rng.normal(size=(size, dimension)).astype(np.float32))


def near_copies(seed: int, size: int, dimension: int = 384) -> Vectors:
    """Vectors so alike that single precision cannot order them, shape (size, dimension)."""
    rng = np.random.default_rng(seed)
    noise = 1e-6 * rng.normal(size=(size, dimension))
    return unit_rows((pool(seed, 1, dimension) + noise).astype(np.float32))


def node(id_: str, vector: Vectors, mentions: int = 1, kind: str = "person") -> Node:
    seen = START + timedelta(minutes=mentions, microseconds=mentions)
    return Node(id_, f"name of {id_}", kind, vector, mentions, START, seen)


def relation(source: str, name: str, target: str, mentions: int = 1) -> Relation:
    ended = START + timedelta(days=mentions) if mentions % 2 else None
    turns = tuple(f"D{i}:1 \"'\\" for i in range(mentions % 3))
    return Relation(
        source, name, target, mentions, START, START + timedelta(hours=mentions), ended, turns
    )


def keys(ids: list[str]) -> list[tuple[str, str, str]]:
    """Every possible relation among a few ids, self-relations and parallel ones among them."""
    return list(product(ids, ["knows", "lives in", "it's \\ 喜欢"], ids))


def cosine(a: Vectors, b: Vectors) -> float:
    """In double precision, summed as the stores' own definition has it."""
    return float((a.astype(np.float64) * b.astype(np.float64)).sum())
