"""Whether a strategy gains more over its base with one embedder than with another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.intervals import Sample, difference_cells, show
from eval.summary.measures import value
from eval.tabulate.effects import MULTI_HOP, RECALL

# What a strategy is without its graph: the start ranking alone.
_BASES: Mapping[str, str] = {
    **dict.fromkeys(("graph_score", "graph_expand", "hybrid_gate"), "vector_only"),
    **dict.fromkeys(
        ("graph_score_hybrid", "graph_expand_hybrid", "hybrid_gate_hybrid"), "hybrid_rank"
    ),
}
_TYPES = tuple(name for category, name in TYPES.items() if category != ADVERSARIAL)


def interaction(
    runs: Sequence[Run], strong: str, weak: str, seed: int
) -> tuple[list[str], list[list[str]]]:
    """Header and a row for each strategy and score: its gain over its base with either embedder,
    and the weak one's gain minus the strong one's.

    Paired by question: (own - base) with `weak` minus (own - base) with `strong`, so that what
    makes a question hard for all four runs has no part in it. p is Holm's over all rows.
    """
    by_name = {(one.manifest["choices"]["embedder"], one.manifest["strategy"]): one for one in runs}
    titles, gains, differences = [], [], []
    for strategy, base in _BASES.items():
        four = [by_name.get((e, s)) for e in (weak, strong) for s in (strategy, base)]
        known = [run for run in four if run is not None]
        if len(known) < len(four):
            continue
        for score, key, types in (
            ("F1", known[0].own_f1, _TYPES),
            ("evidence recall", RECALL, _TYPES),
            ("evidence recall, multi_hop", RECALL, (MULTI_HOP,)),
        ):
            records, weak_gain, strong_gain = _gains(known, key, types)
            titles.append([f"{strategy} - {base}", score, str(len(records))])
            cells = [Sample.of(records, each, seed).mean() for each in (strong_gain, weak_gain)]
            gains.append([show(cell) for cell in cells])
            both = zip(weak_gain, strong_gain, strict=True)
            differences.append((records, [mine - other for mine, other in both]))
    header = ["gain of", "in", "n", f"with {strong}", f"with {weak}", f"{weak} minus {strong}"]
    cells_of = difference_cells(differences, seed)
    parts = zip(titles, gains, cells_of, strict=True)
    return [*header, "p (Holm)", "verdict"], [[*one, *two, *three] for one, two, three in parts]


def _gains(
    runs: Sequence[Run], key: str, types: Sequence[str]
) -> tuple[list[Record], list[float], list[float]]:
    """Questions that all four runs have scores on, with the first two's and the last two's gain."""
    kept, first, last = [], [], []
    for id_, record in runs[0].records.items():
        if record["type"] not in types:
            continue
        scores = [value(run.records[id_], key) if id_ in run.records else None for run in runs]
        known = [score for score in scores if score is not None]
        if len(known) == len(scores):
            kept.append(record)
            first.append(known[0] - known[1])
            last.append(known[2] - known[3])
    return kept, first, last
