"""What the graph added, and what it pushed out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval.diagnose.pairing import Pair, kept
from eval.metrics.evidence import evidence_recall
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.intervals import Sample, by_type, difference_cells, percent, show, with_n
from eval.rendering.numbers import signed
from eval.rendering.section import Section, Table
from eval.rendering.tables import type_name

_TITLE = "Direct and expanded"
DIRECT, EXPANDED = "direct", "expanded"


def expansion(run: Run, pairs: Sequence[Pair] | None) -> Section:
    """The section of `run`; `pairs`: its records with those of the run without expansion."""
    if not run.retrieval_known:
        return Section(_TITLE, ["Not known: imported answers do not tell what was retrieved."])
    if not run.traces("expansion"):
        return Section(_TITLE, [f"{run.strategy} records no expansion: nothing to tell apart."])
    records = [record for record in run.counted if record["evidence"]]
    if not any(by_type(records)):
        return Section(_TITLE, ["No question of types 1-4 with evidence was answered."])
    parts: list[str | Table] = [
        "Questions of types 1-4 with evidence; shares of their evidence turns.",
        where_found(records, run.seed),
        "Memories reached by following the graph (some were found directly as well), those that "
        "it alone brought and that were put before the reader, and the share of the memories put "
        "there that hold an evidence turn (n memories).",
        memories(records, run.seed),
    ]
    both = [pair for pair in pairs or () if pair[0]["evidence"]]
    if pairs is None:
        parts.append("What expansion pushed out takes --direct RUN, the same run without it.")
    elif not any(by_type([mine for mine, _ in both])):
        parts.append("No question of types 1-4 with evidence was answered by both runs.")
    else:
        parts += [
            "Pushed out: memories of the run without expansion that this run lacks, and the share "
            "of them that hold an evidence turn. Gained and lost: evidence turns that only this "
            "run, or only the other, put before the reader.",
            pushed_out(both, run.seed),
            "Evidence recall minus that of the run without expansion, paired by question, p "
            "adjusted by Holm's method:",
            _differences(both, run.seed),
        ]
    return Section(_TITLE, parts)


def found_turns(record: Record, origin: str | None = None) -> set[str]:
    """Evidence turns that were retrieved, of all origins or of one; found both ways is direct."""
    found = record["evidence_found"] or {"direct": [], "expanded": []}
    direct = set(found["direct"])
    if origin is None:
        return direct | set(found["expanded"])
    return direct if origin == DIRECT else set(found["expanded"]) - direct


def recall(record: Record) -> float:
    """Evidence recall, 0 to 1, of a question that has evidence; raises ValueError without."""
    found = evidence_recall(record["evidence"], found_turns(record))
    if found is None:
        raise ValueError(f"{record['id']}: no evidence")
    return found


def where_found(records: Sequence[Record], seed: int) -> Table:
    """Shares of the evidence turns that came directly, only by expansion, or not, by type."""
    rows = []
    for name, own in by_type(records):
        turns = [(record, turn) for record in own for turn in sorted(set(record["evidence"]))]
        ways = (
            [turn in found_turns(record, DIRECT) for record, turn in turns],
            [turn in found_turns(record, EXPANDED) for record, turn in turns],
            [turn not in found_turns(record) for record, turn in turns],
        )
        of = [record for record, _ in turns]
        shares = [Sample.of(of, list(map(float, hits)), seed).share() for hits in ways]
        rows.append([type_name(name), str(len(own)), str(len(turns)), *map(percent, shares)])
    header = ["type", "n", "evidence turns", "found direct", "only by expansion", "missed"]
    return Table(header, rows)


def memories(records: Sequence[Record], seed: int) -> Table:
    """Memories per question that the graph reached and added, and precision by origin."""
    rows = []
    for name, own in by_type(records):
        rows.append(
            [
                *(type_name(name), str(len(own))),
                _count(own, [len(record["trace"]["expansion"]) for record in own], seed),
                _count(own, [len(kept(record, EXPANDED)) for record in own], seed),
                _holding(own, [kept(record, EXPANDED) for record in own], seed),
                _holding(own, [kept(record, DIRECT) for record in own], seed),
            ]
        )
    header = ["type", "n", "reached per question", "added per question"]
    return Table([*header, "of the added, evidence", "of the direct, evidence"], rows)


def pushed_out(pairs: Sequence[Pair], seed: int) -> Table:
    """What the direct run had and the expanding one lacks, and evidence turns won and lost."""
    rows = []
    for name, own in _typed(pairs):
        others = [theirs for _, theirs in own]
        gone = [kept(theirs) - kept(mine) for mine, theirs in own]
        gained = sum(len(found_turns(mine) - found_turns(theirs)) for mine, theirs in own)
        lost = sum(len(found_turns(theirs) - found_turns(mine)) for mine, theirs in own)
        rows.append(
            [
                *(type_name(name), str(len(own))),
                _count(others, [len(ids) for ids in gone], seed),
                _holding(others, gone, seed),
                *(str(gained), str(lost), signed(gained - lost, 0)),
            ]
        )
    header = ["type", "n", "pushed out per question", "of these, evidence"]
    return Table([*header, "gained", "lost", "net"], rows)


def _differences(pairs: Sequence[Pair], seed: int) -> Table:
    groups = _typed(pairs)
    cells = difference_cells(
        [
            ([mine for mine, _ in own], [recall(mine) - recall(theirs) for mine, theirs in own])
            for _, own in groups
        ],
        seed,
    )
    rows = [
        [type_name(name), str(len(own)), *row]
        for (name, own), row in zip(groups, cells, strict=True)
    ]
    return Table(["type", "n", "recall difference", "p", "verdict"], rows)


def _typed(pairs: Sequence[Pair]) -> list[tuple[str, list[Pair]]]:
    of = {mine["id"]: (mine, theirs) for mine, theirs in pairs}
    groups = by_type([mine for mine, _ in pairs])
    return [(name, [of[record["id"]] for record in own]) for name, own in groups]


def _count(records: Sequence[Record], counts: Sequence[int], seed: int) -> str:
    found = Sample.of(records, [float(count) for count in counts], seed).mean()
    return show(found and replace(found, low=max(found.low, 0.0)), digits=2)


def _holding(records: Sequence[Record], chosen: Sequence[set[str]], seed: int) -> str:
    """Share of the `chosen` memories (ids, a set for each record) that hold evidence; with n."""
    of, hits = [], []
    for record, ids in zip(records, chosen, strict=True):
        wanted = set(record["evidence"])
        for id_, turns, *_ in record["retrieved"] or ():
            if id_ in ids:
                of.append(record)
                hits.append(float(not wanted.isdisjoint(turns)))
    return with_n(Sample.of(of, hits, seed).share())
