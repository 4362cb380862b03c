"""Retrieval benchmarks in the layout of BEIR (Thakur et al., 2021) and LMEB (Zhao et al., 2026):
documents, queries and judgements, without gold answers.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from eval.datasets.beir_files import candidates, documents, judged_pairs, judgements, queries
from eval.datasets.files import find_folder
from eval.datasets.selection import Filters, Part
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question, SourceFile
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
        root = find_folder(self.path, "correct dataset.path")
        reading = _Reading(root.resolve(), self.split)
        asked = [one for path in _query_files(reading.root) for one in reading.asked(path)]
        if not any(one.evidence for _, one in asked):
            raise InputError(
                f"{reading.root.name}: no query has a relevant document; put them into the qrels, "
                "with a score above 0"
            )
        return self._selected(reading, asked)

    def _selected(self, reading: _Reading, asked: Sequence[tuple[str, Question]]) -> Dataset:
        """Return the data set of the queries `asked`, each with its folder, that the filters
        select; the order is that of the files.
        """
        names = dict.fromkeys(one.type for _, one in asked)
        types = {name: id_ for id_, name in enumerate(names, _FIRST)}
        self.check(types)
        repeated = len({one.id for _, one in asked}) < len(asked)
        of_pool: dict[str, list[Question]] = defaultdict(list)
        order: dict[str, int] = {}
        for folder, one in asked:
            id_ = f"{folder}/{one.id}" if repeated else one.id
            order[id_] = len(order)
            of_pool[one.conversation].append(replace(one, id=id_, category=types[one.type]))
        parts = [
            Part(Conversation(pool, (), reading.pools[pool]), of_pool[pool], ())
            for pool in self.wanted(reading.pools)
        ]
        files = [replace(file, name=reading.name_of(path)) for path, file in reading.files.items()]
        dataset = self.collect(parts, files, {id_: name for name, id_ in types.items()})
        questions = tuple(sorted(dataset.questions, key=lambda one: order[one.id]))
        return replace(dataset, questions=questions, repairs=tuple(reading.repairs))


@dataclass(slots=True)
class _Corpus:
    """The documents of a corpus.jsonl, and the name of the pool that contains each set of them."""

    path: Path
    documents: dict[str, Session]
    pools: dict[frozenset[str], str] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading:
    """The files below the folder `root`, each read once. `pools`: the documents in each pool."""

    root: Path
    split: str
    files: dict[Path, SourceFile] = field(default_factory=dict)
    repairs: list[str] = field(default_factory=list)
    pools: dict[str, tuple[Session, ...]] = field(default_factory=dict)
    _corpora: dict[Path, _Corpus] = field(default_factory=dict)
    _scenes: dict[Path, dict[str, frozenset[str]]] = field(default_factory=dict)

    def asked(self, path: Path) -> Iterator[tuple[str, Question]]:
        """Yield the queries in the file at `path`, each with its folder, relative to `root`; their
        conversations are the pools. Raises InputError on a missing or wrong file.
        """
        folder, name = path.parent, self.name_of(path)
        corpus = self._corpus(folder)
        lines, self.files[path] = queries(path, name)
        judged_at = self._judged_at(folder)
        place = self.name_of(judged_at)
        judged, self.files[judged_at] = judgements(judged_at, place, corpus.documents, lines)
        others = self._of_other_splits(judged_at) - judged.keys()
        scenes = self._candidates(folder, corpus)
        relative = folder.relative_to(self.root).as_posix()
        of_folder = _ONE_TYPE if folder == self.root else relative
        unjudged = outside = 0
        for line in lines.values():
            if line.id in others:
                continue
            members = self._members(line.id, scenes, corpus, name)
            relevant = tuple(id_ for id_, is_one in judged.get(line.id, {}).items() if is_one)
            unjudged += not relevant
            outside += any(id_ not in members for id_ in relevant)
            type_ = line.named_type or of_folder
            if type_ in _RESERVED:  # has a meaning of its own in tables of answers
                type_ = f"{type_}_queries"
            pool = corpus.pools[members]
            yield relative, Question(line.id, pool, _FIRST, type_, line.text, None, relevant)
        self._count(unjudged, name, "has no relevant document, and so no evidence")
        self._count(outside, name, "has relevant documents that are no candidates: never found")
        self._count(len(others & lines.keys()), name, "is judged in another split only: not asked")

    def _corpus(self, folder: Path) -> _Corpus:
        """Return the documents of the nearest corpus.jsonl, up to the folder above `root`."""
        path = _nearest(folder, CORPUS, self.root.parent)
        if path is None:
            raise InputError(
                f"{shown(folder)}: no {CORPUS} there or above; put it there, or correct "
                "dataset.path"
            )
        if path not in self._corpora:
            known, self.files[path] = documents(path, self.name_of(path))
            self._corpora[path] = _Corpus(path, known)
        return self._corpora[path]

    def _judged_at(self, folder: Path) -> Path:
        """Return the file of qrels for the queries in `folder`."""
        for name in (f"qrels/{self.split}.tsv", "qrels.tsv", "qrels.trec", "qrels.txt"):
            if path := _file(folder, name):
                return path
        splits = sorted({one.name.split(".")[0] for one in folder.glob("qrels/*.tsv*")})
        if splits:
            raise InputError(
                f"{shown(folder)}: no qrels/{self.split}.tsv; set dataset.split={splits[0]}"
                + (f" (there are {', '.join(splits)})" if len(splits) > 1 else "")
            )
        raise InputError(
            f"{shown(folder)}: no qrels/{self.split}.tsv, qrels.tsv, qrels.trec or qrels.txt; the "
            "relevant documents must be in one of them"
        )

    def _of_other_splits(self, judged_at: Path) -> set[str]:
        """Return the queries that are judged in files beside `judged_at`, in the folder qrels."""
        if judged_at.parent.name != "qrels":
            return set()
        others = [one for one in sorted(judged_at.parent.glob("*.tsv*")) if one != judged_at]
        return {query for one in others for _, query, *_ in judged_pairs(one, self.name_of(one))[0]}

    def _candidates(self, folder: Path, corpus: _Corpus) -> dict[str, frozenset[str]] | None:
        """Return the pools of the nearest candidates.jsonl, up to the folder of the corpus; None if
        there is none.
        """
        path = _nearest(folder, CANDIDATES, corpus.path.parent)
        if path is None:
            return None
        if path not in self._scenes:
            known, self.files[path] = candidates(path, self.name_of(path), corpus.documents)
            self._scenes[path] = known
            for scene, members in known.items():
                self._add(corpus, members, scene, path.parent)
        return self._scenes[path]

    def _members(
        self,
        query: str,
        scenes: dict[str, frozenset[str]] | None,
        corpus: _Corpus,
        name: str,
    ) -> frozenset[str]:
        """Return the documents that `query` searches. A pool belongs to it by the rule of LMEB: it
        has the query's id, or else the first two parts of it, up to the second `_`.
        """
        if scenes is None:
            members = frozenset(corpus.documents)
            self._add(corpus, members, _ONE_POOL, corpus.path.parent)
            return members
        for scene in (query, "_".join(query.split("_")[:2])):
            if scene in scenes:
                return scenes[scene]
        raise InputError(
            f"{name}: query {shown(repr(query), 60)} has no candidates; add a line to {CANDIDATES} "
            "whose scene_id is the query's id"
        )

    def _add(self, corpus: _Corpus, members: frozenset[str], name: str, folder: Path) -> None:
        """Add a pool, unless one with these documents is there; `folder`: where it is defined."""
        if members not in corpus.pools:
            below = "" if folder in (self.root, self.root.parent) else f"{self.name_of(folder)}/"
            corpus.pools[members] = f"{below}{name}"
            self.pools[corpus.pools[members]] = tuple(
                session for id_, session in corpus.documents.items() if id_ in members
            )

    def _count(self, number: int, name: str, finding: str) -> None:
        if number:
            self.repairs.append(f"{name}: {number:,} of its queries: each {finding}")

    def name_of(self, path: Path) -> str:
        """Return the path of a file, relative to `root`."""
        return Path(os.path.relpath(path, self.root)).as_posix()


def _query_files(root: Path) -> list[Path]:
    """Return queries.jsonl of `root`, or else those of its subfolders, in order of their names."""
    if path := _file(root, QUERIES):
        return [path]
    folders = sorted({path.parent for path in root.rglob(f"{QUERIES}*")})
    found = [path for folder in folders if (path := _file(folder, QUERIES))]
    if not found:
        raise InputError(
            f"{shown(root)}: no {QUERIES} there or in a subfolder; put it there, or correct "
            "dataset.path"
        )
    return found


def _nearest(folder: Path, name: str, top: Path) -> Path | None:
    """Return the file `name` in `folder` or the nearest folder above, up to `top`."""
    within = [folder, *folder.parents]
    paths = (_file(one, name) for one in within[: within.index(top) + 1])
    return next((path for path in paths if path), None)


def _file(folder: Path, name: str) -> Path | None:
    """Return the file `name` in `folder`, plain or else packed; None if there is neither."""
    paths = (folder / name, folder / f"{name}.gz")
    return next((path for path in paths if path.is_file()), None)
