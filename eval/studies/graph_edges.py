"""`python -m eval.studies.graph_edges`: precision of the edges of each graph.

Two memories are neighbours if they mention the same node: memory, node, memory is one hop. For each
evidence turn of a question with several, the study counts how many of its neighbours are evidence
of the same question. The weight of a neighbour is its chance in one step of graph_walk's walk.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from hydra.utils import instantiate
from numpy.typing import NDArray

from baselines.rankings import PageRank
from eval.cli import code_of, parser
from eval.datasets.types import ADVERSARIAL, Dataset
from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.rendering.errors import configuration_errors
from eval.rendering.numbers import interval, number
from eval.rendering.terminal import markdown
from eval.run.experiment import composed
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Memory
from memsys.graph.build import GraphSettings
from memsys.graph.csr import CsrStore, build_csr
from memsys.knowledge.memory.base import MemoryBuilder

GRAPHS = ("rules", "titles", "phrases", "topics", "dialogue", "everything")
DATA = (
    "dataset=locomo_dev",
    "dataset=locomo_held_out",
    "dataset=synthetic_2_hops",
    "dataset=synthetic_3_hops",
)
_BEST = 5  # strongest neighbours


class EdgePrecision(NamedTuple):
    """Shares of the neighbours of one memory with evidence that have other evidence of the same
    question: of all of them, of the five of the greatest weight, and by weight. `chance`: the share
    of all other memories that have. `reached`: the share of that evidence among the neighbours.
    `neighbours`: their number; without one the first three are None.
    """

    precision: float | None
    strongest: float | None
    weighted: float | None
    chance: float
    reached: float
    neighbours: float


def edge_precision(walked: NDArray[np.float64], row: int, others: Sequence[int]) -> EdgePrecision:
    """Return the precision of the edges of the memory in `row`. `walked`: the chance of every
    memory in one step from it, shape (n,); `others`: rows of the other memories with evidence.
    """
    weights = walked.copy()
    weights[row] = 0.0  # the way back
    near = np.flatnonzero(weights)
    is_evidence = np.zeros(len(weights), dtype=bool)
    is_evidence[list(others)] = True
    chance, reached = len(others) / (len(weights) - 1), float(is_evidence[near].sum())
    if not len(near):
        return EdgePrecision(None, None, None, chance, 0.0, 0.0)
    strongest = near[np.argsort(-weights[near], kind="stable")[:_BEST]]
    return EdgePrecision(
        precision=reached / len(near),
        strongest=float(is_evidence[strongest].mean()),
        weighted=float(weights[is_evidence].sum() / weights.sum()),
        chance=chance,
        reached=reached / len(others),
        neighbours=float(len(near)),
    )


def measured(
    dataset: Dataset, builder: MemoryBuilder, settings: GraphSettings
) -> Iterator[tuple[str, EdgePrecision]]:
    """Yield conversation and precision of each memory with evidence, once for each question of the
    types 1 to 4 whose evidence is in two memories or more.
    """
    for conversation in dataset.conversations:
        memories = _memories(conversation, builder)
        of_turn = {turn: row for row, one in enumerate(memories) for turn in one.turns}
        rows = {memory.id: row for row, memory in enumerate(memories)}
        store = build_csr(memories, rows, settings).store
        assert isinstance(store, CsrStore)  # noqa: S101 - for the type checker
        walk = PageRank(store)
        for question in dataset.questions:
            if question.searched != conversation.id or question.category == ADVERSARIAL:
                continue
            evidence = {of_turn[turn] for turn in question.evidence if turn in of_turn}
            for row in sorted(evidence) if len(evidence) > 1 else ():
                walked = walk.scores({row: 1.0}, damping=1.0, steps=1)
                yield question.conversation, edge_precision(walked, row, sorted(evidence - {row}))


def _memories(conversation: Conversation, builder: MemoryBuilder) -> list[Memory]:
    return [memory for session in conversation.sessions for memory in builder.build(session)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print Markdown; return the exit code: 2 for bad input."""
    options = parser(
        "studies.graph_edges",
        "Print, for each graph and data set, the share of the neighbours of an evidence turn that "
        "are evidence of the same question, beside the share by chance, over questions of types "
        "1-4 with two evidence turns or more.",
    )
    options.add_argument(
        "graphs", nargs="*", default=GRAPHS, metavar="GRAPH", help=f"default: {' '.join(GRAPHS)}"
    )
    options.add_argument(
        "--data",
        action="append",
        metavar="OVERRIDES",
        help="settings that choose a data set, as 'dataset=sample memory=windows'; may be repeated "
        f"(default: {' '.join(DATA)})",
    )
    return code_of(lambda: _study(options.parse_args(arguments)))


def _study(options: argparse.Namespace) -> None:
    header = ["data", "graph", "all neighbours", f"{_BEST} strongest", "by weight", "by chance"]
    header += ["evidence reached", "neighbours"]
    rows = []
    for overrides in options.data or DATA:
        name = overrides.removeprefix("dataset=")
        dataset: Dataset | None = None
        for graph in options.graphs:
            with configuration_errors():
                config, _ = composed([*overrides.split(), f"graph={graph}"])
                dataset = dataset or instantiate(config.dataset).load()
                settings, builder = instantiate(config.graph), instantiate(config.memory)
            if not isinstance(settings, GraphSettings):
                raise InputError(f"graph={graph}: a model writes it; name graphs made by rules")
            found = list(measured(dataset, builder, settings))
            if not found:
                raise InputError(f"{name}: no question has evidence in two memories")
            clusters = [conversation for conversation, _ in found]
            bootstrap = ClusterBootstrap(clusters, config.seed, config.resamples)
            means = [
                bootstrap.mean(column) for column in zip(*(one for _, one in found), strict=True)
            ]
            rows.append([name, graph, *_row(means)])
    print(markdown(header, rows))


def _row(means: Sequence[Interval | None]) -> list[str]:
    """Return the cells of the means, in the order of EdgePrecision."""
    shares = [interval(one and one.within()) for one in means[:3]]
    chance, reached, neighbours = (None if one is None else one.value for one in means[3:])
    return [*shares, number(chance, 4), number(reached), number(neighbours, 1)]


if __name__ == "__main__":
    sys.exit(main())
