"""The five strategies with the numbers that are shipped in conf/."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hydra.utils import get_class

from memsys.graph.build import GraphSettings
from memsys.index.rank import IndexSettings, Start
from memsys.strategies.graph_expand import GraphExpand
from memsys.strategies.graph_score import GraphScore
from memsys.strategies.hybrid_gate import HybridGate
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

CONF = Path(__file__).parents[3] / "conf"


@cache
def _loaded(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8")))


def conf(name: str) -> dict[str, Any]:
    """The mapping in conf/<name>.yaml."""
    return deepcopy(_loaded(name))


def settings(name: str) -> dict[str, Any]:
    """What conf/strategy/<name>.yaml sets, and its defaults."""
    own = conf(f"strategy/{name}")
    bases = [settings(base) for base in own.pop("defaults", ()) if base != "_self_"]
    return {name: value for one in (*bases, own) for name, value in one.items()}


def option(
    name: str, parts: Parts, k: int = 3, budget: int | None = None, **change: Any
) -> Strategy:
    """The strategy of conf/strategy/<name>.yaml; but it starts from the vectors."""
    shipped = settings(name)
    made = get_class(shipped.pop("_target_"))
    del shipped["_partial_"]
    start = {"start": "vector"} if "start" in shipped else {}
    strategy: Strategy = made(parts, **{**shipped, "k": k, "budget": budget, **start, **change})
    return strategy


def large(vectors: str) -> dict[str, Any]:
    """The parts of a large store."""
    return {
        "index": IndexSettings(0.9, 0.4, 0.5, vectors=vectors, lexical="sparse"),  # type: ignore[arg-type]
        "graph": GraphSettings(8, 0.1, 0.7, 1.0, store="csr"),
    }


def graph_score(
    parts: Parts, k: int = 3, budget: int | None = None, start: Start = "vector", **change: Any
) -> GraphScore:
    """`change`: single weights, `pool` or `decay_per_day`."""
    shipped = conf("strategy/graph_score")
    numbers = {name: change.pop(name, shipped[name]) for name in ("pool", "decay_per_day")}
    weights = {**shipped["weights"], **change}
    return GraphScore(parts, k, budget, start, weights=weights, **numbers)


def scoring(change: dict[str, Any]) -> dict[str, Any]:
    """The settings of graph_expand outside its expansion, taken out of `change` if they are in."""
    shipped = settings("graph_expand")
    names = ("pool", "weights", "decay_per_day", "rescore", "use_graph_expansion")
    return {name: change.pop(name, shipped[name]) for name in names}


def graph_expand(
    parts: Parts, k: int = 3, budget: int | None = None, start: Start = "vector", **change: Any
) -> GraphExpand:
    """`change`: numbers of the expansion, or other settings."""
    others = scoring(change)
    expansion = {**conf("strategy/graph_expand")["expansion"], **change}
    return GraphExpand(parts, k, budget, start, expansion, **others)


def hybrid_gate(
    parts: Parts, k: int = 3, budget: int | None = None, start: Start = "vector", **change: Any
) -> HybridGate:
    """`change`: numbers of the gate or of the expansion, or other settings."""
    others = scoring(change)
    gate = conf("strategy/hybrid_gate")["gate"]
    gate.update({name: change.pop(name) for name in tuple(change) if name in gate})
    expansion = {**conf("strategy/graph_expand")["expansion"], **change}
    return HybridGate(parts, k, budget, start, expansion, gate, **others)
