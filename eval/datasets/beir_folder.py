"""The folder of a retrieval benchmark: which files belong to which queries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from eval.datasets.beir_files import (
    QueryLine,
    candidates,
    documents,
    judged_pairs,
    judgements,
    queries,
)
from eval.datasets.types import ADVERSARIAL, TYPES, SourceFile
from memsys.core.errors import InputError
from memsys.core.files import shown
from memsys.core.types import Session

CORPUS, QUERIES, CANDIDATES = "corpus.jsonl", "queries.jsonl", "candidates.jsonl"
ONE_POOL = "corpus"  # name of the pool where each query searches all documents
ONE_TYPE = "query"  # type of the queries where the files name none
_RESERVED = (TYPES[ADVERSARIAL], "overall")


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its type, pool and evidence; `folder`: relative to the data set's."""

    line: QueryLine
    folder: str
    type: str
    pool: str
    evidence: tuple[str, ...]


@dataclass(slots=True)
class _Corpus:
    """The documents of a corpus.jsonl, and the name of the pool that contains each set of them."""

    path: Path
    documents: dict[str, Session]
    pools: dict[frozenset[str], str] = field(default_factory=dict)


@dataclass(slots=True)
class FolderReading:
    """The files below the folder `root`, each read once. `pools`: the documents in each pool."""

    root: Path
    split: str
    files: dict[Path, SourceFile] = field(default_factory=dict)
    repairs: list[str] = field(default_factory=list)
    pools: dict[str, tuple[Session, ...]] = field(default_factory=dict)
    _corpora: dict[Path, _Corpus] = field(default_factory=dict)
    _scenes: dict[Path, dict[str, frozenset[str]]] = field(default_factory=dict)

    def asked(self, path: Path) -> Iterator[Asked]:
        """Yield the queries in the file at `path`. Raises InputError on a missing or wrong file."""
        folder, name = path.parent, self.name_of(path)
        corpus = self._corpus(folder)
        lines, self.files[path] = queries(path, name)
        judged_at = self._judged_at(folder)
        place = self.name_of(judged_at)
        judged, self.files[judged_at] = judgements(judged_at, place, corpus.documents, lines)
        others = self._of_other_splits(judged_at) - judged.keys()
        scenes = self._candidates(folder, corpus)
        relative = folder.relative_to(self.root).as_posix()
        unjudged = outside = 0
        for line in lines.values():
            if line.id in others:
                continue
            members = self._members(line.id, scenes, corpus, name)
            pool = corpus.pools[members]
            evidence = tuple(id_ for id_, relevant in judged.get(line.id, {}).items() if relevant)
            unjudged += not evidence
            outside += any(id_ not in members for id_ in evidence)
            of_folder = ONE_TYPE if path.parent == self.root else relative
            yield Asked(line, relative, _usable(line.named_type or of_folder), pool, evidence)
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
            self._add(corpus, members, ONE_POOL, corpus.path.parent)
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


def query_files(root: Path) -> list[Path]:
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


def _usable(type_: str) -> str:
    """Return a type's name, changed if it has a meaning of its own in tables of answers."""
    return f"{type_}_queries" if type_ in _RESERVED else type_
