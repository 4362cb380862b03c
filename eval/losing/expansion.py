"""What the graph added, and what it pushed out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.losing.counterparts import Pair, kept
from eval.losing.figures import Sample, by_type, difference_cells, label, percent, show, with_n
from eval.losing.runs import Run
from eval.losing.section import Section, Table
from eval.metrics.evidence import evidence_recall
from eval.records import Record
from eval.stats.paired import compare, holm

_TITLE = "Direct and expanded"
DIRECT, EXPANDED = "direct", "expanded"


@dataclass(frozen=True, slots=True)
class Exchange:
    """Evidence turns that an expanding run found and the direct one did not, and the reverse."""

    gained: int
    lost: int


def exchange(pair: Pair) -> Exchange:
    """Of one question, record of the expanding run first."""
    mine, theirs = (found_turns(record) for record in pair)
    return Exchange(len(mine - theirs), len(theirs - mine))


def found_turns(record: Record, origin: str | None = None) -> set[str]:
    """Evidence turns that were retrieved; one found both ways counts as direct."""
    found = record["evidence_found"]
    return {turn for name in (DIRECT, EXPANDED) if origin in {None, name} for turn in found[name]}


def recall(record: Record) -> float:
    """Evidence recall, 0 to 1, of a question that has evidence."""
    found = evidence_recall(record["evidence"], found_turns(record))
    if found is None:
        raise ValueError(f"{record['id']}: no evidence")
    return found


def holding(record: Record, memories: set[str]) -> list[float]:
    """1.0 or 0.0 for each of `memories` retrieved for a question: whether it holds evidence."""
    wanted = set(record["evidence"])
    return [
        float(not wanted.isdisjoint(turns))
        for id_, turns, *_ in record["retrieved"]
        if id_ in memories
    ]


def expansion(run: Run, pairs: Sequence[Pair] | None) -> Section:
    """The section of `run`; `pairs`: its records with those of the run without expansion."""
    if not run.retrieval_known:
        return Section(_TITLE, ["Not known: imported answers do not tell what was retrieved."])
    if not run.traces("expansion"):
        return Section(_TITLE, [f"{run.strategy} records no expansion: nothing to tell apart."])
    seed = run.manifest["seed"]
    records = [record for record in run.answered if record["evidence"]]
    others = {mine["id"]: theirs for mine, theirs in pairs or ()}
    where = Table(
        ["type", "n", "evidence turns", "found direct", "only by expansion", "missed"],
        [[label(name), *_where(own, seed)] for name, own in by_type(records)],
    )
    groups = list(by_type(records))
    pushed = [["pushed out a question"], ["pushed out"]] if others else [[], []]
    numbers = Table(
        ["type", "n", "reached a question", "kept a question", *pushed[0]],
        [[label(name), str(len(own)), *_numbers(own, others, seed)] for name, own in groups],
    )
    hits = Table(
        ["type", "expanded, kept", "direct, kept", *pushed[1]],
        [[label(name), *_hits(own, others, seed)] for name, own in groups],
    )
    parts: list[str | Table] = [
        "Questions of types 1-4 with evidence; shares of their evidence turns.",
        where,
        "Expanded memories: reached by following the graph, and kept among those put before the "
        "reader" + ("; and direct ones that are not kept for it." if others else "."),
        numbers,
        "Precision: share of these memories that hold an evidence turn (n memories).",
        hits,
    ]
    if pairs is None:
        parts.append("What expansion pushed out takes --direct RUN, the same run without it.")
    else:
        parts += [
            "Evidence turns against the run without expansion, question by question; the "
            "difference in evidence recall in points of 100, p adjusted by Holm's method.",
            against(pairs, seed),
        ]
    return Section(_TITLE, parts)


def against(pairs: Sequence[Pair], seed: int) -> Table:
    """Evidence gained, lost and net by type, with the paired difference in evidence recall."""
    theirs = {mine["id"]: other for mine, other in pairs}
    groups = list(by_type([mine for mine, _ in pairs if mine["evidence"]]))
    compared = [
        compare(
            [recall(mine) - recall(theirs[mine["id"]]) for mine in own],
            [mine["conversation"] for mine in own],
            seed,
        )
        for _, own in groups
    ]
    adjusted = holm([difference.p for difference in compared])
    rows = []
    for (name, own), difference, p in zip(groups, compared, adjusted, strict=True):
        swaps = [exchange((mine, theirs[mine["id"]])) for mine in own]
        gained, lost = sum(one.gained for one in swaps), sum(one.lost for one in swaps)
        counts = [str(len(own)), str(gained), str(lost), f"{gained - lost:+d}"]
        rows.append([label(name), *counts, *difference_cells(difference, p)])
    header = ["type", "n", "gained", "lost", "net", "recall difference", "p", "verdict"]
    return Table(header, rows)


def _where(records: Sequence[Record], seed: int) -> list[str]:
    of, direct, expanded, missed = [], [], [], []
    for record in records:
        ways = [found_turns(record, origin) for origin in (DIRECT, EXPANDED)]
        for turn in sorted(set(record["evidence"])):
            of.append(record["conversation"])
            direct.append(float(turn in ways[0]))
            expanded.append(float(turn in ways[1] - ways[0]))
            missed.append(1 - direct[-1] - expanded[-1])
    shares = [Sample(values, of, seed).share() for values in (direct, expanded, missed)]
    return [str(len(records)), str(len(of)), *(percent(one) for one in shares)]


def _numbers(records: Sequence[Record], others: dict[str, Record], seed: int) -> list[str]:
    reached = [(record, len(record["trace"]["expansion"])) for record in records]
    added = [(record, len(kept(record, EXPANDED))) for record in records]
    pushed = [(other, len(memories)) for other, memories in _pushed(records, others)]
    return [_count(counts, seed) for counts in (reached, added, *([pushed] if others else []))]


def _hits(records: Sequence[Record], others: dict[str, Record], seed: int) -> list[str]:
    chosen = [[(one, kept(one, origin)) for one in records] for origin in (EXPANDED, DIRECT)]
    if others:
        chosen.append(_pushed(records, others))
    return [_precision(one, seed) for one in chosen]


def _pushed(records: Sequence[Record], others: dict[str, Record]) -> list[tuple[Record, set[str]]]:
    """Records of the direct run, with the memories of theirs that the expanding one lacks."""
    found = [(others[one["id"]], kept(one)) for one in records if one["id"] in others]
    return [(other, kept(other) - mine) for other, mine in found]


def _count(counts: Sequence[tuple[Record, int]], seed: int) -> str:
    of = [record["conversation"] for record, _ in counts]
    found = Sample([float(count) for _, count in counts], of, seed).mean()
    return show(found and replace(found, low=max(found.low, 0.0)), digits=2)


def _precision(chosen: Sequence[tuple[Record, set[str]]], seed: int) -> str:
    """Share of the chosen memories of each question that hold evidence, with their number."""
    values, of = [], []
    for record, memories in chosen:
        found = holding(record, memories)
        values += found
        of += [record["conversation"]] * len(found)
    return with_n(Sample(values, of, seed).share())
