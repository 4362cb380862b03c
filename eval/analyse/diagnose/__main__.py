"""`python -m eval diagnose RUN`: error analysis of a run, explained in docs/analysis.md."""

import argparse
from collections.abc import Sequence
from operator import itemgetter

from eval.analyse.diagnose.gate import (
    ORIGINS,
    TEXTS,
    Case,
    abstention,
    cases,
    differences,
    found_turns,
    gate,
    recall,
)
from eval.analyse.diagnose.pairing import Pair, memory_ids, pair_with_direct, pair_with_expanded
from eval.analyse.diagnose.retrieval_vs_reading import Marking, retrieval_and_reading
from eval.cli import add_run, add_wide, code_of, parser
from eval.metrics.registry import columns
from eval.metrics.stats.interval import scope
from eval.records.run import Run, load_run
from eval.records.schema import Record
from eval.rendering.blocks import Section, Table, as_text
from eval.rendering.numbers import interval, percent, signed
from eval.rendering.tables import type_name
from eval.summary.sample import Sample, by_type
from memsys.core.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    command = parser(
        "diagnose",
        "Analyse the errors of a run: points lost in retrieval and in reading, the effect of graph "
        "expansion, the decisions of the gate, and refusals. docs/analysis.md explains the tables.",
    )
    add_run(command)
    add = command.add_argument
    add("--direct", metavar="RUN", help="the same run without expansion")
    add("--expanded", metavar="RUN", help="the same run with its gate always open")
    scores = "f1_mem0, bleu1 or another score of the records (default: the run's own F1)"
    add("--score", metavar="NAME", help=scores)
    least = "least score of a correct answer where no judge gave a verdict (default: 0.5)"
    add("--correct", type=float, default=0.5, metavar="SCORE", help=least)
    add_wide(command)
    return code_of(lambda: _diagnose(command.parse_args(arguments)))


def report(run: Run, direct: Run | None, expanded: Run | None, marking: Marking) -> list[Section]:
    """Return the four sections on `run`; `expanded` requires `direct`.

    A run without answers has the first alone. Raises InputError if the other runs differ in more
    than expansion and gate.
    """
    if not run.has_answers:
        return [retrieval_and_reading(run, marking)]
    pairs = pair_with_direct(run, direct) if direct else None
    gated: list[Case] | None = None
    if pairs is not None and expanded:
        always = [other for _, other in pair_with_expanded(run, expanded)]
        gated = cases(run.counted, [other for _, other in pairs], always)
    return [
        retrieval_and_reading(run, marking),
        expansion(run, pairs),
        gate(run, gated),
        abstention(run),
    ]


def _diagnose(options: argparse.Namespace) -> None:
    if not 0 < options.correct <= 1:
        raise InputError(f"--correct {options.correct:g}: scores are 0 to 1; use more than 0")
    if options.expanded and not options.direct:
        raise InputError("--expanded: needs --direct RUN as well, the run without expansion")
    run = load_run(options.run)
    direct, expanded = (
        load_run(name) if name else None for name in (options.direct, options.expanded)
    )
    score = run.own_f1 if options.score in {None, "f1"} else options.score
    marking = Marking(columns().get(score, score), options.correct)
    sections = report(run, direct, expanded, marking)
    print(f"Error analysis of {run.strategy} on {run.manifest['dataset']}")
    print(f"{_coverage(run)}\n")
    print(as_text(sections))


def _coverage(run: Run) -> str:
    excluded = len(run.excluded)
    failed = len(run.records) - len(run.counted) - excluded
    aside = f"{failed} failed" + (f", {excluded} excluded by the answer key" if excluded else "")
    conversations = {record["conversation"] for record in run.records.values()}
    groups = by_type(run.counted)
    over = scope(len({record["conversation"] for record in records}) for _, records in groups)
    return (
        f"{len(run.records)} questions of {len(conversations)} conversations; not counted: "
        f"{aside}.\nIn brackets: 95% intervals, {over}."
    )


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
        TEXTS["expansion"]["reached"],
        memories(records, run.seed),
    ]
    both = [pair for pair in pairs or () if pair[0]["evidence"]]
    if pairs is None:
        parts.append("Displaced memories require --direct RUN, the same run without expansion.")
    elif not any(by_type([mine for mine, _ in both])):
        parts.append("No question of types 1-4 with evidence was answered by both runs.")
    else:
        parts += [
            TEXTS["expansion"]["displaced"],
            displaced(both, run.seed),
            TEXTS["expansion"]["differences"],
            _differences(both, run.seed),
        ]
    return Section(_TITLE, parts)


