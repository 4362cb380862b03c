"""The test collection of a run (documents, topics, judgements, pools) as files of TREC and BEIR.

TREC: run.trec, qrels.trec, topics.tsv and corpus.jsonl, and qrels by question type. BEIR:
corpus.jsonl, queries.jsonl and qrels/test.tsv, and the pools of LMEB. Sources: Thakur et al., 2021
(https://github.com/beir-cellar/beir/wiki) and, for candidates.jsonl, Zhao et al., 2026
(https://github.com/KaLM-Embedding/LMEB): there, a question is ranked among the documents of its
conversation alone.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from eval.datasets.pooled import POOLED
from eval.datasets.reload import load_original
from eval.datasets.types import ADVERSARIAL
from eval.records.answer_key_views import left_out
from eval.records.files import write_lines
from eval.records.rankings import SESSION, Ranked, UnitRanking, session_of
from eval.records.run import Run
from eval.records.schema import Record
from eval.records.trec import document_of, encode, qrels_lines, run_lines
from eval.summary.retrieval import evidence_of
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from memsys.core.turns import are_documents, line
from memsys.core.types import UNDATED, Session, Turn

UnitName = Literal["turn", "session"]
_NO_FIELD = re.compile(r"^\s+|\s+$|[\x00-\x1f\x7f-\x9f\ufeff]")


class Document(NamedTuple):
    """A turn, a whole session, or a document of a retrieval benchmark, which has no session, time
    and speakers. `fields`: the document id of its session, its time, and its speakers, each once,
    as far as they are known.
    """

    id: str
    text: str
    fields: Mapping[str, str]


class Collection:
    """Documents of the stores that a run's questions are asked of, and the run's topics.

    `pools`: the ids of the documents among which a question is ranked, by its conversation; None
    if these are all documents.
    """

    def __init__(self, run: Run, unit: UnitName, code: Callable[[str], str] = encode) -> None:
        """Load the data set of `run`; InputError if its files are absent or others than then, if
        it has no sessions to be the `unit`, or if several corpora share an id. `code` encodes ids.
        """
        try:
            conversations = load_original(run.manifest).conversations
        except InputError as error:
            text = f"{run.label}: the texts cannot be exported: {error}"
            raise InputError(text) from error
        self._unit, self._code = unit, code
        self._records = run.records
        self._benchmark = all(are_documents(c.sessions) for c in conversations)
        pooled = any(c.id == POOLED for c in conversations)
        self._pooled = pooled and not self._benchmark
        if self._benchmark and unit == SESSION:
            raise InputError(f"{run.label}: its documents belong to no sessions; use --unit turn")
        asked = {self._store_of(record) for record in run.records.values()}
        pools: dict[str, list[str]] = {}
        self.documents: dict[str, Document] = {}
        for conversation in conversations:
            for session in conversation.sessions if conversation.id in asked else ():
                for turns in [session.turns] if unit == SESSION else [(t,) for t in session.turns]:
                    document = self._document(conversation.id, session, turns)
                    if self.documents.setdefault(document.id, document) != document:
                        raise InputError(
                            f"{run.label}: two documents have the id {document.id}; run and export "
                            "each corpus alone"
                        )
                    pools.setdefault(session.owner or conversation.id, []).append(document.id)
        settings = run.manifest["config"].get("dataset")
        filtered = isinstance(settings, Mapping) and bool(settings.get("owner_filter"))
        whole = (self._pooled and not filtered) or (self._benchmark and len(pools) == 1)
        self.pools = None if whole else pools

    def id_of(self, store: str, id_: str) -> str:
        """Return the document id of a turn or session. Those of a retrieval benchmark are its own,
        as a document may be in several pools.
        """
        return document_of(POOLED if self._benchmark else store, id_, self._code)

    def topics(self) -> Iterator[tuple[str, str]]:
        """Yield id and question, each on one line, in the order of the records."""
        for record in self._records.values():
            yield self._code(record["id"]), " ".join(record["question"].split())

    def relevant(self, record: Record) -> list[str]:
        """Return the ids of the documents that are evidence for the question."""
        store = self._store_of(record)
        return [self.id_of(store, id_) for id_ in evidence_of(record, self._unit)]

    def _store_of(self, record: Record) -> str:
        return POOLED if self._pooled else record["conversation"]

    def _document(self, store: str, session: Session, turns: tuple[Turn, ...]) -> Document:
        id_ = session_of(turns[0].id)
        metadata = {
            "session": "" if self._benchmark else self.id_of(store, id_),
            "time": "" if session.time == UNDATED else session.time.isoformat(),
            "speaker": ", ".join(dict.fromkeys(turn.speaker for turn in turns)),
        }
        own = self.id_of(store, id_ if self._unit == SESSION else turns[0].id)
        fields = {name: value for name, value in metadata.items() if value}
        return Document(own, "\n".join(map(line, turns)), fields)


def write_trec(run: Run, unit: UnitName, depth: int | None, folder: Path) -> list[str]:
    """Write the files into `folder`, with at most `depth` documents a question; returns notes.

    Judged are the questions that count in means. qrels.trec has those of all types, qrels/TYPE.trec
    those of one, and qrels/overall.trec those that tables count as overall: all but type 5.

    Raises InputError if the run has no rankings in `unit`, or if they end before `depth`.
    """
    rankings = _ranked(run, unit, depth)
    collection = Collection(run, unit)
    tag = encode(run.manifest["run_id"])
    lines = (
        run_lines(
            encode(id_), [collection.id_of(ranked.store, key) for key in ranking.ids[:depth]], tag
        )
        for id_, (ranked, ranking) in rankings.items()
    )
    _write_lines(folder / "run.trec", chain.from_iterable(lines))
    qrels: dict[str, list[str]] = {"qrels.trec": []}
    for record in run.counted:
        names = ["qrels.trec", f"qrels/{quote(record['type'], safe='')}.trec"]
        names += [f"qrels/{OVERALL}.trec"] * (record["category"] != ADVERSARIAL)
        documents = collection.relevant(record)
        for name in names if documents else []:
            qrels.setdefault(name, []).extend(qrels_lines(encode(record["id"]), documents))
    (folder / "qrels").mkdir()
    for name, judged in qrels.items():
        _write_lines(folder / name, judged)
    topics = (f"{id_}\t{text}\n" for id_, text in collection.topics())
    _write_lines(folder / "topics.tsv", topics)
    whole = collection.documents.values()
    rows = ({"id": document.id, "text": document.text, **document.fields} for document in whole)
    write_lines(folder / "corpus.jsonl", rows)
    return list(_notes(run, unit, depth, rankings))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def _ranked(run: Run, unit: UnitName, depth: int | None) -> dict[str, tuple[Ranked, UnitRanking]]:
    """Return the rankings of the questions that count, in the order of the records, and the same in
    `unit`. Raises InputError unless the run has them and they reach `depth` (None: any).
    """
    used = run.manifest["retrieval"]
    if used is None or not run.rankings:
        raise InputError(
            f"{run.label}: has no rankings; run it again with retrieval.depth=100, or export --to "
            "beir, parquet or csv"
        )
    rankings = {}
    for ranked in (run.rankings.get(record["id"]) for record in run.counted):
        if ranked is None:
            continue
        place = f"{run.label}: {ranked.question}"
        ranking = ranked.sessions if unit == SESSION else ranked.turns
        if ranking is None:
            other = "turn" if unit == SESSION else SESSION
            raise InputError(f"{place}: has no ranking of {unit}s; use --unit {other}")
        if depth is not None and ranked.selected:
            raise InputError(
                f"{place}: its strategy only selects memories, in no order; leave out --depth"
            )
        limit = used["depth"] if unit == used["unit"] and not ranking.complete else None
        if depth is not None and limit is not None and max(limit, len(ranking.ids)) < depth:
            raise InputError(
                f"{run.label}: depth {limit}: what follows to --depth {depth} is unknown; run it "
                f"with retrieval.depth={depth} or more, or import a deeper ranking"
            )
        rankings[ranked.question] = ranked, ranking
    return rankings


def _notes(
    run: Run,
    unit: UnitName,
    depth: int | None,
    rankings: Mapping[str, tuple[Ranked, UnitRanking]],
) -> Iterator[str]:
    """Yield notes on rankings that end although more could follow, or have no order, and on
    questions without a ranking.
    """
    used = run.manifest["retrieval"]
    limit = None if used is None else used["depth"]
    ordered = [ranking for ranked, ranking in rankings.values() if not ranked.selected]
    if used is not None and limit is not None:
        cut = [ranking for ranking in ordered if not ranking.complete]
        short = sum(not depth or len(ranking.ids) < depth for ranking in cut)
        if unit == used["unit"] and cut:
            end = min(depth or limit, limit)
            yield f"rankings end at {end}: measures at cutoffs beyond are unknown"
        elif unit != used["unit"] and short:
            before = f"--depth {depth}" if depth else "the last session of the store"
            yield (
                f"sessions are those of the best {limit} memories: {short:,} rankings end "
                f"before {before}"
            )
    if selected := len(rankings) - len(ordered):
        yield (
            f"{selected:,} of {len(rankings):,} rankings are in no order, as the strategy only "
            "selects: measure recall or precision of the whole list alone"
        )
    if left := len(run.records) - len(run.counted):
        yield f"in topics.tsv only, since they failed or are excluded by the key: {left:,}"
    if unranked := len(run.counted) - len(rankings):
        yield f"questions without a ranking, which tools count as 0: {unranked:,}"


def as_field(id_: str) -> str:
    """Return an id as a field between tabs: itself, unless it has control characters, or blanks at
    an end; these are percent-encoded (UTF-8).
    """
    return _NO_FIELD.sub(lambda match: quote(match.group(), safe=""), id_)


def write_beir(run: Run, unit: UnitName, folder: Path) -> list[str]:
    """Write the files into `folder`; returns notes. Without
    candidates.jsonl, each question is ranked among all documents.
    """
    collection = Collection(run, unit, as_field)
    records = run.records.values()
    corpus = (
        {"_id": document.id, "title": "", "text": document.text, "metadata": document.fields}
        for document in collection.documents.values()
    )
    write_lines(folder / "corpus.jsonl", corpus)
    queries = (
        {"_id": id_, "text": text, "metadata": {"type": record["type"]}}
        for record, (id_, text) in zip(records, collection.topics(), strict=True)
    )
    write_lines(folder / "queries.jsonl", queries)
    (folder / "qrels").mkdir()
    judged = (
        f"{as_field(record['id'])}\t{document}\t1\n"
        for record in records
        if not left_out(record)
        for document in collection.relevant(record)
    )
    _write_lines(folder / "qrels" / "test.tsv", ["query-id\tcorpus-id\tscore\n", *judged])
    if collection.pools is None:
        return []
    lines = (
        # LMEB's own programs read scene_id, some copies of its data sets have query_id.
        {
            **dict.fromkeys(("query_id", "scene_id"), as_field(record["id"])),
            "candidate_doc_ids": collection.pools[record["conversation"]],
        }
        for record in records
    )
    write_lines(folder / "candidates.jsonl", lines)
    return ["candidates.jsonl has the documents that each question is ranked among"]
