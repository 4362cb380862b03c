"""The files of retrieval benchmarks: documents, queries, judgements and candidates, line by line.

Every error names file, line and field, so that a hand-made file can be corrected.
"""

import math
import os
from collections.abc import Container
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, cast

from pydantic import AliasChoices, BeforeValidator, Field

from eval.datasets.checks import Location, Row, Text, parse
from eval.datasets.files import json_lines, read_text
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import shown
from memsys.core.turns import document
from memsys.core.types import Session

_ID = ("id", "_id")  # LMEB's name counts where a line has both, as in its own loader
_SCENE = ("scene_id", "query-id", "query_id", *_ID)
_QRELS = "query-id, corpus-id and score, or TREC's query, 0, document and relevance"
_SCORES = ("score", "relevance", "rel")  # of a header


def _id(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"{shown_id(value)} is no id; must be a text or a number")


_Id = Annotated[str, BeforeValidator(_id)]


class Line(Row):
    """A line of a file, with an id."""

    id: _Id = Field(validation_alias=AliasChoices(*_ID))


class Document(Line):
    """A line of corpus.jsonl; a title or text may be missing."""

    title: str | None = None
    text: str | None = None

    @cached_property
    def session(self) -> Session:
        """The document as a session of one turn."""
        return document(self.id, self.title or "", self.text or "")


class _Metadata(Row):
    type: str | None = None


class Query(Line):
    """A line of queries.jsonl. The type is at the top or in BEIR's `metadata`; None: none."""

    text: Text
    type: str | None = None
    metadata: Annotated[
        _Metadata, BeforeValidator(lambda value: value if isinstance(value, dict) else {})
    ] = _Metadata()

    @property
    def named_type(self) -> str | None:
        """The query's type, if the line names one."""
        return ((self.metadata.type if self.type is None else self.type) or "").strip() or None


class Pool(Line):
    """A line of candidates.jsonl: of LMEB, or of mteb's `top_ranked`."""

    id: _Id = Field(validation_alias=AliasChoices(*_SCENE))
    members: list[_Id] = Field(
        validation_alias=AliasChoices("candidate_doc_ids", "corpus-ids"), min_length=1
    )


class Judged(NamedTuple):
    """A line of a file of qrels, and its place."""

    where: Location
    query: str
    document: str
    score: float


L = TypeVar("L", bound=Line)


@dataclass
class Files:
    """The files below the folder `root`. `sources`: those that rankings depend on, in the order of
    reading, by path; each is read once.
    """

    root: Path
    sources: dict[Path, SourceFile] = field(default_factory=dict)
    _lines: dict[Path, dict[str, Any]] = field(default_factory=dict)

    def name_of(self, path: Path) -> str:
        """Return the path of a file, relative to `root`."""
        return Path(os.path.relpath(path, self.root)).as_posix()

    def lines(self, kind: type[L], path: Path) -> dict[str, L]:
        """Return the lines of a file that are not blank, by id, in file order."""
        if path not in self._lines:
            text, self.sources[path] = read_text(path)
            rows: dict[str, L] = {}
            for where, value in json_lines(text, self.name_of(path)):
                row = parse(kind, value, where)
                if rows.setdefault(row.id, row) is not row:
                    problem = f"{shown_id(row.id)} is used twice; give each line its own"
                    raise where.error(_ID[1], problem)
            if not rows:
                problem = "no line; write one {...} for each document or query"
                raise InputError(f"{self.name_of(path)}: {problem}")
            self._lines[path] = rows
        return cast(dict[str, L], self._lines[path])

    def judged(self, path: Path, *, is_source: bool = True) -> list[Judged]:
        """Return the lines of a file of qrels.

        Three fields are BEIR's, with or without a header, four are TREC's. They are separated by
        tabs, if the first line contains one, so that ids may have blanks; otherwise by blanks.
        Raises InputError on a line of another form.
        """
        text, source = read_text(path)
        if is_source:
            self.sources[path] = source
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        separator = "\t" if lines and "\t" in lines[0][1] else None
        rows: list[Judged] = []
        width = 0
        for number, line in lines:
            fields = [field.strip() for field in line.split(separator)]
            where = Location(self.name_of(path), str(number), unit="line")
            if len(fields) not in ((width,) if width else (3, 4)) or not all(fields):
                raise where.error("", f"{len(fields)} fields; write {_QRELS}")
            is_header = not width and len(fields) == 3 and fields[-1].casefold() in _SCORES
            width = len(fields)
            if is_header:
                continue
            try:
                score = float(fields[-1])
            except ValueError:
                score = math.nan
            if not math.isfinite(score):
                raise where.error("", f"score {shown_id(fields[-1])} is no number; write {_QRELS}")
            rows.append(Judged(where, fields[0], fields[-2], score))
        return rows


def check_listed(
    id_: str, lines: Container[str], where: str, kind: str = "document", file: str = "corpus.jsonl"
) -> None:
    """Raise InputError unless `id_`, of a document or another `kind`, is among the `lines`."""
    if id_ not in lines:
        raise InputError(f"{where}: {kind} {shown_id(id_)} is not in {file}; add it there")


def shown_id(value: object) -> str:
    """Return an id as messages show it."""
    return shown(repr(value), 60)
