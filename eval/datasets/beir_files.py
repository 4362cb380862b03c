"""The files of retrieval benchmarks: documents, queries, judgements and candidates, line by line.

Every error names file, line and field, so that a hand-made file can be corrected.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.datasets.files import read_text
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import shown
from memsys.core.json_text import parse_json
from memsys.core.turns import document
from memsys.core.types import Session

_ID = ("id", "_id")  # LMEB's name counts where a line has both, as in its own loader
_SCENE = ("scene_id", "query-id", "query_id", *_ID)
_MEMBERS = ("candidate_doc_ids", "corpus-ids")  # of LMEB, and of mteb's `top_ranked`
_QRELS = "query-id, corpus-id and score, or TREC's query, 0, document and relevance"
_SHOWN = 60  # characters of an id in a message


@dataclass(frozen=True, slots=True)
class QueryLine:
    """A line of queries.jsonl; `type` is None if it names none."""

    id: str
    text: str
    type: str | None


def documents(path: Path, name: str) -> tuple[dict[str, Session], SourceFile]:
    """Return the documents of corpus.jsonl by id, in file order; a title or text may be missing.
    `name`: the file's in messages, here and below.
    """
    rows, source = _objects(path, name)
    found: dict[str, Session] = {}
    for where, row in rows:
        id_ = _id(row, _ID, where)
        if id_ in found:
            raise InputError(
                f"{where}: _id {_shown(id_)} is used twice; give each document its own"
            )
        found[id_] = document(id_, _text(row, "title", where), _text(row, "text", where))
    if not found:
        raise InputError(f"{name}: no document; write one line {{_id, title, text}} for each")
    return found, source


def queries(path: Path, name: str) -> tuple[dict[str, QueryLine], SourceFile]:
    """Return the queries of queries.jsonl by id, in file order. Their type is the field `type`, at
    the top or in BEIR's `metadata`.
    """
    rows, source = _objects(path, name)
    found: dict[str, QueryLine] = {}
    for where, row in rows:
        id_ = _id(row, _ID, where)
        if id_ in found:
            raise InputError(f"{where}: _id {_shown(id_)} is used twice; give each query its own")
        text = _text(row, "text", where)
        if not text.strip():
            raise InputError(f"{where}: text is missing or empty; must be the query's words")
        metadata = row.get("metadata")
        typed = row if "type" in row or not isinstance(metadata, dict) else metadata
        found[id_] = QueryLine(id_, text, _text(typed, "type", where).strip() or None)
    if not found:
        raise InputError(f"{name}: no query; write one line {{_id, text}} for each")
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
        if id_ not in known:
            raise InputError(
                f"{where}: document {_shown(id_)} is not in corpus.jsonl; add it there"
            )
        if scores.setdefault((query, id_), score) != score:
            raise InputError(
                f"{where}: query {_shown(query)} and document {_shown(id_)} have two scores; "
                "leave one"
            )
        found.setdefault(query, {})[id_] = score > 0
    return found, source


def judged_pairs(path: Path, name: str) -> tuple[Iterator[tuple[str, str, str, float]], SourceFile]:
    """Return the lines of a file of qrels as place, query, document and score, and the file.

    Three fields are BEIR's, with or without a header, four are TREC's. They are separated by tabs,
    if the first line contains one, so that ids may have blanks; otherwise by blanks. Raises
    InputError, while iterating, on a line of another form.
    """
    text, source = read_text(path)
    return _judged(text, name), source


def _judged(text: str, name: str) -> Iterator[tuple[str, str, str, float]]:
    separator: str | None = None
    width = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        first = width == 0
        if first and "\t" in line:
            separator = "\t"
        fields = [field.strip() for field in line.split(separator)]
        width = width or len(fields)
        where = f"{name}: line {number}"
        if len(fields) != width or width not in (3, 4) or not all(fields):
            raise InputError(f"{where}: {len(fields)} fields; write {_QRELS}")
        query, id_, given = fields[0], fields[-2], fields[-1]
        if first and width == 3 and given.casefold() in ("score", "relevance", "rel"):
            continue  # the header
        try:
            score = float(given)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise InputError(f"{where}: score {_shown(given)} is no number; write {_QRELS}")
        yield where, query, id_, score


def candidates(
    path: Path, name: str, known: Mapping[str, Session]
) -> tuple[dict[str, frozenset[str]], SourceFile]:
    """Return the ids in each pool of candidates.jsonl, by the name of the pool, in file order.

    Raises InputError for an empty pool, a name that occurs twice, and a document that is not
    `known`.
    """
    rows, source = _objects(path, name)
    found: dict[str, frozenset[str]] = {}
    for where, row in rows:
        scene = _id(row, _SCENE, where)
        if scene in found:
            raise InputError(f"{where}: {_shown(scene)} has two pools; leave one")
        members = next((row[key] for key in _MEMBERS if key in row), None)
        if not isinstance(members, list) or not members:
            raise InputError(
                f"{where}: {_MEMBERS[0]} is missing or empty; must be a list of document ids"
            )
        ids = [_as_id(one, where, _MEMBERS[0]) for one in members]
        for id_ in ids:
            if id_ not in known:
                raise InputError(
                    f"{where}: document {_shown(id_)} is not in corpus.jsonl; add it there"
                )
        found[scene] = frozenset(ids)
    return found, source


def _objects(path: Path, name: str) -> tuple[Iterator[tuple[str, dict[str, Any]]], SourceFile]:
    """Return place and value of each line that is not blank, and the file."""
    text, source = read_text(path)
    return _parsed(text, name), source


def _parsed(text: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name}: line {number}"
        try:
            row = parse_json(line, unique=True)
        except ValueError as error:
            raise InputError(f"{where}: not JSON ({error}); correct it") from None
        if not isinstance(row, dict):
            raise InputError(f"{where}: no object; write one {{...}} on each line")
        yield where, row


def _id(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    """Return the first of the fields `names` that `row` has, as an id."""
    for name in names:
        if name in row:
            return _as_id(row[name], where, name)
    raise InputError(f"{where}: {names[-1]} is missing; must be a text or a number")


def _as_id(value: Any, where: str, field: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    raise InputError(f"{where}: {field}: {_shown(value)} is no id; must be a text or a number")


def _text(row: Mapping[str, Any], field: str, where: str) -> str:
    """Return the text in a field, "" if it is missing or null."""
    value = row.get(field)
    if value is None or isinstance(value, str):
        return value or ""
    raise InputError(f"{where}: {field}: {_shown(value)} is no text")


def _shown(value: object) -> str:
    return shown(repr(value), _SHOWN)
