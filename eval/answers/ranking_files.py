"""Files of rankings from other systems, gzipped or not: TREC runs, JSON and JSON lines.

docs/importing.md describes the layouts.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from eval.answers.containers import first_object
from eval.answers.layout import TABLE
from eval.datasets.files import json_lines, json_value, read_text
from eval.datasets.types import SourceFile
from eval.records.trec import decode, read_run
from memsys.core.errors import InputError, problems
from memsys.core.files import ANSWERS

TREC, MAPPING, ROWS = "trec", "mapping", "rows"
LAYOUTS = {  # with their names in messages
    TREC: "a TREC run",
    MAPPING: "a JSON object of rankings by question",
    ROWS: "JSON objects of a question and its ranking",
}
_NAMES = TABLE["rankings"]
_SELECTED = "selected"  # a field of rankings.jsonl, whose scores may be of several scales
_LAYOUT_OF_TREC = 6  # fields of a line
_PAIR = 2  # [id, score]
_IN_ORDER = 3  # different scores of a ranking, and such rankings, whose order says something
_FIRST = 3  # names that a message lists


@dataclass(frozen=True, slots=True)
class RankingRow:
    """The ranking of one question; a field is None if the file does not contain it.

    `place`: position in the file. `id`: as `<conversation>/<index>` where the file gives both.
    `ranking`: ids with their scores, best first; each score is None if only the order counts.
    `rises`: whether no score is below the one before it in the file.
    """

    place: str
    id: str | None
    text: str | None
    conversation: str | None
    ranking: tuple[tuple[str, float | None], ...]
    rises: bool = False


@dataclass(frozen=True, slots=True)
class RankingFile:
    """A file of rankings: name, size and sha256 of the file on disk, layout, rows in file order."""

    source: SourceFile
    layout: str
    rows: tuple[RankingRow, ...]


def read_rankings(path: Path) -> RankingFile:
    """Return the rankings in the file at `path`.

    Raises InputError naming the file and the place in it if it cannot be read, is in no known
    layout, has a score that is no finite number, or lists every ranking against its scores.
    """
    text, source = read_text(path, ANSWERS)
    name = path.name
    first = text.lstrip().split("\n", 1)[0]
    if first[:1] in ("{", "["):
        layout, rows = _json(text, name)
    elif len(first.split()) == _LAYOUT_OF_TREC:
        layout, rows = TREC, _trec(text, name)
    else:
        wrong = "unknown layout" if first else "is empty"
        wanted = f"it must be {', '.join(LAYOUTS.values())} (see docs/importing.md)"
        raise InputError(f"{name}: {wrong}; {wanted}")
    return RankingFile(source, layout, _checked(rows, name))


def rows_of(rankings: Mapping[str, Any], name: str) -> tuple[RankingRow, ...]:
    """Return the rows of an object of rankings by question id or text, with `name` in messages.

    Raises InputError as read_rankings does.
    """
    return _checked(_mapping(rankings, name), name)


def _checked(rows: Sequence[RankingRow], name: str) -> tuple[RankingRow, ...]:
    """Return `rows`. Raises InputError if there are none, or each is listed against its scores."""
    if not rows:
        raise InputError(f"{name}: contains no ranking")
    several = [row for row in rows if len({score for _, score in row.ranking}) >= _IN_ORDER]
    if len(several) >= _IN_ORDER and all(row.rises for row in several):
        raise InputError(
            f"{name}: {several[0].place}: the scores rise along each ranking, as distances do, and "
            "the highest score is the best; list the highest first, or leave the scores out: the "
            "given order then counts"
        )
    return tuple(rows)


def _mapping(rankings: Mapping[str, Any], name: str) -> list[RankingRow]:
    """Return the rows of an object of rankings by question id or text."""
    rows = []
    for key, value in rankings.items():
        if not isinstance(key, str):
            raise InputError(f"{name}: the question {key!r:.60} must be a text")
        with problems(f"{name}: {key!r:.60}"):
            rows.append(_ranked(f"{key!r:.60}", key, key, None, [*_scored(value)]))
    return rows


def _trec(text: str, name: str) -> list[RankingRow]:
    """Return a row a question of a TREC run; equal scores are ordered by rank, then by line."""
    by_query: dict[str, list[tuple[float, int, str]]] = {}
    tags: dict[str, None] = {}
    for line in read_run(text.split("\n"), name):
        by_query.setdefault(line.query, []).append((-line.score, line.rank, line.document))
        tags[line.tag] = None
    if len(tags) > 1:
        first = ", ".join([*tags][:_FIRST])
        raise InputError(
            f"{name}: contains {len(tags)} runs ({first}), as the last field names them; "
            "give each run a file of its own"
        )
    rows = []
    for query, documents in by_query.items():
        ordered = sorted(documents, key=lambda entry: entry[1])  # by rank, then by line
        given = [(decode(document), -score) for score, _, document in ordered]
        id_ = decode(query)
        rows.append(_ranked(f"query {id_}", id_, None, None, given))
    return rows


def _json(text: str, name: str) -> tuple[str, list[RankingRow]]:
    begin = text.strip()
    if "\n" in begin and first_object(begin) is not None:
        lines = json_lines(text, name, nan=True)
        return ROWS, [_row(value, f"line {where.sample}", name) for where, value in lines]
    value = json_value(text, name, nan=True)
    if isinstance(value, dict) and not (_present(value, "rankings") and _names_question(value)):
        return MAPPING, _mapping(value, name)
    items = value if isinstance(value, list) else [value]
    return ROWS, [_row(item, f"item {number}", name) for number, item in enumerate(items)]


def _row(value: Any, place: str, name: str) -> RankingRow:
    """Return the row of a JSON object. The functions below raise ValueError with what is wrong."""
    with problems(f"{name}: {place}"):
        if not isinstance(value, dict):
            raise ValueError("must be an object {...} with a question and its ranking")
        if value.get(_SELECTED) is True:
            raise ValueError(
                "its memories are selected, without an order; name the run folder instead of the "
                "file"
            )
        column, fields = _present(value, "rankings"), f"(fields: {', '.join(value):.200})"
        if column is None:
            raise ValueError(f"no field for the ranking; name it ranking or retrieved {fields}")
        if not _names_question(value):
            raise ValueError(f"no field for the question; name it question_id or question {fields}")
        kinds = ("question_ids", "question_texts", "conversations", "indexes")
        id_, text, conversation, index = (_text(value, kind) for kind in kinds)
        if conversation is not None and index is not None:
            id_ = f"{conversation}/{index}"
        given = list(_scored(value[column]))
        if value.get(_SELECTED) is False:  # in order already, whatever the scores
            given = [(memory, None) for memory, _ in given]
        return _ranked(place, id_, text, conversation, given)


def _names_question(fields: Mapping[str, Any]) -> bool:
    place = _present(fields, "conversations") and _present(fields, "indexes")
    return bool(_present(fields, "question_ids", "question_texts") or place)


def _present(fields: Mapping[str, Any], *kinds: str) -> str | None:
    """Return the first name of these kinds of fields that the object has a value for."""
    names = (name for kind in kinds for name in _NAMES[kind])
    return next((name for name in names if fields.get(name) is not None), None)


def _text(fields: Mapping[str, Any], kind: str) -> str | None:
    column = _present(fields, kind)
    value = None if column is None else fields[column]
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise ValueError(f"{column} must be a text, not {value!r:.60}")
    return None if value is None else str(value).strip()


def _ranked(
    place: str,
    id_: str | None,
    text: str | None,
    conversation: str | None,
    given: Sequence[tuple[str, float | None]],
) -> RankingRow:
    """Return the row of ids and scores in the order of the file: the best go first; equal scores,
    and ids without any, stay in their order.
    """
    scores = [score for _, score in given if score is not None]
    if scores and len(scores) < len(given):
        without = next(memory for memory, score in given if score is None)
        raise ValueError(
            f"{without!r:.60} has no score while others have one; give all of them one, or none"
        )
    ranking = sorted(given, key=lambda row: -row[1]) if scores else given  # type: ignore[operator]
    return RankingRow(place, id_, text, conversation, tuple(ranking), scores == sorted(scores))


def _scored(value: Any) -> Iterator[tuple[str, float | None]]:
    """Yield each id in the order of the file, with its score."""
    if isinstance(value, dict):
        column = _present(value, "rankings")
        if column is not None and not isinstance(value[column], int | float):
            yield from _scored(value[column])
            return
        for id_, score in value.items():
            yield _id(id_), _score(score, id_)
    elif isinstance(value, list | tuple):
        for item in value:
            yield _item(item)
    else:
        raise ValueError(f"the ranking must be a list of ids, not {value!r:.60}")


def _item(item: Any) -> tuple[str, float | None]:
    if isinstance(item, list | tuple) and len(item) == _PAIR:
        return _id(item[0]), _score(item[1], item[0])
    if isinstance(item, dict):
        column = _present(item, "ids")
        scored = next((name for name in _NAMES["scores"] if name in item), None)
        id_ = _id(None if column is None else item[column])
        return id_, None if scored is None else _score(item[scored], id_)
    return _id(item), None


def _id(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError(
        f"{value!r:.60} is no id; a ranking contains ids, [id, score], or objects with id and score"
    )


def _score(value: Any, id_: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"the score of {id_!r:.60}, {value!r:.40}, is no finite number")
    return float(value)
