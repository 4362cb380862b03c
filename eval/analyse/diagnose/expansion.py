"""Effect of graph expansion: evidence it adds, and evidence it displaces."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from eval.analyse.diagnose.pairing import Pair, memory_ids
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Section, Table
from eval.rendering.contrasts import difference_cells
from eval.rendering.numbers import interval, percent, signed
from eval.rendering.tables import type_name
from eval.summary.contrast import paired_contrasts
from eval.summary.gate_cases import DIRECT, EXPANDED, found_turns, recall
from eval.summary.sample import Sample, by_type

_TITLE = "Direct and expanded"


def expansion(run: Run, pairs: Sequence[Pair] | None) -> Section:
    """Return the section on `run`; `pairs`: see pair_with_direct, None without the other run."""
    if not run.retrieval_known:
        return Section(_TITLE, ["Unknown: imported answers do not include what was retrieved."])
    if not run.traces("expansion"):
        return Section(_TITLE, [f"{run.strategy} records no expansion."])
    records = [record for record in run.counted if record["evidence"]]
    if not any(by_type(records)):
        return Section(_TITLE, ["No question of types 1-4 with evidence was answered."])
    parts: list[str | Table] = [
        "Questions of types 1-4 with evidence; shares of their evidence turns.",
        where_found(records, run.seed),
        "Memories reached in the graph (some were also found directly), memories added to the "
        "context by the graph alone, and the share of memories in the context that contain an "
        "evidence turn (n memories).",
        memories(records, run.seed),
    ]
    both = [pair for pair in pairs or () if pair[0]["evidence"]]
    if pairs is None:
        parts.append("Displaced memories require --direct RUN, the same run without expansion.")
    elif not any(by_type([mine for mine, _ in both])):
        parts.append("No question of types 1-4 with evidence was answered by both runs.")
    else:
        parts += [
            "Displaced: memories in the context of the run without expansion that are not in this "
            "one, and the share of them that contain an evidence turn. Gained and lost: evidence "
            "turns in the context of this run only, and of the other only.",
            displaced(both, run.seed),
            "Evidence recall minus that of the run without expansion, paired by question, p "
            "adjusted by Holm's method:",
            _differences(both, run.seed),
        ]
    return Section(_TITLE, parts)


def where_found(records: Sequence[Record], seed: int) -> Table:
    """Return shares of evidence turns found directly, by expansion only, or not at all, by type."""
    rows = []
    for name, chosen in by_type(records):
        turns = [(record, turn) for record in chosen for turn in sorted(set(record["evidence"]))]
        ways = (
            [turn in found_turns(record, DIRECT) for record, turn in turns],
            [turn in found_turns(record, EXPANDED) for record, turn in turns],
            [turn not in found_turns(record) for record, turn in turns],
        )
        of = [record for record, _ in turns]
        shares = [Sample.of(of, list(map(float, hits)), seed).share() for hits in ways]
        rows.append([type_name(name), str(len(chosen)), str(len(turns)), *map(percent, shares)])
    header = ["type", "n", "evidence turns", "found direct", "only by expansion", "missed"]
    return Table(header, rows)


def memories(records: Sequence[Record], seed: int) -> Table:
    """Return memories per question reached and added by the graph, and precision by origin."""
    rows = []
    for name, chosen in by_type(records):
        rows.append(
            [
                *(type_name(name), str(len(chosen))),
                _count(chosen, [len(record["trace"]["expansion"]) for record in chosen], seed),
                _count(chosen, [len(memory_ids(record, EXPANDED)) for record in chosen], seed),
                _evidence_share(chosen, [memory_ids(record, EXPANDED) for record in chosen], seed),
                _evidence_share(chosen, [memory_ids(record, DIRECT) for record in chosen], seed),
            ]
        )
    header = ["type", "n", "reached per question", "added per question"]
    return Table([*header, "of the added, evidence", "of the direct, evidence"], rows)


def displaced(pairs: Sequence[Pair], seed: int) -> Table:
    """Return memories and evidence turns that differ between the contexts of two runs, by type."""
    rows = []
    for name, chosen in _typed(pairs):
        others = [theirs for _, theirs in chosen]
        gone = [memory_ids(theirs) - memory_ids(mine) for mine, theirs in chosen]
        gained = sum(len(found_turns(mine) - found_turns(theirs)) for mine, theirs in chosen)
        lost = sum(len(found_turns(theirs) - found_turns(mine)) for mine, theirs in chosen)
        rows.append(
            [
                *(type_name(name), str(len(chosen))),
                _count(others, [len(ids) for ids in gone], seed),
                _evidence_share(others, gone, seed),
                *(str(gained), str(lost), signed(gained - lost, 0)),
            ]
        )
    header = ["type", "n", "displaced per question", "of these, evidence"]
    return Table([*header, "gained", "lost", "net"], rows)


def _differences(pairs: Sequence[Pair], seed: int) -> Table:
    groups = _typed(pairs)
    differences = [
        ([mine for mine, _ in chosen], [recall(mine) - recall(other) for mine, other in chosen])
        for _, chosen in groups
    ]
    rows = [
        [type_name(name), str(len(chosen)), *difference_cells(one)]
        for (name, chosen), one in zip(groups, paired_contrasts(differences, seed), strict=True)
    ]
    return Table(["type", "n", "recall difference", "p", "verdict"], rows)


def _typed(pairs: Sequence[Pair]) -> list[tuple[str, list[Pair]]]:
    return list(by_type(pairs, itemgetter(0)))


def _count(records: Sequence[Record], counts: Sequence[int], seed: int) -> str:
    found = Sample.of(records, [float(count) for count in counts], seed).mean(0.0)
    return interval(found, 2)


def _evidence_share(records: Sequence[Record], chosen: Sequence[set[str]], seed: int) -> str:
    """Format the share of `chosen` memories (a set of ids per record) that contain evidence."""
    holders, hits = [], []
    for record, ids in zip(records, chosen, strict=True):
        wanted = set(record["evidence"])
        for id_, turns, *_ in record["retrieved"] or ():
            if id_ in ids:
                holders.append(record)
                hits.append(float(not wanted.isdisjoint(turns)))
    return percent(Sample.of(holders, hits, seed).share(), with_n=True)
