"""The run without answers that an imported ranking becomes, in a folder or in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from eval.answers.ranking_files import LAYOUTS, RankingFile
from eval.datasets.pooled import POOLED
from eval.imports.account import (
    SHOWN,
    Account,
    counted,
    lines,
    missing_by_type,
    missing_facts,
    sentences,
)
from eval.imports.rankings.imports import Import
from eval.metrics.retrieval.registry import Unit
from eval.records.rankings import RULE, Ranked, as_ranked, session_of
from eval.records.run import Run
from eval.records.schema import Manifest, MemoryLine, RankingLine, Record
from eval.records.scoring import score_record
from eval.rendering.tables import report_md
from eval.summary.closing import add_sentences, describe_import, unanswered, write_imported
from memsys.core.tokens import count_tokens
from memsys.core.turns import line

_RULES: Mapping[Unit, str] = {
    "turn": f"turns were ranked by another system; {RULE}",
    "session": "sessions were ranked by another system",
}


def write_import(
    source: Import,
    file: RankingFile,
    folder: Path,
    config: Mapping[str, Any],
    command: Sequence[str],
) -> Manifest:
    """Write the run folder of rankings from `file` and return its manifest.

    `config` loads the data set again; `command` repeats the import. Raises InputError if the folder
    is not empty.
    """
    began = perf_counter()
    described = {"file": asdict(file.source), "format": file.layout}
    imported = described | {"format_name": LAYOUTS[file.layout]}
    manifest = _manifest(source, config, described, command, {"import": imported})
    lines, memories = list(_ranking_lines(source)), list(_memory_lines(source))
    records, _ = _scored(source, lines, memories, manifest)
    seconds = {"score": perf_counter() - began}
    write_imported(
        folder,
        manifest,
        records,
        seconds,
        report_md,
        option="--run-folder",
        rankings=lines,
        memories=memories,
    )
    add_sentences(folder, manifest["matching"]["sentences"])
    return manifest


@dataclass(frozen=True)
class UnwrittenRun(Run):
    """A run that is in no folder, with its rankings."""

    given: Mapping[str, Ranked]

    @cached_property
    def rankings(self) -> dict[str, Ranked]:
        """Rankings by question id."""
        return dict(self.given)


def run_of(source: Import, config: Mapping[str, Any]) -> UnwrittenRun:
    """Return the run that write_import would write of rankings that are in no file."""
    manifest = _manifest(source, config, {}, [], {"status": "complete"})
    files = list(_ranking_lines(source)), list(_memory_lines(source))
    records, ranked = _scored(source, *files, manifest)
    by_id = {record["id"]: record for record in records}
    return UnwrittenRun(source.name, Path(source.name), manifest, by_id, ranked)


def _manifest(
    source: Import,
    config: Mapping[str, Any],
    imported: Mapping[str, Any],
    command: Sequence[str],
    fields: Mapping[str, Any],
) -> Manifest:
    config = dict(config) | ({"pooled": True} if source.pooled else {})
    used = {"depth": source.depth, "unit": source.unit, "rule": _RULES[source.unit]}
    depth = {} if source.given_depth is None else {"depth": source.given_depth}
    settings = {"dataset": config, "import": {**imported, **depth}}
    details = {"retrieval": used, "stores": source.sizes, **account(source).fields(), **fields}
    return describe_import(source.name, source.dataset, settings, command, details)


def _ranking_lines(source: Import) -> Iterator[RankingLine]:
    """Yield the lines of rankings.jsonl. Without scores, the number of ids from this one to the
    last is one, as in our TREC runs.
    """
    for id_, ranking in source.rankings.items():
        count = len(ranking.ranked)
        pairs = [
            (ranked, float(count - place) if score is None else score)
            for place, (ranked, score) in enumerate(ranking.ranked)
        ]
        yield RankingLine(id=id_, store=source.stores[id_], selected=False, ranking=pairs)


def _memory_lines(source: Import) -> Iterator[MemoryLine]:
    """Yield the lines of memories.jsonl: each ranked turn or session is a memory."""
    whole = source.unit == "session"
    ranked: dict[str, set[str]] = {}
    for id_, ranking in source.rankings.items():
        ranked.setdefault(source.stores[id_], set()).update(dict(ranking.ranked))
    for conversation in source.dataset.conversations:
        ids, store = ranked.get(conversation.id, set()), conversation.id
        for session in conversation.sessions:
            units = [session.turns] if whole else [(turn,) for turn in session.turns]
            for turns in units:
                id_ = session_of(turns[0].id) if whole else turns[0].id
                if id_ in ids:
                    tokens = None if whole else count_tokens(line(turns[0]))
                    names = [turn.id for turn in turns]
                    yield MemoryLine(store=store, id=id_, turns=names, tokens=tokens)


def _scored(
    source: Import,
    lines: Sequence[RankingLine],
    memories: Sequence[MemoryLine],
    manifest: Manifest,
) -> tuple[list[Record], dict[str, Ranked]]:
    """Return the records of the questions with a ranking, in the data set's order, and the rankings
    by question id.
    """
    by_id = {(memory["store"], memory["id"]): memory for memory in memories}
    ranked = {row["id"]: as_ranked(row, by_id, manifest) for row in lines}
    records = []
    for question in source.dataset.questions:
        if question.id in ranked:
            place = source.rankings[question.id].row.place
            record = cast(Record, {**unanswered(question), "source": place})
            scores = score_record(record, ranked=ranked[question.id].turns)
            records.append(cast(Record, {**record, **scores}))
    return records, ranked


def account(source: Import) -> Account:
    """Return counts, the first of each kind, and sentences on them."""
    questions, rankings = source.dataset.questions, source.rankings
    missing = missing_by_type(source.dataset, rankings)
    lengths = [len(ranking.ranked) for ranking in rankings.values() if ranking.ranked]
    counts: dict[str, Any] = {
        "rows": len(source.rows),
        "matched": len(rankings),
        "questions": len(questions),
        "dataset": source.dataset.name,
        "unit": source.unit,
        "unknown": len(source.unknown),
        "unknown_first": [
            {"place": row.place, "reason": reason, "question": f"{row.text or row.id:.80}"}
            for row, reason in source.unknown[:SHOWN]
        ],
        "doubled": len(source.doubled),
        "doubled_first": [
            {"place": row.place, "question": id_} for row, id_ in source.doubled[:SHOWN]
        ],
        "without_ranking": len(questions) - len(rankings),
        "without_ranking_by_type": {
            name: {"without": without, "of": of} for name, (without, of) in missing.items()
        },
        "empty": [id_ for id_, ranking in rankings.items() if not ranking.ranked],
        "first_index": source.first,
        "of_other_conversations": source.strangers,
        "ids": sum(len(ranking.ranked) for ranking in rankings.values()),
        "pooled_size": source.sizes[POOLED][f"{source.unit}s"] if source.pooled else None,
        "shortest": min(lengths),
        "longest": max(lengths),
        "depth": source.depth,
        "depth_given": source.given_depth is not None,
    }
    facts = counts | missing_facts(missing) | _depth(source, counts)
    if empty := counts["empty"]:
        first = ", ".join(empty[:SHOWN]) + ", ..." * (len(empty) > SHOWN)
        facts["empty"] = f"{counted(len(empty), 'ranking')} ({first})"
    facts["first_unknown"] = lines(map(_unknown, counts["unknown_first"]))
    facts["first_doubled"] = lines(
        f"{row['place']}: {row['question']}" for row in counts["doubled_first"]
    )
    kinds = ("rankings", "warnings_of_rankings")
    return Account(counts, *(list(sentences(kind, facts)) for kind in kinds))


def _unknown(row: Mapping[str, str]) -> str:
    """Return place and reason, and the question unless the place is named by it."""
    place, question = row["place"], row["question"]
    named = place in (f"{question!r:.60}", f"query {question}")
    return f"{place}: {row['reason']}" + ("" if named else f": {question!r}")


def _depth(source: Import, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts on the depth and on the cutoffs that it determines."""
    low, high, depth = (counts[name] for name in ("shortest", "longest", "depth"))
    lengths = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    facts = {"lengths": f"Rankings have {lengths} ids", "deepest": str(high)}
    if depth is None:
        return {"whole": True}
    if source.given_depth is not None:
        return facts | {"depth_given": True, "given": str(depth)}
    if depth == high:
        return facts | {"cut_at_end": True}
    first = next(id_ for id_, ranking in source.cut if len(ranking.ranked) == depth)
    return facts | {"cut_before": True, "first_cut": first}
