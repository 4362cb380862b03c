"""Retrieval benchmarks in the layout of BEIR (Thakur et al., 2021) and LMEB (Zhao et al., 2026):
documents, queries and judgements, without gold answers.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from eval.datasets.beir_files import Document, Files, Pool, Query, check_listed, shown_id
from eval.datasets.files import find_path
from eval.datasets.selection import Filters, Part
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question
from memsys.core.declared import PathText
from memsys.core.errors import InputError
from memsys.core.files import shown
from memsys.core.types import Conversation, Session

CORPUS, QUERIES, CANDIDATES = "corpus.jsonl", "queries.jsonl", "candidates.jsonl"
_ONE_POOL = "corpus"  # name of the pool where each query searches all documents
_ONE_TYPE = "query"  # type of the queries where the files name none
_RESERVED = (TYPES[ADVERSARIAL], "overall")
_FIRST = 21  # id of the first type; no other data set has ids from here


@dataclass(frozen=True, kw_only=True)
class Beir(Filters):
    """A folder of a retrieval benchmark; files may be gzipped, with names that end in .gz.

    Each pool of candidates is a conversation, or the whole corpus where there are no candidates;
    each of its documents is a turn, in a session of its own. A document is evidence for a query if
    its relevance is above 0, however graded.

    name: the data set's name in tables. path: the folder with corpus.jsonl, queries.jsonl and
    qrels/SPLIT.tsv or qrels.tsv; candidates.jsonl is optional. Where queries.jsonl is in
    subfolders, each of these is a type of queries, and reads its corpus and candidates from the
    nearest folder above that has them. A relative path is looked up in the current folder, then in
    the project's. split: of qrels. conversations: only these pools, by the first name in
    candidates.jsonl. types: only these. limit: at most this many queries of each pool.
    """

    path: PathText | None = None
    split: str = "test"
    has_gold: ClassVar[bool] = False

    def load(self) -> Dataset:
        """Read, check and filter the files. Raises InputError naming file, line and field; also if
        no query has a relevant document, a filter names something unknown or no query is left.
        """
        self.check()
        if self.path is None:
            raise InputError(
                f"dataset={self.name}: which one? Add dataset.path=FOLDER with {CORPUS}, "
                f"{QUERIES} and qrels"
            )
        root = find_path(self.path, "correct dataset.path").resolve()
        reading = _Reading(Files(root), self.split)
        asked = [pair for path in _query_files(root) for pair in reading.asked(path)]
        if not any(query.evidence for _, query in asked):
            raise InputError(
                f"{root.name}: no query has a relevant document; put them into the qrels, "
                "with a score above 0"
            )
        names = dict.fromkeys(query.type for _, query in asked)
        types = {name: id_ for id_, name in enumerate(names, _FIRST)}
        self.check(types)
        repeated = len({query.id for _, query in asked}) < len(asked)
        of_pool: dict[str, list[Question]] = defaultdict(list)
        order: dict[str, int] = {}
        for folder, query in asked:
            id_ = f"{folder}/{query.id}" if repeated else query.id
            order[id_] = len(order)
            of_pool[query.conversation].append(replace(query, id=id_, category=types[query.type]))
        pools = {pool.name: pool for pool in reading.pools.values()}
        parts = [
            Part(Conversation(name, (), pools[name].sessions), of_pool[name], ())
            for name in self.wanted(pools)
        ]
        sources = reading.files.sources.items()
        files = [replace(file, name=reading.files.name_of(path)) for path, file in sources]
        dataset = self.collect(parts, files, {id_: name for name, id_ in types.items()})
        questions = tuple(sorted(dataset.questions, key=lambda question: order[question.id]))
        return replace(dataset, questions=questions, repairs=tuple(reading.repairs))


class _Pool(NamedTuple):
    name: str
    ids: frozenset[str]
    sessions: tuple[Session, ...]  # the documents


@dataclass
class _Reading:
    """What is read of `files`. `pools`: by corpus and the ids of their documents."""

    files: Files
    split: str
    repairs: list[str] = field(default_factory=list)
    pools: dict[tuple[Path, frozenset[str]], _Pool] = field(default_factory=dict)
    _scenes: dict[Path, dict[str, _Pool]] = field(default_factory=dict)  # of each candidates.jsonl

    def asked(self, path: Path) -> Iterator[tuple[str, Question]]:
        """Yield the queries in the file at `path`, each with its folder, relative to the root;
        their conversations are the pools. Raises InputError on a missing or wrong file.
        """
        folder, name, root = path.parent, self.files.name_of(path), self.files.root
        corpus = _nearest(folder, CORPUS, root.parent)
        if corpus is None:
            raise _missing(folder, CORPUS)
        documents = self.files.lines(Document, corpus)
        queries = self.files.lines(Query, path)
        judged, others = self._judged(folder, documents, queries)
        pools = self._pools(folder, corpus, documents)
        relative = folder.relative_to(root).as_posix()
        unjudged = outside = 0
        for query in queries.values():
            if query.id in others:
                continue
            # The rule of LMEB: the query's id, or else the first two parts of it.
            names = (query.id, "_".join(query.id.split("_")[:2]), "")
            pool = next((pools[scene] for scene in names if scene in pools), None)
            if pool is None:
                raise InputError(
                    f"{name}: query {shown_id(query.id)} has no candidates; add a line to "
                    f"{CANDIDATES} whose scene_id is the query's id"
                )
            relevant = tuple(id_ for id_, score in judged.get(query.id, {}).items() if score > 0)
            unjudged += not relevant
            outside += not pool.ids.issuperset(relevant)
            type_ = query.named_type or (_ONE_TYPE if folder == root else relative)
            if type_ in _RESERVED:  # has a meaning of its own in tables of answers
                type_ = f"{type_}_queries"
            yield relative, Question(query.id, pool.name, _FIRST, type_, query.text, None, relevant)
        for number, finding in (
            (unjudged, "has no relevant document, and so no evidence"),
            (outside, "has relevant documents that are no candidates: never found"),
            (len(others & queries.keys()), "is judged in another split only: not asked"),
        ):
            if number:
                self.repairs.append(f"{name}: {number:,} of its queries: each {finding}")

    def _judged(
        self, folder: Path, documents: Container[str], queries: Container[str]
    ) -> tuple[dict[str, dict[str, float]], set[str]]:
        """Return the scores of the judged documents by query, and the queries that are judged in
        another split only. Raises InputError if there is no file of qrels, or one names an unknown
        document or query, or has two scores of a pair.
        """
        names = (f"qrels/{self.split}.tsv", "qrels.tsv", "qrels.trec", "qrels.txt")
        path = next((path for name in names if (path := _file(folder, name))), None)
        if path is None:
            splits = sorted({file.name.split(".")[0] for file in folder.glob("qrels/*.tsv*")})
            remedy = f"set dataset.split to one of {', '.join(splits)}" if splits else "add one"
            raise InputError(f"{shown(folder)}: no {', '.join(names)} of judgements; {remedy}")
        scores: dict[str, dict[str, float]] = defaultdict(dict)
        for where, query, document, score in self.files.judged(path):
            check_listed(query, queries, where.at(""), "query", QUERIES)
            check_listed(document, documents, where.at(""))
            if scores[query].setdefault(document, score) != score:
                pair = f"query {shown_id(query)} and document {shown_id(document)}"
                raise where.error("", f"{pair} have two scores; leave one")
        beside = path.parent.glob("*.tsv*") if path.parent.name == "qrels" else ()
        judged = (self.files.judged(file, is_source=False) for file in beside if file != path)
        return scores, {row.query for rows in judged for row in rows} - scores.keys()

    def _pools(
        self, folder: Path, corpus: Path, documents: Mapping[str, Document]
    ) -> Mapping[str, _Pool]:
        """Return the pools by their names in the nearest candidates.jsonl, up to the folder of the
        corpus; where there is none, the whole corpus, by "". Equal pools are one.
        """
        path = _nearest(folder, CANDIDATES, corpus.parent)
        source = path or corpus
        if source not in self._scenes:
            members: dict[str, Iterable[str]] = {"": documents}
            if path is not None:
                members = {id_: row.members for id_, row in self.files.lines(Pool, path).items()}
            at, roots = source.parent, (self.files.root, self.files.root.parent)
            below = "" if at in roots else f"{self.files.name_of(at)}/"
            scenes = self._scenes[source] = {}
            for id_, ids in members.items():
                for document in ids:
                    check_listed(document, documents, f"{CANDIDATES}: {shown_id(id_)}")
                key = corpus, frozenset(ids)
                if key not in self.pools:
                    sessions = (doc.session for doc in documents.values() if doc.id in key[1])
                    self.pools[key] = _Pool(f"{below}{id_ or _ONE_POOL}", key[1], tuple(sessions))
                scenes[id_] = self.pools[key]
        return self._scenes[source]


def _query_files(root: Path) -> list[Path]:
    """Return queries.jsonl of `root`, or else those of its subfolders, in order of their names."""
    if path := _file(root, QUERIES):
        return [path]
    folders = sorted({path.parent for path in root.rglob(f"{QUERIES}*")})
    paths = [path for folder in folders if (path := _file(folder, QUERIES))]
    if not paths:
        raise _missing(root, QUERIES)
    return paths


def _missing(folder: Path, name: str) -> InputError:
    where = "there or above" if name == CORPUS else "there or in a subfolder"
    return InputError(f"{shown(folder)}: no {name} {where}; put it there, or correct dataset.path")


def _nearest(folder: Path, name: str, top: Path) -> Path | None:
    """Return the file `name` in `folder` or the nearest folder above, up to `top`."""
    within = [folder, *folder.parents]
    paths = (_file(level, name) for level in within[: within.index(top) + 1])
    return next((path for path in paths if path), None)


def _file(folder: Path, name: str) -> Path | None:
    """Return the file `name` in `folder`, plain or else packed; None if there is neither."""
    paths = (folder / name, folder / f"{name}.gz")
    return next((path for path in paths if path.is_file()), None)
