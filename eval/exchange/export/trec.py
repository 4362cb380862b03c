"""Files of TREC: run.trec, qrels.trec, topics.tsv and corpus.jsonl, and qrels by question type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from eval.datasets.types import ADVERSARIAL
from eval.exchange.export.collection import Collection, UnitName
from eval.records.jsonl import write_lines
from eval.records.rankings import SESSION, Ranked, UnitRanking
from eval.records.run import Run
from eval.records.schema import Record
from eval.records.trec import encode, qrels_lines, run_lines
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

TEXTS = "corpus.jsonl and topics.tsv"


def write(run: Run, unit: UnitName, depth: int | None, folder: Path) -> list[str]:
    """Write the files into `folder`, with at most `depth` documents a question; returns notes.

    Judged are the questions that count in means. qrels.trec has those of all types, qrels/TYPE.trec
    those of one, and qrels/overall.trec those that tables count as overall: all but type 5.

    Raises InputError if the run has no rankings in `unit`, or if they end before `depth`.
    """
    check_ranked(run, unit, depth)
    collection = Collection(run, unit)
    tag = encode(run.manifest["run_id"])
    with (folder / "run.trec").open("w", encoding="utf-8", newline="\n") as file:
        for id_, ranked in _counted(run).items():
            found = [collection.id_of(ranked.store, one) for one in _unit(run, ranked, unit).ids]
            file.writelines(run_lines(encode(id_), found[:depth], tag))
    _write_qrels(folder, [(one, collection.relevant(one)) for one in run.counted])
    with (folder / "topics.tsv").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{id_}\t{text}\n" for id_, text in collection.topics())
    documents = collection.documents.values()
    rows = ({"id": one.id, "text": one.text, **one.fields()} for one in documents)
    write_lines(folder / "corpus.jsonl", rows)
    return [*_ends(run, unit, depth), *_notes(run)]


def _write_qrels(folder: Path, judged: Sequence[tuple[Record, list[str]]]) -> None:
    found: dict[str, list[str]] = {"qrels.trec": []}
    for record, documents in judged:
        names = ["qrels.trec", f"qrels/{quote(record['type'], safe='')}.trec"]
        names += [f"qrels/{OVERALL}.trec"] * (record["category"] != ADVERSARIAL)
        for name in names if documents else []:
            found.setdefault(name, []).extend(qrels_lines(encode(record["id"]), documents))
    (folder / "qrels").mkdir()
    for name, lines in found.items():
        with (folder / name).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)


def check_ranked(run: Run, unit: UnitName, depth: int | None) -> None:
    """Raise InputError unless the run has rankings in `unit` that reach `depth` (None: any)."""
    used = run.manifest["retrieval"]
    if used is None or not run.rankings:
        raise InputError(
            f"{run.label}: has no rankings; run it again with retrieval.depth=100, or export "
            "--to beir, parquet or csv"
        )
    for id_, ranked in _counted(run).items():
        known = _unit(run, ranked, unit)
        if depth is None:
            continue
        if ranked.selected:
            raise InputError(
                f"{run.label}: {id_}: its strategy only selects memories, in no order; leave out "
                "--depth"
            )
        reached = used["depth"] is None or used["depth"] >= depth
        if unit == used["unit"] and not (reached or known.complete or len(known.ids) >= depth):
            deeper = (
                "import a deeper one"
                if unit == SESSION
                else (f"run it with retrieval.depth={depth} or more")
            )
            raise InputError(
                f"{run.label}: depth {used['depth']}: what follows to --depth {depth} is unknown; "
                f"{deeper}"
            )


def _counted(run: Run) -> dict[str, Ranked]:
    """Return the rankings of the questions that count, in the order of the records."""
    ids = (record["id"] for record in run.counted)
    return {id_: run.rankings[id_] for id_ in ids if id_ in run.rankings}


def _unit(run: Run, ranked: Ranked, unit: UnitName) -> UnitRanking:
    found = ranked.sessions if unit == SESSION else ranked.turns
    if found is None:
        other = "turn" if unit == SESSION else SESSION
        raise InputError(
            f"{run.label}: {ranked.question}: has no ranking of {unit}s; use --unit {other}"
        )
    return found


def _ends(run: Run, unit: UnitName, depth: int | None) -> list[str]:
    """Return a note on rankings that end although more could follow."""
    used, rankings = run.manifest["retrieval"], _counted(run).values()
    units = [_unit(run, one, unit) for one in rankings if not one.selected]
    if used is None or used["depth"] is None:
        return []
    if unit != used["unit"]:
        short = sum(not one.complete and (not depth or len(one.ids) < depth) for one in units)
        return [
            f"sessions are those of the best {used['depth']} memories: {short:,} rankings end "
            + (f"before --depth {depth}" if depth else "before the last session of the store")
        ] * bool(short)
    end = min(depth or used["depth"], used["depth"])
    return [f"rankings end at {end}: measures at cutoffs beyond are unknown"] * (
        any(not one.complete for one in units)
    )


def _notes(run: Run) -> list[str]:
    rankings, notes = _counted(run), []
    if selected := sum(one.selected for one in rankings.values()):
        notes.append(
            f"{selected:,} of {len(rankings):,} rankings are in no order, as the strategy only "
            "selects: measure recall or precision of the whole list alone"
        )
    if left := len(run.records) - len(run.counted):
        notes.append(f"in topics.tsv only, since they failed or are excluded by the key: {left:,}")
    if unranked := len(run.counted) - len(rankings):
        notes.append(f"questions without a ranking, which tools count as 0: {unranked:,}")
    return notes
