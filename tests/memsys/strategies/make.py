"""The five strategies with the numbers that are shipped in conf/."""

from collections.abc import Iterable
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

CONF = Path(__file__).parents[3] / "conf"


@cache
def _loaded(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((CONF / "strategy" / f"{name}.yaml").read_text("utf-8")))


def settings(name: str) -> dict[str, Any]:
    """What conf/strategy/<name>.yaml sets, and its defaults."""
    own = deepcopy(_loaded(name))
    bases = [settings(base) for base in own.pop("defaults", ()) if base != "_self_"]
    return {name: value for one in (*bases, own) for name, value in one.items()}


def option(name: str, parts: Parts, k: int = 3, budget: int | None = None, **change: Any) -> Any:
    """The strategy of conf/strategy/<name>.yaml; but it starts from the vectors."""
    shipped = settings(name)
    made = get_class(shipped.pop("_target_"))
    del shipped["_partial_"]
    start = {"start": "vector"} if "start" in shipped else {}
    return made(parts, **{**shipped, "k": k, "budget": budget, **start, **change})


def large(vectors: str) -> dict[str, Any]:
    """The parts of a large store."""
    return {
        "index": IndexSettings(0.9, 0.4, 0.5, vectors=vectors, lexical="sparse"),  # type: ignore[arg-type]
        "graph": GraphSettings(8, 0.1, 0.7, 1.0, store="csr"),
    }


def taken(change: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Those of `change` that have one of `names`, taken out of it."""
    return {name: change.pop(name) for name in names if name in change}


def graph_score(
    parts: Parts, k: int = 3, budget: int | None = None, start: Start = "vector", **change: Any
) -> GraphScore:
    """`change`: single weights, `pool` or `decay_per_day`."""
    others = taken(change, ("pool", "decay_per_day"))
    weights = {**settings("graph_score")["weights"], **change}
    return option("graph_score", parts, k, budget, start=start, weights=weights, **others)


def graph_expand(
    parts: Parts,
    k: int = 3,
    budget: int | None = None,
    start: Start = "vector",
    name: str = "graph_expand",
    **change: Any,
) -> GraphExpand:
    """`change`: numbers of the expansion, or other settings."""
    shipped = settings(name)
    others = taken(change, shipped)
    expansion = {**shipped["expansion"], **change}
    return option(name, parts, k, budget, start=start, expansion=expansion, **others)


def hybrid_gate(parts: Parts, *given: Any, **change: Any) -> HybridGate:
    """`change`: numbers of the gate or of the expansion, or other settings."""
    shipped = settings("hybrid_gate")["gate"]
    gate = {**shipped, **taken(change, shipped)}
    return graph_expand(parts, *given, name="hybrid_gate", gate=gate, **change)
