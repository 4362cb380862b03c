"""Retrieval benchmarks in the layout of BEIR (Thakur et al., 2021) and LMEB (Zhao et al., 2026):
documents, queries and judgements, without gold answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from eval.datasets.beir_folder import CORPUS, QUERIES, Asked, FolderReading, query_files
from eval.datasets.files import find_file
from eval.datasets.selection import Filters, Part
from eval.datasets.types import Dataset, Question
from memsys.core.declared import PathText
from memsys.core.errors import InputError
from memsys.core.files import shown
from memsys.core.types import Conversation

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
        root = find_file(self.path)
        if root is None or not root.is_dir():
            raise InputError(f"{shown(self.path)}: no such folder; correct dataset.path")
        reading = FolderReading(root.resolve(), self.split)
        asked = [one for path in query_files(reading.root) for one in reading.asked(path)]
        if not any(one.evidence for one in asked):
            raise InputError(
                f"{reading.root.name}: no query has a relevant document; put them into the qrels, "
                "with a score above 0"
            )
        return self._selected(reading, asked)

    def _selected(self, reading: FolderReading, asked: Sequence[Asked]) -> Dataset:
        """Return the data set of the queries that the filters select."""
        types = {
            name: id_ for id_, name in enumerate(dict.fromkeys(one.type for one in asked), _FIRST)
        }
        self.check(types, reading.pools)
        repeated = len({one.line.id for one in asked}) < len(asked)
        questions = [
            Question(
                id=f"{one.folder}/{one.line.id}" if repeated else one.line.id,
                conversation=one.pool,
                category=types[one.type],
                type=one.type,
                text=one.line.text,
                gold=None,
                evidence=one.evidence,
            )
            for one in asked
        ]
        of_pool: dict[str, list[Question]] = defaultdict(list)
        for question in questions:
            of_pool[question.conversation].append(question)
        parts = [
            Part(Conversation(pool, (), reading.pools[pool]), self.select(of_pool[pool]), ())
            for pool in self.wanted(reading.pools)
        ]
        files = [replace(file, name=reading.name_of(path)) for path, file in reading.files.items()]
        named = {id_: name for name, id_ in types.items()}
        dataset = self.collect(parts, files, named)
        selected = {question.id for question in dataset.questions}
        return replace(
            dataset,
            questions=tuple(one for one in questions if one.id in selected),  # as in the files
            repairs=tuple(reading.repairs),
        )
