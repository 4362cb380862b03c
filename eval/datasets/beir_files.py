"""The files of retrieval benchmarks: documents, queries, judgements and candidates, line by line.

Every error names file, line and field, so that a hand-made file can be corrected.
"""

from __future__ import annotations

import math
from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field

from eval.datasets.checks import Row, Text, parse
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
_SHOWN = 60  # characters of an id in a message


def _id(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"{_shown(value)} is no id; must be a text or a number")


_Id = Annotated[str, BeforeValidator(_id)]


class _Line(Row):
    id: _Id = Field(validation_alias=AliasChoices(*_ID))


class _Document(_Line):
    title: str | None
    text: str | None


class _Metadata(Row):
    type: str | None


def _object_or_none(value: object) -> object:
    return value if isinstance(value, dict) else None


class _Query(_Line):
    """A line of queries.jsonl. The type is at the top or in BEIR's `metadata`; None: none."""

    text: Text
    type: str | None
    metadata: Annotated[_Metadata | None, BeforeValidator(_object_or_none)]

    @property
    def named_type(self) -> str | None:
        """The query's type, if the line names one."""
        of_metadata = None if self.metadata is None else self.metadata.type
        return ((of_metadata if self.type is None else self.type) or "").strip() or None


class _Pool(_Line):
    """A line of candidates.jsonl: of LMEB, or of mteb's `top_ranked`."""

    id: _Id = Field(validation_alias=AliasChoices(*_SCENE))
    members: list[_Id] = Field(
        validation_alias=AliasChoices("candidate_doc_ids", "corpus-ids"), min_length=1
    )


_L = TypeVar("_L", bound=_Line)


def documents(path: Path, name: str) -> tuple[dict[str, Session], SourceFile]:
    """Return the documents of corpus.jsonl by id, in file order; a title or text may be missing.
    `name`: the file's in messages, here and below.
    """
    lines, source = _lines(_Document, path, name)
    found = {id_: document(id_, row.title or "", row.text or "") for id_, row in lines.items()}
    return found, source


def queries(path: Path, name: str) -> tuple[dict[str, _Query], SourceFile]:
    """Return the queries of queries.jsonl by id, in file order."""
    return _lines(_Query, path, name)


def candidates(
    path: Path, name: str, known: Container[str]
) -> tuple[dict[str, frozenset[str]], SourceFile]:
    """Return the ids in each pool of candidates.jsonl, by the name of the pool, in file order.

    Raises InputError for an empty pool, a name that occurs twice, and a document that is not
    `known`.
    """
    pools, source = _lines(_Pool, path, name)
    for pool in pools.values():
        for id_ in pool.members:
            _check_document(id_, known, f"{name}: {_shown(pool.id)}")
    return {pool.id: frozenset(pool.members) for pool in pools.values()}, source


def _lines(kind: type[_L], path: Path, name: str) -> tuple[dict[str, _L], SourceFile]:
    """Return the lines of a file that are not blank, by id, and the file."""
    text, source = read_text(path)
    found: dict[str, _L] = {}
    for where, value in json_lines(text, name):
        row = parse(kind, value, where)
        if row.id in found:
            raise where.error(_ID[1], f"{_shown(row.id)} is used twice; give each line its own")
        found[row.id] = row
    if not found:
        raise InputError(f"{name}: no line; write one {{...}} for each document or query")
    return found, source


def judgements(
    path: Path, name: str, known: Container[str], asked: Container[str]
) -> tuple[dict[str, dict[str, bool]], SourceFile]:
    """Return whether each judged document is relevant, by query and document.

    Raises InputError for a document that is not `known`, a query that is not `asked`, and a pair
    with two scores.
    """
    rows, source = judged_pairs(path, name)
    found: dict[str, dict[str, bool]] = {}
    scores: dict[tuple[str, str], float] = {}
    for where, query, id_, score in rows:
        if query not in asked:
            raise InputError(
                f"{where}: query {_shown(query)} is not in queries.jsonl; add it there"
            )
        _check_document(id_, known, where)
        if scores.setdefault((query, id_), score) != score:
            raise InputError(
                f"{where}: query {_shown(query)} and document {_shown(id_)} have two scores; "
                "leave one"
            )
        found.setdefault(query, {})[id_] = score > 0
    return found, source


def judged_pairs(path: Path, name: str) -> tuple[list[tuple[str, str, str, float]], SourceFile]:
    """Return the lines of a file of qrels as place, query, document and score, and the file.

    Three fields are BEIR's, with or without a header, four are TREC's. They are separated by tabs,
    if the first line contains one, so that ids may have blanks; otherwise by blanks. Raises
    InputError on a line of another form.
    """
    text, source = read_text(path)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    separator = "\t" if lines and "\t" in lines[0][1] else None
    rows: list[tuple[str, str, str, float]] = []
    width = 0
    for number, line in lines:
        fields = [field.strip() for field in line.split(separator)]
        where = f"{name}: line {number}"
        if len(fields) != (width or len(fields)) or len(fields) not in (3, 4) or not all(fields):
            raise InputError(f"{where}: {len(fields)} fields; write {_QRELS}")
        is_header = not width and len(fields) == 3 and fields[-1].casefold() in _SCORES
        width = len(fields)
        if is_header:
            continue
        try:
            score = float(fields[-1])
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise InputError(f"{where}: score {_shown(fields[-1])} is no number; write {_QRELS}")
        rows.append((where, fields[0], fields[-2], score))
    return rows, source


def _check_document(id_: str, known: Container[str], where: str) -> None:
    if id_ not in known:
        raise InputError(f"{where}: document {_shown(id_)} is not in corpus.jsonl; add it there")


def _shown(value: object) -> str:
    return shown(repr(value), _SHOWN)
