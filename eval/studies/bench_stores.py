"""`python -m eval.studies.bench_stores`: latency of the vector and relation stores.

Prints figures and asserts nothing: machines are noisy. The stores take turns question by question,
so that a slow minute affects all; the ratios are of medians within one run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from eval.cli import code_of, parser
from eval.rendering.terminal import plain
from memsys.core.types import Vectors
from memsys.embed.base import unit_rows
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.qdrant_vectors import QdrantVectors
from memsys.stores.relations import Node, Relation, RelationStore
from memsys.stores.vectors import VectorStore

_S = TypeVar("_S")
_Q = TypeVar("_Q")
_NAME = "memsys-bench"
# With equal data: the first is queried, the second must not be returned.
_OWNERS = (f"{_NAME}-1", f"{_NAME}-2")
_MOST = 10
_SEEDS = 5  # nodes whose relations are read by one query
_BATCH = 1000
_TIME = datetime(2023, 5, 8)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill, query and print; return the exit code: 2 for a server that cannot be used."""
    options = parser(
        "studies.bench_stores",
        "Measure the latency of the vector and relation stores on this machine, with random "
        "vectors and relations of two owners. Stores on disk are in a temporary folder.",
    )
    add, secret, cosine = options.add_argument, "NEO4J_PASSWORD", "vector.similarity.cosine"
    add("--nodes", type=int, default=10_000, help="nodes and vectors of each owner; default: 10000")
    add("--relations", type=int, default=50_000, help="relations of each owner; default: 50000")
    add("--dimension", type=int, default=384, help="of the vectors; default: 384")
    add("--questions", type=int, default=100, help="timed queries; default: 100")
    add("--bolt", metavar="URL", help="also measure this graph database")
    add("--user", default="neo4j", help="user of the graph database")
    add("--password-variable", default=secret, help="environment variable; default: %(default)s")
    add("--database", help="database name (default: the server's choice)")
    add("--similarity", default=cosine, help="of the graph database; default: %(default)s")
    add("--qdrant", metavar="URL", help="also measure this Qdrant server")
    given = options.parse_args(arguments)
    return code_of(lambda: _bench(given))


def _bench(options: argparse.Namespace) -> None:
    rng = np.random.default_rng(0)
    shape = options.nodes + options.questions, options.dimension
    rows = unit_rows(rng.standard_normal(shape, dtype=np.float32))
    rows, questions = rows[: options.nodes], rows[options.nodes :]
    ends = rng.integers(options.nodes, size=(options.relations, 2))
    seeds = rng.integers(options.nodes, size=(options.questions, _SEEDS))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        vectors = {n: stack.enter_context(closing(s)) for n, s in _vectors(options, folder)}
        relations = {n: stack.enter_context(closing(s)) for n, s in _relations(options, folder)}
        print(
            f"two owners, each {options.nodes} x {options.dimension}, {options.relations} "
            f"relations; medians of {options.questions} questions\n"
        )
        first = _OWNERS[0]
        written = {n: _timed(partial(_fill, s, rows)) for n, s in vectors.items()}
        nearest = _turns(vectors, questions, lambda s, asked: s.nearest(first, asked, _MOST))
        _print("vector store", written, {f"nearest {_MOST}": nearest})
        written = {n: _timed(partial(_relate, s, rows, ends)) for n, s in relations.items()}
        similar = _turns(relations, questions, lambda s, asked: s.similar(first, asked, 0, _MOST))
        of = _turns(relations, seeds, lambda s, some: s.relations(first, [str(i) for i in some]))
        asked = {f"similar {_MOST}": similar, f"relations of {_SEEDS}": of}
        _print("relation store", written, asked)
        everything: list[VectorStore | RelationStore] = [*vectors.values(), *relations.values()]
        for store in everything:
            for owner in _OWNERS:  # stores on a server persist
                store.clear(owner)


def _vectors(options: argparse.Namespace, folder: Path) -> list[tuple[str, VectorStore]]:
    stores: list[tuple[str, VectorStore]] = [
        ("faiss", FaissVectors()),
        ("faiss, path", FaissVectors(str(folder / "vectors.sqlite"))),
        ("qdrant_edge", QdrantEdgeVectors(str(folder / "shard"))),
    ]
    if options.qdrant:
        stores.append(("qdrant", QdrantVectors(options.qdrant, _NAME)))
    return stores


def _relations(options: argparse.Namespace, folder: Path) -> list[tuple[str, RelationStore]]:
    stores: list[tuple[str, RelationStore]] = [
        ("networkx", NetworkxRelations()),
        ("networkx, path", NetworkxRelations(str(folder / "relations.sqlite"))),
    ]
    if options.bolt:
        login = options.bolt, options.user, options.password_variable, options.database
        stores.append(("neo4j", Neo4jRelations(*login, "MemsysBench", options.similarity)))
    return stores


def _fill(store: VectorStore, rows: Vectors) -> None:
    for owner in _OWNERS:
        for start in range(0, len(rows), _BATCH):
            some = rows[start : start + _BATCH]
            store.put(owner, [str(start + i) for i in range(len(some))], some)


def _relate(store: RelationStore, rows: Vectors, ends: NDArray[np.int64]) -> None:
    seen = (1, _TIME, _TIME)
    nodes = [Node(str(i), f"name {i}", "person", row, *seen) for i, row in enumerate(rows)]
    relations = [
        Relation(str(a), f"relation {i % 50}", str(b), *seen) for i, (a, b) in enumerate(ends)
    ]
    for owner in _OWNERS:
        for start in range(0, len(nodes), _BATCH):
            store.put_nodes(owner, nodes[start : start + _BATCH])
        for start in range(0, len(relations), _BATCH):
            store.put_relations(owner, relations[start : start + _BATCH])


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _turns(
    stores: Mapping[str, _S], questions: Iterable[_Q], ask: Callable[[_S, _Q], object]
) -> dict[str, float]:
    """Median milliseconds of each store; the first question is a warm-up and is not counted."""
    times: dict[str, list[float]] = {name: [] for name in stores}
    for question in questions:
        for name, store in stores.items():
            times[name].append(1000 * _timed(partial(ask, store, question)))
    return {name: median(values[1:]) for name, values in times.items()}


def _print(
    title: str, written: Mapping[str, float], asked: Mapping[str, Mapping[str, float]]
) -> None:
    header = [title, "fill s", *(name for what in asked for name in (f"{what}, p50 ms", "ratio"))]
    rows = []
    for name, seconds in written.items():
        row = [name, f"{seconds:.1f}"]
        for times in asked.values():
            first = next(iter(times.values()))
            row += [f"{times[name]:.2f}", f"{times[name] / first:.1f}"]
        rows.append(row)
    print(plain(header, rows) + "\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