def where_found(records: Sequence[Record], seed: int) -> Table:
    """Return shares of evidence turns found directly, by expansion only, or not at all, by type."""
    rows = []
    for name, group in by_type(records):
        turns = [(record, turn) for record in group for turn in sorted(set(record["evidence"]))]
        of = [record for record, _ in turns]
        ways = [
            *([turn in found_turns(record, way) for record, turn in turns] for way in ORIGINS),
            [turn not in found_turns(record) for record, turn in turns],
        ]
        shares = [percent(Sample.of(of, hits, seed).share()) for hits in ways]
        rows.append([type_name(name), str(len(group)), str(len(turns)), *shares])
    header = ["type", "n", "evidence turns", "found direct", "only by expansion", "missed"]
    return Table(header, rows)


def memories(records: Sequence[Record], seed: int) -> Table:
    """Return memories per question reached and added by the graph, and precision by origin."""
    rows = []
    for name, group in by_type(records):
        direct, added = ([memory_ids(record, way) for record in group] for way in ORIGINS)
        counts = ([len(record["trace"]["expansion"]) for record in group], [*map(len, added)])
        means = [_count(group, values, seed) for values in counts]
        shares = [_evidence_share(group, ids, seed) for ids in (added, direct)]
        rows.append([type_name(name), str(len(group)), *means, *shares])
    header = ["type", "n", "reached per question", "added per question"]
    return Table([*header, "of the added, evidence", "of the direct, evidence"], rows)


def displaced(pairs: Sequence[Pair], seed: int) -> Table:
    """Return memories and evidence turns that differ between the contexts of two runs, by type."""
    rows = []
    for name, group in by_type(pairs, itemgetter(0)):
        others = [theirs for _, theirs in group]
        gone = [memory_ids(theirs) - memory_ids(mine) for mine, theirs in group]
        gained = sum(len(found_turns(mine) - found_turns(theirs)) for mine, theirs in group)
        lost = sum(len(found_turns(theirs) - found_turns(mine)) for mine, theirs in group)
        means = [_count(others, [*map(len, gone)], seed), _evidence_share(others, gone, seed)]
        turns = [str(gained), str(lost), signed(gained - lost, 0)]
        rows.append([type_name(name), str(len(group)), *means, *turns])
    header = ["type", "n", "displaced per question", "of these, evidence"]
    return Table([*header, "gained", "lost", "net"], rows)


def _differences(pairs: Sequence[Pair], seed: int) -> Table:
    named = {}
    for name, group in by_type(pairs, itemgetter(0)):
        values = [recall(mine) - recall(theirs) for mine, theirs in group]
        named[type_name(name)] = Sample.of([mine for mine, _ in group], values, seed)
    return differences("type", named)


def _count(records: Sequence[Record], counts: Sequence[int], seed: int) -> str:
    return interval(Sample.of(records, counts, seed).mean(0.0), 2)


def _evidence_share(records: Sequence[Record], id_sets: Sequence[set[str]], seed: int) -> str:
    """Format the share of memories (`id_sets`: one set per record) that contain evidence."""
    holders, hits = [], []
    for record, ids in zip(records, id_sets, strict=True):
        wanted = set(record["evidence"])
        for id_, turns, *_ in record["retrieved"] or ():
            if id_ in ids:
                holders.append(record)
                hits.append(not wanted.isdisjoint(turns))
    return percent(Sample.of(holders, hits, seed).share(), with_n=True)
